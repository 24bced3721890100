//! What a line looks like.

use jiff::Timestamp;
use serde::Serialize;

use super::{Audit, Format, Level};
use crate::untrusted::clean;

pub(super) fn line(format: Format, time: Timestamp, level: Level, message: &str) -> String {
    #[derive(Serialize)]
    struct Object<'a> {
        time: String,
        level: Level,
        message: &'a str,
    }

    let message = flatten(message);
    match format {
        Format::Text => {
            let kind = match level {
                Level::Error => "error: ",
                Level::Warn => "warning: ",
                Level::Info => "",
                Level::Debug => "debug: ",
            };
            format!("wg-easy-mcp: {kind}{message}\n")
        }
        Format::Json => json(&Object {
            time: rfc3339(time),
            level,
            message: &message,
        }),
    }
}

pub(super) fn audit_line(format: Format, time: Timestamp, audit: &Audit) -> String {
    #[derive(Serialize)]
    struct Object<'a> {
        time: String,
        level: &'static str,
        #[serde(flatten)]
        audit: &'a Audit,
    }

    let time = rfc3339(time);
    match format {
        Format::Text => {
            let client = audit
                .client
                .map(|id| format!(" client={id}"))
                .unwrap_or_default();
            format!(
                "wg-easy-mcp: audit: {time} tool={}{client} how={} decision={} outcome={}\n",
                audit.tool,
                word(&audit.how),
                word(&audit.decision),
                word(&audit.outcome)
            )
        }
        Format::Json => json(&Object {
            time,
            level: "audit",
            audit,
        }),
    }
}

fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// The word that a variant has in JSON, for the text form: one spelling to search for in both.
fn word(value: &impl Serialize) -> String {
    let word = serde_json::to_value(value).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

fn json(object: &impl Serialize) -> String {
    // Structs of strings, numbers and unit variants cannot fail to become JSON.
    let mut line = serde_json::to_string(object).unwrap_or_default();
    line.push('\n');
    line
}

/// A message as one line that cannot speak to a terminal.
fn flatten(message: &str) -> String {
    let spaced: String = message
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    clean(&spaced).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Decision, How, Outcome};
    use super::*;
    use proptest::prelude::*;

    fn time() -> Timestamp {
        "2026-03-01T09:08:07.0651Z".parse().unwrap()
    }

    #[test]
    fn a_text_line_names_the_program_and_what_kind_it_is() {
        let say = |level| line(Format::Text, time(), level, "well");
        assert_eq!(say(Level::Error), "wg-easy-mcp: error: well\n");
        assert_eq!(say(Level::Warn), "wg-easy-mcp: warning: well\n");
        assert_eq!(say(Level::Info), "wg-easy-mcp: well\n");
        assert_eq!(say(Level::Debug), "wg-easy-mcp: debug: well\n");
    }

    #[test]
    fn a_json_line_has_a_time_in_utc() {
        assert_eq!(
            line(Format::Json, time(), Level::Warn, "a \"b\"\nc"),
            "{\"time\":\"2026-03-01T09:08:07.065Z\",\"level\":\"warn\",\"message\":\"a \\\"b\\\" c\"}\n"
        );
    }

    #[test]
    fn levels_are_ordered_by_importance() {
        assert!(Level::Error < Level::Warn && Level::Warn < Level::Info);
        assert!(Level::Info < Level::Debug);
    }

    #[test]
    fn a_decision_reads_the_same_in_both_forms() {
        let mut audit = Audit {
            tool: "delete_client",
            client: Some(5),
            how: How::DialogPushed,
            decision: Decision::NoAnswer,
            outcome: Outcome::NotApplied,
        };
        assert_eq!(
            audit_line(Format::Text, time(), &audit),
            "wg-easy-mcp: audit: 2026-03-01T09:08:07.065Z tool=delete_client client=5 \
             how=dialog-pushed decision=no-answer outcome=not-applied\n"
        );
        audit.client = None;
        assert_eq!(
            audit_line(Format::Json, time(), &audit),
            "{\"time\":\"2026-03-01T09:08:07.065Z\",\"level\":\"audit\",\"tool\":\"delete_client\",\
             \"client\":null,\"how\":\"dialog-pushed\",\"decision\":\"no-answer\",\
             \"outcome\":\"not-applied\"}\n"
        );
        assert!(!audit_line(Format::Text, time(), &audit).contains("client="));
    }

    proptest! {
        #[test]
        fn no_message_can_be_more_than_one_line(message in any::<String>()) {
            for format in [Format::Text, Format::Json] {
                let line = line(format, time(), Level::Info, &message);
                let body = line.strip_suffix('\n').unwrap();
                prop_assert!(!body.chars().any(crate::untrusted::is_removed));
                prop_assert!(!body.chars().any(|c| c.is_whitespace() && c != ' '));
                if format == Format::Json {
                    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
                    prop_assert!(value["message"].is_string());
                }
            }
        }
    }
}
