use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use secrecy::ExposeSecret;

use super::*;
use crate::tools::catalogue;

mod properties;

type Parsed = Result<(Config, Vec<Warning>), ConfigError>;

const PIN: &str = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const BASE32: &str = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const SWITCHES: [&str; 2] = [READ_ONLY, REQUIRE_DIALOG];

/// A self-signed certificate of an EC key; its dates do not matter to a root.
const ROOT: &str = include_str!("../../tests/it/root.pem");

/// A complete configuration, with `pairs` added to it or put in its place.
fn with(pairs: &[(&str, &str)]) -> Parsed {
    let complete = [
        (URL, "https://vpn.example"),
        (USERNAME, "admin"),
        (PASSWORD, "hunter2"),
    ];
    let kept = complete
        .into_iter()
        .filter(|(name, _)| pairs.iter().all(|(other, _)| other != name));
    only(&kept.chain(pairs.iter().copied()).collect::<Vec<_>>())
}

fn only(pairs: &[(&str, &str)]) -> Parsed {
    Config::parse(Environment::from_pairs(pairs.iter().copied()), catalogue())
}

fn ready(parsed: Parsed) -> Connection {
    match parsed.unwrap().0.connection {
        Setup::Ready(connection) => connection,
        Setup::Missing(names) => panic!("missing {names:?}"),
    }
}

fn warnings(pairs: &[(&str, &str)]) -> Vec<Warning> {
    with(pairs).unwrap().1
}

fn refusal(pairs: &[(&str, &str)]) -> ConfigError {
    with(pairs).unwrap_err()
}

/// A file that is removed with its directory at the end of a test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wg-easy-mcp-config-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::File::create(&path)
            .unwrap()
            .write_all(bytes)
            .unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn three_variables_are_enough_and_the_rest_has_defaults() {
    let (config, warnings) = with(&[]).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(config.tools.len(), catalogue().len());
    assert!(!config.read_only && !config.require_dialog && config.elicitation);
    assert_eq!(config.log, LogSettings::default());
    let connection = ready(with(&[]));
    assert_eq!(connection.auth, AuthMode::Auto);
    assert_eq!(connection.credentials.username.expose_secret(), "admin");
    assert_eq!(connection.credentials.password.expose_secret(), "hunter2");
    assert!(connection.credentials.totp.is_none());
    assert!(!connection.tls.insecure && connection.tls.roots.is_none());
    assert!(connection.tls.pins.is_empty());
}

#[test]
fn an_empty_variable_is_not_set() {
    let all: Vec<_> = VARIABLES.iter().map(|v| (v.name, "")).collect();
    let (config, warnings) = only(&all).unwrap();
    assert!(matches!(config.connection, Setup::Missing(names) if names.len() == 3));
    assert!(config.elicitation && !config.read_only && !config.require_dialog);
    assert_eq!(
        warnings,
        [
            Warning::SetButEmpty("WG_EASY_CA_FILE"),
            Warning::SetButEmpty("WG_EASY_TLS_PINS"),
            Warning::Missing(vec![URL, USERNAME, PASSWORD]),
        ]
    );
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_still_checked() {
    let (config, warnings) = only(&[(USERNAME, "admin")]).unwrap();
    assert_eq!(warnings, [Warning::Missing(vec![URL, PASSWORD])]);
    assert_eq!(config.tools.len(), catalogue().len());
    let text = setup_instructions(&[URL, PASSWORD]);
    assert!(
        text.contains("WG_EASY_URL and WG_EASY_PASSWORD are missing"),
        "{text}"
    );
    assert!(setup_instructions(&[URL]).contains("WG_EASY_URL is missing"));
    assert_eq!(
        only(&[(AUTH, "digest")]).unwrap_err().to_string(),
        "WG_EASY_AUTH is none of auto, session, basic; set it to one of these, in lower case"
    );
}

#[test]
fn a_name_that_is_nearly_ours_is_refused() {
    let error = refusal(&[("WG_EASY_READONLY", "1")]).to_string();
    assert!(
        error.contains("WG_EASY_READONLY") && error.contains(READ_ONLY),
        "{error}"
    );
    let error = refusal(&[("WG_EASY_hunter2", "1")]).to_string();
    assert!(!error.contains("hunter2"), "{error}");
    let long = format!("WG_EASY_{}", "A".repeat(57));
    assert!(!refusal(&[(&long, "1")]).to_string().contains("AAAA"));
    assert!(
        with(&[("WG_EASY_READONLY", "")]).is_ok(),
        "empty is not set"
    );
    assert!(with(&[("WG_EASY_PORT_51821_TCP_ADDR", "10.0.0.1")]).is_ok());
}

#[test]
fn a_value_that_is_not_text_is_refused_for_every_variable() {
    for variable in VARIABLES {
        let pairs = [(variable.name, OsString::from_vec(b"secret\xff".to_vec()))];
        let environment = Environment::from_pairs(pairs);
        let error = Config::parse(environment, catalogue()).unwrap_err();
        assert_eq!(error, ConfigError::NotUnicode(variable.name));
    }
}

#[test]
fn a_value_that_is_there_twice_is_refused() {
    let pairs = [(READ_ONLY, "0"), (READ_ONLY, "1")];
    assert_eq!(
        only(&pairs).unwrap_err(),
        ConfigError::Contradictory(READ_ONLY)
    );
    assert!(
        only(&[(READ_ONLY, "1"), (READ_ONLY, "1")])
            .unwrap()
            .0
            .read_only
    );
}

#[test]
fn restricting_switches_have_two_lists_of_words() {
    for name in SWITCHES {
        let is_on = |text| {
            let config = with(&[(name, text)]).ok()?.0;
            Some(if name == READ_ONLY {
                config.read_only
            } else {
                config.require_dialog
            })
        };
        for text in ["1", "true", "yes", "TRUE", " Yes ", "\ttrue\n"] {
            assert_eq!(is_on(text), Some(true), "{text:?}");
        }
        for text in ["0", "false", "no", "", "False", " NO", " "] {
            assert_eq!(is_on(text), Some(false), "{text:?}");
        }
        for text in [
            "on", "off", "enabled", "2", "y", "n", "ture", "\"true\"", "'0'",
        ] {
            assert_eq!(refusal(&[(name, text)]), ConfigError::NotASwitch(name));
        }
    }
}

#[test]
fn read_only_and_the_lists_select_the_tools() {
    let tools = |pairs: &[_]| with(pairs).unwrap().0.tools;
    assert_eq!(tools(&[(READ_ONLY, "yes")]).len(), 3);
    assert_eq!(tools(&[(ALLOW_TOOLS, "essential")]).len(), 6);
    assert_eq!(
        tools(&[(DENY_TOOLS, "delete_client, update_client")]).len(),
        9
    );
    assert!(matches!(
        refusal(&[(ALLOW_TOOLS, ",")]),
        ConfigError::Tools(_)
    ));
    assert!(matches!(
        refusal(&[(DENY_TOOLS, "*")]),
        ConfigError::Tools(_)
    ));
}

#[test]
fn elicitation_quotes_short_words_and_measures_the_rest() {
    for (text, on) in [
        ("true", true),
        (" TRUE ", true),
        ("False", false),
        ("false\n", false),
    ] {
        assert_eq!(with(&[(ELICITATION, text)]).unwrap().0.elicitation, on);
    }
    assert_eq!(warnings(&[(ELICITATION, "false")]), [Warning::DialogOff]);
    for (text, start) in [
        ("yes", "ELICITATION is \"yes\"; "),
        ("0", "ELICITATION is \"0\"; "),
        ("abcdefghij-_", "ELICITATION is \"abcdefghij-_\"; "),
        ("abcdefghijklm", "ELICITATION is a value of 13 characters; "),
        ("no!", "ELICITATION is a value of 3 characters; "),
        (" ", "ELICITATION is a value of 1 characters; "),
        ("nön", "ELICITATION is a value of 3 characters; "),
    ] {
        let message = refusal(&[(ELICITATION, text)]).to_string();
        assert!(message.starts_with(start), "{message}");
        assert!(message.contains("true or false"), "{message}");
    }
}

#[test]
fn a_required_dialog_cannot_be_switched_off() {
    let error = refusal(&[(REQUIRE_DIALOG, "1"), (ELICITATION, "false")]);
    assert_eq!(error, ConfigError::DialogRequiredAndOff);
    assert!(
        with(&[(REQUIRE_DIALOG, "1"), (ELICITATION, "true")])
            .unwrap()
            .0
            .require_dialog
    );
    assert!(with(&[(REQUIRE_DIALOG, "0"), (ELICITATION, "false")]).is_ok());
}

#[test]
fn words_are_spelled_exactly() {
    assert_eq!(ready(with(&[(AUTH, "session")])).auth, AuthMode::Session);
    assert_eq!(ready(with(&[(AUTH, "basic")])).auth, AuthMode::Basic);
    let (config, _) = with(&[(LOG, "debug"), (LOG_FORMAT, "json")]).unwrap();
    assert_eq!(
        (config.log.level, config.log.format),
        (Level::Debug, Format::Json)
    );
    for (name, text) in [
        (AUTH, "Basic"),
        (LOG, "trace"),
        (LOG, "off"),
        (LOG_FORMAT, "JSON "),
    ] {
        assert!(
            matches!(refusal(&[(name, text)]), ConfigError::NotAWord { variable, .. } if variable == name)
        );
    }
}

#[test]
fn the_url_warns_of_what_is_dropped_and_of_plain_http() {
    let of = |url| warnings(&[(URL, url)]);
    assert_eq!(of("https://h/p?token=hunter2"), [Warning::QueryDropped]);
    assert_eq!(of("http://vpn.example"), [Warning::PlainHttp]);
    assert_eq!(of("http://127.example.com"), [Warning::PlainHttp]);
    assert_eq!(of("http://wg.localhost:51821/"), []);
    assert_eq!(of("http://[::ffff:127.0.0.1]/"), []);
    assert_eq!(
        refusal(&[(URL, "ftp://h")]),
        ConfigError::Url(UrlProblem::OtherScheme)
    );
}

#[test]
fn validation_is_off_for_exactly_true_alone() {
    let with_pins = [("WG_EASY_INSECURE_TLS", "true"), ("WG_EASY_TLS_PINS", PIN)];
    assert_eq!(
        warnings(&with_pins),
        [Warning::ValidationOff { pinned: true }]
    );
    assert!(ready(with(&with_pins)).tls.insecure);
    assert_eq!(
        warnings(&[("WG_EASY_INSECURE_TLS", "true")]),
        [Warning::ValidationOff { pinned: false }]
    );
    for (text, warns) in [
        ("false", false),
        ("", false),
        ("1", true),
        ("TRUE", true),
        ("true ", true),
        ("False", true),
    ] {
        let pairs = [("WG_EASY_INSECURE_TLS", text)];
        assert!(!ready(with(&pairs)).tls.insecure, "{text:?}");
        assert_eq!(
            warnings(&pairs).contains(&Warning::ValidationStaysOn),
            warns,
            "{text:?}"
        );
    }
}

#[test]
fn pins_need_tls() {
    let pins = ("WG_EASY_TLS_PINS", PIN);
    assert_eq!(ready(with(&[pins])).tls.pins, [Pin([1; 32])]);
    for url in ["http://vpn.example", "http://localhost"] {
        assert_eq!(refusal(&[pins, (URL, url)]), ConfigError::PinsWithoutTls);
    }
    assert!(
        only(&[pins]).is_ok(),
        "nothing contradicts a URL that is not there"
    );
}

#[test]
fn a_file_of_roots_holds_certificates() {
    let file = |bytes: &[u8]| Scratch::new(bytes);
    let problem = |path: &str| match refusal(&[("WG_EASY_CA_FILE", path)]) {
        ConfigError::File {
            variable: "WG_EASY_CA_FILE",
            problem,
        } => problem,
        other => panic!("{other}"),
    };
    let two = file(format!("a comment\n{ROOT}\n{ROOT}").as_bytes());
    let pair = ("WG_EASY_CA_FILE", two.path());
    assert_eq!(ready(with(&[pair])).tls.roots.unwrap().len(), 2);
    assert_eq!(
        warnings(&[pair, (URL, "http://localhost")]),
        [Warning::RootsWithoutTls]
    );
    assert_eq!(
        warnings(&[pair, ("WG_EASY_INSECURE_TLS", "true")]),
        [
            Warning::RootsUnused,
            Warning::ValidationOff { pinned: false }
        ]
    );

    assert_eq!(problem("/nowhere/ca.pem"), FileProblem::NotFound);
    assert_eq!(problem("/"), FileProblem::Unreadable);
    assert_eq!(problem("a\0b"), FileProblem::Unreadable);
    assert_eq!(problem(file(b"").path()), FileProblem::NoCertificate);
    assert_eq!(problem(file(b"hunter2").path()), FileProblem::NoCertificate);
    assert_eq!(
        problem(file(b"-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n").path()),
        FileProblem::MalformedCertificate
    );
    assert_eq!(
        problem(file(b"-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n").path()),
        FileProblem::MalformedPem
    );
    assert_eq!(
        problem("/dev/zero"),
        FileProblem::TooLarge {
            limit: 4 * 1024 * 1024
        }
    );
}

#[test]
fn secrets_come_from_files_without_one_trailing_newline() {
    for (bytes, value) in [
        ("hunter2", "hunter2"),
        ("hunter2\n", "hunter2"),
        ("hunter2\r\n", "hunter2"),
        ("hunter2\n\n", "hunter2\n"),
        (" hunter2 \n", " hunter2 "),
        ("hunter2\r", "hunter2\r"),
        ("\u{feff}ü", "\u{feff}ü"),
    ] {
        let file = Scratch::new(bytes.as_bytes());
        let connection = ready(with(&[(PASSWORD, ""), (PASSWORD_FILE, file.path())]));
        assert_eq!(connection.credentials.password.expose_secret(), value);
        let connection = ready(with(&[(USERNAME, ""), (USERNAME_FILE, file.path())]));
        assert_eq!(connection.credentials.username.expose_secret(), value);
    }
    let file = Scratch::new(format!("{BASE32}\n").as_bytes());
    let connection = ready(with(&[(TOTP_SECRET_FILE, file.path())]));
    assert_eq!(connection.credentials.totp.unwrap().expose_secret(), BASE32);
}

#[test]
fn a_secret_file_of_no_use_is_refused() {
    let most = 64 * 1024;
    for (bytes, expected) in [
        (b"".to_vec(), Some(FileProblem::Empty)),
        (b"\n".to_vec(), Some(FileProblem::Empty)),
        (b"\r\n".to_vec(), Some(FileProblem::Empty)),
        (b"x\xff".to_vec(), Some(FileProblem::NotUnicode)),
        (vec![b'x'; most], None),
        (
            vec![b'x'; most + 1],
            Some(FileProblem::TooLarge { limit: most }),
        ),
    ] {
        let file = Scratch::new(&bytes);
        let parsed = with(&[(PASSWORD, ""), (PASSWORD_FILE, file.path())]);
        let expected = expected.map(|problem| ConfigError::File {
            variable: PASSWORD_FILE,
            problem,
        });
        assert_eq!(parsed.err(), expected);
    }
    let error = with(&[(PASSWORD, ""), (PASSWORD_FILE, "/nowhere/hunter2")]).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[test]
fn a_value_has_one_form() {
    for (variable, file) in [
        (USERNAME, USERNAME_FILE),
        (PASSWORD, PASSWORD_FILE),
        (TOTP_SECRET, TOTP_SECRET_FILE),
    ] {
        assert_eq!(
            refusal(&[(variable, BASE32), (file, "/nowhere")]),
            ConfigError::BothForms { variable, file }
        );
    }
}

#[test]
fn a_second_factor_is_a_secret_in_base32() {
    let totp = ready(with(&[(
        TOTP_SECRET,
        "gezd gnbv gy3t qojq gezd gnbv gy3t qojq=",
    )]))
    .credentials
    .totp;
    assert_eq!(totp.unwrap().expose_secret(), BASE32);
    assert_eq!(refusal(&[(TOTP_SECRET, "123456")]), ConfigError::TotpSecret);
    assert_eq!(
        warnings(&[(TOTP_SECRET, BASE32), (AUTH, "basic")]),
        [Warning::SecondFactorUnused]
    );
}

#[test]
fn debug_of_a_configuration_shows_no_value() {
    let (config, _) = with(&[(TOTP_SECRET, BASE32), ("WG_EASY_TLS_PINS", PIN)]).unwrap();
    let text = format!("{config:?} {:?}", config.connection);
    assert_eq!(text, "Config { .. } Ready(Connection { .. })");
    let connection = ready(with(&[(TOTP_SECRET, BASE32)]));
    let text = format!("{:?} {:?}", connection.url, connection.credentials);
    assert_eq!(text, "BaseUrl(..) Credentials { .. }");
}

#[test]
fn a_user_name_with_a_colon_needs_a_session() {
    let named = |auth| [(USERNAME, "ad:min"), (AUTH, auth)];
    assert_eq!(refusal(&named("basic")), ConfigError::ColonInUsername);
    assert_eq!(warnings(&named("auto")), [Warning::ColonInUsername]);
    assert_eq!(warnings(&named("")), [Warning::ColonInUsername]);
    assert_eq!(warnings(&named("session")), []);
    let file = Scratch::new(b"ad:min\n");
    let in_file = [
        (USERNAME, ""),
        (USERNAME_FILE, file.path()),
        (AUTH, "basic"),
    ];
    assert_eq!(refusal(&in_file), ConfigError::ColonInUsername);
}
