//! Logging in: the exchanges with wg-easy's login routes.

use bytes::Bytes;
use reqwest::header::{COOKIE, DATE};
use reqwest::{Method, Response};
use serde::Deserialize;
use tokio::time::Instant;

use super::{Expect, Http, Request};
use crate::wg_easy::auth::{Auth, Cookie, LoggedIn, Missing, seconds_ahead};
use crate::wg_easy::error::{Error, Refusal, UpstreamText};

/// 15.4 and later: the password, and the code in a second step.
const PASSWORD: &str = "/api/auth/password";
const SECOND_STEP: &str = "/api/auth/verify-2fa";

/// Older 15.x: password and code in one body.
const OLDER: &str = "/api/session";

/// What a login route said.
struct Said {
    word: Word,
    cookie: Option<Cookie>,
    /// How far this machine's clock is ahead of wg-easy's.
    ahead: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum Word {
    #[serde(rename = "success")]
    Success,
    #[serde(rename = "TOTP_REQUIRED")]
    CodeRequired,
    #[serde(rename = "INVALID_TOTP_CODE")]
    CodeWrong,
}

#[derive(Deserialize)]
struct Body {
    status: Word,
}

impl Http {
    /// Logs in. An error is one of the login, and nothing that happened to the request that wanted it.
    pub(super) async fn log_in(&self) -> Result<LoggedIn, Error> {
        self.first_step().await.map_err(of_a_login)
    }

    async fn first_step(&self) -> Result<LoggedIn, Error> {
        let mut route = PASSWORD;
        let mut said = self.say(route, self.auth.login_body(None), None).await;
        if said.as_ref().is_err_and(|error| *error == Error::NotFound) {
            route = OLDER;
            said = self.say(route, self.auth.login_body(None), None).await;
        }
        let said = match said {
            Ok(said) => said,
            Err(Error::NotFound) => return Ok(LoggedIn::Without(Missing::Route)),
            Err(Error::BadRequest { status: 400, .. }) => {
                return Ok(LoggedIn::Without(Missing::Acceptable));
            }
            Err(error) => return Err(error),
        };
        match said.word {
            Word::Success => Ok(said.session()),
            Word::CodeRequired => self.second_step(route, said.cookie).await,
            // No code was sent.
            Word::CodeWrong => Err(Error::NotAnApi),
        }
    }

    async fn second_step(
        &self,
        route: &'static str,
        cookie: Option<Cookie>,
    ) -> Result<LoggedIn, Error> {
        let missing = Error::Refused(Refusal::SecondFactorMissing);
        let code = self.auth.code().ok_or(missing)?;
        let no_cookie = Error::Refused(Refusal::NoCookie);
        let said = if route == OLDER {
            let body = self.auth.login_body(Some(&code));
            self.say(OLDER, body, None).await?
        } else {
            // What the first step achieved is in its cookie and nowhere else.
            let Some(cookie) = cookie else {
                return Err(no_cookie);
            };
            let said = self
                .say(SECOND_STEP, Auth::code_body(&code), Some(cookie))
                .await;
            match said {
                // 401 here: the cookie did not come through.
                Err(Error::Refused(Refusal::Basic)) => return Err(no_cookie),
                said => said?,
            }
        };
        match said.word {
            // Basic is no way out: it has no place for a code.
            Word::Success => match said.session() {
                LoggedIn::Without(_) => Err(no_cookie),
                session => Ok(session),
            },
            Word::CodeWrong => Err(Error::Refused(Refusal::SecondFactorWrong {
                ahead: said.ahead,
            })),
            Word::CodeRequired => Err(Error::NotAnApi),
        }
    }

    async fn say(
        &self,
        path: &'static str,
        body: Bytes,
        cookie: Option<Cookie>,
    ) -> Result<Said, Error> {
        let request = Request {
            method: Method::POST,
            path: path.to_owned(),
            body: Some(body),
            expect: Expect::Json,
            login: false,
        };
        let start = Instant::now();
        let header = cookie.map(|cookie| (COOKIE, cookie.header()));
        // A code is not sent a second time; a password may be, when its connection was closed.
        let repeatable = path == PASSWORD;
        let response = self.send(&request, header, start, repeatable).await?;
        let (cookie, ahead) = (Cookie::of(response.headers()), ahead(&response));
        let body = self
            .finish(response, &request, start + self.limits.exchange)
            .await;
        *self.last_answer() = Some(Instant::now());
        let Body { status: word } = serde_json::from_slice(&body?).map_err(|_| Error::NotAnApi)?;
        Ok(Said {
            word,
            cookie,
            ahead,
        })
    }
}

impl Said {
    fn session(self) -> LoggedIn {
        match self.cookie {
            Some(cookie) => LoggedIn::Session(cookie),
            None => LoggedIn::Without(Missing::Cookie),
        }
    }
}

fn ahead(response: &Response) -> Option<i64> {
    let date = response.headers().get(DATE)?;
    seconds_ahead(date.to_str().ok()?)
}

/// An error of a login route, as the request that wanted the login has it. The words of the instance are
/// left out: what they repeat may be what was just sent.
fn of_a_login(error: Error) -> Error {
    let said = UpstreamText::default();
    match error {
        Error::Refused(Refusal::Basic) => Error::Refused(Refusal::Password),
        Error::BadRequest { status, .. } => Error::BadRequest { status, said },
        Error::ExpiredClient => Error::BadRequest { status: 422, said },
        Error::NotFound => Error::NotLoggedIn(Box::new(Error::NotAnApi)),
        Error::ServerError { status, .. } => {
            Error::NotLoggedIn(Box::new(Error::ServerError { status, said }))
        }
        // Whatever became of the login, the request that wanted it was not sent.
        error if error.may_have_been_applied() => Error::NotLoggedIn(Box::new(error)),
        error => error,
    }
}
