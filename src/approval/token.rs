//! The two-call token: for a client that cannot show a dialog.
//!
//! It proves that a call was made twice with the same arguments and nothing more, and the texts here
//! say so. Nobody is asked on this path.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hmac::Mac as _;
use tokio::time::Instant;

use super::binding::Binding;
use super::dialog::NobodyAsked;
use super::key::{Key, random};
use super::question::Question;

/// The tokens that were issued and not used yet.
pub(super) struct Tokens {
    key: Key,
    /// Oldest first, which is also the order in which they expire.
    open: Mutex<VecDeque<OpenToken>>,
}

/// That a token is wrong, used, expired, or for another call or question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit;

struct OpenToken {
    /// HMAC-SHA-256 of the token: a dump of the memory shows no token that is still good, and
    /// how long a comparison takes says nothing about one.
    digest: [u8; 32],
    expiry: Instant,
    binding: Binding,
}

impl Tokens {
    /// How long a token is good for: a model calls again within seconds, a person who is shown the
    /// text first needs minutes.
    pub(super) const LIFETIME: Duration = Duration::from_secs(5 * 60);

    /// The most tokens that are open at a time.
    pub(super) const CAPACITY: usize = 100;

    pub(super) fn new() -> Result<Self, getrandom::Error> {
        Ok(Self {
            key: Key::random()?,
            open: Mutex::new(VecDeque::new()),
        })
    }

    /// A new token for `binding`: 128 bits in 32 lower-case hexadecimal digits.
    pub(super) fn issue(&self, binding: &Binding) -> Result<String, getrandom::Error> {
        let mut token = String::with_capacity(32);
        for byte in random::<16>()? {
            // Writing to a string cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        let now = Instant::now();
        let mut open = self.open();
        while open.front().is_some_and(|oldest| oldest.expiry <= now) {
            open.pop_front();
        }
        if open.len() >= Self::CAPACITY {
            open.pop_front();
        }
        open.push_back(OpenToken {
            digest: self
                .key
                .mac(&[token.as_bytes()])
                .finalize()
                .into_bytes()
                .into(),
            expiry: now + Self::LIFETIME,
            binding: *binding,
        });
        Ok(token)
    }

    /// Uses `token` for `binding`. A token that was issued is spent by this even when it does not
    /// fit.
    pub(super) fn spend(&self, token: &str, binding: &Binding) -> Result<(), Misfit> {
        let presented = self.key.mac(&[token.as_bytes()]);
        let mut open = self.open();
        let index = open
            .iter()
            .position(|issued| presented.clone().verify_slice(&issued.digest).is_ok())
            .ok_or(Misfit)?;
        let issued = open.remove(index).ok_or(Misfit)?;
        if Instant::now() < issued.expiry && issued.binding == *binding {
            Ok(())
        } else {
            Err(Misfit)
        }
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<OpenToken>> {
        // A panic elsewhere leaves the table whole: each entry is pushed and removed in one step.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the first of two calls answers, and a later one whose token did not fit.
pub(super) fn text(
    tool: &str,
    question: &Question,
    token: &str,
    why: NobodyAsked,
    misfit: bool,
) -> String {
    let misfit = if misfit {
        "\n\nThe confirm_token of this call did not fit: it is wrong, was used before, is older than \
         five minutes, or belongs to other arguments or to a question that has changed since. It \
         did nothing. There is a new one below."
    } else {
        ""
    };
    let question = question.text();
    format!(
        "Nothing was changed, and nobody has been asked, because {why}.{misfit}\n\n\
         This is what a person would have been asked:\n\n\
         {question}\n\n\
         To go ahead, call {tool} again with exactly the same arguments and\n\
         confirm_token: {token}\n\n\
         The token is good for five minutes and for one call. It proves that the call was made twice \
         with the same arguments, and nothing more; it does not prove that anybody agreed. Show the \
         question to the person you work for and wait for a yes before you call again."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::binding::CallDigest;
    use crate::untrusted::Line;

    fn question(name: &str) -> Question {
        Question::new("Delete client 5?", "This will delete WireGuard client 5.")
            .value("Client", &Line::new(name))
    }

    fn bound(tool: &str, arguments: &str, name: &str) -> Binding {
        let call = CallDigest::new(tool, &serde_json::from_str(arguments).unwrap());
        Binding::new(call, &question(name))
    }

    fn deletion() -> Binding {
        bound("delete_client", r#"{"clientId":5}"#, "laptop")
    }

    #[test]
    fn a_token_is_128_random_bits_and_good_for_one_call() {
        let tokens = Tokens::new().unwrap();
        let token = tokens.issue(&deletion()).unwrap();
        assert_eq!(token.len(), 32);
        assert!(
            token
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        );
        assert_ne!(token, tokens.issue(&deletion()).unwrap());
        assert_eq!(tokens.spend(&token, &deletion()), Ok(()));
        assert_eq!(tokens.spend(&token, &deletion()), Err(Misfit));
    }

    #[test]
    fn a_token_for_something_else_does_not_fit_and_is_spent() {
        let tokens = Tokens::new().unwrap();
        for other in [
            bound("enable_client", r#"{"clientId":5}"#, "laptop"),
            bound("delete_client", r#"{"clientId":6}"#, "laptop"),
            bound("delete_client", r#"{"clientId":5}"#, "phone"),
        ] {
            let token = tokens.issue(&deletion()).unwrap();
            assert_eq!(tokens.spend(&token, &other), Err(Misfit));
            assert_eq!(tokens.spend(&token, &deletion()), Err(Misfit));
        }
    }

    #[test]
    fn a_wrong_token_spends_nothing() {
        let tokens = Tokens::new().unwrap();
        let token = tokens.issue(&deletion()).unwrap();
        let mut wrong: Vec<String> = (0..token.len())
            .map(|at| {
                let digit = if &token[at..=at] == "0" { "1" } else { "0" };
                format!("{}{digit}{}", &token[..at], &token[at + 1..])
            })
            .collect();
        wrong.extend((0..token.len()).map(|end| token[..end].to_owned()));
        wrong.extend([
            format!("{token}0"),
            format!(" {token}"),
            token
                .to_uppercase()
                .replace(|c: char| c.is_ascii_digit(), "F"),
            "0".repeat(32),
        ]);
        for wrong in wrong {
            assert_eq!(tokens.spend(&wrong, &deletion()), Err(Misfit), "{wrong}");
        }
        assert_eq!(tokens.spend(&token, &deletion()), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_expires_after_five_minutes() {
        let tokens = Tokens::new().unwrap();
        let (early, late) = (
            tokens.issue(&deletion()).unwrap(),
            tokens.issue(&deletion()).unwrap(),
        );
        tokio::time::advance(Tokens::LIFETIME - Duration::from_millis(2)).await;
        assert_eq!(tokens.spend(&early, &deletion()), Ok(()));
        tokio::time::advance(Duration::from_millis(2)).await;
        assert_eq!(tokens.spend(&late, &deletion()), Err(Misfit));
        tokens.issue(&deletion()).unwrap();
        assert_eq!(tokens.open().len(), 1);
        // One that nobody brings back goes when the next is issued.
        tokio::time::advance(Tokens::LIFETIME).await;
        tokens.issue(&deletion()).unwrap();
        assert_eq!(tokens.open().len(), 1);
    }

    #[test]
    fn the_oldest_of_too_many_tokens_makes_room() {
        let tokens = Tokens::new().unwrap();
        let issued: Vec<_> = (0..=Tokens::CAPACITY)
            .map(|_| tokens.issue(&deletion()).unwrap())
            .collect();
        assert_eq!(tokens.open().len(), Tokens::CAPACITY);
        assert_eq!(tokens.spend(&issued[0], &deletion()), Err(Misfit));
        for token in &issued[1..] {
            assert_eq!(tokens.spend(token, &deletion()), Ok(()));
        }
    }

    #[test]
    fn the_text_says_why_nobody_was_asked_and_what_a_token_proves() {
        let token = "00112233445566778899aabbccddeeff";
        let first = text(
            "delete_client",
            &question("laptop"),
            token,
            NobodyAsked::NoDialog,
            false,
        );
        insta::assert_snapshot!(first, @r"
        Nothing was changed, and nobody has been asked, because this client cannot show a dialog.

        This is what a person would have been asked:

        This will delete WireGuard client 5.

        Values below were supplied by the caller or by wg-easy, not by this server:
          Client: laptop

        To go ahead, call delete_client again with exactly the same arguments and
        confirm_token: 00112233445566778899aabbccddeeff

        The token is good for five minutes and for one call. It proves that the call was made twice with the same arguments, and nothing more; it does not prove that anybody agreed. Show the question to the person you work for and wait for a yes before you call again.
        ");
        let again = text(
            "delete_client",
            &question("laptop"),
            token,
            NobodyAsked::SwitchedOff,
            true,
        );
        insta::assert_snapshot!(again, @r"
        Nothing was changed, and nobody has been asked, because this server, wg-easy-mcp, was started with its dialog switched off (ELICITATION=false).

        The confirm_token of this call did not fit: it is wrong, was used before, is older than five minutes, or belongs to other arguments or to a question that has changed since. It did nothing. There is a new one below.

        This is what a person would have been asked:

        This will delete WireGuard client 5.

        Values below were supplied by the caller or by wg-easy, not by this server:
          Client: laptop

        To go ahead, call delete_client again with exactly the same arguments and
        confirm_token: 00112233445566778899aabbccddeeff

        The token is good for five minutes and for one call. It proves that the call was made twice with the same arguments, and nothing more; it does not prove that anybody agreed. Show the question to the person you work for and wait for a yes before you call again.
        ");
    }
}
