//! One place of a source, read alone: a run that plays changes nothing in the places of other runs, and these may be many.
//!
//! A place is read in the tree of its whole source and keeps its folder in it, so runs, parts and paths are the same as in an
//! [`import`](super::import) of all. What only the whole source can tell is left to that: which places there are, which of them are
//! copies, and what is wrong with files that no part reads.

use std::sync::atomic::AtomicBool;

use files::Tree;
use store::{CopiesLeftOut, SourceId, Store, StoreError};

use super::{Job, STOPPED, put_runs, read_all, settle, stored_stamp, survey_all, without_repetition};
use crate::discover::place_in;
use crate::format_trait::Format;

/// What came of reading one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceImport {
    /// What changed in it is read.
    Read,
    /// The stop flag ended it early. What was read until then stays, and the source counts as not read to its end.
    Stopped,
    /// Nothing was read: what the place holds now may change what is kept of others, or it was not read before.
    NeedsSource,
}

/// Reads what changed in a place of a source that was imported before. Blocks; call it from a thread that may. Warnings of the
/// survey stay as they are until the next [`import`](super::import).
pub fn import_place(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    folder: &str,
    stop: &AtomicBool,
) -> Result<PlaceImport, StoreError> {
    import_place_among(tree, store, source, folder, crate::formats::all(), stop)
}

/// Like [`import_place`], with some formats only.
pub(super) fn import_place_among(
    tree: &Tree,
    store: &Store,
    source: SourceId,
    folder: &str,
    formats: &[&'static dyn Format],
    stop: &AtomicBool,
) -> Result<PlaceImport, StoreError> {
    tree.set_hash_key(store.hash_key()?);
    let known = store.part_stamps(source)?;
    let is_known = known.keys().any(|(place, _)| place == folder);
    if !is_known || has_copies(&store.left_out(source)?, folder) {
        return Ok(PlaceImport::NeedsSource);
    }
    // Below others there may be further places.
    let found = place_in(tree, folder, formats).filter(|place| !place.format.search_below());
    let Some(place) = found else { return Ok(PlaceImport::NeedsSource) };
    let places = [place];
    let surveyed = survey_all(tree, &places).pop().flatten();
    let Some((survey, mut report)) = surveyed else { return Ok(PlaceImport::NeedsSource) };
    let survey = without_repetition(survey, folder, &mut report);
    let [place] = &places;
    let (runs, parts) = (survey.runs, survey.parts);
    put_runs(store, source, place, &runs)?;
    store.keep_parts_of_place(source, folder, &parts.iter().map(|part| part.key.as_str()).collect())?;
    let met = tree.collected_warnings();
    let jobs = parts.into_iter().map(|part| {
        let stamp = stored_stamp(&part);
        Job { place, part, stamp }
    });
    let to_read: Vec<Job<'_>> = jobs.filter(|job| !job.is_known(&known)).collect();
    let written = read_all(tree, store, source, &to_read, &met, &|_, _| {}, stop)?;
    put_runs(store, source, place, &runs)?;
    settle(store, source)?;
    if (written as usize) < to_read.len() {
        store.set_source_read(source, Some(STOPPED))?;
        return Ok(PlaceImport::Stopped);
    }
    Ok(PlaceImport::Read)
}

/// Whether something of a place is left out as a copy, or something else is as a copy of it. What the place holds now decides whether
/// it stays so.
fn has_copies(left_out: &CopiesLeftOut, folder: &str) -> bool {
    left_out.runs.iter().any(|run| run.place == folder || run.original_place == folder)
        || left_out.parts.keys().any(|(place, _)| place == folder)
}
