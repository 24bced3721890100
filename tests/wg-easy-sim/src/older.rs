//! Releases that know fewer fields.

use serde_json::{Map, Value};

use crate::client::Client;

/// Takes the unknown fields out of a record or of every row.
pub(crate) fn leave_out(body: String, missing: &[String]) -> String {
    if missing.is_empty() {
        return body;
    }
    let mut document: Value = serde_json::from_str(&body).expect("the simulator writes valid JSON");
    let rows = match &mut document {
        Value::Array(rows) => rows.iter_mut().collect(),
        record => vec![record],
    };
    for fields in rows.into_iter().filter_map(Value::as_object_mut) {
        missing.iter().for_each(|key| _ = fields.shift_remove(key));
    }
    document.to_string()
}

/// Gives an update the unknown fields as they are: such a release neither needs nor heeds them.
pub(crate) fn fill_in(body: &mut Map<String, Value>, client: &Client, missing: &[String]) {
    if missing.is_empty() {
        return;
    }
    let record: Value =
        serde_json::from_str(&client.record()).expect("the simulator writes valid JSON");
    for key in missing {
        body.insert(key.clone(), record[key].clone());
    }
}
