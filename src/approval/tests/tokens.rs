//! Where no dialog can be shown, or none is wanted, the call has to be made twice.

use super::*;

impl Client {
    /// Calls, with a token if there is one, and gives the text of the answer.
    async fn call_with(&mut self, id: u32, token: Option<&str>) -> String {
        let mut arguments = five();
        if let Some(token) = token {
            arguments["confirm_token"] = json!(token);
        }
        self.call(id, arguments, json!({})).await;
        text(&self.next().await).to_owned()
    }
}

fn token(text: &str) -> String {
    let (_, token) = text.split_once("\nconfirm_token: ").expect(text);
    token.lines().next().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn the_second_call_acts_and_a_third_starts_over() {
    for (era, capabilities, mode, why) in [
        (Era::Old, json!({}), Mode::Dialog, "this client cannot"),
        (Era::New, json!({}), Mode::Dialog, "this client cannot"),
        (
            Era::Old,
            json!({"elicitation": {"url": {}}}),
            Mode::Dialog,
            "this client cannot",
        ),
        (
            Era::New,
            json!({"elicitation": {"url": {}}}),
            Mode::Dialog,
            "this client cannot",
        ),
        (
            Era::Old,
            json!({"elicitation": {}}),
            Mode::TokenOnly,
            "this server, wg-easy-mcp,",
        ),
        (
            Era::New,
            json!({"elicitation": {}}),
            Mode::TokenOnly,
            "this server, wg-easy-mcp,",
        ),
    ] {
        let mut client = Client::connect(era, capabilities, mode).await;
        let first = client.call_with(1, None).await;
        assert!(first.contains(why), "{first}");
        assert!(first.contains(&message("laptop")), "{first}");
        assert!(!first.contains("did not fit"), "{first}");
        let token = token(&first);
        assert_eq!(client.call_with(2, Some(&token)).await, "Token laptop");
        let third = client.call_with(3, Some(&token)).await;
        assert!(third.contains("did not fit"), "{third}");
        assert_ne!(self::token(&third), token);
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_does_not_fit_starts_over() {
    let mut client = Client::connect(Era::Old, json!({}), Mode::Dialog).await;
    for (id, wrong) in (1..).zip(["", "0", "00000000000000000000000000000000", "ä"]) {
        let answer = client.call_with(id, Some(wrong)).await;
        assert!(answer.contains("did not fit"), "{answer}");
    }
    let good = token(&client.call_with(10, None).await);
    client.names(&[Some("phone")]);
    let answer = client.call_with(11, Some(&good)).await;
    assert!(answer.contains("did not fit"), "{answer}");
    assert!(answer.contains(&message("phone")), "{answer}");
    let fresh = token(&answer);
    assert_eq!(client.call_with(12, Some(&fresh)).await, "Token phone");

    let good = token(&client.call_with(13, None).await);
    let other = json!({"clientId": 6, "confirm_token": good});
    client.call(14, other, json!({})).await;
    assert!(text(&client.next().await).contains("did not fit"));

    let good = token(&client.call_with(15, None).await);
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    let answer = client.call_with(16, Some(&good)).await;
    assert!(answer.contains("did not fit"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_leaves_the_token_good() {
    let mut client = Client::connect(Era::New, json!({}), Mode::Dialog).await;
    client.names(&[Some("laptop"), None, Some("laptop")]);
    let good = token(&client.call_with(1, None).await);
    assert_eq!(
        client.call_with(2, Some(&good)).await,
        "None the read failed"
    );
    assert_eq!(client.call_with(3, Some(&good)).await, "Token laptop");
}

#[tokio::test(start_paused = true)]
async fn where_a_dialog_is_required_there_is_no_token() {
    for era in [Era::Old, Era::New] {
        for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
            let mut client = Client::connect(era, capabilities, Mode::DialogOnly).await;
            for token in [None, Some("00000000000000000000000000000000")] {
                let answer = client.call_with(1, token).await;
                assert!(answer.starts_with("None DialogRequired"), "{answer}");
                assert!(!answer.contains("confirm_token"), "{answer}");
            }
            assert_eq!(client.reads(), 0);
        }
    }
}
