//! What a Parquet file may ask for, checked before the library that decodes it sets memory aside.
//!
//! The library takes sizes at their word: a schema of many levels is read by recursion, a page of a few bytes that states two
//! gigabytes gets them, and gzip unpacks to whatever comes out. So the start of the footer and the heads of all pages are
//! read here first, by the types of the format's definition; what has other types is refused, since the library would read it
//! as something else (<https://github.com/apache/parquet-format>, `parquet.thrift`).

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use model::thrift::{Kind, Spec, ThriftReader};
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// Most bytes of a footer: a table of thousands of columns and row groups has one of some hundred kilobytes.
const FOOTER_CAP: u64 = 8 << 20;
/// Most elements of a schema, most children of one, and most levels.
const SCHEMA_CAP: u32 = 20_000;
const DEPTH_CAP: usize = 64;
/// Most columns of all row groups together.
const CHUNKS_CAP: usize = 200_000;
/// Most bytes of the head of a page; statistics of texts are the longest of it.
const HEAD_CAP: usize = 256 << 10;
/// Bytes that the head of nearly every page has less than.
const HEAD: usize = 512;
/// Most bytes that the pages of all columns take that are unpacked at once.
const HELD_CAP: u64 = 192 << 20;
/// Memory of an entry of a dictionary beside its bytes.
const ENTRY: u64 = 40;
/// Cells and bytes of texts that any table may have, and how many times the size of its file they may be beyond that.
const CELLS: u64 = 64 << 20;
const TEXTS: u64 = 1 << 30;
const RATIO: u64 = 400;

/// `DELTA_LENGTH_BYTE_ARRAY` and `DELTA_BYTE_ARRAY`: how many texts they hold, and how long those get, no size states.
const UNBOUNDED: [i64; 2] = [6, 7];
const DICTIONARY_PAGE: i64 = 2;

/// The bytes of the file.
#[derive(Debug)]
pub(super) enum Source {
    File(File),
    Bytes(Bytes),
}

impl Source {
    /// Its size now.
    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// At most so many bytes from a place on; fewer at the end.
    fn read(&self, offset: u64, most: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::File(file) => {
                let mut bytes = Vec::new();
                Part { file, position: offset }.take(most as u64).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let end = start.saturating_add(most).min(bytes.len());
                Ok(bytes[start..end].to_vec())
            }
        }
    }

    /// Whether more than so many bytes come out of a gzip in it. What is no gzip, or breaks off, gives what it gives before.
    fn unpacks_beyond(&self, offset: u64, packed: u64, most: u64) -> bool {
        fn gives_more(packed: impl io::Read, most: u64) -> bool {
            let mut unpacked = MultiGzDecoder::new(packed).take(most);
            let _ = io::copy(&mut unpacked, &mut io::sink());
            unpacked.limit() == 0
        }
        let most = most.saturating_add(1);
        match self {
            Self::File(file) => gives_more(Part { file, position: offset }.take(packed), most),
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                let end =
                    start.saturating_add(usize::try_from(packed).unwrap_or(usize::MAX)).min(bytes.len());
                gives_more(&bytes[start..end], most)
            }
        }
    }
}

/// A file from a place on; it does not move where others read.
struct Part<'a> {
    file: &'a File,
    position: u64,
}

impl io::Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// Checks the end of the file and the schema, which are all that is needed to open it.
///
/// Errors: sentences without a full stop, as all of this module.
pub(super) fn check_footer(source: &Source) -> Result<(), String> {
    let size = source.len().map_err(|error| error.to_string())?;
    let tail = source.read(size.saturating_sub(8), 8).map_err(|error| error.to_string())?;
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = tail[..] else {
        return Err("it does not end as one".to_owned());
    };
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    if length > FOOTER_CAP {
        return Err(format!("its footer states {length} bytes, and at most {FOOTER_CAP} are read"));
    }
    let Some(start) = size.checked_sub(8 + length) else {
        return Err("its footer is longer than the file".to_owned());
    };
    let footer =
        source.read(start, usize::try_from(length).unwrap_or(0)).map_err(|error| error.to_string())?;
    check_schema(&footer)
}

/// The version and the schema are the first fields of a footer. A second schema in it is passed over by the library.
fn check_schema(footer: &[u8]) -> Result<(), String> {
    const MALFORMED: &str = "its schema is malformed";
    let mut thrift = ThriftReader::new(footer);
    let start = (|| {
        let version = thrift.field(0)?;
        (version == (1, 5)).then_some(())?;
        thrift.number()?;
        let schema = thrift.field(1)?;
        (schema == (2, 9)).then_some(())?;
        let (kind, elements) = thrift.list()?;
        (kind == 12).then_some(elements)
    })();
    let elements = start.ok_or(MALFORMED)?;
    if elements > SCHEMA_CAP {
        return Err(format!("its schema has {elements} elements, and at most {SCHEMA_CAP} are read"));
    }
    // Children that are still to come, of every element that is not done.
    let mut open: Vec<i64> = Vec::new();
    for _ in 0..elements {
        let mut children = 0;
        thrift.structure(&SCHEMA_ELEMENT, &mut |id, number| {
            if id == CHILDREN {
                children = number;
            }
        });
        if thrift.is_broken() {
            return Err(MALFORMED.to_owned());
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > i64::from(SCHEMA_CAP) || children < 0 {
            return Err(format!("an element of its schema states {children} children"));
        }
        if children > 0 {
            open.push(children);
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if open.len() > DEPTH_CAP {
            return Err(format!("its schema is more than {DEPTH_CAP} levels deep"));
        }
    }
    Ok(())
}

/// Checks what the footer states of all row groups. The result is the most bytes that all texts may have.
pub(super) fn check_groups(source: &Source, data: &ParquetMetaData, columns: usize) -> Result<u64, String> {
    let size = source.len().map_err(|error| error.to_string())?;
    let chunks: usize = data.row_groups().iter().map(|group| group.columns().len()).sum();
    if chunks > CHUNKS_CAP {
        return Err(format!("its row groups have {chunks} columns, and at most {CHUNKS_CAP} are read"));
    }
    let rows = data.row_groups().iter().try_fold(0_u64, |sum, group| {
        u64::try_from(group.num_rows()).ok().map(|rows| sum.saturating_add(rows))
    });
    let Some(rows) = rows else { return Err("a row group states fewer than 0 rows".to_owned()) };
    let most = CELLS.saturating_add(size.saturating_mul(RATIO));
    if rows.saturating_mul(columns as u64) > most {
        return Err(format!("it states {rows} rows of {columns} columns, more than {size} bytes hold"));
    }
    Ok(TEXTS.saturating_add(size.saturating_mul(RATIO)))
}

/// Checks the pages of the columns of one row group, which are unpacked beside each other.
pub(super) fn check_pages<'a>(
    source: &Source,
    columns: impl Iterator<Item = &'a ColumnChunkMetaData>,
) -> Result<(), String> {
    let size = source.len().map_err(|error| error.to_string())?;
    let mut held = 0_u64;
    for column in columns {
        let name = || column.column_path().string();
        let taken =
            check_column(source, size, column).map_err(|reason| format!("its column {} {reason}", name()))?;
        held = held.saturating_add(taken);
        if held > HELD_CAP {
            return Err(format!(
                "pages of its columns that belong together unpack to more than {} MB; write it with smaller pages",
                HELD_CAP >> 20
            ));
        }
    }
    Ok(())
}

/// Memory that the pages of a column take while they are read.
fn check_column(source: &Source, size: u64, column: &ColumnChunkMetaData) -> Result<u64, String> {
    let codec = column.compression();
    let is_read = matches!(
        codec,
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) | Compression::ZSTD(_)
    );
    if !is_read {
        let words = format!("{codec:?}");
        let name = words.split('(').next().unwrap_or_default();
        return Err(format!("is packed with {name}, which is not read; write it with Snappy, zstd or gzip"));
    }
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
    let end = range.and_then(|(start, length)| start.checked_add(length)).filter(|end| *end <= size);
    let (Some((start, _)), Some(end)) = (range, end) else { return Err("lies outside the file".to_owned()) };
    let (mut position, mut dictionary, mut largest) = (start, 0_u64, 0_u64);
    while position < end {
        let (page, head) = page_head(source, position, end)
            .map_err(|error| error.to_string())?
            .ok_or("has a page without a head")?;
        position += head;
        if page.packed > end - position {
            return Err("has a page that does not end in it".to_owned());
        }
        if page.unpacked > HELD_CAP {
            return Err(format!(
                "has a page that unpacks to {} bytes; write it with smaller pages",
                page.unpacked
            ));
        }
        if page.encodings.iter().any(|encoding| UNBOUNDED.contains(encoding)) {
            return Err(
                "is packed as differences of texts; write it with plain texts or a dictionary".to_owned()
            );
        }
        // Before the packed bytes of a page of the second version its levels stand as they are.
        let levels = page.levels.iter().sum::<u64>().min(page.packed);
        if matches!(column.compression(), Compression::GZIP(_))
            && source.unpacks_beyond(position + levels, page.packed - levels, page.unpacked)
        {
            return Err(format!(
                "has a page that unpacks to more than the {} bytes that it states",
                page.unpacked
            ));
        }
        if page.kind == DICTIONARY_PAGE {
            if page.values > page.unpacked {
                return Err("has a dictionary of more values than bytes".to_owned());
            }
            dictionary = dictionary.max(page.unpacked.saturating_add(page.values.saturating_mul(ENTRY)));
        } else {
            largest = largest.max(page.unpacked.saturating_add(page.packed));
        }
        position += page.packed;
    }
    Ok(dictionary.saturating_add(largest))
}

/// The head of a page.
#[derive(Debug, Default)]
struct PageHead {
    kind: i64,
    unpacked: u64,
    packed: u64,
    values: u64,
    /// Bytes of the definition and of the repetition levels, where the page states them.
    levels: [u64; 2],
    encodings: Vec<i64>,
}

/// The head of the page at a place, and how many bytes it has. Nothing where there is none.
fn page_head(source: &Source, offset: u64, end: u64) -> io::Result<Option<(PageHead, u64)>> {
    let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
    for most in [HEAD, HEAD_CAP] {
        let bytes = source.read(offset, most.min(left))?;
        if let Some(found) = parsed_head(&bytes) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn parsed_head(bytes: &[u8]) -> Option<(PageHead, u64)> {
    let mut thrift = ThriftReader::new(bytes);
    let mut head = PageHead::default();
    let mut is_negative = false;
    thrift.structure(&PAGE_HEADER, &mut |id, number| {
        let size = u64::try_from(number);
        match id {
            PAGE_TYPE => head.kind = number,
            UNPACKED | PACKED | VALUES | DEFINITION | REPETITION => {
                is_negative |= size.is_err();
                let size = size.unwrap_or(0);
                match id {
                    UNPACKED => head.unpacked = size,
                    PACKED => head.packed = size,
                    DEFINITION => head.levels[0] = size,
                    REPETITION => head.levels[1] = size,
                    // What stands in two heads counts as the larger.
                    _ => head.values = head.values.max(size),
                }
            }
            ENCODING => head.encodings.push(number),
            _ => {}
        }
    });
    let is_whole = !thrift.is_broken() && !is_negative;
    is_whole.then(|| (head, (bytes.len() - thrift.bytes_left()) as u64))
}

/// Names of numbers that are asked for; 0 is none.
const CHILDREN: u8 = 1;
const PAGE_TYPE: u8 = 2;
const UNPACKED: u8 = 3;
const PACKED: u8 = 4;
const VALUES: u8 = 5;
const ENCODING: u8 = 6;
const DEFINITION: u8 = 7;
const REPETITION: u8 = 8;

const NUMBER: Kind = Kind::Number(0);
const EMPTY: Spec = Spec(&[]);
const TIME_UNIT: Spec =
    Spec(&[(1, Kind::Struct(&EMPTY)), (2, Kind::Struct(&EMPTY)), (3, Kind::Struct(&EMPTY))]);
const TIME: Spec = Spec(&[(1, Kind::Flag), (2, Kind::Struct(&TIME_UNIT))]);
const DECIMAL: Spec = Spec(&[(1, NUMBER), (2, NUMBER)]);
const INTEGER: Spec = Spec(&[(1, Kind::Byte), (2, Kind::Flag)]);
const VARIANT: Spec = Spec(&[(1, Kind::Byte)]);
const GEOMETRY: Spec = Spec(&[(1, Kind::Bytes)]);
const GEOGRAPHY: Spec = Spec(&[(1, Kind::Bytes), (2, NUMBER)]);
const LOGICAL_TYPE: Spec = Spec(&[
    (1, Kind::Struct(&EMPTY)),
    (2, Kind::Struct(&EMPTY)),
    (3, Kind::Struct(&EMPTY)),
    (4, Kind::Struct(&EMPTY)),
    (5, Kind::Struct(&DECIMAL)),
    (6, Kind::Struct(&EMPTY)),
    (7, Kind::Struct(&TIME)),
    (8, Kind::Struct(&TIME)),
    (10, Kind::Struct(&INTEGER)),
    (11, Kind::Struct(&EMPTY)),
    (12, Kind::Struct(&EMPTY)),
    (13, Kind::Struct(&EMPTY)),
    (14, Kind::Struct(&EMPTY)),
    (15, Kind::Struct(&EMPTY)),
    (16, Kind::Struct(&VARIANT)),
    (17, Kind::Struct(&GEOMETRY)),
    (18, Kind::Struct(&GEOGRAPHY)),
]);
const SCHEMA_ELEMENT: Spec = Spec(&[
    (1, NUMBER),
    (2, NUMBER),
    (3, NUMBER),
    (4, Kind::Bytes),
    (5, Kind::Number(CHILDREN)),
    (6, NUMBER),
    (7, NUMBER),
    (8, NUMBER),
    (9, NUMBER),
    (10, Kind::Struct(&LOGICAL_TYPE)),
]);

const STATISTICS: Spec = Spec(&[
    (1, Kind::Bytes),
    (2, Kind::Bytes),
    (3, Kind::Long),
    (4, Kind::Long),
    (5, Kind::Bytes),
    (6, Kind::Bytes),
    (7, Kind::Flag),
    (8, Kind::Flag),
    (9, Kind::Long),
]);
const DATA_PAGE: Spec = Spec(&[
    (1, Kind::Number(VALUES)),
    (2, Kind::Number(ENCODING)),
    (3, NUMBER),
    (4, NUMBER),
    (5, Kind::Struct(&STATISTICS)),
]);
const DICTIONARY: Spec = Spec(&[(1, Kind::Number(VALUES)), (2, NUMBER), (3, Kind::Flag)]);
const DATA_PAGE_2: Spec = Spec(&[
    (1, Kind::Number(VALUES)),
    (2, NUMBER),
    (3, NUMBER),
    (4, Kind::Number(ENCODING)),
    (5, Kind::Number(DEFINITION)),
    (6, Kind::Number(REPETITION)),
    (7, Kind::Flag),
    (8, Kind::Struct(&STATISTICS)),
]);
const PAGE_HEADER: Spec = Spec(&[
    (1, Kind::Number(PAGE_TYPE)),
    (2, Kind::Number(UNPACKED)),
    (3, Kind::Number(PACKED)),
    (4, NUMBER),
    (5, Kind::Struct(&DATA_PAGE)),
    (6, Kind::Struct(&EMPTY)),
    (7, Kind::Struct(&DICTIONARY)),
    (8, Kind::Struct(&DATA_PAGE_2)),
]);
