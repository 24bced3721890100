//! A whole list body as wg-easy might send it, through reading, cleaning, redacting and budgeting, to
//! the answer of `list_clients`.
//!
//! The input is the arguments of the call as a line of JSON, and the body after it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wg_easy_mcp::tools::{Arguments, list_answer};
use wg_easy_mcp::untrusted::Untrusted;

#[path = "../../tests/it/answers.rs"]
mod answers;

fuzz_target!(|input: &[u8]| {
    let (arguments, body) = match input.iter().position(|&byte| byte == b'\n') {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (&b""[..], input),
    };
    let arguments = serde_json::from_slice(arguments).unwrap_or_default();
    let arguments = Arguments::new(arguments);
    let answer = list_answer(&arguments, Untrusted::new(body.to_vec()));
    if let Ok(Ok(result)) = answer.map(|answer| answer.into_result()) {
        answers::assert_presentable(&serde_json::to_value(result).unwrap());
    }
});
