//! What is left of the secrets when a server ends, by whichever way it does.
//!
//! The kernel stops the process for its tracer when it has asked to end, while its memory is still
//! there.

use std::process::{Child, Command, Stdio};

use nix::sys::ptrace::{self, Event, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::json;
use wg_easy_sim::{Account, Matcher, Settings, Simulator, Tls};

use super::{Image, cookies, not_tested, sealing_key};
use crate::support::{Capabilities, Era, PASSWORD, Question, Server, USERNAME, Way, simulator};

const CONT: rustix::process::Signal = rustix::process::Signal::CONT;
const TOTP: &str = "KRUGKIDROVUWG2ZAMJZG653OEBTG66BA";

/// A process that will be stopped when it ends.
struct Traced(Pid);

impl Traced {
    /// `None` where this user may not trace it.
    fn new(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).unwrap());
        match ptrace::seize(pid, Options::PTRACE_O_TRACEEXIT) {
            Ok(()) => Some(Self(pid)),
            Err(_) => {
                not_tested();
                None
            }
        }
    }

    /// Waits for the end, and gives the memory as it was then.
    fn memory_at_the_end(self) -> Image {
        loop {
            match waitpid(self.0, Some(WaitPidFlag::__WALL)).unwrap() {
                WaitStatus::PtraceEvent(_, _, event)
                    if event == Event::PTRACE_EVENT_EXIT as i32 =>
                {
                    let image = Image::of(self.0.as_raw().unsigned_abs());
                    ptrace::cont(self.0, None).unwrap();
                    return image.expect("it could be traced");
                }
                // Any other stop: of a group, by a signal that is on its way, or by a program that has
                // been started.
                WaitStatus::Stopped(_, signal) => ptrace::cont(self.0, signal).unwrap(),
                WaitStatus::PtraceEvent(..) => ptrace::cont(self.0, None).unwrap(),
                other => panic!("it ended without having been stopped: {other:?}"),
            }
        }
    }
}

/// A server that has logged in by each of its means, and has a question open: the server, its
/// question, and the cookie.
fn at_work(sim: &Simulator) -> (Server, Question, String) {
    let mut server = Server::of(sim)
        .era(Era::V2026_07_28)
        .capabilities(Capabilities::Form)
        .with("WG_EASY_INSECURE_TLS", "true")
        .with("WG_EASY_TOTP_SECRET", TOTP)
        .read_on_demand()
        .start();
    let question = server.question("delete_client", json!({"clientId": 1}));
    let cookie = cookies(sim).pop().expect("a session");
    (server, question, cookie)
}

fn instance() -> Simulator {
    simulator(Settings {
        tls: Tls::Valid,
        clients: 2,
        account: Account {
            totp_secret: Some(TOTP.to_owned()),
            ..Account::default()
        },
        ..Settings::default()
    })
}

#[test]
fn no_secret_of_this_program_is_left_when_it_ends() {
    type End = fn(&mut Server, &Simulator);
    let ends: [(&str, End); 5] = [
        ("the end of stdin", |server, _| server.close_stdin()),
        ("a closed stdout", |server, _| server.close_stdout()),
        ("SIGTERM", |server, _| server.signal("TERM")),
        ("SIGINT", |server, _| server.signal("INT")),
        ("SIGTERM while calls wait", |server, sim| {
            let listing = sim.hold(Matcher::new("GET", "/api/client").always());
            for _ in 0..6 {
                server.begin_call("list_clients", json!({}));
            }
            listing.wait_arrived(4);
            server.signal("TERM");
        }),
    ];
    for (name, end) in ends {
        let sim = instance();
        let (mut server, question, cookie) = at_work(&sim);
        let Way::Returned { state, .. } = &question.way else {
            panic!("pushed")
        };
        let Some(image) = Image::of(server.pid()) else {
            return not_tested();
        };
        let key = sealing_key::find(&image, state);
        assert_eq!(image.positions(&key).len(), 1, "{name}");
        assert_eq!(image.count(PASSWORD), 1, "{name}");
        assert_eq!(image.count(TOTP), 1, "{name}");
        assert!(image.count(&cookie) <= 5, "{name}");

        let Some(traced) = Traced::new(server.pid()) else {
            return;
        };
        end(&mut server, &sim);
        let image = traced.memory_at_the_end();
        assert_eq!(image.positions(&key).len(), 0, "the key, after {name}");
        assert_eq!(
            image.positions(&key[16..]).len(),
            0,
            "half of the key, after {name}"
        );
        assert_eq!(image.count(PASSWORD), 0, "the password, after {name}");
        assert_eq!(image.count(TOTP), 0, "the second factor, after {name}");
        // The HTTP library wipes neither what it has written, on each connection, nor what it has read.
        let left = image.count(&cookie);
        assert!(left <= 8, "{left} cookies, after {name}");
    }
}

/// Started by a shell that waits to be traced first, since these are over at once.
fn held(arguments: &[&str], variables: &[(&str, &str)]) -> Child {
    Command::new("sh")
        .args(["-c", r#"kill -STOP $$; exec "$0" "$@""#])
        .arg(env!("CARGO_BIN_EXE_wg-easy-mcp"))
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn no_secret_is_left_of_a_start_that_comes_to_nothing_or_of_a_check() {
    let sim = instance();
    let url = sim.url();
    let login = [
        ("WG_EASY_URL", url.as_str()),
        ("WG_EASY_USERNAME", USERNAME),
        ("WG_EASY_PASSWORD", PASSWORD),
        ("WG_EASY_TOTP_SECRET", TOTP),
        ("WG_EASY_INSECURE_TLS", "true"),
    ];
    let refused = [&login[..], &[("WG_EASY_READ_ONLY", "maybe")]].concat();
    let mistyped = [&login[..], &[("WG_EASY_PASWORD", PASSWORD)]].concat();
    for (arguments, variables, code) in [
        (&["--help"][..], &login[..], 0),
        (&["--nonsense"], &login, 1),
        (&[], &refused, 1),
        (&[], &mistyped, 1),
        (&["check"], &login, 0),
        (&["check"], &refused, 1),
    ] {
        let mut child = held(arguments, variables);
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).unwrap();
        assert_eq!(stopped, WaitStatus::Stopped(pid, Signal::SIGSTOP));
        let traced = Traced::new(child.id());
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), CONT).unwrap();
        let image = traced.map(Traced::memory_at_the_end);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{arguments:?}");
        if let Some(image) = image {
            for secret in [PASSWORD, TOTP] {
                assert_eq!(image.count(secret), 0, "{secret} after {arguments:?}");
            }
        }
    }
}
