//! A client of the wg-easy API.

pub mod record;

/// A client's id: 1 to 2^53 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientId(u64);
impl ClientId {
    /// Checks the bounds.
    pub fn new(id: u64) -> Option<Self> {
        (1..1 << 53).contains(&id).then_some(Self(id))
    }
    /// The number.
    pub fn value(self) -> u64 {
        self.0
    }
}
