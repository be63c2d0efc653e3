//! Which columns of a Parquet file are durations. Parquet has no such type: the columns are integers, or times of a day
//! (fastparquet), and pandas (`pandas`) and Arrow, as polars, pyarrow and R use it (`ARROW:schema`), describe them beside.

use std::collections::{HashMap, HashSet};

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;
use serde_json::Value;

use super::rows::COLUMNS_CAP;

/// Longest description of the columns that is read.
const DESCRIPTION_CAP: usize = 1 << 20;
/// Longest name in Arrow's schema that is read: names may overlap there, and each could be as long as the schema.
const NAME_CAP: usize = 1 << 10;

/// The columns that are durations, each with how many of its units a second has. Arrow's schema says how the integers are
/// stored. Without one, the type of the column does; pandas names the unit in memory, which may be another one.
pub(super) fn durations(file: &dyn FileReader) -> HashMap<String, i64> {
    let described = |key: &str| {
        let entries = file.metadata().file_metadata().key_value_metadata().into_iter().flatten();
        let mut texts = entries.filter(|entry| entry.key == key).filter_map(|entry| entry.value.as_deref());
        texts.next().filter(|text| text.len() <= DESCRIPTION_CAP)
    };
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let names: HashSet<&str> = columns.iter().map(|column| column.name()).collect();
    if let Some(found) = described("ARROW:schema").and_then(|text| arrow_durations(&base64(text), &names)) {
        return found;
    }
    let mut found = described("pandas").map(pandas_durations).unwrap_or_default();
    let times =
        columns.iter().filter_map(|column| Some((column.name().to_owned(), time_units_per_second(column)?)));
    found.extend(times);
    found
}

/// How many of its units a second has, of a column that is a time of a day.
fn time_units_per_second(column: &ColumnDescriptor) -> Option<i64> {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Time(time)), _) => Some(match time.unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        }),
        (_, ConvertedType::TIME_MILLIS) => Some(1_000),
        (_, ConvertedType::TIME_MICROS) => Some(1_000_000),
        _ => None,
    }
}

fn pandas_durations(text: &str) -> HashMap<String, i64> {
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

/// The durations among these columns in a schema of Arrow (`Message.fbs` and `Schema.fbs` of its format); `None` = it cannot
/// be read.
fn arrow_durations(message: &[u8], names: &HashSet<&str>) -> Option<HashMap<String, i64>> {
    // Before the message stand its length and, since version 0.15, a mark.
    let head = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let buffer = FlatBuffer(message.get(head..)?);
    let fields = buffer.schema_fields()?;
    let count = buffer.offset(fields)?.min(COLUMNS_CAP);
    let duration = |index: usize| {
        let (name, per_second) = buffer.duration(buffer.target(fields + 4 + 4 * index)?)?;
        names.contains(name).then(|| (name.to_owned(), per_second))
    };
    Some((0..count).filter_map(duration).collect())
}

/// Tables that name their fields by the places in a list before them (`FlatBuffers`).
struct FlatBuffer<'a>(&'a [u8]);

impl FlatBuffer<'_> {
    fn bytes<const N: usize>(&self, position: usize) -> Option<[u8; N]> {
        self.0.get(position..position.checked_add(N)?)?.try_into().ok()
    }

    fn short(&self, position: usize) -> Option<usize> {
        self.bytes(position).map(u16::from_le_bytes).map(usize::from)
    }

    fn offset(&self, position: usize) -> Option<usize> {
        self.bytes(position).map(u32::from_le_bytes).and_then(|offset| usize::try_from(offset).ok())
    }

    /// Where it goes from here.
    fn target(&self, position: usize) -> Option<usize> {
        position.checked_add(self.offset(position)?)
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
    fn duration(&self, field: usize) -> Option<(&str, i64)> {
        const DURATION: u8 = 18;
        let [kind] = self.bytes(self.field(field, 2)?)?;
        if kind != DURATION {
            return None;
        }
        let unit = match self.field(self.target(self.field(field, 3)?)?, 0) {
            Some(index) => self.short(index)?,
            None => 1,
        };
        let per_second = *[1, 1_000, 1_000_000, 1_000_000_000].get(unit)?;
        let name = self.target(self.field(field, 0)?)?;
        let (start, length) = (name.checked_add(4)?, self.offset(name)?);
        if length > NAME_CAP {
            return None;
        }
        let name = self.0.get(start..start.checked_add(length)?)?;
        Some((std::str::from_utf8(name).ok()?, per_second))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::SerializedFileReader;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;

    /// What pyarrow wrote of the columns of `pyarrow-durations.parquet`.
    fn described_by_pyarrow() -> String {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/table-types/pyarrow-durations.parquet"
        );
        let file = SerializedFileReader::new(Bytes::from(std::fs::read(path).unwrap())).unwrap();
        let entries = file.metadata().file_metadata().key_value_metadata().unwrap();
        let entry = entries.iter().find(|entry| entry.key == "ARROW:schema").unwrap();
        entry.value.clone().unwrap()
    }

    fn expected(durations: &[(&str, i64)]) -> HashMap<String, i64> {
        durations.iter().map(|(name, per_second)| ((*name).to_owned(), *per_second)).collect()
    }

    /// The durations of a file of these columns that is described so.
    fn found(columns: &str, described: &[(&str, &str)]) -> HashMap<String, i64> {
        let schema = parse_message_type(&format!("message t {{ {columns} }}")).unwrap();
        let entry = |(key, value): &(&str, &str)| KeyValue::new((*key).to_owned(), (*value).to_owned());
        let entries: Vec<KeyValue> = described.iter().map(entry).collect();
        let properties = WriterProperties::builder().set_key_value_metadata(Some(entries)).build();
        let writer = SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).unwrap();
        let file = SerializedFileReader::new(Bytes::from(writer.into_inner().unwrap())).unwrap();
        durations(&file)
    }

    #[test]
    fn pandas_does_not_override_how_durations_are_stored() {
        let pandas = r#"{"columns": [
            {"field_name": "agent_seconds", "numpy_type": "timedelta64[ns]"},
            {"field_name": "waited", "numpy_type": "timedelta64[ns]"}
        ]}"#;
        let arrow = described_by_pyarrow();
        let integers = "optional int64 agent_seconds; optional int64 waited;";
        // As fastparquet writes them.
        let times = "optional int64 agent_seconds (TIME_MICROS); optional int32 waited (TIME_MILLIS);";
        let logical =
            "optional int64 agent_seconds (TIME(MICROS,true)); optional int64 waited (TIME(NANOS,false));";
        let (micros, nanos) = (("agent_seconds", 1_000_000), ("waited", 1_000_000_000));
        assert_eq!(found(times, &[("pandas", pandas)]), expected(&[micros, ("waited", 1_000)]));
        assert_eq!(found(logical, &[("pandas", pandas)]), expected(&[micros, nanos]));
        assert_eq!(
            found(integers, &[("pandas", pandas)]),
            expected(&[("agent_seconds", 1_000_000_000), nanos])
        );
        assert_eq!(
            found(integers, &[("pandas", pandas), ("ARROW:schema", &arrow)]),
            expected(&[("agent_seconds", 1_000), nanos])
        );
        assert_eq!(
            found(integers, &[("pandas", pandas), ("ARROW:schema", "no base64")]),
            expected(&[("agent_seconds", 1_000_000_000), nanos])
        );
    }

    #[test]
    fn nothing_is_read_beyond_a_schema_that_is_cut_or_damaged() {
        let whole = base64(&described_by_pyarrow());
        let names = HashSet::from(["agent_seconds", "test_seconds", "waited"]);
        let durations = [("agent_seconds", 1_000), ("test_seconds", 1), ("waited", 1_000_000_000)];
        assert_eq!(arrow_durations(&whole, &names), Some(expected(&durations)));
        for end in 0..whole.len() {
            arrow_durations(&whole[..end], &names);
        }
        for index in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[index] ^= 0xff;
            arrow_durations(&damaged, &names);
        }
        assert_eq!(arrow_durations(&base64("no base64"), &names), None);
    }

    /// A message with a schema of three durations in nanoseconds, which have one name between them.
    fn schema_of(name: &str) -> Vec<u8> {
        const COUNT: u32 = 3;
        let field = 60 + 4 * COUNT;
        // The way to the message; the places of four fields, which all tables share.
        let pair = |low: u32, high: u32| low + (high << 16);
        let mut words = vec![16, pair(12, 20), pair(4, 8), pair(12, 16)];
        // The message with its schema, the schema with its fields.
        words.extend([12, 0, 0, 8, 0]);
        words.extend([32, 0, 12, 0, 0]);
        words.push(COUNT);
        words.extend((0..COUNT).map(|index| field - (60 + 4 * index)));
        // A field with its name, kind and type; the type with its unit; the name.
        words.extend([field - 4, 36, 0, 18, 4]);
        words.extend([field + 16, 3, 0, 0, 0]);
        words.push(u32::try_from(name.len()).unwrap());
        let mut message = vec![0; 4];
        message.extend(words.into_iter().flat_map(u32::to_le_bytes));
        message.extend(name.bytes());
        message
    }

    #[test]
    fn only_names_of_columns_are_kept_and_none_that_is_long() {
        let long = "x".repeat(NAME_CAP + 1);
        let names = HashSet::from(["waited", long.as_str()]);
        assert_eq!(
            arrow_durations(&schema_of("waited"), &names),
            Some(expected(&[("waited", 1_000_000_000)]))
        );
        assert_eq!(arrow_durations(&schema_of("other"), &names), Some(HashMap::new()));
        assert_eq!(arrow_durations(&schema_of(&long), &names), Some(HashMap::new()));
    }
}
