//! The tools.
pub mod answer;
pub mod arguments;
pub mod schema;
