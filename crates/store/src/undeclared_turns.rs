//! Episodes of scenarios of which no source says how many turns they have.

use crate::withdrawn_filter::VALID_EPISODE;
use crate::{Result, RunId, Store};

/// How many episodes of a run are of scenarios whose number of turns is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UndeclaredTurns {
    /// Those of scenarios of which something passed. The others score 0, however many turns there are.
    pub episodes: u32,
    /// All episodes of the run.
    pub all: u32,
}

impl Store {
    /// How many episodes of a run are of scenarios whose number of turns nothing says: no episode of the scenario has one, or one
    /// that stands for it as a lower bound (`declared_steps` of Harbor). Withdrawn episodes do not count.
    pub fn undeclared_turns(&self, run: RunId) -> Result<UndeclaredTurns> {
        self.read(|conn| {
            let sql = format!(
                "WITH scenario AS (SELECT count(*) AS episodes, sum(passed_turns) + sum(ratio_sum) AS passed,
                     max(planned_turns IS NOT NULL
                       AND instr(coalesce(extra, ''), '\"declared_steps\":\"unknown') = 0) AS declared
                   FROM episode WHERE episode.run = ?1 AND {VALID_EPISODE} GROUP BY scenario)
                 SELECT coalesce(sum(episodes) FILTER (WHERE NOT declared AND passed > 0), 0), coalesce(sum(episodes), 0)
                 FROM scenario"
            );
            let mut find = conn.prepare_cached(&sql)?;
            Ok(find.query_row([run], |row| Ok(UndeclaredTurns { episodes: row.get(0)?, all: row.get(1)? }))?)
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};

    use super::*;
    use crate::{ParsedPart, RunFilter};

    #[test]
    fn episodes_are_counted_of_whose_scenario_no_number_of_turns_is_known() {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/data/a", "a", false).unwrap();
        let benchmark = Benchmark { key: "b".into(), name: "B".into() };
        store.put_runs(source, "", "staminabench", &[Run::unknown("r", benchmark)]).unwrap();
        let episode = |key: &str, scenario: &str, verdict: Verdict, planned: Option<u32>| {
            let mut episode = Episode::new(key, scenario);
            let mut turn = Turn::new(1);
            turn.attempts.push(Attempt::new(1, verdict));
            episode.turns.push(turn);
            episode.planned_turns = planned;
            episode
        };
        let mut lower_bound = episode("e", "bounded", Verdict::Passed, Some(2));
        lower_bound.extra.insert("declared_steps".to_owned(), "unknown, at least 2".into());
        let mut logged = episode("f", "logged", Verdict::Passed, Some(2));
        logged.extra.insert("declared_steps".to_owned(), "2, by trial.log".into());
        let episodes = [
            episode("a", "unknown", Verdict::Passed, None),
            episode("b", "unknown", Verdict::Failed, None),
            episode("c", "known", Verdict::Passed, None),
            episode("d", "known", Verdict::Failed, Some(3)),
            lower_bound,
            logged,
            episode("g", "failed", Verdict::Failed, None),
        ]
        .map(|episode| ("r".to_owned(), episode));
        let part =
            ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
        store.put_part(source, &part).unwrap();
        let run = store.list_runs(&RunFilter::default()).unwrap().rows.remove(0).1;
        assert_eq!(store.undeclared_turns(run.id).unwrap(), UndeclaredTurns { episodes: 3, all: 7 });
        let bounded =
            store.all_episodes(run.id).unwrap().into_iter().find(|entry| entry.key == "e").unwrap().slug;
        store.withdraw_episodes(&run.slug, &[bounded], Some("wrong image")).unwrap();
        assert_eq!(store.undeclared_turns(run.id).unwrap(), UndeclaredTurns { episodes: 2, all: 6 });
    }
}
