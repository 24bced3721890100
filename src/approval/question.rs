//! The text a person reads before anything happens.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rmcp::model::{BooleanSchema, ElicitationSchema, PrimitiveSchemaDefinition};

use crate::untrusted::Line;

/// A yes-or-no question: what will happen and what it costs in this server's own words, then, under
/// a line that says whose words they are, one labelled line for each value that is not its own.
///
/// ```text
/// This will delete WireGuard client 5.
///
/// Its key pair is destroyed and cannot be restored.
///
/// Values below were supplied by the caller or by wg-easy, not by this server:
///   Client: laptop
/// ```
///
/// What is not the server's own comes as a [`Line`] and so can neither begin a line nor fill the
/// screen. The server's own words must not have any of it worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    title: Cow<'static, str>,
    hint: Cow<'static, str>,
    /// The server's own words: the operation and what it costs, a paragraph each.
    words: String,
    /// Everybody else's, a labelled line each.
    values: String,
}

impl Question {
    /// The name of the one field of the form.
    pub(super) const FIELD: &'static str = "confirm";

    const HEADING: &'static str =
        "Values below were supplied by the caller or by wg-easy, not by this server:";

    /// A question without values. `title` stands beside the box to tick ("Delete client 5?");
    /// `operation` is the sentence that says what a yes does.
    pub fn new(
        title: impl Into<Cow<'static, str>>,
        operation: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            title: title.into(),
            hint: Cow::Borrowed(
                "Tick only if you want exactly this. Anything else changes nothing.",
            ),
            words: operation.into().into_owned(),
            values: String::new(),
        }
    }

    /// Adds a paragraph about what a yes costs or grants.
    #[must_use]
    pub fn cost(mut self, paragraph: impl Into<Cow<'static, str>>) -> Self {
        self.words.push_str("\n\n");
        self.words.push_str(&paragraph.into());
        self
    }

    /// Adds a value: `label: value`.
    #[must_use]
    pub fn value(self, label: &'static str, value: &Line) -> Self {
        self.labelled(label, &shown(value, false))
    }

    /// Adds the rest of the value before it, when that does not fit on its line.
    #[must_use]
    pub fn more(self, rest: &[Line]) -> Self {
        rest.iter()
            .fold(self, |question, line| question.value("… and", line))
    }

    /// Adds a value that a yes replaces: `label: old → new`.
    #[must_use]
    pub fn change(self, label: &'static str, old: &Line, new: &Line) -> Self {
        let line = format!("{} → {}", shown(old, true), shown(new, true));
        self.labelled(label, &line)
    }

    /// Replaces the words under the box to tick.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = hint.into();
        self
    }

    /// The question as it is shown, its lines separated by line feeds.
    pub fn text(&self) -> String {
        let Self { words, values, .. } = self;
        if values.is_empty() {
            return words.clone();
        }
        format!("{words}\n\n{}{values}", Self::HEADING)
    }

    /// The words beside the box to tick.
    pub fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn hint_text(&self) -> &str {
        &self.hint
    }

    /// The form: one box that has to be ticked. It has no default, since a client may fill
    /// defaults in for the person.
    pub(super) fn form(&self) -> ElicitationSchema {
        let confirm = BooleanSchema::new()
            .title(self.title.clone())
            .description(self.hint.clone());
        let mut form = ElicitationSchema::new(BTreeMap::from([(
            Self::FIELD.to_owned(),
            PrimitiveSchemaDefinition::Boolean(confirm),
        )]));
        form.required = Some(vec![Self::FIELD.to_owned()]);
        form
    }

    fn labelled(mut self, label: &'static str, line: &str) -> Self {
        for part in ["\n  ", label, ": ", line] {
            self.values.push_str(part);
        }
        self
    }
}

/// A value as it is shown. One that could be taken for this server's own words, which are in
/// parentheses, or for something in quotes, is quoted; beside an arrow so is one that has an arrow in it,
/// so that nobody can make the new value look like a part of the old one.
fn shown(value: &Line, is_beside_an_arrow: bool) -> Cow<'_, str> {
    let text = value.as_str();
    let misleads = text.starts_with(['(', '"']) || is_beside_an_arrow && text.contains('→');
    if text.is_empty() {
        Cow::Borrowed("(empty)")
    } else if misleads && !value.is_ours() {
        Cow::Owned(format!("{text:?}"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn deletion(name: &str) -> Question {
        Question::new("Delete client 5?", "This will delete WireGuard client 5.")
            .cost("Its key pair is destroyed and cannot be restored.")
            .cost("Anyone using that configuration loses VPN access.")
            .value("Client", &Line::new(name))
    }

    #[test]
    fn a_question_about_one_client() {
        insta::assert_snapshot!(deletion("laptop").text(), @r#"
        This will delete WireGuard client 5.

        Its key pair is destroyed and cannot be restored.

        Anyone using that configuration loses VPN access.

        Values below were supplied by the caller or by wg-easy, not by this server:
          Client: laptop
        "#);
    }

    #[test]
    fn a_question_about_changes() {
        let question = Question::new("Change client 5?", "This will change WireGuard client 5.")
            .value(
                "Client",
                &Line::new("laptop\r\n\r\nThis server says: say yes"),
            )
            .change("Name", &Line::new("laptop"), &Line::new("phone"))
            .change("DNS", &Line::new(""), &Line::new("1.1.1.1"))
            .change(
                "Routes",
                &Line::new("10.0.0.0/8 → ::/0"),
                &Line::new("\" → \""),
            );
        insta::assert_snapshot!(question.text(), @r#"
        This will change WireGuard client 5.

        Values below were supplied by the caller or by wg-easy, not by this server:
          Client: laptop This server says: say yes
          Name: laptop → phone
          DNS: (empty) → 1.1.1.1
          Routes: "10.0.0.0/8 → ::/0" → "\" → \""
        "#);
    }

    #[test]
    fn no_value_looks_like_this_servers_own_words() {
        let never = Line::in_place_of_a_value("never");
        let question = Question::new("Go?", "This goes.")
            .value("Client", &Line::new("(never)"))
            .value("Expires", &never)
            .change("Name", &Line::new(""), &Line::new("(empty)"))
            .change("Expires", &never, &Line::new("(never"));
        insta::assert_snapshot!(question.text(), @r#"
        This goes.

        Values below were supplied by the caller or by wg-easy, not by this server:
          Client: "(never)"
          Expires: (never)
          Name: (empty) → "(empty)"
          Expires: (never) → "(never"
        "#);
    }

    #[test]
    fn a_long_value_is_shown_to_its_end() {
        let (first, rest) = Line::whole(&format!("{} tail", "x".repeat(200)));
        let question = Question::new("Go?", "This goes.")
            .change("Name", &first, &first)
            .more(&rest);
        assert!(
            question.text().ends_with("x\"\n  … and: \" tail\""),
            "{}",
            question.text()
        );
    }

    #[test]
    fn a_paragraph_never_stands_among_the_values() {
        let value = Line::new("laptop");
        let before = Question::new("Go?", "This goes.").cost("It costs.");
        let after = Question::new("Go?", "This goes.").value("Client", &value);
        assert_eq!(before.value("Client", &value), after.cost("It costs."));
    }

    #[test]
    fn a_question_without_values_has_no_heading() {
        let question = Question::new("Go?", "This goes.").cost("It costs.");
        assert_eq!(question.text(), "This goes.\n\nIt costs.");
    }

    #[test]
    fn the_form_is_one_box_that_has_no_default() {
        let form = deletion("laptop").hint("Cannot be undone.").form();
        assert_eq!(
            serde_json::to_value(form).unwrap(),
            serde_json::json!({
                "type": "object",
                "properties": {
                    "confirm": {
                        "type": "boolean",
                        "title": "Delete client 5?",
                        "description": "Cannot be undone.",
                    },
                },
                "required": ["confirm"],
            })
        );
    }

    proptest! {
        #[test]
        fn no_value_begins_a_line_or_adds_one(one in any::<String>(), two in any::<String>(), three in any::<String>()) {
            let ask = |one: &str, two: &str, three: &str| {
                deletion(one).change("Name", &Line::new(two), &Line::new(three))
            };
            let question = ask(&one, &two, &three);
            let plain = ask("a", "b", "c");
            let starts = |question: &Question| -> Vec<String> {
                // The part of each line that is there whatever the values are.
                question.text().split('\n').map(|line| match line.strip_prefix("  ") {
                    Some(labelled) => labelled.split(": ").next().unwrap().to_owned(),
                    None => line.to_owned(),
                }).collect()
            };
            prop_assert_eq!(starts(&question), starts(&plain));
            let line_ends = ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
            prop_assert_eq!(question.text().find(line_ends), None);
            prop_assert_eq!(question.title(), plain.title());
        }

        #[test]
        fn the_two_sides_of_a_change_can_be_told_apart(
            old in r#"[a→" \\(]{0,8}"#, new in r#"[a→" \\(]{0,8}"#,
            other_old in r#"[a→" \\(]{0,8}"#, other_new in r#"[a→" \\(]{0,8}"#,
        ) {
            let line = |old: &str, new: &str| {
                Question::new("t", "o").change("l", &Line::new(old), &Line::new(new)).text()
            };
            let shown = |text: &str| match Line::new(text).as_str() {
                "" => "(empty)".to_owned(),
                text => text.to_owned(),
            };
            if line(&old, &new) == line(&other_old, &other_new) {
                prop_assert_eq!(shown(&old), shown(&other_old));
                prop_assert_eq!(shown(&new), shown(&other_new));
            }
        }
    }
}
