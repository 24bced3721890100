//! The system calls that this program never makes, and what becomes of one that makes them.
//!
//! This is a list of what is refused, not of what is allowed: which calls a C library makes differs
//! from release to release and machine to machine, and a VPN that cannot be administered at night
//! because of an update is no gain. (A list of what is allowed can be laid around it from outside, by
//! the container.) What is refused is refused in one of three ways:
//!
//! - **The process ends** where only an intruder would call: to start another program, to look into
//!   another process, to change what the kernel runs or what the process sees of the system. Nothing
//!   is left that could try the next thing, and the kernel's log has the number of the call. A change
//!   that had been sent to wg-easy then stays without an answer, as after any crash.
//! - **EPERM** where a library might ask, or where it is cheap to be refused.
//! - **ENOSYS** where libraries ask first and know what to do without: `clone3`, whose flags a filter
//!   cannot see, is made again as `clone`, whose flags it can; and everything newer than this list.
//!
//! Two refusals close holes in what Landlock promises on current kernels: TCP connections that are
//! opened by sending (`MSG_FASTOPEN`), and those of other protocols that fall back to TCP
//! (multipath TCP), are not seen by it.

use libc::c_long;
use seccompiler::apply_filter;

use super::State;
use super::filter::{Action, Condition, Examined, Filter, Half};

/// Installs the filter.
pub(super) fn refuse() -> State {
    let Some(filter) = filter() else {
        return State::Unavailable("there is no list of calls for this architecture".to_owned());
    };
    match apply_filter(&filter.program()) {
        Ok(()) => State::InForce(None),
        Err(error) => State::Unavailable(format!("the kernel refused it: {error}")),
    }
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_003e); // AUDIT_ARCH_X86_64
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xc000_00b7); // AUDIT_ARCH_AARCH64
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// The x32 convention has the architecture of x86-64 and this bit in its call numbers.
const X32: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0x4000_0000)
} else {
    None
};

/// The last call of Linux 6.18, `file_setattr`: whatever is newer was not there to be looked at.
const NEWEST_KNOWN: u32 = 469;

fn filter() -> Option<Filter> {
    let decided = |calls: &[c_long], action: Action| {
        let decide = move |call: &c_long| (number(*call), action);
        calls.iter().map(decide).collect::<Vec<_>>()
    };
    Some(Filter {
        architecture: ARCHITECTURE?,
        foreign: X32,
        newest: NEWEST_KNOWN,
        examined: examined(),
        decided: [
            decided(FATAL, Action::Kill),
            decided(REFUSED, EPERM),
            decided(UNKNOWN, ENOSYS),
        ]
        .concat(),
    })
}

const EPERM: Action = Action::Fail(error_number(libc::EPERM));
const ENOSYS: Action = Action::Fail(error_number(libc::ENOSYS));

/// Only an intruder makes these.
const FATAL: &[c_long] = &[
    // Another program.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Another process's memory, registers and descriptors.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // What the kernel runs.
    libc::SYS_bpf,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    KEXEC_FILE_LOAD,
    libc::SYS_reboot,
    // What there is to see of the system.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // A file by its number, past every path.
    libc::SYS_open_by_handle_at,
];

/// Never made either, but not worth a crash.
const REFUSED: &[c_long] = &[
    // Waiting for connections.
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Signals to others; the process ends itself with `tgkill`.
    libc::SYS_kill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_process_mrelease,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Another identity, other limits.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    libc::SYS_personality,
    libc::SYS_setrlimit,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Memory that is a file, to get code into the process past the file system.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_remap_file_pages,
    // Kernel interfaces with a long list of holes.
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    libc::SYS_name_to_handle_at,
    libc::SYS_lookup_dcookie,
    libc::SYS_vmsplice,
    libc::SYS_io_setup,
    libc::SYS_io_submit,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // The machine.
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
    // A process of its own; `clone` is looked at below.
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// Libraries ask for these first and know what to do without.
const UNKNOWN: &[c_long] = &[
    libc::SYS_clone3,
    // Calls made through the ring pass by every filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];

/// The same on both; the C libraries' lists have a gap there.
const OPEN_TREE_ATTR: c_long = 467;
const KEXEC_FILE_LOAD: c_long = if cfg!(target_arch = "x86_64") {
    320
} else {
    294
};

fn examined() -> Vec<Examined> {
    vec![
        // The most frequent of these first.
        refuse_if(libc::SYS_sendto, vec![vec![has(3, FAST_OPEN)]]),
        refuse_if(libc::SYS_sendmsg, vec![vec![has(2, FAST_OPEN)]]),
        refuse_if(libc::SYS_sendmmsg, vec![vec![has(3, FAST_OPEN)]]),
        allow_if(libc::SYS_mmap, mappings()),
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
        refuse_if(
            libc::SYS_ioctl,
            vec![vec![is_bits(1, TYPE_INPUT)], vec![is_bits(1, TYPE_LINUX)]],
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

const FAST_OPEN: u32 = 0x2000_0000; // MSG_FASTOPEN
const EXECUTE: u32 = 0x4; // PROT_EXEC
const WRITE: u32 = 0x2; // PROT_WRITE
const ANONYMOUS: u32 = 0x20; // MAP_ANONYMOUS
const THREAD: u32 = 0x0001_0000; // CLONE_THREAD
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. CLONE_NEWTIME is for clone3 alone.
const NAMESPACES: u32 = 0x0002_0000 | 0x7e00_0000;
const TYPE_INPUT: u32 = 0x5412; // TIOCSTI
const TYPE_LINUX: u32 = 0x541c; // TIOCLINUX
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

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "call numbers are positive and have three digits"
)]
const fn number(call: c_long) -> u32 {
    call as u32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "error numbers are positive and have three digits"
)]
pub(super) const fn error_number(error: i32) -> u16 {
    error as u16
}

#[cfg(test)]
mod tests;
