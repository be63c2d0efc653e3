//! Episodes, and their turns: the grid of a run in rows.

use std::collections::HashMap;

use figures::table::{Column, Table, Value, known, maybe};

use model::Counting;
use store::PlayedTurn;

use super::turns::{Countings, score};
use super::{ScenarioNames, for_machines_if, scenario_columns};
use crate::Workbench;
use crate::api::{ApiError, GridRow, GridSort, Member, RunGridRequest};
use crate::compare::members;
use crate::episodes::grades_turns;

/// A row of the grid with whose it is.
struct MemberRow {
    /// Place of the member among those that were asked for.
    place: usize,
    /// Its name, marked.
    member: String,
    /// Which set of scenarios its name belongs to, and the name in it: runs of one benchmark may write it in several ways.
    in_set: (u32, String),
    run: String,
    /// The readable name of its scenario.
    title: String,
    /// Whether a turn passes only if every test of it does: elsewhere a reward may decide.
    passes_all_tests: bool,
    row: GridRow,
}

/// The episodes of members. By scenario, those of one scenario stand together; else member by member.
fn episodes(workbench: &Workbench, shown: &[Member], sort: GridSort) -> Result<Vec<MemberRow>, ApiError> {
    let mut all = Vec::new();
    let pools = members::resolve(&workbench.store, shown)?;
    let names = ScenarioNames::from_pools(&pools);
    for (place, pool) in pools.iter().enumerate() {
        for run in &pool.runs {
            let slug = run.record.entry.slug.clone();
            let request = RunGridRequest { run: slug.clone(), sort, offset: 0, limit: 0 };
            let passes_all_tests = !grades_turns(&run.record);
            let mut rows = workbench.run_grid(request)?.rows;
            rows.retain(|row| !run.copied.contains(&row.episode));
            let played = rows.into_iter().map(|row| MemberRow {
                place,
                member: pool.marked(),
                in_set: (run.set, run.scenario_name(&row.scenario).into_owned()),
                run: slug.clone(),
                title: names.name(run, &row.scenario).to_owned(),
                passes_all_tests,
                row,
            });
            all.extend(played);
        }
    }
    if sort == GridSort::Scenario {
        all.sort_by(|a, b| {
            let key = |p: &MemberRow| (p.in_set.clone(), p.place, p.row.repeat, p.row.episode.clone());
            key(a).cmp(&key(b))
        });
    }
    Ok(all)
}

/// What begins a row: which episode it is. Of runs of one turn, its scenario is a task.
fn identity(is_single_turn: bool) -> Vec<Column> {
    let [scenario, title] = scenario_columns(is_single_turn);
    vec![
        scenario,
        title,
        Column::text("run", "Run"),
        Column::text("run_id", "Id of the run").for_machines(),
        Column::text("episode", "Episode").for_machines(),
        Column::integer("repeat", "Repeat"),
    ]
}

impl MemberRow {
    fn identity(&self) -> Vec<Option<Value>> {
        vec![
            known(self.row.scenario.as_str()),
            known(self.title.as_str()),
            known(self.member.as_str()),
            known(self.run.as_str()),
            known(self.row.episode.as_str()),
            known(self.row.repeat),
        ]
    }
}

/// One row an episode.
pub(super) fn table(workbench: &Workbench, shown: &[Member], sort: GridSort) -> Result<Table, ApiError> {
    let one_turn = members::all_of_one_turn(&members::resolve(&workbench.store, shown)?);
    let mut columns = identity(one_turn);
    columns.extend(for_machines_if(!one_turn, vec![Column::text("outcome", "Came to").missing("n/a")]));
    columns.extend(for_machines_if(
        one_turn,
        vec![
            Column::integer("planned_turns", "Planned turns"),
            Column::integer("stamina", "Stamina").unit("turns"),
            Column::flag("at_least", "At least"),
            Column::integer("failed_turn", "First not passed").missing("none"),
        ],
    ));
    columns.push(Column::text("end_reason", "End"));
    columns.extend(for_machines_if(
        one_turn,
        vec![
            Column::integer("passed_turns", "Turns passed"),
            Column::integer("after_retries", "After retries"),
            Column::integer("failed_turns", "Turns failed"),
        ],
    ));
    columns.push(Column::score("score", "Score"));
    columns.push(Column::text("invalid", "Withdrawn").missing("no").for_machines());
    let title = match (one_turn, sort) {
        (true, GridSort::Scenario) => "Trials by task",
        (true, _) => "Trials",
        (false, GridSort::Scenario) => "Episodes by scenario",
        (false, _) => "Episodes",
    };
    let mut table = Table::new("episodes", title, columns);
    let mut withdrawn = Vec::new();
    for played in episodes(workbench, shown, sort)? {
        let row = &played.row;
        if let Some(reason) = &row.invalid {
            withdrawn.push(format!("{} ({})", row.episode, reason.trim_end_matches('.')));
        }
        let count = |letters: &str| row.cells.chars().filter(|c| letters.contains(*c)).count() as u64;
        let mut cells = played.identity();
        cells.extend([
            maybe(one_turn.then(|| row.outcome())),
            maybe(row.planned_turns),
            known(row.stamina),
            known(row.censored),
            maybe(row.failed_turn),
            known(row.end_reason.label()),
            known(count("pr")),
            known(count("r")),
            known(count("fe")),
            maybe(row.score),
            maybe(row.invalid.as_deref()),
        ]);
        table.push(cells);
    }
    if !withdrawn.is_empty() {
        table.notes.push(format!("Withdrawn, and in no number: {}.", withdrawn.join(", ")));
    }
    if one_turn {
        table.notes.push(
            "A trial that was stopped from outside before it passed is not scored: it is in no pass rate."
                .to_owned(),
        );
        return Ok(table);
    }
    table.notes.push(
        "Stamina is the number of turns passed before the first one not passed; where the episode was censored, it is at least that."
            .to_owned(),
    );
    Ok(table)
}

/// One row a turn of an episode: the grid.
pub(super) fn turns(workbench: &Workbench, members: &[Member], sort: GridSort) -> Result<Table, ApiError> {
    let mut columns = identity(members::all_of_one_turn(&members::resolve(&workbench.store, members)?));
    columns.extend([
        Column::integer("turn", "Turn"),
        Column::text("state", "Came to"),
        Column::flag("after_failure", "After a failure"),
        Column::integer("attempts", "Attempts"),
        Column::integer("passed", "Tests passed"),
        Column::integer("total", "Tests run"),
        Column::score("score", "Score"),
        Column::integer("failing", "Failing tests"),
    ]);
    let mut table = Table::new("turns", "Turns of every episode", columns);
    let tried = tried(workbench, members)?;
    for played in
        episodes(workbench, members, sort)?.into_iter().filter(|played| played.row.invalid.is_none())
    {
        let row = &played.row;
        let tried = tried.get(&(played.run.clone(), row.episode.clone()));
        for ((turn, letter), index) in (1_u32..).zip(row.cells.chars()).zip(0_usize..) {
            let now = tried.and_then(|turns| turns.iter().find(|(tried, _)| tried.number == turn));
            let score = now.and_then(|(turn, counting)| score(turn, *counting));
            let now = now.map(|(turn, _)| turn);
            let listed = row.failing.get(index).copied().flatten();
            let failing = listed.or_else(|| none_failing(now?, letter, played.passes_all_tests));
            let mut cells = played.identity();
            cells.extend([
                known(turn),
                known(state(letter)),
                known(!row.censored && turn > row.stamina + 1),
                known(now.map_or(0, |turn| turn.attempts.len() as u32)),
                maybe(now.and_then(|turn| turn.passed)),
                maybe(now.and_then(|turn| turn.total)),
                maybe(score),
                maybe(failing),
            ]);
            table.push(cells);
        }
    }
    table.notes.push(
        "Tests and score are those of the last attempt at a turn. Score: tests passed in 100 tests; a turn that passed uncounted has 100, one that ended without a verdict 0. After a failure: the episode failed at an earlier turn. A turn that passed has no failing test, unless a reward decides and the source counts no tests: then they are unknown."
            .to_owned(),
    );
    Ok(table)
}

/// A turn, and how its tests enter scores.
type CountedTurn = (PlayedTurn, Counting);

/// What was tried at the turns of each episode, by run and episode.
fn tried(
    workbench: &Workbench,
    shown: &[Member],
) -> Result<HashMap<(String, String), Vec<CountedTurn>>, ApiError> {
    let mut all = HashMap::new();
    for pool in members::resolve(&workbench.store, shown)? {
        for run in &pool.runs {
            let plays = run.episode_turns(&workbench.store)?;
            let countings = Countings::from_run(&workbench.store, &run.record)?;
            let mut turns: HashMap<_, _> = plays.into_iter().map(|play| (play.episode, play.turns)).collect();
            for episode in &run.episodes {
                if let Some(turns) = turns.remove(&episode.id) {
                    let with_counting = |turn: PlayedTurn| {
                        let counting = countings.counting(episode.id, &turn);
                        (turn, counting)
                    };
                    let turns = turns.into_iter().map(with_counting).collect();
                    all.insert((run.record.entry.slug.clone(), episode.slug.clone()), turns);
                }
            }
        }
    }
    Ok(all)
}

/// The failing tests of a turn of which none is listed: 0 where its counts say so, or where it could not have passed otherwise.
fn none_failing(turn: &PlayedTurn, letter: char, passes_all_tests: bool) -> Option<u32> {
    let has_passed = matches!(letter, 'p' | 'r');
    // The counts of an attempt that did not end are not the last ones.
    let has_ended = has_passed || matches!(letter, 'f' | 'e');
    match (turn.passed, turn.total) {
        // Where failing ones are counted, they are listed. The others neither passed nor failed.
        (Some(passed), Some(total)) if has_ended && total > 0 => (passed <= total).then_some(0),
        _ if has_passed && (passes_all_tests || turn.total == Some(0)) => Some(0),
        _ => None,
    }
}

/// What a letter of the grid stands for.
const fn state(letter: char) -> &'static str {
    match letter {
        'p' => "passed",
        'r' => "passed after retries",
        'f' => "failed",
        'e' => "error",
        'c' => "censored",
        _ => "not reached",
    }
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;

    /// "Unknown or none" stood beside turns that passed every test.
    #[test]
    fn a_turn_that_passed_all_its_tests_has_no_failing_one() {
        let turn = |verdict, counts: Option<(u32, u32)>| PlayedTurn {
            number: 1,
            passed: counts.map(|(passed, _)| passed),
            total: counts.map(|(_, total)| total),
            attempts: vec![(verdict, None)],
        };
        let passed = |counts, all| none_failing(&turn(Verdict::Passed, counts), 'p', all);
        assert_eq!([passed(Some((40, 40)), true), passed(Some((40, 40)), false)], [Some(0); 2]);
        assert_eq!(
            [passed(None, true), passed(None, false)],
            [Some(0), None],
            "a reward says nothing of tests"
        );
        let failed = |counts| none_failing(&turn(Verdict::Failed, counts), 'f', true);
        assert_eq!([failed(None), failed(Some((0, 0)))], [None; 2]);
        assert_eq!(failed(Some((41, 44))), Some(0), "three neither passed nor failed");
        assert_eq!(none_failing(&turn(Verdict::Error, None), 'e', true), None);
        assert_eq!(none_failing(&turn(Verdict::Unfinished, Some((3, 3))), 'c', true), None);
    }
}
