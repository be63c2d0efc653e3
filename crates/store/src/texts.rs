//! Full-text search over transcripts and logs, which stay in their source.
//!
//! The index records only which attempts contain a word. It has each different word once for each attempt, and only the
//! start of long words and numbers. This is a small part of the text. To show the place of a hit, the source is read.
//!
//! - [`words`]: which part of a word is indexed;
//! - [`claims`]: which process indexes an episode;
//! - [`shared_files`]: for which episode a file of several episodes is indexed;
//! - [`index`]: the words;
//! - [`places`]: the search.
//!
//! `episode.texts` records the state of an episode.

pub(crate) mod claims;
pub(crate) mod index;
mod places;
pub(crate) mod shared_files;
mod words;

use std::sync::LazyLock;

use crate::search::OPEN_SOURCES;

pub use self::claims::{TextClaim, UnindexedEpisode};
pub use self::index::{IndexProgress, TextCoverage, TextOwner};
pub use self::places::TextCandidate;
pub use self::words::add_words;

/// Values of `episode.texts`.
pub(crate) const WAITS: i64 = 0;
pub(crate) const INDEXED: i64 = 1;
const IS_INDEXED_NOW: i64 = 2;
const UNREADABLE: i64 = 3;
const IN_PART: i64 = 4;

/// SQL: joins sources that may be read to `run`. Nothing opens the files of a source that is set aside.
static READABLE_SOURCES: LazyLock<String> =
    LazyLock::new(|| format!("{OPEN_SOURCES} AND source.set_aside = 0"));

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use model::{Artifact, ArtifactKind, Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, Store};

    fn words(text: &str) -> HashSet<String> {
        let mut words = HashSet::new();
        add_words(text, &mut words);
        words
    }

    fn library(store: &Store) {
        let source = store.put_source("/data/a", "a", false).unwrap();
        let run = Run::unknown("a", Benchmark { key: "b".into(), name: "B".into() });
        store.put_runs(source, "", "harbor", &[run]).unwrap();
        put(store, source, 1);
    }

    fn put(store: &Store, source: i64, stamp: u64) {
        put_as(store, source, "p", stamp);
    }

    fn put_as(store: &Store, source: i64, key: &str, stamp: u64) {
        let mut attempt = Attempt::new(1, Verdict::Failed);
        attempt.artifacts = vec![Artifact::new(ArtifactKind::AgentLog, "agent.log")];
        let mut episode = Episode::new(key, "task");
        episode.turns = vec![Turn { attempts: vec![attempt], ..Turn::new(1) }];
        let episodes = [("a".to_owned(), episode)];
        let part = ParsedPart { place: "", key, stamp, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
    }

    const OWNER: TextOwner = TextOwner { turn: Some(1), attempt: Some(1) };

    fn claim(store: &Store) -> Option<UnindexedEpisode> {
        store.begin_texts("a process", |_| true).unwrap()
    }

    fn end(store: &Store, episode: &UnindexedEpisode, read: TextCoverage) {
        store.end_texts(episode, read, 1, &HashMap::new()).unwrap();
    }

    #[test]
    fn an_episode_is_found_by_the_words_of_its_texts_until_it_is_read_again() {
        let store = Store::in_memory().unwrap();
        library(&store);
        assert!(!store.texts_known().unwrap().complete);
        let next = claim(&store).unwrap();
        assert_eq!(claim(&store), None, "it is claimed");
        assert!(store.put_texts(&next, &[(OWNER, words("Traceback: no such table"))]).unwrap());
        end(&store, &next, TextCoverage::Whole);
        assert_eq!(store.texts_known().unwrap(), IndexProgress { complete: true, in_part: 0 });
        let found = store.find_texts("trace TABLE", None, 10).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].scenario.as_str(), found[0].owner), ("task", OWNER));
        assert!(store.find_texts("trace chair", None, 10).unwrap().is_empty());
        assert!(store.find_texts("trace", Some(found[0].position), 10).unwrap().is_empty());
        assert!(store.find_texts("-- ?", None, 10).unwrap().is_empty());

        put(&store, 1, 2);
        assert!(store.find_texts("trace", None, 10).unwrap().is_empty());
        assert!(!store.texts_known().unwrap().complete);
    }

    #[test]
    fn an_episode_that_is_read_again_meanwhile_is_not_indexed() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let old = claim(&store).unwrap();
        put(&store, 1, 2);
        assert!(store.text_claims().unwrap().is_empty());
        // A claim of another process does not make this claim valid again.
        let new = claim(&store).unwrap();
        assert!(!store.put_texts(&old, &[(OWNER, words("old words"))]).unwrap());
        end(&store, &old, TextCoverage::Whole);
        assert!(store.find_texts("old", None, 10).unwrap().is_empty());
        assert!(store.put_texts(&new, &[(OWNER, words("new words"))]).unwrap());
    }

    #[test]
    fn the_texts_of_a_source_that_is_set_aside_are_neither_indexed_nor_found() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let next = claim(&store).unwrap();
        store.put_texts(&next, &[(OWNER, words("a word"))]).unwrap();
        end(&store, &next, TextCoverage::Whole);
        store.set_aside(next.source).unwrap();
        assert!(store.find_texts("word", None, 10).unwrap().is_empty());
        put(&store, 1, 2);
        assert_eq!(claim(&store), None);
        assert!(store.texts_known().unwrap().complete, "no episode waits");
        store.begin_reading(next.source, "a process").unwrap();
        assert!(claim(&store).is_some(), "somebody wants it");
    }

    #[test]
    fn a_claim_lasts_until_its_process_is_known_to_have_ended() {
        let store = Store::in_memory().unwrap();
        library(&store);
        let next = claim(&store).unwrap();
        store.retry_texts().unwrap();
        assert_eq!(claim(&store), None, "whoever claimed it may live");
        let claims = store.text_claims().unwrap();
        assert_eq!(
            claims,
            [TextClaim {
                id: next.claim,
                source: next.source,
                process: "a process".to_owned(),
                sets_aside: true
            }]
        );
        store.release_texts_by_process("another process").unwrap();
        assert_eq!(store.text_claims().unwrap(), claims);
        store.release_texts(next.claim).unwrap();
        let next = claim(&store).unwrap();
        store.release_texts_by_process("a process").unwrap();
        assert!(store.text_claims().unwrap().is_empty());
        assert!(!store.put_texts(&next, &[]).unwrap());
        let next = claim(&store).unwrap();
        end(&store, &next, TextCoverage::Unreadable);
        assert_eq!(claim(&store), None);
        store.retry_texts().unwrap();
        let next = claim(&store).unwrap();
        end(&store, &next, TextCoverage::InPart);
        store.retry_texts().unwrap();
        assert_eq!(claim(&store), None, "it would be in part again");
        assert_eq!(store.texts_known().unwrap(), IndexProgress { complete: true, in_part: 1 });
        assert_eq!(store.text_cost(next.source).unwrap(), 1);
    }

    #[test]
    fn a_source_that_is_too_large_waits_until_the_next_start() {
        let store = Store::in_memory().unwrap();
        library(&store);
        store.leave_texts(1).unwrap();
        assert_eq!(claim(&store), None);
        assert_eq!(store.texts_known().unwrap(), IndexProgress { complete: true, in_part: 1 });
        store.retry_texts().unwrap();
        assert!(claim(&store).is_some());
    }

    #[test]
    fn a_shared_file_is_indexed_for_one_episode_and_for_another_after_its_deletion() {
        let store = Store::in_memory().unwrap();
        library(&store);
        put_as(&store, 1, "q", 1);
        let file = 1 << 63;
        let first = claim(&store).unwrap();
        assert!(store.texts_elsewhere(&first, &[file]).unwrap().is_empty());
        store.end_texts(&first, TextCoverage::Whole, 1, &HashMap::from([(file, true)])).unwrap();
        let second = claim(&store).unwrap();
        assert_eq!(store.texts_elsewhere(&second, &[file, 2]).unwrap(), HashSet::from([file]));
        store.end_texts(&second, TextCoverage::Whole, 1, &HashMap::from([(file, false)])).unwrap();
        assert_eq!(claim(&store), None);
        // The first episode is deleted.
        store.drop_parts(1, &[(String::new(), "q".to_owned())], &HashSet::new()).unwrap();
        let reclaimed = claim(&store).unwrap();
        assert_eq!(reclaimed.id, second.id);
        assert!(store.texts_elsewhere(&reclaimed, &[file]).unwrap().is_empty());
    }
}
