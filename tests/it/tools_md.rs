//! `docs/tools.md` says of each tool what a client is told of it.
//!
//! What stands between the marks is made from the catalogue; `UPDATE_TOOLS_MD=1` writes it anew. The prose
//! around it is written by hand.

use crate::docs::{assert_current, read};
use serde_json::Value;
use std::fmt::Write;
use wg_easy_mcp::tools::{Run, TOOLS, Tool};

const END: &str = "<!-- up to here -->";

/// What the page says of a tool that can be told from the code.
fn section(tool: &Tool) -> String {
    let does = match tool.run {
        Run::Guarded(_) => "Asks a person.",
        Run::Withdraw(_) => "Acts at once: it only takes access away.",
        Run::Read(_) => "Reads.",
    };
    let mut said = format!("{}\n\n{does}", tool.description);
    if tool.essential {
        said += " In `essential`.";
    }
    if tool.in_read_only_mode {
        said += " In read-only mode.";
    }
    let definition = tool.definition();
    let input = Value::Object((*definition.input_schema).clone());
    let output = Value::Object((**definition.output_schema.as_ref().unwrap()).clone());
    said += &table(&input, "argument");
    said += &table(&output, "in the answer");
    said
}

/// The properties of a schema, one a row.
fn table(schema: &Value, heading: &str) -> String {
    let properties = schema["properties"].as_object().unwrap();
    if properties.is_empty() {
        return format!("\n\nNo {heading}s.");
    }
    let required = schema["required"].as_array();
    let mut said = format!("\n\n| {heading} | is | |\n| --- | --- | --- |");
    for (name, schema) in properties {
        let needed = required.is_some_and(|names| names.iter().any(|needed| needed == name));
        let always = if needed { "" } else { " (optional)" };
        let about = schema["description"].as_str().unwrap();
        // Writing to a string cannot fail.
        let _ = write!(said, "\n| `{name}`{always} | {} | {about} |", kind(schema));
    }
    said
}

/// The type of a property, in words.
fn kind(schema: &Value) -> String {
    if let Some(kinds) = schema["anyOf"].as_array() {
        return kinds.iter().map(kind).collect::<Vec<_>>().join(", or ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap()))
            .collect();
        return words.join(" or ");
    }
    match (schema["type"].as_str().unwrap(), &schema["minimum"]) {
        ("integer", Value::Null) => "integer".to_owned(),
        ("integer", least) => format!("integer, {least} to {}", schema["maximum"]),
        ("string", _) if schema.get("pattern").is_some() => {
            format!("string `{}`", schema["pattern"].as_str().unwrap())
        }
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        ("object", _) => {
            let names: Vec<_> = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .map(|name| format!("`{name}`"))
                .collect();
            format!("object: {}", names.join(", "))
        }
        (kind, _) => kind.to_owned(),
    }
}

#[test]
fn the_page_of_the_tools_says_what_a_client_is_told() {
    let mut now = read("docs/tools.md");
    let mut last = 0;
    for tool in TOOLS {
        let begin = format!("## `{}`\n\n<!-- from the catalogue -->\n", tool.name);
        let at = now
            .find(&begin)
            .unwrap_or_else(|| panic!("no section for {}", tool.name));
        assert!(at >= last, "{} is out of order", tool.name);
        last = at;
        let from = at + begin.len();
        let to = from + now[from..].find(END).unwrap();
        now.replace_range(from..to, &format!("{}\n", section(tool)));
    }
    assert_current("docs/tools.md", &now, "UPDATE_TOOLS_MD");
    assert_eq!(now.matches("\n## `").count(), TOOLS.len());
}
