//! `wg-easy-mcp`: an MCP server that administers a wg-easy v15 instance, and asks a person before
//! anything widens access to the VPN.
//!
//! The library exists for the program, its tests and its fuzz targets; it promises nothing to others.
//! A request passes these rooms, always forward: [`session`] → [`transport`] → [`server`] → [`tools`] →
//! [`approval`] → [`wg_easy`], and comes back through [`untrusted`].
//!
//! # Layout
//!
//! - [`environment`]: takes the variables out of the process and wipes what they were in
//! - [`config`]: what the operator asked for, parsed into values that are right
//! - [`command_line`]: `--help`, `--version` and next to nothing else
//! - [`diagnostics`]: stderr: messages that repeat no value, and a line for each decision
//! - [`sandbox`]: what the process gives up before it reads a byte
//! - [`check`]: the set-up, step by step, in words
//! - [`session`]: one session, from the first byte to the last
//! - [`transport`]: one JSON-RPC message a line, in and out
//! - [`server`]: lists tools, takes calls, sees to it that each gets an answer
//! - [`tools`]: what each tool takes, asks and gives; one file a tool
//! - [`approval`]: turns a question into a decision
//! - [`wg_easy`]: a client of the wg-easy API
//! - [`untrusted`]: the one door through which what wg-easy sends may reach an answer
//! - [`qr`]: a configuration as a QR code

pub mod approval;
pub mod check;
pub mod command_line;
pub mod config;
pub mod diagnostics;
pub mod environment;
pub mod qr;
pub mod sandbox;
pub mod server;
pub mod session;
pub mod tools;
pub mod transport;
pub mod untrusted;
pub mod wg_easy;
