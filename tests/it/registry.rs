//! What catalogues are told is what the program is (`registry/README.md`).

use crate::docs::{assert_current, read, root};
use crate::support::{PATIENCE, Server};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wg_easy_mcp::config::VARIABLES;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn json_of(name: &str) -> Value {
    serde_json::from_str(&read(name)).unwrap()
}

fn yaml_of(name: &str) -> Value {
    serde_saphyr::from_str(&read(name)).unwrap()
}

fn assert_valid(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let wrong: Vec<_> = validator
        .iter_errors(document)
        .map(|error| format!("{} {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The rules of the MCP registry's schema of 2025-12-11 for what is in our file, in our words; what it
/// allows and we do not use is no mistake that we could make.
fn server_schema() -> Value {
    let input = json!({
        "name": {"type": "string", "minLength": 1},
        "description": {"type": "string", "minLength": 1},
        "value": {"type": "string"},
        "default": {"type": "string"},
        "placeholder": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "isRequired": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
    });
    let mut argument = input.clone();
    argument["type"] = json!({"const": "named"});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["$schema", "name", "title", "description", "version", "websiteUrl", "repository", "packages"],
        "properties": {
            "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
            "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
            "title": {"type": "string", "minLength": 1, "maxLength": 100},
            "description": {"type": "string", "minLength": 1, "maxLength": 100},
            "version": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$"},
            "websiteUrl": {"type": "string", "pattern": "^https://"},
            "repository": {
                "type": "object",
                "additionalProperties": false,
                "required": ["url", "source"],
                "properties": {"url": {"type": "string", "pattern": "^https://"}, "source": {"const": "github"}},
            },
            "packages": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["registryType", "identifier", "transport", "runtimeHint", "environmentVariables"],
                "properties": {
                    // Of an image the version is the identifier's tag.
                    "registryType": {"const": "oci"},
                    "identifier": {"type": "string", "pattern": "^ghcr\\.io/[^:@]+:[^:@]+$"},
                    "transport": {"const": {"type": "stdio"}},
                    "runtimeHint": {"const": "docker"},
                    "runtimeArguments": {"type": "array", "items": {
                        "type": "object", "additionalProperties": false, "required": ["type", "name"], "properties": argument,
                    }},
                    "environmentVariables": {"type": "array", "items": {
                        "type": "object", "additionalProperties": false, "required": ["name"], "properties": input,
                    }},
                },
            }},
        },
    })
}

#[test]
fn the_registry_is_told_of_this_version_under_the_name_that_the_image_has() {
    let server = json_of("server.json");
    assert_valid(&server_schema(), &server);
    assert_eq!(server["version"], VERSION);
    let image = format!("ghcr.io/wg-easy-mcp/wg-easy-mcp:{VERSION}");
    assert_eq!(server["packages"][0]["identifier"], *image);
    let label = format!(
        "io.modelcontextprotocol.server.name=\"{}\"",
        server["name"].as_str().unwrap()
    );
    assert!(read("Containerfile").contains(&label), "{label}");
}

#[test]
fn the_registry_is_told_of_every_variable_what_help_says() {
    let server = json_of("server.json");
    let told = server["packages"][0]["environmentVariables"]
        .as_array()
        .unwrap();
    assert_eq!(told.len(), VARIABLES.len());
    for (told, variable) in told.iter().zip(VARIABLES) {
        assert_eq!(told["name"], variable.name);
        assert_eq!(told["isSecret"] == true, variable.secret, "{told}");
        assert_eq!(told["default"].as_str(), variable.default, "{told}");
        let about = told["description"].as_str().unwrap();
        let (first, rest) = variable.meaning.split_at(1);
        let meaning = first.to_uppercase() + rest;
        assert!(about.starts_with(&meaning), "{told}");
        // What a login needs has two forms, so only the address has to be there.
        assert_eq!(told["isRequired"] == true, variable.name == "WG_EASY_URL");
        assert_eq!(
            variable.name.ends_with("_FILE"),
            about.contains("mount the file"),
            "{told}"
        );
    }
}

#[test]
fn what_the_registry_offers_to_choose_is_understood() {
    let server = json_of("server.json");
    for told in server["packages"][0]["environmentVariables"]
        .as_array()
        .unwrap()
    {
        let name = told["name"].as_str().unwrap();
        let mut values: BTreeSet<&str> = told["choices"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.extend(told["default"].as_str());
        if told["format"] == "boolean" {
            values.extend(["true", "false"]);
        }
        for value in values {
            let mut server = Server::unconfigured().with(name, value).start();
            server.close_stdin();
            let status = server.expect_exit(PATIENCE);
            assert!(status.success(), "{name}={value}: {}", server.stderr());
            let said = server.stderr();
            assert!(!said.contains(&format!("{name} is neither")), "{said}");
        }
    }
}

#[test]
fn glama_is_told_whose_this_is() {
    let schema = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["$schema", "maintainers"],
        "properties": {
            "$schema": {"const": "https://glama.ai/mcp/schemas/server.json"},
            "maintainers": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[a-z0-9-]+$"}},
        },
    });
    assert_valid(&schema, &json_of("glama.json"));
}

/// What Docker's validator asks of an entry, and what follows from our variables.
#[test]
fn docker_is_told_of_this_version_and_of_every_variable_that_names_no_file() {
    let entry = yaml_of("registry/docker/server.yaml");
    let image = format!("ghcr.io/wg-easy-mcp/wg-easy-mcp:{VERSION}");
    assert_eq!(entry["image"], *image);
    assert_eq!(entry["name"], "wg-easy-mcp");
    assert_eq!(entry["type"], "server");
    let title = entry["about"]["title"].as_str().unwrap();
    assert!(!title.contains("MCP") && !title.contains("Server"));
    let commit = entry["source"]["commit"].as_str().unwrap();
    assert!(commit.len() == 40 && commit.bytes().all(|c| c.is_ascii_hexdigit()));
    assert!(
        root()
            .join(entry["source"]["dockerfile"].as_str().unwrap())
            .exists()
    );

    let config = &entry["config"];
    let list = |key: &str| config[key].as_array().unwrap().clone();
    let names = |entries: &[Value], key: &str| -> BTreeSet<String> {
        let name = |entry: &Value| entry[key].as_str().unwrap().to_owned();
        entries.iter().map(name).collect()
    };
    let known = |secret: bool| -> BTreeSet<String> {
        VARIABLES
            .iter()
            .filter(|v| v.secret == secret && !v.name.ends_with("_FILE"))
            .map(|v| v.name.to_owned())
            .collect()
    };
    assert_eq!(names(&list("secrets"), "env"), known(true));
    assert_eq!(names(&list("env"), "name"), known(false));
    let parameters: BTreeSet<String> = config["parameters"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("{{{{wg-easy-mcp.{name}}}}}"))
        .collect();
    assert_eq!(names(&list("env"), "value"), parameters);
    assert!(
        list("secrets")
            .iter()
            .all(|s| s["name"].as_str().unwrap().starts_with("wg-easy-mcp."))
    );
}

/// The tools, as Docker's catalogue writes them.
fn docker_tools() -> Value {
    let tools = Server::unconfigured().start().tools();
    tools.iter().map(docker_tool).collect()
}

fn docker_tool(tool: &Value) -> Value {
    let schema = &tool["inputSchema"];
    let required = |name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let arguments: Vec<Value> = schema["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| {
            // It knows one type an argument: the first that is there.
            let kind = schema["anyOf"].get(0).unwrap_or(schema);
            let mut argument =
                json!({"name": name, "type": kind["type"], "desc": schema["description"]});
            if kind["type"] == "array" {
                argument["items"] = json!({"type": kind["items"]["type"]});
            }
            if !required(name) {
                argument["optional"] = true.into();
            }
            argument
        })
        .collect();
    let mut entry = json!({"name": tool["name"], "description": tool["description"]});
    if !arguments.is_empty() {
        entry["arguments"] = arguments.into();
    }
    entry["annotations"] = tool["annotations"].clone();
    entry
}

#[test]
fn docker_is_told_of_the_tools_that_there_are() {
    let now = serde_json::to_string_pretty(&docker_tools()).unwrap() + "\n";
    assert_current("registry/docker/tools.json", &now, "UPDATE_TOOLS_JSON");
}
