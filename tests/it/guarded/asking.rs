//! A yes, and that there has to be one.

use super::{Case, GUARDED, Open, WAYS, assert_success, for_each};
use crate::support::{Answer, Asked, Capabilities, Era, Server, structured, with_clients};
use serde_json::{Value, json};

#[test]
fn a_yes_acts_exactly_once() {
    for_each(&WAYS, |mut case| {
        let before = case.sim.clients();
        let open = case.open(2);
        case.assert_untouched(&before, "only asked");
        assert!(!case.is_in_place(2), "{case:?}");

        let result = case.yes(&open, 2).result();
        assert_success(&result);
        assert!(case.is_in_place(2), "{case:?}");
        assert_eq!((case.sim.writes(), case.sim.applied()), (1, 1), "{case:?}");
        let write = case.sim.requests().into_iter().find(|r| r.is_write());
        let write = write.unwrap();
        let (method, path) = (case.guarded.write)(2);
        assert_eq!((write.method.as_str(), write.path), (method, path));
        for (old, new) in before.iter().zip(case.sim.clients()) {
            assert!(old.id == 2 || *old == new || case.guarded.tool == "delete_client");
        }
        case.server.assert_silent();
    });
}

#[test]
fn the_answer_says_what_was_changed() {
    let answer = |tool: &str| {
        let guarded = GUARDED.iter().find(|guarded| guarded.tool == tool).unwrap();
        let mut case = Case::new(guarded, WAYS[2]);
        let open = case.open(2);
        let result = case.yes(&open, 2).result();
        (structured(&result).clone(), case.sim)
    };
    let marked = |mut fields: Value| {
        fields["untrusted"] = true.into();
        fields["source"] = "wg-easy".into();
        fields
    };
    for (tool, id) in [
        ("create_client", 11),
        ("update_client", 2),
        ("enable_client", 2),
    ] {
        let expected = marked(json!({"success": true, "clientId": id}));
        assert_eq!(answer(tool).0, expected, "{tool}");
    }
    assert_eq!(answer("delete_client").0, json!({"deleted": 2}));

    let (link, sim) = answer("generate_one_time_link");
    let made = sim.client(2).unwrap().one_time_link.unwrap();
    assert_eq!(
        link,
        marked(json!({
            "created": true,
            "oneTimeLink": made.token,
            "path": format!("/cnf/{}", made.token),
            "url": format!("{}/cnf/{}", sim.url(), made.token),
            "expiresAt": made.expires_at.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        }))
    );
}

#[test]
fn every_tool_that_changes_something_is_in_the_table_and_asks() {
    let tools = Server::unconfigured().start().tools();
    let changing: Vec<_> = tools
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] != true)
        .map(|tool| tool["name"].as_str().unwrap())
        .filter(|name| *name != "disable_client")
        .collect();
    let mut named: Vec<_> = GUARDED.iter().map(|guarded| guarded.tool).collect();
    named.sort_by_key(|name| tools.iter().position(|tool| tool["name"] == *name));
    assert_eq!(changing, named);
    for tool in tools
        .iter()
        .filter(|tool| named.iter().any(|n| tool["name"] == **n))
    {
        assert!(
            tool["inputSchema"]["properties"]["confirm_token"].is_object(),
            "{tool}"
        );
    }

    for_each(&WAYS, |mut case| {
        let before = case.sim.clients();
        for id in 1..=3 {
            let first = case.open(id);
            let second = case.open(id);
            if let (Open::Token(_, first), Open::Token(_, second)) = (&first, &second) {
                assert_ne!(first, second);
            }
        }
        case.assert_untouched(&before, "nobody said yes");
    });
}

#[test]
fn a_tool_that_only_reads_changes_nothing_and_asks_nobody() {
    for era in Era::ALL {
        let sim = with_clients(3);
        let before = sim.clients();
        let mut server = Server::of(&sim)
            .era(*era)
            .capabilities(Capabilities::Form)
            .start();
        for tool in server.tools() {
            if tool["annotations"]["readOnlyHint"] == true {
                let takes_id = tool["inputSchema"]["properties"].get("clientId");
                let arguments = takes_id.map_or(json!({}), |_| json!({"clientId": 1}));
                server
                    .ask(tool["name"].as_str().unwrap(), arguments)
                    .result();
            }
        }
        assert_eq!(sim.writes(), 0);
        assert_eq!(sim.clients(), before);
    }
}

#[test]
fn what_looks_like_a_yes_in_the_arguments_is_refused_or_not_sent() {
    for_each(&WAYS, |mut case| {
        let before = case.sim.clients();
        for name in [
            "confirm",
            "confirmed",
            "force",
            "approved",
            "yes",
            "requestState",
        ] {
            let mut arguments = (case.guarded.arguments)(2);
            arguments[name] = true.into();
            let asked = case.server.ask(case.guarded.tool, arguments);
            if case.guarded.tool == "update_client" {
                Open::of(asked);
            } else {
                let result = asked.result();
                let said = crate::support::refusal(&result);
                assert!(said.contains(name), "{case:?}: {said}");
            }
            case.assert_untouched(&before, name);
        }
    });
}

#[test]
fn an_id_that_nobody_has_is_named_and_nobody_is_asked() {
    for_each(&WAYS, |mut case| {
        if case.guarded.tool == "create_client" {
            return;
        }
        for id in [json!(4711), json!("4711")] {
            let mut arguments = (case.guarded.arguments)(2);
            arguments["clientId"] = id;
            let result = case.server.ask(case.guarded.tool, arguments).result();
            let said = crate::support::refusal(&result);
            assert!(said.starts_with("There is no client 4711. "), "{said}");
        }
        assert_eq!(case.sim.writes(), 0);
    });
}

#[test]
fn the_dialog_is_one_box_that_has_to_be_ticked() {
    for_each(super::dialogs(), |mut case| {
        let Open::Dialog(question) = case.open(2) else {
            panic!("{case:?}: no dialog");
        };
        let form = &question.form;
        assert_eq!(form["type"], "object");
        assert_eq!(form["required"], json!(["confirm"]));
        let fields = form["properties"].as_object().unwrap();
        assert_eq!(fields.len(), 1);
        let field = &fields["confirm"];
        assert_eq!(field["type"], "boolean");
        assert_eq!(field.get("default"), None);
        assert!(field["title"].as_str().unwrap().ends_with('?'));
        assert!(field["description"].as_str().unwrap().starts_with("Tick"));
        assert!(matches!(
            case.server.answer(&question, Answer::Yes),
            Asked::Result(_)
        ));
    });
}
