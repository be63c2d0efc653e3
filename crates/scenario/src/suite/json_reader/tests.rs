use serde_json::json;

use super::*;

/// A suite from a value, by the file that it would be.
fn from_value(mut suite: Value) -> Result<Suite, String> {
    let cases = std::mem::replace(&mut suite["cases"], json!([]));
    let head = suite.to_string();
    let head = head.strip_suffix(",\"cases\":[]}").ok_or("cases stand last")?;
    let lines: Vec<String> = cases.as_array().ok_or("no list")?.iter().map(ToString::to_string).collect();
    Suite::from_json(format!("{head},\n\"cases\":[\n{}\n]}}\n", lines.join(",\n")).as_bytes())
}

fn read_steps(body: &Value, steps: &Value) -> Result<Suite, String> {
    let suite = json!({
        "version": SUITE_VERSION, "scenario": 0, "turn": 1, "reset": {"method": "POST", "path": "/reset"},
        "builders": [{"entity": "orders", "path": "/orders", "status": 201, "bodies": [body, {"a": 2}]}],
        "cases": [{"id": "orders.x", "title": "", "aspect": "route", "says": [".x", "reset"], "steps": steps}],
    });
    from_value(suite)
}

#[test]
fn short_forms_are_written_out() {
    let steps = json!([
        "orders_4",
        ["GET", "orders", 200],
        ["PUT", "orders_2/x", 200, {"like": "orders_1", "with": {"b": null}, "without": ["c"]}],
        ["POST", "/other", 201, {"body": null, "as": "n"}],
    ]);
    let suite = read_steps(&json!({"a": 1, "c": 3}), &steps).expect("it can be read");
    let case = &suite.cases[0];
    assert_eq!((case.mark, case.clauses.join(" ")), (Mark::Kept, "orders.x reset".to_owned()));
    let full = json!([
        {"make": "orders", "nth": 2, "as": "orders_4"},
        {"method": "GET", "path": "/orders", "status": 200},
        {"method": "PUT", "path": "/orders/{orders_2.id}/x", "body": {"a": 1, "b": null}, "status": 200},
        {"method": "POST", "path": "/other", "body": null, "status": 201, "as": "n"},
    ]);
    let same = read_steps(&json!({"a": 1, "c": 3}), &full).expect("it can be read");
    // The full form of a body that is null is that of none.
    assert_eq!(case.steps[..3], same.cases[0].steps[..3]);
    assert!(matches!(&case.steps[3], Step::Request(send) if send.body == Some(Value::Null)));
}

#[test]
fn what_says_nothing_is_refused() {
    for (step, fragment) in [
        (json!("parts_1"), "parts_1"),
        (json!("orders"), "orders"),
        (json!("orders_0"), "orders_0"),
        (json!(["GET", "parts_1", 200]), "parts_1"),
        (json!(["GET", "", 200]), "is made"),
        (json!(["FETCH", "/a", 200]), "FETCH"),
        (json!(["GET", "/a", 200, {}, 1]), "no step"),
        (json!(["GET", "/a"]), "no step"),
        (json!(["GET", "/a", 200, {"where": 1}]), "where"),
        (json!(["GET", "/a", 200, {"with": {"a": 1}}]), "like"),
        (json!(["GET", "/a", 200, {"like": "orders_1", "body": 1}]), "like"),
        (json!(["GET", "/a", 200, {"expect": [["equal", "/a"]]}]), "no assertion"),
        (json!(["GET", "/a", 200, {"expect": [["looks", "/a", 1]]}]), "no assertion"),
    ] {
        let error = read_steps(&json!({"a": 1}), &json!([step])).expect_err("it says nothing");
        assert!(error.contains(fragment) && error.contains("step 1 of orders.x"), "{error}");
    }
}

/// A file of turn 3 with these entries beside one of turn 2 with two cases.
fn read_entries(entries: &[Value]) -> Result<Vec<(String, Mark)>, String> {
    let file = |turn: u32, cases: &[Value]| {
        let lines: Vec<String> = cases.iter().map(ToString::to_string).collect();
        let head = json!({"version": SUITE_VERSION, "scenario": 0, "turn": turn,
            "reset": {"method": "POST", "path": "/reset"}, "builders": []});
        let head = head.to_string();
        format!("{},\n\"cases\":[\n{}\n]}}\n", &head[..head.len() - 1], lines.join(",\n")).into_bytes()
    };
    let case =
        |id: &str| json!({"id": id, "title": "", "aspect": "route", "mark": "new", "says": [], "steps": []});
    let earlier = BTreeMap::from([(2, file(2, &[case("a"), json!([1, 0, 1]), case("b")]))]);
    let now = file(
        3,
        &entries
            .iter()
            .map(|entry| match entry.as_str() {
                Some(id) => case(id),
                None => entry.clone(),
            })
            .collect::<Vec<_>>(),
    );
    let suite = SuiteFile::read(&now)?.suite(&earlier)?;
    Ok(suite.cases.into_iter().map(|case| (case.id, case.mark)).collect())
}

#[test]
fn cases_of_earlier_files_stand_where_they_are_referred_to() {
    let read = read_entries(&[json!([2, 0, 2]), json!("c"), json!([2, 1, 1, "changed"])]);
    let expected = [("a", Mark::Kept), ("b", Mark::Kept), ("c", Mark::New), ("b", Mark::Changed)];
    let expected = expected.map(|(id, mark)| (id.to_owned(), mark)).to_vec();
    assert_eq!(read, Ok(expected));
}

#[test]
fn a_reference_to_what_is_not_there_is_refused() {
    for (entry, fragment) in [
        (json!([2, 1, 2]), "does not write 2 cases from its case 1"),
        (json!([2, 9, 1]), "turn 2"),
        (json!([2, usize::MAX, 2]), "turn 2"),
        (json!([1, 0, 1]), "turn 1"),
        // No case refers to itself or to what comes later.
        (json!([3, 0, 1]), "turn 3"),
        (json!([2, 0]), "entry 1"),
        (json!([2, -1, 1]), "entry 1"),
        (json!([2, 0, 1, "old"]), "entry 1"),
    ] {
        let error = read_entries(&[entry]).expect_err("nothing is there");
        assert!(error.contains(fragment), "{error}");
    }
    let many = vec![json!([2, 0, 2]); CASES_AT_MOST / 2 + 1];
    assert!(read_entries(&many).expect_err("it is too large").contains("more than"));
}

#[test]
fn a_long_case_cannot_be_taken_without_end() {
    let head = format!(
        "{{\"version\":\"{SUITE_VERSION}\",\"scenario\":0,\"turn\":1,\"reset\":{{\"method\":\"POST\",\"path\":\"/reset\"}},\"builders\":[]"
    );
    let case = json!({"id": "a", "title": "x".repeat(1 << 20), "aspect": "route", "says": [], "steps": []});
    let earlier = BTreeMap::from([(1, format!("{head},\n\"cases\":[\n{case}\n]}}\n").into_bytes())]);
    let head = head.replace("\"turn\":1", "\"turn\":2");
    let now = format!("{head},\n\"cases\":[\n{}\n]}}\n", vec!["[1,0,1]"; 1000].join(",\n"));
    let read = SuiteFile::read(now.as_bytes()).expect("it is a file");
    let error = read.suite(&earlier).expect_err("it is too large");
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn a_small_file_does_not_become_a_large_suite() {
    let body = json!({"a": "x".repeat(1 << 20)});
    let steps = vec![json!(["POST", "orders", 201, {"like": "orders_1"}]); 300];
    let error = read_steps(&body, &json!(steps)).expect_err("it is too large");
    assert!(error.contains("too large"), "{error}");
}

/// A file of a turn with one builder, by what stands in the lists of its bodies and of its cases.
fn file_of(turn: u32, bodies: &str, cases: &str) -> Vec<u8> {
    let builder = format!(r#"{{"entity":"orders","path":"/orders","status":201,"bodies":[{bodies}]}}"#);
    let head = format!(r#"{{"version":"{SUITE_VERSION}","scenario":0,"turn":{turn}"#);
    let reset = r#""reset":{"method":"POST","path":"/reset"}"#;
    format!("{head},{reset},\"builders\":[{builder}],\n\"cases\":[\n{cases}\n]}}\n").into_bytes()
}

#[test]
// docs/security.md: A scenario pack
fn lines_that_hold_nothing_are_counted_and_not_kept() {
    let error = SuiteFile::read(&file_of(1, "{}", &"\n".repeat(1 << 20))).expect_err("it is too large");
    assert_eq!(error, too_many());
    // No file has too many of its own, and all of them together do.
    let lines = "x,\n".repeat(CASES_AT_MOST / 3);
    let earlier = BTreeMap::from([1, 2, 3].map(|turn| (turn, file_of(turn, "{}", &lines))));
    let last = file_of(4, "{}", "[1,0,0],\n[2,0,0],\n[3,0,0]");
    let read = SuiteFile::read(&last).expect("it is a file");
    assert_eq!(read.refers_to().iter().copied().collect::<Vec<_>>(), [1, 2, 3]);
    let error = read.suite(&earlier).expect_err("it is too large");
    assert!(error.contains("turn 3") && error.contains("more than"), "{error}");
}

#[test]
// docs/security.md: A scenario pack
fn what_a_suite_would_become_is_bounded_before_it_is_parsed() {
    let zeros = format!("[{}0]", "0,".repeat(4 << 20));
    let error = SuiteFile::read(&file_of(1, &zeros, "")).expect_err("it is too large");
    assert!(error.contains("too large"), "{error}");
    let case = format!(r#"{{"id":"a","title":"","aspect":"route","says":[],"steps":["orders_1",{zeros}]}}"#);
    let file = file_of(1, "{}", &case);
    let error = SuiteFile::read(&file).expect("it is a file").suite(&BTreeMap::new());
    let error = error.expect_err("it is too large");
    assert!(error.contains("too large"), "{error}");
    // What is short in the file, and long in memory.
    let steps = vec![r#""orders_1""#; 1000].join(",");
    let case = format!(r#"{{"id":"a","title":"","aspect":"route","says":[],"steps":[{steps}]}}"#);
    let cases = vec![case; 1000].join(",\n");
    let file = file_of(1, "{}", &cases);
    let error = SuiteFile::read(&file).expect("it is a file").suite(&BTreeMap::new());
    let error = error.expect_err("it is too large");
    assert!(error.contains("too large"), "{error}");
}
