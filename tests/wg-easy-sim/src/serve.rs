//! The server: connections, and each request from its arrival to its answer.

use std::{
    convert::Infallible,
    fmt,
    rc::Rc,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use http_body_util::BodyExt as _;
use hyper::{
    Request, Response,
    body::Incoming,
    header::{DATE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    auth,
    body::SimBody,
    call::Call,
    connection::{Control, Exchange, Socket},
    dates,
    fault::Fault,
    hold::Place,
    log::{Login, Received},
    reply::Reply,
    respond, routes,
    shared::Shared,
};

/// Why an exchange ends without an answer.
#[derive(Debug)]
pub(crate) struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ended on purpose")
    }
}

impl std::error::Error for Aborted {}

/// Accepts connections for ever.
pub(crate) async fn accept(
    shared: Arc<Shared>,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let number = shared.accepted.fetch_add(1, Ordering::SeqCst) + 1;
        shared.open.fetch_add(1, Ordering::SeqCst);
        shared.connection_changed();
        let control = Arc::new(Control::default());
        let socket = Socket::new(stream, Arc::clone(&control));
        let connection = Connection {
            shared: Arc::clone(&shared),
            control,
            number,
            https: tls.is_some(),
        };
        let tls = tls.clone();
        tokio::task::spawn_local(async move {
            let shared = Arc::clone(&connection.shared);
            match tls {
                None => serve(connection, socket).await,
                // A handshake that fails is the client's verdict on the certificate.
                Some(tls) => {
                    if let Ok(stream) = tls.accept(socket).await {
                        serve(connection, stream).await;
                    }
                }
            }
            shared.open.fetch_sub(1, Ordering::SeqCst);
            shared.connection_changed();
        });
    }
}

struct Connection {
    shared: Arc<Shared>,
    control: Arc<Control>,
    number: usize,
    https: bool,
}

async fn serve(connection: Connection, stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let connection = Rc::new(connection);
    let keep_alive = connection.shared.state().settings.keep_alive;
    let service = service_fn({
        let connection = Rc::clone(&connection);
        move |request| {
            let connection = Rc::clone(&connection);
            // A request that has arrived is carried out even if its caller hangs up.
            let task = tokio::task::spawn_local(async move { connection.handle(request).await });
            async move { task.await.unwrap_or(Err(Aborted)) }
        }
    });
    let mut builder = http1::Builder::new();
    // Node refuses headers above 16 KB with 431, and so does hyper with a buffer of that size.
    builder.timer(TokioTimer::new()).max_buf_size(16 * 1024);
    let mut serving = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = serving.as_mut() => return,
        () = connection.control.idle(keep_alive) => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

impl Connection {
    async fn handle(&self, request: Request<Incoming>) -> Result<Response<SimBody>, Aborted> {
        let exchange = Exchange::begin(&self.control);
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Aborted)?.to_bytes();
        let (path, query) = (
            parts.uri.path().to_owned(),
            parts.uri.query().unwrap_or_default().to_owned(),
        );
        let prefix = self.shared.state().settings.prefix.clone();
        let inside = path
            .strip_prefix(prefix.as_str())
            .filter(|rest| rest.starts_with('/'));
        let call = Call {
            method: parts.method.to_string(),
            path: inside.unwrap_or(&path).to_owned(),
            query,
            headers: parts.headers,
            body,
            https: self.https,
        };
        let number = self.shared.record(self.received(&call));
        if inside.is_none() {
            self.shared.record_answer(number, Some(404), None);
            let page = "<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center><hr><center>proxy</center></body></html>";
            return Ok(respond::plain(Reply::new(404, "text/html", page), exchange));
        }
        let answered = self.answer(&call, exchange).await;
        if answered.is_err() {
            self.control.reset();
        }
        let (mut response, login) = answered?;
        // By the clock that codes of a second factor are checked with.
        let date = dates::cookie(self.shared.state().now());
        if let Ok(date) = HeaderValue::try_from(date) {
            response.headers_mut().entry(DATE).or_insert(date);
        }
        self.shared
            .record_answer(number, Some(response.status().as_u16()), login);
        Ok(response)
    }

    fn received(&self, call: &Call) -> Received {
        let text = |value: &HeaderValue| {
            value
                .as_bytes()
                .iter()
                .map(|byte| char::from(*byte))
                .collect()
        };
        Received {
            method: call.method.clone(),
            path: call.path.clone(),
            query: call.query.clone(),
            headers: call
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), text(value)))
                .collect(),
            body: call.body.to_vec(),
            authenticated: None,
            status: None,
            at: Instant::now(),
            connection: self.number,
        }
    }

    async fn answer(
        &self,
        call: &Call,
        exchange: Exchange,
    ) -> Result<(Response<SimBody>, Option<Login>), Aborted> {
        let (method, path) = (call.method.as_str(), call.path.as_str());
        let faults = self.shared.fault(method, path);
        self.shared.pass_gate(Place::Arrival, method, path).await;
        for fault in &faults {
            match fault {
                Fault::Delay(time) => tokio::time::sleep(*time).await,
                Fault::Hang => std::future::pending().await,
                Fault::Reset => return Err(Aborted),
                Fault::Instead(canned) => {
                    return Ok((
                        respond::with_faults(canned.reply(), &faults, &self.control, exchange),
                        None,
                    ));
                }
                _ => {}
            }
        }
        pause(self.cost(call)).await;
        let mut answer = routes::answer(&mut self.shared.state(), call);
        if method == "HEAD" {
            answer.reply.body.clear();
        }
        self.shared.pass_gate(Place::Answer, method, path).await;
        for fault in &faults {
            match fault {
                Fault::HangAfterApply => std::future::pending().await,
                Fault::ResetAfterApply => return Err(Aborted),
                Fault::AfterApply(canned) => {
                    return Ok((
                        respond::with_faults(canned.reply(), &faults, &self.control, exchange),
                        answer.login,
                    ));
                }
                _ => {}
            }
        }
        Ok((
            respond::with_faults(answer.reply, &faults, &self.control, exchange),
            answer.login,
        ))
    }

    /// What a request costs in time.
    fn cost(&self, call: &Call) -> Duration {
        let state = self.shared.state();
        let login = call.method == "POST"
            && matches!(call.path.as_str(), "/api/auth/password" | "/api/session");
        let hashes = login || auth::hashes_password(&state, call);
        let change = matches!(call.method.as_str(), "POST" | "DELETE")
            && call.path.starts_with("/api/client");
        let settings = &state.settings;
        let auth_cost = if hashes {
            settings.auth_cost
        } else {
            Duration::ZERO
        };
        settings.latency
            + auth_cost
            + if change {
                settings.change_cost
            } else {
                Duration::ZERO
            }
    }
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}
