//! Which fields hold a secret, and what stands in their place.

use super::clean::is_hidden;
use serde_json::{Map, Value};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// A field is secret when its name, folded, ends in one of these: an exact list is only as good as
/// wg-easy's naming, and `metricsPassword` would slip through one that says `password`. `key` is not
/// among them: a public key identifies a peer.
const SECRET_ENDINGS: [&str; 9] = [
    "password",
    "passwordhash",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "privatekey",
    "presharedkey",
];

/// The name under which a one-time link is listed, folded. Whoever knows its value downloads the
/// client's configuration without a login.
const ONE_TIME_LINK: &str = "onetimelink";

/// What happens to a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sensitivity {
    Open,
    Secret,
    Link,
}

fn sensitivity(name: &str) -> Sensitivity {
    // Folding letters and digits would change nothing but their case, which is not looked at.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        judge(name.as_bytes())
    } else {
        judge(fold(name).as_bytes())
    }
}

fn judge(folded: &[u8]) -> Sensitivity {
    let starts = |start: &str| {
        (folded.get(..start.len())).is_some_and(|part| part.eq_ignore_ascii_case(start.as_bytes()))
    };
    let ends = |end: &&str| {
        let from = folded.len().checked_sub(end.len());
        (from.and_then(|from| folded.get(from..)))
            .is_some_and(|part| part.eq_ignore_ascii_case(end.as_bytes()))
    };
    if folded.eq_ignore_ascii_case(ONE_TIME_LINK.as_bytes()) {
        Sensitivity::Link
    } else if starts("totp") || SECRET_ENDINGS.iter().any(ends) {
        Sensitivity::Secret
    } else {
        Sensitivity::Open
    }
}

/// Lower case, without `_`, `-`, and whatever is not to be seen: a zero-width space, a soft hyphen or a
/// variation selector inside a name must not hide it.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|&c| c != '_' && c != '-' && !is_hidden(c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Replaces every secret in `fields`, at every depth. `null` stays `null`: that no key is set is no
/// secret.
pub(super) fn redact(fields: &mut Map<String, Value>) {
    for (name, value) in fields.iter_mut() {
        match sensitivity(name) {
            Sensitivity::Secret if !value.is_null() => *value = REDACTED.into(),
            // The row keeps its expiry, which says that a link is live; its own `oneTimeLink` goes.
            Sensitivity::Link if !value.is_null() && !value.is_object() => *value = REDACTED.into(),
            _ => redact_within(value),
        }
    }
}

fn redact_within(value: &mut Value) {
    match value {
        Value::Object(fields) => redact(fields),
        Value::Array(elements) => elements.iter_mut().for_each(redact_within),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn redacted(value: Value) -> Value {
        let Value::Object(mut fields) = value else {
            panic!("an object")
        };
        redact(&mut fields);
        Value::Object(fields)
    }

    #[test]
    fn secrets_go_at_every_depth_and_null_stays() {
        assert_eq!(
            redacted(json!({
                "privateKey": "k", "pre_shared_key": "k", "publicKey": "open", "metricsPassword": "$argon2",
                "totpVerified": true, "totpKey": null, "API-KEY": 5, "list": [{"x": {"sessionToken": ["a"]}}],
                "monkey": "open", "tokens": "open",
            })),
            json!({
                "privateKey": "[redacted]", "pre_shared_key": "[redacted]", "publicKey": "open",
                "metricsPassword": "[redacted]", "totpVerified": "[redacted]", "totpKey": null,
                "API-KEY": "[redacted]", "list": [{"x": {"sessionToken": "[redacted]"}}],
                "monkey": "open", "tokens": "open",
            })
        );
    }

    #[test]
    fn a_one_time_link_keeps_its_expiry_alone() {
        assert_eq!(
            redacted(
                json!({"oneTimeLink": {"id": 1, "oneTimeLink": "5a387bae", "expiresAt": "soon"}})
            ),
            json!({"oneTimeLink": {"id": 1, "oneTimeLink": "[redacted]", "expiresAt": "soon"}})
        );
        assert_eq!(
            redacted(json!({"oneTimeLink": "5a387bae", "one_time_link": ["5a387bae"]})),
            json!({"oneTimeLink": "[redacted]", "one_time_link": "[redacted]"})
        );
        assert_eq!(
            redacted(json!({"oneTimeLink": null})),
            json!({"oneTimeLink": null})
        );
    }

    #[test]
    fn invisible_characters_do_not_hide_a_name() {
        for name in [
            "private\u{200b}Key",
            "pass\u{ad}word",
            "sec\u{2060}ret",
            "to\u{e0061}ken",
            "\u{202e}apiKey",
            "pre\u{7}SharedKey",
            "pass\u{fe0f}word",
            "secret\u{3164}",
            // The Kelvin sign, whose lower case is an ordinary k.
            "api\u{212a}ey",
        ] {
            assert_eq!(sensitivity(name), Sensitivity::Secret, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_a_name_does_not_change_what_it_is(name in "[a-zA-Z0-9]{0,6}", end in prop::sample::select([&SECRET_ENDINGS[..], &["", "OneTimeLink", "key"]].concat())) {
            let name = format!("{name}{end}");
            prop_assert_eq!(judge(name.as_bytes()), judge(fold(&name).as_bytes()));
        }

        #[test]
        fn no_value_under_a_secret_name_survives(prefix in "[a-zA-Z_-]{0,8}", end in prop::sample::select(SECRET_ENDINGS.to_vec()), depth in 0usize..4) {
            let mut value = json!({ format!("{prefix}{end}"): "the-secret-value" });
            for _ in 0..depth {
                value = json!({ "inner": [value] });
            }
            prop_assert!(!redacted(value).to_string().contains("the-secret-value"));
        }
    }
}
