//! A record of a session, or its transcript, as JSON: whole, or as far as it goes.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{BufReader, Read as _};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use files::{JsonSink, ReadError, Tree, strict_json, without_cut_number};

use crate::readers::json::{NODE_CAP, Node, NodeSeed};

use super::finals;
use super::lines::LINE_CAP;

/// Bytes of a text that are kept: the figures are computed from whole files.
const TEXT_CAP: usize = 8 << 20;
/// Most values of a record, with its texts: these take at most 64 MB.
const MOST: u64 = NODE_CAP;
/// Most bytes of a file of results.
const FILE_CAP: u64 = 16 << 30;
/// Keys of a record that hold bulk: the files that a project begins with.
const BULK: &[&str] = &["initial_context", "project_files"];
/// The same of `session_data`, which has the conversation a second time.
const BULK_OF_SESSION: &[&str] = &["conversation_history"];
/// Keys of a transcript that a record has too.
const ALSO_IN_RECORD: &[&str] = &["scenario_context", "conversation_history", "agent_statistics"];

/// What could be read of a record.
#[derive(Debug)]
pub(super) struct Record {
    /// Its fields, those before the place where it breaks off. A number that ends there is left out.
    pub(super) node: Node,
    /// Why it is not whole.
    pub(super) broken: Option<ReadError>,
    /// Whether it is no strict JSON (`NaN`, halves of characters).
    pub(super) not_strict: bool,
}

/// Reads a record out of (a piece of) a line.
pub(super) fn parse_record(bytes: &[u8]) -> Record {
    let parse = |bytes: &[u8]| {
        let mut fields = Fields::new();
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let error = fields.take(&mut json).and_then(|()| json.end()).err();
        (Node::Map(fields.entries), error.map(|error| files::json_error(error, Some(bytes))))
    };
    let (node, broken) = parse(bytes);
    if broken.is_none() {
        return Record { node, broken, not_strict: false };
    }
    let strict = strict_json(bytes);
    let (mut node, broken) = match &strict {
        Some(strict) => parse(strict),
        None => (node, broken),
    };
    // A number with which a record breaks off may be the beginning of another one.
    let text = strict.as_deref().unwrap_or(bytes);
    if let Some(known) = without_cut_number(text).filter(|_| broken.is_some()) {
        (node, _) = parse(known);
    }
    Record { node, broken, not_strict: strict.is_some() }
}

/// Reads a transcript. Of sessions that `known` names, whose records have the conversation, only what the record has not.
pub(super) fn read_transcript(tree: &Tree, path: &str, known: &HashSet<String>) -> Record {
    let mut fields = Fields { known: Some(known), ..Fields::new() };
    let broken = tree.read_json_into(path, FILE_CAP, &mut fields).err();
    Record { node: Node::Map(fields.entries), broken, not_strict: false }
}

/// Reads the record that begins at a byte of a file of final results. Nothing before or behind it is read.
///
/// Errors: those of reading.
pub(super) fn read_final_record(tree: &Tree, path: &str, offset: u64) -> Result<Node, ReadError> {
    let mut fields = Fields::new();
    let reader = BufReader::with_capacity(256 << 10, tree.open_file_at(path, offset)?.take(FILE_CAP));
    match fields.take(&mut serde_json::Deserializer::from_reader(reader)) {
        Ok(()) => Ok(Node::Map(fields.entries)),
        // It may be no strict JSON.
        Err(_) => Ok(parse_record(&finals::value_at(tree, path, offset, LINE_CAP)?).node),
    }
}

/// Reads the fields of an object, and keeps those that came before an error.
struct Fields<'a> {
    entries: Vec<(String, Node)>,
    known: Option<&'a HashSet<String>>,
    /// Most values and texts of all fields together, as [`NODE_CAP`] counts them.
    most: u64,
}

impl Fields<'_> {
    const fn new() -> Self {
        Self { entries: Vec::new(), known: None, most: MOST }
    }

    /// Whether the session is one whose record has the conversation.
    fn is_known(&self) -> bool {
        let id = self
            .entries
            .iter()
            .find(|(key, _)| key == "evaluation_info")
            .and_then(|(_, info)| info.get("session_id"));
        self.known.zip(id.and_then(Node::word)).is_some_and(|(known, id)| known.contains(id))
    }
}

impl JsonSink for Fields<'_> {
    fn restart(&mut self) {
        self.entries.clear();
    }

    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(FieldsVisitor(self))
    }
}

struct FieldsVisitor<'a, 'b>(&'a mut Fields<'b>);

impl<'de> Visitor<'de> for FieldsVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let fields = self.0;
        let left = Cell::new(fields.most);
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some(key) = access.next_key::<String>()? {
            if ALSO_IN_RECORD.contains(&key.as_str()) && fields.is_known() {
                access.next_value::<IgnoredAny>()?;
                continue;
            }
            let bulk = if key == "session_data" { BULK_OF_SESSION } else { BULK };
            let value = access.next_value_seed(NodeSeed { free_values: &left, text_cap: TEXT_CAP, bulk })?;
            // Of a name that stands twice the last one counts, as for Python.
            if let Some(index) = places.get(&key) {
                fields.entries[*index].1 = value;
            } else {
                places.insert(key.clone(), fields.entries.len());
                fields.entries.push((key, value));
            }
        }
        Ok(())
    }
}

/// A record of a file of final results: how many-th of its agent's, from 0 on.
pub(super) type TakeFinal<'a> = dyn FnMut(usize, Node) + 'a;

/// Reads the records that a file of final results has of an agent.
///
/// Errors: those of reading; what came before was taken.
pub(super) fn each_final(
    tree: &Tree,
    path: &str,
    agent: &str,
    restart: &mut dyn FnMut(),
    take: &mut TakeFinal<'_>,
) -> Result<(), ReadError> {
    tree.read_json_into(path, FILE_CAP, &mut Finals { agent, restart, take })
}

struct Finals<'a> {
    agent: &'a str,
    restart: &'a mut dyn FnMut(),
    take: &'a mut TakeFinal<'a>,
}

impl JsonSink for Finals<'_> {
    fn restart(&mut self) {
        (self.restart)();
    }

    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(FinalsVisitor { agent: self.agent, level: 0, take: &mut *self.take })
    }
}

/// `detailed_results`, then the agent, then its records.
struct FinalsVisitor<'a, 'b> {
    agent: &'a str,
    level: u8,
    take: &'a mut TakeFinal<'b>,
}

impl<'de> DeserializeSeed<'de> for FinalsVisitor<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FinalsVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("records by agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let wanted = if self.level == 0 { "detailed_results" } else { self.agent };
        while let Some(key) = access.next_key::<String>()? {
            if self.level < 2 && key == wanted {
                let inner = FinalsVisitor { agent: self.agent, level: self.level + 1, take: &mut *self.take };
                access.next_value_seed(inner)?;
            } else {
                access.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        for number in 0.. {
            let left = Cell::new(MOST);
            match seq.next_element_seed(NodeSeed { free_values: &left, text_cap: TEXT_CAP, bulk: BULK })? {
                Some(record) if self.level == 2 => (self.take)(number, record),
                Some(_) => {}
                None => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: An opened folder or zip
    fn the_last_of_two_equal_names_counts_among_many() {
        let many_fields: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect();
        let record = parse_record(format!("{{\"a\":1,{},\"a\":2}}", many_fields.join(",")).as_bytes());
        assert!(record.broken.is_none(), "{:?}", record.broken);
        assert_eq!(record.node.get("a").and_then(Node::count), Some(2));
        assert_eq!(record.node.map().len(), 200_001);
    }

    /// Each field of a record that breaks off is a field of the whole one, with the same value.
    fn check_cuts(whole: &str, cuts: impl Iterator<Item = usize>) {
        let fields = parse_record(whole.as_bytes());
        assert!(fields.broken.is_none(), "{:?}", fields.broken);
        for cut in cuts {
            // A cut-off line may have an end, or zero bytes of the file system behind it.
            for suffix in ["", "\n", "\0\0\0"] {
                let start = [&whole.as_bytes()[..cut], suffix.as_bytes()].concat();
                let record = parse_record(&start);
                assert!(record.broken.is_some(), "cut at {cut} of {whole}");
                for (key, value) in record.node.map() {
                    let is_known = fields.node.map().iter().any(|field| field.0 == *key && field.1 == *value);
                    assert!(is_known, "cut at {cut} with {suffix:?}: {key} is {value:?} in {whole}");
                }
            }
        }
    }

    /// `0.7` of `0.75`, `12` of `1234`, `-1` of `-1e-05` were values of a record that broke off there.
    #[test]
    fn a_number_with_which_a_record_breaks_off_is_unknown() {
        let whole = r#"{"agent_name": "a-1", "lcba_efficiency": 0.75, "total_phases": 1234, "n": -1e-05, "x": 25E+10, "list": [1, 23, {"m": 45}], "off": false, "on": true, "none": null, "text": "cut at 12", "odd": NaN, "minus": -Infinity, "beyond": 184467440737095516160, "half": "\ud83d 5", "t 1": {"u": 6}, "last": 907}"#;
        check_cuts(whole, 0..whole.len());
        let record_up_to =
            |end: &str| parse_record(&whole.as_bytes()[..whole.find(end).unwrap() + end.len()]).node;
        assert_eq!(record_up_to("0.7").get("lcba_efficiency"), None);
        // Behind a comma it is whole, and so is what ends by itself.
        let efficiency = record_up_to("0.75, \"total").get("lcba_efficiency").and_then(Node::number);
        assert_eq!(efficiency, Some(0.75));
        assert_eq!(record_up_to("\"on\": true").get("on"), Some(&Node::Bool(true)));
        assert_eq!(record_up_to("\"on\": tru").get("on"), None);
        assert_eq!(record_up_to("cut at 12\"").get("text").and_then(Node::text), Some("cut at 12"));
    }

    #[test]
    fn a_recorded_session_that_is_cut_in_any_number_has_none_that_the_whole_one_lacks() {
        let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/locobench/recorded");
        let file = "intermediate_agent_results/agent_incremental_results_openai_gpt_4_1.jsonl";
        let text = std::fs::read_to_string(format!("{recorded}/{file}")).unwrap();
        let line = text.lines().next().unwrap();
        let is_cut_number = |cut: &usize| line.as_bytes()[cut - 1].is_ascii_digit();
        check_cuts(line, (1..line.len()).filter(is_cut_number));
    }

    #[test]
    fn a_number_with_which_a_transcript_breaks_off_is_unknown() {
        let whole = r#"{"evaluation_info": {"total_turns": 12}, "total_phases": 1234, "error_rate": 0.75}"#;
        let folder = tempfile::tempdir().unwrap();
        for cut in 1..whole.len() {
            std::fs::write(folder.path().join("t.json"), &whole[..cut]).unwrap();
            let tree = Tree::open(folder.path()).unwrap();
            let record = read_transcript(&tree, "t.json", &HashSet::new());
            assert!(record.broken.is_some(), "cut at {cut}");
            let number = |key: &str| record.node.get(key).and_then(Node::number);
            let phases = Some(1234.0).filter(|_| cut > whole.find(", \"error_rate").unwrap());
            assert_eq!((number("total_phases"), number("error_rate")), (phases, None), "cut at {cut}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]
        #[test]
        fn numbers_of_any_record_that_breaks_off_are_those_of_the_whole_one(
            numbers in proptest::collection::vec((proptest::num::f64::NORMAL, proptest::num::i64::ANY), 1..4),
        ) {
            let field = |(n, (x, y)): (usize, &(f64, i64))| format!("\"x{n}\": {x:?}, \"y{n}\": {y}");
            let fields: Vec<String> = numbers.iter().enumerate().map(field).collect();
            let whole = format!("{{{}}}", fields.join(", "));
            check_cuts(&whole, 0..whole.len());
        }
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn the_texts_of_a_record_are_bounded_together() {
        // As with texts of eight megabytes and the bound of every record, a hundred times smaller.
        assert_eq!(Fields::new().most, MOST);
        let text = "x".repeat(TEXT_CAP / 100);
        let many_fields: Vec<String> = (0..40).map(|n| format!("\"k{n}\":\"{text}\"")).collect();
        let mut fields = Fields { most: MOST / 100, ..Fields::new() };
        let json = format!("{{{}}}", many_fields.join(","));
        let broken = fields.take(&mut serde_json::Deserializer::from_str(&json)).unwrap_err();
        assert!(broken.to_string().contains("MB of texts"), "{broken}");
        // What came before is kept.
        assert!((5..15).contains(&fields.entries.len()), "{}", fields.entries.len());
    }
}
