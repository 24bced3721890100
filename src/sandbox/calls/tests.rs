#![allow(
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "flags and numbers that libc declares as signed, on one C library or on both"
)]

use super::super::filter::machine::{self, Call};
use super::*;
use std::collections::BTreeSet;

const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
const KILLED: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const NOT_PERMITTED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const NOT_THERE: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

fn says(call: c_long, arguments: [u64; 6]) -> u32 {
    let filter = filter().unwrap();
    let call = Call {
        architecture: filter.architecture,
        number: number(call),
        arguments,
    };
    machine::run(&filter.program(), call)
}

#[test]
fn a_call_is_in_one_list_and_every_list_is_heeded() {
    let filter = filter().unwrap();
    let examined = filter.examined.iter().map(|call| call.number);
    let decided = filter.decided.iter().map(|(number, _)| *number);
    let all: Vec<_> = examined.chain(decided).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert!(all.iter().all(|number| *number <= NEWEST_KNOWN));
    for (list, said) in [
        (FATAL, KILLED),
        (REFUSED, NOT_PERMITTED),
        (UNKNOWN, NOT_THERE),
    ] {
        for call in list {
            assert_eq!(says(*call, [0; 6]), said, "{call}");
            assert_eq!(says(*call, [u64::MAX; 6]), said, "{call}");
        }
    }
}

#[test]
fn the_kernel_takes_a_program_of_this_length() {
    assert!(filter().unwrap().program().len() < 4096);
}

#[test]
fn what_an_ordinary_session_does_is_allowed() {
    for call in [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_openat,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_recvfrom,
        libc::SYS_recvmsg,
        libc::SYS_getsockopt,
        libc::SYS_setsockopt,
        libc::SYS_epoll_pwait,
        libc::SYS_eventfd2,
        libc::SYS_futex,
        libc::SYS_munmap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_set_robust_list,
        libc::SYS_rseq,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ] {
        assert_eq!(says(call, [0; 6]), ALLOWED, "{call}");
    }
}

#[test]
fn a_thread_may_be_started_and_a_process_not() {
    // CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID: glibc and musl.
    const PTHREAD: u64 = 0x003d_0f00;
    assert_eq!(says(libc::SYS_clone, [PTHREAD, 0, 0, 0, 0, 0]), ALLOWED);
    let fork = libc::SIGCHLD as u64;
    let vfork = 0x4000 | 0x100 | fork;
    for flags in [0, fork, vfork] {
        assert_eq!(says(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]), NOT_PERMITTED);
    }
    for namespace in [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ] {
        let flags = PTHREAD | namespace as u64;
        assert_eq!(
            says(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]),
            NOT_PERMITTED,
            "{namespace:x}"
        );
    }
}

#[test]
fn sockets_are_of_the_kinds_that_landlock_sees_or_that_dns_needs() {
    let socket = |family: i32, kind: i32, protocol: i32| {
        let arguments = [family as u64, kind as u64, protocol as u64, 0, 0, 0];
        says(libc::SYS_socket, arguments)
    };
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    for family in [libc::AF_INET, libc::AF_INET6] {
        assert_eq!(socket(family, libc::SOCK_STREAM | flags, 6), ALLOWED);
        assert_eq!(socket(family, libc::SOCK_STREAM | flags, 0), ALLOWED);
        assert_eq!(socket(family, libc::SOCK_DGRAM | flags, 0), ALLOWED);
        assert_eq!(socket(family, libc::SOCK_DGRAM, 17), ALLOWED);
        for (kind, protocol) in [
            (libc::SOCK_STREAM, libc::IPPROTO_MPTCP),
            (libc::SOCK_STREAM, libc::IPPROTO_SCTP),
            (libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP),
            (libc::SOCK_DGRAM, libc::IPPROTO_ICMP),
            (libc::SOCK_RAW, libc::IPPROTO_ICMP),
            (libc::SOCK_RAW, libc::IPPROTO_RAW),
        ] {
            assert_eq!(socket(family, kind, protocol), NOT_PERMITTED, "{protocol}");
        }
    }
    assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM | flags, 0), ALLOWED);
    assert_eq!(socket(libc::AF_NETLINK, libc::SOCK_RAW | flags, 0), ALLOWED);
    for (family, protocol) in [
        (libc::AF_NETLINK, libc::NETLINK_NETFILTER),
        (libc::AF_NETLINK, libc::NETLINK_XFRM),
        (libc::AF_PACKET, 0),
        (libc::AF_VSOCK, 0),
        (libc::AF_ALG, 0),
        (libc::AF_BLUETOOTH, 0),
        (libc::AF_TIPC, 0),
        (libc::AF_KEY, 0),
    ] {
        let said = socket(family, libc::SOCK_RAW, protocol);
        assert_eq!(said, NOT_PERMITTED, "{family} {protocol}");
    }
    let pair = |family: i32| says(libc::SYS_socketpair, [family as u64, 1, 0, 0, 0, 0]);
    assert_eq!(pair(libc::AF_UNIX), ALLOWED);
    assert_eq!(pair(libc::AF_TIPC), NOT_PERMITTED);
}

#[test]
fn no_connection_is_opened_by_sending() {
    let flags = (libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL) as u64;
    let plain = libc::MSG_NOSIGNAL as u64;
    for (call, position) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        let mut arguments = [1; 6];
        arguments[position] = flags;
        assert_eq!(says(call, arguments), NOT_PERMITTED, "{call}");
        arguments[position] = plain;
        assert_eq!(says(call, arguments), ALLOWED, "{call}");
    }
}

#[test]
fn memory_that_can_be_written_does_not_become_code() {
    let map = |protection: i32, flags: i32| {
        let arguments = [0, 4096, protection as u64, flags as u64, 3, 0];
        says(libc::SYS_mmap, arguments)
    };
    let (read, write, execute) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    let private = libc::MAP_PRIVATE;
    let anonymous = private | libc::MAP_ANONYMOUS;
    assert_eq!(map(read | write, anonymous), ALLOWED);
    assert_eq!(map(read | write | execute, anonymous), NOT_PERMITTED);
    assert_eq!(map(read | execute, anonymous), NOT_PERMITTED);
    assert_eq!(map(read | write | execute, private), NOT_PERMITTED);
    let library = if cfg!(target_env = "gnu") {
        ALLOWED
    } else {
        NOT_PERMITTED
    };
    assert_eq!(map(read | execute, private), library);
    for call in [libc::SYS_mprotect, libc::SYS_pkey_mprotect] {
        let protect = |protection: i32| says(call, [0, 4096, protection as u64, 0, 0, 0]);
        assert_eq!(protect(read | write), ALLOWED);
        assert_eq!(protect(read), ALLOWED);
        assert_eq!(protect(read | execute), NOT_PERMITTED);
    }
}

#[test]
fn files_are_opened_to_be_read() {
    let open = |flags: i32| says(libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
    for flags in [
        libc::O_RDONLY,
        libc::O_CLOEXEC,
        libc::O_DIRECTORY | libc::O_NONBLOCK,
        libc::O_PATH | libc::O_NOFOLLOW,
    ] {
        assert_eq!(open(flags), ALLOWED, "{flags:#o}");
    }
    for flags in [
        libc::O_WRONLY,
        libc::O_RDWR,
        libc::O_ACCMODE,
        libc::O_CREAT,
        libc::O_TRUNC,
        libc::O_RDWR | libc::O_TMPFILE,
        libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC,
    ] {
        assert_eq!(open(flags), NOT_PERMITTED, "{flags:#o}");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            says(libc::SYS_open, [0, flags as u64, 0, 0, 0, 0]),
            NOT_PERMITTED
        );
    }
}

#[test]
fn what_was_given_up_does_not_come_back() {
    let prctl = |option: i32| says(libc::SYS_prctl, [option as u64, 1, 0, 0, 0, 0]);
    assert_eq!(prctl(libc::PR_SET_NAME), ALLOWED);
    assert_eq!(prctl(libc::PR_GET_DUMPABLE), ALLOWED);
    for option in [
        libc::PR_SET_DUMPABLE,
        libc::PR_SET_PTRACER,
        libc::PR_SET_MM,
        libc::PR_SET_KEEPCAPS,
        libc::PR_SET_SECCOMP,
    ] {
        assert_eq!(prctl(option), NOT_PERMITTED, "{option}");
    }
    let limits = |new: u64| says(libc::SYS_prlimit64, [0, 4, new, 1, 0, 0]);
    assert_eq!(limits(0), ALLOWED);
    assert_eq!(limits(0x1000), NOT_PERMITTED);
    assert_eq!(limits(0x7fff_0000_0000), NOT_PERMITTED);
}

#[test]
fn signals_reach_this_process_alone_and_nothing_is_typed_into_the_terminal() {
    let own = u64::from(std::process::id());
    assert_eq!(says(libc::SYS_tgkill, [own, own, 6, 0, 0, 0]), ALLOWED);
    assert_eq!(
        says(libc::SYS_tgkill, [own + 1, own + 1, 6, 0, 0, 0]),
        NOT_PERMITTED
    );
    assert_eq!(says(libc::SYS_kill, [own, 6, 0, 0, 0, 0]), NOT_PERMITTED);
    assert_eq!(says(libc::SYS_tkill, [own, 6, 0, 0, 0, 0]), NOT_PERMITTED);
    // By way of a descriptor: FIOSETOWN, SIOCSPGRP, F_SETOWN, F_SETSIG, F_SETOWN_EX.
    for request in [0x8901, 0x8902] {
        assert_eq!(
            says(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]),
            NOT_PERMITTED
        );
    }
    let fcntl = |command: i32| says(libc::SYS_fcntl, [0, command as u64, 0, 0, 0, 0]);
    for command in [8, 10, 15] {
        assert_eq!(fcntl(command), NOT_PERMITTED, "{command}");
    }
    for command in [
        libc::F_GETFL,
        libc::F_SETFL,
        libc::F_SETFD,
        libc::F_DUPFD_CLOEXEC,
    ] {
        assert_eq!(fcntl(command), ALLOWED, "{command}");
    }
    let ioctl = |request: u64| says(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]);
    assert_eq!(ioctl(libc::TIOCGWINSZ as u64), ALLOWED);
    assert_eq!(ioctl(libc::FIONBIO as u64), ALLOWED);
    assert_eq!(ioctl(libc::TIOCSTI as u64), NOT_PERMITTED);
    // The kernel reads 32 bits, so the filter must not be fooled by the others.
    assert_eq!(ioctl(libc::TIOCSTI as u64 | 1 << 32), NOT_PERMITTED);
    assert_eq!(ioctl(libc::TIOCLINUX as u64), NOT_PERMITTED);
}

#[test]
fn what_belongs_to_a_file_is_not_changed_by_way_of_a_descriptor_either() {
    // FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR; asking is another matter.
    for (request, said) in [
        (0x4008_6602, NOT_PERMITTED),
        (0x401c_5820, NOT_PERMITTED),
        (0x8008_6601, ALLOWED),
    ] {
        assert_eq!(says(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]), said);
    }
}

#[test]
fn other_architectures_and_conventions_end_the_process() {
    let filter = filter().unwrap();
    let program = filter.program();
    // AUDIT_ARCH_I386, AUDIT_ARCH_ARM and the other of the two.
    for architecture in [0x4000_0003, 0x4000_0028, filter.architecture ^ 0x89] {
        let call = Call {
            architecture,
            number: number(libc::SYS_read),
            arguments: [0; 6],
        };
        assert_eq!(machine::run(&program, call), KILLED, "{architecture:x}");
    }
    if cfg!(target_arch = "x86_64") {
        assert_eq!(says(0x4000_0000, [0; 6]), KILLED);
        assert_eq!(says(0x4000_0000 | libc::SYS_execve, [0; 6]), KILLED);
    }
}

#[test]
fn calls_that_are_newer_than_the_list_are_not_there() {
    let last = says(c_long::from(NEWEST_KNOWN), [0; 6]);
    assert_eq!(last, NOT_PERMITTED, "it is in a list");
    assert_eq!(says(c_long::from(NEWEST_KNOWN) + 1, [0; 6]), NOT_THERE);
}
