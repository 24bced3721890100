//! What this process gives up before it reads a byte from the client.
//!
//! The program holds the keys to a VPN and reads what two strangers send it. Should one of them find
//! a way to run code of their own in it, that code finds a process that can start no program, open no
//! file but those that name resolution needs, connect to no TCP port but wg-easy's (and DNS), and
//! attach to no other process. Nobody else can read the process's memory either, save an
//! administrator of the machine.
//!
//! Every step is taken as far as the kernel allows, and the [`Report`] says how far that was.
//!
//! What is *not* restricted: the host behind the port, since Landlock knows ports and no addresses;
//! UDP, since DNS needs it and no kernel that this was tried on can restrict it; what is done with the
//! descriptors that are open already, which are stdin, stdout and stderr.
//!
//! - `calls`: the system calls that are refused
//! - `filter`: a filter program made of them
//! - `reach`: files and ports that stay within reach

mod calls;
mod filter;
mod reach;

use std::fmt;

use rustix::process::{DumpableBehavior, Resource, Rlimit};

/// What the process still has to be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The TCP port of wg-easy. Without one nothing is ever connected to, and DNS is not needed.
    pub port: Option<u16>,
}

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report(Vec<Protection>);

/// One of the protections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// What it is called.
    pub name: &'static str,
    /// How far it is in force.
    pub state: State,
}

/// How far a protection is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Completely; the text says more where there is more to say.
    InForce(Option<String>),
    /// Except for what the text says.
    Partly(String),
    /// Not at all; the text says why.
    Unavailable(String),
}

/// Takes every step, for the calling thread and those it starts from now on. To be called while there
/// is no other thread, and after the last file was read that is not below `/etc`.
pub fn apply(plan: &Plan) -> Report {
    let protection = |name, state| Protection { name, state };
    // The filter comes last: it refuses what the others are made with.
    Report(vec![
        protection("core dumps off", no_core_dumps()),
        protection("memory closed", not_dumpable()),
        protection("no new privileges", no_new_privileges()),
        protection("Landlock", reach::restrict(plan)),
        protection("system call filter", calls::refuse()),
    ])
}

/// A limit of zero is not enough where the kernel pipes core dumps to a program, which it then does
/// all the same; that is what [`not_dumpable`] is for. Each covers the other.
fn no_core_dumps() -> State {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let set = rustix::process::setrlimit(Resource::Core, none);
    let in_force = rustix::process::getrlimit(Resource::Core) == none;
    State::of(set, in_force)
}

/// Whoever is not root can then neither trace the process nor read its memory and most of its
/// `/proc` entries, not even under the same user.
fn not_dumpable() -> State {
    let set = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let now = rustix::process::dumpable_behavior();
    State::of(set, now == Ok(DumpableBehavior::NotDumpable))
}

fn no_new_privileges() -> State {
    let set = rustix::thread::set_no_new_privs(true);
    State::of(set, rustix::thread::no_new_privs() == Ok(true))
}

impl State {
    fn of(set: rustix::io::Result<()>, in_force: bool) -> Self {
        match set {
            Ok(()) if in_force => Self::InForce(None),
            Ok(()) => Self::Unavailable("the kernel took it and did not keep it".to_owned()),
            Err(error) => Self::Unavailable(format!("the kernel refused it: {error}")),
        }
    }
}

impl Report {
    /// Each protection, in the order in which they were applied.
    pub fn protections(&self) -> &[Protection] {
        &self.0
    }

    /// Whether everything is in force completely.
    pub fn is_complete(&self) -> bool {
        let mut states = self.0.iter().map(|protection| &protection.state);
        states.all(|state| matches!(state, State::InForce(_)))
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            State::InForce(None) => f.write_str(self.name),
            State::InForce(Some(more)) => write!(f, "{} ({more})", self.name),
            State::Partly(but) => write!(f, "{} (in part: {but})", self.name),
            State::Unavailable(why) => write!(f, "{} ({why})", self.name),
        }
    }
}

/// One line: what is in force, then what is not.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |missing: bool| {
            let of_kind = (self.0.iter())
                .filter(|one| matches!(one.state, State::Unavailable(_)) == missing)
                .map(Protection::to_string);
            of_kind.collect::<Vec<_>>().join(", ")
        };
        let (in_force, missing) = (list(false), list(true));
        match in_force.is_empty() {
            true => f.write_str("no protection is in force")?,
            false => write!(f, "protections in force: {in_force}")?,
        }
        match missing.is_empty() {
            true => Ok(()),
            false => write!(f, "; not in force: {missing}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(states: &[State]) -> Report {
        let names = ["one", "two", "three"];
        let protections = names.iter().zip(states).map(|(name, state)| Protection {
            name,
            state: state.clone(),
        });
        Report(protections.collect())
    }

    #[test]
    fn a_report_names_what_is_in_force_and_what_is_not() {
        let complete = report(&[State::InForce(None), State::InForce(Some("ABI 7".into()))]);
        assert_eq!(
            complete.to_string(),
            "protections in force: one, two (ABI 7)"
        );
        assert!(complete.is_complete());
        let degraded = report(&[
            State::Unavailable("no such call".into()),
            State::Partly("without ports".into()),
            State::InForce(None),
        ]);
        assert_eq!(
            degraded.to_string(),
            "protections in force: two (in part: without ports), three; not in force: one (no such call)"
        );
        assert!(!degraded.is_complete());
        assert!(!report(&[State::Partly("x".into())]).is_complete());
    }

    #[test]
    fn what_the_kernel_refuses_is_not_called_in_force() {
        assert_eq!(State::of(Ok(()), true), State::InForce(None));
        assert!(matches!(State::of(Ok(()), false), State::Unavailable(_)));
        let refused = Err(rustix::io::Errno::INVAL);
        assert!(matches!(State::of(refused, true), State::Unavailable(_)));
    }
}
