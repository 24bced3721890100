//! What the running program has given up, seen from outside and from inside.
//!
//! Where the kernel lacks a protection, the tests say so by name and look that the program does, too.

mod inside;
mod missing;
#[cfg(target_arch = "x86_64")]
mod older_kernels;
mod probe;
mod raw;
mod resolver;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use wg_easy_sim::{Settings, Simulator, Tls};

/// A directory of a test's own, gone at its end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let name = format!("wg-easy-mcp-sandbox-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The running program, with a session open.
struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Session {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut session = Self {
            child,
            stdin,
            stdout,
        };
        let client = json!({ "name": "test", "version": "1" });
        session.ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        );
        answer["result"].clone()
    }

    fn status(&self) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let fields = text.lines().filter_map(|line| line.split_once(":\t"));
        fields
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect()
    }

    /// Ends the session; what was said on stderr.
    fn end(self) -> String {
        drop(self.stdin);
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The program in an environment of its own, told where the simulator is.
fn program(simulator: &Simulator) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"));
    command.env_clear().envs([
        ("WG_EASY_URL", simulator.url().as_str()),
        ("WG_EASY_USERNAME", "admin"),
        ("WG_EASY_PASSWORD", "correct-horse-battery"),
    ]);
    command
}

fn probe(arguments: &[&str]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sandbox::probe::probe", "--ignored"])
        .args(["--nocapture", "--test-threads=1"])
        .env(probe::VARIABLE, arguments.join("|"))
        .output()
        .unwrap()
}

/// What the probe found, and what it was told is in force.
struct Findings(Value);

impl Findings {
    fn of(output: &Output) -> Self {
        assert!(output.status.success(), "{output:?}");
        Self(serde_json::from_slice(&output.stderr).unwrap())
    }

    fn is_in_force(&self, protection: &str) -> bool {
        let state = &self.0["report"][protection];
        assert!(!state.is_null(), "{protection} is not reported");
        let in_force = state == "in force";
        if !in_force {
            not_tested(protection);
        }
        in_force
    }

    fn tried(&self, attempt: &str) -> &str {
        match self.0["tried"][attempt].as_str() {
            Some(outcome) => outcome,
            None => panic!("{attempt} was not tried"),
        }
    }
}

/// Said past the harness, which would keep it to itself where a test passes.
fn not_tested(protection: &str) {
    let line = format!("not tested, since the kernel lacks it: {protection}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn a_running_server_shows_its_protections_in_proc() {
    let simulator = Simulator::start(Settings::default());
    let session = Session::start(program(&simulator));
    let status = session.status();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", session.child.id())).unwrap();
    let stderr = session.end();
    assert_eq!(status["NoNewPrivs"], "1");
    let core = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max core file size"))
        .unwrap();
    let core: Vec<_> = core.split_whitespace().collect();
    assert_eq!(core[..2], ["0", "0"]);
    if Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
        assert_eq!(status["Seccomp"], "2");
        assert!(status["Seccomp_filters"].parse::<u32>().unwrap() >= 1);
        assert!(stderr.contains("system call filter"), "{stderr}");
    } else {
        not_tested("system call filter");
        assert!(stderr.contains("not in force: "), "{stderr}");
    }
    if let Ok(modules) = std::fs::read_to_string("/sys/kernel/security/lsm") {
        if modules.contains("landlock") {
            assert!(stderr.contains("Landlock (ABI "), "{stderr}");
        } else {
            not_tested("Landlock");
            assert!(stderr.contains("not in force: Landlock"), "{stderr}");
        }
    }
}

#[test]
fn every_thread_of_a_running_server_is_under_the_filter() {
    let simulator = Simulator::start(Settings {
        tls: Tls::Valid,
        ..Settings::default()
    });
    let directory = Directory::new("threads");
    let mut command = program(&simulator);
    command.env(
        "WG_EASY_CA_FILE",
        directory.file("ca.pem", simulator.ca_pem()),
    );
    let mut session = Session::start(command);
    // Name resolution and stdin have threads of their own.
    session.call("list_clients", json!({}));
    let tasks = format!("/proc/{}/task", session.child.id());
    let mut threads = 0;
    for task in std::fs::read_dir(tasks).unwrap() {
        // A thread may have ended meanwhile.
        let Ok(status) = std::fs::read_to_string(task.unwrap().path().join("status")) else {
            continue;
        };
        threads += 1;
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        if Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
            assert!(status.contains("Seccomp:\t2"), "{status}");
        }
    }
    assert!(threads > 1);
    session.end();
}

#[test]
fn the_memory_of_a_running_server_belongs_to_nobody_but_root() {
    const NOBODY: u32 = 65534;
    let simulator = Simulator::start(Settings::default());
    let directory = Directory::new("dumpable");
    let copy = directory.0.join("server");
    std::fs::copy(env!("CARGO_BIN_EXE_wg-easy-mcp"), &copy).unwrap();
    let mut command = Command::new(&copy);
    command.env_clear().envs([
        ("WG_EASY_URL", simulator.url().as_str()),
        ("WG_EASY_USERNAME", "admin"),
        ("WG_EASY_PASSWORD", "correct-horse-battery"),
    ]);
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let session = Session::start(command);
    let user = session.status()["Uid"].clone();
    let other = ordinary_process(is_root.then_some(NOBODY));
    // The kernel gives the entries of a process that cannot be dumped to root, and only of those.
    let environ = format!("/proc/{}/environ", other.id());
    assert_ne!(std::fs::metadata(environ).unwrap().uid(), 0);
    end_process(other);
    for entry in ["environ", "mem", "maps"] {
        let path = format!("/proc/{}/{entry}", session.child.id());
        assert_eq!(std::fs::metadata(path).unwrap().uid(), 0, "{entry}");
    }
    let same_user = || {
        let mut reader = Command::new("cat");
        reader.arg(format!("/proc/{}/environ", session.child.id()));
        if is_root {
            reader.uid(NOBODY).gid(NOBODY);
        }
        reader.output().unwrap()
    };
    assert!(!user.starts_with("0\t"), "{user}");
    assert!(!same_user().status.success());
    session.end();
}

/// One that waits, under the given user.
fn ordinary_process(user: Option<u32>) -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let mut child = command.spawn().unwrap();
    // Once it answers, it is no longer what it was started from.
    child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

fn end_process(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn a_session_over_tls_works_inside_the_sandbox() {
    let simulator = Simulator::start(Settings {
        tls: Tls::WithIntermediate,
        clients: 3,
        ..Settings::default()
    });
    assert!(simulator.url().starts_with("https://localhost:"));
    let directory = Directory::new("tls");
    let roots = directory.file("ca.pem", simulator.ca_pem());
    for (variable, pause) in [("WG_EASY_CA_FILE", 5200), ("SSL_CERT_FILE", 0)] {
        let mut command = program(&simulator);
        command.env(variable, &roots);
        let mut session = Session::start(command);
        let clients = session.call("list_clients", json!({}));
        assert_eq!(clients["structuredContent"]["count"], 3, "{clients}");
        // The connection has been given up by wg-easy meanwhile: the next call resolves again.
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let one = session.call("get_client", json!({ "clientId": 2 }));
        assert_eq!(one["structuredContent"]["name"], "client-2", "{one}");
        let done = session.call("disable_client", json!({ "clientId": 2 }));
        assert_eq!(done["structuredContent"]["success"], true, "{done}");
        session.end();
    }
}

#[test]
fn one_line_says_what_is_in_force_before_anything_is_read() {
    let simulator = Simulator::start(Settings::default());
    let output = program(&simulator)
        .stdin(Stdio::null())
        .env("WG_EASY_LOG_FORMAT", "json")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> = stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["message"].as_str().unwrap().contains("in force"))
        .collect();
    let [line] = lines.as_slice() else {
        panic!("{stderr}")
    };
    let is_complete = !line["message"].as_str().unwrap().contains("not in force");
    assert!(line["level"] == "warn" || is_complete, "{line}");
    // A client that never speaks finds the protections in place, too.
    let mut silent = program(&simulator)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(silent.stderr.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert!(said.contains("in force"), "{said}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", silent.id())).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    drop(silent.stdin.take());
    assert!(silent.wait().unwrap().success());
}
