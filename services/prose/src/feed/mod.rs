//! A feed: one event a line, read one by one and checked before anything is sent.

mod error;
mod line;

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    thread,
};

use prose_ir::{Bundle, NodeKind};
use tokio::sync::mpsc;

pub(crate) use error::Error;

use crate::project::Project;

/// The longest line.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Lines that are read ahead.
const AHEAD: usize = 64;

/// One event of a feed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// From one.
    pub number: u64,
    /// The node that takes it.
    pub gateway: String,
    /// Its bytes as they stand in the line.
    pub event: Vec<u8>,
    /// Identifies the delivery.
    pub key: String,
}

/// Where a feed comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Stdin,
    File {
        path: PathBuf,
        /// What its lines are keyed by.
        name: String,
    },
}

impl Source {
    /// `-` is standard input. A file is known by its path in the project, so that its lines keep
    /// their keys wherever the command is given and the project is moved to.
    pub fn new(feed: &Path, project: &Project) -> Self {
        if feed.as_os_str() == "-" {
            return Self::Stdin;
        }
        let absolute = feed.canonicalize().unwrap_or_else(|_| feed.to_owned());
        let name = absolute.strip_prefix(&project.root).unwrap_or(&absolute);
        Self::File { path: feed.to_owned(), name: name.to_string_lossy().into_owned() }
    }

    /// Its name in messages.
    pub fn shown(&self) -> String {
        match self {
            Self::Stdin => "standard input".into(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }

    /// The key of a line that has none. What comes over standard input has no name that would tell
    /// it from what came another time, so there the event itself is part of the key.
    fn key(&self, number: u64, event: &[u8]) -> String {
        match self {
            Self::Stdin => format!("stdin:{number}:{}", prose_ir::Address::of(event).short()),
            Self::File { name, .. } => format!("{name}:{number}"),
        }
    }
}

/// The nodes, and which of them take events.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gateways(BTreeMap<String, bool>);

impl Gateways {
    /// Those of a bundle.
    pub fn of(bundle: &Bundle) -> Self {
        let takes = |kind| kind == NodeKind::Gateway;
        Self(bundle.contracts.iter().map(|(name, c)| (name.clone(), takes(c.kind))).collect())
    }
}

/// Reads a feed on a thread of its own, until its end or its first bad line.
pub(crate) fn read(
    source: Source,
    gateways: Gateways,
) -> Result<mpsc::Receiver<Result<Line, Error>>, Error> {
    let reader: Box<dyn Read + Send> = match &source {
        Source::Stdin => Box::new(io::stdin()),
        Source::File { path, .. } => Box::new(
            open(path)
                .map_err(|cause| Error::Unreadable { place: source.shown(), source: cause })?,
        ),
    };
    let (sender, receiver) = mpsc::channel(AHEAD);
    // Not one of the runtime's threads: a read of standard input may never end.
    let spawned = thread::Builder::new().name("feed".into()).spawn({
        let mut lines =
            Lines { reader: BufReader::new(reader), source: source.clone(), gateways, number: 0 };
        move || {
            while let Some(line) = lines.next().transpose() {
                let is_last = line.is_err();
                if sender.blocking_send(line).is_err() || is_last {
                    return;
                }
            }
        }
    });
    spawned.map_err(|cause| Error::Unreadable { place: source.shown(), source: cause })?;
    Ok(receiver)
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

struct Lines<R> {
    reader: BufReader<R>,
    source: Source,
    gateways: Gateways,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// The next line that is not blank.
    fn next(&mut self) -> Result<Option<Line>, Error> {
        loop {
            let Some(bytes) = self.bytes()? else { return Ok(None) };
            let mut text = bytes.as_slice();
            if self.number == 1 {
                text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
            }
            let text = text.trim_ascii();
            if !text.is_empty() {
                return self.parse(text).map(Some);
            }
        }
    }

    fn bytes(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        // One byte more than may be, and the line end, show that there is more, however much.
        let mut limited = self.reader.by_ref().take(LINE_BYTES_MAX as u64 + 2);
        self.number += 1;
        let read = limited
            .read_until(b'\n', &mut bytes)
            .map_err(|source| Error::Unreadable { place: self.place(), source })?;
        if read == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        if bytes.len() > LINE_BYTES_MAX {
            return Err(Error::TooLong { place: self.place(), limit: LINE_BYTES_MAX });
        }
        Ok(Some(bytes))
    }

    fn parse(&self, text: &[u8]) -> Result<Line, Error> {
        let written = line::parse(text).map_err(|problem| problem.at(self.place()))?;
        match self.gateways.0.get(written.gateway.as_ref()) {
            Some(true) => {}
            Some(false) => return Err(self.not_a_gateway(&written.gateway, true)),
            None => return Err(self.not_a_gateway(&written.gateway, false)),
        }
        let event = written.event.get().as_bytes();
        let key = written.key.map(|key| key.into_owned());
        Ok(Line {
            number: self.number,
            key: key.unwrap_or_else(|| self.source.key(self.number, event)),
            gateway: written.gateway.into_owned(),
            event: event.to_vec(),
        })
    }

    fn not_a_gateway(&self, name: &str, is_node: bool) -> Error {
        let gateways = self.gateways.0.iter().filter(|(_, takes)| **takes);
        Error::NotAGateway {
            place: self.place(),
            name: name.to_owned(),
            is_node,
            gateways: gateways.map(|(name, _)| name.clone()).collect(),
        }
    }

    fn place(&self) -> String {
        format!("{}:{}", self.source.shown(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(feed: &[u8]) -> (Vec<Line>, Option<Error>) {
        let source = Source::File { path: "f.jsonl".into(), name: "f.jsonl".into() };
        let gateways = Gateways([("door".to_owned(), true), ("list".to_owned(), false)].into());
        let mut lines = Lines { reader: BufReader::new(feed), source, gateways, number: 0 };
        let mut read = Vec::new();
        loop {
            match lines.next() {
                Ok(Some(line)) => read.push(line),
                Ok(None) => return (read, None),
                Err(error) => return (read, Some(error)),
            }
        }
    }

    #[test]
    fn bytes_and_keys_are_kept_and_blank_lines_counted() {
        let feed = b"\xef\xbb\xbf{\"gateway\":\"door\",\"event\":{\"n\" : 1.0}}\r\n\n \t\n\
            {\"key\":\"k\\u00e4\",\"event\":null,\"gateway\":\"do\\u006fr\"}";
        let (read, error) = lines(feed);
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            (read[0].event.as_slice(), read[0].key.as_str()),
            (&b"{\"n\" : 1.0}"[..], "f.jsonl:1")
        );
        assert_eq!((read[1].event.as_slice(), read[1].key.as_str()), (&b"null"[..], "kä"));
        assert_eq!((read[1].number, read[1].gateway.as_str()), (4, "door"));
    }

    #[test]
    fn a_bad_line_ends_the_feed_at_its_place() {
        let deep = format!(
            "{{\"gateway\":\"door\",\"event\":{}1{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        let long = format!("{{\"gateway\":\"door\",\"event\":\"{}\"}}", "x".repeat(10 << 20));
        for (line, code) in [
            (&b"nonsense"[..], "feed_line"),
            (b"[1]", "feed_line"),
            (b"{\"event\":1}", "feed_line"),
            (b"{\"gateway\":\"door\"}", "feed_line"),
            (b"{\"gateway\":\"door\",\"event\":1,\"keys\":\"x\"}", "feed_line"),
            (b"{\"gateway\":\"door\",\"event\":1,\"event\":2}", "feed_line"),
            (b"{\"gateway\":\"door\",\"event\":1,\"key\":\"\"}", "feed_line"),
            (b"{\"gateway\":\"door\",\"event\":1,\"key\":7}", "feed_line"),
            (b"{\"gateway\":\"door\",\"event\":1} x", "feed_line"),
            (b"{\"gateway\":\"dor\",\"event\":1}", "gateway_unknown"),
            (b"{\"gateway\":\"list\",\"event\":1}", "gateway_invalid"),
            (b"{\"gateway\":\"door\",\"event\":{\"a\":1e400}}", "json_number_range"),
            (b"{\"gateway\":\"door\",\"event\":9007199254740993}", "json_number_range"),
            (b"{\"gateway\":\"door\",\"event\":{\"a\":1,\"a\":2}}", "json_duplicate_key"),
            (b"{\"gateway\":\"door\",\"event\":\"\xff\"}", "json_encoding"),
            (b"{\"gateway\":\"door\",\"event\":\"a\0b\"}", "feed_line"),
            (deep.as_bytes(), "json_depth"),
            (long.as_bytes(), "feed_line_too_long"),
        ] {
            let feed = [b"{\"gateway\":\"door\",\"event\":1}\n", line, b"\n{}"].concat();
            let (read, error) = lines(&feed);
            let error = crate::error::Error::from(error.unwrap());
            assert_eq!((read.len(), &*error.code), (1, code), "{}", error.message);
            assert!(error.message.starts_with("f.jsonl:2: "), "{}", error.message);
        }
    }

    #[test]
    fn the_longest_line_is_read() {
        let around = "{\"gateway\":\"door\",\"event\":\"\"}".len();
        let line = |n: usize| format!("{{\"gateway\":\"door\",\"event\":\"{}\"}}\n", "x".repeat(n));
        assert!(lines(line(LINE_BYTES_MAX - around).as_bytes()).1.is_none());
        assert!(lines(line(LINE_BYTES_MAX - around + 1).as_bytes()).1.is_some());
    }
}
