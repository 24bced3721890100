//! What the tools promise about their answers, as a real validator reads it.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::LazyLock;
use wg_easy_mcp::tools::TOOLS;

/// Holds a result of a tool against what the tool promises: a success fits the output schema and says
/// the same twice, an error is text and nothing else.
pub fn check(tool: &str, result: &Value) {
    static OUTPUT: LazyLock<HashMap<&str, Validator>> = LazyLock::new(|| {
        let validator = |schema| jsonschema::validator_for(&Value::Object(schema)).unwrap();
        TOOLS
            .iter()
            .map(|tool| (tool.name, validator((tool.output)())))
            .collect()
    });
    if result["resultType"] == "input_required" {
        return;
    }
    if result["isError"] == true {
        super::refusal(result);
        return;
    }
    let structured = super::structured(result);
    let errors: Vec<_> = OUTPUT[tool]
        .iter_errors(structured)
        .map(|error| format!("{}: {error:.200}", error.instance_path()))
        .collect();
    assert!(
        errors.is_empty(),
        "{tool} answered against its schema: {errors:?}"
    );
    if structured.get("untrusted").is_some() {
        assert_eq!(super::data(result), *structured);
        assert_eq!(structured["untrusted"], true);
        assert_eq!(structured["source"], "wg-easy");
    } else {
        let text: Value = serde_json::from_str(super::text(result)).unwrap();
        assert_eq!(text, *structured);
    }
}
