//! What holds for every value.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;

use super::super::*;
use super::{SWITCHES, only, with};
use crate::tools::catalogue;

/// Text that is shaped like what people paste, and long enough not to be in a message by chance.
fn pasted() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9+/]{24,44}=",
        "[A-Z0-9]{2}[A-Za-z0-9!#$%&*:@?/.,; -]{16,40}",
        "https?://[A-Z0-9]{8}:[A-Za-z0-9]{16}@[a-z]{12}\\.example/[A-Z0-9]{16}",
        "https?://[a-z]{12}\\.example/[A-Z0-9]{16}\\?[A-Z0-9]{16}#[A-Z0-9]{16}",
        "[A-Z0-9]{12}:[A-Za-z0-9]{16}",
        "sha256/[A-Za-z0-9+/]{30,50}=?",
        "[A-Z2-7]{16,32}",
        "/run/secrets/[A-Z0-9]{16}",
        "\\PC{16,40}",
        Just("true".to_owned()),
        Just("false".to_owned()),
    ]
}

/// Every run of eight characters of `value` that the messages do not have for reasons of their own.
fn traces(value: &str) -> Vec<String> {
    let characters: Vec<char> = value.chars().collect();
    characters
        .windows(8)
        .map(|run| run.iter().collect::<String>())
        .filter(|run| !run.contains("://"))
        .filter(|run| run.chars().filter(|c| !c.is_ascii_lowercase()).count() > 2)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_message_holds_a_value(
        values in proptest::collection::vec((0..VARIABLES.len(), pasted()), 1..6),
        complete in any::<bool>(),
    ) {
        let pairs: Vec<(&str, &str)> = values
            .iter()
            .map(|(index, value)| (VARIABLES[*index].name, value.as_str()))
            .collect();
        let messages: Vec<String> = match if complete { with(&pairs) } else { only(&pairs) } {
            Ok((config, warnings)) => warnings
                .iter()
                .map(|warning| format!("{warning} {warning:?}"))
                .chain([format!("{config:?} {:?}", config.connection)])
                .collect(),
            Err(error) => vec![format!("{error} {error:?}")],
        };
        for message in &messages {
            prop_assert!(!message.contains('\n'), "{}", message);
            for trace in values.iter().flat_map(|(_, value)| traces(value)) {
                prop_assert!(!message.contains(&trace), "{:?} in {}", trace, message);
            }
        }
    }

    #[test]
    fn no_value_breaks_the_parser(
        pairs in proptest::collection::vec((0..VARIABLES.len(), proptest::collection::vec(1..=255_u8, 0..40)), 0..6),
        name in "WG_EASY_[A-Z_]{0,12}|WG_EASY_\\PC{0,80}",
    ) {
        let known = pairs
            .into_iter()
            .map(|(index, bytes)| (VARIABLES[index].name.to_owned(), OsString::from_vec(bytes)));
        let pairs: Vec<_> = known.chain([(name, "x".into())]).collect();
        let _ = log_settings(&Environment::from_pairs(pairs.clone()));
        let _ = Config::parse(Environment::from_pairs(pairs), catalogue());
    }

    #[test]
    fn a_restriction_is_off_only_for_the_words_that_say_so(
        text in "\\PC{0,8}|[ \t]?([01]|(?i:true|false|yes|no|on|off))[ \t]?",
    ) {
        for name in SWITCHES {
            if let Ok((config, _)) = with(&[(name, &text)]) {
                let on = if name == READ_ONLY { config.read_only } else { config.require_dialog };
                let word = text.trim().to_lowercase();
                prop_assert_eq!(on, ["1", "true", "yes"].contains(&word.as_str()));
                prop_assert_eq!(!on, ["0", "false", "no", ""].contains(&word.as_str()));
            }
        }
    }

    #[test]
    fn a_name_that_is_not_ours_is_printed_only_in_the_shape_of_one(name in "\\PC{0,19}[a-z!é]|[A-Z0-9_]{4,60}") {
        let name = format!("WG_EASY_{name}");
        if let Err(error) = with(&[(&name, "x")]) {
            let is_shaped = name.len() <= 64
                && name.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_');
            prop_assert_eq!(error.to_string().contains(&name), is_shaped, "{}", error);
        }
    }
}
