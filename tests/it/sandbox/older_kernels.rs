//! What the program asks of Landlock on kernels that have an older one.
//!
//! The program is traced, and where it asks the kernel for its version of Landlock, the answer is
//! replaced. Older rights are a part of the newer ones, so the kernel under the test takes what the
//! program then asks for. How the system calls of another process are read is a matter of the
//! architecture, which is why this runs on one only.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::Value;

use super::not_tested;

/// What was asked of Landlock.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    /// Rights on files, on TCP, and scopes: from then on only what a rule allows is allowed.
    handled: [u64; 3],
    /// Rules, by what they are about: how many for files, and the ports of those for TCP.
    files: usize,
    ports: Vec<u64>,
}

/// Runs a check on a kernel whose Landlock is of version `abi`: what it asked for, and what it said of
/// Landlock. `None` where it cannot be traced or there is no Landlock at all.
fn check_on(abi: u64) -> Option<(Asked, Value)> {
    let mut child = held();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
    waitpid(pid, Some(WaitPidFlag::WUNTRACED)).unwrap();
    let traced = ptrace::seize(pid, Options::PTRACE_O_TRACESYSGOOD);
    let raw = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(raw, rustix::process::Signal::CONT).unwrap();
    let asked = traced.ok().and_then(|()| watch(pid, abi));
    if asked.is_none() {
        let _ = child.kill();
    }
    let output = child.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let checks = json["checks"].as_array().cloned().unwrap_or_default();
    let said = checks.into_iter().find(|check| check["name"] == "Landlock");
    Some((asked?, said.unwrap()))
}

/// A check of an instance that is not there, as a process that waits to be traced.
fn held() -> Child {
    Command::new("sh")
        .args(["-c", r#"kill -STOP $$; exec "$0" check --json"#])
        .arg(env!("CARGO_BIN_EXE_wg-easy-mcp"))
        .env_clear()
        .env("WG_EASY_URL", "http://127.0.0.1:1")
        .env("WG_EASY_USERNAME", "admin")
        .env("WG_EASY_PASSWORD", "correct-horse-battery")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Follows the process up to the call that puts the rules into force.
fn watch(pid: Pid, abi: u64) -> Option<Asked> {
    const VERSION: u64 = 1; // LANDLOCK_CREATE_RULESET_VERSION
    const PATH_BENEATH: u64 = 1; // LANDLOCK_RULE_PATH_BENEATH
    let mut asked = Asked::default();
    let mut is_entry = true;
    loop {
        match waitpid(pid, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::PtraceSyscall(_) => {
                let mut registers = ptrace::getregs(pid).unwrap();
                let call = i64::try_from(registers.orig_rax).unwrap_or(-1);
                match (call, is_entry) {
                    (libc::SYS_landlock_create_ruleset, false) if registers.rdx == VERSION => {
                        if registers.rax < abi || registers.rax > 1000 {
                            return None;
                        }
                        registers.rax = abi;
                        ptrace::setregs(pid, registers).unwrap();
                    }
                    (libc::SYS_landlock_create_ruleset, true) if registers.rdx == 0 => {
                        asked.handled = words(pid, registers.rdi, registers.rsi);
                    }
                    (libc::SYS_landlock_add_rule, true) if registers.rsi == PATH_BENEATH => {
                        // Reading files, and nothing else.
                        assert_eq!(words::<1>(pid, registers.rdx, 8), [1 << 2]);
                        asked.files += 1;
                    }
                    (libc::SYS_landlock_add_rule, true) => {
                        // Connecting, and nothing else.
                        let [rights, port] = words(pid, registers.rdx, 16);
                        assert_eq!(rights, 1 << 1);
                        asked.ports.push(port);
                    }
                    (libc::SYS_landlock_restrict_self, false) => {
                        assert_eq!(registers.rax, 0, "the kernel took it");
                        ptrace::detach(pid, None).unwrap();
                        return Some(asked);
                    }
                    _ => {}
                }
                is_entry = !is_entry;
                ptrace::syscall(pid, None).unwrap();
            }
            WaitStatus::Stopped(_, signal) => ptrace::syscall(pid, signal).unwrap(),
            WaitStatus::PtraceEvent(..) => ptrace::syscall(pid, None).unwrap(),
            // It has ended without having asked.
            _ => return None,
        }
    }
}

/// 64-bit words in the memory of a process, `size` bytes of them; the rest is zero.
fn words<const N: usize>(pid: Pid, address: u64, size: u64) -> [u64; N] {
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut bytes = vec![0; 8 * N];
    let size = usize::try_from(size).unwrap().min(8 * N);
    memory.read_exact_at(&mut bytes[..size], address).unwrap();
    let (words, _) = bytes.as_chunks();
    std::array::from_fn(|at| u64::from_le_bytes(words[at]))
}

#[test]
fn an_older_landlock_is_asked_for_what_it_has() {
    const FILES_1: u64 = 0x1fff;
    const REFER: u64 = 1 << 13;
    const TRUNCATE: u64 = 1 << 14;
    const DEVICE_CALLS: u64 = 1 << 15;
    const TCP: u64 = 0b11;
    const SCOPES: u64 = 0b11;
    let files = |more: u64| FILES_1 | more;
    for (abi, handled, without) in [
        (1, [files(0), 0, 0], "without truncating files, TCP ports, "),
        (
            2,
            [files(REFER), 0, 0],
            "without truncating files, TCP ports, ",
        ),
        (
            3,
            [files(REFER | TRUNCATE), 0, 0],
            "without TCP ports, device",
        ),
        (
            4,
            [files(REFER | TRUNCATE), TCP, 0],
            "without device control calls, ",
        ),
        (
            5,
            [files(REFER | TRUNCATE | DEVICE_CALLS), TCP, 0],
            "without signals and ",
        ),
        (
            6,
            [files(REFER | TRUNCATE | DEVICE_CALLS), TCP, SCOPES],
            "in force, ABI 6",
        ),
    ] {
        let Some((asked, said)) = check_on(abi) else {
            return not_tested("older versions of Landlock");
        };
        assert_eq!(asked.handled, handled, "ABI {abi}");
        assert!(asked.files >= 1, "ABI {abi}");
        let ports: &[u64] = if abi < 4 { &[] } else { &[1, 53] };
        assert_eq!(asked.ports, ports, "ABI {abi}");
        let detail = said["detail"].as_str().unwrap();
        assert!(detail.contains(without), "ABI {abi}: {detail}");
        assert!(detail.contains(&format!("ABI {abi}")), "{detail}");
        let status = if abi < 6 { "warn" } else { "ok" };
        assert_eq!(said["status"], status, "ABI {abi}");
    }
}
