//! The processes of one session: found by process group and by a mark in their environment.
//!
//! A process that leaves the group (`setsid`) still carries the mark it inherited. What neither
//! shows is a process that left the group *and* wiped its environment: nothing in `/proc` ties it
//! to the session any more. Becoming a subreaper would tie it, but for every child of this whole
//! process, which is not a library's decision.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// How often a dropped session is looked for; each round catches what forked during the last.
const DROP_ROUNDS: usize = 3;

/// Finds and signals the processes of one session.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    /// None when another process started the session: then only the mark is left.
    leader: Option<Pid>,
    /// When the leader started, in ticks since boot: no member is older.
    since: u64,
    mark: Vec<u8>,
}

/// What a look around shows of a session's processes, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// None is alive.
    Gone,
    /// Some process may be one: between the beginning and the end of `exec` a process has no
    /// environment yet. It will show its mark in a moment, or it is somebody else's.
    Unsure,
    /// At least one is alive.
    Alive,
}

impl Members {
    pub(crate) fn new(leader: Pid, mark: String) -> Self {
        let since = stat(leader).map_or(0, |stat| stat.started);
        Self { leader: Some(leader), since, mark: mark.into_bytes() }
    }

    /// The members of a session whose worker is gone.
    pub(crate) fn orphaned(mark: String) -> Self {
        Self { leader: None, since: 0, mark: mark.into_bytes() }
    }

    /// Looks twice, because what forks during a look may hide behind it.
    pub(crate) fn presence(&self) -> Presence {
        self.look().max(self.look())
    }

    /// Sends `signal` to every member that is alive. The leader must not be collected yet.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, signal);
        }
        for pid in processes().filter(|pid| self.presence_of(*pid) == Presence::Alive) {
            // The id may have passed to another process meanwhile; a handle cannot.
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if self.presence_of(pid) == Presence::Alive {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
    }

    fn look(&self) -> Presence {
        processes().map(|pid| self.presence_of(pid)).max().unwrap_or(Presence::Gone)
    }

    fn presence_of(&self, pid: Pid) -> Presence {
        let Some(stat) = stat(pid).filter(|stat| !stat.dead) else { return Presence::Gone };
        if self.leader.is_some_and(|leader| leader.as_raw_nonzero().get() == stat.group) {
            return Presence::Alive;
        }
        if stat.started < self.since {
            return Presence::Gone;
        }
        match fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())) {
            Ok(environ) if environ.is_empty() => Presence::Unsure,
            Ok(environ) if environ.split(|byte| *byte == 0).any(|v| v == self.mark) => {
                Presence::Alive
            }
            // Another user's processes cannot be looked into, nor could they be signalled.
            _ => Presence::Gone,
        }
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
}

#[derive(Debug, PartialEq, Eq)]
struct Stat {
    /// Waits to be collected, with all its threads.
    dead: bool,
    group: i32,
    started: u64,
}

fn stat(pid: Pid) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?)
}

/// Fields are counted from the end of the name, which may hold anything, parentheses too.
fn parse_stat(stat: &str) -> Option<Stat> {
    const GROUP: usize = 2;
    const THREADS: usize = 17;
    const STARTED: usize = 19;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    let threads: u64 = fields.get(THREADS)?.parse().ok()?;
    Some(Stat {
        dead: matches!(*fields.first()?, "Z" | "X") && threads <= 1,
        group: fields.get(GROUP)?.parse().ok()?,
        started: fields.get(STARTED)?.parse().ok()?,
    })
}

/// Kills the session when its run is dropped before it has ended.
pub(crate) struct Guard(pub(crate) Option<Members>);

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(members) = &self.0 else { return };
        for _ in 0..DROP_ROUNDS {
            members.signal(Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_spaces() {
        let line = "12 (a) R (b)) S 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 0";
        let expected = Stat { dead: false, group: 77, started: 4711 };
        assert_eq!(parse_stat(line), Some(expected));
        assert_eq!(parse_stat("nonsense"), None);
    }
}
