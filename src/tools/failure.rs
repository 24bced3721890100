//! Why a call has no answer, in words that its caller can act on.

use super::answer::TooLarge;
use super::arguments::Wrong;
use crate::untrusted::NotAFile;
use crate::untrusted::budget::MAX_CHARS;
use crate::wg_easy::record::Malformed;
use crate::wg_easy::{ClientId, Error};
use std::fmt;

/// Why a call has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The arguments are wrong; nothing was sent.
    Arguments(Wrong),
    /// No client has this id.
    NoSuchClient(ClientId),
    /// wg-easy could not be reached, or did not answer as it should.
    WgEasy(Error),
    /// wg-easy's answer is not the JSON that was asked for.
    Malformed,
    /// wg-easy's answer is not the file that was asked for.
    NotAFile(NotAFile),
    /// The answer does not fit the budget.
    TooLarge,
    /// The configuration is too long for a QR code.
    TooLongForCode,
    /// The server's own account of what became of a change.
    Change(String),
    /// This program is wrong.
    Bug,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments(Wrong(said)) => f.write_str(said),
            Self::NoSuchClient(id) => write!(
                f,
                "There is no client {}. Nothing was changed. list_clients gives the ids there are.",
                id.as_u64()
            ),
            Self::WgEasy(error) => error.fmt(f),
            Self::Malformed => f.write_str(
                "wg-easy's answer is not the JSON its API gives. Check that WG_EASY_URL is the address of the \
                 wg-easy web UI, including any path prefix, and that its version is 15.",
            ),
            Self::NotAFile(why) => write!(
                f,
                "{why}. Nothing was passed on. Check that WG_EASY_URL points at wg-easy itself and not at a \
                 login page in front of it."
            ),
            Self::TooLarge => write!(
                f,
                "The answer is longer than the {MAX_CHARS} characters an answer may have, and cannot be \
                 shortened without spoiling it. Look at it in the wg-easy web UI."
            ),
            Self::TooLongForCode => f.write_str(
                "The client's configuration is too long for a QR code (2,953 bytes at the most). Hand it over as \
                 a file instead: get_client_config gives it.",
            ),
            Self::Change(said) => f.write_str(said),
            Self::Bug => f.write_str(
                "This call failed inside wg-easy-mcp, which is a bug; its log says where. If the call was to change \
                 something, look with get_client or list_clients whether it did before you try again.",
            ),
        }
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self::Arguments(wrong)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::WgEasy(error)
    }
}

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

impl From<NotAFile> for Failure {
    fn from(why: NotAFile) -> Self {
        Self::NotAFile(why)
    }
}

impl From<TooLarge> for Failure {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}
