//! How a request is authenticated, and what is remembered of a refusal.
//!
//! This is the one seam for authentication: a request asks [`Auth::admit`] for an [`Admission`], takes
//! its header from it and reports the [`Verdict`] to it.
//!
//! wg-easy runs argon2 on every login, and on every request that carries the password itself; and
//! twenty parallel requests with a wrong password look like an attack. So a login is made once and its
//! session is used from then on; while it is not known whether the login is good, one request asks and
//! the others wait for what it learns; and a refusal is remembered for a while.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use secrecy::SecretString;
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::{Error, NoSession, Refusal};
use crate::config::{AuthMode, Connection};
use crate::diagnostics;
use standing::{Pass, Standing, Step};

mod cookie;
mod second_factor;
mod secret;
mod standing;

pub(super) use cookie::Cookie;
pub(super) use second_factor::seconds_ahead;

/// The login, and what wg-easy last said about it.
pub(super) struct Auth {
    username: SecretString,
    password: SecretString,
    totp: Option<SecretString>,
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

/// What is to be done after a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Nothing: the response is the answer.
    Done,
    /// The session has ended, or is not to be had, and there may be another way in.
    Again,
    /// The session is not accepted, and there is no other way in.
    NoCookie,
}

/// How a login ended that was not refused.
pub(super) enum LoggedIn {
    /// With a session.
    Session(Cookie),
    /// Without one, and without saying anything about the password.
    Without(Missing),
}

/// What is missing for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A login route.
    Route,
    /// A name and a password that the login route takes.
    Acceptable,
    /// The cookie.
    Cookie,
}

impl Auth {
    /// `memory` is how long a refusal is remembered.
    pub(super) fn new(connection: &Connection, memory: Duration) -> Self {
        Self {
            username: connection.credentials.username.clone(),
            password: connection.credentials.password.clone(),
            totp: connection.credentials.totp.clone(),
            mode: connection.auth,
            memory,
            standing: watch::Sender::new(Standing::new(connection.auth)),
        }
    }

    /// Leave to send a request with the login. Waits while another request is asking whether the
    /// login is good; fails while a refusal is remembered. `log_in` is run if it is this request's turn
    /// to find out, and dropped otherwise.
    pub(super) async fn admit(
        &self,
        log_in: impl Future<Output = Result<LoggedIn, Error>>,
    ) -> Result<Admission<'_>, Error> {
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
                Step::Fail(error) => return Err(error),
                Step::Go(pass) => return Ok(self.admission(pass, None)),
                Step::Ask(probe) => return Ok(self.admission(Pass::Basic, Some(probe))),
                Step::LogIn(probe) => {
                    return self
                        .begin(self.admission(Pass::Basic, Some(probe)), log_in)
                        .await;
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

    fn admission(&self, pass: Pass, probe: Option<u64>) -> Admission<'_> {
        Admission {
            auth: self,
            pass,
            probe,
        }
    }

    /// Logs in, and lets those who wait know what came of it.
    async fn begin<'a>(
        &'a self,
        mut admission: Admission<'a>,
        log_in: impl Future<Output = Result<LoggedIn, Error>>,
    ) -> Result<Admission<'a>, Error> {
        let error = match (log_in.await, self.mode) {
            (Ok(LoggedIn::Session(cookie)), _) => {
                // The others need not wait for the answer to this request.
                admission.probe = None;
                self.standing
                    .send_modify(|standing| admission.pass = standing.begin_session(cookie));
                return Ok(admission);
            }
            (Ok(LoggedIn::Without(missing)), AuthMode::Auto) => {
                diagnostics::info(missing.without_session());
                return Ok(admission);
            }
            (Ok(LoggedIn::Without(missing)), _) => missing.error(),
            (Err(error), _) => error,
        };
        if let Some(probe) = admission.probe.take() {
            let until = Instant::now() + self.remembered(&error);
            (self.standing).send_modify(|standing| standing.fail(probe, &error, until));
        }
        Err(error)
    }

    /// How long a refusal is remembered; a code of a second factor at least as long as it is made.
    fn remembered(&self, error: &Error) -> Duration {
        match error {
            Error::Refused(Refusal::SecondFactorWrong { .. }) => {
                self.memory.max(second_factor::rest_of_step())
            }
            _ => self.memory,
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
                if let Some(error) = changes.borrow_and_update().refused() {
                    return error;
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
}

impl Missing {
    /// What the operator is told where Basic takes the session's place.
    fn without_session(self) -> &'static str {
        match self {
            Self::Route => {
                "this wg-easy has no login route: the password goes along with every request, each of \
                 which costs wg-easy the time of a login"
            }
            Self::Acceptable => {
                "wg-easy's login route does not take this user name or password (it wants 12 characters \
                 of a password and 2 of a name): the password goes along with every request, each of \
                 which costs wg-easy the time of a login"
            }
            Self::Cookie => {
                "wg-easy's session cookie does not come through: the password goes along with every \
                 request, each of which costs wg-easy the time of a login; see that the proxy before \
                 wg-easy passes Cookie and Set-Cookie"
            }
        }
    }

    /// The error where nothing may take the session's place.
    fn error(self) -> Error {
        match self {
            Self::Route => Error::NoSession(NoSession::NoRoute),
            Self::Acceptable => Error::NoSession(NoSession::Unacceptable),
            Self::Cookie => Error::Refused(Refusal::NoCookie),
        }
    }
}

/// Leave to send one request with the login. Dropping it without a verdict means that the request was
/// cancelled: if it was the one that asked, the next one asks in its place.
pub(super) struct Admission<'a> {
    auth: &'a Auth,
    pass: Pass,
    /// The number of this probe, if the others wait for it.
    probe: Option<u64>,
}

impl Admission<'_> {
    /// The header that carries the login. With Basic it is made for each request, so that no encoded
    /// password lies around between requests; it is wiped after it, and marked so that none is printed.
    pub(super) fn header(&self) -> (HeaderName, HeaderValue) {
        match &self.pass {
            Pass::Basic => (AUTHORIZATION, self.auth.basic_header()),
            Pass::Session(session) => (COOKIE, session.cookie.header()),
        }
    }

    /// Says what the response meant for the login.
    pub(super) fn settle(mut self, verdict: Verdict) -> Settled {
        let probe = self.probe.take();
        let until = Instant::now() + self.auth.memory;
        let mut settled = Settled::Done;
        self.auth.standing.send_if_modified(|standing| {
            let (next, changed) = standing.settle(&self.pass, probe, verdict, until);
            settled = next;
            changed
        });
        if settled == Settled::Again && self.auth.standing.borrow().is_basic_next() {
            diagnostics::info(Missing::Cookie.without_session());
        }
        settled
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        if let Some(probe) = self.probe {
            (self.auth.standing).send_if_modified(|standing| standing.abandon(probe));
        }
    }
}

#[cfg(test)]
mod tests;
