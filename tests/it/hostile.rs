//! A list body from wg-easy, or from whoever answers in its place, as it ends up in an answer. The fuzz
//! target `list_body` asks the same of stranger bodies.

use crate::answers::assert_presentable;
use proptest::prelude::*;
use serde_json::{Value, json};
use wg_easy_mcp::tools::{Arguments, list_answer};
use wg_easy_mcp::untrusted::Untrusted;

fn answered(body: Vec<u8>) -> rmcp::model::CallToolResult {
    let arguments = Arguments::new(serde_json::Map::new());
    let answer = list_answer(&arguments, Untrusted::new(body)).unwrap();
    answer.into_result().unwrap()
}

/// Names that mean something here, among them in disguise, and names that do not.
fn name() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "id",
        "name",
        "enabled",
        "preUp",
        "postDown",
        "privateKey",
        "preSharedKey",
        "pre_shared_key",
        "PRIVATE-KEY",
        "private\u{200b}Key",
        "private\u{202e}Key",
        "metricsPassword",
        "totpKey",
        "oneTimeLink",
        "one\u{7}TimeLink",
        "expiresAt",
        "mtu",
        "dns",
        "__proto__",
        "__pro\u{feff}to__",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::from),
        // Long enough that a few of them are beyond the budget.
        ("\\PC{0,20}", 0..2_000usize).prop_map(|(text, times)| text.repeat(times).into()),
        "[a-z\u{0}-\u{1f}\u{7f}-\u{9f}\u{200e}\u{202e}\u{2028}\u{feff}\u{e0041}]{0,8}"
            .prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn record() -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value()), 0..8)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

proptest! {
    // An answer that is too long is worth more than many that are short, and costs more.
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_list_holds_its_answer_is_presentable(
        rows in prop::collection::vec(prop_oneof![9 => record(), 1 => value()], 0..12),
        repeated in prop_oneof![4 => Just(1), 1 => 1..30usize],
        filtered in any::<bool>(),
        limit in prop::option::of(1..5u64),
    ) {
        let rows: Vec<&Value> = std::iter::repeat_n(&rows, repeated).flatten().collect();
        let mut arguments = serde_json::Map::new();
        if filtered {
            arguments.insert("sort".to_owned(), "asc".into());
        }
        if let Some(limit) = limit {
            arguments.insert("limit".to_owned(), limit.into());
        }
        let body = Untrusted::new(json!(rows).to_string().into_bytes());
        let answer = list_answer(&Arguments::new(arguments), body).unwrap();
        let result = answer.into_result().unwrap();
        assert_presentable(&serde_json::to_value(result).unwrap());
    }
}

#[test]
fn a_body_of_any_shape_is_answered_with_what_an_answer_can_hold() {
    let many = |unit: &dyn Fn(usize) -> String| {
        let units: Vec<_> = (0..150_000).map(unit).collect();
        units.join(",")
    };
    let fields = |value: &str| many(&|n| format!("\"f{n}\":{value}"));
    let zeros = many(&|_| "0".to_owned());
    let records = [
        format!("{{\"id\":1,\"new\":[{zeros}]}}"),
        format!("{{\"id\":1,\"name\":[{zeros}]}}"),
        format!(
            "{{\"id\":1,\"new\":{}{zeros}{}}}",
            "[".repeat(40),
            "]".repeat(40)
        ),
        format!("{{\"id\":1,\"dns\":[{}]}}", many(&|_| "\"\"".to_owned())),
        format!("{{\"id\":1,\"new\":{{{}}}}}", fields("[0]")),
        format!("{{\"id\":1,{}}}", many(&|_| "\"same\":[0]".to_owned())),
        format!("{{\"id\":1,{}}}", fields("0")),
        format!("{{\"id\":1,{}}}", fields("[0]")),
    ];
    for (at, record) in records.iter().enumerate() {
        let body = format!("[{record},{{\"id\":2}}]").into_bytes();
        let result = answered(body);
        let result = serde_json::to_value(result).unwrap();
        assert_presentable(&result);
        let answer = &result["structuredContent"];
        // The last two are names alone, which no answer holds.
        let shown = if at < 6 { json!([1, 2]) } else { json!([2]) };
        let ids: Vec<_> = answer["clients"]
            .as_array()
            .unwrap()
            .iter()
            .map(|client| &client["id"])
            .collect();
        assert_eq!(json!(ids), shown, "{at}");
        assert_eq!(
            answer["skipped"],
            if at < 6 { Value::Null } else { json!(1) },
            "{at}"
        );
    }
    let rows = format!("[{}]", many(&|_| "{}".to_owned()));
    let result = answered(rows.into_bytes());
    let result = serde_json::to_value(result).unwrap();
    assert_presentable(&result);
    assert_eq!(result["structuredContent"]["total"], 65_536);
}
