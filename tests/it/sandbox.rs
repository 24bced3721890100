//! What the running program has given up, seen from outside and from inside.
//!
//! Where the kernel lacks a protection, the tests say so by name and look that the program does, too.

#[cfg(target_arch = "x86_64")]
mod older_kernels;
mod probe;
mod raw;
mod resolver;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};
use wg_easy_sim::{Settings, Simulator, Tls};

const SIGSYS: i32 = 31;

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

/// Everything that the probe can try without being ended.
fn try_everything(name: &str) -> (Findings, Findings) {
    let directory = Directory::new(name);
    let outside = directory.file("file", "kept");
    let wg_easy = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port().to_string();
    let abstract_name = format!("wg-easy-mcp-{name}-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let path = outside.to_str().unwrap();
    let (other, wg_easy) = (port(&other), port(&wg_easy));
    let with = probe(&[&wg_easy, &other, path, &abstract_name]);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&directory.0).unwrap().count(), 1);
    let without = probe(&["0", &other, path, &abstract_name]);
    (Findings::of(&with), Findings::of(&without))
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
fn no_file_is_within_reach_but_those_of_name_resolution() {
    let (found, _) = try_everything("files");
    assert_eq!(found.tried("read /etc/hosts"), "ok");
    let refused = |by: &str, error: &str, attempts: &[&str]| {
        for attempt in attempts.iter().filter(|_| found.is_in_force(by)) {
            assert_eq!(found.tried(attempt), error, "{attempt}");
        }
    };
    refused(
        "Landlock",
        "EACCES",
        &[
            "list /etc",
            "read a file elsewhere",
            "read its own environment",
            "read its own memory",
            "open a device",
            "bind a local socket",
        ],
    );
    // Landlock refuses these as well; the filter comes first.
    refused(
        "system call filter",
        "EPERM",
        &[
            "write a file elsewhere",
            "create a file",
            "create a file in /etc",
            "create a directory",
            "remove a file",
            "rename a file",
        ],
    );
}

#[test]
fn no_file_is_written_where_the_kernel_has_no_landlock_either() {
    let found = Findings::of(&probe(&["1", "without", "landlock"]));
    if !found.is_in_force("system call filter") {
        return;
    }
    for call in ["openat to write", "mkdirat", "unlinkat", "renameat2"] {
        assert_eq!(found.tried(call), "EPERM", "{call}");
    }
    assert_eq!(found.tried("openat2"), "ENOSYS");
}

#[test]
fn names_are_resolved_inside_the_sandbox() {
    let (found, _) = try_everything("names");
    assert_eq!(found.tried("resolve localhost"), "ok");
    let named = found.tried("resolve a name of /etc/hosts");
    assert!(["ok", "none"].contains(&named), "{named}");
}

#[test]
fn no_tcp_port_is_within_reach_but_that_of_wg_easy() {
    let (found, without) = try_everything("ports");
    assert_eq!(found.tried("connect to wg-easy's port"), "ok");
    assert_eq!(found.tried("make a datagram socket"), "ok");
    if found.is_in_force("Landlock") {
        assert_eq!(found.tried("connect to another port"), "EACCES");
        assert_eq!(found.tried("bind a TCP port"), "EACCES");
        // Without an instance there is nothing to connect to, and no name to resolve.
        assert_eq!(without.tried("connect to another port"), "EACCES");
        assert_eq!(without.tried("read /etc/hosts"), "EACCES");
    }
    if found.is_in_force("system call filter") {
        for attempt in ["listen", "open a connection by sending", "multipath TCP"] {
            assert_eq!(found.tried(attempt), "EPERM", "{attempt}");
        }
    }
}

#[test]
fn sockets_of_other_kinds_are_refused() {
    let (found, _) = try_everything("sockets");
    assert_eq!(found.tried("a pair of local sockets"), "ok");
    assert_eq!(found.tried("routes"), "ok");
    if !found.is_in_force("system call filter") {
        return;
    }
    for attempt in [
        "SCTP",
        "a raw socket",
        "a packet socket",
        "vsock",
        "kernel crypto",
        "netfilter",
    ] {
        assert_eq!(found.tried(attempt), "EPERM", "{attempt}");
    }
}

#[test]
fn other_processes_are_out_of_reach() {
    let (found, _) = try_everything("processes");
    if found.is_in_force("system call filter") {
        assert_eq!(found.tried("start a program"), "EPERM");
        assert_eq!(found.tried("signal another process"), "EPERM");
        assert_eq!(found.tried("memory that is a file"), "EPERM");
        assert_eq!(found.tried("rename the machine"), "EPERM");
    }
    if found.is_in_force("Landlock") {
        assert_eq!(found.tried("reach an abstract socket"), "EPERM");
    }
}

#[test]
fn what_was_given_up_cannot_be_taken_back() {
    let (found, _) = try_everything("back");
    if found.is_in_force("system call filter") {
        assert_eq!(found.tried("become dumpable again"), "EPERM");
        assert_eq!(found.tried("raise the limit on core dumps"), "EPERM");
    }
}

#[test]
fn threads_started_later_live_under_the_same_rules() {
    let (found, _) = try_everything("later");
    let in_thread = &found.0["tried"]["in a thread"];
    if found.is_in_force("Landlock") {
        assert_eq!(in_thread[0], "EACCES");
    }
    if found.is_in_force("system call filter") {
        assert_eq!(in_thread[1], "EPERM");
    }
}

#[test]
fn an_attempt_to_take_over_ends_the_process() {
    if !Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
        not_tested("system call filter");
        return;
    }
    for attempt in [
        "exec",
        "ptrace",
        "read another process",
        "unshare",
        "enter a namespace",
        "chroot",
        "mount",
        "mount by file descriptor",
        "load a module",
    ]
    .into_iter()
    .chain(raw::FATAL.iter().map(|(name, _)| *name))
    {
        let output = probe(&["1", "fatal", attempt]);
        assert_eq!(
            output.status.signal(),
            Some(SIGSYS),
            "{attempt}: {output:?}"
        );
        assert!(!output.status.core_dumped(), "{attempt}");
        assert!(output.stderr.is_empty(), "{attempt}: {output:?}");
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_in_the_convention_of_32_bits_ends_the_process() {
    const SIGSEGV: i32 = 11;
    let output = probe(&["1", "fatal", "getpid of 32 bits"]);
    if output.status.signal() == Some(SIGSEGV) {
        return not_tested("calls of 32-bit programs");
    }
    assert_eq!(output.status.signal(), Some(SIGSYS), "{output:?}");
}

#[test]
fn a_process_in_the_sandbox_can_still_end_itself() {
    let output = probe(&["1", "fatal", "abort"]);
    // One C library signals itself; the other is refused that, and runs into what nobody survives.
    let signal = output.status.signal().expect("a signal ended it");
    assert!(
        [libc::SIGABRT, libc::SIGSEGV, libc::SIGILL].contains(&signal),
        "{output:?}"
    );
}

#[test]
fn what_the_filter_refuses_is_refused_by_the_kernel_and_would_not_be_without_it() {
    let (found, _) = try_everything("calls");
    let without = Findings::of(&probe(&["1", "without", "seccomp"]));
    if !found.is_in_force("system call filter") {
        return;
    }
    for (name, _, refused) in raw::REFUSED {
        assert_eq!(found.tried(name), *refused, "{name}");
        match without.tried(name) {
            "ENOSYS" => not_tested(name),
            otherwise => assert_ne!(otherwise, *refused, "{name}"),
        }
    }
}

#[test]
fn a_kernel_without_a_protection_is_reported_and_the_others_are_in_force() {
    for (hidden, name) in [("landlock", "Landlock"), ("seccomp", "system call filter")] {
        let Findings(found) = Findings::of(&probe(&["1", "without", hidden]));
        for (protection, state) in found["report"].as_object().unwrap() {
            let missing = !state["unavailable"].is_null();
            if protection == name {
                assert!(missing, "{protection}: {state}");
            } else if missing {
                not_tested(protection);
            }
        }
        let line = found["line"].as_str().unwrap();
        let (_, missing) = line.split_once("; not in force: ").unwrap();
        assert!(missing.contains(name), "{line}");
    }
}

#[test]
fn a_check_on_a_kernel_without_a_protection_says_which_and_does_not_fail_for_it() {
    for (hidden, name) in [("landlock", "Landlock"), ("seccomp", "system call filter")] {
        let output = probe(&["1", "check", hidden]);
        // The harness of the probe writes a line or two before what it becomes does.
        let text = String::from_utf8(output.stdout).unwrap();
        let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let checks = json["checks"].as_array().unwrap();
        let named = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
        let check = named(name);
        assert_eq!(check["status"], "warn", "{check}");
        let detail = check["detail"].as_str().unwrap();
        assert!(detail.starts_with("not in force: "), "{detail}");
        let advice = check["advice"].as_str().unwrap();
        assert!(advice.starts_with("The server works without."), "{advice}");
        assert_eq!(named("no new privileges")["status"], "ok");
        if hidden == "landlock" {
            assert!(detail.contains("this kernel does not have it"), "{detail}");
        }
    }
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
