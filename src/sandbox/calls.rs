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

mod arguments;
mod lists;

use libc::c_long;
use seccompiler::apply_filter;

use super::State;
use super::filter::{Action, Filter};
use arguments::examined;
use lists::{FATAL, REFUSED, UNKNOWN};

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
