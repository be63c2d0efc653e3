//! A suite as JSON: short, and with a builder and a case per line, so that two turns compare line by line.
//!
//! A step that the [`Shorthand`] says is written as
//!
//! - `"orders_1"`: makes the record with that name;
//! - `["orders_1", {"status": "open"}]`: makes it with other values;
//! - `["POST", "orders_1/cancel", 409, {…}]`: sends a request; in the object stand `query`, `body`, `expect` and `as`. A
//!   body may be `like` that of a record, `with` other values and `without` some keys. An assertion is a list of its kind,
//!   its place and what it takes: `["equal", "/total", 3]`, `["column", "/items", "id", […]]`.
//!
//! Any other step is written in full, as an object. A clause that begins with `.` goes on from the first part of the id of
//! its case. A case without a mark is kept.

use std::io::Write as _;
use std::ops::Range;

use serde::Serialize;

use super::shorthand::{Like, Shorthand};
use super::{Assertion, Case, Mark, Send, Step, Suite};

impl Suite {
    /// The suite as a file.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut file = File::default();
        file.fill(self, |_| None)?;
        Ok(file.text)
    }
}

/// The files of one suite after another: the line of a case is taken from the file before where it is the same.
#[derive(Debug, Default)]
pub(crate) struct SuiteFiles {
    now: File,
    before: File,
}

impl SuiteFiles {
    /// The same text as [`Suite::to_json`] of the next suite. `equals` says for each of its cases where in the suite
    /// before the one stands that it is equal to in everything but the mark, builders considered.
    pub(crate) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> serde_json::Result<&[u8]> {
        std::mem::swap(&mut self.now, &mut self.before);
        let Self { now, before } = self;
        now.fill(suite, |index| {
            let line = before.cases.get((*equals.get(index)?)?)?;
            let (head, tail) = before.text.get(line.place.clone())?.split_at_checked(line.mark)?;
            Some((head, tail.get(mark_text(line.is).len()..)?))
        })?;
        Ok(&self.now.text)
    }
}

#[derive(Debug, Default)]
struct File {
    text: Vec<u8>,
    cases: Vec<Line>,
}

/// The line of a case.
#[derive(Debug)]
struct Line {
    place: Range<usize>,
    /// Where in the line its mark begins.
    mark: usize,
    is: Mark,
}

impl File {
    /// Writes a suite. `known` gives the line of a case where it is there already, before and after its mark.
    fn fill<'k>(
        &mut self,
        suite: &Suite,
        known: impl Fn(usize) -> Option<(&'k [u8], &'k [u8])>,
    ) -> serde_json::Result<()> {
        self.text.clear();
        self.cases.clear();
        self.cases.reserve(suite.cases.len());
        let out = &mut self.text;
        out.extend_from_slice(b"{\"version\":");
        push(out, &suite.version)?;
        write!(out, ",\"scenario\":{},\"turn\":{},\"reset\":", suite.scenario, suite.turn)
            .map_err(serde_json::Error::io)?;
        push(out, &suite.reset)?;
        out.extend_from_slice(b",\n\"builders\":[");
        let between = |index: usize| -> &[u8] { if index == 0 { b"\n" } else { b",\n" } };
        for (index, builder) in suite.builders.iter().enumerate() {
            out.extend_from_slice(between(index));
            push(out, builder)?;
        }
        out.extend_from_slice(b"\n],\n\"cases\":[");
        let short = Shorthand::new(&suite.builders);
        for (index, case) in suite.cases.iter().enumerate() {
            out.extend_from_slice(between(index));
            let begin = out.len();
            let mark = if let Some((head, tail)) = known(index) {
                out.extend_from_slice(head);
                out.extend_from_slice(mark_text(case.mark));
                out.extend_from_slice(tail);
                head.len()
            } else {
                write_case(out, case, &short)? - begin
            };
            self.cases.push(Line { place: begin..out.len(), mark, is: case.mark });
        }
        out.extend_from_slice(b"\n]}\n");
        Ok(())
    }
}

fn mark_text(mark: Mark) -> &'static [u8] {
    match mark {
        Mark::New => b",\"mark\":\"new\"",
        Mark::Changed => b",\"mark\":\"changed\"",
        Mark::Kept => b"",
    }
}

fn push<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    serde_json::to_writer(out, value)
}

/// Writes a case, and says where its mark begins.
fn write_case(out: &mut Vec<u8>, case: &Case, short: &Shorthand<'_>) -> serde_json::Result<usize> {
    out.extend_from_slice(b"{\"id\":");
    push(out, &case.id)?;
    out.extend_from_slice(b",\"title\":");
    push(out, &case.title)?;
    out.extend_from_slice(b",\"aspect\":");
    push(out, &case.aspect)?;
    let mark = out.len();
    out.extend_from_slice(mark_text(case.mark));
    out.extend_from_slice(b",\"says\":[");
    let subject = case.id.split('.').next().unwrap_or_default();
    for (index, clause) in case.says.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let rest = clause.strip_prefix(subject).filter(|rest| !subject.is_empty() && rest.starts_with('.'));
        push(out, rest.unwrap_or(clause))?;
    }
    out.extend_from_slice(b"],\"steps\":[");
    for (index, step) in case.steps.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        match step {
            Step::Make(make) if short.is_plain(make) && make.with.is_empty() => push(out, &make.keep)?,
            Step::Make(make) if short.is_plain(make) => push(out, &(&make.keep, &make.with))?,
            // A path that is none would be read as a name.
            Step::Send(send) if send.path.starts_with('/') => write_send(out, send, short)?,
            step => push(out, step)?,
        }
    }
    out.extend_from_slice(b"]}");
    Ok(mark)
}

fn write_send(out: &mut Vec<u8>, send: &Send, short: &Shorthand<'_>) -> serde_json::Result<()> {
    write!(out, "[\"{}\",", send.method.as_str()).map_err(serde_json::Error::io)?;
    match short.path(&send.path) {
        // Both parts come from a path with nothing in the name that JSON would escape.
        Some(path) if path.rest.is_empty() => push(out, path.name)?,
        Some(path) => push(out, &format!("{}{}", path.name, path.rest))?,
        None => push(out, &send.path)?,
    }
    write!(out, ",{}", send.status).map_err(serde_json::Error::io)?;
    let mut more = More { out, any: false };
    if !send.query.is_empty() {
        push(more.key("query"), &send.query)?;
    }
    match (short.like(send), &send.body) {
        (Some(like), _) => write_like(&mut more, &like)?,
        (None, Some(body)) => push(more.key("body"), body)?,
        (None, None) => {}
    }
    if !send.expect.is_empty() {
        let out = more.key("expect");
        for (index, assertion) in send.expect.iter().enumerate() {
            out.push(if index == 0 { b'[' } else { b',' });
            match assertion {
                Assertion::Equal { at, value } => push(out, &("equal", at, value))?,
                Assertion::Has { at, value } => push(out, &("has", at, value))?,
                Assertion::Absent { at } => push(out, &("absent", at))?,
                Assertion::Text { at } => push(out, &("text", at))?,
                Assertion::Id { at } => push(out, &("id", at))?,
                Assertion::Column { at, key, values } => push(out, &("column", at, key, values))?,
                Assertion::Rows { at, rows } => push(out, &("rows", at, rows))?,
            }
        }
        out.push(b']');
    }
    if let Some(keep) = &send.keep {
        push(more.key("as"), keep)?;
    }
    more.end();
    Ok(())
}

fn write_like(more: &mut More<'_>, like: &Like<'_>) -> serde_json::Result<()> {
    push(more.key("like"), &format!("{}_{}", like.entity, like.nth))?;
    if !like.with.is_empty() {
        let out = more.key("with");
        for (index, (key, value)) in like.with.iter().enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            push(out, key)?;
            out.push(b':');
            push(out, value)?;
        }
        out.push(b'}');
    }
    if !like.without.is_empty() {
        push(more.key("without"), &like.without)?;
    }
    Ok(())
}

/// The object at the end of a request, and the request's end.
struct More<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
}

impl More<'_> {
    /// Where the value of a key is written.
    fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.extend_from_slice(if self.any { b",\"" } else { b",{\"" });
        self.any = true;
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    fn end(self) {
        self.out.extend_from_slice(if self.any { b"}]" } else { b"]" });
    }
}
