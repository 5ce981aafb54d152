//! Running a session as a child process: started alone, watched, ended with all it started.

mod members;
mod output;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal as Deaths, SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::environment::{Redactor, SESSION_VAR};
use crate::failure::{FailureCode, SessionFailure};
use crate::limits::Limits;
use members::{Guard, Members, Presence};
use output::Output;

/// How often dying processes are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(15);
/// How often a process without an environment is looked at before it counts as somebody else's.
const UNSURE_LOOKS_MAX: u32 = 20;
/// How long the kernel may take to tear down what got KILL.
const TEAR_DOWN: Duration = Duration::from_secs(2);

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) program: PathBuf,
    pub(crate) args: &'a [OsString],
    pub(crate) folder: &'a Path,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Unique; stands in the environment under [`SESSION_VAR`].
    pub(crate) session: String,
}

/// How a session ended: its failure, if it failed as a process, and the tail of its output.
pub(crate) struct Ended {
    pub(crate) failure: Option<SessionFailure>,
    pub(crate) tail: String,
}

/// Runs a session to its end. No process of it is alive afterwards.
pub(crate) async fn run(
    launch: Launch<'_>,
    limits: &Limits,
    redactor: &Redactor,
    stop: &CancellationToken,
) -> Result<Ended, SessionFailure> {
    let mut running = Running::start(&launch, limits, redactor)?;
    let stopped = running.wait(limits, stop).await;
    if stopped.is_some() {
        running.signal(Signal::TERM).await;
    }
    let gone =
        running.wait_gone(if stopped.is_some() { limits.grace } else { limits.linger }).await;
    let status = running.end(gone).await;
    let (tail, flooded) = running.output.finish(redactor).await;
    let failure = stopped
        .or_else(|| flooded.then(|| too_much_output(limits)))
        .or_else(|| judge(status))
        .or_else(|| (!gone).then(left_behind));
    Ok(Ended { failure: failure.map(|failure| failure.with_tail(&tail)), tail })
}

/// Kills what a worker that is gone left of a session; whether none is alive any more.
pub(crate) fn kill_orphans(session: &str) -> bool {
    let members = Members::orphaned(format!("{SESSION_VAR}={session}"));
    let until = std::time::Instant::now() + TEAR_DOWN;
    while members.presence() == Presence::Alive {
        if std::time::Instant::now() >= until {
            return false;
        }
        members.signal(Signal::KILL);
        std::thread::sleep(LOOK_EVERY);
    }
    true
}

struct Running {
    output: Output,
    // Dropped in this order: the guard kills before the child is given up for collection.
    guard: Guard,
    members: Members,
    leader: Pid,
    deaths: Deaths,
    child: Child,
}

impl Running {
    fn start(
        launch: &Launch<'_>,
        limits: &Limits,
        redactor: &Redactor,
    ) -> Result<Self, SessionFailure> {
        let refused = |error: io::Error| {
            let reason = format!("the system refused to run the harness: {error}");
            SessionFailure::new(FailureCode::SpawnFailed, reason)
        };
        // From before the start, so that no death is missed.
        let deaths = signal(SignalKind::child()).map_err(refused)?;
        let (reader, child) = spawn(launch).map_err(|error| not_started(launch, &error))?;
        let leader = child
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| refused(io::Error::other("the process has no id")))?;
        let members = Members::new(leader, format!("{SESSION_VAR}={}", launch.session));
        let guard = Guard(Some(members.clone()));
        let output = Output::read(reader, limits.output_bytes, redactor).map_err(refused)?;
        Ok(Self { output, guard, members, leader, deaths, child })
    }

    /// Waits for the leader to end; otherwise says why the session has to be stopped.
    async fn wait(&mut self, limits: &Limits, stop: &CancellationToken) -> Option<SessionFailure> {
        tokio::select! {
            biased;
            () = stop.cancelled() => Some(SessionFailure::new(
                FailureCode::Cancelled,
                "the session was stopped before it ended",
            )),
            () = self.output.flooded().cancelled() => Some(too_much_output(limits)),
            () = leader_ended(self.leader, &mut self.deaths) => None,
            () = sleep(limits.deadline) => Some(SessionFailure::new(
                FailureCode::Timeout,
                format!("the session ran past its deadline of {:?}", limits.deadline),
            )),
        }
    }

    /// Waits at most `patience` for all members to end; whether they did.
    async fn wait_gone(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut unsure_looks = 0;
        loop {
            let members = self.members.clone();
            let presence = tokio::task::spawn_blocking(move || members.presence()).await;
            match presence {
                Ok(Presence::Gone) => return true,
                Ok(Presence::Unsure) => {
                    unsure_looks += 1;
                    if unsure_looks > UNSURE_LOOKS_MAX {
                        return true;
                    }
                }
                // A look that could not be taken has found nobody gone.
                Ok(Presence::Alive) | Err(_) => {
                    unsure_looks = 0;
                    if Instant::now() >= until {
                        return false;
                    }
                }
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn signal(&self, signal: Signal) {
        let members = self.members.clone();
        let _ = tokio::task::spawn_blocking(move || members.signal(signal)).await;
    }

    /// Kills what is not yet `gone` and collects the leader.
    async fn end(&mut self, mut gone: bool) -> Option<ExitStatus> {
        let until = Instant::now() + TEAR_DOWN;
        while !gone {
            if Instant::now() >= until {
                tracing::error!("processes of a session outlived KILL");
                return None;
            }
            self.signal(Signal::KILL).await;
            gone = self.wait_gone(LOOK_EVERY).await;
        }
        self.guard.0 = None;
        timeout(TEAR_DOWN, self.child.wait()).await.ok()?.ok()
    }
}

/// Waits for the leader to end without collecting it: as long as it is not collected, its id,
/// which is also the group's, belongs to nobody else.
async fn leader_ended(leader: Pid, deaths: &mut Deaths) {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(leader), look), Ok(None) | Err(Errno::INTR)) {
        deaths.recv().await;
    }
}

fn spawn(launch: &Launch<'_>) -> io::Result<(io::PipeReader, Child)> {
    // One pipe for both, so that the tail reads in the order of printing.
    let (reader, writer) = io::pipe()?;
    let child = Command::new(&launch.program)
        .args(launch.args)
        .env_clear()
        .envs(launch.variables.iter().map(|(name, value)| (name, value)))
        .env(SESSION_VAR, &launch.session)
        .current_dir(launch.folder)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    Ok((reader, child))
}

fn not_started(launch: &Launch<'_>, error: &io::Error) -> SessionFailure {
    let program = launch.program.display();
    match error.kind() {
        io::ErrorKind::NotFound if launch.program.exists() => SessionFailure::new(
            FailureCode::ProgramNotExecutable,
            format!("{program} cannot run: the interpreter it names does not exist"),
        ),
        io::ErrorKind::NotFound => {
            SessionFailure::new(FailureCode::ProgramNotFound, format!("{program} does not exist"))
        }
        io::ErrorKind::PermissionDenied => SessionFailure::new(
            FailureCode::ProgramNotExecutable,
            format!("{program} may not be executed"),
        ),
        _ => SessionFailure::new(
            FailureCode::SpawnFailed,
            format!("{program} could not be started: {error}"),
        ),
    }
}

fn judge(status: Option<ExitStatus>) -> Option<SessionFailure> {
    let Some(status) = status else {
        let reason = "how the session ended could not be found out";
        return Some(SessionFailure::new(FailureCode::Signal, reason));
    };
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(SessionFailure::new(
            FailureCode::ExitCode,
            format!("the session ended with exit code {code}"),
        )),
        (None, signal) => {
            let named = signal.map_or_else(|| "an unknown signal".into(), name_signal);
            let reason = format!("the session was killed by {named}");
            Some(SessionFailure::new(FailureCode::Signal, reason))
        }
    }
}

fn name_signal(number: i32) -> String {
    let name = match number {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        6 => "ABRT",
        7 => "BUS",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        24 => "XCPU",
        25 => "XFSZ",
        31 => "SYS",
        _ => return format!("signal {number}"),
    };
    format!("signal {number} ({name})")
}

fn too_much_output(limits: &Limits) -> SessionFailure {
    let reason = format!("the session printed more than {} bytes", limits.output_bytes);
    SessionFailure::new(FailureCode::OutputLimit, reason)
}

fn left_behind() -> SessionFailure {
    let reason = "the session ended but left processes running, which were killed";
    SessionFailure::new(FailureCode::ProcessesLeft, reason)
}
