//! `wg-easy-mcp`: an MCP server that administers a wg-easy v15 instance.

pub mod approval;
pub mod config;
pub mod untrusted;
pub mod wg_easy;
