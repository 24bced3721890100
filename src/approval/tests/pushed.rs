//! Before 2026-07-28 the question is pushed while the call waits.

use super::*;

/// Lets everything run that does not wait for time to pass.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test(start_paused = true)]
async fn a_yes_goes_ahead_with_what_was_read_after_it() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["mode"], "form");
    assert_eq!(asked["params"]["message"], message("laptop"));
    assert_eq!(asked["params"]["requestedSchema"], form());
    assert_eq!(client.reads(), 1);
    client.answer(&asked, yes()).await;
    let answer = client.next().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(text(&answer), "DialogPushed laptop");
    assert_eq!(client.reads(), 2);
}

#[tokio::test(start_paused = true)]
async fn anything_but_a_yes_is_a_no_that_says_so() {
    let mut client = Client::with_dialog(Era::Old).await;
    for (id, no) in (1..).zip(noes()) {
        client.call(id, five(), json!({})).await;
        let asked = client.next().await;
        client.answer(&asked, no.clone()).await;
        let answer = client.next().await;
        assert_eq!(answer["result"]["isError"], true, "{no}");
        let text = text(&answer);
        assert!(
            text.starts_with("Some(DialogPushed) Declined"),
            "{no}: {text}"
        );
        assert!(text.contains("Nothing was changed"), "{text}");
        assert!(
            text.contains("clients answer without showing the dialog"),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_instead_of_an_answer_is_a_no() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    let error = json!({"code": -32601, "message": "no such method"});
    client
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
        .await;
    let answer = client.next().await;
    assert!(text(&answer).starts_with("Some(DialogPushed) DialogFailed"));
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_a_quarter_of_an_hour_is_its_own_outcome() {
    let mut client = Client::with_dialog(Era::Old).await;
    let begun = tokio::time::Instant::now();
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    let withdrawn = client.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    let answer = client.next().await;
    assert!(text(&answer).starts_with("Some(DialogPushed) NoAnswer"));
    assert_eq!(begun.elapsed().as_secs(), 15 * 60);
    // An answer that comes too late finds nobody.
    client.answer(&asked, yes()).await;
    assert!(client.hears_nothing().await);
    assert_eq!(client.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_withdraws_its_question() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    let cancelled = json!({"requestId": 1, "reason": "changed my mind"});
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}))
        .await;
    let withdrawn = client.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    client.answer(&asked, yes()).await;
    assert!(client.hears_nothing().await);
    assert_eq!(client.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_after_the_yes_goes_no_further() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    let asked = client.next().await;
    client.answer(&asked, yes()).await;
    // In the middle of the second read.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let cancelled = json!({"requestId": 1});
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}))
        .await;
    assert!(client.hears_nothing().await);
    assert_eq!(client.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_server_ends_the_wait_at_once() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    client.next().await;
    let begun = tokio::time::Instant::now();
    client.probe.stop.cancel();
    let answer = client.next().await;
    assert!(text(&answer).starts_with("Some(DialogPushed) Stopping"));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_and_the_stop_it_brings_end_the_wait_at_once() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.call(1, five(), json!({})).await;
    client.next().await;
    client.out.shutdown().await.unwrap();
    settle().await;
    let begun = tokio::time::Instant::now();
    client.probe.stop.cancel();
    let answer = client.next().await;
    assert!(text(&answer).starts_with("Some(DialogPushed) Stopping"));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_has_changed_is_asked_anew() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.names(&[Some("laptop"), Some("phone")]);
    client.call(1, five(), json!({})).await;
    let first = client.next().await;
    assert_eq!(first["params"]["message"], message("laptop"));
    client.answer(&first, yes()).await;
    let second = client.next().await;
    assert_eq!(second["method"], "elicitation/create");
    assert_ne!(second["id"], first["id"]);
    let shown = second["params"]["message"].as_str().unwrap();
    assert!(shown.starts_with("Nothing has been done yet:"), "{shown}");
    assert!(shown.ends_with(&message("phone")), "{shown}");
    client.answer(&second, yes()).await;
    assert_eq!(text(&client.next().await), "DialogPushed phone");

    client.names(&[Some("laptop"), Some("phone")]);
    client.call(2, five(), json!({})).await;
    let first = client.next().await;
    client.answer(&first, yes()).await;
    let second = client.next().await;
    client.answer(&second, json!({"action": "decline"})).await;
    assert!(text(&client.next().await).starts_with("Some(DialogPushed) Declined"));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_keeps_changing_is_not_asked_for_ever() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.names(&["a", "b", "c", "d", "e", "f", "g", "h"].map(Some));
    client.call(1, five(), json!({})).await;
    for name in ["a", "b", "c", "d", "e", "f"] {
        let asked = client.next().await;
        let shown = asked["params"]["message"].as_str().unwrap();
        assert!(shown.ends_with(&message(name)), "{shown}");
        client.answer(&asked, yes()).await;
    }
    assert!(text(&client.next().await).starts_with("Some(DialogPushed) KeepsChanging"));
}

#[tokio::test(start_paused = true)]
async fn all_the_questions_of_a_call_share_a_quarter_of_an_hour() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.names(&[Some("laptop"), Some("phone")]);
    let begun = tokio::time::Instant::now();
    client.call(1, five(), json!({})).await;
    let first = client.next().await;
    tokio::time::sleep(Duration::from_secs(14 * 60)).await;
    client.answer(&first, yes()).await;
    assert_eq!(client.next().await["method"], "elicitation/create");
    assert_eq!(client.next().await["method"], "notifications/cancelled");
    assert!(text(&client.next().await).starts_with("Some(DialogPushed) NoAnswer"));
    assert_eq!(begun.elapsed().as_secs(), 15 * 60);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_gave_a_progress_token_hears_that_its_call_waits() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.names(&[Some("laptop"), Some("phone")]);
    let begun = tokio::time::Instant::now();
    let meta = json!({"_meta": {"progressToken": "tick"}});
    client.call(1, five(), meta).await;
    let mut asked = client.next().await;
    for told in 1..=6 {
        let progress = client.next().await;
        assert_eq!(progress["method"], "notifications/progress");
        assert_eq!(progress["params"]["progressToken"], "tick");
        assert_eq!(
            progress["params"]["progress"].as_f64(),
            Some(f64::from(told))
        );
        assert_eq!(
            progress["params"]["message"],
            "waiting for a person to answer"
        );
        // The count goes on when the question is asked again.
        if told == 3 {
            assert_eq!(begun.elapsed().as_secs(), 30);
            client.answer(&asked, yes()).await;
            asked = client.next().await;
            assert_eq!(asked["method"], "elicitation/create");
        }
    }
    client.answer(&asked, yes()).await;
    assert_eq!(text(&client.next().await), "DialogPushed phone");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_person_keeps_nobody_out() {
    let mut client = Client::with_dialog(Era::Old).await;
    let mut asked = Vec::new();
    for id in 0..64 {
        // The room holds two; each of the 64 has left it.
        client.call(id, five(), json!({})).await;
        asked.push(client.next().await);
    }
    assert_eq!(client.probe.room.available_permits(), 2);
    client.call(64, five(), json!({})).await;
    let answer = client.next().await;
    assert!(
        text(&answer).starts_with("Some(DialogPushed) TooManyWaiting"),
        "{answer}"
    );

    // Who comes back waits for a place if it has to.
    let probe = Arc::clone(&client.probe);
    let full = probe.room.acquire_many(2).await.unwrap();
    client.answer(&asked[0], yes()).await;
    settle().await;
    assert_eq!(client.reads(), 65);
    drop(full);
    assert_eq!(text(&client.next().await), "DialogPushed laptop");
    assert_eq!(probe.room.available_permits(), 2);

    // And makes room for another question.
    client.call(65, five(), json!({})).await;
    assert_eq!(client.next().await["method"], "elicitation/create");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_ends_the_call_with_its_error() {
    let mut client = Client::with_dialog(Era::Old).await;
    client.names(&[None, Some("laptop"), None]);
    client.call(1, five(), json!({})).await;
    assert_eq!(text(&client.next().await), "None the read failed");
    client.call(2, five(), json!({})).await;
    let asked = client.next().await;
    client.answer(&asked, yes()).await;
    assert_eq!(
        text(&client.next().await),
        "Some(DialogPushed) the read failed"
    );
}

#[tokio::test(start_paused = true)]
async fn an_empty_capability_means_forms() {
    for mode in [Mode::Dialog, Mode::DialogOnly] {
        let mut client = Client::connect(Era::Old, json!({"elicitation": {}}), mode).await;
        client.call(1, five(), json!({})).await;
        assert_eq!(client.next().await["method"], "elicitation/create");
    }
}

#[tokio::test(start_paused = true)]
async fn states_and_tokens_mean_nothing_to_a_pushed_question() {
    let mut client = Client::with_dialog(Era::Old).await;
    let made_up = json!({"requestState": "A".repeat(76), "inputResponses": {"confirm": yes()}});
    let arguments = json!({"clientId": 5, "confirm_token": "0".repeat(32)});
    client.call(1, arguments, made_up).await;
    assert_eq!(client.next().await["method"], "elicitation/create");
}
