//! Events on their way in: read strictly, and for a passthrough gateway made into a truth.

use std::collections::{BTreeMap, BTreeSet};

use prose_ir::{Address, Fingerprint};
use prose_reconciler::{Arrival, Failure, FailureClass, NodeIx, Published, Role};
use prose_truth::{Limits, admit, files_of, gate, json};
use serde_json::Value;

use super::IncomingEvent;
use crate::{
    EVENT_BYTES_MAX, Error, EventProblem,
    operation::Operation,
    parallel,
    program::{NodeProgram, Program},
};

/// An event as read.
pub(super) struct Parsed {
    event: Value,
    pub(super) canonical: Vec<u8>,
    fingerprint: Fingerprint,
    /// The key under which its outcome is kept.
    pub(super) delivery: String,
    /// What it means to its gateway, if that was worked out ahead.
    meaning: Option<Meaning>,
}

/// The document that an event makes at a passthrough gateway, and its tokens.
#[derive(Clone)]
struct Meaning {
    document: Value,
    tokens: BTreeMap<String, Fingerprint>,
}

/// Reads events, on several cores when there are many. With the program of the epoch at hand it
/// also works out what they mean. The error names the first event that cannot be taken in.
pub(super) fn read(
    events: &[IncomingEvent],
    program: Option<&Program>,
) -> Result<Vec<Parsed>, (usize, EventProblem)> {
    let read = parallel::map(events, |event| parse(event, program));
    let numbered = read.into_iter().enumerate();
    numbered.map(|(index, parsed)| parsed.map_err(|problem| (index, problem))).collect()
}

fn parse(event: &IncomingEvent, program: Option<&Program>) -> Result<Parsed, EventProblem> {
    if event.key.is_empty() {
        return Err(EventProblem::NoKey);
    }
    if event.body.len() > EVENT_BYTES_MAX {
        return Err(EventProblem::TooLarge(event.body.len()));
    }
    let value = json::strict::parse(&event.body)?;
    let canonical = json::canonical(&value);
    let node = program.and_then(|program| program.node(&event.gateway));
    let node = node.filter(|node| node.role == Role::Passthrough);
    Ok(Parsed {
        meaning: node.map(|node| meaning(node, &value)),
        event: value,
        fingerprint: Fingerprint::of(&canonical),
        canonical,
        delivery: format!("{}/{}", event.gateway, event.key),
    })
}

fn meaning(program: &NodeProgram, event: &Value) -> Meaning {
    let document = admit(&program.contract, event.clone());
    Meaning { tokens: program.canonicalizer.fingerprints(&document), document }
}

/// What a batch has worked out so far, so that an event is held against the one before it.
pub(super) struct Batch<'a> {
    pub(super) keys: BTreeSet<&'a str>,
    pub(super) arrivals: Vec<Arrival>,
    last: BTreeMap<NodeIx, Last>,
    /// Whether what was worked out ahead was worked out with the program of this epoch.
    is_current: bool,
}

struct Last {
    event: Option<Fingerprint>,
    tokens: Option<BTreeMap<String, Fingerprint>>,
    document: Option<Value>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(is_current: bool) -> Self {
        let (keys, arrivals, last) = Default::default();
        Self { keys, arrivals, last, is_current }
    }

    pub(super) async fn arrival(
        &mut self,
        op: &mut Operation<'_>,
        node: NodeIx,
        parsed: &'a Parsed,
    ) -> Result<Arrival, Error> {
        let event = parsed.fingerprint.clone();
        let spec = op.state.reactor.graph().spec(node);
        if spec.role != Role::Passthrough {
            return Ok(Arrival { node, event, truth: None });
        }
        let name = spec.name.clone();
        let program = op.state.program.clone();
        let Some(program) = program.node(&name) else {
            return Err(Error::NoNode { reactor: op.name.clone(), node: name.to_string() });
        };
        if !self.last.contains_key(&node) {
            let last = self.before(op, node, program).await?;
            self.last.insert(node, last);
        }
        let last = self.last.entry(node).or_insert_with(Last::nothing);
        if last.event.as_ref() == Some(&event) {
            return Ok(Arrival { node, event, truth: None });
        }
        let ahead = parsed.meaning.clone().filter(|_| self.is_current);
        let meaning = ahead.unwrap_or_else(|| meaning(program, &parsed.event));
        let truth = pass_through(op, program, last, parsed, meaning);
        last.event = truth.is_ok().then(|| event.clone());
        Ok(Arrival { node, event, truth: Some(truth) })
    }

    /// What the gateway holds before the batch.
    async fn before(
        &self,
        op: &mut Operation<'_>,
        node: NodeIx,
        program: &NodeProgram,
    ) -> Result<Last, Error> {
        let state = op.state.reactor.node(node);
        let event = state.memo.as_ref().and_then(|memo| memo.event.clone());
        let repeated = event.filter(|event| op.state.reactor.is_repeated(node, event));
        let current = state.current().cloned();
        let document = match &current {
            Some(version) if program.has_expressions => op.document(&version.tree).await?,
            _ => None,
        };
        let tokens = current.map(|version| version.fingerprints.as_ref().clone());
        Ok(Last { event: repeated, tokens, document })
    }
}

impl Last {
    fn nothing() -> Self {
        Self { event: None, tokens: None, document: None }
    }
}

/// The truth that an event makes, through canonicalizer and gate.
fn pass_through(
    op: &mut Operation<'_>,
    program: &NodeProgram,
    last: &mut Last,
    parsed: &Parsed,
    Meaning { document, tokens }: Meaning,
) -> Result<Published, Failure> {
    if last.tokens.as_ref() == Some(&tokens) {
        // Nothing will be published: the truth that stands is carried forward, and is what the next
        // event is held against, whether it comes in this batch or in another.
        pass_gate(program, last.document.as_ref(), &document)?;
        return Ok(Published { tree: Address::of(&parsed.canonical), fingerprints: tokens });
    }
    let kept = program.has_expressions.then(|| document.clone());
    let published = publishable(op, program, last.document.as_ref(), document, tokens)?;
    last.tokens = Some(published.fingerprints.clone());
    last.document = kept;
    Ok(published)
}

/// Holds a document of a passthrough gateway against its gate, and puts its files among what the
/// operation writes.
pub(super) fn publishable(
    op: &mut Operation<'_>,
    program: &NodeProgram,
    prior: Option<&Value>,
    document: Value,
    tokens: BTreeMap<String, Fingerprint>,
) -> Result<Published, Failure> {
    pass_gate(program, prior, &document)?;
    let refused = |error: String| Failure::new(FailureClass::Event, error);
    let files = files_of(document, &program.regions).map_err(|e| refused(e.to_string()))?;
    let snapshot = files.snapshot(&Limits::default()).map_err(|e| refused(e.to_string()))?;
    op.store_contents([(snapshot.address.clone(), snapshot.bytes)]);
    op.store_contents(snapshot.blobs);
    Ok(Published { tree: snapshot.address, fingerprints: tokens })
}

fn pass_gate(
    program: &NodeProgram,
    prior: Option<&Value>,
    document: &Value,
) -> Result<(), Failure> {
    let none = Value::Object(serde_json::Map::new());
    let checked = gate::check(&program.postconditions, document, prior, &none, &BTreeMap::new());
    checked.map_err(|broken| Failure::new(FailureClass::Postcondition, reasons(&broken)))
}

/// Broken conditions as one text for people.
pub(super) fn reasons(broken: &[prose_truth::Broken]) -> String {
    let each = broken.iter().map(|b| format!("{}: {} [{}]", b.text, b.reason, b.id));
    each.collect::<Vec<_>>().join("; ")
}
