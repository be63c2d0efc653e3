//! Attempts whose agent left processes that could write the verdict of its task.

use crate::withdrawn_filter::VALID_EPISODE;
use crate::{Result, RunId, Store};

/// What second verifications of a run came to, where processes that the agent had left could not write the verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessesLeft {
    /// Attempts that came to the same.
    pub same: u32,
    /// Attempts that came to other results, which count.
    pub other: u32,
    /// Attempts of which none could be carried out: the verdict may be that of such a process.
    pub unconfirmed: u32,
    /// The first attempts of the last two kinds, in the order of episode and turn.
    pub first: Vec<UnconfirmedAttempt>,
}

/// An attempt whose first verdict no second verification confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnconfirmedAttempt {
    /// Id of its episode inside the run.
    pub episode: String,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// Whether the second verification came to other results. Else none could be carried out.
    pub has_other_results: bool,
}

impl Store {
    /// What second verifications of a run came to, with the first `most` attempts whose verdict none confirmed. Those of withdrawn
    /// episodes do not count.
    pub fn processes_left(&self, run: RunId, limit: u32) -> Result<ProcessesLeft> {
        self.read(|conn| {
            // Few attempts have the field, and only these are parsed.
            let run_query = format!(
                "SELECT episode.id AS episode, episode.slug AS slug, turn.number AS turn, attempt.number AS attempt,
                   attempt.extra ->> '$.processes_left' AS word
                 FROM episode JOIN turn ON turn.episode = episode.id JOIN attempt ON attempt.turn = turn.id
                 WHERE episode.run = ?1 AND {VALID_EPISODE} AND instr(attempt.extra, '\"processes_left\"') > 0"
            );
            let counts = format!(
                "SELECT count(*) FILTER (WHERE word = 'same_verdict'), count(*) FILTER (WHERE word = 'other_verdict'),
                   count(*) FILTER (WHERE word = 'unconfirmed') FROM ({run_query})"
            );
            let (same, other, unconfirmed) = conn
                .prepare_cached(&counts)?
                .query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let first = format!(
                "SELECT slug, turn, attempt, word = 'other_verdict' FROM ({run_query})
                 WHERE word IN ('other_verdict', 'unconfirmed') ORDER BY episode, turn, attempt LIMIT ?2"
            );
            let mut find = conn.prepare_cached(&first)?;
            let first = find.query_map((run, limit), |row| {
                Ok(UnconfirmedAttempt {
                    episode: row.get(0)?,
                    turn: row.get(1)?,
                    attempt: row.get(2)?,
                    has_other_results: row.get(3)?,
                })
            })?;
            Ok(ProcessesLeft { same, other, unconfirmed, first: first.collect::<rusqlite::Result<_>>()? })
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, RunFilter};

    #[test]
    fn attempts_are_counted_by_what_a_second_verification_came_to() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "staminabench", &[Run::unknown("r", benchmark)]).unwrap();
        let words = [
            ("x", vec!["same_verdict".into(), "unconfirmed".into(), "else".into()]),
            ("y", vec!["other_verdict".into(), 3.into(), serde_json::Value::Null, "unconfirmed".into()]),
        ];
        let episodes: Vec<(String, Episode)> = words
            .into_iter()
            .map(|(name, words)| {
                let mut episode = Episode::new(name, name);
                for (word, number) in words.into_iter().zip(1..) {
                    let mut turn = Turn::new(number);
                    let mut attempt = Attempt::new(1, Verdict::Passed);
                    attempt.extra.insert("processes_left".to_owned(), word);
                    turn.attempts.push(attempt);
                    episode.turns.push(turn);
                }
                ("r".to_owned(), episode)
            })
            .collect();
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        let attempt = |episode: &str, turn: u32, has_other_results: bool| UnconfirmedAttempt {
            episode: episode.to_owned(),
            turn,
            attempt: 1,
            has_other_results,
        };
        let first = vec![attempt("x", 2, false), attempt("y", 1, true)];
        let all = ProcessesLeft { same: 1, other: 1, unconfirmed: 2, first };
        assert_eq!(store.processes_left(run.id, 2).unwrap(), all);
        let trial =
            store.all_episodes(run.id).unwrap().into_iter().find(|episode| episode.slug == "y").unwrap().slug;
        store.withdraw_episodes(&run.slug, &[trial], Some("wrong image")).unwrap();
        let expected =
            ProcessesLeft { same: 1, other: 0, unconfirmed: 1, first: vec![attempt("x", 2, false)] };
        assert_eq!(store.processes_left(run.id, 2).unwrap(), expected);
    }
}
