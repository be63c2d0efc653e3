//! Parquet as other programs write it.

use std::fs;
use std::path::Path;

use crate::table::{HEADER, table};

/// Written by pandas and polars: `tests/fixtures/table/make.py`.
#[test]
fn parquet_of_others_is_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table");
    let csv = fs::read(fixtures.join("attempts.csv")).unwrap();
    let plain = table("t.csv", csv);
    assert_eq!(plain.warnings(), []);
    for name in ["pandas-snappy.parquet", "polars-zstd.parquet", "pandas-gzip.parquet", "pandas.jsonl"] {
        let bytes = fs::read(fixtures.join(name)).unwrap();
        let other = table(&format!("t.{}", name.rsplit_once('.').unwrap().1), bytes);
        assert_eq!(other.warnings(), [], "{name}");
        assert_eq!(other.runs, plain.runs, "{name}");
        assert_eq!(other.episodes, plain.episodes, "{name}");
    }
}

/// Written by pyarrow: `tests/fixtures/table/make.py`.
#[test]
fn decimal_numbers_of_parquet_have_their_point() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table");
    for name in ["decimal-integers.parquet", "decimal-bytes.parquet"] {
        let read = table("t.parquet", fs::read(fixtures.join(name)).unwrap());
        let turns = &read.episode("a", "s").turns;
        let attempt_of = |turn: usize| {
            let attempt = &turns[turn].attempts[0];
            (attempt.cost_usd, attempt.reward, attempt.extra.get("share").and_then(serde_json::Value::as_f64))
        };
        assert_eq!(attempt_of(0), (Some(0.25), Some(0.25), Some(0.25)), "{name}");
        // Nothing costs less than nothing.
        assert_eq!(attempt_of(1), (None, Some(-0.0001), Some(-0.0001)), "{name}");
        assert_eq!(attempt_of(2), (None, None, None), "{name}");
    }
}

/// Written by pandas: `tests/fixtures/table/make.py`.
#[test]
fn durations_of_pandas_are_seconds() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table-types");
    let read = table("t.parquet", fs::read(fixtures.join("pandas-timedelta.parquet")).unwrap());
    assert_eq!(read.warnings(), []);
    let attempts = read.episode("a", "s").turns.iter().map(|turn| &turn.attempts[0]);
    let found: Vec<(Option<f64>, Option<f64>)> = attempts
        .map(|attempt| {
            (attempt.timing.agent_seconds, attempt.extra.get("waited").and_then(serde_json::Value::as_f64))
        })
        .collect();
    assert_eq!(found, [(Some(90.5), Some(90.5)), (None, None), (Some(0.25), Some(0.25))]);
}

/// Written by pyarrow and polars: `tests/fixtures/table/make.py`.
#[test]
fn durations_without_a_description_by_pandas_are_seconds() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table-types");
    for (name, whole) in [("pyarrow-durations.parquet", true), ("polars-durations.parquet", false)] {
        let read = table("t.parquet", fs::read(fixtures.join(name)).unwrap());
        assert_eq!(read.warnings(), [], "{name}");
        for (turn, expected) in read.episode("a", "s").turns.iter().zip([Some(90.5), None, Some(0.25)]) {
            let attempt = &turn.attempts[0];
            let waited = attempt.extra.get("waited").and_then(serde_json::Value::as_f64);
            assert_eq!((attempt.timing.agent_seconds, waited), (expected, expected), "{name}");
            let tests = expected.map(|seconds| if whole { f64::floor(seconds) } else { seconds });
            assert_eq!(attempt.timing.test_seconds, tests, "{name}");
        }
    }
}

/// Written by pyarrow: `tests/fixtures/table/make.py`.
#[test]
fn rare_types_are_read_or_named() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table-types");
    let read = table("t.parquet", fs::read(fixtures.join("pyarrow-rare-types.parquet")).unwrap());
    // Other columns than those of a tidy table may have what types they like.
    let sentence = "It has a column of a type that is not read: “cost_usd”. What it says is unknown.";
    assert_eq!(read.warnings()[0], ("table.column_type", sentence));
    assert_eq!(read.codes()[1..], ["reward.range"]);
    let attempts = read.episode("a", "s").turns.iter().map(|turn| &turn.attempts[0]);
    let found: Vec<(Option<&str>, Option<f64>)> =
        attempts.map(|attempt| (attempt.timing.started_at.as_deref(), attempt.reward)).collect();
    let expected = [
        (Some("2026-01-02T03:04:05.250000"), Some(0.5)),
        (None, None),
        (Some("1969-12-31T23:59:59.000000"), Some(-1.25)),
    ];
    assert_eq!(found, expected);
}

/// Written by pyarrow: `tests/fixtures/table/make.py`.
#[test]
fn a_packing_that_is_not_read_is_named() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/table-types");
    let read = table("t.parquet", fs::read(fixtures.join("pyarrow-lz4.parquet")).unwrap());
    let [(code, message)] = read.warnings()[..] else { panic!("{:?}", read.warnings()) };
    assert_eq!(code, "table.parquet");
    assert!(message.contains("its column run is packed with LZ4"), "{message}");
    assert!(message.contains("which is not read; write it with Snappy, zstd or gzip."), "{message}");
}

/// In pages of the second version only the values are packed, not the levels before them.
#[test]
fn parquet_of_the_second_version_is_read() {
    use parquet::basic::{Compression, GzipLevel};
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    let columns: Vec<String> =
        HEADER.split(',').map(|name| format!("optional binary {name} (UTF8);")).collect();
    let schema = format!("message t {{ {} }}", columns.join(" "));
    let schema = parquet::schema::parser::parse_message_type(&schema).unwrap();
    let options = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::GZIP(GzipLevel::default()));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), options.build().into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for values in ["a a", "h h", "m m", "s s", "1 2", "1 1", "true true"] {
        let values: Vec<ByteArray> = values.split(' ').map(ByteArray::from).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&[1, 1]), None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    let read = table("t.parquet", writer.into_inner().unwrap());
    assert_eq!(read.warnings(), vec![]);
    assert_eq!(read.episode("a", "s").turns.len(), 2);
}
