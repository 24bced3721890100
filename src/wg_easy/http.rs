//! One exchange with wg-easy: its limits in time and size, and what its failure means.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::SetupError;
use super::auth::{Auth, Settled, Verdict};
use super::error::{Authority, Error, Phase, Refusal, UpstreamText, status_message};
use super::tls;
use crate::config::{BaseUrl, Connection};

mod cause;
mod expect;
mod limits;
mod login;

use cause::cause;
pub(super) use expect::Expect;
pub(super) use limits::Limits;

/// Sends requests to one instance.
pub(super) struct Http {
    base: BaseUrl,
    at: Authority,
    /// Keeps its connections for the next request.
    client: Client,
    /// Keeps none: each request has a connection of its own.
    fresh: Client,
    auth: Auth,
    limits: Limits,
    reads: Semaphore,
    /// One permit: wg-easy does not do parallel changes well.
    writes: Arc<Semaphore>,
    closed: CancellationToken,
    last_answer: Mutex<Option<Instant>>,
}

/// A request, save for its login.
pub(super) struct Request {
    /// The method.
    pub(super) method: Method,
    /// The path below the base URL.
    pub(super) path: String,
    /// A JSON document.
    pub(super) body: Option<Bytes>,
    /// What a success is.
    pub(super) expect: Expect,
    /// Whether wg-easy wants a login for it.
    pub(super) login: bool,
}

/// What came of sending a request.
enum Attempt {
    /// An answer.
    Answered(Vec<u8>),
    /// 401 to a session, and there may be another way in.
    SessionEnded,
}

/// The turn to change something: while it is held, this program changes nothing else.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is held, not looked at")] OwnedSemaphorePermit);

impl Http {
    /// The URL of a path below the instance's base.
    pub(super) fn url(&self, path: &str) -> reqwest::Url {
        self.base.join(path)
    }

    pub(super) fn new(connection: &Connection, limits: Limits) -> Result<Self, SetupError> {
        let base = connection.url.clone();
        let tls = tls::client_config(&connection.tls, base.is_https())?;
        let client = |kept: usize, tls: rustls::ClientConfig| {
            Client::builder()
                .tls_backend_preconfigured(tls)
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .http1_only()
                .tcp_nodelay(true)
                .connect_timeout(limits.connecting)
                .pool_idle_timeout(limits.idle)
                .pool_max_idle_per_host(kept)
                .user_agent(concat!(
                    env!("CARGO_PKG_NAME"),
                    "/",
                    env!("CARGO_PKG_VERSION")
                ))
                .build()
                .map_err(|_| SetupError::Tls)
        };
        Ok(Self {
            at: Authority::new(base.host(), base.port()),
            client: client(limits.reads, tls.clone())?,
            fresh: client(0, tls)?,
            auth: Auth::new(connection, limits.refusal),
            reads: Semaphore::new(limits.reads),
            writes: Arc::new(Semaphore::new(1)),
            closed: CancellationToken::new(),
            last_answer: Mutex::new(None),
            base,
            limits,
        })
    }

    /// Sends a request that changes nothing, a few at a time. One that failed because its kept
    /// connection had been closed meanwhile is sent once more on a new one. It ends when this is
    /// closed: a change must not hold up the end while it still only looks.
    pub(super) async fn read(&self, request: Request) -> Result<Vec<u8>, Error> {
        let _permit = self.permit(&self.reads, &request).await?;
        tokio::select! {
            answer = self.exchange(&request, true) => answer,
            () = self.closed.cancelled() => Err(Error::Stopping),
        }
    }

    /// Waits for the turn to change something.
    pub(super) async fn turn(&self) -> Result<Turn, Error> {
        let queue = Arc::clone(&self.writes).acquire_owned();
        let permit = self.auth.unless_refused(queue).await?;
        permit.map(Turn).map_err(|_| Error::Stopping)
    }

    /// Sends a request that changes something, in its turn, and never twice.
    pub(super) async fn write(&self, request: Request, _: &Turn) -> Result<Vec<u8>, Error> {
        self.exchange(&request, false).await
    }

    /// Sends nothing more, and gives up reads. Changes that were sent go on.
    pub(super) fn close(&self) {
        self.closed.cancel();
        self.reads.close();
        self.writes.close();
    }

    async fn permit<'a>(
        &self,
        queue: &'a Semaphore,
        request: &Request,
    ) -> Result<tokio::sync::SemaphorePermit<'a>, Error> {
        let permit = match request.login {
            true => self.auth.unless_refused(queue.acquire()).await?,
            false => queue.acquire().await,
        };
        permit.map_err(|_| Error::Stopping)
    }

    /// A request whose session has ended is sent once more with a new one, a change too: a 401 says
    /// that nothing was done.
    async fn exchange(&self, request: &Request, repeatable: bool) -> Result<Vec<u8>, Error> {
        match self.attempt(request, repeatable).await? {
            Attempt::Answered(body) => Ok(body),
            Attempt::SessionEnded => match self.attempt(request, repeatable).await? {
                Attempt::Answered(body) => Ok(body),
                Attempt::SessionEnded => Err(Error::Refused(Refusal::NoCookie)),
            },
        }
    }

    async fn attempt(&self, request: &Request, repeatable: bool) -> Result<Attempt, Error> {
        let admission = match request.login {
            true => Some(self.auth.admit(self.log_in()).await?),
            false => None,
        };
        // A probe may have been waited for, and the end may have come meanwhile.
        if self.writes.is_closed() {
            return Err(Error::Stopping);
        }
        let start = Instant::now();
        let header = admission.as_ref().map(|admission| admission.header());
        let sent = self.send(request, header, start, repeatable).await;
        let settled = admission.map_or(Settled::Done, |admission| {
            admission.settle(
                sent.as_ref()
                    .map_or(Verdict::None, |answer| verdict(answer.status())),
            )
        });
        let answer = self
            .finish(sent?, request, start + self.limits.exchange)
            .await;
        *self.last_answer() = Some(Instant::now());
        match settled {
            Settled::Done => answer.map(Attempt::Answered),
            Settled::Again => Ok(Attempt::SessionEnded),
            Settled::NoCookie => Err(Error::Refused(Refusal::NoCookie)),
        }
    }

    /// Sends a request, with this header for its login; once more if it is `repeatable` and its kept
    /// connection had been closed.
    async fn send(
        &self,
        request: &Request,
        login: Option<(HeaderName, HeaderValue)>,
        start: Instant,
        repeatable: bool,
    ) -> Result<Response, Error> {
        let kept = self.may_have_kept_a_connection(start);
        let sent = self.send_on(&self.client, request, &login, start).await;
        match sent {
            Err(Error::BrokenOff { .. }) if repeatable && kept => {
                self.send_on(&self.fresh, request, &login, start).await
            }
            sent => sent,
        }
    }

    async fn send_on(
        &self,
        client: &Client,
        request: &Request,
        login: &Option<(HeaderName, HeaderValue)>,
        start: Instant,
    ) -> Result<Response, Error> {
        let mut builder = client
            .request(request.method.clone(), self.base.join(&request.path))
            .header(ACCEPT, request.expect.accept());
        if let Some((name, value)) = login {
            builder = builder.header(name, value);
        }
        if let Some(body) = &request.body {
            builder = builder
                .header(CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        match timeout_at(start + self.limits.headers, builder.send()).await {
            Ok(sent) => sent.map_err(|error| cause(&error, &self.at)),
            Err(_) => Err(self.timeout(Phase::Headers)),
        }
    }

    /// Makes an answer or an error of a response.
    async fn finish(
        &self,
        response: Response,
        request: &Request,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(response, deadline).await);
        }
        let content_type = content_type(&response);
        if !request.expect.fits(content_type.as_deref()) {
            return Err(Error::NotAnApi);
        }
        let body = self.success_body(response, deadline).await?;
        match request.expect.begins_like(&body) {
            true => Ok(body),
            false => Err(Error::NotAnApi),
        }
    }

    async fn success_body(
        &self,
        mut response: Response,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        let limit = self.limits.success_body;
        let too_large = Error::BodyTooLarge { limit };
        let declared = match response.content_length().map(usize::try_from) {
            Some(Ok(declared)) if declared <= limit => declared,
            Some(_) => return Err(too_large),
            None => 0,
        };
        let mut body = Vec::with_capacity(declared);
        loop {
            match timeout_at(deadline, response.chunk()).await {
                Err(_) => return Err(self.timeout(Phase::Body)),
                Ok(Err(_)) => return Err(self.broken_off()),
                Ok(Ok(None)) => return Ok(body),
                Ok(Ok(Some(chunk))) if chunk.len() > limit - body.len() => return Err(too_large),
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
            }
        }
    }

    /// The error that a status means. The body is read in any case (up to its limit), so that the
    /// connection can be kept; that it cannot be read changes nothing about the error.
    async fn refusal(&self, mut response: Response, deadline: Instant) -> Error {
        let status = response.status();
        let content_type = content_type(&response);
        let mut body = Vec::new();
        while let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await {
            let room = self.limits.error_body - body.len();
            body.extend(chunk.iter().take(room));
            if chunk.len() >= room {
                break;
            }
        }
        let said = || {
            UpstreamText::from_body(content_type.as_deref(), &body, |text| self.auth.is_in(text))
        };
        match status.as_u16() {
            // These words are not translated, and are the only way to tell the cases apart.
            401 if status_message(&body).as_deref() == Some("User disabled") => {
                Error::Refused(Refusal::UserDisabled)
            }
            401 => Error::Refused(Refusal::Basic),
            403 => match status_message(&body).as_deref() {
                Some("User is disabled") => Error::Refused(Refusal::UserDisabled),
                Some("Password authentication is disabled") => Error::PasswordLoginOff,
                _ => Error::Forbidden,
            },
            404 if is_of_wg_easy(&body, 404) => Error::NotFound,
            404 => Error::NoSuchPath,
            422 => Error::ExpiredClient,
            300..400 => Error::Redirect,
            status @ 400..500 => Error::BadRequest {
                status,
                said: said(),
            },
            status @ 500..600 => Error::ServerError {
                status,
                said: said(),
            },
            _ => Error::NotAnApi,
        }
    }

    fn timeout(&self, phase: Phase) -> Error {
        let at = self.at.clone();
        Error::Timeout { at, phase }
    }

    fn broken_off(&self) -> Error {
        let at = self.at.clone();
        Error::BrokenOff { at }
    }

    /// Whether a request that starts now can be given a connection of an earlier one.
    fn may_have_kept_a_connection(&self, now: Instant) -> bool {
        let last = *self.last_answer();
        last.is_some_and(|last| now.saturating_duration_since(last) <= self.limits.idle)
    }

    fn last_answer(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        // An instant is never half written.
        self.last_answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a status says about the login: wg-easy looks at it before anything else on the routes that
/// need one. A 404 or another 4xx can come from its router, a 5xx or a redirect from a proxy.
fn verdict(status: StatusCode) -> Verdict {
    match status.as_u16() {
        401 => Verdict::Refused,
        200..300 | 403 | 422 => Verdict::Accepted,
        _ => Verdict::None,
    }
}

fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?;
    Some(value.to_str().unwrap_or_default().to_owned())
}

/// Whether an error's body is wg-easy's own, which names the status. A proxy that has lost its way to
/// wg-easy answers 404 as well, and that says nothing about a client.
fn is_of_wg_easy(body: &[u8], status: u16) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        status_code: u16,
    }
    serde_json::from_slice(body).is_ok_and(|told: Told| told.status_code == status)
}

#[cfg(test)]
mod tests;
