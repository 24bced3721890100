//! The only door through which what wg-easy sends may reach an answer.

mod clean;

pub use clean::{Line, clean, clean_script, is_removed};
