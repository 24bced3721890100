use super::*;
use proptest::prelude::*;

fn fitted(value: Value, limit: usize) -> Option<(Value, Vec<Truncated>)> {
    let Value::Object(mut fields) = value else {
        panic!("an object")
    };
    let truncated = fit(&mut fields, limit)?;
    Some((Value::Object(fields), truncated))
}

#[test]
fn what_fits_is_left_alone() {
    let value = json!({"a": "x".repeat(500)});
    assert_eq!(fitted(value.clone(), 600), Some((value, vec![])));
}

#[test]
fn the_longest_text_goes_first() {
    let value = json!({"long": "é".repeat(5000), "short": "y".repeat(900), "list": [1, 2]});
    let (value, truncated) = fitted(value, 3000).unwrap();
    assert_eq!(truncated.len(), 1);
    assert_eq!(truncated[0].field, "long");
    assert_eq!(truncated[0].total, 5000);
    assert_eq!(
        value["long"].as_str().unwrap().chars().count(),
        truncated[0].kept
    );
    assert_eq!(value["short"], "y".repeat(900));
    assert!(truncated[0].kept > 1900, "{truncated:?}");
}

#[test]
fn then_entries_of_the_longest_list() {
    let value = json!({"rows": vec![json!({"n": "x".repeat(90)}); 100], "few": [1, 2, 3]});
    let (value, truncated) = fitted(value, 1000).unwrap();
    assert_eq!(value["few"], json!([1, 2, 3]));
    let kept = value["rows"].as_array().unwrap().len();
    assert_eq!(
        truncated,
        [Truncated {
            field: "rows".to_owned(),
            kept,
            total: 100
        }]
    );
    assert!(kept >= 8, "{kept}");
}

#[test]
fn what_cannot_fit_is_nothing() {
    let many: Map<String, Value> = (0..100).map(|n| (format!("field{n}"), json!(n))).collect();
    assert_eq!(fitted(Value::Object(many), 50), None);
}

#[test]
fn characters_are_counted_not_bytes() {
    assert_eq!(chars(&json!("é€𝄞")), 5);
    assert_eq!(
        chars(&json!({"a\n": [1, null]})),
        r#"{"a\n":[1,null]}"#.len()
    );
}

#[test]
fn many_small_lists_and_long_paths_take_no_time() {
    let mut many = Map::new();
    for n in 0..20_000 {
        many.insert(format!("f{n}"), json!([0]));
    }
    let before = many.clone();
    assert_eq!(fit(&mut many, 50_000), None);
    assert_eq!(many, before);
    assert_eq!(fit(&mut many, 230_000).map(|cut| cut.len()), Some(50));
    let texts = vec!["x".repeat(300); 20_000];
    let mut nested = Map::new();
    nested.insert("n".repeat(50_000), json!([texts, vec![vec![0]; 20_000]]));
    let truncated = fit(&mut nested, 60_000).unwrap();
    assert!(chars(&nested) <= 60_000 && truncated.len() <= 50);
}

#[test]
fn what_is_cut_is_said_within_the_limit() {
    let rows = vec![json!({"name": "x".repeat(500), "l": [1, 2, [3, 4]]}); 100];
    let Value::Object(mut fields) = json!({"rows": rows, "t": "y".repeat(900)}) else {
        panic!("an object")
    };
    fit_saying_so(&mut fields, 9_000).unwrap();
    assert!(chars(&fields) <= 9_000);
    let rows = fields["rows"].as_array().unwrap().len();
    assert!(rows > 10, "{rows}");
    let said = fields["truncated"].as_array().unwrap();
    assert_eq!(
        said[0],
        json!({"field": "rows", "kept": rows, "total": 100})
    );
    assert_eq!(
        said[1],
        json!({"field": "rows[0].name", "kept": 200, "total": 500})
    );
    assert!(said.len() == 50 || said.len() == rows + 2);
}

proptest! {
    #[test]
    fn nested_lists_fit_as_planned(rows in prop::collection::vec(prop::collection::vec(prop::collection::vec("\\PC{0,260}", 0..4), 0..6), 0..12), limit in 20usize..2000) {
        let value = json!({"rows": rows, "o": {"l": rows.first()}});
        if let Some((value, truncated)) = fitted(value.clone(), limit) {
            prop_assert!(chars(&value) <= limit);
            for cut in truncated {
                let pointer = format!("/{}", cut.field.replace('[', "/").replace(']', "").replace('.', "/"));
                let left = value.pointer(&pointer).unwrap();
                let kept = left.as_str().map_or_else(|| left.as_array().map_or(0, Vec::len), |text| text.chars().count());
                prop_assert_eq!(kept, cut.kept);
            }
        } else {
            prop_assert!(chars(&value) > limit);
        }
    }

    #[test]
    fn what_is_said_to_fit_fits(texts in prop::collection::vec("\\PC{0,600}", 0..12), numbers in prop::collection::vec(any::<u32>(), 0..60), limit in 60usize..3000) {
        let value = json!({"texts": texts, "numbers": numbers, "one": texts.first()});
        if let Some((value, truncated)) = fitted(value.clone(), limit) {
            prop_assert!(chars(&value) <= limit);
            prop_assert!(truncated.iter().all(|cut| cut.kept < cut.total));
        } else {
            prop_assert!(chars(&value) > limit);
        }
    }
}
