//! A connection that is kept, and what is sent again when it turns out to be closed.

use super::*;

/// Answers the first request, then ends the connection when the second one arrives: what a server does
/// whose keep-alive runs out at that moment. `true` for requests to answer.
fn closing(answered: impl Fn(usize) -> bool + Shared) -> impl Fn(usize, &str) -> Reply + Shared {
    move |number, _| match answered(number) {
        true => json(r#"{"success":true}"#),
        false => SendAndClose(String::new()),
    }
}

#[tokio::test]
async fn a_read_whose_kept_connection_was_closed_is_sent_once_more() {
    let fake = Fake::new(closing(|number| number != 1)).await;
    let api = fake.client(Limits::default());
    api.clients().await.unwrap();
    api.clients().await.unwrap();
    assert_eq!((fake.requests().len(), fake.connections()), (3, 2));
}

#[tokio::test]
async fn a_read_is_not_sent_a_third_time_nor_again_on_a_new_connection() {
    let fake = Fake::new(closing(|number| number == 0)).await;
    let api = fake.client(Limits::default());
    api.clients().await.unwrap();
    let error = api.clients().await.unwrap_err();
    assert!(matches!(error, Error::BrokenOff { .. }));
    assert_eq!(fake.requests().len(), 3);

    let fake = Fake::new(closing(|_| false)).await;
    let api = fake.client(Limits::default());
    assert!(matches!(
        api.clients().await.unwrap_err(),
        Error::BrokenOff { .. }
    ));
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn a_write_is_never_sent_twice() {
    let fake = Fake::new(closing(|number| number != 1)).await;
    let api = fake.client(Limits::default());
    api.clients().await.unwrap();
    let error = disable(&api, id(1)).await.unwrap_err();
    assert!(matches!(error, Error::BrokenOff { .. }) && error.may_have_been_applied());
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_an_answer() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[";
    let fake = Fake::new(move |_, _| SendAndClose(head.to_owned())).await;
    let error = fake.client(Limits::default()).clients().await.unwrap_err();
    assert!(matches!(error, Error::BrokenOff { .. }));
}
