//! A suite from JSON, its short forms written out again: see `written.rs`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::shorthand::Shorthand;
use super::written::{CASES, END};
use super::{Aspect, Assertion, Builder, Case, Make, Mark, Reset, SUITE_VERSION, Send, Step, Suite};

/// What all short forms of a suite and the cases of earlier files may weigh when they are written out, in bytes: some thirty
/// times what those of a large suite do. A hostile one could make gigabytes of a large builder or case.
const ROOM: usize = 256 << 20;
/// What a case of an earlier file may weigh, for each byte of its line.
const TAKEN_AS: usize = 8;
/// What a value or key weighs beside its text.
const NODE: usize = 32;

/// The most cases of a suite: some hundred times what a large one has. A few lines could refer to a case without end.
const CASES_AT_MOST: usize = 200_000;

/// What comes before the cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: String,
    scenario: u32,
    turn: u32,
    reset: Reset,
    builders: Vec<Builder>,
    cases: [(); 0],
}

/// The file of a turn, its cases not yet read.
#[derive(Debug)]
pub(crate) struct SuiteFile<'t> {
    head: Head,
    entries: Vec<Entry<'t>>,
}

/// A line under `cases`.
#[derive(Debug)]
enum Entry<'t> {
    /// A case.
    Written(&'t [u8]),
    /// Cases that the file of an earlier turn writes.
    Run { turn: u32, from: usize, count: usize, mark: Mark },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    id: String,
    title: String,
    aspect: Aspect,
    #[serde(default = "kept")]
    mark: Mark,
    says: Vec<String>,
    steps: Vec<Value>,
}

fn kept() -> Mark {
    Mark::Kept
}

/// What is at the end of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct More {
    query: Vec<(String, String)>,
    #[serde(deserialize_with = "present")]
    body: Option<Value>,
    like: Option<String>,
    with: Map<String, Value>,
    without: Vec<String>,
    expect: Vec<Value>,
    #[serde(rename = "as")]
    keep: Option<String>,
}

/// A body that is null is a body.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl<'t> SuiteFile<'t> {
    /// Reads all but the cases.
    ///
    /// Errors, as sentences: it is no JSON; it is of another version; the lines are not those of a suite.
    pub(crate) fn read(text: &'t [u8]) -> Result<Self, String> {
        let (head, lines) = split(text)?;
        let head: Head = serde_json::from_slice(&head).map_err(|error| error.to_string())?;
        if head.version != SUITE_VERSION {
            return Err(format!("Its version is not {SUITE_VERSION}"));
        }
        let entry = |(index, line): (usize, &'t [u8])| {
            if line.first() != Some(&b'[') {
                return Ok(Entry::Written(line));
            }
            match serde_json::from_slice(line) {
                Ok((turn, from, count, mark)) => Ok(Entry::Run { turn, from, count, mark }),
                Err(_) => serde_json::from_slice(line)
                    .map(|(turn, from, count)| Entry::Run { turn, from, count, mark: Mark::Kept })
                    .map_err(|error| format!("entry {} of its cases: {error}", index + 1)),
            }
        };
        let entries = lines.enumerate().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { head, entries })
    }

    /// The turn that it says to be of.
    pub(crate) fn turn(&self) -> u32 {
        self.head.turn
    }

    /// The turns whose files write cases of this suite.
    pub(crate) fn refers_to(&self) -> BTreeSet<u32> {
        let runs = self.entries.iter().filter_map(|entry| match entry {
            Entry::Run { turn, .. } => Some(*turn),
            Entry::Written(_) => None,
        });
        runs.collect()
    }

    /// The suite. `earlier` are the files of the turns that it refers to.
    ///
    /// Errors, as sentences: what it refers to is not there; a case is none.
    pub(crate) fn suite(self, earlier: &BTreeMap<u32, Vec<u8>>) -> Result<Suite, String> {
        let Self { head: Head { version, scenario, turn, reset, builders, cases: [] }, entries } = self;
        let mut others: BTreeMap<u32, Vec<&[u8]>> = BTreeMap::new();
        for (&turn, text) in earlier {
            let (_, lines) = split(text).map_err(|what| format!("the file of turn {turn}: {what}"))?;
            others.insert(turn, lines.filter(|line| line.first() != Some(&b'[')).collect());
        }
        let mut reader = Reader { short: Shorthand::new(&builders), room: ROOM };
        let mut cases = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry {
                Entry::Written(line) => cases.push(reader.line(line)?),
                Entry::Run { turn: other, from, count, mark } => {
                    let lines = others.get(&other).filter(|_| other < turn);
                    let lines = lines.and_then(|lines| lines.get(from..from.checked_add(count)?));
                    let lines = lines.ok_or_else(|| {
                        format!("the file of turn {other} does not write {count} cases from its case {from}")
                    })?;
                    if cases.len() + lines.len() > CASES_AT_MOST {
                        return Err(format!("it has more than {CASES_AT_MOST} cases"));
                    }
                    for line in lines {
                        // A few short lists could name a long case again and again.
                        reader.take(line.len() * TAKEN_AS)?;
                        cases.push(Case { mark, ..reader.line(line)? });
                    }
                }
            }
        }
        Ok(Suite { version, scenario, turn, reset, builders, cases })
    }
}

impl Suite {
    /// A suite from a file that needs no other, as [`Suite::to_json`] writes it.
    ///
    /// Errors, as sentences: it is none, or refers to files of other turns.
    pub fn from_json(text: &[u8]) -> Result<Self, String> {
        SuiteFile::read(text)?.suite(&BTreeMap::new())
    }
}

/// A file as JSON without its cases, and the lines of these.
fn split(text: &[u8]) -> Result<(Vec<u8>, impl Iterator<Item = &[u8]>), String> {
    let at =
        find(text, CASES).ok_or("The file is no suite or cut short: no line begins with `\"cases\":[`")?;
    let lines = text[at + CASES.len()..]
        .strip_suffix(END)
        .ok_or("The file is cut short: its last line is not `]}`")?;
    let head = [&text[..at + CASES.len()], b"]}"].concat();
    // The first line is what follows the bracket: nothing.
    let lines = lines.split(|byte| *byte == b'\n').skip(1);
    Ok((head, lines.map(|line| line.strip_suffix(b",").unwrap_or(line))))
}

/// Where a text begins in another.
fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|here| here == what)
}

struct Reader<'a> {
    short: Shorthand<'a>,
    room: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &[u8]) -> Result<Case, String> {
        self.case(serde_json::from_slice(line).map_err(|error| error.to_string())?)
    }

    fn case(&mut self, case: WrittenCase) -> Result<Case, String> {
        let WrittenCase { id, title, aspect, mark, says, steps } = case;
        let subject = id.split('.').next().unwrap_or_default();
        let mut clauses = Vec::with_capacity(says.len());
        for clause in says {
            if clause.starts_with('.') {
                self.take(subject.len())?;
                clauses.push(format!("{subject}{clause}"));
            } else {
                clauses.push(clause);
            }
        }
        let mut full = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            full.push(self.step(step).map_err(|what| format!("step {} of {id}: {what}", index + 1))?);
        }
        Ok(Case { id, title, aspect, mark, says: clauses, steps: full })
    }

    fn step(&mut self, step: Value) -> Result<Step, String> {
        let parts = match step {
            Value::String(name) => return self.make(name, Map::new()),
            Value::Array(parts) => parts,
            full => return read(full),
        };
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Value::String(name)), Some(Value::Object(with)), None, ..) => self.make(name, with),
            (Some(method), Some(Value::String(path)), Some(status), more, None) => {
                let send = Send {
                    method: read(method)?,
                    path: self.path(path)?,
                    query: Vec::new(),
                    body: None,
                    status: read(status)?,
                    expect: Vec::new(),
                    keep: None,
                };
                match more {
                    None => Ok(Step::Send(send)),
                    Some(more) => self.more(send, read(more)?),
                }
            }
            _ => Err("this list is no step".to_owned()),
        }
    }

    fn make(&mut self, name: String, with: Map<String, Value>) -> Result<Step, String> {
        let (builder, nth) = self.record(&name)?;
        self.take(builder.entity.len())?;
        let nth = u32::try_from(nth).map_err(|error| error.to_string())?;
        Ok(Step::Make(Make { make: builder.entity.clone(), nth, keep: name, with }))
    }

    /// The builder of a record, and which body it is made with, from 1.
    fn record(&self, name: &str) -> Result<(&'a Builder, usize), String> {
        match self.short.record(name) {
            Some((builder, number)) if !builder.bodies.is_empty() => {
                Ok((builder, 1 + (number - 1) % builder.bodies.len()))
            }
            _ => Err(format!("the suite does not say how {name} is made")),
        }
    }

    fn path(&mut self, path: String) -> Result<String, String> {
        if path.starts_with('/') {
            return Ok(path);
        }
        let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let full = match self.short.builder(name) {
            Some(builder) => format!("{}{rest}", builder.path),
            None => format!("{}/{{{name}.id}}{rest}", self.record(name)?.0.path),
        };
        self.take(full.len())?;
        Ok(full)
    }

    fn more(&mut self, mut send: Send, more: More) -> Result<Step, String> {
        let More { query, body, like, with, without, expect, keep } = more;
        send.body = match (body, like) {
            (body, None) if with.is_empty() && without.is_empty() => body,
            (None, Some(name)) => Some(self.like(&name, with, &without)?),
            _ => return Err("it has a body, or one that is like that of a record".to_owned()),
        };
        send.query = query;
        send.keep = keep;
        send.expect = expect.into_iter().map(assertion).collect::<Result<_, _>>()?;
        Ok(Step::Send(send))
    }

    fn like(&mut self, name: &str, with: Map<String, Value>, without: &[String]) -> Result<Value, String> {
        let (builder, nth) = self.record(name)?;
        let Some(Value::Object(body)) = builder.bodies.get(nth - 1) else {
            return Err(format!("the body of {name} is no object"));
        };
        let mut full = Map::with_capacity(body.len() + with.len());
        for (key, value) in body.iter().filter(|(key, _)| !without.contains(key)) {
            if !with.contains_key(key) {
                self.take(weight(value))?;
            }
            self.take(NODE + key.len())?;
            full.insert(key.clone(), value.clone());
        }
        // What has another value keeps its place.
        full.extend(with);
        Ok(Value::Object(full))
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        match self.room.checked_sub(bytes) {
            Some(left) => self.room = left,
            None => return Err("written out in full it is too large".to_owned()),
        }
        Ok(())
    }
}

fn assertion(written: Value) -> Result<Assertion, String> {
    let Value::Array(parts) = written else { return read(written) };
    let wrong = || "this list is no assertion".to_owned();
    let mut parts = parts.into_iter();
    let (Some(Value::String(kind)), Some(Value::String(at))) = (parts.next(), parts.next()) else {
        return Err(wrong());
    };
    Ok(match (kind.as_str(), (parts.next(), parts.next(), parts.next())) {
        ("equal", (Some(value), None, _)) => Assertion::Equal { at, value },
        ("has", (Some(Value::Object(value)), None, _)) => Assertion::Has { at, value },
        ("absent", (None, ..)) => Assertion::Absent { at },
        ("text", (None, ..)) => Assertion::Text { at },
        ("id", (None, ..)) => Assertion::Id { at },
        ("column", (Some(Value::String(key)), Some(Value::Array(values)), None)) => {
            Assertion::Column { at, key, values }
        }
        ("rows", (Some(rows), None, _)) => Assertion::Rows { at, rows: read(rows)? },
        _ => return Err(wrong()),
    })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn weight(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| NODE + key.len() + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!((case.mark, case.says.join(" ")), (Mark::Kept, "orders.x reset".to_owned()));
        let full = json!([
            {"make": "orders", "nth": 2, "as": "orders_4"},
            {"method": "GET", "path": "/orders", "status": 200},
            {"method": "PUT", "path": "/orders/{orders_2.id}/x", "body": {"a": 1, "b": null}, "status": 200},
            {"method": "POST", "path": "/other", "body": null, "status": 201, "as": "n"},
        ]);
        let same = read_steps(&json!({"a": 1, "c": 3}), &full).expect("it can be read");
        // The full form of a body that is null is that of none.
        assert_eq!(case.steps[..3], same.cases[0].steps[..3]);
        assert!(matches!(&case.steps[3], Step::Send(send) if send.body == Some(Value::Null)));
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for (step, what) in [
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
            assert!(error.contains(what) && error.contains("step 1 of orders.x"), "{error}");
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
        let case = |id: &str| json!({"id": id, "title": "", "aspect": "route", "mark": "new", "says": [], "steps": []});
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
        for (entry, what) in [
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
            assert!(error.contains(what), "{error}");
        }
        let many = vec![json!([2, 0, 2]); CASES_AT_MOST / 2 + 1];
        assert!(read_entries(&many).expect_err("it is too large").contains("more than"));
    }

    #[test]
    fn a_long_case_cannot_be_taken_without_end() {
        let head = format!(
            "{{\"version\":\"{SUITE_VERSION}\",\"scenario\":0,\"turn\":1,\"reset\":{{\"method\":\"POST\",\"path\":\"/reset\"}},\"builders\":[]"
        );
        let case =
            json!({"id": "a", "title": "x".repeat(1 << 20), "aspect": "route", "says": [], "steps": []});
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
}
