//! Which runs lists show with a warning. Their number and the filter have this one definition, and so has the mark in the list.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::withdrawn_filter::{VALID, VALID_EPISODE};
use crate::{Result, RunId, Store, import_report};

/// The runs with a trial that two runs of open sources have. Withdrawn episodes do not count. Copies are not joined with each other:
/// their pairs are as many as the square of the runs that share a trial.
const SHARED_TRIALS: &str = "WITH copy AS (
    SELECT episode.identity, episode.run FROM episode
    WHERE episode.identity IN
      (SELECT identity FROM episode WHERE identity IS NOT NULL GROUP BY identity HAVING count(*) > 1)
    AND {valid})
  SELECT DISTINCT run FROM copy WHERE identity IN
    (SELECT copy.identity FROM copy JOIN run ON run.id = copy.run
       JOIN source ON source.id = run.source AND source.closed_at IS NULL
     GROUP BY copy.identity HAVING count(DISTINCT copy.run) > 1)";

impl Store {
    /// The runs with trials that another run has as well, and those that may be copies of others. They are looked for once per
    /// change of the library.
    pub(crate) fn runs_with_copies(&self) -> Result<Arc<BTreeSet<RunId>>> {
        self.answer(&self.latest_runs_with_copies, || self.find_runs_with_copies())
    }

    fn find_runs_with_copies(&self) -> Result<BTreeSet<RunId>> {
        let mut runs = self.read(|conn| {
            let mut find = conn.prepare_cached(&SHARED_TRIALS.replace("{valid}", VALID_EPISODE))?;
            let found: BTreeSet<RunId> =
                find.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(found)
        })?;
        runs.extend(self.undecided_copies()?.iter().flatten().map(|(run, _)| *run));
        Ok(runs)
    }
}

/// SQL: whether a `run` is shown with a warning. It has an entry of the import report that may make a number wrong, listed or not, or
/// its numbers are less sure than they look, or it is withdrawn, or it is one of [`Store::runs_with_copies`]. `?` is the JSON list of
/// these.
pub(crate) fn has_warning() -> String {
    format!(
        "(EXISTS (SELECT 1 FROM warning WHERE warning.run = run.id AND {})
    OR EXISTS (SELECT 1 FROM not_kept WHERE not_kept.run = run.id AND not_kept.warnings > 0)
    OR EXISTS (SELECT 1 FROM run_summary AS own WHERE own.run = run.id AND own.doubts <> '[]')
    OR NOT ({VALID}) OR run.id IN (SELECT value FROM json_each(?)))",
        import_report::is_severe()
    )
}

#[cfg(test)]
mod tests {
    use model::{Benchmark, Episode, Run};

    use super::*;
    use crate::{ParsedPart, RunFilter, SourceId};

    /// A source with one run of an episode with this identity.
    fn put(store: &Store, name: &str, identity: &str) -> SourceId {
        let source = store.put_source(&format!("/data/{name}"), name, false).unwrap();
        let run = Run::unknown(name, Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "staminabench", &[run]).unwrap();
        let mut episode = Episode::new("e", "s");
        episode.identity = Some(identity.to_owned());
        let episodes = [(name.to_owned(), episode)];
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        store.settle_identities().unwrap();
        source
    }

    #[test]
    fn runs_that_share_a_trial_are_found_once_per_change() {
        let store = Store::in_memory().unwrap();
        put(&store, "a", "same");
        put(&store, "b", "other");
        let before = store.runs_with_copies().unwrap();
        assert!(before.is_empty());
        let sources = ["c", "d"].map(|name| put(&store, name, "same"));
        let found = store.runs_with_copies().unwrap();
        assert_eq!(found.len(), 3);
        assert!(Arc::ptr_eq(&found, &store.runs_with_copies().unwrap()), "nothing changed");
        let filter = RunFilter { with_warnings: true, limit: 2, offset: 1, ..RunFilter::default() };
        let list = store.list_runs(&filter).unwrap();
        assert_eq!((list.rows.len(), list.total), (2, 3), "the second and third of three");
        store.remove_source(sources[0]).unwrap();
        // Until it is purged, the run of the closed source is no row of any list.
        assert_eq!(store.library_counts().unwrap().runs_with_warnings, 2);
        store.remove_source(sources[1]).unwrap();
        assert!(store.runs_with_copies().unwrap().is_empty(), "closed sources make no copies");
    }
}
