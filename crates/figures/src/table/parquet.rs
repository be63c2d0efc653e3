//! Parquet.

use std::sync::Arc;

use model::thrift::{BYTES, LIST, STOP, STRUCT, ThriftReader};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{Kind, Table, Value};
use crate::SOFTWARE;

/// The key of the spec of a figure in the metadata of the file, as TOML.
pub const PARQUET_SPEC_KEY: &str = "stamina.figure";

/// A table could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the table could not be written as Parquet: {0}")]
pub struct TableError(String);

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> Self {
        Self(error.to_string())
    }
}

pub(super) fn write(table: &Table, spec: Option<&str>) -> Result<Vec<u8>, TableError> {
    let fields = table.columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Integer => (Physical::INT64, None),
            Kind::Number | Kind::P => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    });
    let schema =
        Type::group_type_builder("schema").with_fields(fields.collect::<Result<Vec<_>, _>>()?).build()?;
    let mut metadata = vec![KeyValue::new("stamina.table".to_owned(), table.name.clone())];
    metadata.extend(spec.map(|spec| KeyValue::new(PARQUET_SPEC_KEY.to_owned(), spec.to_owned())));
    let properties = WriterProperties::builder()
        .set_created_by(SOFTWARE.to_owned())
        .set_key_value_metadata(Some(metadata))
        .build();
    let mut out = Vec::new();
    let mut file = SerializedFileWriter::new(&mut out, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for (index, column) in table.columns.iter().enumerate() {
        let Some(mut writer) = group.next_column()? else { break };
        let values = || table.rows.iter().map(|row| row.get(index).and_then(Option::as_ref));
        match column.kind {
            Kind::Text => {
                let (known, levels) = split(values(), |value| match value {
                    Value::Text(text) => Some(ByteArray::from(text.as_str())),
                    _ => None,
                });
                writer.typed::<ByteArrayType>().write_batch(&known, Some(&levels), None)?;
            }
            Kind::Integer => {
                let (known, levels) = split(values(), |value| match value {
                    Value::Integer(number) => Some(*number),
                    _ => None,
                });
                writer.typed::<Int64Type>().write_batch(&known, Some(&levels), None)?;
            }
            Kind::Number | Kind::P => {
                let (known, levels) = split(values(), |value| match value {
                    Value::Number(number) => Some(*number).filter(|n| n.is_finite()),
                    Value::Integer(number) => Some(*number as f64),
                    _ => None,
                });
                writer.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?;
            }
            Kind::Flag => {
                let (known, levels) = split(values(), |value| match value {
                    Value::Flag(flag) => Some(*flag),
                    _ => None,
                });
                writer.typed::<BoolType>().write_batch(&known, Some(&levels), None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(out)
}

/// The known values, and for every row whether its value is known.
fn split<'a, T>(
    values: impl Iterator<Item = Option<&'a Value>>,
    value_of: impl Fn(&Value) -> Option<T>,
) -> (Vec<T>, Vec<i16>) {
    let mut known = Vec::new();
    let levels = values.map(|value| {
        value.and_then(&value_of).map_or(0, |value| {
            known.push(value);
            1
        })
    });
    let levels = levels.collect();
    (known, levels)
}

/// The spec in the metadata of a Parquet file. `None` = it is not a Parquet file, or has none.
///
/// The footer is only walked over: the library that decodes it takes the numbers that a file states at their word, sets memory aside for
/// as many columns, and reads the levels of a schema by recursion.
pub fn parquet_spec(bytes: &[u8]) -> Option<String> {
    /// The key-value pairs among the fields of a footer, and both fields of a pair.
    const PAIRS: (i16, u8) = (5, LIST);
    const KEY: (i16, u8) = (1, BYTES);
    const VALUE: (i16, u8) = (2, BYTES);
    let (before, tail) = bytes.split_last_chunk::<8>()?;
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = *tail else { return None };
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).ok()?;
    let mut footer = ThriftReader::new(before.get(before.len().checked_sub(length)?..)?);
    skip_to_field(&mut footer, PAIRS)?;
    let (kind, pairs) = footer.list()?;
    if kind != STRUCT {
        return None;
    }
    for _ in 0..pairs {
        let (mut key, mut value) = (None, None);
        let mut last = 0;
        loop {
            let field = footer.field(last)?;
            match field {
                (_, STOP) => break,
                KEY => key = Some(footer.bytes()?),
                VALUE => value = Some(footer.bytes()?),
                (_, wire) => footer.skip_value(wire)?,
            }
            last = field.0;
        }
        if key == Some(PARQUET_SPEC_KEY.as_bytes()) {
            return String::from_utf8(value?.to_vec()).ok();
        }
    }
    None
}

/// Passes over the fields of a struct before this one (number and kind on the wire). Nothing where it has none.
fn skip_to_field(thrift: &mut ThriftReader<'_>, wanted: (i16, u8)) -> Option<()> {
    let mut last = 0;
    loop {
        let (id, wire) = thrift.field(last)?;
        if (id, wire) == wanted {
            return Some(());
        }
        if wire == STOP {
            return None;
        }
        thrift.skip_value(wire)?;
        last = id;
    }
}
