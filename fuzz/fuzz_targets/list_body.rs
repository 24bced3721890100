//! A whole list body as wg-easy might send it, through reading, cleaning, redacting and budgeting, to
//! the answer of `list_clients`.
//!
//! The input is the arguments of the call as a line of JSON, and the body after it.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/answers.rs"]
mod answers;

fuzz_target!(|input: &[u8]| {
    let (arguments, body) = match input.iter().position(|&byte| byte == b'\n') {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (&b""[..], input),
    };
    let arguments = serde_json::from_slice(arguments).unwrap_or_default();
    if let Some(result) = wg_easy_mcp::tools::list_clients_answer(arguments, body.to_vec()) {
        answers::assert_presentable(&serde_json::to_value(result).unwrap());
    }
});
