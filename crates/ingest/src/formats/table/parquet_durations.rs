//! Which columns of a Parquet file are durations. Parquet has no such type: the columns are integers, and pandas (`pandas`)
//! and Arrow, as polars, pyarrow and R use it (`ARROW:schema`), describe them beside.

use std::collections::HashMap;

use parquet::file::reader::FileReader;
use serde_json::Value;

use super::rows::COLUMNS_CAP;

/// Longest description of the columns that is read.
const DESCRIPTION_CAP: usize = 1 << 20;

/// The columns that are durations, each with how many of its units a second has.
pub(super) fn durations(file: &dyn FileReader) -> HashMap<String, i64> {
    let described = |key: &str| {
        let entries = file.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let mut texts = entries.filter(|entry| entry.key == key).filter_map(|entry| entry.value.as_deref());
        texts.next().filter(|text| text.len() <= DESCRIPTION_CAP)
    };
    let mut found = described("ARROW:schema").map(|text| of_arrow(&base64(text))).unwrap_or_default();
    found.extend(described("pandas").map(of_pandas).unwrap_or_default());
    found
}

fn of_pandas(text: &str) -> HashMap<String, i64> {
    let described = serde_json::from_str::<Value>(text).unwrap_or_default();
    let columns = described.get("columns").and_then(Value::as_array).into_iter().flatten();
    let duration = |column: &Value| {
        let text = |name: &str| column.get(name).and_then(Value::as_str);
        let per_second = match text("numpy_type")? {
            "timedelta64[s]" => 1,
            "timedelta64[ms]" => 1_000,
            "timedelta64[us]" => 1_000_000,
            "timedelta64[ns]" => 1_000_000_000,
            _ => return None,
        };
        Some((text("field_name")?.to_owned(), per_second))
    };
    columns.filter_map(duration).collect()
}

/// The bytes of a text, up to the first letter that has none.
fn base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

/// The durations of a schema in a message of Arrow (`Message.fbs` and `Schema.fbs` of its format).
fn of_arrow(message: &[u8]) -> HashMap<String, i64> {
    // Before the message stand its length and, since version 0.15, a mark.
    let head = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let buffer = FlatBuffer(message.get(head..).unwrap_or_default());
    let Some(fields) = buffer.schema_fields() else { return HashMap::new() };
    let count = buffer.offset(fields).unwrap_or(0).min(COLUMNS_CAP);
    (0..count).filter_map(|at| buffer.duration(buffer.target(fields + 4 + 4 * at)?)).collect()
}

/// Tables that name their fields by the places in a list before them (`FlatBuffers`).
struct FlatBuffer<'a>(&'a [u8]);

impl FlatBuffer<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn short(&self, at: usize) -> Option<usize> {
        self.bytes(at).map(u16::from_le_bytes).map(usize::from)
    }

    fn offset(&self, at: usize) -> Option<usize> {
        self.bytes(at).map(u32::from_le_bytes).and_then(|offset| usize::try_from(offset).ok())
    }

    /// Where it goes from here.
    fn target(&self, at: usize) -> Option<usize> {
        at.checked_add(self.offset(at)?)
    }

    /// Where a table has its field of this number; `None` = it has none, which is the default.
    fn field(&self, table: usize, number: usize) -> Option<usize> {
        let back = isize::try_from(i32::from_le_bytes(self.bytes(table)?)).ok()?;
        let places = table.checked_add_signed(back.checked_neg()?)?;
        let slot = 4 + 2 * number;
        if slot + 2 > self.short(places)? {
            return None;
        }
        let place = self.short(places.checked_add(slot)?)?;
        (place > 0).then_some(table + place)
    }

    /// Where the fields of the schema of a message stand: how many there are, then each.
    fn schema_fields(&self) -> Option<usize> {
        let schema = self.target(self.field(self.target(0)?, 2)?)?;
        self.target(self.field(schema, 1)?)
    }

    /// The name of a field of a schema and how many of its units a second has, if it is a duration.
    fn duration(&self, field: usize) -> Option<(String, i64)> {
        const DURATION: u8 = 18;
        let [kind] = self.bytes(self.field(field, 2)?)?;
        if kind != DURATION {
            return None;
        }
        let unit = match self.field(self.target(self.field(field, 3)?)?, 0) {
            Some(at) => self.short(at)?,
            None => 1,
        };
        let per_second = *[1, 1_000, 1_000_000, 1_000_000_000].get(unit)?;
        let name = self.target(self.field(field, 0)?)?;
        let begin = name.checked_add(4)?;
        let name = self.0.get(begin..begin.checked_add(self.offset(name)?)?)?;
        Some((std::str::from_utf8(name).ok()?.to_owned(), per_second))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::reader::SerializedFileReader;

    use super::*;

    /// The schema that pyarrow wrote into `pyarrow-durations.parquet`.
    fn schema() -> Vec<u8> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/table-types/pyarrow-durations.parquet"
        );
        let file = SerializedFileReader::new(Bytes::from(std::fs::read(path).unwrap())).unwrap();
        let entries = file.metadata().file_metadata().key_value_metadata().unwrap();
        let entry = entries.iter().find(|entry| entry.key == "ARROW:schema").unwrap();
        base64(entry.value.as_deref().unwrap())
    }

    #[test]
    fn nothing_is_read_beyond_a_schema_that_is_cut_or_damaged() {
        let whole = schema();
        let expected = [("agent_seconds", 1_000), ("test_seconds", 1), ("waited", 1_000_000_000)];
        let expected = expected.map(|(name, per_second)| (name.to_owned(), per_second));
        assert_eq!(of_arrow(&whole), HashMap::from(expected));
        for end in 0..whole.len() {
            of_arrow(&whole[..end]);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            of_arrow(&damaged);
        }
        assert!(of_arrow(&base64("no base64")).is_empty());
    }
}
