//! `wg-easy-mcp`: an MCP server that administers a wg-easy v15 instance.

pub mod config;
pub mod diagnostics;
pub mod tools;
pub mod untrusted;
