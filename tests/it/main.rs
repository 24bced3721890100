//! Behaviour of the built binary.

// A test that cannot go on is a test that fails; helpers of tests are not seen to be in one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod sandbox;
mod startup;
