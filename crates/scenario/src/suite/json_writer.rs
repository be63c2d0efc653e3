//! A suite as JSON: short, and with every builder and entry of the cases on a line of its own, which readers go by.
//!
//! A file writes the cases that no file of an earlier turn has; of the others it says where they stand. `[12,3,38]` is 38 cases
//! of the file of turn 12, one after the other from the fourth that this file writes (counted from 0), all kept;
//! `[12,3,38,"changed"]` the same where they demand something else now, because of what a builder makes. What stands in
//! an earlier file is read with the builders of this one.
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

use serde::Serialize;

use super::shorthand::{Shorthand, SimilarBody};
use super::{Assertion, Case, Mark, RequestStep, Step, Suite};

impl Suite {
    /// The suite as a file that needs no other: every case is written.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut files = SuiteFiles::default();
        files.next(self, &[])?;
        Ok(files.text)
    }
}

/// The files of one suite after another.
#[derive(Debug, Default)]
pub(crate) struct SuiteFiles {
    text: Vec<u8>,
    /// Where each case of the last suite is written.
    cases: Vec<CasePosition>,
}

/// Where a case is written: which of those that the file of a turn writes it is, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CasePosition {
    turn: u32,
    nth: u32,
}

/// Cases that are written one after the other in the file of an earlier turn, and are marked alike.
#[derive(Debug, Clone, Copy)]
struct Run {
    from: CasePosition,
    count: u32,
    mark: Mark,
}

impl SuiteFiles {
    /// The file of the next suite. `equals` says for each of its cases where in the suite before the one stands that it is
    /// equal to in everything but the mark, builders considered; nothing of what is not stated.
    pub(crate) fn next(&mut self, suite: &Suite, equals: &[Option<usize>]) -> serde_json::Result<&[u8]> {
        let before = std::mem::replace(&mut self.cases, Vec::with_capacity(suite.cases.len()));
        self.text.clear();
        let out = &mut self.text;
        out.extend_from_slice(b"{\"version\":");
        push(out, &suite.version)?;
        write!(out, ",\"scenario\":{},\"turn\":{},\"reset\":", suite.scenario, suite.turn)
            .map_err(serde_json::Error::io)?;
        push(out, &suite.reset)?;
        out.extend_from_slice(b",\n\"builders\":[");
        let mut lines = Lines { any: false };
        for builder in &suite.builders {
            push(lines.next(out), builder)?;
        }
        out.extend_from_slice(b"\n],");
        out.extend_from_slice(CASES);
        let short = Shorthand::new(&suite.builders);
        let mut lines = Lines { any: false };
        let (mut run, mut written): (Option<Run>, u32) = (None, 0);
        for (index, case) in suite.cases.iter().enumerate() {
            let equal = equals.get(index).copied().flatten();
            let place = if let Some(&place_before) = equal.and_then(|place| before.get(place)) {
                run = match run {
                    Some(run) if run.is_continued_by(place_before, case.mark) => {
                        Some(Run { count: run.count + 1, ..run })
                    }
                    ended => {
                        write_run(&mut lines, out, ended)?;
                        Some(Run { from: place_before, count: 1, mark: case.mark })
                    }
                };
                place_before
            } else {
                write_run(&mut lines, out, run.take())?;
                write_case(lines.next(out), case, &short)?;
                written += 1;
                CasePosition { turn: suite.turn, nth: written - 1 }
            };
            self.cases.push(place);
        }
        write_run(&mut lines, out, run)?;
        out.extend_from_slice(END);
        Ok(&self.text)
    }
}

impl Run {
    fn is_continued_by(&self, place: CasePosition, mark: Mark) -> bool {
        place.turn == self.from.turn && place.nth == self.from.nth + self.count && mark == self.mark
    }
}

/// What comes before the lines of the cases, and behind them. No line of a builder begins so: a line break in a text is
/// written as `\n`.
pub(super) const CASES: &[u8] = b"\n\"cases\":[";
pub(super) const END: &[u8] = b"\n]}\n";

/// Lines of a list.
struct Lines {
    any: bool,
}

impl Lines {
    /// Where the next one is written.
    fn next<'o>(&mut self, out: &'o mut Vec<u8>) -> &'o mut Vec<u8> {
        out.extend_from_slice(if self.any { b",\n" } else { b"\n" });
        self.any = true;
        out
    }
}

fn write_run(lines: &mut Lines, out: &mut Vec<u8>, run: Option<Run>) -> serde_json::Result<()> {
    let Some(Run { from, count, mark }) = run else { return Ok(()) };
    let out = lines.next(out);
    match mark {
        Mark::Kept => push(out, &(from.turn, from.nth, count)),
        mark => push(out, &(from.turn, from.nth, count, mark)),
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

fn write_case(out: &mut Vec<u8>, case: &Case, short: &Shorthand<'_>) -> serde_json::Result<()> {
    out.extend_from_slice(b"{\"id\":");
    push(out, &case.id)?;
    out.extend_from_slice(b",\"title\":");
    push(out, &case.title)?;
    out.extend_from_slice(b",\"aspect\":");
    push(out, &case.aspect)?;
    out.extend_from_slice(mark_text(case.mark));
    out.extend_from_slice(b",\"says\":[");
    let subject = case.id.split('.').next().unwrap_or_default();
    for (index, clause) in case.clauses.iter().enumerate() {
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
            Step::Record(make) if short.is_plain(make) && make.with.is_empty() => push(out, &make.keep)?,
            Step::Record(make) if short.is_plain(make) => push(out, &(&make.keep, &make.with))?,
            // A path that is none would be read as a name.
            Step::Request(send) if send.path.starts_with('/') => write_send(out, send, short)?,
            step => push(out, step)?,
        }
    }
    out.extend_from_slice(b"]}");
    Ok(())
}

fn write_send(out: &mut Vec<u8>, send: &RequestStep, short: &Shorthand<'_>) -> serde_json::Result<()> {
    write!(out, "[\"{}\",", send.method.as_str()).map_err(serde_json::Error::io)?;
    match short.path(&send.path) {
        // Both parts come from a path with nothing in the name that JSON would escape.
        Some(path) if path.rest.is_empty() => push(out, path.name)?,
        Some(path) => push(out, &format!("{}{}", path.name, path.rest))?,
        None => push(out, &send.path)?,
    }
    write!(out, ",{}", send.status).map_err(serde_json::Error::io)?;
    let mut more = RestWriter { out, any: false };
    if !send.query.is_empty() {
        push(more.key("query"), &send.query)?;
    }
    match (short.similar_body(send), &send.body) {
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

fn write_like(more: &mut RestWriter<'_>, like: &SimilarBody<'_>) -> serde_json::Result<()> {
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
struct RestWriter<'o> {
    out: &'o mut Vec<u8>,
    any: bool,
}

impl RestWriter<'_> {
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
