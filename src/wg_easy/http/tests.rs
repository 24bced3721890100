mod kept;
mod limits;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use super::*;
use crate::approval::Approval;
use crate::wg_easy::tests::connection;
use crate::wg_easy::{ClientId, ConnectFault, WgEasy};

/// A server that answers each request as it is told.
struct Fake {
    url: String,
    seen: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

enum Reply {
    /// These bytes; the connection stays open.
    Send(String),
    /// These bytes, then the end of the connection.
    SendAndClose(String),
    /// These bytes, then this many a time, for ever: each time after a pause.
    Drip(String, usize, Duration),
    /// Nothing, and the connection stays open.
    Hang,
}

use Reply::{Drip, Hang, Send, SendAndClose};

impl Fake {
    /// `answer` gets the number of the request, from 0, and its text.
    async fn new(answer: impl Fn(usize, &str) -> Reply + Shared) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let connections: Arc<AtomicUsize> = Arc::default();
        let fake = Self {
            url,
            seen: seen.clone(),
            connections: connections.clone(),
        };
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(stream, seen.clone(), answer.clone()));
            }
        });
        fake
    }

    fn client(&self, limits: Limits) -> WgEasy {
        WgEasy::with_limits(&connection(&self.url), limits).unwrap()
    }

    fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// What tasks may share. (`Send` is a reply here.)
trait Shared: std::marker::Send + Sync + 'static {}
impl<T: std::marker::Send + Sync + 'static> Shared for T {}

async fn disable(api: &WgEasy, id: ClientId) -> Result<(), Error> {
    api.disable(id, &api.turn().await?).await
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(usize, &str) -> Reply>,
) -> Option<()> {
    loop {
        let request = request(&mut stream).await?;
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        match answer(number, &request) {
            Send(text) => stream.write_all(text.as_bytes()).await.ok()?,
            SendAndClose(text) => {
                stream.write_all(text.as_bytes()).await.ok()?;
                return None;
            }
            Drip(head, bytes, pause) => {
                stream.write_all(head.as_bytes()).await.ok()?;
                loop {
                    stream.write_all(&vec![b' '; bytes]).await.ok()?;
                    sleep(pause).await;
                }
            }
            Hang => sleep(Duration::from_secs(600)).await,
        }
    }
}

async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).await.ok().filter(|&n| n > 0)?;
        text.push_str(std::str::from_utf8(&buffer[..n]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = (head.lines())
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text);
        }
    }
}

fn response(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

fn json(body: &str) -> Reply {
    Send(response("200 OK", "application/json", body))
}

fn status(status: &str) -> Reply {
    let body = format!("{{\"error\":true,\"message\":\"about {status}\"}}");
    Send(response(status, "application/json", &body))
}

fn id(n: u64) -> ClientId {
    ClientId::new(n).unwrap()
}

#[tokio::test]
async fn each_endpoint_is_asked_in_its_own_way() {
    let fake = Fake::new(|_, request| match request {
        r if r.contains("/configuration") => Send(response(
            "200 OK",
            "application/octet-stream",
            "[Interface]\n",
        )),
        r if r.contains("qrcode.svg") => Send(response("200 OK", "image/svg+xml", "<svg/>")),
        r if r.starts_with("GET") => json("[]"),
        _ => json(r#"{"success":true,"clientId":7}"#),
    })
    .await;
    let mut connection = connection(&fake.url);
    connection.url = BaseUrl::from_checked(format!("{}/a/prefix", fake.url).parse().unwrap());
    let api = WgEasy::new(&connection).unwrap();
    let yes = Approval::for_tests;
    api.clients().await.unwrap();
    api.client(id(1)).await.unwrap();
    assert_eq!(
        api.configuration(id(1)).await.unwrap().as_sent(),
        b"[Interface]\n"
    );
    assert_eq!(api.qrcode(id(1)).await.unwrap().as_sent(), b"<svg/>");
    api.information().await.unwrap();
    api.general().await.unwrap();
    api.interface().await.unwrap();
    let turn = api.turn().await.unwrap();
    assert_eq!(
        api.create("a", None, yes(), &turn).await.unwrap(),
        Some(id(7))
    );
    let body = serde_json::Map::from_iter([("name".to_owned(), "b".into())]);
    api.update(id(2), body, yes(), &turn).await.unwrap();
    api.enable(id(3), yes(), &turn).await.unwrap();
    api.disable(id(4), &turn).await.unwrap();
    api.delete(id(5), yes(), &turn).await.unwrap();
    api.one_time_link(id(6), yes(), &turn).await.unwrap();

    let requests = fake.requests();
    let lines: Vec<&str> = requests.iter().map(|r| r.lines().next().unwrap()).collect();
    assert_eq!(
        lines,
        [
            "GET /a/prefix/api/client HTTP/1.1",
            "GET /a/prefix/api/client/1 HTTP/1.1",
            "GET /a/prefix/api/client/1/configuration HTTP/1.1",
            "GET /a/prefix/api/client/1/qrcode.svg HTTP/1.1",
            "GET /a/prefix/api/information HTTP/1.1",
            "GET /a/prefix/api/admin/general HTTP/1.1",
            "GET /a/prefix/api/admin/interface HTTP/1.1",
            "POST /a/prefix/api/client HTTP/1.1",
            "POST /a/prefix/api/client/2 HTTP/1.1",
            "POST /a/prefix/api/client/3/enable HTTP/1.1",
            "POST /a/prefix/api/client/4/disable HTTP/1.1",
            "DELETE /a/prefix/api/client/5 HTTP/1.1",
            "POST /a/prefix/api/client/6/generateOneTimeLink HTTP/1.1",
        ]
    );
    assert!(requests[7].ends_with(r#"{"name":"a","expiresAt":null}"#));
    assert!(requests[8].ends_with(r#"{"name":"b"}"#));
    for (number, request) in requests.iter().enumerate() {
        let login = "authorization: Basic YWRtaW46czNjcmV0LXA6c3M=";
        assert_eq!(request.contains(login), number != 4, "{request}");
        assert!(request.contains("accept: ") && !request.contains("text/html"));
        assert!(!request.contains("accept-encoding") && !request.contains("s3cret"));
    }
    assert_eq!(fake.connections(), 1);
}

#[tokio::test]
async fn a_status_is_an_error_of_its_own() {
    let fake = Fake::new(|_, request| {
        let code = request.split(['/', ' ']).nth(4).unwrap();
        status(&format!("{code} X"))
    })
    .await;
    let api = fake.client(Limits::default());
    let mut causes = Vec::new();
    // A 404 is about a client only in wg-easy's own words.
    for code in [302, 403, 404, 418, 422, 500, 503] {
        causes.push(api.client(id(code)).await.unwrap_err());
    }
    use Error as E;
    assert!(
        matches!(&causes[..], [
            E::Redirect,
            E::Forbidden,
            E::NoSuchPath,
            E::BadRequest { status: 418, .. },
            E::BadRequest { status: 422, .. },
            E::ServerError { status: 500, said },
            E::ServerError { status: 503, .. },
        ] if said.to_string() == " (untrusted text from the instance: \"about 500 X\")"),
        "{causes:?}"
    );
    let applied: Vec<bool> = causes.iter().map(Error::may_have_been_applied).collect();
    assert_eq!(applied, [false, false, false, false, false, true, true]);
    assert_eq!(
        fake.connections(),
        1,
        "an error leaves the connection usable"
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_the_login_nowhere() {
    let elsewhere = Fake::new(|_, _| json("[]")).await;
    let location = elsewhere.url.clone();
    let fake = Fake::new(move |_, _| {
        Send(format!(
            "HTTP/1.1 302 Found\r\nlocation: {location}/login\r\ncontent-length: 0\r\n\r\n"
        ))
    })
    .await;
    let api = fake.client(Limits::default());
    assert_eq!(api.clients().await.unwrap_err(), Error::Redirect);
    assert_eq!((fake.requests().len(), elsewhere.connections()), (1, 0));
}

#[tokio::test]
async fn nobody_there_is_told_apart_from_nobody_of_that_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    drop(listener);
    let api = WgEasy::new(&connection(&format!("http://{at}/secret-path"))).unwrap();
    let error = disable(&api, id(1)).await.unwrap_err();
    assert!(matches!(
        error,
        Error::Connect {
            fault: ConnectFault::Refused,
            ..
        }
    ));
    assert!(error.to_string().starts_with(&format!("{at} refuses")));
    assert!(!error.may_have_been_applied() && !error.to_string().contains("secret-path"));

    let api = WgEasy::new(&connection("http://wg.invalid/")).unwrap();
    let error = api.clients().await.unwrap_err();
    assert!(matches!(error, Error::Dns { .. }), "{error:?}");
    assert!(error.to_string().contains("wg.invalid:80"));
}

#[tokio::test]
async fn what_speaks_no_http_is_named() {
    let fake = Fake::new(|_, _| SendAndClose("SSH-2.0-OpenSSH_9.9\r\n".into())).await;
    let api = fake.client(Limits::default());
    let error = api.clients().await.unwrap_err();
    assert!(matches!(error, Error::NotHttp { .. }), "{error:?}");
}

#[tokio::test]
async fn a_success_that_is_a_web_page_is_not_the_api() {
    let fake = Fake::new(|number, _| match number {
        0 => Send(response("200 OK", "text/html", "<html>")),
        1 => Send(response("200 OK", "application/json", " <html>")),
        2 => Send(response("200 OK", "application/octet-stream", "<html>")),
        3 => Send(response("200 OK", "application/json", "{}")),
        4 => Send(response("200 OK", "text/html", "<svg/>")),
        _ => Send(response("200 OK", "application/json", "")),
    })
    .await;
    let api = fake.client(Limits::default());
    assert_eq!(api.clients().await.unwrap_err(), Error::NotAnApi);
    assert_eq!(api.clients().await.unwrap_err(), Error::NotAnApi);
    assert_eq!(api.configuration(id(1)).await.unwrap_err(), Error::NotAnApi);
    assert_eq!(api.configuration(id(1)).await.unwrap_err(), Error::NotAnApi);
    assert_eq!(api.qrcode(id(1)).await.unwrap_err(), Error::NotAnApi);
    let error = disable(&api, id(1)).await.unwrap_err();
    assert!(error == Error::NotAnApi && error.may_have_been_applied());
}

#[tokio::test]
async fn twenty_parallel_calls_with_a_wrong_password_are_one_request() {
    let fake = Fake::new(|_, _| status("401 Unauthorized")).await;
    let api = fake.client(Limits::default());
    let mut calls = tokio::task::JoinSet::new();
    for n in 1..=20 {
        let api = api.clone();
        calls.spawn(async move {
            match n % 2 {
                0 => api.clients().await.map(drop),
                _ => disable(&api, id(n)).await,
            }
        });
    }
    let errors: Vec<Error> = (calls.join_all().await.into_iter())
        .map(Result::unwrap_err)
        .collect();
    let fresh = errors
        .iter()
        .filter(|e| **e == Error::Refused(Refusal::Basic))
        .count();
    assert_eq!((fake.requests().len(), fresh, errors.len()), (1, 1, 20));
    // What needs no login is still to be had.
    assert_eq!(
        api.information().await.unwrap_err(),
        Error::Refused(Refusal::Basic)
    );
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn only_a_401_is_remembered_and_not_for_ever() {
    let fake = Fake::new(|number, _| match number {
        0 => status("403 Forbidden"),
        1 => status("401 Unauthorized"),
        _ => json("[]"),
    })
    .await;
    let api = fake.client(Limits {
        refusal: Duration::from_secs(1),
        ..Limits::default()
    });
    assert_eq!(api.clients().await.unwrap_err(), Error::Forbidden);
    assert_eq!(
        api.clients().await.unwrap_err(),
        Error::Refused(Refusal::Basic)
    );
    assert!(matches!(
        api.clients().await.unwrap_err(),
        Error::RefusedFromMemory { .. }
    ));
    sleep(Duration::from_millis(1050)).await;
    api.clients().await.unwrap();
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn after_the_end_nothing_more_is_sent() {
    let fake = Fake::new(|_, _| json("[]")).await;
    let api = fake.client(Limits::default());
    api.close();
    assert_eq!(api.clients().await.unwrap_err(), Error::Stopping);
    assert_eq!(disable(&api, id(1)).await.unwrap_err(), Error::Stopping);
    assert_eq!(fake.connections(), 0);
}

#[tokio::test]
async fn nothing_that_prints_has_the_login_in_it() {
    let fake = Fake::new(|_, request| {
        let echo = request.replace("\r\n", " ").replace('"', "'");
        Send(response(
            "500 X",
            "application/json",
            &format!("{{\"message\":\"you sent {echo} or s3cret-\u{200e}p:ss\"}}"),
        ))
    })
    .await;
    let api = fake.client(Limits::default());
    let error = api.clients().await.unwrap_err();
    for text in [format!("{api:?} {error:?}"), error.to_string()] {
        assert!(text.contains("withheld") || text.contains("WgEasy"));
        assert!(!text.contains("s3cret") && !text.contains("YWRt"), "{text}");
    }
}
