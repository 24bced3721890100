//! What is known about the login, and what a request does because of it.

use std::time::Duration;

use tokio::time::Instant;

use super::{Cookie, Settled, Verdict};
use crate::config::AuthMode;
use crate::wg_easy::error::{Error, Refusal};

/// What is known about the login.
pub(super) struct Standing {
    mode: AuthMode,
    login: Login,
    /// The number of probes so far.
    probes: u64,
    /// The last probe that ended without a verdict. Who waited for it goes ahead: waiting for one
    /// dead connection after the other helps nobody.
    undecided: u64,
    /// The last login that failed without being refused, by its probe. Who waited for it gets its
    /// error, or twenty calls would be twenty logins.
    failed: Option<(u64, Error)>,
    /// The number of sessions so far.
    sessions: u64,
    /// The next probe is made with Basic: the cookie of a new session was not accepted.
    basic_next: bool,
}

#[derive(Clone)]
enum Login {
    /// The next request asks.
    Unknown,
    /// The request with this number is asking.
    Asking(u64),
    /// The password itself was good when last used.
    Basic,
    /// There is a session.
    Session {
        session: Session,
        /// Whether a request with its cookie was accepted. A cookie that never was did not come
        /// through; one that was has ended.
        proven: bool,
    },
    /// It was refused, which holds until then.
    Refused { refusal: Refusal, until: Instant },
}

/// What a request carries.
#[derive(Clone)]
pub(super) enum Pass {
    Basic,
    Session(Session),
}

/// A session, and its number, by which a late answer is known to be about an earlier one.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) cookie: Cookie,
    number: u64,
}

/// What a request does now.
pub(super) enum Step {
    /// Send.
    Go(Pass),
    /// Send with Basic, and the others wait for it.
    Ask(u64),
    /// Log in, and the others wait for it.
    LogIn(u64),
    /// Wait for the probe with this number.
    Wait(u64),
    /// Fail.
    Fail(Error),
}

impl Standing {
    pub(super) fn new(mode: AuthMode) -> Self {
        Self {
            mode,
            login: Login::Unknown,
            probes: 0,
            undecided: 0,
            failed: None,
            sessions: 0,
            basic_next: false,
        }
    }

    pub(super) fn next_step(&mut self, waited_for: Option<u64>) -> Step {
        if let Some(error) = self.refused() {
            return Step::Fail(error);
        }
        let waited = |ended: u64| waited_for.is_some_and(|probe| probe <= ended);
        match (&self.login, &self.failed) {
            (Login::Basic, _) => Step::Go(Pass::Basic),
            (Login::Session { session, .. }, _) => Step::Go(Pass::Session(session.clone())),
            (_, Some((probe, error))) if waited(*probe) => Step::Fail(error.clone()),
            (Login::Asking(_) | Login::Unknown, _) if waited(self.undecided) => {
                Step::Go(Pass::Basic)
            }
            (Login::Asking(probe), _) => Step::Wait(*probe),
            (Login::Unknown | Login::Refused { .. }, _) => {
                self.probes += 1;
                self.login = Login::Asking(self.probes);
                let basic = std::mem::take(&mut self.basic_next) || self.mode == AuthMode::Basic;
                match basic {
                    true => Step::Ask(self.probes),
                    false => Step::LogIn(self.probes),
                }
            }
        }
    }

    /// The error of the refusal that holds now, if one does.
    pub(super) fn refused(&self) -> Option<Error> {
        let Login::Refused { refusal, until } = self.login else {
            return None;
        };
        let next_try_in = until.saturating_duration_since(Instant::now());
        (next_try_in > Duration::ZERO).then_some(Error::RefusedFromMemory {
            refusal,
            next_try_in,
        })
    }

    /// The cookie of the session that stands.
    pub(super) fn cookie(&self) -> Option<&Cookie> {
        match &self.login {
            Login::Session { session, .. } => Some(&session.cookie),
            _ => None,
        }
    }

    pub(super) fn is_basic_next(&self) -> bool {
        self.basic_next
    }

    pub(super) fn begin_session(&mut self, cookie: Cookie) -> Pass {
        self.sessions += 1;
        let number = self.sessions;
        let session = Session { cookie, number };
        self.login = Login::Session {
            session: session.clone(),
            proven: false,
        };
        Pass::Session(session)
    }

    /// A login came to nothing.
    pub(super) fn fail(&mut self, probe: u64, error: &Error, until: Instant) {
        if let Error::Refused(refusal) = *error {
            self.login = Login::Refused { refusal, until };
        } else {
            self.failed = Some((probe, error.clone()));
            self.abandon(probe);
        }
    }

    /// What is to be done now, and whether anything changed for those who wait.
    pub(super) fn settle(
        &mut self,
        pass: &Pass,
        probe: Option<u64>,
        verdict: Verdict,
        until: Instant,
    ) -> (Settled, bool) {
        match (verdict, pass) {
            (Verdict::Accepted, Pass::Session(used)) => {
                if let Login::Session { session, proven } = &mut self.login {
                    *proven |= session.number == used.number;
                }
                (Settled::Done, false)
            }
            (Verdict::Refused, Pass::Session(used)) => self.session_refused(used.number, until),
            (Verdict::None, Pass::Session(_)) => (Settled::Done, false),
            // What was sent before a refusal or a session and answered after it proves nothing about now.
            (Verdict::Accepted, Pass::Basic) => match self.login {
                Login::Refused { .. } | Login::Session { .. } => (Settled::Done, false),
                _ => {
                    self.login = Login::Basic;
                    (Settled::Done, true)
                }
            },
            (Verdict::Refused, Pass::Basic) => {
                let refusal = Refusal::Basic;
                self.login = Login::Refused { refusal, until };
                (Settled::Done, true)
            }
            (Verdict::None, Pass::Basic) => {
                if let Some(probe) = probe {
                    self.undecided = self.undecided.max(probe);
                    self.abandon(probe);
                }
                (Settled::Done, probe.is_some())
            }
        }
    }

    /// A request with the cookie of this session got 401.
    fn session_refused(&mut self, number: u64, until: Instant) -> (Settled, bool) {
        let proven = match &self.login {
            Login::Session { session, proven } if session.number == number => *proven,
            // Another request has seen to it already.
            _ => return (Settled::Again, false),
        };
        if !proven && self.mode == AuthMode::Session {
            let refusal = Refusal::NoCookie;
            self.login = Login::Refused { refusal, until };
            return (Settled::NoCookie, true);
        }
        self.login = Login::Unknown;
        self.basic_next = !proven;
        (Settled::Again, true)
    }

    /// Whether the probe was still the one to wait for.
    pub(super) fn abandon(&mut self, probe: u64) -> bool {
        let asking = matches!(self.login, Login::Asking(current) if current == probe);
        if asking {
            self.login = Login::Unknown;
        }
        asking
    }
}
