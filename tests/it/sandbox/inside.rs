//! What the probe tries from inside, and what becomes of it.

use super::*;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::ExitStatusExt as _;

const SIGSYS: i32 = 31;

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
