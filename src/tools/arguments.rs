//! Reading a call's arguments: everything is checked before anyone is asked and before wg-easy, which
//! coerces what it should refuse, sees any of it.

use crate::wg_easy::ClientId;
use rmcp::model::JsonObject;
use serde_json::Value;

/// The arguments of one call.
#[derive(Clone, Debug)]
pub struct Arguments(JsonObject);

/// What is wrong with the arguments, said so that the caller gets it right the next time. It never
/// quotes a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong(pub String);

/// The most names of arguments that an error repeats.
const MAX_NAMED: usize = 20;

impl Arguments {
    /// Wraps the arguments of a call.
    pub fn new(arguments: JsonObject) -> Self {
        Self(arguments)
    }

    /// All of them, as they came.
    pub fn as_object(&self) -> &JsonObject {
        &self.0
    }

    /// Refuses arguments that the tool does not have, naming them.
    pub fn only(&self, known: &[&str]) -> Result<(), Wrong> {
        let unknown = self.others(known);
        if unknown.is_empty() {
            return Ok(());
        }
        let takes = if known.is_empty() {
            "this tool takes no arguments".to_owned()
        } else {
            format!("this tool takes {}", known.join(", "))
        };
        Err(Wrong(format!(
            "Unknown argument{}: {}; {takes}.",
            if unknown.len() == 1 { "" } else { "s" },
            listed(&unknown)
        )))
    }

    /// The names of the arguments that are not `known`, fit to be quoted.
    pub fn others(&self, known: &[&str]) -> Vec<String> {
        self.0
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .map(|name| quotable(name))
            .collect()
    }

    /// The value of an argument, `None` when it is absent.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The client that a call is about.
    pub fn client_id(&self) -> Result<ClientId, Wrong> {
        let wrong = || {
            Wrong(format!(
                "clientId has to be a client's id: an integer from 1 to {}, as list_clients gives it.",
                ClientId::MAX
            ))
        };
        let number = match self.value("clientId") {
            // A number with a point or an exponent is not read as an integer, so 1.0 and 1e0 end here.
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(digits))
                if !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) =>
            {
                digits.parse().ok()
            }
            Some(_) => None,
            None => {
                return Err(Wrong(
                    "clientId is missing: say which client, by its id.".to_owned(),
                ));
            }
        };
        number.and_then(ClientId::new).ok_or_else(wrong)
    }

    /// An optional text argument.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, Wrong> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Wrong(format!("{name} has to be a string."))),
        }
    }

    /// A text argument that has to be there.
    pub fn required_text(&self, name: &'static str) -> Result<&str, Wrong> {
        self.text(name)?.ok_or_else(|| {
            Wrong(format!(
                "{name} is missing, and this tool cannot do without it."
            ))
        })
    }

    /// An optional integer argument within bounds, both included.
    pub fn integer(&self, name: &'static str, least: u64, most: u64) -> Result<Option<u64>, Wrong> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .filter(|number| (least..=most).contains(number))
                .map(Some)
                .ok_or_else(|| {
                    Wrong(format!(
                        "{name} has to be an integer from {least} to {most}."
                    ))
                }),
        }
    }
}

/// Names in one sentence, the first twenty of them; the others are counted.
pub fn listed(names: &[String]) -> String {
    match names.split_at_checked(MAX_NAMED) {
        Some((first, others)) if !others.is_empty() => {
            format!("{} and {} more", first.join(", "), others.len())
        }
        _ => names.join(", "),
    }
}

/// An argument's name as it may be repeated: short, and of letters, digits and underscores.
fn quotable(name: &str) -> String {
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain && (1..=40).contains(&name.len()) {
        name.to_owned()
    } else {
        format!("(a name of {} characters)", name.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        let Value::Object(arguments) = value else {
            panic!("an object")
        };
        Arguments::new(arguments)
    }

    #[test]
    fn an_id_is_an_integer_or_its_digits() {
        for right in [
            json!(1),
            json!("1"),
            json!(ClientId::MAX),
            json!("9007199254740991"),
        ] {
            assert!(
                arguments(json!({"clientId": right})).client_id().is_ok(),
                "{right}"
            );
        }
        let wrong = [
            "0",
            "-1",
            "1.0",
            "1e0",
            "1.5",
            "true",
            "null",
            "[\"3\"]",
            "[3]",
            "{}",
            "\"0x1\"",
            "\" 1\"",
            "\"1 \"",
            "\"01\"",
            "\"1.0\"",
            "\"1e0\"",
            "\"+1\"",
            "\"\"",
            "\"0\"",
            "\"9007199254740992\"",
            "9007199254740992",
            "\"99999999999999999999999\"",
            "\"１\"",
        ];
        for raw in wrong {
            let value: Value = serde_json::from_str(raw).unwrap();
            assert!(
                arguments(json!({"clientId": value})).client_id().is_err(),
                "{raw}"
            );
        }
        assert!(arguments(json!({})).client_id().is_err());
    }

    #[test]
    fn unknown_arguments_are_named_and_nothing_else_is_quoted() {
        let given = arguments(json!({"clientId": 1, "force": "s3cret", "a b\n": 1}));
        let Wrong(said) = given.only(&["clientId"]).unwrap_err();
        assert_eq!(
            said,
            "Unknown arguments: force, (a name of 4 characters); this tool takes clientId."
        );
        assert_eq!(given.only(&["clientId", "force", "a b\n"]), Ok(()));
    }

    #[test]
    fn of_many_unknown_arguments_the_first_are_named_and_the_others_counted() {
        let many = (0..60_000)
            .map(|n| (format!("a{n}"), Value::Null))
            .collect();
        let Wrong(said) = Arguments::new(many).only(&[]).unwrap_err();
        assert!(said.starts_with("Unknown arguments: a0, a1, "), "{said}");
        assert!(
            said.ends_with(", a19 and 59980 more; this tool takes no arguments."),
            "{said}"
        );
        assert_eq!(listed(&vec!["x".to_owned(); 20]), vec!["x"; 20].join(", "));
    }

    proptest! {
        #[test]
        fn an_id_comes_out_as_it_went_in(id in 1..=ClientId::MAX) {
            for value in [json!(id), json!(id.to_string())] {
                prop_assert_eq!(arguments(json!({"clientId": value})).client_id().unwrap().as_u64(), id);
            }
        }

        #[test]
        fn a_string_is_an_id_only_if_the_rule_says_so(text in "[ +0-9a-fxe.-]{0,18}") {
            let right = text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0')
                && text.parse::<u64>().is_ok_and(|id| (1..=ClientId::MAX).contains(&id));
            prop_assert_eq!(arguments(json!({"clientId": text})).client_id().is_ok(), right);
        }
    }
}
