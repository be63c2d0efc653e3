use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn repaired(json: &[u8]) -> (String, Findings) {
    let findings = Findings::from_reader(json).unwrap();
    let mut out = Vec::new();
    RepairedJson::new(json, &findings).read_to_end(&mut out).unwrap();
    (String::from_utf8_lossy(&out).into_owned(), findings)
}

#[test]
fn each_kind_is_put_right_and_counted() {
    for (json, want, [not_numbers, beyond, halves, repeated]) in [
        (r#"{"a": NaN, "b": [Infinity,-Infinity]}"#, r#"{"a": null, "b": [null,null]}"#, [3, 0, 0, 0]),
        ("NaN", "null", [1, 0, 0, 0]),
        (r#"["NaN", "1e999", "\\ud800"]"#, r#"["NaN", "1e999", "\\ud800"]"#, [0; 4]),
        (
            "[18446744073709551615, -9223372036854775808, -0, 1.5e3]",
            "[18446744073709551615, -9223372036854775808, -0, 1.5e3]",
            [0; 4],
        ),
        ("[18446744073709551616, 1e400,-1e30]", "[null, null,null]", [0, 3, 0, 0]),
        (
            r#"["\ud83d", "\ude00x", "\ud83d\ude00", "\ud83d\ud83d\ude00"]"#,
            r#"["\ufffd", "\ufffdx", "\ud83d\ude00", "\ufffd\ud83d\ude00"]"#,
            [0, 0, 3, 0],
        ),
        (r#"["\ud83d\n", "\ud83da", "\ud83dé"]"#, r#"["\ufffd\n", "\ufffda", "\ufffdé"]"#, [0, 0, 3, 0]),
        (
            r#"{"a": 1, "b": {"c": 1, "c": 2}, "a": [{"a": 3}]}"#,
            r#"{"b": {"c": 2}, "a": [{"a": 3}]}"#,
            [0, 0, 0, 2],
        ),
        (r#"{"a": 1, "\u0061": 2, "a": 3}"#, r#"{"a": 3}"#, [0, 0, 0, 2]),
        (r#"{"a": {"b": NaN, "b": 1}, "a": "x"}"#, r#"{"a": "x"}"#, [1, 0, 0, 2]),
        (
            "[0, -0, 123456789012345678, -999999999999999999]",
            "[0, -0, 123456789012345678, -999999999999999999]",
            [0; 4],
        ),
        // What is no JSON stays what it is.
        ("[007, -, 12-3]", "[007, -, 12-3]", [0; 4]),
        ("[nan, NaN1, +1, 1e]", "[nan, NaN1, +1, 1e]", [0; 4]),
        (r#"{"a": "\u12"#, r#"{"a": "\u12"#, [0; 4]),
        (r#"["\ux"]"#, r#"["\ux"]"#, [0; 4]),
    ] {
        let (out, findings) = repaired(json.as_bytes());
        assert_eq!(out, want, "{json}");
        let found = [findings.not_numbers, findings.beyond, findings.halves, findings.repeated];
        assert_eq!(found, [not_numbers, beyond, halves, repeated], "{json}");
    }
    assert_eq!(repaired(b"[\"\xed\xa0\xbd\xed\xb8\x80\xed\x95\x9c\"]").0, "[\"\\ufffd\\ufffd한\"]");
    let long = format!("[{}, {}]", "9".repeat(5_000), "x".repeat(5_000));
    assert_eq!(repaired(long.as_bytes()).0, format!("[null, {}]", "x".repeat(5_000)));
}

#[test]
fn what_lies_too_deep_is_unknown_and_the_rest_is_read() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let (out, findings) = repaired(format!("{{\"a\": {}, \"b\": 2}}", nested(126)).as_bytes());
    assert_eq!((findings, serde_json::from_str::<Value>(&out).is_ok()), (Findings::default(), true));
    let deep = nested(200).replace('1', r#"{"x": ["]\"\\", "[{"], "y": 1}"#);
    let (out, findings) = repaired(format!("{{\"a\": {deep}, \"b\": 2, \"c\": [[3]]}}").as_bytes());
    let read: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&read["b"], &read["c"], findings.deep), (&2.into(), &serde_json::json!([[3]]), 1));
    assert_eq!(findings.to_string(), "1 value lies more than 127 levels deep (unknown)");
}

#[test]
fn what_was_found_is_a_sentence() {
    let (_, findings) = repaired(br#"{"a": NaN, "a": 1e400, "b": "\ud800\ud800"}"#);
    assert_eq!(
        findings.to_string(),
        "1 value is NaN or infinite (unknown), 1 number is beyond 64 bits (unknown), \
         1 name stands twice in its object (the last one counts), 2 halves of characters are read as “\u{fffd}”"
    );
}

#[test]
fn a_document_without_bounds_takes_no_memory_without_bounds() {
    let names = (0..1_200_000).map(|n| format!("\"{n}\":1,")).collect::<Vec<_>>().concat();
    let (_, findings) = repaired(format!("{{{names}\"0\":2}}").as_bytes());
    assert_eq!(findings.repeated, 0, "beyond the bound nothing is looked for");
    let (out, findings) = repaired(&vec![b'['; 2_000_000]);
    assert_eq!((out.len(), findings.deep), (127 + "null".len(), 1));
    // Nothing is put right behind what no parser takes.
    let junk = io::repeat(0).take(1 << 40);
    assert_eq!(Findings::from_reader(junk).unwrap(), Findings::default());
}

/// JSON as another program may have written it: names of objects are few, so that they come again.
fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (-1e6..1e6).prop_map(|n: f64| n.into()),
        "[a-zä€😀\"\\\\\n]{0,8}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map("[a-d\"\\\\]{0,2}", inner, 0..5).prop_map(
                |map: BTreeMap<String, Value>| map.into_iter().collect::<serde_json::Map<_, _>>().into()
            ),
        ]
    })
}

/// The document with one more member, `x`, in its outermost object, written `odd`; and a name that stands twice.
fn spoiled(document: &Value, odd: &str) -> String {
    format!("{{\"x\": {odd}, \"doc\": 1, \"doc\": {document}}}")
}

proptest! {
    #[test]
    fn the_rest_reads_as_it_did(
        document in document(),
        odd in prop::sample::select(vec!["NaN", "-Infinity", "[Infinity, NaN]", "1e999", "123456789012345678901234567890", "\"\\udead\""]),
        pretty in any::<bool>(),
        line_ends in any::<bool>(),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&document).unwrap() } else { document.to_string() };
        // Between values; in texts line ends are escaped.
        let text = if line_ends { text.replace('\n', "\r\n") } else { text };
        let strict: Value = serde_json::from_str(&text).unwrap();
        let (out, findings) = repaired(spoiled(&document, odd).as_bytes());
        let read: Value = serde_json::from_str(&out).unwrap();
        prop_assert_eq!(&read["doc"], &strict);
        prop_assert_eq!(findings.repeated, 1);
        let expected: Value = match odd {
            "[Infinity, NaN]" => serde_json::json!([null, null]),
            "\"\\udead\"" => "\u{fffd}".into(),
            _ => Value::Null,
        };
        prop_assert_eq!(&read["x"], &expected);
    }

    #[test]
    fn strict_json_passes_as_it_is(document in document()) {
        let text = document.to_string();
        let (out, findings) = repaired(text.as_bytes());
        prop_assert_eq!(out, text);
        prop_assert!(findings.is_empty());
    }

    #[test]
    fn any_bytes_come_to_an_end(
        bytes in prop::collection::vec(
            prop_oneof![prop::sample::select(b"{}[]\",:\\ud8dNaIfi-1e.\xed\xa0".to_vec()), any::<u8>()],
            0..300,
        ),
    ) {
        let (out, _) = repaired(&bytes);
        prop_assert!(out.len() <= 2 * bytes.len() + 8);
        // What was put right once has nothing left to be put right, but for what is no JSON at all.
        if serde_json::from_str::<Value>(&out).is_ok() {
            prop_assert!(repaired(out.as_bytes()).1.is_empty());
        }
    }
}
