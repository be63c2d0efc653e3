//! Rows of a Parquet file: flat columns only, a batch of rows at once.
//!
//! What the file asks for is checked first ([`super::parquet_bounds`]). A panic of the decoding library costs this file only.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use files::{RandomAccess, ReadError, Tree};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, Int96};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::cell::Cell;
use super::mapping;
use super::parquet_bounds::{self, Source};
use super::parquet_durations::durations;
use super::rows::{COLUMNS_CAP, ROW_CAP, RowError, RowStart, Rows, hash_bytes};

/// Most bytes of a file inside a zip, which has to be unpacked into memory.
const ZIP_CAP: u64 = 256 << 20;
/// Rows that are read at once.
const BATCH: usize = 1024;

/// A cell of the batch.
#[derive(Debug, Clone)]
enum BatchCell {
    Empty,
    Text(ByteArray),
    Time(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
}

/// A column of the file.
struct Leaf {
    /// Its place among the columns of the file.
    index: usize,
    /// Whether it may lack values.
    optional: bool,
    /// For times: how many of its units a second has, and whether they are of UTC.
    time: Option<(i64, bool)>,
    /// For decimal numbers: how many digits are behind the point.
    scale: Option<i32>,
    /// For durations: how many of its units a second has.
    duration: Option<i64>,
    /// Whether its values are numbers of 16 bits.
    is_half: bool,
    reader: Option<ColumnReader>,
    batch: Vec<BatchCell>,
}

/// Rows of a Parquet file.
pub(super) struct ParquetRows {
    file: Box<dyn FileReader>,
    source: Source,
    /// Bytes of texts that may still come.
    texts: u64,
    header: Vec<String>,
    /// Names of columns of types that are not read.
    unread: Vec<String>,
    leaves: Vec<Leaf>,
    /// The row group that is read next.
    group: usize,
    /// Rows of the current one that are not read yet.
    group_rows: u64,
    /// Rows in the batch, and the current one.
    batch: usize,
    batch_row: usize,
    /// Rows that are to be passed over.
    skip: u64,
    /// The number of the current row, from 1.
    row: u64,
}

fn damaged(error: &ParquetError) -> ReadError {
    let message: String = format!("no Parquet that can be read: {error}").chars().take(300).collect();
    ReadError::Malformed { code: "table.parquet", message }
}

impl ParquetRows {
    /// Opens a file before its first row.
    pub(super) fn open(tree: &Tree, path: &str) -> Result<Self, ReadError> {
        let source = match tree.open_random_access(path, ZIP_CAP)? {
            RandomAccess::File(file) => Source::File(file),
            RandomAccess::Bytes(bytes) => Source::Bytes(Bytes::from(bytes)),
        };
        parquet_bounds::check_footer(&source).map_err(|reason| damaged(&ParquetError::General(reason)))?;
        let file = catch_panic(|| {
            Ok::<Box<dyn FileReader>, ParquetError>(match &source {
                Source::File(file) => Box::new(SerializedFileReader::new(file.try_clone()?)?),
                Source::Bytes(bytes) => Box::new(SerializedFileReader::new(bytes.clone())?),
            })
        })
        .map_err(|error| damaged(&error))?;
        let schema = file.metadata().file_metadata().schema_descr_ptr();
        let durations = durations(file.as_ref());
        let (mut header, mut unread, mut leaves) = (Vec::new(), Vec::<String>::new(), Vec::new());
        for (index, column) in schema.columns().iter().enumerate().take(COLUMNS_CAP) {
            if column.max_rep_level() > 0 || column.path().parts().len() != 1 {
                let name = column.path().parts().first().map_or("", String::as_str);
                // Each of its parts is a column of the file. Others may have what lists they like.
                if mapping::is_known_name(name) && unread.last().is_none_or(|last| last != name) {
                    unread.push(name.to_owned());
                }
                continue;
            }
            let time = match column.logical_type_ref() {
                Some(LogicalType::Timestamp(time)) => {
                    let per_second = match time.unit {
                        TimeUnit::MILLIS => 1_000,
                        TimeUnit::MICROS => 1_000_000,
                        TimeUnit::NANOS => 1_000_000_000,
                    };
                    Some((per_second, time.is_adjusted_to_u_t_c))
                }
                // It says nothing of a zone.
                _ if column.physical_type() == PhysicalType::INT96 => Some((1_000_000, false)),
                _ => None,
            };
            let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
            let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }))
                || column.converted_type() == ConvertedType::DECIMAL;
            let scale = is_decimal.then(|| column.type_scale());
            // What is not understood is no column: it would look like one without values.
            if column.physical_type() == PhysicalType::FIXED_LEN_BYTE_ARRAY && !is_decimal && !is_half {
                if mapping::is_known_name(column.name()) {
                    unread.push(column.name().to_owned());
                }
                continue;
            }
            header.push(column.name().to_owned());
            let optional = column.max_def_level() > 0;
            let duration = durations.get(column.name()).copied();
            leaves.push(Leaf {
                index,
                optional,
                time,
                scale,
                duration,
                is_half,
                reader: None,
                batch: Vec::new(),
            });
        }
        let texts = parquet_bounds::check_groups(&source, file.metadata(), leaves.len())
            .map_err(|reason| damaged(&ParquetError::General(reason)))?;
        Ok(Self {
            file,
            source,
            texts,
            header,
            unread,
            leaves,
            group: 0,
            group_rows: 0,
            batch: 0,
            batch_row: 0,
            skip: 0,
            row: 0,
        })
    }

    /// The same before another row.
    pub(super) fn starting_at(mut self, start: RowStart) -> Self {
        self.skip = start.offset;
        self.row = start.offset;
        self
    }

    /// Reads the next batch. `false` = there is none.
    fn fill(&mut self) -> Result<bool, ParquetError> {
        while self.group_rows == 0 {
            if self.group >= self.file.num_row_groups() {
                return Ok(false);
            }
            let group = self.file.get_row_group(self.group)?;
            self.group += 1;
            let rows = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
            if self.skip >= rows {
                self.skip -= rows;
                continue;
            }
            let columns = self.leaves.iter().map(|leaf| group.metadata().column(leaf.index));
            parquet_bounds::check_pages(&self.source, columns).map_err(ParquetError::General)?;
            for leaf in &mut self.leaves {
                let mut reader = group.get_column_reader(leaf.index)?;
                if self.skip > 0 {
                    skip_rows(&mut reader, usize::try_from(self.skip).unwrap_or(usize::MAX))?;
                }
                leaf.reader = Some(reader);
            }
            self.group_rows = rows - self.skip;
            self.skip = 0;
        }
        let wanted = usize::try_from(self.group_rows).unwrap_or(usize::MAX).min(BATCH);
        for leaf in &mut self.leaves {
            leaf.read(wanted)?;
            if leaf.batch.len() != wanted {
                return Err(ParquetError::General(
                    "a column has fewer values than the file has rows".to_owned(),
                ));
            }
            let texts = leaf.texts()?;
            let Some(left) = self.texts.checked_sub(texts) else {
                return Err(ParquetError::General("its texts unpack to far more than its size".to_owned()));
            };
            self.texts = left;
        }
        self.group_rows -= wanted as u64;
        (self.batch, self.batch_row) = (wanted, 0);
        Ok(true)
    }
}

/// A panic of the library is an error.
fn catch_panic<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| {
        Err(ParquetError::General("its values are not what their heads state".to_owned()))
    })
}

impl Leaf {
    /// Bytes of the texts of the batch.
    fn texts(&self) -> Result<u64, ParquetError> {
        self.batch.iter().try_fold(0, |sum, cell| match cell {
            BatchCell::Text(text) if text.len() as u64 > ROW_CAP => {
                Err(ParquetError::General(format!("a cell has more than {} MB", ROW_CAP >> 20)))
            }
            BatchCell::Text(text) => Ok(sum + text.len() as u64),
            _ => Ok(sum),
        })
    }

    fn read(&mut self, rows: usize) -> Result<(), ParquetError> {
        self.batch.clear();
        let (optional, time, scale, duration) = (self.optional, self.time, self.scale, self.duration);
        let is_half = self.is_half;
        let out = &mut self.batch;
        match &mut self.reader {
            Some(ColumnReader::BoolColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| BatchCell::Flag(*v))
            }
            Some(ColumnReader::Int32ColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| match (scale, duration) {
                    (Some(scale), _) => BatchCell::Number(scaled(i128::from(*v), scale)),
                    (None, Some(per_second)) => BatchCell::Number(f64::from(*v) / per_second as f64),
                    (None, None) => BatchCell::Integer(i64::from(*v)),
                })
            }
            Some(ColumnReader::Int64ColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| match (time, scale, duration) {
                    (Some((per_second, utc)), ..) => BatchCell::Time(time_text(*v, per_second, utc)),
                    (None, Some(scale), _) => BatchCell::Number(scaled(i128::from(*v), scale)),
                    (None, None, Some(per_second)) => BatchCell::Number(*v as f64 / per_second as f64),
                    (None, None, None) => BatchCell::Integer(*v),
                })
            }
            Some(ColumnReader::FloatColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| BatchCell::Number(f64::from(*v)))
            }
            Some(ColumnReader::DoubleColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| BatchCell::Number(*v))
            }
            Some(ColumnReader::ByteArrayColumnReader(reader)) => {
                take(reader, rows, optional, out, |v: &ByteArray| match scale {
                    Some(scale) => decimal(v.data(), scale),
                    None => BatchCell::Text(v.clone()),
                })
            }
            Some(ColumnReader::FixedLenByteArrayColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| {
                    if is_half { half_float(v.data()) } else { decimal(v.data(), scale.unwrap_or(0)) }
                })
            }
            Some(ColumnReader::Int96ColumnReader(reader)) => {
                take(reader, rows, optional, out, |v| BatchCell::Time(old_time_text(v)))
            }
            None => Ok(()),
        }
    }
}

/// A decimal number of this many digits after the point.
fn scaled(unscaled: i128, scale: i32) -> f64 {
    unscaled as f64 / 10_f64.powi(scale)
}

/// A decimal number in its bytes: two's complement, the highest first (Parquet, "Logical Types: DECIMAL").
fn decimal(bytes: &[u8], scale: i32) -> BatchCell {
    let Some(first) = bytes.first() else { return BatchCell::Empty };
    let (filler, sign) = if first & 0x80 != 0 { (0xff, 0x80) } else { (0, 0) };
    // Decimals of 76 digits have 32 bytes, of which small numbers use the last ones.
    let (surplus, bytes) = bytes.split_at(bytes.len().saturating_sub(16));
    if !surplus.iter().all(|byte| *byte == filler) || bytes[0] & 0x80 != sign {
        return BatchCell::Number(f64::INFINITY);
    }
    let start = if sign == 0 { 0 } else { -1_i128 };
    BatchCell::Number(scaled(bytes.iter().fold(start, |sum, byte| (sum << 8) | i128::from(*byte)), scale))
}

/// A number of 16 bits, the lowest first (IEEE 754, binary16).
fn half_float(bytes: &[u8]) -> BatchCell {
    let Ok(bytes) = <[u8; 2]>::try_from(bytes) else { return BatchCell::Empty };
    let bits = u16::from_le_bytes(bytes);
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), bits & 0x3ff);
    let size = match exponent {
        0 => f64::from(fraction) * 2_f64.powi(-24),
        31 if fraction == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => f64::from(fraction + 0x400) * 2_f64.powi(exponent - 25),
    };
    BatchCell::Number(if bits & 0x8000 == 0 { size } else { -size })
}

fn take<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    optional: bool,
    out: &mut Vec<BatchCell>,
    stored: impl Fn(&T::T) -> BatchCell,
) -> Result<(), ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(rows, optional.then_some(&mut levels), None, &mut values)?;
    if !optional {
        out.extend(values.iter().map(stored));
        return Ok(());
    }
    let mut values = values.iter();
    out.extend(levels.iter().map(|level| match level {
        0 => BatchCell::Empty,
        _ => values.next().map_or(BatchCell::Empty, &stored),
    }));
    Ok(())
}

fn skip_rows(reader: &mut ColumnReader, rows: usize) -> Result<(), ParquetError> {
    match reader {
        ColumnReader::BoolColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int32ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int64ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::Int96ColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::FloatColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::DoubleColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::ByteArrayColumnReader(reader) => reader.skip_records(rows),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => reader.skip_records(rows),
    }
    .map(|_| ())
}

/// A point in time as other files write it; the number itself where no calendar names it.
fn time_text(value: i64, per_second: i64, utc: bool) -> String {
    let (seconds, rest) = (value.div_euclid(per_second), value.rem_euclid(per_second));
    let micros = if per_second > 1_000_000 {
        rest / (per_second / 1_000_000)
    } else {
        rest * (1_000_000 / per_second)
    };
    let zone = if utc { "Z" } else { "" };
    match model::timestamp::from_seconds(seconds) {
        Some(text) => format!("{}.{micros:06}{zone}", text.trim_end_matches('Z')),
        None => value.to_string(),
    }
}

/// A point in time as files of older programs have it: a day and nanoseconds, with no zone (Parquet, INT96).
fn old_time_text(value: &Int96) -> String {
    // Seconds beyond it are of no year of the calendar, and as microseconds of another one.
    const FARTHEST: u64 = 1 << 42;
    let seconds = value.to_seconds();
    if seconds.unsigned_abs() > FARTHEST {
        return seconds.to_string();
    }
    time_text(value.to_micros(), 1_000_000, false)
}

impl Rows for ParquetRows {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn unread(&self) -> &[String] {
        &self.unread
    }

    fn advance(&mut self) -> Option<Result<(), RowError>> {
        self.batch_row += 1;
        if self.batch_row >= self.batch {
            match catch_panic(|| self.fill()) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(RowError::Rest(damaged(&error)))),
            }
        }
        self.row += 1;
        Some(Ok(()))
    }

    fn start(&self) -> RowStart {
        RowStart { row: self.row, offset: self.row.saturating_sub(1) }
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match self.leaves.get(column).and_then(|leaf| leaf.batch.get(self.batch_row)) {
            Some(BatchCell::Text(bytes)) => match std::str::from_utf8(bytes.data()) {
                Ok(text) if !text.trim().is_empty() => Cell::Text(text),
                _ => Cell::Empty,
            },
            Some(BatchCell::Time(text)) => Cell::Text(text),
            Some(BatchCell::Integer(number)) => Cell::Integer(*number),
            Some(BatchCell::Number(number)) => Cell::Number(*number),
            Some(BatchCell::Flag(flag)) => Cell::Flag(*flag),
            Some(BatchCell::Empty) | None => Cell::Empty,
        }
    }

    fn bytes(&self) -> u64 {
        let cells = self.leaves.iter().map(|leaf| match leaf.batch.get(self.batch_row) {
            Some(BatchCell::Text(text)) => text.len() as u64,
            _ => 8,
        });
        cells.sum()
    }

    fn stamp(&self, mut stamp: u64) -> u64 {
        for column in 0..self.leaves.len() {
            stamp = match self.cell(column) {
                Cell::Empty => hash_bytes(stamp, b"\0"),
                Cell::Text(text) | Cell::Nested(text) => hash_bytes(stamp, text.as_bytes()),
                Cell::Integer(number) => hash_bytes(stamp, &number.to_le_bytes()),
                Cell::Number(number) => hash_bytes(stamp, &number.to_bits().to_le_bytes()),
                Cell::Flag(flag) => hash_bytes(stamp, &[u8::from(flag), 1]),
            };
        }
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_is_a_date_of_the_calendar() {
        assert_eq!(time_text(0, 1_000, true), "1970-01-01T00:00:00.000000Z");
        assert_eq!(time_text(1_709_210_096_789, 1_000, true), "2024-02-29T12:34:56.789000Z");
        assert_eq!(time_text(-1_000_000_000, 1_000_000_000, false), "1969-12-31T23:59:59.000000");
        assert_eq!(time_text(4_102_444_799_000_001, 1_000_000, true), "2099-12-31T23:59:59.000001Z");
        // A year that no calendar has is no time, and not the nearest one.
        assert_eq!(time_text(i64::MAX, 1_000, true), i64::MAX.to_string());
        let old = |day: u32, nanoseconds: u64| {
            let mut value = Int96::new();
            value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day);
            old_time_text(&value)
        };
        assert_eq!(old(2_440_588, 0), "1970-01-01T00:00:00.000000");
        assert_eq!(old(2_440_587, 86_399_000_001_000), "1969-12-31T23:59:59.000001");
        assert!(old(i32::MAX as u32, 0).parse::<i64>().is_ok());
    }

    #[test]
    fn a_decimal_number_may_have_more_bytes_than_it_needs() {
        for (value, length) in [(12_500_i16, 2), (12_500, 17), (12_500, 32), (-12_500, 16), (-12_500, 32)] {
            let mut bytes = vec![if value < 0 { 0xff } else { 0 }; length];
            bytes[length - 2..].copy_from_slice(&value.to_be_bytes());
            let cell = decimal(&bytes, 4);
            let expected = f64::from(value) / 10_000.0;
            assert!(
                matches!(cell, BatchCell::Number(number) if number.to_bits() == expected.to_bits()),
                "{bytes:?}: {cell:?}"
            );
        }
        assert!(matches!(decimal(&[1; 32], 4), BatchCell::Number(number) if number.is_infinite()));
    }

    #[test]
    fn a_number_of_16_bits_is_the_same_number() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x0001, 2_f64.powi(-24)),
            (0x03ff, 1_023.0 * 2_f64.powi(-24)),
            (0x0400, 2_f64.powi(-14)),
            (0x3800, 0.5),
            (0x3c00, 1.0),
            (0xbd00, -1.25),
            (0x7bff, 65_504.0),
            (0xfc00, f64::NEG_INFINITY),
        ] {
            let cell = half_float(&u16::to_le_bytes(bits));
            assert!(
                matches!(cell, BatchCell::Number(number) if number.to_bits() == expected.to_bits()),
                "{bits:#06x}: {cell:?}"
            );
        }
        assert!(matches!(half_float(&u16::to_le_bytes(0x7e00)), BatchCell::Number(n) if n.is_nan()));
        assert!(matches!(half_float(&[0]), BatchCell::Empty));
    }
}
