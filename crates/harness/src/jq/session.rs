//! The child's side of the `jq` harness.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jaq_json::Val;
use rustix::process::{Resource, Rlimit, getppid, setrlimit};
use serde_json::{Map, Value, json};

use super::document;
use super::program::{Program, ProgramError};
use crate::folder::{PUBLISHED, RESULT};
use crate::outcome::{SessionResult, Status, Usage};
use crate::task::{Task, TaskInput};
use crate::tree;

/// A program that doubles a string until memory ends must end only itself.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// jq recurses as deep as the data or the program does.
const STACK_BYTES: usize = 128 << 20;
/// How often a session looks whether the worker that started it is still there.
const WORKER_LOOK: Duration = Duration::from_millis(500);

/// Why a jq session could not even run its program.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The program is not jq.
    #[error("the program is not jq: {0}")]
    Program(#[from] ProgramError),
    /// `task.json` is not what the protocol says.
    #[error("task.json is malformed: {0}")]
    Task(#[from] serde_json::Error),
    /// A file to read is not what the protocol says.
    #[error("{path}: {message}")]
    Input {
        /// Below the task folder.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The file system refused.
    #[error("the task folder: {0}")]
    Io(#[from] io::Error),
}

/// The whole of a jq session's process: runs the program in `program` in the working folder.
///
/// Caps the memory of this process, so it is for processes that do nothing else.
#[must_use]
pub fn main(program: &Path) -> ExitCode {
    let cap = Rlimit { current: Some(MEMORY_BYTES_MAX), maximum: Some(MEMORY_BYTES_MAX) };
    if let Err(error) = setrlimit(Resource::As, cap) {
        eprintln!("memory cannot be capped: {error}");
        return ExitCode::FAILURE;
    }
    let worker = getppid();
    let (done, ended) = mpsc::channel();
    let program = program.to_owned();
    let run = move || {
        let ran = fs::read_to_string(program)
            .map_err(SessionError::from)
            .and_then(|text| session(Path::new("."), &text));
        // The other end waits for nothing else.
        let _ = done.send(ran);
    };
    if let Err(error) = thread::Builder::new().stack_size(STACK_BYTES).spawn(run) {
        eprintln!("cannot start a thread: {error}");
        return ExitCode::FAILURE;
    }
    loop {
        match ended.recv_timeout(WORKER_LOOK) {
            Ok(Ok(())) => return ExitCode::SUCCESS,
            Ok(Err(error)) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
            // The panic has been printed.
            Err(mpsc::RecvTimeoutError::Disconnected) => return ExitCode::FAILURE,
            Err(mpsc::RecvTimeoutError::Timeout) if getppid() == worker => {}
            // Whoever wanted the result was killed, and so cannot stop a program without an end.
            Err(mpsc::RecvTimeoutError::Timeout) => return ExitCode::FAILURE,
        }
    }
}

/// Runs `program` over the task folder at `root` and writes its truth and its result.
///
/// # Errors
///
/// What keeps the program from running; what it says itself goes into `result.json`.
pub fn session(root: &Path, program: &str) -> Result<(), SessionError> {
    let program = Program::parse(program)?;
    let task: Task = serde_json::from_slice(&fs::read(root.join("task.json"))?)?;
    let input = input(root, &task)?;
    let files = program.run(input).and_then(|truth| document::split(&truth, &task.facets));
    let result = match files {
        Ok(files) => {
            let published = root.join(PUBLISHED);
            // The result is the whole truth: nothing of the prior one may shine through.
            tree::remove(&published)?;
            tree::write_files(&published, &files, tree::FILE_MODE)?;
            rendered(&task)
        }
        Err(reason) => failed(reason),
    };
    fs::write(root.join(RESULT), serde_json::to_vec_pretty(&result)?)?;
    Ok(())
}

fn input(root: &Path, task: &Task) -> Result<Val, SessionError> {
    let mut inputs = Map::new();
    for need in &task.inputs {
        inputs.insert(need.need.clone(), need_value(root, need)?);
    }
    let events: Vec<_> =
        task.events.iter().map(|path| document::event(root, path)).collect::<Result<_, _>>()?;
    let input = json!({
        "self": document::read(root, "prior")?,
        "inputs": inputs,
        "event": events.last(),
        "events": events,
        "wake": task.wake,
        "as_of": task.as_of,
        "answers": task.answers,
    });
    Ok(serde_json::from_value(input)?)
}

fn need_value(root: &Path, need: &TaskInput) -> Result<Value, SessionError> {
    if !need.fan_in {
        return document::read(root, &need.path);
    }
    let mut documents = Map::new();
    for producer in &need.producers {
        let path = format!("{}/{}", need.path, producer.producer);
        documents.insert(producer.producer.clone(), document::read(root, &path)?);
    }
    Ok(Value::Object(documents))
}

fn rendered(task: &Task) -> SessionResult {
    SessionResult {
        status: Status::Rendered,
        attestations: task.attest.iter().map(|check| (check.id.clone(), true)).collect(),
        reason: None,
        needs: None,
        diff: None,
        usage: Usage::default(),
    }
}

fn failed(reason: String) -> SessionResult {
    SessionResult {
        status: Status::Failed,
        attestations: Default::default(),
        reason: Some(reason),
        needs: None,
        diff: None,
        usage: Usage::default(),
    }
}
