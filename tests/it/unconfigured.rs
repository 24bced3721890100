//! A server without an instance: it lists its tools, and says how to set it up.

use crate::support::{PASSWORD, Server, USERNAME, in_each_era, refusal};
use serde_json::json;

const VARIABLES: [(&str, &str); 3] = [
    ("WG_EASY_URL", "http://127.0.0.1:1"),
    ("WG_EASY_USERNAME", USERNAME),
    ("WG_EASY_PASSWORD", PASSWORD),
];

#[test]
fn every_call_answers_with_the_same_instructions() {
    in_each_era(|era| {
        let mut server = Server::unconfigured().era(era).start();
        let mut all = Vec::new();
        for tool in server.tool_names() {
            for arguments in [json!({}), json!({"clientId": 1}), json!({"nonsense": 5})] {
                let result = server.call(&tool, arguments);
                all.push(refusal(&result).to_owned());
            }
        }
        all.dedup();
        let [said] = &all[..] else { panic!("{all:?}") };
        for (name, _) in VARIABLES {
            assert!(said.contains(name), "{said}");
        }
    });
}

#[test]
fn what_is_missing_is_named_on_stderr_and_in_the_answers() {
    for set in 0..7 {
        let mut builder = Server::unconfigured();
        for (bit, (name, value)) in VARIABLES.iter().enumerate() {
            if set >> bit & 1 == 1 {
                builder = builder.with(name, value);
            }
        }
        let mut server = builder.start();
        let result = server.call("list_clients", json!({}));
        let said = refusal(&result).to_owned();
        let (_, stderr) = server.finish();
        let (named, _) = stderr.split_once(" missing. ").unwrap();
        for (bit, (name, _)) in VARIABLES.iter().enumerate() {
            let missing = set >> bit & 1 == 0;
            assert_eq!(named.contains(name), missing, "{stderr}");
            assert!(!missing || said.contains(name), "{said}");
        }
    }
}
