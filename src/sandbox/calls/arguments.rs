//! Calls whose arguments decide.

use libc::c_long;

use super::super::filter::{Action, Condition, Examined, Half};
use super::{EPERM, number};

pub(super) fn examined() -> Vec<Examined> {
    vec![
        // The most frequent of these first.
        refuse_if(libc::SYS_sendto, vec![vec![has(3, FAST_OPEN)]]),
        refuse_if(libc::SYS_sendmsg, vec![vec![has(2, FAST_OPEN)]]),
        refuse_if(libc::SYS_sendmmsg, vec![vec![has(3, FAST_OPEN)]]),
        allow_if(libc::SYS_mmap, mappings()),
        // Files are opened to be read. Landlock says so, too, where a kernel has it.
        refuse_if(libc::SYS_openat, writing(2)),
        #[cfg(target_arch = "x86_64")]
        refuse_if(libc::SYS_open, writing(1)),
        // Memory that was written does not become code.
        refuse_if(libc::SYS_mprotect, vec![vec![has(2, EXECUTE)]]),
        refuse_if(libc::SYS_pkey_mprotect, vec![vec![has(2, EXECUTE)]]),
        allow_if(libc::SYS_socket, sockets()),
        allow_if(libc::SYS_socketpair, vec![vec![is(0, libc::AF_UNIX)]]),
        // A thread, in the namespaces that there are; no process.
        allow_if(
            libc::SYS_clone,
            vec![vec![of(0, THREAD | NAMESPACES, THREAD)]],
        ),
        // Characters put into the terminal's input would be read by the shell that started this.
        // Whoever owns a descriptor is sent signals for it, and an owner may be any process.
        refuse_if(
            libc::SYS_ioctl,
            vec![
                vec![is_bits(1, TYPE_INPUT)],
                vec![is_bits(1, TYPE_LINUX)],
                vec![is_bits(1, SET_OWNER)],
                vec![is_bits(1, SET_GROUP)],
                // A descriptor that may only read is enough to change these, `chattr` for one.
                vec![is_bits(1, SET_FILE_FLAGS)],
                vec![is_bits(1, SET_FILE_ATTRIBUTES)],
            ],
        ),
        refuse_if(
            libc::SYS_fcntl,
            vec![
                vec![is(1, libc::F_SETOWN)],
                vec![is_bits(1, SET_OWNER_EX)],
                vec![is_bits(1, SET_SIGNAL)],
            ],
        ),
        // Reading limits is how a C library finds the size of a stack. Raising the limit on core
        // dumps is what root can do even where the highest is zero.
        allow_if(libc::SYS_prlimit64, vec![vec![is_bits(2, 0), high(2, 0)]]),
        // Naming threads and memory, and asking; so that nothing given up comes back.
        allow_if(
            libc::SYS_prctl,
            [
                libc::PR_SET_NAME.unsigned_abs(),
                libc::PR_GET_NAME.unsigned_abs(),
                libc::PR_GET_DUMPABLE.unsigned_abs(),
                libc::PR_GET_NO_NEW_PRIVS.unsigned_abs(),
                libc::PR_GET_SECCOMP.unsigned_abs(),
                SET_VMA,
            ]
            .into_iter()
            .map(|option| vec![is_bits(0, option)])
            .collect(),
        ),
        // To end itself, as `abort` does.
        allow_if(
            libc::SYS_tgkill,
            vec![vec![is_bits(
                0,
                rustix::process::getpid().as_raw_pid().unsigned_abs(),
            )]],
        ),
    ]
}

/// Flags that open a file for anything but reading, or make one. (A file without a name, O_TMPFILE, has to be
/// opened for writing.)
fn writing(argument: u32) -> Vec<Vec<Condition>> {
    [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC]
        .into_iter()
        .map(|flag| vec![has(argument, flag.unsigned_abs())])
        .collect()
}

const FAST_OPEN: u32 = 0x2000_0000; // MSG_FASTOPEN
const EXECUTE: u32 = 0x4; // PROT_EXEC
const WRITE: u32 = 0x2; // PROT_WRITE
const ANONYMOUS: u32 = 0x20; // MAP_ANONYMOUS
const THREAD: u32 = 0x0001_0000; // CLONE_THREAD
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME is for clone3 alone.
const NAMESPACES: u32 = 0x0002_0000 | 0x7e00_0000;
const TYPE_INPUT: u32 = 0x5412; // TIOCSTI
const TYPE_LINUX: u32 = 0x541c; // TIOCLINUX
const SET_OWNER: u32 = 0x8901; // FIOSETOWN
const SET_GROUP: u32 = 0x8902; // SIOCSPGRP
const SET_FILE_FLAGS: u32 = 0x4008_6602; // FS_IOC_SETFLAGS
const SET_FILE_ATTRIBUTES: u32 = 0x401c_5820; // FS_IOC_FSSETXATTR
const SET_SIGNAL: u32 = 10; // F_SETSIG
const SET_OWNER_EX: u32 = 15; // F_SETOWN_EX
const SET_VMA: u32 = 0x5356_4d41; // PR_SET_VMA

/// Memory that holds no code. With a C library that loads name services while the program runs, also
/// code from a file, which Landlock limits to the system's libraries.
fn mappings() -> Vec<Vec<Condition>> {
    let mut allowed = vec![vec![of(2, EXECUTE, 0)]];
    if cfg!(target_env = "gnu") {
        allowed.push(vec![of(2, EXECUTE | WRITE, EXECUTE), of(3, ANONYMOUS, 0)]);
    }
    allowed
}

/// TCP and UDP; local sockets; and the kernel's address list, from which C libraries learn whether
/// there is IPv6.
fn sockets() -> Vec<Vec<Condition>> {
    use libc::{
        AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, IPPROTO_TCP, IPPROTO_UDP, NETLINK_ROUTE,
        SOCK_DGRAM, SOCK_RAW, SOCK_STREAM,
    };
    let mut allowed = Vec::new();
    for family in [AF_INET, AF_INET6] {
        for (kind, protocol) in [
            (SOCK_STREAM, IPPROTO_TCP),
            (SOCK_STREAM, 0),
            (SOCK_DGRAM, IPPROTO_UDP),
            (SOCK_DGRAM, 0),
        ] {
            allowed.push((family, kind, protocol));
        }
    }
    allowed.extend([
        (AF_UNIX, SOCK_STREAM, 0),
        (AF_UNIX, SOCK_DGRAM, 0),
        (AF_NETLINK, SOCK_RAW, NETLINK_ROUTE),
        (AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE),
    ]);
    allowed
        .into_iter()
        .map(|(family, kind, protocol)| {
            // The type carries two flags as well.
            let flags = (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK).unsigned_abs();
            vec![
                is(0, family),
                of(1, !flags, kind.unsigned_abs()),
                is(2, protocol),
            ]
        })
        .collect()
}

fn allow_if(call: c_long, alternatives: Vec<Vec<Condition>>) -> Examined {
    Examined {
        number: number(call),
        alternatives,
        matching: Action::Allow,
        otherwise: EPERM,
    }
}

fn refuse_if(call: c_long, alternatives: Vec<Vec<Condition>>) -> Examined {
    Examined {
        number: number(call),
        alternatives,
        matching: EPERM,
        otherwise: Action::Allow,
    }
}

/// The argument is `value`.
fn is(argument: u32, value: i32) -> Condition {
    is_bits(argument, value.unsigned_abs())
}

fn is_bits(argument: u32, value: u32) -> Condition {
    of(argument, u32::MAX, value)
}

/// The argument has all of `bits`.
fn has(argument: u32, bits: u32) -> Condition {
    of(argument, bits, bits)
}

/// Of the bits in `mask`, the argument has those of `value`.
fn of(argument: u32, mask: u32, value: u32) -> Condition {
    Condition {
        argument,
        half: Half::Low,
        mask,
        value,
    }
}

/// The upper half of the argument is `value`.
fn high(argument: u32, value: u32) -> Condition {
    Condition {
        half: Half::High,
        ..is_bits(argument, value)
    }
}
