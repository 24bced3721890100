//! Behaviour of the built binary.

// A test that cannot go on is a test that fails; helpers of tests are not seen to be in one. And what
// one module of tests offers to the others is public.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod auth;
mod list_clients;
mod schemas;
mod startup;
mod support;
mod tools_list;
