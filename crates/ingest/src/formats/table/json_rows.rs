//! Rows of JSON Lines: an object a line.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use files::{ReadError, Tree, strict_json};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::cell::Cell;
use super::columns::Field;
use super::rows::{COLUMNS_CAP, ROW_CAP, RowError, RowStart, Rows, check_encoding, hash_bytes};

type Source = Box<dyn Read + Send>;

/// Lines by which a file is known as a table, and bytes of them.
const HEADER_LINES: usize = 200;
const HEADER_CAP: u64 = 4 << 20;

/// Rows of JSON Lines.
pub(super) struct JsonRows {
    header: Vec<String>,
    places: HashMap<String, usize>,
    source: BufReader<Source>,
    line: Vec<u8>,
    cells: Vec<JsonCell>,
    start: RowStart,
    /// Where the next line begins.
    next: RowStart,
}

fn object(line: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(line).ok().or_else(|| serde_json::from_slice(&strict_json(line)?).ok())
}

/// A value of a row.
#[derive(Debug, Clone)]
enum JsonCell {
    Plain(Value),
    /// A list or an object that is not empty, as its JSON text.
    Nested(String),
}

impl JsonCell {
    const EMPTY: Self = Self::Plain(Value::Null);

    fn from_value(value: Value) -> Self {
        match &value {
            Value::Array(list) if list.is_empty() => Self::EMPTY,
            Value::Object(object) if object.is_empty() => Self::EMPTY,
            Value::Array(_) | Value::Object(_) => Self::Nested(value.to_string()),
            _ => Self::Plain(value),
        }
    }
}

/// Whether a key is a column of names. An object under it has a column for each of its keys, such as `model.name`.
fn is_of_names(key: &str) -> bool {
    [Field::Run, Field::Harness, Field::Model, Field::Scenario].into_iter().any(|field| {
        let column = field.column();
        column.also.iter().chain([&column.name]).any(|name| name.eq_ignore_ascii_case(key.trim()))
    })
}

/// The column of a key of an object under a column of names.
fn nested_column(column: &str, key: &str) -> String {
    format!("{column}.{key}")
}

fn begins_as_list(head: &[u8]) -> bool {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start().starts_with(b"[")
}

/// Whether the file is one list over several lines: the last of its objects has no comma behind it and looks like a row.
fn begins_a_list_of_lines(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    begins_as_list(first) && serde_json::from_slice::<IgnoredAny>(first).is_err()
}

/// The columns of an object: its keys, and those of objects under keys of names. What stands behind them is passed over.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Keys;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Keys, M::Error> {
                let mut keys = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if !is_of_names(&key) {
                        let IgnoredAny = map.next_value()?;
                        keys.push(key);
                        continue;
                    }
                    match map.next_value::<Value>()? {
                        Value::Object(inner) if !inner.is_empty() => {
                            keys.extend(inner.keys().map(|inner| nested_column(&key, inner)));
                        }
                        _ => keys.push(key),
                    }
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Visit)
    }
}

fn keys(line: &[u8]) -> Vec<String> {
    let strict = serde_json::from_slice::<Keys>(line).ok();
    strict.or_else(|| serde_json::from_slice(&strict_json(line)?).ok()).map_or_else(Vec::new, |keys| keys.0)
}

/// The names of all columns of a file: those of its first lines, then others in the order in which lines begin them. Goes
/// over the whole file, up to a row that is too long.
pub(super) fn columns(tree: &Tree, path: &str) -> Result<Vec<String>, ReadError> {
    let mut rows = JsonRows::open(tree, path)?;
    let mut columns = std::mem::take(&mut rows.header);
    let mut known: HashSet<String> = columns.iter().cloned().collect();
    while let Ok(1..) = rows.read_line() {
        for name in keys(&rows.line) {
            if columns.len() < COLUMNS_CAP && !known.contains(&name) {
                known.insert(name.clone());
                columns.push(name);
            }
        }
    }
    Ok(columns)
}

impl JsonRows {
    /// Opens a file at its first line.
    pub(super) fn open(tree: &Tree, path: &str) -> Result<Self, ReadError> {
        let (head, size) = tree.read_range(path, 0, HEADER_CAP)?;
        if size == 0 {
            return Err(ReadError::Malformed { code: "file.empty", message: "the file is empty".to_owned() });
        }
        check_encoding(&head)?;
        let mut header: Vec<String> = Vec::new();
        let mut places = HashMap::new();
        for line in head.split(|byte| *byte == b'\n').take(HEADER_LINES) {
            for name in keys(line) {
                if header.len() < COLUMNS_CAP && !places.contains_key(&name) {
                    places.insert(name.clone(), header.len());
                    header.push(name);
                }
            }
        }
        if header.is_empty() || begins_a_list_of_lines(&head) {
            let mut message = "no JSON object in its first lines".to_owned();
            if begins_as_list(&head) {
                message.push_str(": it is a JSON list; write one object a line, as jq -c '.[]' does");
            }
            return Err(ReadError::Malformed { code: "json.wrong_type", message });
        }
        let next = RowStart { row: 1, offset: 0 };
        let source = BufReader::with_capacity(128 << 10, tree.open_file(path)?);
        Ok(Self {
            cells: vec![JsonCell::EMPTY; header.len()],
            header,
            places,
            source,
            line: Vec::new(),
            start: next,
            next,
        })
    }

    /// The same with the names of all its columns, of which [`columns`] has those that later lines begin.
    pub(super) fn with_columns(mut self, columns: &[String]) -> Self {
        self.places = columns.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        self.cells = vec![JsonCell::EMPTY; columns.len()];
        self.header = columns.to_vec();
        self
    }

    /// The same from another line on.
    pub(super) fn starting_at(mut self, tree: &Tree, path: &str, start: RowStart) -> Result<Self, ReadError> {
        self.source = BufReader::with_capacity(128 << 10, tree.open_file_at(path, start.offset)?);
        self.next = start;
        Ok(self)
    }

    fn set(&mut self, column: &str, value: Value) {
        if let Some(index) = self.places.get(column) {
            self.cells[*index] = JsonCell::from_value(value);
        }
    }

    fn read_line(&mut self) -> Result<usize, RowError> {
        self.line.clear();
        let read = self.source.by_ref().take(ROW_CAP).read_until(b'\n', &mut self.line)?;
        if read as u64 == ROW_CAP && self.line.last() != Some(&b'\n') {
            let message = format!("a row has more than {} MB", ROW_CAP >> 20);
            return Err(RowError::Rest(ReadError::Malformed { code: "table.row_too_long", message }));
        }
        Ok(read)
    }
}

impl Rows for JsonRows {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        loop {
            let read = match self.read_line() {
                Ok(0) => return None,
                Ok(read) => read,
                Err(error) => return Some(Err(error)),
            };
            self.start = self.next;
            self.next = RowStart { row: self.start.row + 1, offset: self.start.offset + read as u64 };
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let Some(object) = object(&self.line) else {
                return Some(Err(RowError::Row("table.not_json", "is no JSON object".to_owned())));
            };
            self.cells.fill(JsonCell::EMPTY);
            for (name, value) in object {
                if let Value::Object(inner) = &value
                    && is_of_names(&name)
                {
                    for (key, value) in inner {
                        self.set(&nested_column(&name, key), value.clone());
                    }
                }
                self.set(&name, value);
            }
            return Some(Ok(()));
        }
    }

    fn start(&self) -> RowStart {
        self.start
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match self.cells.get(column) {
            Some(JsonCell::Nested(text)) => Cell::Nested(text),
            Some(JsonCell::Plain(Value::Bool(flag))) => Cell::Flag(*flag),
            Some(JsonCell::Plain(Value::String(text))) if !text.trim().is_empty() => Cell::Text(text),
            Some(JsonCell::Plain(Value::Number(number))) => match number.as_i64() {
                Some(whole) => Cell::Integer(whole),
                None => number.as_f64().map_or(Cell::Empty, Cell::Number),
            },
            _ => Cell::Empty,
        }
    }

    fn bytes(&self) -> u64 {
        self.line.len() as u64
    }

    fn stamp(&self, stamp: u64) -> u64 {
        hash_bytes(stamp, &self.line)
    }
}
