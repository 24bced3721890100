//! Proof that a person agreed.

/// A person has seen what will happen and said yes.
pub struct Approval(());

#[cfg(test)]
impl Approval {
    /// Stands in for a person's yes.
    pub(crate) fn for_tests() -> Self {
        Self(())
    }
}
