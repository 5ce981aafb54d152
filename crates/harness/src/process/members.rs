//! The processes of one session: found by process group and by a mark in their environment.
//!
//! A process that leaves the group (`setsid`) still carries the mark it inherited. What neither
//! shows is a process that left the group *and* wiped its environment: nothing in `/proc` ties it
//! to the session any more. Becoming a subreaper would tie it, but for every child of this whole
//! process, which is not a library's decision.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often a dropped session is looked for; each round catches what forked during the last.
const DROP_ROUNDS: usize = 3;

/// Finds and signals the processes of one session.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    leader: Pid,
    mark: Vec<u8>,
}

impl Members {
    pub(crate) fn new(leader: Pid, mark: String) -> Self {
        Self { leader, mark: mark.into_bytes() }
    }

    /// Whether no member is alive. Looks twice: between `fork` and the end of `exec` a process
    /// can be missed.
    pub(crate) fn gone(&self) -> bool {
        (0..2).all(|_| self.alive().next().is_none())
    }

    /// Sends `signal` to every member that is alive.
    pub(crate) fn signal(&self, signal: Signal) {
        for pid in self.alive() {
            // The id may have passed to another process meanwhile; a handle cannot.
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if self.has(pid) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
    }

    fn alive(&self) -> impl Iterator<Item = Pid> {
        fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .filter(|pid| self.has(*pid))
    }

    /// Whether `pid` is a member and alive; the dead who wait to be collected are not.
    fn has(&self, pid: Pid) -> bool {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        let Ok(stat) = fs::read_to_string(format!("{folder}/stat")) else { return false };
        match parse_stat(&stat) {
            None | Some(('Z' | 'X', _)) => false,
            Some((_, group)) if group == self.leader.as_raw_nonzero().get() => true,
            Some(_) => fs::read(format!("{folder}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|v| v == self.mark)),
        }
    }
}

/// State and process group; the name before them may hold anything, parentheses too.
fn parse_stat(stat: &str) -> Option<(char, i32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
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
        assert_eq!(parse_stat("12 (a) R (b)) S 1 77 77 0 -1"), Some(('S', 77)));
        assert_eq!(parse_stat("nonsense"), None);
    }
}
