//! Changes that go wrong on the way. Whatever happens, what the caller is told is true of the
//! instance, and so is the audit line.

use super::{Case, GUARDED, Guarded, Path, WAYS, for_each};
use crate::support::{Era, is_error, refusal, structured, text, with_clients};
use serde_json::{Value, json};
use wg_easy_sim::{Canned, Fault, Matcher};

/// What an answer says of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It is in place. `true`: with a warning.
    InPlace(bool),
    /// It was refused, so that nothing changed.
    Refused,
    /// It was sent and is not in place.
    NotInPlace,
    /// That cannot be told.
    Unknown,
}

impl Says {
    fn of(result: &Value) -> Self {
        if !is_error(result) {
            let warning = structured(result).get("warning");
            assert!(warning.is_none_or(|warning| warning.as_str().is_some_and(|w| w.len() > 40)));
            return Self::InPlace(warning.is_some());
        }
        let said = refusal(result);
        let beginnings = [
            ("Nothing was changed", Self::Refused),
            ("wg-easy did not take the request for a link", Self::Refused),
            ("The change is not in place: ", Self::NotInPlace),
            (
                "The change was sent, and whether it is in place could not be determined.",
                Self::Unknown,
            ),
            (
                "Whether the change comes into place could not be determined",
                Self::Unknown,
            ),
            ("Whether a link for client ", Self::Unknown),
        ];
        let mut says = beginnings
            .iter()
            .filter(|(begin, _)| said.starts_with(begin));
        let (_, says) = says.next().unwrap_or_else(|| panic!("says what? {said}"));
        assert_eq!(
            *says == Self::Unknown,
            said.contains("could not be determined") && said.contains("before you try again"),
            "{said}"
        );
        *says
    }

    fn is_true(self, in_place: bool) -> bool {
        match self {
            Self::InPlace(_) => in_place,
            Self::Refused | Self::NotInPlace => !in_place,
            Self::Unknown => true,
        }
    }

    /// What the audit line has to say then.
    fn outcome(self) -> &'static str {
        match self {
            Self::InPlace(_) => "outcome=applied",
            Self::Refused => "outcome=failed",
            Self::NotInPlace => "outcome=not-applied",
            Self::Unknown => "outcome=unknown",
        }
    }
}

/// What goes wrong, and whether wg-easy's answer leaves it open what became of the change.
struct Wrong {
    name: &'static str,
    fault: Fault,
    applied: bool,
    open: bool,
}

fn wrong(name: &'static str, fault: Fault, applied: bool, open: bool) -> Wrong {
    Wrong {
        name,
        fault,
        applied,
        open,
    }
}

fn html() -> Canned {
    Canned::new(200)
        .content_type("text/html")
        .body("<!DOCTYPE html><p>Sign in</p>")
}

/// Everything that can go wrong with the request that changes something, save silence. Those that are
/// remembered come last.
fn faults() -> Vec<Wrong> {
    let json = |body: &str| Fault::json(body.to_owned());
    let json_after = |body: &str| {
        Fault::AfterApply(Canned::new(200).content_type("application/json").body(body))
    };
    vec![
        wrong("500", Fault::status(500), false, true),
        wrong("500 after", Fault::status_after_apply(500), true, true),
        wrong("502", Fault::html(502), false, true),
        wrong("504 after", Fault::status_after_apply(504), true, true),
        wrong("reset", Fault::Reset, false, true),
        wrong("reset after", Fault::ResetAfterApply, true, true),
        wrong("nothing of the body", Fault::CutBody(0), true, true),
        wrong("part of the body", Fault::CutBody(8), true, true),
        wrong("a huge length", Fault::DeclaredLength(1 << 30), true, true),
        wrong("a page", Fault::html(200), false, true),
        wrong("a page after", Fault::AfterApply(html()), true, true),
        wrong("no body", Fault::empty(), false, true),
        wrong("half of some JSON", Fault::broken_json(), false, true),
        wrong("no success", json(r#"{"success":false}"#), false, true),
        wrong(
            "no success after",
            json_after(r#"{"success":0}"#),
            true,
            true,
        ),
        wrong("something else after", json_after("[]"), true, true),
        wrong("204", Fault::status(204), false, true),
        wrong("a redirect", Fault::redirect("/login"), false, false),
        wrong("400", Fault::status(400), false, false),
        wrong("403", Fault::status(403), false, false),
        wrong("404", Fault::status(404), false, false),
        wrong("422", Fault::status(422), false, false),
        wrong("429", Fault::status(429), false, false),
    ]
}

/// A server of a simulator with a client for each fault.
fn case(guarded: &'static Guarded, way: Path) -> Case {
    let sim = with_clients(40);
    for id in 1..=40 {
        (guarded.set_up)(&sim, id);
    }
    let server = way.builder(&sim).start();
    Case {
        guarded,
        way,
        sim,
        server,
    }
}

/// What reading back can run into.
fn unreadable() -> Vec<(&'static str, Fault)> {
    vec![
        ("500", Fault::status(500)),
        ("a reset", Fault::Reset),
        ("a page", Fault::html(200)),
        ("half of the body", Fault::CutBody(3)),
        ("a redirect", Fault::redirect("/login")),
        ("403", Fault::status(403)),
        ("404 of a proxy", Fault::html(404)),
        ("no JSON", Fault::broken_json()),
        ("nothing known", Fault::json("{}")),
        ("an error as a success", Fault::json(r#"{"error":true}"#)),
        ("null", Fault::json("null")),
    ]
}

#[test]
fn what_is_said_of_a_change_that_went_wrong_is_true() {
    for_each(&[WAYS[1], WAYS[2], WAYS[5]], |ten| {
        let mut case = case(ten.guarded, ten.way);
        let link = case.guarded.tool == "generate_one_time_link";
        for (id, wrong) in (1..).zip(faults()) {
            let open = case.open(id);
            let fault = case.sim.fault(case.guarded.write_matcher(id), wrong.fault);
            let result = case.yes(&open, id).result();
            let because = format!("{case:?}, {}: {}", wrong.name, text(&result));
            assert_eq!(fault.hits(), 1, "{because}");
            assert_eq!(case.is_in_place(id), wrong.applied, "{because}");

            let says = Says::of(&result);
            assert!(says.is_true(wrong.applied), "{because}");
            let expected = match (wrong.open, wrong.applied) {
                (false, _) => Says::Refused,
                (true, true) => Says::InPlace(true),
                (true, false) if link => Says::Unknown,
                // Nobody but wg-easy can say that it has come to an end with the change.
                (true, false) if wrong.name == "500" => Says::NotInPlace,
                (true, false) => Says::Unknown,
            };
            assert_eq!(says, expected, "{because}");
            let audit = case.server.wait_for_audit(id.try_into().unwrap());
            let last = audit.last().unwrap();
            assert!(last.ends_with(says.outcome()), "{because}: {last}");
            assert!(last.contains("decision=approved"), "{last}");
        }
        assert_eq!(case.sim.writes(), faults().len());
    });
}

#[test]
fn the_answer_to_a_change_found_in_place_is_otherwise_that_of_a_success() {
    for_each(&[WAYS[0], WAYS[5]], |mut case| {
        let open = case.open(2);
        case.sim.set_reload_fails(true);
        let result = case.yes(&open, 2).result();
        assert!(case.is_in_place(2), "{case:?}");
        let mut answer = structured(&result).clone();
        let warning = answer.as_object_mut().unwrap().remove("warning");
        if case.guarded.tool == "generate_one_time_link" {
            // wg-easy does not reload its tunnel for a link.
            assert_eq!(warning, None);
            let link = case.sim.client(2).unwrap().one_time_link.unwrap();
            assert_eq!(answer["oneTimeLink"], link.token);
            return;
        }
        let warning = warning.unwrap();
        assert!(
            warning.as_str().unwrap().contains("reading back shows"),
            "{warning}"
        );
        match case.guarded.tool {
            "create_client" => assert_eq!(answer["clientId"], 11),
            "delete_client" => assert_eq!(answer, json!({"deleted": 2})),
            _ => assert_eq!(answer["clientId"], 2),
        }
    });
}

#[test]
fn what_cannot_be_read_back_could_not_be_determined() {
    for_each(&[WAYS[1], WAYS[2], WAYS[5]], |ten| {
        let mut case = case(ten.guarded, ten.way);
        let mut id = 0;
        for (name, read_fault) in unreadable() {
            for (write, write_fault) in [
                ("not applied", Fault::status(500)),
                ("applied", Fault::status_after_apply(500)),
            ] {
                id += 1;
                let open = case.open(id);
                // The read that puts the question together once more still passes.
                let reads = Matcher::new("GET", "/api/client*").skip(1).always();
                let unreadable = case.sim.fault(reads, read_fault.clone());
                case.sim.fault(case.guarded.write_matcher(id), write_fault);
                let result = case.yes(&open, id).result();
                let because = format!("{case:?}, {write}, then {name}: {}", text(&result));
                assert_eq!(Says::of(&result), Says::Unknown, "{because}");
                assert!(unreadable.hits() >= 1, "{because}");
                let audit = case.server.wait_for_audit(id.try_into().unwrap());
                assert!(
                    audit.last().unwrap().ends_with("outcome=unknown"),
                    "{because}"
                );
                unreadable.remove();
            }
        }
    });
}

#[test]
fn a_link_that_was_made_and_cannot_be_read_back_is_said_to_be_there() {
    let mut case = case(&GUARDED[4], Path::Dialog(Era::V2026_07_28));
    for (id, (name, fault)) in (1..).zip(unreadable()) {
        let open = case.open(id);
        let reads = Matcher::new("GET", "/api/client").skip(1).always();
        let unreadable = case.sim.fault(reads, fault);
        let result = case.yes(&open, id).result();
        unreadable.remove();
        assert!(case.is_in_place(id));
        let answer = structured(&result);
        assert_eq!(answer["created"], true, "{name}");
        assert_eq!(answer.get("oneTimeLink"), None, "{name}");
        assert_eq!(answer.get("url"), None, "{name}");
        let warning = answer["warning"].as_str().unwrap();
        assert!(warning.starts_with("The link was made, and its value could not be read back"));
        let audit = case.server.wait_for_audit(id.try_into().unwrap());
        assert!(audit.last().unwrap().ends_with("outcome=applied"));
    }
}

#[test]
fn a_write_is_never_sent_twice() {
    for_each(&WAYS[1..3], |mut case| {
        for fault in [Fault::Reset, Fault::ResetAfterApply, Fault::CutBody(0)] {
            case.sim.reset_log();
            let open = case.open(3);
            case.sim.fault(case.guarded.write_matcher(3), fault);
            case.yes(&open, 3).result();
            assert_eq!(case.sim.writes(), 1, "{case:?}");
            if !case.sim.clients().iter().any(|client| client.id == 3) {
                return;
            }
        }
    });
}
