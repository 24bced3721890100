//! Tries what the sandbox forbids, from inside, and says as JSON on stderr what happened.
//!
//! A sandbox cannot be left again, so this needs a process of its own: the tests start their own
//! binary once more, with [`probe`] as the only test and [`VARIABLE`] saying what to do:
//!
//! - `PORT OTHER_PORT FILE SOCKET` applies the sandbox for `PORT` (0: for none) and tries everything
//!   that fails without ending the process.
//! - `PORT fatal ATTEMPT` makes one attempt that should end it.
//! - `PORT without FEATURE` plays a kernel that does not have it, and makes the calls of [`raw`] alone.
//! - `PORT check FEATURE` runs `wg-easy-mcp check --json` on such a kernel.

use std::fmt::Debug;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::net::{AddressFamily, Protocol, SendFlags, SocketFlags, SocketType, ipproto, netlink};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::{Map, Value, json};
use wg_easy_mcp::sandbox::{self, Plan, Report, State};

use super::raw;

pub(super) const VARIABLE: &str = "SANDBOX_PROBE";

#[test]
#[ignore = "started by the other tests, in a process of its own"]
fn probe() {
    let Ok(arguments) = std::env::var(VARIABLE) else {
        return;
    };
    let arguments: Vec<&str> = arguments.split('|').collect();
    let port: u16 = arguments[0].parse().unwrap();
    let plan = Plan {
        port: (port != 0).then_some(port),
    };
    if arguments[1] == "fatal" {
        sandbox::apply(&plan);
        let outcome = fatal(arguments[2]);
        say(&json!({ "survived": outcome }));
        return;
    }
    if arguments[1] == "without" {
        hide(arguments[2]);
        let report = sandbox::apply(&plan);
        let mut tried = Map::new();
        raw_calls(&mut tried);
        print(&report, tried);
        return;
    }
    if arguments[1] == "check" {
        hide(arguments[2]);
        let mut check = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"));
        check.args(["check", "--json"]).env_clear();
        panic!("{}", check.exec());
    }
    let outside = Path::new(arguments[2]);
    let other: u16 = arguments[1].parse().unwrap();
    let report = sandbox::apply(&plan);
    let mut tried = attempts(port, other, outside, arguments[3]);
    raw_calls(&mut tried);
    // Threads that are started later live under the same rules.
    let file = outside.to_owned();
    let in_thread = std::thread::spawn(move || {
        let opened = said(std::fs::read(file));
        let socket = said(socket(AddressFamily::INET, SocketType::STREAM, MPTCP));
        [opened, socket]
    });
    tried.insert("in a thread".into(), json!(in_thread.join().unwrap()));
    print(&report, tried);
}

fn print(report: &Report, tried: Map<String, Value>) {
    let states: Map<String, Value> = report
        .protections()
        .iter()
        .map(|one| (one.name.to_owned(), state(&one.state)))
        .collect();
    let line = report.to_string();
    say(&json!({ "report": states, "line": line, "tried": tried }));
}

fn say(finding: &Value) {
    let line = format!("{finding}\n");
    io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Makes the kernel answer as one does that was built without a feature.
fn hide(feature: &str) {
    let (call, error) = match feature {
        "landlock" => (libc::SYS_landlock_create_ruleset, libc::ENOSYS),
        "seccomp" => (libc::SYS_seccomp, libc::EINVAL),
        other => panic!("no such feature: {other}"),
    };
    let filter = SeccompFilter::new(
        [(call, Vec::new())].into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    )
    .unwrap();
    let program: BpfProgram = filter.try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

fn raw_calls(tried: &mut Map<String, Value>) {
    for (name, number, _) in raw::REFUSED {
        tried.insert((*name).to_owned(), Value::String(said(raw::call(*number))));
    }
}

const MPTCP: Option<Protocol> = Some(ipproto::MPTCP);

fn attempts(port: u16, other: u16, outside: &Path, name: &str) -> Map<String, Value> {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut tried = Map::new();
    let mut note = |name: &str, outcome: String| {
        tried.insert(name.to_owned(), Value::String(outcome));
    };

    note("read /etc/hosts", said(std::fs::read("/etc/hosts")));
    note("list /etc", said(std::fs::read_dir("/etc")));
    note("read a file elsewhere", said(std::fs::read(outside)));
    note("write a file elsewhere", said(std::fs::write(outside, "x")));
    let made = outside.with_extension("made");
    note("create a file", said(std::fs::write(&made, "x")));
    note(
        "create a file in /etc",
        said(std::fs::write("/etc/wg-easy-mcp-probe", "x")),
    );
    note("create a directory", said(std::fs::create_dir(&made)));
    note("remove a file", said(std::fs::remove_file(outside)));
    note("rename a file", said(std::fs::rename(outside, &made)));
    note(
        "read its own environment",
        said(std::fs::read("/proc/self/environ")),
    );
    note(
        "read its own memory",
        said(std::fs::File::open("/proc/self/mem")),
    );
    note("open a device", said(std::fs::File::open("/dev/null")));

    note("resolve localhost", resolve("localhost"));
    let names = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let named = names
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_whitespace().nth(1))
        .find(|name| !name.contains("localhost"));
    note(
        "resolve a name of /etc/hosts",
        named.map_or("none".to_owned(), resolve),
    );

    note(
        "connect to wg-easy's port",
        said(TcpStream::connect(local(port))),
    );
    note(
        "connect to another port",
        said(TcpStream::connect(local(other))),
    );
    note("bind a TCP port", said(TcpListener::bind(local(0))));
    note("make a datagram socket", said(UdpSocket::bind(local(0))));
    note(
        "open a connection by sending",
        socket(AddressFamily::INET, SocketType::STREAM, None).map_or_else(
            |error| error.to_string(),
            |socket| {
                let flags = SendFlags::from_bits_retain(0x2000_0000);
                said(rustix::net::sendto(&socket, b"x", flags, &local(other)))
            },
        ),
    );
    note(
        "listen",
        said(
            socket(AddressFamily::INET, SocketType::STREAM, None)
                .and_then(|socket| rustix::net::listen(&socket, 1)),
        ),
    );
    for (name, family, kind, protocol) in [
        (
            "multipath TCP",
            AddressFamily::INET,
            SocketType::STREAM,
            MPTCP,
        ),
        (
            "SCTP",
            AddressFamily::INET,
            SocketType::STREAM,
            Some(ipproto::SCTP),
        ),
        (
            "a raw socket",
            AddressFamily::INET,
            SocketType::RAW,
            Some(ipproto::ICMP),
        ),
        (
            "a packet socket",
            AddressFamily::PACKET,
            SocketType::RAW,
            None,
        ),
        ("vsock", AddressFamily::VSOCK, SocketType::STREAM, None),
        (
            "kernel crypto",
            AddressFamily::from_raw(u16::try_from(libc::AF_ALG).unwrap()),
            SocketType::SEQPACKET,
            None,
        ),
        (
            "netfilter",
            AddressFamily::NETLINK,
            SocketType::RAW,
            Some(netlink::NETFILTER),
        ),
        ("routes", AddressFamily::NETLINK, SocketType::RAW, None),
    ] {
        note(name, said(socket(family, kind, protocol)));
    }
    let abstract_name = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
    note(
        "reach an abstract socket",
        said(UnixStream::connect_addr(&abstract_name)),
    );
    note("a pair of local sockets", said(UnixStream::pair()));
    note("bind a local socket", said(UnixListener::bind(&made)));

    note("start a program", said(Command::new("/bin/true").spawn()));
    let parent = rustix::process::getppid().expect("there is one");
    note(
        "signal another process",
        said(rustix::process::test_kill_process(parent)),
    );
    note(
        "memory that is a file",
        said(rustix::fs::memfd_create(
            "x",
            rustix::fs::MemfdFlags::CLOEXEC,
        )),
    );
    note(
        "become dumpable again",
        said(rustix::process::set_dumpable_behavior(
            rustix::process::DumpableBehavior::Dumpable,
        )),
    );
    let core = rustix::process::Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    note(
        "raise the limit on core dumps",
        said(rustix::process::setrlimit(
            rustix::process::Resource::Core,
            core,
        )),
    );
    note(
        "rename the machine",
        said(rustix::system::sethostname(b"x")),
    );
    tried
}

fn fatal(attempt: &str) -> String {
    match attempt {
        "exec" => Command::new("/bin/true").exec().to_string(),
        "ptrace" => said(nix::sys::ptrace::traceme()),
        "read another process" => said(nix::sys::uio::process_vm_readv(
            nix::unistd::getppid(),
            &mut [],
            &[],
        )),
        "unshare" => said(nix::sched::unshare(nix::sched::CloneFlags::empty())),
        "enter a namespace" => said(nix::sched::setns(
            io::stdin(),
            nix::sched::CloneFlags::empty(),
        )),
        "chroot" => said(rustix::process::chroot("/")),
        "mount" => said(rustix::mount::mount(
            "none",
            "/nowhere",
            "tmpfs",
            rustix::mount::MountFlags::empty(),
            None,
        )),
        "mount by file descriptor" => said(rustix::mount::fsopen(
            "tmpfs",
            rustix::mount::FsOpenFlags::empty(),
        )),
        "load a module" => said(rustix::system::init_module(b"", c"")),
        "abort" => std::process::abort(),
        #[cfg(target_arch = "x86_64")]
        "getpid of 32 bits" => {
            raw::getpid_of_32_bits();
            "ok".to_owned()
        }
        other => {
            let known = raw::FATAL.iter().find(|(name, _)| *name == other);
            said(raw::call(known.expect("there is such a call").1))
        }
    }
}

fn socket(
    family: AddressFamily,
    kind: SocketType,
    protocol: Option<Protocol>,
) -> rustix::io::Result<std::os::fd::OwnedFd> {
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, protocol)
}

fn resolve(name: &str) -> String {
    match (name, 443).to_socket_addrs() {
        Ok(mut addresses) => match addresses.next() {
            Some(_) => "ok".to_owned(),
            None => "nothing".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

/// `ok`, or the error's number by name.
fn said<T, E: Into<io::Error> + Debug>(outcome: Result<T, E>) -> String {
    let Err(error) = outcome else {
        return "ok".to_owned();
    };
    let error: io::Error = error.into();
    match error.raw_os_error() {
        Some(libc::EPERM) => "EPERM".to_owned(),
        Some(libc::EACCES) => "EACCES".to_owned(),
        Some(libc::ENOSYS) => "ENOSYS".to_owned(),
        _ => error.to_string(),
    }
}

fn state(state: &State) -> Value {
    match state {
        State::InForce(_) => json!("in force"),
        State::Partly(but) => json!({ "partly": but }),
        State::Unavailable(why) => json!({ "unavailable": why }),
    }
}
