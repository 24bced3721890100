//! `wg-easy-mcp`: an MCP server that administers a wg-easy v15 instance.

pub mod command_line;
pub mod config;
pub mod diagnostics;
pub mod environment;
pub mod tools;
pub mod untrusted;
