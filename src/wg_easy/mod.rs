//! A client of the wg-easy API.

pub mod record;
