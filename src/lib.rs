//! `wg-easy-mcp`: an MCP server that administers a wg-easy v15 instance.

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
