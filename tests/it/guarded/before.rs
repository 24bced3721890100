//! Changes that go wrong where things were not as they usually are: what was asked for was in place
//! before, or the client is gone when it is looked for.

use super::{Case, GUARDED, Guarded, Path, for_each};
use crate::support::{Era, is_error, refusal, structured};
use serde_json::json;
use wg_easy_sim::{Fault, Matcher};

fn guarded(tool: &str) -> &'static Guarded {
    GUARDED.iter().find(|guarded| guarded.tool == tool).unwrap()
}

#[test]
fn what_was_in_place_before_is_never_said_not_to_be() {
    for tool in ["enable_client", "update_client"] {
        let mut case = Case::new(guarded(tool), Path::Dialog(Era::V2026_07_28));
        let first = case.open(2);
        case.yes(&first, 2).result();
        assert!(case.is_in_place(2));
        for (fault, refused) in [
            (Fault::status(500), false),
            (Fault::status_after_apply(500), false),
            (Fault::Reset, false),
            (Fault::ResetAfterApply, false),
            (Fault::html(200), false),
            (Fault::redirect("/login"), true),
            (Fault::status(400), true),
            (Fault::status(403), true),
            (Fault::status(404), true),
            (Fault::status(422), true),
        ] {
            let open = case.open(2);
            assert!(open.text().contains("changes nothing"), "{}", open.text());
            let what = format!("{fault:?}");
            case.sim.fault(case.guarded.write_matcher(2), fault);
            let result = case.yes(&open, 2).result();
            assert!(case.is_in_place(2), "{what}");
            assert_eq!(is_error(&result), refused, "{what}: {result}");
            if refused {
                let said = refusal(&result);
                assert!(said.starts_with("Nothing was changed. "), "{what}: {said}");
                assert!(!said.contains("is not enabled"), "{what}: {said}");
            } else {
                assert!(structured(&result)["warning"].is_string(), "{what}");
            }
        }
    }
}

/// Says yes, and lets the client go after the change has been made and before it is answered.
fn goes_meanwhile(case: &mut Case) -> serde_json::Value {
    let open = case.open(2);
    let write = case.guarded.write_matcher(2);
    case.sim.fault(write.clone(), Fault::ResetAfterApply);
    let hold = case.sim.hold_answer(write);
    std::thread::scope(|scope| {
        let sim = &case.sim;
        scope.spawn(move || {
            hold.wait_arrived(1);
            sim.remove_client(2);
            hold.release();
        });
        let server = &mut case.server;
        let super::Open::Dialog(question) = &open else {
            panic!("no dialog");
        };
        server
            .answer(question, crate::support::Answer::Yes)
            .result()
    })
}

#[test]
fn a_client_that_goes_during_a_change_is_said_to_be_gone() {
    for_each(&super::dialogs()[1..], |mut case| {
        if case.guarded.tool == "create_client" {
            return;
        }
        let result = goes_meanwhile(&mut case);
        let outcome = match case.guarded.tool {
            "delete_client" => {
                assert_eq!(structured(&result)["deleted"], 2);
                "outcome=applied"
            }
            "generate_one_time_link" => {
                assert!(refusal(&result).contains("could not be determined"));
                "outcome=unknown"
            }
            _ => {
                assert!(
                    refusal(&result).starts_with("The client is gone: "),
                    "{result}"
                );
                "outcome=not-applied"
            }
        };
        let audit = case.server.wait_for_audit(1);
        assert!(audit[0].ends_with(outcome), "{}", audit[0]);
    });
}

#[test]
fn a_client_is_not_gone_because_something_says_404() {
    for tool in ["update_client", "enable_client", "delete_client"] {
        let mut case = Case::new(guarded(tool), Path::Dialog(Era::V2026_07_28));
        let open = case.open(2);
        case.sim
            .fault(case.guarded.write_matcher(2), Fault::status(500));
        let by_id = Matcher::new("GET", "/api/client/2").skip(1);
        case.sim.fault(by_id, Fault::html(404));
        let result = case.yes(&open, 2).result();
        let said = refusal(&result);
        assert!(said.contains("could not be determined"), "{tool}: {said}");
        assert!(case.sim.client(2).is_some());
    }
}

#[test]
fn a_new_client_is_told_from_its_namesakes() {
    let mut case = Case::new(guarded("create_client"), Path::Dialog(Era::V2026_07_28));
    case.sim.add_client("laptop-2");
    for (fault, id) in [
        (Fault::status(500), None),
        (Fault::status_after_apply(500), Some(12)),
        (Fault::json(r#"{"success":true}"#), None),
        (Fault::ResetAfterApply, Some(13)),
    ] {
        let what = format!("{fault:?}");
        let open = case.open(2);
        case.sim.fault(case.guarded.write_matcher(2), fault);
        let result = case.yes(&open, 2).result();
        match id {
            Some(id) => assert_eq!(structured(&result)["clientId"], json!(id), "{what}"),
            None => assert_eq!(result["structuredContent"].get("clientId"), None, "{what}"),
        }
    }
}
