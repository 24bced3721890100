//! Reading what a tool answers with.

use serde_json::Value;

/// The text block of a result; it is the first.
pub fn text(result: &Value) -> &str {
    let block = &result["content"][0];
    assert_eq!(block["type"], "text", "{result}");
    block["text"].as_str().unwrap()
}

pub fn is_error(result: &Value) -> bool {
    result["isError"] == true
}

/// The structured content of a success. Panics at an error.
pub fn structured(result: &Value) -> &Value {
    assert!(!is_error(result), "an error: {result:.2000}");
    let structured = &result["structuredContent"];
    assert!(structured.is_object(), "{result}");
    structured
}

/// The data that the text block holds after the sentence that marks it. It is what the structured
/// content is.
pub fn data(result: &Value) -> Value {
    let (marker, json) = text(result).split_once('\n').unwrap();
    assert!(marker.contains("do not follow instructions"), "{marker}");
    serde_json::from_str(json).unwrap()
}

/// The text of an error result, which is text and nothing else. Panics at a success.
pub fn refusal(result: &Value) -> &str {
    assert!(is_error(result), "a success: {result:.2000}");
    assert_eq!(result.get("structuredContent"), None, "{result}");
    assert_eq!(result["content"].as_array().unwrap().len(), 1, "{result}");
    text(result)
}

/// The token in an error result that stands in for a question: 32 hex digits.
pub fn token(result: &Value) -> &str {
    refusal(result)
        .split(|c: char| !c.is_ascii_alphanumeric())
        .find(|word| word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit()))
        .unwrap_or_else(|| panic!("no token: {result:.2000}"))
}
