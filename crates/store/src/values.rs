//! How columns store values without a type in SQLite.

use rusqlite::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;

use model::{Artifact, ArtifactKind, EndReason, Extra, Timing, Tokens};

use crate::{Result, StoreError};

/// SQLite's integers are signed. A larger count becomes the greatest integer.
pub(crate) fn int(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The inverse of [`int`], for a column that may be NULL.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|n| u64::try_from(n).unwrap_or(0)))
}

/// [`count`], for a column that is never NULL.
pub(crate) fn count_or_zero(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(count(row, column)?.unwrap_or(0))
}

/// Three columns from `first`: input, cached, output.
pub(crate) fn tokens(row: &Row<'_>, first: usize) -> rusqlite::Result<Tokens> {
    Ok(Tokens { input: count(row, first)?, cached: count(row, first + 1)?, output: count(row, first + 2)? })
}

/// Two columns from `first` that are NULL together.
pub(crate) fn pair(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<(String, String)>> {
    Ok(match (row.get(first)?, row.get::<_, Option<String>>(first + 1)?) {
        (Some(a), Some(b)) => Some((a, b)),
        _ => None,
    })
}

/// Two columns from `first`: least and greatest.
pub(crate) fn range(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<(u32, u32)>> {
    Ok(row.get::<_, Option<u32>>(first)?.zip(row.get(first + 1)?))
}

/// Four columns from `first`: when it began and ended, and its seconds.
pub(crate) fn read_timing(row: &Row<'_>, first: usize) -> rusqlite::Result<Timing> {
    Ok(Timing {
        started_at: row.get(first)?,
        finished_at: row.get(first + 1)?,
        agent_seconds: row.get(first + 2)?,
        test_seconds: row.get(first + 3)?,
    })
}

/// SQL: a list of codes.
pub(crate) fn sql_list(codes: &[&str]) -> String {
    format!("('{}')", codes.join("','"))
}

/// JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| StoreError::Damaged(e.to_string()))
}

/// The inverse of [`json`].
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| StoreError::Damaged(e.to_string()))
}

/// JSON, or NULL if there is nothing.
pub(crate) fn extra_json(extra: &Extra) -> Result<Option<String>> {
    if extra.is_empty() { Ok(None) } else { json(extra).map(Some) }
}

/// The inverse of [`extra_json`].
pub(crate) fn parse_or_default<T: DeserializeOwned + Default>(text: Option<&str>) -> Result<T> {
    text.map_or_else(|| Ok(T::default()), parse)
}

/// An artifact without the names of its fields, which would take most of the column.
type CompactArtifact<'a> = (ArtifactKind, &'a str, Option<&'a str>);

/// A list of artifacts, or NULL if there are none.
pub(crate) fn artifacts_json(artifacts: &[Artifact]) -> Result<Option<String>> {
    if artifacts.is_empty() {
        return Ok(None);
    }
    let compact: Vec<CompactArtifact<'_>> =
        artifacts.iter().map(|a| (a.kind, a.path.as_str(), a.pointer.as_deref())).collect();
    json(&compact).map(Some)
}

/// The inverse of [`artifacts_json`].
pub(crate) fn parse_artifacts(text: Option<&str>) -> Result<Vec<Artifact>> {
    let compact: Vec<(ArtifactKind, String, Option<String>)> = parse_or_default(text)?;
    Ok(compact.into_iter().map(|(kind, path, pointer)| Artifact { kind, path, pointer }).collect())
}

/// The error for a word that `model` does not know: the file is damaged.
pub(crate) fn no_word(noun: &str, word: &str) -> StoreError {
    StoreError::Damaged(format!("“{word}” is no {noun}"))
}

/// An end reason by its word.
pub(crate) fn end_reason(word: &str) -> Result<EndReason> {
    EndReason::parse(word).ok_or_else(|| no_word("end reason", word))
}

/// Text for a search in names without regard to case.
pub(crate) fn folded_text<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let mut folded = String::new();
    for text in texts.into_iter().flatten() {
        folded.push_str(&text.to_lowercase());
        // A line end separates names, so that no word is found across two of them.
        folded.push('\n');
    }
    folded
}

/// The words of a query, as they occur in [`folded_text`] texts.
pub(crate) fn words(query: &str) -> Vec<String> {
    query.split_whitespace().map(str::to_lowercase).collect()
}
