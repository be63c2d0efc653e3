//! Where the records of an agent begin in a file of final results, so that one of them is read without those before it.
//!
//! Bytes are scanned and nothing is parsed: the file is read once beside [`super::record::each_final`], which takes the same
//! records in the same order.

use std::io::{BufRead, BufReader, Read};

use files::{ReadError, Tree};

/// Most bytes of a key that is compared: names of agents are shorter.
const KEY_CAP: usize = 64 << 10;
/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// Opens a file to find where the records of an agent begin.
pub(super) fn offsets(tree: &Tree, path: &str, agent: &str) -> Result<Offsets<impl BufRead>, ReadError> {
    let reader = BufReader::with_capacity(BUFFER, tree.open_file(path)?);
    Ok(Offsets::new(reader, agent))
}

/// Where records begin, in bytes from the start of the file, one after the other.
///
/// Records are the elements of the list `detailed_results.AGENT`; a key that stands twice has both lists.
pub(super) struct Offsets<R> {
    reader: R,
    agent: String,
    scan: Scan,
}

impl<R: BufRead> Offsets<R> {
    fn new(reader: R, agent: &str) -> Self {
        Self { reader, agent: agent.to_owned(), scan: Scan::default() }
    }

    /// The place of the next record; `None` = there is none, or the file cannot be read.
    pub(super) fn next_offset(&mut self) -> Option<u64> {
        loop {
            let buffer = self.reader.fill_buf().ok()?;
            if buffer.is_empty() {
                return None;
            }
            let found = buffer.iter().position(|byte| self.scan.take(*byte, &self.agent));
            let used = found.map_or(buffer.len(), |index| index + 1);
            self.reader.consume(used);
            if found.is_some() {
                return Some(self.scan.position - 1);
            }
        }
    }
}

/// Objects on the way to the records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Level {
    /// The document.
    #[default]
    Document,
    /// `detailed_results`.
    Results,
    /// The list of the agent.
    Records,
}

impl Level {
    /// Containers that are open where this is the innermost one.
    const fn depth(self) -> u64 {
        match self {
            Self::Document => 1,
            Self::Results => 2,
            Self::Records => 3,
        }
    }
}

/// What stands between the quotes of a text.
#[derive(Debug, Default, PartialEq, Eq)]
enum Text {
    /// No text.
    #[default]
    Outside,
    /// A text that no key is.
    Any,
    /// A key that is compared, up to [`KEY_CAP`] bytes of it.
    Key(Vec<u8>),
}

/// The state between two bytes of a document.
#[derive(Debug, Default)]
struct Scan {
    /// Bytes so far.
    position: u64,
    text: Text,
    is_escaped: bool,
    /// Containers that are open.
    depth: u64,
    level: Level,
    /// Whether the next text is a key of the object of this level.
    is_key_next: bool,
    /// Whether the key before the value is the one that leads to the records.
    is_wanted_key: bool,
    /// Whether the next value is a record.
    is_record_next: bool,
}

impl Scan {
    /// Takes a byte; whether a record begins with it.
    fn take(&mut self, byte: u8, agent: &str) -> bool {
        self.position += 1;
        if self.text != Text::Outside {
            self.take_inside(byte, agent);
            return false;
        }
        if byte.is_ascii_whitespace() {
            return false;
        }
        let is_value = !matches!(byte, b']' | b'}' | b',' | b':');
        let is_record_start = is_value && std::mem::take(&mut self.is_record_next);
        match byte {
            b'"' if std::mem::take(&mut self.is_key_next) => self.text = Text::Key(Vec::new()),
            b'"' => self.text = Text::Any,
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(),
            b',' if self.depth == self.level.depth() => {
                self.is_record_next = self.level == Level::Records;
                self.is_key_next = self.level != Level::Records;
                self.is_wanted_key = false;
            }
            _ => {}
        }
        is_record_start
    }

    /// Takes a byte of a text.
    fn take_inside(&mut self, byte: u8, agent: &str) {
        let is_end = byte == b'"' && !self.is_escaped;
        self.is_escaped = byte == b'\\' && !self.is_escaped;
        if is_end {
            if let Text::Key(key) = std::mem::take(&mut self.text) {
                let wanted = if self.level == Level::Document { "detailed_results" } else { agent };
                self.is_wanted_key = is_key(key, wanted);
            }
        } else if let Text::Key(key) = &mut self.text
            && key.len() <= KEY_CAP
        {
            key.push(byte);
        }
    }

    fn open(&mut self, byte: u8) {
        self.depth += 1;
        let is_wanted_key = std::mem::take(&mut self.is_wanted_key);
        self.is_key_next = false;
        match (self.level, byte) {
            (Level::Document, b'{') if self.depth == 1 => self.is_key_next = true,
            (Level::Document, b'{') if is_wanted_key => {
                (self.level, self.is_key_next) = (Level::Results, true);
            }
            (Level::Results, b'[') if is_wanted_key => {
                (self.level, self.is_record_next) = (Level::Records, true);
            }
            _ => {}
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        (self.is_key_next, self.is_record_next) = (false, false);
        if self.depth < self.level.depth() {
            self.level = match self.level {
                Level::Records => Level::Results,
                Level::Results | Level::Document => Level::Document,
            };
        }
    }
}

/// Whether a key, as it stands between its quotes, is this one.
fn is_key(key: Vec<u8>, wanted: &str) -> bool {
    if !key.contains(&b'\\') {
        return key == wanted.as_bytes();
    }
    if key.len() > KEY_CAP {
        return false;
    }
    let quoted = [b"\"".to_vec(), key, b"\"".to_vec()].concat();
    serde_json::from_slice::<String>(&quoted).is_ok_and(|key| key == wanted)
}

/// The value that begins at a byte of a file: all of its bytes, or the first `cap` of them.
pub(super) fn value_at(tree: &Tree, path: &str, offset: u64, cap: u64) -> Result<Vec<u8>, ReadError> {
    let reader = BufReader::with_capacity(BUFFER, tree.open_file_at(path, offset)?).take(cap);
    let (mut bytes, mut depth) = (Vec::new(), 0_u64);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in reader.bytes() {
        let byte = byte?;
        bytes.push(byte);
        match byte {
            _ if is_text => {
                is_text = byte != b'"' || is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
            }
            b'"' => is_text = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !is_text {
            break;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::format_trait::Report;
    use crate::formats::locobench::{agent, layout, transcript};

    fn all(json: &[u8], agent: &str) -> Vec<u64> {
        // In small pieces, as a stream may give them.
        let mut offsets = Offsets::new(BufReader::with_capacity(3, json), agent);
        std::iter::from_fn(|| offsets.next_offset()).collect()
    }

    /// The values that begin at the places that are found.
    fn values(json: &str, agent: &str) -> Vec<Value> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f.json"), json).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let value =
            |offset| serde_json::from_slice(&value_at(&tree, "f.json", offset, 1 << 20).unwrap()).unwrap();
        all(json.as_bytes(), agent).into_iter().map(value).collect()
    }

    #[test]
    fn records_begin_where_the_elements_of_the_agents_list_begin() {
        let decoy = r#"{"detailed_results":{"a":[1]},"text":"\"detailed_results\": {\"a\": [","l":[[],{}]}"#;
        let json = format!(
            "\u{feff}{{ \"x\": [\"detailed_results\", {decoy}], \"detailed_results\" : {{\"b\":[{decoy}],\n \"a\": [ {decoy} ,\
             null, \"]\\\\\", 7.5,[{decoy}], {{}} ] , \"c\":{{\"a\":[1]}} }}, \"a\":[2], \"detailed_results\":{{\"\\u0061\":[8]}} }}"
        );
        let decoy: Value = serde_json::from_str(decoy).unwrap();
        // Two numbers and a word have no bytes that end them, so that a value is read to its first byte.
        assert_eq!(all(json.as_bytes(), "a").len(), 7);
        let json = json.replace("null", "{}").replace("7.5", "[5]").replace("[8]", "[{}]");
        assert_eq!(
            values(&json, "a"),
            [decoy.clone(), json!({}), json!("]\\"), json!([5]), json!([decoy]), json!({}), json!({})]
        );
        assert_eq!(values(&json, "b"), [decoy]);
        for nothing in
            ["", "[", "[{\"detailed_results\":{\"a\":[{}]}}]", "{\"detailed_results\":[{\"a\":[1]}]}"]
        {
            assert!(all(nothing.as_bytes(), "a").is_empty(), "{nothing}");
        }
        assert!(values(&json, "z").is_empty());
    }

    proptest! {
        #[test]
        fn as_many_records_are_found_as_are_taken(
            texts in prop::collection::vec("[\"\\\\{}\\[\\],:a\u{e4} \n]{0,12}", 0..6),
            name in "[a-c\"\\\\/~]{1,3}",
            is_pretty in any::<bool>(),
        ) {
            let records: Vec<Value> = texts.iter().map(|text| json!({ text: [text, { "k": text }] })).collect();
            let others = json!([{ "detailed_results": { &name: [1, 2] } }]);
            let document = json!({ &name: others, "detailed_results": { "other": others, &name: records } });
            let json = if is_pretty {
                serde_json::to_string_pretty(&document).unwrap()
            } else {
                document.to_string()
            };
            prop_assert_eq!(values(&json, &name), records);
        }

        #[test]
        // docs/security.md: An opened folder or zip
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(prop::sample::select(b"{}[]\",:\\ a\xff".to_vec()), 0..200)) {
            let found = all(&bytes, "a");
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(found.iter().all(|index| *index < bytes.len() as u64));
        }
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_transcript_out_of_final_results_is_read_without_what_stands_around_it() {
        let record = |number: usize| {
            json!({
                "scenario_id": format!("s{number}"), "session_id": format!("id{number}"),
                "scenario_context": { "conversation_phases": [
                    { "phase_id": "p0", "initial_prompt": "begin" }, { "phase_id": "p1", "initial_prompt": "go on" },
                ] },
                "conversation_history": [
                    { "role": "user", "content": "begin" }, { "role": "assistant", "content": format!("first of {number}") },
                    { "role": "user", "content": "go on" }, { "role": "assistant", "content": format!("second of {number}") },
                ],
                "tool_usage_log": [],
            })
        };
        let records: Vec<Value> = (0..50).map(record).collect();
        let results = serde_json::to_string_pretty(&json!({ "a/b": records })).unwrap();
        let file = format!(
            r#"{{"evaluation_metadata": {{"framework": "LoCoBench-Agent"}}, "agent_summaries": {{"a/b": {{}}}}, "detailed_results": {results}}}"#
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m_agent_evaluation_results_1.json");
        std::fs::write(&path, file).unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        let mut report = Report::default();
        let agents = layout::agents(&tree, "", &mut report);
        let episodes = agent::read(&tree, "a/b", &agents["a/b"], &mut report);
        assert_eq!((episodes.len(), report.warnings.len()), (50, 0), "{:?}", report.warnings);
        let artifact = episodes[30].turns[1].attempts[0].artifacts[0].clone();
        let texts = |artifact: &model::Artifact| -> Vec<String> {
            transcript::read(&tree, artifact).unwrap().steps.into_iter().map(|step| step.text).collect()
        };
        assert_eq!(texts(&artifact), ["go on", "second of 30"]);
        // As libraries of before have it.
        let pointer = artifact.pointer.clone().unwrap();
        let (number, rest) = pointer.split_once('@').unwrap();
        assert_eq!(number, "/detailed_results/a~1b/30");
        let (offset, phase) = rest.split_once('/').unwrap();
        let before = model::Artifact { pointer: Some(format!("{number}/{phase}")), ..artifact.clone() };
        assert_eq!(texts(&before), ["go on", "second of 30"]);
        // The bytes before the record and behind it are not read: the file may be of any size.
        let bytes = std::fs::read(&path).unwrap();
        let start = offset.parse::<usize>().unwrap();
        let length = value_at(&tree, &tree_name(&path), start as u64, u64::MAX).unwrap().len();
        let mut other = vec![b'"'; bytes.len()];
        other[start..start + length].copy_from_slice(&bytes[start..start + length]);
        std::fs::write(&path, &other).unwrap();
        assert_eq!(texts(&artifact), ["go on", "second of 30"]);
        assert!(transcript::read(&tree, &before).is_err(), "nor could the whole file be read any more");
        // NaN is read as in the whole file.
        let with_nan = String::from_utf8(bytes[start..start + length].to_vec()).unwrap();
        let with_nan = with_nan.replacen("\"tool_usage_log\": []", "\"tool_usage_log\": NaN", 1);
        std::fs::write(&path, format!("{}{with_nan}, and more", " ".repeat(start))).unwrap();
        assert_eq!(texts(&artifact), ["go on", "second of 30"]);
        std::fs::write(&path, "{}").unwrap();
        assert!(transcript::read(&tree, &artifact).is_err());
    }

    fn tree_name(path: &std::path::Path) -> String {
        path.file_name().unwrap().to_string_lossy().into_owned()
    }
}
