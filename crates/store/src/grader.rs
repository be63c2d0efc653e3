//! Attempts whose tool calls name places of the verifier of their task.

use std::collections::BTreeSet;

use model::GraderPlace;

use crate::values::no_word;
use crate::withdrawn_filter::VALID_EPISODE;
use crate::{Result, RunId, Store};

/// How many attempts of a run name places of the verifier of their task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraderMentions {
    /// Attempts in all.
    pub attempts: u32,
    /// Attempts with a transcript.
    pub known: u32,
    /// Attempts whose tool calls name such a place.
    pub naming: u32,
    /// The first of these, in the order of episode and turn.
    pub first: Vec<GraderMention>,
}

/// An attempt whose tool calls name places of the verifier of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraderMention {
    /// Id of its episode inside the run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// The named places.
    pub places: BTreeSet<GraderPlace>,
}

/// Places of a verifier as one column.
pub(crate) fn words(places: &BTreeSet<GraderPlace>) -> String {
    places.iter().map(|place| place.as_str()).collect::<Vec<_>>().join(" ")
}

/// The inverse of [`words`].
pub(crate) fn places(words: &str) -> Result<BTreeSet<GraderPlace>> {
    let place = |word| GraderPlace::parse(word).ok_or_else(|| no_word("place of a verifier", word));
    words.split_whitespace().map(place).collect()
}

impl Store {
    /// How many attempts of a run name places of the verifier of their task, with the first `most` of them. Those of withdrawn
    /// episodes do not count.
    pub fn grader_mentions(&self, run: RunId, limit: u32) -> Result<GraderMentions> {
        self.read(|conn| {
            let run_query = format!(
                "FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE}"
            );
            let counts = format!(
                "SELECT count(*), count(grader_places), count(nullif(grader_places, '')) {run_query}"
            );
            let (attempts, known, naming) = conn
                .prepare_cached(&counts)?
                .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let first = format!(
                "SELECT episode.slug, turn.number, attempt.number, grader_places {run_query} AND grader_places <> ''
                 ORDER BY episode.id, turn.number, attempt.number LIMIT ?2"
            );
            let mut find = conn.prepare_cached(&first)?;
            let first = find.query_and_then((run, limit), |row| -> Result<GraderMention> {
                Ok(GraderMention {
                    episode: row.get(0)?,
                    turn: row.get(1)?,
                    attempt: row.get(2)?,
                    places: places(&row.get::<_, String>(3)?)?,
                })
            })?;
            Ok(GraderMentions { attempts, known, naming, first: first.collect::<Result<_>>()? })
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, RunFilter};

    #[test]
    fn attempts_of_withdrawn_episodes_do_not_count() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "harbor", &[Run::unknown("r", benchmark)]).unwrap();
        let episodes: Vec<(String, Episode)> = ["x", "y"]
            .into_iter()
            .map(|name| {
                let mut episode = Episode::new(name, name);
                let mut turn = Turn::new(1);
                let mut attempt = Attempt::new(1, Verdict::Passed);
                attempt.grader_places = Some(BTreeSet::from([GraderPlace::Tests]));
                turn.attempts.push(attempt);
                episode.turns.push(turn);
                ("r".to_owned(), episode)
            })
            .collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        let naming = || {
            let mentions = store.grader_mentions(run.id, 10).unwrap();
            (mentions.attempts, mentions.naming, mentions.first.len())
        };
        assert_eq!(naming(), (2, 2, 2));
        let trial = store.all_episodes(run.id).unwrap().remove(0).slug;
        store.withdraw_episodes(&run.slug, &[trial], Some("wrong image")).unwrap();
        assert_eq!(naming(), (1, 1, 1));
    }
}
