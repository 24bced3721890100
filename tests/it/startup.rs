//! How the program starts, and how it refuses to.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use wg_easy_mcp::config::VARIABLES;

/// In the value of every variable that is set, and so to be found nowhere.
const PLANTED: &str = "Hunter2PLANTED";

/// A server that starts says in one line what it has given up.
const PROTECTIONS: usize = 1;

const PIN: &str = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

/// The program in an environment that holds nothing but `variables`.
fn program(variables: &[(&str, &OsStr)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"));
    command
        .env_clear()
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| (*name, OsStr::new(*value)))
        .collect();
    program(&variables).args(arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn assert_shows_nothing(output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        assert!(
            !String::from_utf8_lossy(bytes).contains("PLANTED"),
            "{output:?}"
        );
    }
}

/// Exit 1, nothing on stdout, and the one line on stderr, which is returned.
fn assert_refused(output: &Output) -> String {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(output.stdout.is_empty());
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.starts_with("wg-easy-mcp: error: ") && text.ends_with('\n'),
        "{text}"
    );
    assert_shows_nothing(output);
    text
}

/// Exit 1, nothing on stderr, and the finding on stdout, which is returned.
fn assert_check_fails(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    assert_shows_nothing(output);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A complete configuration in which every secret is planted, with `pairs` in the place of what they
/// name.
fn complete<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let url = concat!("https://vpn.example/", "Hunter2PLANTED");
    [
        ("WG_EASY_URL", url),
        ("WG_EASY_USERNAME", PLANTED),
        ("WG_EASY_PASSWORD", PLANTED),
    ]
    .into_iter()
    .filter(|(name, _)| pairs.iter().all(|(other, _)| other != name))
    .chain(pairs.iter().copied())
    .collect()
}

#[test]
fn a_complete_configuration_starts_without_a_warning() {
    let output = run(&[], &complete(&[]));
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert_eq!(text.lines().count(), PROTECTIONS, "{text}");
}

#[test]
fn each_wrong_value_is_refused_in_one_line_that_names_the_variable() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("WG_EASY_URL", &[("WG_EASY_URL", "Hunter2PLANTED")]),
        ("WG_EASY_URL", &[("WG_EASY_URL", "Hunter2PLANTED:x")]),
        ("WG_EASY_URL", &[("WG_EASY_URL", "ftp://Hunter2PLANTED")]),
        (
            "WG_EASY_URL",
            &[("WG_EASY_URL", "https://a:Hunter2PLANTED@vpn.example")],
        ),
        (
            "WG_EASY_URL",
            &[("WG_EASY_URL", "https://vpn.example:Hunter2PLANTED")],
        ),
        (
            "WG_EASY_USERNAME_FILE",
            &[("WG_EASY_USERNAME_FILE", "/Hunter2PLANTED")],
        ),
        (
            "WG_EASY_PASSWORD_FILE",
            &[
                ("WG_EASY_PASSWORD", ""),
                ("WG_EASY_PASSWORD_FILE", "/Hunter2PLANTED"),
            ],
        ),
        (
            "WG_EASY_PASSWORD_FILE",
            &[
                ("WG_EASY_PASSWORD", ""),
                ("WG_EASY_PASSWORD_FILE", "/dev/null"),
            ],
        ),
        (
            "WG_EASY_TOTP_SECRET_FILE",
            &[("WG_EASY_TOTP_SECRET_FILE", "/dev/zero")],
        ),
        (
            "WG_EASY_TOTP_SECRET",
            &[("WG_EASY_TOTP_SECRET", "Hunter2PLANTED")],
        ),
        ("WG_EASY_AUTH", &[("WG_EASY_AUTH", "Hunter2PLANTED")]),
        ("WG_EASY_CA_FILE", &[("WG_EASY_CA_FILE", "/Hunter2PLANTED")]),
        ("WG_EASY_CA_FILE", &[("WG_EASY_CA_FILE", "/dev/null")]),
        (
            "WG_EASY_TLS_PINS",
            &[("WG_EASY_TLS_PINS", "sha256/Hunter2PLANTED")],
        ),
        (
            "WG_EASY_TLS_PINS",
            &[
                ("WG_EASY_TLS_PINS", PIN),
                ("WG_EASY_URL", "http://Hunter2PLANTED"),
            ],
        ),
        (
            "WG_EASY_READ_ONLY",
            &[("WG_EASY_READ_ONLY", "Hunter2PLANTED")],
        ),
        ("WG_EASY_READ_ONLY", &[("WG_EASY_READ_ONLY", "on")]),
        (
            "WG_EASY_REQUIRE_DIALOG",
            &[("WG_EASY_REQUIRE_DIALOG", "Hunter2PLANTED")],
        ),
        (
            "WG_EASY_REQUIRE_DIALOG",
            &[("WG_EASY_REQUIRE_DIALOG", "1"), ("ELICITATION", "false")],
        ),
        ("ELICITATION", &[("ELICITATION", "Hunter2PLANTED")]),
        (
            "WG_EASY_ALLOW_TOOLS",
            &[("WG_EASY_ALLOW_TOOLS", "Hunter2PLANTED")],
        ),
        ("WG_EASY_ALLOW_TOOLS", &[("WG_EASY_ALLOW_TOOLS", " , ")]),
        (
            "WG_EASY_DENY_TOOLS",
            &[("WG_EASY_DENY_TOOLS", "essential,Hunter2PLANTED")],
        ),
        ("WG_EASY_DENY_TOOLS", &[("WG_EASY_DENY_TOOLS", "*")]),
        ("WG_EASY_LOG", &[("WG_EASY_LOG", "Hunter2PLANTED")]),
        (
            "WG_EASY_LOG_FORMAT",
            &[("WG_EASY_LOG_FORMAT", "Hunter2PLANTED")],
        ),
        (
            "WG_EASY_READONLY",
            &[("WG_EASY_READONLY", "Hunter2PLANTED")],
        ),
        ("WG_EASY_", &[("WG_EASY_Hunter2PLANTED", "1")]),
    ];
    for (named, pairs) in cases {
        let variables = complete(pairs);
        for said in [
            assert_refused(&run(&[], &variables)),
            assert_check_fails(&run(&["check"], &variables)),
        ] {
            assert!(said.contains(named), "{pairs:?}: {said}");
        }
    }
}

#[test]
fn roots_that_are_named_and_not_there_are_not_replaced_by_others() {
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let line = assert_refused(&run(&[], &complete(&[(name, "/Hunter2PLANTED")])));
        assert!(line.contains(name), "{line}");
        let output = run(&[], &complete(&[(name, "")]));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn every_variable_refuses_what_is_not_text() {
    for variable in VARIABLES {
        let value = OsStr::from_bytes(b"Hunter2PLANTED\xff");
        let output = program(&[(variable.name, value)]).output().unwrap();
        let line = assert_refused(&output);
        assert!(line.contains(variable.name), "{line}");
    }
}

#[test]
fn a_secret_in_every_variable_at_once_is_not_shown() {
    let all: Vec<_> = VARIABLES.iter().map(|v| (v.name, PLANTED)).collect();
    for arguments in [&[][..], &["--nothing"]] {
        assert_refused(&run(arguments, &all));
    }
    for arguments in [&["check"][..], &["check", "--json"]] {
        assert_check_fails(&run(arguments, &all));
    }
    for argument in ["--help", "--version"] {
        let output = run(&[argument], &all);
        assert_eq!(output.status.code(), Some(0));
        assert_shows_nothing(&output);
    }
}

#[test]
fn without_a_configuration_the_server_starts_and_says_what_is_missing() {
    let output = run(&[], &[]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(
        text.contains("WG_EASY_URL, WG_EASY_USERNAME and WG_EASY_PASSWORD are missing"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1 + PROTECTIONS, "{text}");
}

#[test]
fn what_is_odd_but_harmless_is_a_warning() {
    let output = run(
        &[],
        &complete(&[
            (
                "WG_EASY_URL",
                "http://vpn.example/Hunter2PLANTED?q=Hunter2PLANTED",
            ),
            ("WG_EASY_INSECURE_TLS", "Hunter2PLANTED"),
            ("WG_EASY_CA_FILE", ""),
            ("WG_EASY_PORT_51821_TCP_ADDR", "Hunter2PLANTED"),
            ("ELICITATION", "false"),
        ]),
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    assert_shows_nothing(&output);
    let text = stderr(&output);
    assert_eq!(text.lines().count(), 5 + PROTECTIONS, "{text}");
    assert!(
        text.lines()
            .take(5)
            .all(|line| line.starts_with("wg-easy-mcp: warning: ")),
        "{text}"
    );
}

#[test]
fn an_error_is_said_in_the_form_that_was_asked_for() {
    let output = run(
        &[],
        &[("WG_EASY_LOG_FORMAT", "json"), ("WG_EASY_AUTH", PLANTED)],
    );
    assert_eq!(output.status.code(), Some(1));
    let line: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(line["level"], "error");
    assert!(line["message"].as_str().unwrap().contains("WG_EASY_AUTH"));
    assert_shows_nothing(&output);
}

#[test]
fn help_and_version_go_to_stdout() {
    let output = run(&["--help"], &[]);
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        VARIABLES
            .iter()
            .all(|variable| text.contains(variable.name))
    );
    let output = run(&["--version"], &[]);
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(0), "")
    );
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!("wg-easy-mcp {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn an_unknown_argument_is_refused_and_named_only_in_the_shape_of_an_option() {
    assert!(assert_refused(&run(&["--url"], &complete(&[]))).contains("--url"));
    for argument in [PLANTED, "--Hunter2PLANTED", "--password=Hunter2PLANTED", ""] {
        assert_refused(&run(&[argument], &complete(&[])));
    }
}

#[test]
fn nobody_listening_on_stderr_is_no_panic() {
    let mut command = program(&[("WG_EASY_AUTH", OsStr::new("x"))]);
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = command.stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// The environment block of a process, as everybody who may look at it sees it.
fn environ(child: &Child) -> String {
    let bytes = std::fs::read(format!("/proc/{}/environ", child.id())).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A named pipe, removed at the end of a test.
struct Pipe(PathBuf);

impl Pipe {
    fn new(name: &str) -> Self {
        let name = format!("wg-easy-mcp-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        Self(path)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs the program up to where it reads its password from a pipe, and looks at its environment.
fn environment_while_configuring(name: &str, pairs: &[(&str, &str)]) -> (String, Output) {
    let pipe = Pipe::new(name);
    let mut variables: Vec<_> = pairs
        .iter()
        .map(|(name, value)| (*name, OsStr::new(*value)))
        .collect();
    variables.push(("WG_EASY_PASSWORD_FILE", pipe.0.as_os_str()));
    variables.push(("BYSTANDER", OsStr::new("stays")));
    let child = program(&variables).spawn().unwrap();
    // This waits until the program opens the other end.
    let mut writer = std::fs::File::options().write(true).open(&pipe.0).unwrap();
    let seen = environ(&child);
    writer.write_all(b"a password\n").unwrap();
    drop(writer);
    (seen, child.wait_with_output().unwrap())
}

fn assert_wiped(seen: &str) {
    assert!(seen.contains("BYSTANDER=stays\0"), "{seen:?}");
    assert!(!seen.contains("PLANTED"), "{seen:?}");
    assert!(
        !seen.contains("wg-easy-mcp-"),
        "the path of the password, too: {seen:?}"
    );
}

#[test]
fn the_environment_block_shows_no_value_before_anything_is_read() {
    let (seen, output) = environment_while_configuring(
        "serve",
        &[
            ("WG_EASY_URL", "https://vpn.example/Hunter2PLANTED"),
            ("WG_EASY_USERNAME", PLANTED),
            ("WG_EASY_SERVICE_HOST", PLANTED),
            ("ELICITATION", "true"),
        ],
    );
    assert_wiped(&seen);
    assert!(!seen.contains("true"), "{seen:?}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn the_environment_block_is_wiped_on_the_way_to_a_refusal() {
    let (seen, output) = environment_while_configuring(
        "refuse",
        &[
            ("WG_EASY_USERNAME", PLANTED),
            ("WG_EASY_TOTP_SECRET", PLANTED),
        ],
    );
    assert_wiped(&seen);
    assert_refused(&output);
}

#[test]
fn the_environment_block_is_wiped_where_only_help_is_asked_for() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    // With the pipe full, the program is held where it prints.
    let written = Arc::new(AtomicUsize::new(0));
    let filler = std::thread::spawn({
        let (written, mut writer) = (Arc::clone(&written), writer.try_clone().unwrap());
        move || {
            for _ in 0..2048 {
                writer.write_all(&[b'.'; 1024]).unwrap();
                written.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    let mut before = 0;
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let now = written.load(Ordering::SeqCst);
        if now > 0 && now == before {
            break;
        }
        before = now;
    }
    let mut child = program(&[
        ("WG_EASY_PASSWORD", OsStr::new(PLANTED)),
        ("BYSTANDER", OsStr::new("stays")),
    ])
    .arg("--help")
    .stdout(writer)
    .spawn()
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut seen = environ(&child);
    // While the program is being started the file is empty.
    while (seen.is_empty() || seen.contains("PLANTED")) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
        seen = environ(&child);
    }
    assert!(
        child.try_wait().unwrap().is_none(),
        "the program was not held"
    );
    let mut printed = Vec::new();
    reader.read_to_end(&mut printed).unwrap();
    filler.join().unwrap();
    assert!(child.wait().unwrap().success());
    assert_wiped(&seen);
}

#[test]
fn a_person_at_a_terminal_is_told_what_it_waits_for() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let stdin = ioctl_tiocgptpeer(&terminal, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    let server = program(&[]).stdin(stdin).spawn().unwrap();
    // Ctrl-D: what is typed there has come to its end.
    rustix::io::write(&terminal, b"\x04").unwrap();
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    assert_eq!(
        stderr(&output).matches("waiting for an MCP client").count(),
        1
    );

    assert!(!stderr(&run(&[], &[])).contains("waiting"));
}
