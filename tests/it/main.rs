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

mod answers;
mod architecture;
mod asking;
mod auth;
mod check;
mod client_id;
mod disable_client;
mod docs;
mod ending;
mod faults;
mod get_client_config;
mod get_client_qrcode;
mod get_server_info;
mod guarded;
mod hostile;
mod limits;
mod list_clients;
mod login;
mod memory;
mod messages;
mod protocol;
mod registry;
mod sandbox;
mod schemas;
mod secrets;
mod security_md;
mod snippets;
mod startup;
mod support;
mod tools_list;
mod tools_md;
mod unconfigured;
mod untrusted;
