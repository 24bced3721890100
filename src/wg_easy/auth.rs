//! How a request is authenticated, and what is remembered of a refusal.
//!
//! This is the one seam for authentication: a request asks [`Auth::admit`] for an [`Admission`], takes
//! its header from it and reports the [`Verdict`] to it. Another way to log in (a session cookie) is
//! another way to make that header; who asks first and what is remembered stays as it is.
//!
//! wg-easy runs argon2 on every login, and twenty parallel requests with a wrong password look like
//! an attack. So while it is not known whether the login is good, one request asks and the others wait
//! for what it learns; and a refusal is remembered for a while.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::watch;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::error::Error;
use crate::config::{AuthMode, Connection};

/// The login, and what wg-easy last said about it.
pub(super) struct Auth {
    username: SecretString,
    password: SecretString,
    #[expect(dead_code, reason = "read once there is more than one way to log in")]
    mode: AuthMode,
    /// How long a refusal is remembered.
    memory: Duration,
    standing: watch::Sender<Standing>,
}

/// What a response said about the login that its request carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// wg-easy knew the account.
    Accepted,
    /// 401.
    Refused,
    /// Nothing: no response came, or one that does not need a login.
    None,
}

impl Auth {
    /// `memory` is how long a refusal is remembered.
    pub(super) fn new(connection: &Connection, memory: Duration) -> Self {
        Self {
            username: connection.credentials.username.clone(),
            password: connection.credentials.password.clone(),
            mode: connection.auth,
            memory,
            standing: watch::Sender::new(Standing::default()),
        }
    }

    /// Leave to send a request with the login. Waits while another request is asking whether the
    /// login is good; fails while a refusal is remembered.
    pub(super) async fn admit(&self) -> Result<Admission<'_>, Error> {
        let mut changes = self.standing.subscribe();
        let mut waited_for = None;
        loop {
            let mut step = Step::Wait(0);
            self.standing.send_if_modified(|standing| {
                step = standing.next_step(waited_for);
                // Nobody has to wake up because somebody began to ask.
                false
            });
            match step {
                Step::Refuse(next_try_in) => return Err(Error::RefusedFromMemory { next_try_in }),
                Step::Go { probe } => {
                    return Ok(Admission { auth: self, probe });
                }
                Step::Wait(probe) => {
                    waited_for = Some(probe);
                    // The sender lives in `self`, so this does not fail; if it did, the next look
                    // at the standing decides.
                    let _ = changes.changed().await;
                }
            }
        }
    }

    /// Runs `waiting` unless a refusal is or becomes known: whoever stands in a queue need not reach
    /// its end to learn that.
    pub(super) async fn unless_refused<T>(
        &self,
        waiting: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let mut changes = self.standing.subscribe();
        let refused = async {
            loop {
                if let Some(next_try_in) = changes.borrow_and_update().refused_for() {
                    return Error::RefusedFromMemory { next_try_in };
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            biased;
            error = refused => Err(error),
            done = waiting => Ok(done),
        }
    }

    /// Whether `text` gives the login away: an instance (or a proxy before it) can echo a request.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let password = self.password.expose_secret();
        (!password.is_empty() && text.contains(password)) || text.contains(self.basic().as_str())
    }

    /// The `user-id ":" password` of RFC 7617, encoded.
    fn basic(&self) -> Zeroizing<String> {
        let (name, password) = (self.username.expose_secret(), self.password.expose_secret());
        let pair = Zeroizing::new(format!("{name}:{password}"));
        Zeroizing::new(STANDARD.encode(pair.as_bytes()))
    }
}

/// Leave to send one request with the login. Dropping it without a verdict means that the request was
/// cancelled: if it was the one that asked, the next one asks in its place.
pub(super) struct Admission<'a> {
    auth: &'a Auth,
    /// The number of this probe, if the others wait for it.
    probe: Option<u64>,
}

impl Admission<'_> {
    /// The value of the `Authorization` header. It is made for each request and marked sensitive, so
    /// that no encoded password lies around between requests and none is printed.
    #[expect(
        clippy::expect_used,
        reason = "Base64 is visible ASCII, and a header may have that"
    )]
    pub(super) fn header(&self) -> HeaderValue {
        let value = Zeroizing::new(format!("Basic {}", self.auth.basic().as_str()));
        let mut value = HeaderValue::from_str(&value).expect("Base64 in a header");
        value.set_sensitive(true);
        value
    }

    /// Says what the response meant for the login.
    pub(super) fn settle(mut self, verdict: Verdict) {
        let probe = self.probe.take();
        self.auth.standing.send_if_modified(|standing| {
            let until = Instant::now() + self.auth.memory;
            standing.settle(probe, verdict, until)
        });
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if let Some(probe) = self.probe {
            (self.auth.standing).send_if_modified(|standing| standing.abandon(probe));
        }
    }
}

/// What is known about the login.
#[derive(Default)]
struct Standing {
    login: Login,
    /// The number of probes so far.
    probes: u64,
    /// The last probe that ended without a verdict. Who waited for it goes ahead: waiting for one
    /// dead connection after the other helps nobody.
    undecided: u64,
}

#[derive(Clone, Copy, Default)]
enum Login {
    /// The next request asks.
    #[default]
    Unknown,
    /// The request with this number is asking.
    Asking(u64),
    /// It was good when last used.
    Good,
    /// It was refused, which holds until then.
    Refused(Instant),
}

/// What a request does now.
enum Step {
    /// Send; with a number, the others wait for it.
    Go { probe: Option<u64> },
    /// Wait for the probe with this number.
    Wait(u64),
    /// Fail; the next try is possible in this time.
    Refuse(Duration),
}

impl Standing {
    fn next_step(&mut self, waited_for: Option<u64>) -> Step {
        if let Some(next_try_in) = self.refused_for() {
            return Step::Refuse(next_try_in);
        }
        let freed = waited_for.is_some_and(|probe| probe <= self.undecided);
        match self.login {
            Login::Good => Step::Go { probe: None },
            Login::Asking(_) | Login::Unknown if freed => Step::Go { probe: None },
            Login::Asking(probe) => Step::Wait(probe),
            Login::Unknown | Login::Refused(_) => {
                self.probes += 1;
                self.login = Login::Asking(self.probes);
                Step::Go {
                    probe: Some(self.probes),
                }
            }
        }
    }

    /// How long the login stays refused, if it is.
    fn refused_for(&self) -> Option<Duration> {
        match self.login {
            Login::Refused(until) => {
                let left = until.saturating_duration_since(Instant::now());
                (!left.is_zero()).then_some(left)
            }
            _ => None,
        }
    }

    /// Whether anything changed for those who wait.
    fn settle(&mut self, probe: Option<u64>, verdict: Verdict, until: Instant) -> bool {
        match verdict {
            Verdict::Refused => self.login = Login::Refused(until),
            // A request that was sent before a refusal and answered after it proves nothing about now.
            Verdict::Accepted if matches!(self.login, Login::Refused(_)) => return false,
            Verdict::Accepted => self.login = Login::Good,
            Verdict::None => {
                let Some(probe) = probe else { return false };
                self.undecided = self.undecided.max(probe);
                self.abandon(probe);
            }
        }
        true
    }

    /// Whether the probe was still the one to wait for.
    fn abandon(&mut self, probe: u64) -> bool {
        let asking = matches!(self.login, Login::Asking(current) if current == probe);
        if asking {
            self.login = Login::Unknown;
        }
        asking
    }
}

#[cfg(test)]
mod tests;
