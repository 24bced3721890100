//! The sealed state that ties an answer to its question while nobody waits for it.
//!
//! The client carries the state and gives it back with the answer, as ordinary request content that
//! it could have made up. So the state is sealed, and it opens once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::Mac as _;
use tokio::time::Instant;

use super::binding::{Binding, CallDigest};
use super::key::{Key, random};

/// Seals questions and opens what comes back.
///
/// A state is base64url of `version (1) ‖ nonce (16) ‖ expiry (8) ‖ tag (32)`. The tag is
/// HMAC-SHA-256 over the first three and the binding. The binding itself is not in the state but in
/// the table of open questions, found by the nonce: so an answer can be told to be genuine, and its
/// nonce spent, even when the question has changed since and would be bound differently today.
pub(super) struct Seal {
    key: Key,
    /// What expiries are counted from. Only this process ever reads them.
    epoch: Instant,
    /// Oldest first, which is also the order in which they expire.
    open: Mutex<VecDeque<OpenQuestion>>,
}

/// Why a state counts as no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// It is not a state, was not sealed by this process, was used, or had to make room.
    Unknown,
    /// More than [`Seal::LIFETIME`] has passed.
    Expired,
    /// It belongs to another tool or to other arguments.
    OtherCall,
}

struct OpenQuestion {
    nonce: [u8; NONCE],
    /// Milliseconds since the seal's epoch, as in the state.
    expiry: u64,
    binding: Binding,
}

const VERSION: u8 = 1;
const NONCE: usize = 16;
const EXPIRY: usize = 8;
const TAG: usize = 32;
const STATE: usize = 1 + NONCE + EXPIRY + TAG;

impl Seal {
    /// How long a person has for an answer.
    pub(super) const LIFETIME: Duration = Duration::from_secs(15 * 60);

    /// The most questions that are open at a time. Some 90 KiB; a person answers a handful.
    pub(super) const CAPACITY: usize = 1024;

    pub(super) fn new() -> Result<Self, getrandom::Error> {
        Ok(Self {
            key: Key::random()?,
            epoch: Instant::now(),
            open: Mutex::new(VecDeque::new()),
        })
    }

    /// The state for a question that is about to be asked.
    pub(super) fn issue(&self, binding: &Binding) -> Result<String, getrandom::Error> {
        let nonce = random::<NONCE>()?;
        let now = self.now();
        let expiry = now.saturating_add(millis(Self::LIFETIME));
        let mut open = self.open();
        while open.front().is_some_and(|oldest| oldest.expiry <= now) {
            open.pop_front();
        }
        if open.len() >= Self::CAPACITY {
            open.pop_front();
        }
        open.push_back(OpenQuestion {
            nonce,
            expiry,
            binding: *binding,
        });
        drop(open);
        let expiry = expiry.to_be_bytes();
        let parts: [&[u8]; 4] = [&[VERSION], &nonce, &expiry, &binding.bytes()];
        let tag = self.key.mac(&parts).finalize().into_bytes();
        let mut state = Vec::with_capacity(STATE);
        state.push(VERSION);
        state.extend_from_slice(&nonce);
        state.extend_from_slice(&expiry);
        state.extend_from_slice(&tag);
        Ok(URL_SAFE_NO_PAD.encode(state))
    }

    /// The binding of the question that `state` was issued for.
    ///
    /// A genuine state is spent by this, also when it is of no use (expired, or for another call):
    /// it has been answered. One that is not genuine spends nothing, so nobody can take an open
    /// question away without holding its state.
    pub(super) fn open_for(&self, state: &str, call: CallDigest) -> Result<Binding, Unopened> {
        let sealed = Sealed::parse(state).ok_or(Unopened::Unknown)?;
        let mut open = self.open();
        let (index, binding) = open
            .iter()
            .enumerate()
            .find(|(_, question)| question.nonce == sealed.nonce)
            .map(|(index, question)| (index, question.binding))
            .ok_or(Unopened::Unknown)?;
        let parts: [&[u8]; 4] = [&[VERSION], &sealed.nonce, &sealed.expiry, &binding.bytes()];
        self.key
            .mac(&parts)
            .verify_slice(&sealed.tag)
            .map_err(|_| Unopened::Unknown)?;
        open.remove(index);
        drop(open);
        if self.now() >= u64::from_be_bytes(sealed.expiry) {
            return Err(Unopened::Expired);
        }
        if binding.call != call {
            return Err(Unopened::OtherCall);
        }
        Ok(binding)
    }

    fn now(&self) -> u64 {
        millis(self.epoch.elapsed())
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<OpenQuestion>> {
        // A panic elsewhere leaves the table whole: each entry is pushed and removed in one step.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A state's parts, of the right lengths but not yet believed.
struct Sealed {
    nonce: [u8; NONCE],
    expiry: [u8; EXPIRY],
    tag: [u8; TAG],
}

impl Sealed {
    fn parse(state: &str) -> Option<Self> {
        let mut bytes = [0; STATE];
        // An exact length and the one canonical alphabet: a state has one spelling.
        if URL_SAFE_NO_PAD.decode_slice(state, &mut bytes) != Ok(STATE) {
            return None;
        }
        let (&version, rest) = bytes.split_first()?;
        let (&nonce, rest) = rest.split_first_chunk()?;
        let (&expiry, rest) = rest.split_first_chunk()?;
        let (&tag, _) = rest.split_first_chunk()?;
        (version == VERSION).then_some(Self { nonce, expiry, tag })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::question::Question;
    use proptest::prelude::*;

    fn call(tool: &str, arguments: &str) -> CallDigest {
        CallDigest::new(tool, &serde_json::from_str(arguments).unwrap())
    }

    fn deletion() -> CallDigest {
        call("delete_client", r#"{"clientId":5}"#)
    }

    fn bound(call: CallDigest) -> Binding {
        Binding::new(
            call,
            &Question::new("Delete client 5?", "This will delete it."),
        )
    }

    #[test]
    fn a_state_opens_once() {
        let seal = Seal::new().unwrap();
        let state = seal.issue(&bound(deletion())).unwrap();
        assert_eq!(state.len(), 76);
        assert_eq!(seal.open_for(&state, deletion()), Ok(bound(deletion())));
        assert_eq!(seal.open_for(&state, deletion()), Err(Unopened::Unknown));
    }

    #[test]
    fn a_bit_flipped_in_any_byte_keeps_a_state_shut_and_unspent() {
        let seal = Seal::new().unwrap();
        let state = seal.issue(&bound(deletion())).unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&state).unwrap();
        for index in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[index] ^= 1 << bit;
                let flipped = URL_SAFE_NO_PAD.encode(bytes);
                assert_eq!(seal.open_for(&flipped, deletion()), Err(Unopened::Unknown));
            }
        }
        assert!(seal.open_for(&state, deletion()).is_ok());
    }

    #[test]
    fn a_state_has_one_length_and_one_spelling() {
        let seal = Seal::new().unwrap();
        let state = seal.issue(&bound(deletion())).unwrap();
        let others = (0..state.len()).map(|end| state[..end].to_owned()).chain([
            format!("{state}A"),
            format!("{state}="),
            format!(" {state}"),
            format!("{state}\n"),
            state.repeat(2),
            "A".repeat(1 << 20),
        ]);
        for other in others {
            assert_eq!(seal.open_for(&other, deletion()), Err(Unopened::Unknown));
        }
        assert!(seal.open_for(&state, deletion()).is_ok());
    }

    #[test]
    fn a_state_for_another_call_does_not_open_and_is_spent() {
        let seal = Seal::new().unwrap();
        for other in [
            call("enable_client", r#"{"clientId":5}"#),
            call("delete_client", r#"{"clientId":6}"#),
            call("delete_client", r#"{"clientId":"5"}"#),
            call("delete_client", r#"{"clientId":5,"more":null}"#),
        ] {
            let state = seal.issue(&bound(deletion())).unwrap();
            assert_eq!(seal.open_for(&state, other), Err(Unopened::OtherCall));
            assert_eq!(seal.open_for(&state, deletion()), Err(Unopened::Unknown));
        }
    }

    #[test]
    fn a_state_of_another_process_does_not_open() {
        let (seal, other) = (Seal::new().unwrap(), Seal::new().unwrap());
        let state = other.issue(&bound(deletion())).unwrap();
        assert_eq!(seal.open_for(&state, deletion()), Err(Unopened::Unknown));
        // Even one that has learnt which nonces are open lacks the key.
        let nonce = other.open()[0].nonce;
        seal.issue(&bound(deletion())).unwrap();
        seal.open()[0].nonce = nonce;
        assert_eq!(seal.open_for(&state, deletion()), Err(Unopened::Unknown));
        assert_eq!(seal.open().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_expires_after_a_quarter_of_an_hour() {
        let seal = Seal::new().unwrap();
        let (early, late) = (
            seal.issue(&bound(deletion())).unwrap(),
            seal.issue(&bound(deletion())).unwrap(),
        );
        tokio::time::advance(Seal::LIFETIME - Duration::from_millis(2)).await;
        assert!(seal.open_for(&early, deletion()).is_ok());
        tokio::time::advance(Duration::from_millis(2)).await;
        assert_eq!(seal.open_for(&late, deletion()), Err(Unopened::Expired));
        assert_eq!(seal.open_for(&late, deletion()), Err(Unopened::Unknown));
    }

    #[tokio::test(start_paused = true)]
    async fn expired_questions_make_room() {
        let seal = Seal::new().unwrap();
        for _ in 0..10 {
            seal.issue(&bound(deletion())).unwrap();
        }
        tokio::time::advance(Seal::LIFETIME).await;
        let state = seal.issue(&bound(deletion())).unwrap();
        assert_eq!(seal.open().len(), 1);
        assert!(seal.open_for(&state, deletion()).is_ok());
    }

    #[test]
    fn the_oldest_of_too_many_open_questions_makes_room() {
        let seal = Seal::new().unwrap();
        let states: Vec<_> = (0..=Seal::CAPACITY)
            .map(|_| seal.issue(&bound(deletion())).unwrap())
            .collect();
        assert_eq!(seal.open().len(), Seal::CAPACITY);
        assert_eq!(
            seal.open_for(&states[0], deletion()),
            Err(Unopened::Unknown)
        );
        for state in &states[1..] {
            assert!(seal.open_for(state, deletion()).is_ok());
        }
    }

    proptest! {
        #[test]
        fn no_state_opens_for_another_binding(
            tool in "[a-z_]{1,12}", other_tool in "[a-z_]{1,12}",
            name in any::<String>(), other_name in any::<String>(),
        ) {
            let call = |tool: &str, name: &str| {
                let arguments = serde_json::json!({ "name": name });
                CallDigest::new(tool, arguments.as_object().unwrap())
            };
            let (one, other) = (call(&tool, &name), call(&other_tool, &other_name));
            prop_assume!(tool != other_tool || name != other_name);
            let seal = Seal::new().unwrap();
            let state = seal.issue(&bound(one)).unwrap();
            prop_assert_eq!(seal.open_for(&state, other), Err(Unopened::OtherCall));
        }

        #[test]
        fn nothing_made_up_opens(state in any::<String>(), bytes in any::<[u8; STATE]>()) {
            let seal = Seal::new().unwrap();
            seal.issue(&bound(deletion())).unwrap();
            for state in [state, URL_SAFE_NO_PAD.encode(bytes)] {
                prop_assert_eq!(seal.open_for(&state, deletion()), Err(Unopened::Unknown));
            }
        }
    }
}
