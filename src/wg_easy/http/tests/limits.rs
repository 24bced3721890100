//! How much is read, and how long is waited.

use super::*;

fn short() -> Limits {
    Limits {
        connecting: Duration::from_millis(100),
        headers: Duration::from_millis(200),
        exchange: Duration::from_millis(400),
        success_body: 1000,
        error_body: 100,
        ..Limits::default()
    }
}

#[test]
fn the_limits_are_those_that_were_promised() {
    let limits = Limits::default();
    assert_eq!(limits.headers, Duration::from_secs(15));
    assert_eq!(limits.exchange, Duration::from_secs(60));
    assert_eq!(limits.success_body, 8 * 1024 * 1024);
    assert_eq!(limits.error_body, 64 * 1024);
    assert_eq!((limits.reads, limits.refusal.as_secs()), (4, 10));
    assert!(limits.connecting < limits.headers && limits.idle < Duration::from_secs(5));
}

#[tokio::test]
async fn a_body_that_declares_too_much_is_refused_unread() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1001\r\n\r\n";
    let fake = Fake::new(move |_, _| Send(head.to_owned())).await;
    let error = fake.client(short()).clients().await.unwrap_err();
    assert_eq!(error, Error::BodyTooLarge { limit: 1000 });
}

#[tokio::test]
async fn a_body_without_an_end_is_refused_at_the_limit() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let fake = Fake::new(move |_, _| Drip(head.to_owned(), 300, Duration::from_millis(1))).await;
    let error = fake.client(short()).clients().await.unwrap_err();
    assert_eq!(error, Error::BodyTooLarge { limit: 1000 });
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_read() {
    let body = format!("\"{}\"", "x".repeat(998));
    let fake = Fake::new(move |_, _| json(&body)).await;
    let body = fake.client(short()).clients().await.unwrap();
    assert_eq!(body.as_sent().clone().len(), 1000);
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_exchange() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let fake = Fake::new(move |_, _| Drip(head.to_owned(), 1, Duration::from_millis(20))).await;
    let begin = Instant::now();
    let error = fake.client(short()).clients().await.unwrap_err();
    assert!(matches!(
        error,
        Error::Timeout {
            phase: Phase::Body,
            ..
        }
    ));
    assert!(begin.elapsed() >= Duration::from_millis(400));
    assert!(error.may_have_been_applied());
}

#[tokio::test]
async fn an_error_body_that_drips_or_has_no_end_is_still_that_error() {
    let head = "HTTP/1.1 500 X\r\ncontent-type: text/plain\r\n\r\nit broke";
    for (bytes, pause) in [(1, 20), (40, 0)] {
        let fake =
            Fake::new(move |_, _| Drip(head.to_owned(), bytes, Duration::from_millis(pause))).await;
        let error = fake.client(short()).clients().await.unwrap_err();
        assert!(matches!(&error, Error::ServerError { said, .. }
            if said.to_string() == " (untrusted text from the instance: \"it broke\")"));
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_for_headers() {
    let fake = Fake::new(|_, _| Hang).await;
    let begin = Instant::now();
    let error = fake.client(short()).clients().await.unwrap_err();
    assert!(matches!(
        error,
        Error::Timeout {
            phase: Phase::Headers,
            ..
        }
    ));
    assert!(begin.elapsed() >= Duration::from_millis(200));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_handshake_that_hangs_was_not_a_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let api = WgEasy::with_limits(&connection(&url), short()).unwrap();
    let error = disable(&api, id(1)).await.unwrap_err();
    assert!(matches!(
        error,
        Error::Timeout {
            phase: Phase::Connecting,
            ..
        }
    ));
    assert!(!error.may_have_been_applied());
}

#[tokio::test]
async fn reads_go_four_at_a_time_and_writes_one_at_a_time() {
    let fake = Fake::new(|number, _| match number {
        0 => json("[]"),
        _ => Hang,
    })
    .await;
    let api = fake.client(Limits::default());
    api.clients().await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for n in 1..=6 {
        let (reader, writer) = (api.clone(), api.clone());
        calls.spawn(async move { reader.clients().await.map(drop) });
        calls.spawn(async move { disable(&writer, id(n)).await });
    }
    while fake.requests().len() < 6 {
        sleep(Duration::from_millis(10)).await;
    }
    // Time for one too many.
    sleep(Duration::from_millis(100)).await;
    let requests = fake.requests();
    let writes = requests.iter().filter(|r| r.starts_with("POST")).count();
    assert_eq!((requests.len() - 1 - writes, writes), (4, 1));
}
