//! The variables there are, and what to make of those there are not.

use secrecy::ExposeSecret;

use crate::environment::Environment;

use super::error::ConfigError;

/// An environment variable of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Whether its value is a secret, to be passed as one by whoever starts the program.
    pub secret: bool,
    /// What holds when it is not set, if anything does.
    pub default: Option<&'static str>,
    /// What it means, in a line.
    pub meaning: &'static str,
}

pub(super) const URL: &str = "WG_EASY_URL";
pub(super) const USERNAME: &str = "WG_EASY_USERNAME";
pub(super) const USERNAME_FILE: &str = "WG_EASY_USERNAME_FILE";
pub(super) const PASSWORD: &str = "WG_EASY_PASSWORD";
pub(super) const PASSWORD_FILE: &str = "WG_EASY_PASSWORD_FILE";
pub(super) const TOTP_SECRET: &str = "WG_EASY_TOTP_SECRET";
pub(super) const TOTP_SECRET_FILE: &str = "WG_EASY_TOTP_SECRET_FILE";
pub(super) const AUTH: &str = "WG_EASY_AUTH";
pub(super) const CA_FILE: &str = "WG_EASY_CA_FILE";
pub(super) const TLS_PINS: &str = "WG_EASY_TLS_PINS";
pub(super) const INSECURE_TLS: &str = "WG_EASY_INSECURE_TLS";
pub(super) const READ_ONLY: &str = "WG_EASY_READ_ONLY";
pub(super) const ALLOW_TOOLS: &str = "WG_EASY_ALLOW_TOOLS";
pub(super) const DENY_TOOLS: &str = "WG_EASY_DENY_TOOLS";
pub(super) const ELICITATION: &str = "ELICITATION";
pub(super) const REQUIRE_DIALOG: &str = "WG_EASY_REQUIRE_DIALOG";
pub(super) const LOG: &str = "WG_EASY_LOG";
pub(super) const LOG_FORMAT: &str = "WG_EASY_LOG_FORMAT";

/// Every variable that is read, in the order in which people are told of them.
pub const VARIABLES: &[Variable] = &[
    setting(
        URL,
        None,
        "base URL of the wg-easy web UI, http or https; a path is kept",
    ),
    secret(USERNAME, "name of the wg-easy admin"),
    setting(USERNAME_FILE, None, "file to read the name from instead"),
    secret(PASSWORD, "password of the wg-easy admin"),
    setting(
        PASSWORD_FILE,
        None,
        "file to read the password from instead",
    ),
    secret(TOTP_SECRET, "base32 secret of the admin's second factor"),
    setting(
        TOTP_SECRET_FILE,
        None,
        "file to read that secret from instead",
    ),
    setting(AUTH, Some("auto"), "how to log in: auto, session or basic"),
    setting(
        CA_FILE,
        None,
        "PEM file; only its certificates are trusted as roots",
    ),
    setting(
        TLS_PINS,
        None,
        "sha256/BASE64 pins of public keys, separated by commas; one must match",
    ),
    setting(
        INSECURE_TLS,
        Some("false"),
        "exactly true: accept any certificate (with pins: one that matches)",
    ),
    setting(
        READ_ONLY,
        Some("false"),
        "1, true or yes: only tools that change nothing and show no key",
    ),
    setting(
        ALLOW_TOOLS,
        None,
        "tools to offer: names, prefixes ending in *, or essential, separated by commas",
    ),
    setting(DENY_TOOLS, None, "tools not to offer, in the same form"),
    setting(
        ELICITATION,
        Some("true"),
        "false: never show a dialog, ask for a second call with a token instead",
    ),
    setting(
        REQUIRE_DIALOG,
        Some("false"),
        "1, true or yes: refuse a guarded tool where no dialog can be shown",
    ),
    setting(
        LOG,
        Some("info"),
        "what to say on stderr: error, warn, info or debug",
    ),
    setting(LOG_FORMAT, Some("text"), "how to say it: text or json"),
];

const fn setting(
    name: &'static str,
    default: Option<&'static str>,
    meaning: &'static str,
) -> Variable {
    Variable {
        name,
        secret: false,
        default,
        meaning,
    }
}

const fn secret(name: &'static str, meaning: &'static str) -> Variable {
    Variable {
        name,
        secret: true,
        default: None,
        meaning,
    }
}

/// Refuses a name that begins like ours and is none of ours: a mistyped restriction would otherwise
/// be no restriction. One without a value would not have been one either.
pub(super) fn refuse_unknown(environment: &Environment) -> Result<(), ConfigError> {
    for name in environment.names() {
        let is_known = VARIABLES.iter().any(|variable| variable.name == name);
        if is_known || is_injected_by_kubernetes(name) || is_empty(environment, name) {
            continue;
        }
        return Err(ConfigError::UnknownVariable {
            name: is_printable(name).then(|| name.to_owned()),
            nearest: nearest(name),
        });
    }
    Ok(())
}

fn is_empty(environment: &Environment, name: &str) -> bool {
    matches!(environment.value(name), Ok(Some(value)) if value.expose_secret().is_empty())
}

/// `^[A-Z0-9_]{1,64}$`; any other name may be a value that was put in the wrong place.
fn is_printable(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
}

/// Whether Kubernetes sets a variable of this name in every pod beside a Service called `wg-easy`, or
/// `wg-easy-` and something.
fn is_injected_by_kubernetes(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("WG_EASY_").filter(|_| is_printable(name)) else {
        return false;
    };
    let words: Vec<&str> = rest.split('_').collect();
    // What comes before the shape is the rest of the Service's name.
    (0..words.len()).any(|start| words.get(start..).is_some_and(is_shaped_by_kubernetes))
}

fn is_shaped_by_kubernetes(words: &[&str]) -> bool {
    match words {
        ["SERVICE", "HOST"] | ["SERVICE", "PORT", ..] | ["PORT"] => true,
        ["PORT", number, "TCP" | "UDP" | "SCTP", part @ ..] => {
            !number.is_empty()
                && number.bytes().all(|c| c.is_ascii_digit())
                && matches!(part, [] | ["ADDR" | "PORT" | "PROTO"])
        }
        _ => false,
    }
}

/// The variable that was probably meant: one that differs in less than half of its characters, or
/// that begins with all of what was written.
fn nearest(name: &str) -> Option<&'static str> {
    let meant = |name: &'static str| name.strip_prefix("WG_EASY_");
    let written = name.strip_prefix("WG_EASY_")?;
    if written.len() > 64 {
        return None;
    }
    VARIABLES
        .iter()
        .filter_map(|variable| Some((variable.name, meant(variable.name)?)))
        .map(|(name, meant)| (distance(written, meant), name, meant))
        .filter(|(distance, _, meant)| {
            distance * 2 < meant.len() || (written.len() > 2 && meant.starts_with(written))
        })
        .min_by_key(|(distance, ..)| *distance)
        .map(|(_, name, _)| name)
}

/// How many characters to insert, remove or replace to get from one to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (deleted, a) in from.chars().enumerate() {
        let mut left = deleted + 1;
        let mut next = vec![left];
        for (b, pair) in to.chars().zip(row.windows(2)) {
            let &[diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kubernetes_sets_for_a_service_is_ignored() {
        for name in [
            "WG_EASY_SERVICE_HOST",
            "WG_EASY_SERVICE_PORT",
            "WG_EASY_SERVICE_PORT_HTTP_WEB",
            "WG_EASY_PORT",
            "WG_EASY_PORT_51821_TCP",
            "WG_EASY_PORT_51821_TCP_ADDR",
            "WG_EASY_PORT_51821_TCP_PORT",
            "WG_EASY_PORT_51820_UDP_PROTO",
            "WG_EASY_WEB_SERVICE_HOST",
            "WG_EASY_WEB_UI_PORT_80_TCP_ADDR",
        ] {
            assert!(is_injected_by_kubernetes(name), "{name}");
        }
        for name in [
            "WG_EASY_READONLY",
            "WG_EASY_PORT_TCP",
            "WG_EASY_PORT_X_TCP",
            "WG_EASY_PORT_1_TCP_HOST",
            "WG_EASY_PORTS",
            "WG_EASY_SERVICE",
            "WG_EASY_service_PORT",
            "OTHER_PORT",
        ] {
            assert!(!is_injected_by_kubernetes(name), "{name}");
        }
        assert!(VARIABLES.iter().all(|v| !is_injected_by_kubernetes(v.name)));
    }

    #[test]
    fn a_near_miss_is_told_what_was_probably_meant() {
        for (written, meant) in [
            ("WG_EASY_READONLY", Some(READ_ONLY)),
            ("WG_EASY_READ_ONLY_MODE", None),
            ("WG_EASY_USER", Some(USERNAME)),
            ("WG_EASY_PASS", Some(PASSWORD)),
            ("WG_EASY_TOOLS", None),
            ("WG_EASY_ALLOWED_TOOLS", Some(ALLOW_TOOLS)),
            ("WG_EASY_DENY_TOOL", Some(DENY_TOOLS)),
            ("WG_EASY_REQUIRE_DIALOGUE", Some(REQUIRE_DIALOG)),
            ("WG_EASY_LOGFORMAT", Some(LOG_FORMAT)),
            ("WG_EASY_", None),
            ("WG_EASY_BANANA", None),
        ] {
            assert_eq!(nearest(written), meant, "{written}");
        }
    }

    #[test]
    fn distance_counts_changes() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn every_variable_is_listed_once_and_described_in_a_line() {
        for (index, variable) in VARIABLES.iter().enumerate() {
            assert!(is_printable(variable.name));
            assert!(!variable.meaning.contains('\n') && variable.meaning.len() <= 90);
            assert!(
                VARIABLES[index + 1..]
                    .iter()
                    .all(|v| v.name != variable.name)
            );
        }
    }
}
