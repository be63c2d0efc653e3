//! A suite from JSON, its short forms written out again: see `json_writer.rs`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::json_writer::{CASES, END};
use super::memory_budget::{MemoryBudget, key_weight, weight};
use super::shorthand::Shorthand;
use super::{
    Aspect, Assertion, Builder, Case, Mark, RecordStep, RequestStep, Reset, SUITE_VERSION, Step, Suite,
};

/// The most cases of a suite, lines of a file, and cases that all earlier files write together: some hundred times what a large suite
/// has. Millions of lines could hold nothing, and a few could refer to a case without end.
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

/// The file of a turn, its cases counted and not yet read.
#[derive(Debug)]
pub(crate) struct SuiteFile<'t> {
    head: Head,
    /// The lines under `cases`.
    entries: &'t [u8],
    refers_to: BTreeSet<u32>,
    budget: MemoryBudget,
}

/// A line under `cases`.
#[derive(Debug)]
enum Entry<'t> {
    /// A case.
    Written(&'t [u8]),
    /// Cases that the file of an earlier turn writes.
    Run { turn: u32, from: usize, count: usize, mark: Mark },
}

impl<'t> Entry<'t> {
    /// Errors: it begins as a reference, and is none.
    fn read(line: &'t [u8]) -> Result<Self, String> {
        if line.first() != Some(&b'[') {
            return Ok(Self::Written(line));
        }
        match serde_json::from_slice(line) {
            Ok((turn, from, count, mark)) => Ok(Self::Run { turn, from, count, mark }),
            Err(_) => serde_json::from_slice(line)
                .map(|(turn, from, count)| Self::Run { turn, from, count, mark: Mark::Kept })
                .map_err(|error| error.to_string()),
        }
    }
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
struct RequestRest {
    query: Vec<(String, String)>,
    #[serde(deserialize_with = "some_value")]
    body: Option<Value>,
    like: Option<String>,
    with: Map<String, Value>,
    without: Vec<String>,
    expect: Vec<Value>,
    #[serde(rename = "as")]
    keep: Option<String>,
}

/// A body that is null is a body.
fn some_value<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl<'t> SuiteFile<'t> {
    /// Reads all but the cases.
    ///
    /// Errors, as sentences: it is no JSON; it is of another version; the lines are not those of a suite, or too many.
    pub(crate) fn read(text: &'t [u8]) -> Result<Self, String> {
        let (head, entries) = split(text)?;
        let mut budget = MemoryBudget::new();
        let head: Head = budget.read(&[head, b"]}"].concat())?;
        if head.version != SUITE_VERSION {
            return Err(format!("Its version is not {SUITE_VERSION}"));
        }
        let (mut refers_to, mut cases) = (BTreeSet::new(), 0_usize);
        for (index, line) in lines(entries).enumerate() {
            let entry =
                Entry::read(line).map_err(|reason| format!("entry {} of its cases: {reason}", index + 1))?;
            let count = match entry {
                Entry::Written(_) => 1,
                Entry::Run { turn, count, .. } => {
                    refers_to.insert(turn);
                    count
                }
            };
            cases = cases.saturating_add(count);
            if index >= CASES_AT_MOST || cases > CASES_AT_MOST {
                return Err(too_many());
            }
        }
        Ok(Self { head, entries, refers_to, budget })
    }

    /// The turn that it says to be of.
    pub(crate) fn turn(&self) -> u32 {
        self.head.turn
    }

    /// The turns whose files write cases of this suite.
    pub(crate) fn refers_to(&self) -> &BTreeSet<u32> {
        &self.refers_to
    }

    /// The suite. `earlier` are the files of the turns that it refers to.
    ///
    /// Errors, as sentences: what it refers to is not there; a case is none.
    pub(crate) fn suite(self, earlier: &BTreeMap<u32, Vec<u8>>) -> Result<Suite, String> {
        let Self { head, entries, budget, .. } = self;
        let Head { version, scenario, turn, reset, builders, cases: [] } = head;
        let (mut others, mut written): (BTreeMap<u32, Vec<&[u8]>>, _) = (BTreeMap::new(), 0_usize);
        for (&turn, text) in earlier {
            let file_error = |reason: String| format!("the file of turn {turn}: {reason}");
            let (_, entries) = split(text).map_err(|reason| file_error(reason.to_owned()))?;
            let other = others.entry(turn).or_default();
            for line in lines(entries).filter(|line| line.first() != Some(&b'[')) {
                written += 1;
                if written > CASES_AT_MOST {
                    return Err(file_error(format!(
                        "with those before it, it has more than {CASES_AT_MOST} cases"
                    )));
                }
                other.push(line);
            }
        }
        let mut reader = Reader { short: Shorthand::new(&builders), budget };
        let mut cases = Vec::new();
        for line in lines(entries) {
            match Entry::read(line)? {
                Entry::Written(line) => cases.push(reader.line(line)?),
                Entry::Run { turn: other, from, count, mark } => {
                    let lines = others.get(&other).filter(|_| other < turn);
                    let lines = lines.and_then(|lines| lines.get(from..from.checked_add(count)?));
                    let lines = lines.ok_or_else(|| {
                        format!("the file of turn {other} does not write {count} cases from its case {from}")
                    })?;
                    for line in lines {
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

/// What a file says before its cases, but for the brackets that end it, and the lines of these.
fn split(text: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let start =
        find(text, CASES).ok_or("The file is no suite or cut short: no line begins with `\"cases\":[`")?;
    let (head, entries) = text.split_at(start + CASES.len());
    let entries = entries.strip_suffix(END).ok_or("The file is cut short: its last line is not `]}`")?;
    Ok((head, entries))
}

/// The lines under `cases`.
fn lines(entries: &[u8]) -> impl Iterator<Item = &[u8]> {
    // The first line is what follows the bracket: nothing.
    let lines = entries.split(|byte| *byte == b'\n').skip(1);
    lines.map(|line| line.strip_suffix(b",").unwrap_or(line))
}

fn too_many() -> String {
    format!("It has more than {CASES_AT_MOST} cases")
}

/// Where a text begins in another.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

struct Reader<'a> {
    short: Shorthand<'a>,
    budget: MemoryBudget,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &[u8]) -> Result<Case, String> {
        let case = self.budget.read(line)?;
        self.case(case)
    }

    fn case(&mut self, case: WrittenCase) -> Result<Case, String> {
        let WrittenCase { id, title, aspect, mark, says: stated, steps } = case;
        let subject = id.split('.').next().unwrap_or_default();
        let mut clauses = Vec::with_capacity(stated.len());
        for clause in stated {
            if clause.starts_with('.') {
                self.budget.take(subject.len())?;
                clauses.push(format!("{subject}{clause}"));
            } else {
                clauses.push(clause);
            }
        }
        let mut full = Vec::with_capacity(steps.len());
        for (index, step) in steps.into_iter().enumerate() {
            full.push(self.step(step).map_err(|reason| format!("step {} of {id}: {reason}", index + 1))?);
        }
        Ok(Case { id, title, aspect, mark, clauses, steps: full })
    }

    fn step(&mut self, step: Value) -> Result<Step, String> {
        self.budget.take(size_of::<Step>())?;
        let parts = match step {
            Value::String(name) => return self.make(name, Map::new()),
            Value::Array(parts) => parts,
            full => return read(full),
        };
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Value::String(name)), Some(Value::Object(with)), None, ..) => self.make(name, with),
            (Some(method), Some(Value::String(path)), Some(status), more, None) => {
                let send = RequestStep {
                    method: read(method)?,
                    path: self.path(path)?,
                    query: Vec::new(),
                    body: None,
                    status: read(status)?,
                    expect: Vec::new(),
                    keep: None,
                };
                match more {
                    None => Ok(Step::Request(send)),
                    Some(more) => self.send_with_rest(send, read(more)?),
                }
            }
            _ => Err("this list is no step".to_owned()),
        }
    }

    fn make(&mut self, name: String, values: Map<String, Value>) -> Result<Step, String> {
        let (builder, nth) = self.record(&name)?;
        self.budget.take(builder.entity.len())?;
        let nth = u32::try_from(nth).map_err(|error| error.to_string())?;
        Ok(Step::Record(RecordStep { make: builder.entity.clone(), nth, keep: name, with: values }))
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
        self.budget.take(full.len())?;
        Ok(full)
    }

    fn send_with_rest(&mut self, mut send: RequestStep, more: RequestRest) -> Result<Step, String> {
        let RequestRest { query, body, like, with, without, expect, keep } = more;
        send.body = match (body, like) {
            (body, None) if with.is_empty() && without.is_empty() => body,
            (None, Some(name)) => Some(self.body_like(&name, with, &without)?),
            _ => return Err("it has a body, or one that is like that of a record".to_owned()),
        };
        send.query = query;
        send.keep = keep;
        send.expect = expect.into_iter().map(assertion).collect::<Result<_, _>>()?;
        Ok(Step::Request(send))
    }

    fn body_like(
        &mut self,
        name: &str,
        values: Map<String, Value>,
        without: &[String],
    ) -> Result<Value, String> {
        let (builder, nth) = self.record(name)?;
        let Some(Value::Object(body)) = builder.bodies.get(nth - 1) else {
            return Err(format!("the body of {name} is no object"));
        };
        let mut full = Map::with_capacity(body.len() + values.len());
        for (key, value) in body.iter().filter(|(key, _)| !without.contains(key)) {
            if !values.contains_key(key) {
                self.budget.take(weight(value))?;
            }
            self.budget.take(key_weight(key))?;
            full.insert(key.clone(), value.clone());
        }
        // What has another value keeps its place.
        full.extend(values);
        Ok(Value::Object(full))
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

#[cfg(test)]
mod tests;
