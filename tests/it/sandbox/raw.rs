//! System calls for which there is no safe function, made with arguments that no kernel takes.

#![allow(
    unsafe_code,
    reason = "calls that safe libraries have no door to are what a sandbox is tried with"
)]

use libc::c_long;

/// Calls that fail inside the sandbox, and how. With these arguments each fails outside of it as well,
/// and not like this.
pub(super) const REFUSED: &[(&str, c_long, &str)] = &[
    ("userfaultfd", libc::SYS_userfaultfd, "EPERM"),
    ("perf_event_open", libc::SYS_perf_event_open, "EPERM"),
    ("keyctl", libc::SYS_keyctl, "EPERM"),
    ("add_key", libc::SYS_add_key, "EPERM"),
    ("request_key", libc::SYS_request_key, "EPERM"),
    ("memfd_create", libc::SYS_memfd_create, "EPERM"),
    ("memfd_secret", libc::SYS_memfd_secret, "EPERM"),
    ("fanotify_init", libc::SYS_fanotify_init, "EPERM"),
    ("name_to_handle_at", libc::SYS_name_to_handle_at, "EPERM"),
    ("io_setup", libc::SYS_io_setup, "EPERM"),
    ("vmsplice", libc::SYS_vmsplice, "EPERM"),
    ("shmget", libc::SYS_shmget, "EPERM"),
    ("msgget", libc::SYS_msgget, "EPERM"),
    ("semget", libc::SYS_semget, "EPERM"),
    ("mq_open", libc::SYS_mq_open, "EPERM"),
    ("swapon", libc::SYS_swapon, "EPERM"),
    ("syslog", libc::SYS_syslog, "EPERM"),
    ("capset", libc::SYS_capset, "EPERM"),
    ("pidfd_send_signal", libc::SYS_pidfd_send_signal, "EPERM"),
    ("fchmodat", libc::SYS_fchmodat, "EPERM"),
    ("fchownat", libc::SYS_fchownat, "EPERM"),
    ("utimensat", libc::SYS_utimensat, "EPERM"),
    ("setxattr", libc::SYS_setxattr, "EPERM"),
    ("truncate", libc::SYS_truncate, "EPERM"),
    ("openat to write", libc::SYS_openat, "EPERM"),
    ("mkdirat", libc::SYS_mkdirat, "EPERM"),
    ("unlinkat", libc::SYS_unlinkat, "EPERM"),
    ("renameat2", libc::SYS_renameat2, "EPERM"),
    ("linkat", libc::SYS_linkat, "EPERM"),
    ("symlinkat", libc::SYS_symlinkat, "EPERM"),
    ("mknodat", libc::SYS_mknodat, "EPERM"),
    ("openat2", libc::SYS_openat2, "ENOSYS"),
    ("tkill", libc::SYS_tkill, "EPERM"),
    ("sched_setaffinity", libc::SYS_sched_setaffinity, "EPERM"),
    ("clone3", libc::SYS_clone3, "ENOSYS"),
    ("io_uring_setup", libc::SYS_io_uring_setup, "ENOSYS"),
    ("io_uring_enter", libc::SYS_io_uring_enter, "ENOSYS"),
    ("io_uring_register", libc::SYS_io_uring_register, "ENOSYS"),
];

/// Calls that end the process.
pub(super) const FATAL: &[(&str, c_long)] = &[
    ("bpf", libc::SYS_bpf),
    ("execveat", libc::SYS_execveat),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("process_madvise", libc::SYS_process_madvise),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("kcmp", libc::SYS_kcmp),
    ("finit_module", libc::SYS_finit_module),
    ("kexec_load", libc::SYS_kexec_load),
    ("pivot_root", libc::SYS_pivot_root),
    ("open_tree", libc::SYS_open_tree),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    #[cfg(target_arch = "x86_64")]
    ("getpid of x32", 0x4000_0000 | libc::SYS_getpid),
];

/// Makes a call whose every argument is -1: a descriptor that is not open, an address outside of the
/// process, flags that do not exist.
pub(super) fn call(number: c_long) -> Result<(), std::io::Error> {
    const NONE: c_long = -1;
    // SAFETY: an address of -1 is in no process, so nothing is read and nothing is written.
    match unsafe { libc::syscall(number, NONE, NONE, NONE, NONE, NONE, NONE) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// `getpid` in the convention of 32-bit programs, whose numbers mean other calls.
#[cfg(target_arch = "x86_64")]
pub(super) fn getpid_of_32_bits() {
    const GETPID: u32 = 20;
    // SAFETY: the call reads and writes no memory; the kernel keeps all registers but the result's
    // (and those from r8 to r11, on older ones).
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("eax") GETPID => _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
}
