//! A simulator of the wg-easy 15.4.0 API for tests and the demo.
//!
//! [`Simulator::start`] serves on loopback from a thread of its own. It answers as a real instance was
//! measured to answer (the replay test compares it with those measurements), counts what it receives,
//! and goes wrong on demand.
//!
//! ```
//! use wg_easy_sim::{Fault, Matcher, Settings, Simulator};
//!
//! let sim = Simulator::start(Settings { clients: 3, ..Settings::default() });
//! sim.fault(Matcher::new("POST", "/api/client/*"), Fault::ResetAfterApply);
//! assert!(sim.url().starts_with("http://127.0.0.1:"));
//! assert_eq!(sim.client(2).map(|client| client.name).as_deref(), Some("client-2"));
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "test equipment: a crash here is a failed test, not a leak"
)]

mod admin;
mod auth;
mod body;
mod call;
mod client;
mod clients;
mod config;
mod connection;
mod cookie;
mod dates;
mod edit;
mod fault;
mod filter;
mod hold;
mod json;
mod keys;
mod links;
mod log;
mod login;
mod number;
mod observe;
mod older;
mod pool;
mod qr;
mod reply;
mod respond;
mod routes;
mod scenario;
mod serve;
mod settings;
mod shared;
mod simulator;
mod state;
mod tls;
mod totp;
mod validation;

pub use client::{Client, OneTimeLink};
pub use edit::Edit;
pub use fault::{Canned, Fault, FaultHandle, Matcher};
pub use hold::Hold;
pub use keys::{KeyPair, public_of};
pub use log::{Login, Received};
pub use settings::{Account, Era, Role, Settings, Tls};
pub use simulator::Simulator;
pub use totp::{code as totp_code, decode_secret};
