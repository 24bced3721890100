//! What comes of a question.

use std::fmt;

use rmcp::model::InputRequiredResult;

/// Proof that a guarded call may go ahead: a person said yes to what is going to happen or, where
/// no dialog can be shown, the call was made twice.
///
/// Only [`Gate::decide`](super::Gate::decide) makes one, and a write consumes it.
#[derive(Debug)]
#[must_use = "whatever was approved has not been done yet"]
pub struct Approval(());

impl Approval {
    pub(super) fn granted() -> Self {
        Self(())
    }

    /// An approval that nobody gave, for the tests of what consumes one.
    #[cfg(test)]
    pub fn for_tests() -> Self {
        Self(())
    }
}

/// What a guarded call has to do next.
#[derive(Debug)]
pub enum Decision<P> {
    /// Go ahead, with the plan that was read after the yes.
    Approved {
        /// What the write asks for.
        approval: Approval,
        /// What belongs to the question that was approved.
        plan: P,
        /// How it was decided.
        how: How,
    },
    /// Answer with this question; nothing is decided yet.
    Ask(Box<InputRequiredResult>),
    /// Answer with this text, as an error; nothing is decided yet.
    Token {
        /// The question, a token, and what the token proves.
        text: String,
    },
    /// Do nothing and answer with the reason, as an error.
    Refused {
        /// How it was decided; nothing if there was no way to ask.
        how: Option<How>,
        /// The reason; its `Display` is the text for the answer.
        why: Refusal,
    },
}

/// There is no decision: how things are could not be read.
#[derive(Debug)]
pub struct Unprepared<E> {
    /// How a person had said yes by then, if one had. Nothing was done all the same.
    pub after_yes: Option<How>,
    /// Why it could not be read.
    pub error: E,
}

/// How a call was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By a dialog that was pushed to the client while the call waited.
    DialogPushed,
    /// By a dialog that was returned to the client, which called again with the answer.
    DialogReturned,
    /// By a token that was brought back, without asking anybody.
    Token,
}

/// Why nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The answer was anything but a yes.
    Declined,
    /// There was no answer in fifteen minutes.
    NoAnswer,
    /// The client answered the question with an error.
    DialogFailed,
    /// The call was cancelled.
    Cancelled,
    /// The server is about to end.
    Stopping,
    /// A dialog is required and the client cannot show one.
    DialogRequired,
    /// What was asked about changed each time somebody said yes.
    KeepsChanging,
    /// Too many questions are waiting for people already.
    TooManyWaiting,
    /// The kernel gave no random numbers, without which no question can be told from another.
    NoRandomness,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nothing was changed: ")?;
        f.write_str(match self {
            Self::Declined => {
                "the question was not answered with a yes. (Some clients answer without showing the \
                 dialog. If no dialog appeared, look into the client's settings.) Do not call again \
                 unless the person asks for it."
            }
            Self::NoAnswer => {
                "nobody answered the question within fifteen minutes. Call again when somebody is \
                 there to answer."
            }
            Self::DialogFailed => {
                "the client says that it can show a dialog, but answered the question with an error."
            }
            Self::Cancelled => "the call was cancelled before there was an answer.",
            Self::Stopping => "the server was stopped before there was an answer.",
            Self::DialogRequired => {
                "this needs a yes from a person, and the client cannot show a dialog. This server, \
                 wg-easy-mcp, was started with WG_EASY_REQUIRE_DIALOG, so there is no other way. Use \
                 a client that supports form elicitation."
            }
            Self::KeepsChanging => {
                "what the question was about changed each time it was answered. Find out who else is \
                 changing it, then call again."
            }
            Self::TooManyWaiting => {
                "too many questions are waiting for an answer. Call again when some of them have \
                 been answered."
            }
            Self::NoRandomness => "the operating system gave this server no random numbers.",
        })
    }
}
