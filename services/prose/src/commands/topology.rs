//! `prose topology`

use std::{collections::BTreeMap, fmt::Write as _};

use prose_api::v1;
use prose_ir::{ATOMIC, Bundle, Edge, Topology, WakeSource};

use super::{Context, compile};
use crate::{
    cli::{self, GraphFormat},
    connect::Session,
    error::{Error, Exit},
    show::{Output, Paint},
};

pub(super) async fn run(context: &Context, asked: &cli::Topology) -> Result<Exit, Error> {
    if asked.mounted {
        let topology = mounted(context, asked).await?;
        print(context.output, &topology, asked.format)?;
        return Ok(Exit::Fine);
    }
    let project = context.project(asked.folder.dir.as_ref())?;
    let compilation = compile::compile(&project)?;
    if compilation.bundle.is_none() && !context.output.json {
        compile::show_diagnostics(context.output, &compilation);
    }
    print(context.output, compilation.topology(), asked.format)?;
    Ok(if compilation.bundle.is_some() { Exit::Fine } else { Exit::Failed })
}

async fn mounted(context: &Context, asked: &cli::Topology) -> Result<Topology, Error> {
    let bytes = Session::with(context, asked.folder.dir.as_ref(), async |session| {
        let request = v1::GetBundleRequest { reactor: session.reactor.clone() };
        Ok(session.client.get_bundle(request).await?.into_inner().bundle)
    })
    .await?;
    let bundle: Bundle = serde_json::from_slice(&bytes).map_err(|error| Error {
        code: "bundle_malformed".into(),
        message: format!("the coordinator's bundle is not one: {error}"),
        help: Some("use a coordinator of the same version".into()),
        exit: Exit::Unable,
    })?;
    Ok(bundle.manifest.topology)
}

fn print(output: Output, topology: &Topology, format: GraphFormat) -> Result<(), Error> {
    match format {
        GraphFormat::Json => output.document(topology),
        _ if output.json => output.document(topology),
        GraphFormat::Text => output.text(&text(topology, output.paint)),
        GraphFormat::Mermaid => output.text(&mermaid(topology)),
        GraphFormat::Dot => output.text(&dot(topology)),
    }
}

fn text(topology: &Topology, paint: Paint) -> String {
    let mut text = String::new();
    for node in &topology.nodes {
        let wake = match node.wake_source {
            WakeSource::Input => "",
            WakeSource::Own => " (its own clock)",
            WakeSource::External => " (external)",
        };
        let _ = writeln!(text, "{}{}", paint.bold(&node.node), paint.dim(wake));
        for edge in topology.edges.iter().filter(|edge| edge.subscriber == node.node) {
            let facet = if edge.facet == ATOMIC { "everything" } else { &edge.facet };
            let _ = writeln!(text, "  reads {facet} of {}", edge.producer);
        }
    }
    text
}

fn mermaid(topology: &Topology) -> String {
    let ids: BTreeMap<&str, usize> =
        topology.nodes.iter().enumerate().map(|(id, node)| (node.node.as_str(), id)).collect();
    let mut text = "flowchart LR\n".to_owned();
    for (id, node) in topology.nodes.iter().enumerate() {
        let (open, close) = match node.wake_source {
            WakeSource::External => ("([", "])"),
            _ => ("[", "]"),
        };
        let _ = writeln!(text, "  n{id}{open}\"{}\"{close}", node.node);
    }
    for Edge { subscriber, producer, facet } in &topology.edges {
        let (Some(to), Some(from)) = (ids.get(subscriber.as_str()), ids.get(producer.as_str()))
        else {
            continue;
        };
        let label = if facet == ATOMIC { String::new() } else { format!("|\"{facet}\"|") };
        let _ = writeln!(text, "  n{from} -->{label} n{to}");
    }
    text
}

fn dot(topology: &Topology) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = "digraph prose {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for node in &topology.nodes {
        let shape = if node.wake_source == WakeSource::External { " [shape=oval]" } else { "" };
        let _ = writeln!(text, "  {}{shape};", quoted(&node.node));
    }
    for edge in &topology.edges {
        let label = match edge.facet.as_str() {
            ATOMIC => String::new(),
            facet => format!(" [label={}]", quoted(facet)),
        };
        let _ =
            writeln!(text, "  {} -> {}{label};", quoted(&edge.producer), quoted(&edge.subscriber));
    }
    text + "}\n"
}
