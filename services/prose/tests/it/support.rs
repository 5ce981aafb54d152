//! Running the program.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use prose_testkit::Project;
use serde_json::Value;

/// How long anything here may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// What came of a run.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        self.code(0)
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        self
    }

    /// Refused with this code, and a part of the message.
    #[track_caller]
    pub fn refused(self, code: &str, part: &str) -> Self {
        let error = format!("error[{code}]: ");
        assert!(self.err.contains(&error), "no {code} in: {}", self.err);
        assert!(self.err.contains(part), "no {part:?} in: {}", self.err);
        self.code(2)
    }
}

/// Runs the program in `folder`.
pub fn prose_in<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Ran {
    prose_with(folder, args, b"")
}

/// Runs the program in `folder` with something on standard input.
pub fn prose_with<S: AsRef<OsStr>>(
    folder: &Path,
    args: impl IntoIterator<Item = S>,
    input: &[u8],
) -> Ran {
    let output = assert_cmd::Command::from_std(command(folder, args))
        .write_stdin(input)
        .timeout(LIMIT)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

fn command<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prose"));
    command.current_dir(folder).args(args);
    for name in ["PROSE_PROJECT", "PROSE_ENDPOINT", "PROSE_REACTOR", "PROSE_LOG"] {
        command.env_remove(name);
    }
    command
}

/// A folder with the project that `init` makes in `demo`.
pub fn demo() -> Project {
    let folder = Project::new();
    prose_in(folder.root(), ["init", "demo"]).ok();
    folder
}

/// The same, run over its events once.
pub fn ran() -> Project {
    let folder = demo();
    feed(&folder).ok();
    folder
}

/// Runs the demo over its events.
pub fn feed(folder: &Project) -> Ran {
    prose_in(folder.root(), ["up", "demo", "--feed", "demo/feed.jsonl", "--exit-when-quiet"])
}

/// `prose up demo`, until it is dropped.
pub struct Up(pub Child);

impl Up {
    /// Starts it and waits until it answers.
    pub fn start(folder: &Project, more: &[&str]) -> Self {
        let args = ["up", "demo"].iter().chain(more);
        let mut command = command(folder.root(), args);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let up = Self(child.spawn().unwrap());
        until("it is up", || {
            folder.path("demo/.prose/prose.sock").exists()
                && prose_in(folder.root(), ["-C", "demo", "watch", "--after", "0", "--limit", "1"])
                    .code
                    == 0
        });
        up
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Its exit code once it has ended.
    pub fn end(mut self) -> Option<i32> {
        let mut code = None;
        until("it has ended", || {
            code = self.0.try_wait().unwrap();
            code.is_some()
        });
        code.and_then(|status| status.code())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a condition.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LIMIT, "waited for: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
