//! On 2026-07-28 the question is the call's answer, and the next call brings the answer to it.

use super::*;

impl Client {
    /// Calls without an answer and gives the state of the question that comes back.
    async fn asked(&mut self, id: u32) -> String {
        self.call(id, five(), json!({})).await;
        state(&self.next().await)
    }

    /// Calls again with a state and an answer.
    async fn retry(&mut self, id: u32, state: &str, answer: Value) -> Value {
        let more = json!({"requestState": state, "inputResponses": {"confirm": answer}});
        self.call(id, five(), more).await;
        self.next().await
    }
}

/// The state of a question.
fn state(answer: &Value) -> String {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["requestState"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_yes_goes_ahead_and_does_so_once() {
    let mut client = Client::with_dialog(Era::New).await;
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    let request = &asked["result"]["inputRequests"]["confirm"];
    assert_eq!(request["method"], "elicitation/create");
    assert_eq!(request["params"]["mode"], "form");
    assert_eq!(request["params"]["message"], message("laptop"));
    assert_eq!(request["params"]["requestedSchema"], form());
    let first = state(&asked);
    assert_eq!(
        text(&client.retry(2, &first, yes()).await),
        "DialogReturned laptop"
    );
    let second = state(&client.retry(3, &first, yes()).await);
    assert_ne!(first, second);
}

#[tokio::test(start_paused = true)]
async fn anything_but_a_yes_is_a_no_that_cannot_be_taken_back() {
    let mut client = Client::with_dialog(Era::New).await;
    for (id, no) in (0..).step_by(3).zip(noes()) {
        let asked = client.asked(id).await;
        let reads = client.reads();
        let answer = client.retry(id + 1, &asked, no.clone()).await;
        let text = text(&answer);
        assert!(
            text.starts_with("Some(DialogReturned) Declined"),
            "{no}: {text}"
        );
        assert_eq!(client.reads(), reads, "a no needs no reading");
        state(&client.retry(id + 2, &asked, yes()).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_no_stays_a_no_when_the_question_has_changed() {
    let mut client = Client::with_dialog(Era::New).await;
    client.names(&[Some("laptop"), Some("phone")]);
    let asked = client.asked(1).await;
    let answer = client.retry(2, &asked, json!({"action": "decline"})).await;
    assert!(text(&answer).starts_with("Some(DialogReturned) Declined"));
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_a_question_that_has_changed_is_spent_and_the_new_one_is_asked() {
    let mut client = Client::with_dialog(Era::New).await;
    client.names(&[Some("laptop"), Some("phone"), Some("laptop")]);
    let first = client.asked(1).await;
    let again = client.retry(2, &first, yes()).await;
    let request = &again["result"]["inputRequests"]["confirm"];
    let shown = request["params"]["message"].as_str().unwrap();
    assert!(shown.starts_with("Nothing has been done yet:"), "{shown}");
    assert!(shown.ends_with(&message("phone")), "{shown}");
    // Although the first question would be right again by now.
    state(&client.retry(3, &first, yes()).await);
}

#[tokio::test(start_paused = true)]
async fn a_yes_for_other_arguments_or_another_tool_counts_as_no_answer() {
    let mut client = Client::with_dialog(Era::New).await;
    for (id, changed) in [
        (1, json!({"arguments": {"clientId": 6}})),
        (4, json!({"arguments": {"clientId": "5"}})),
        (7, json!({"name": "enable_client"})),
    ] {
        let asked = client.asked(id).await;
        let mut more = json!({"requestState": asked, "inputResponses": {"confirm": yes()}});
        for (name, value) in changed.as_object().unwrap() {
            more[name] = value.clone();
        }
        client.call(id + 1, five(), more).await;
        state(&client.next().await);
        state(&client.retry(id + 2, &asked, yes()).await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_without_its_state_counts_as_no_answer() {
    let mut client = Client::with_dialog(Era::New).await;
    let asked = client.asked(1).await;
    for (id, state) in (2..).zip(["", "A", &"A".repeat(76), &asked[1..], "\u{0}"]) {
        self::state(&client.retry(id, state, yes()).await);
    }
    let bare = json!({"inputResponses": {"confirm": yes()}});
    client.call(10, five(), bare).await;
    state(&client.next().await);
    // None of which has taken anything from the question that is open.
    assert_eq!(
        text(&client.retry(11, &asked, yes()).await),
        "DialogReturned laptop"
    );
}

#[tokio::test(start_paused = true)]
async fn a_state_without_an_answer_is_spent() {
    let mut client = Client::with_dialog(Era::New).await;
    for (id, more) in [
        (1, json!({})),
        (4, json!({"inputResponses": {}})),
        (7, json!({"inputResponses": {"other": yes()}})),
    ] {
        let asked = client.asked(id).await;
        let mut more = more;
        more["requestState"] = json!(asked);
        client.call(id + 1, five(), more).await;
        let fresh = state(&client.next().await);
        state(&client.retry(id + 2, &asked, yes()).await);
        let answer = client.retry(id + 2, &fresh, yes()).await;
        assert_eq!(text(&answer), "DialogReturned laptop");
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_after_a_quarter_of_an_hour_counts_as_no_answer() {
    let mut client = Client::with_dialog(Era::New).await;
    let asked = client.asked(1).await;
    tokio::time::sleep(Duration::from_secs(15 * 60)).await;
    state(&client.retry(2, &asked, yes()).await);
}

#[tokio::test(start_paused = true)]
async fn the_capability_is_that_of_the_request() {
    let mut client = Client::with_dialog(Era::New).await;
    client.asked(1).await;
    client.capabilities = json!({});
    client.call(2, five(), json!({})).await;
    assert!(text(&client.next().await).contains("this client cannot show a dialog"));
    client.capabilities = json!({"elicitation": {}});
    client.asked(3).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_can_show_a_dialog_is_asked_whatever_token_it_brings() {
    let mut client = Client::with_dialog(Era::New).await;
    client.capabilities = json!({});
    client.call(1, five(), json!({})).await;
    let answer = client.next().await;
    let (_, token) = text(&answer).split_once("confirm_token: ").unwrap();
    let arguments = json!({"clientId": 5, "confirm_token": token[..32]});
    client.capabilities = json!({"elicitation": {"form": {}}});
    client.call(2, arguments.clone(), json!({})).await;
    let asked = state(&client.next().await);
    // The token is no part of what is approved.
    assert_eq!(
        text(&client.retry(3, &asked, yes()).await),
        "DialogReturned laptop"
    );
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_ends_the_call_with_its_error() {
    let mut client = Client::with_dialog(Era::New).await;
    client.names(&[Some("laptop"), None, Some("laptop")]);
    let asked = client.asked(1).await;
    assert_eq!(
        text(&client.retry(2, &asked, yes()).await),
        "Some(DialogReturned) the read failed"
    );
    state(&client.retry(3, &asked, yes()).await);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_so_nobody_is_counted() {
    let mut client = Client::with_dialog(Era::New).await;
    for id in 0..100 {
        client.asked(id).await;
    }
    assert_eq!(client.probe.gate.waiting.available_permits(), Gate::WAITING);
    assert_eq!(client.probe.room.available_permits(), 2);
}
