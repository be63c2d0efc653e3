//! The tables of the Failures page.

use figures::table::{Column, Table, Value, known, maybe};
use model::{Median, RateInterval, counted};

use super::super::method;
use crate::Workbench;
use crate::api::{
    ApiError, FailureCasesRequest, FailureGroup, FailureOrigin, FailureRule, Failures, RepairGroup, marked,
};
use crate::failures::{stretch_ends, turn_repairs};

/// Classes of failed attempts by group.
pub(super) fn shares(data: &Failures) -> Table {
    let [low, high] = Column::interval("", 3);
    let columns = vec![
        Column::text("group", "Group"),
        Column::text("class", "Class"),
        Column::text("side", "Of"),
        Column::integer("attempts", "Failed attempts"),
        Column::integer("of", "Of all"),
        Column::share("share", "Share"),
        low,
        high,
        Column::text("interval", "Interval").missing("n/a").for_machines(),
        Column::integer("tests", "Failing tests"),
    ];
    let mut table = Table::new("failures", "Failed attempts by class", columns);
    let groups: Vec<&FailureGroup> =
        if data.groups.is_empty() { vec![&data.total] } else { data.groups.iter().collect() };
    for group in groups {
        let interval = group.interval.map(|kind| match kind {
            RateInterval::Wilson => "wilson",
            RateInterval::Clustered => "clustered",
        });
        for share in &group.shares {
            let class = data.classes.iter().find(|c| c.class == share.class);
            table.push(vec![
                known(group.marked()),
                known(class.map_or(share.class.as_str(), |c| c.label.as_str())),
                maybe(class.map(|c| c.side.as_str())),
                known(share.attempts),
                known(group.attempts),
                known(share.share),
                maybe(share.ci_low),
                maybe(share.ci_high),
                maybe(interval),
                known(share.tests),
            ]);
        }
    }
    let in_scope = format!(
        "{} of {} in scope.",
        counted(data.attempts.into(), "failed attempt"),
        data.total.attempts_in_scope
    );
    table.notes.push(match method::failure_intervals(data) {
        Some(intervals) => format!("{in_scope} Shares with {intervals}."),
        None => in_scope,
    });
    with_notes(table, data)
}

/// What a reader must know of the numbers stands under each of these tables.
fn with_notes(mut table: Table, data: &Failures) -> Table {
    table.notes.extend(data.not_comparable.iter().map(|difference| format!("Not comparable. {difference}.")));
    table.notes.extend(data.cautions.iter().cloned());
    table
}

/// The heads of an episode and a scenario.
const fn heads(is_single_turn: bool) -> [&'static str; 2] {
    if is_single_turn { ["Trial", "Task"] } else { ["Episode", "Scenario"] }
}

/// Which repeat of its scenario an episode is. Where each has one, a page does not show it.
fn repeat_column(mut repeats: impl Iterator<Item = u32>) -> Column {
    let column = Column::integer("repeat", "Repeat");
    if repeats.any(|repeat| repeat != 1) { column } else { column.for_machines() }
}

/// What first attempts are of, as a heading.
const fn turns_heading(is_single_turn: bool) -> &'static str {
    if is_single_turn { "Trials" } else { "Turns" }
}

/// The failed attempts behind a share, all of them: what the request says of pages does not matter.
pub(super) fn cases(workbench: &Workbench, request: &FailureCasesRequest) -> Result<Table, ApiError> {
    let page = workbench.list_failure_cases(FailureCasesRequest {
        offset: 0,
        limit: u32::MAX,
        ..request.clone()
    })?;
    let [episode, scenario] = heads(page.of_one_turn);
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("run_id", "Id of the run").for_machines(),
        Column::text("episode", episode).for_machines(),
        Column::text("scenario", scenario),
        repeat_column(page.rows.iter().map(|case| case.repeat)),
        Column::integer("turn", "Turn"),
        Column::integer("attempt", "Attempt"),
        Column::text("class", "Class"),
        Column::text("rule", "Rule").for_machines(),
        Column::integer("passed", "Tests passed"),
        Column::integer("total", "Tests run"),
        Column::integer("new", "New"),
        Column::integer("regressed", "Regressed"),
        Column::integer("still_failing", "Still failing"),
        Column::integer("unknown", "Of unknown origin"),
        Column::text("test", "Test").missing("none"),
        Column::integer("passed_in_turn", "Passed before in turn").missing("n/a").for_machines(),
        Column::text("message", "What it said").missing("nothing").for_machines(),
    ];
    let mut table = Table::new("cases", "Failed attempts", columns);
    for case in &page.rows {
        let (new, regressed, still_failing, unknown) = case.origins;
        // Where no origin is known, no number of one is.
        let is_known = new + regressed + still_failing > 0
            || (unknown + case.not_described == 0 && case.total.is_some());
        let origin_count = |n: u32| maybe(is_known.then_some(n));
        table.push(vec![
            known(marked(&case.name, case.simulated)),
            known(case.run.as_str()),
            known(case.episode.as_str()),
            known(case.scenario.as_str()),
            known(case.repeat),
            known(case.turn),
            known(case.attempt),
            known(case.class.replace('_', " ")),
            maybe(case.rule.as_deref()),
            maybe(case.passed),
            maybe(case.total),
            origin_count(new),
            origin_count(regressed),
            origin_count(still_failing),
            maybe(case.total.is_some().then_some(unknown + case.not_described)),
            maybe(case.test.as_deref()),
            maybe(case.passed_in_turn),
            maybe(case.message.as_deref()),
        ]);
    }
    let mut only = Vec::new();
    if !request.group.is_empty() {
        only.push(format!("group {}", request.group));
    }
    if let Some(class) = &request.class {
        let relation = if request.by_tests { "a failing test of" } else { "of" };
        only.push(format!("attempts {relation} the class {}", class.replace('_', " ")));
    }
    if let Some(origin) = request.origin {
        only.push(format!("attempts with a failing test that is {}", word(origin)));
    }
    if !only.is_empty() {
        table.notes.push(format!("Only {}.", only.join("; ")));
    }
    Ok(table)
}

const fn word(origin: FailureOrigin) -> &'static str {
    match origin {
        FailureOrigin::New => "new",
        FailureOrigin::Regressed => "regressed",
        FailureOrigin::StillFailing => "still failing",
        FailureOrigin::Unknown => "of unknown origin",
    }
}

/// Failing tests by origin.
pub(super) fn origins(data: &Failures) -> Table {
    let columns = vec![
        Column::text("origin", "Failing tests"),
        Column::integer("tests", "Number"),
        Column::share("share", "Share"),
        Column::flag("simulated", "Simulated"),
    ];
    let mut table = Table::new("origins", "Failing tests by origin", columns);
    let all: u32 = data.origins.iter().map(|(_, n)| n).sum();
    for (origin, n) in &data.origins {
        let share = (all > 0).then(|| f64::from(*n) / f64::from(all));
        table.push(vec![known(word(*origin)), known(*n), maybe(share), known(data.total.simulated)]);
    }
    table.notes.push(format!(
        "Of {} that the source describes; {} more {} only counted. One that regressed passed in an earlier turn or attempt of its episode.",
        counted(data.tests.into(), "failing test"),
        data.not_described,
        if data.not_described == 1 { "is" } else { "are" }
    ));
    with_notes(table, data)
}

/// At which attempt turns that failed first passed, and how long failing tests take.
pub(super) fn repairs(data: &Failures) -> Table {
    let repair = &data.repair;
    let heading = turns_heading(data.of_one_turn);
    let columns = vec![
        Column::integer("attempt", "Passed at attempt"),
        Column::integer("turns", heading),
        Column::share("share", "Share of those that failed first"),
        Column::flag("simulated", "Simulated"),
    ];
    let title = format!("{heading} that failed at their first attempt, by the one that passed");
    let mut table = Table::new("repairs", &title, columns);
    for (attempt, turns) in &repair.at_attempt {
        let share = (repair.failed_first > 0).then(|| f64::from(*turns) / f64::from(repair.failed_first));
        let simulated = data.repairs.iter().any(|group| group.simulated);
        table.push(vec![known(*attempt), known(*turns), maybe(share), known(simulated)]);
    }
    table.notes.push(turn_repairs(repair, data.of_one_turn));
    table.notes.push(stretch_ends(repair, data.of_one_turn).unwrap_or_else(|| {
        "No stretch in which a test failed was followed: no failing test is described.".to_owned()
    }));
    with_notes(table, data)
}

/// How long it takes until what failed passes, by group.
pub(super) fn repair_times(data: &Failures) -> Table {
    let heading = turns_heading(data.of_one_turn);
    let turn_column = |column: Column| if data.of_one_turn { column.for_machines() } else { column };
    let columns = vec![
        Column::text("group", "Group"),
        Column::integer("failed_first", &format!("{heading} that failed first")),
        Column::integer("tried_again", "Tried again"),
        Column::integer("repaired", "Passed later"),
        Column::share("share", "Share").missing("n/a"),
        Column::integer("median_attempts", "Median attempts").missing("not reached"),
        Column::integer("stretches", "Stretches"),
        Column::integer("stretches_unknown", "End unknown"),
        Column::integer("stretches_repaired", "Ended with a pass"),
        turn_column(Column::integer("in_same_turn", "In the same turn")),
        turn_column(Column::integer("median_turns", "Median turns").missing("not reached")),
        Column::flag("simulated", "Simulated").for_machines(),
    ];
    let mut table = Table::new("repair-times", "Time to repair", columns);
    let all = RepairGroup {
        key: String::new(),
        label: "all".to_owned(),
        simulated: data.repairs.iter().any(|group| group.simulated),
        repair: data.repair.clone(),
    };
    let groups = data.repairs.iter().chain((data.repairs.len() != 1).then_some(&all));
    for group in groups {
        let repair = &group.repair;
        // That nothing passed later says nothing where nothing was tried again.
        let share =
            (repair.tried_again > 0).then(|| f64::from(repair.repaired) / f64::from(repair.failed_first));
        let row = vec![
            known(group.marked()),
            known(repair.failed_first),
            known(repair.tried_again),
            known(repair.repaired),
            maybe(share),
            maybe(repair.median_attempts.time()),
            known(repair.stretches),
            known(repair.stretches_unknown),
            maybe(repair.stretches_repaired),
            maybe(repair.repaired_in_same_turn),
            maybe(repair.median_turns.time()),
            known(group.simulated),
        ];
        table.push(row);
        // Of what did not fail, or was not followed, no median is unreached. One may be unknown where the other is not reached.
        for (column, median) in
            [("median_attempts", repair.median_attempts), ("median_turns", repair.median_turns)]
        {
            if median == Median::Unknown {
                table.name_absent(column, "unknown");
            }
        }
    }
    table.notes.push(format!(
        "{heading} count by their first attempt, stretches in which a test failed by where they began. Medians are Kaplan–Meier's; what was never repaired is censored."
    ));
    with_notes(table, data)
}

/// Tests that flip most.
pub(super) fn flips(data: &Failures) -> Table {
    let [episode, scenario] = heads(data.of_one_turn);
    let columns = vec![
        Column::text("run", "Run"),
        Column::text("run_id", "Id of the run").for_machines(),
        Column::text("episode", episode).for_machines(),
        Column::text("scenario", scenario),
        repeat_column(data.flips.iter().map(|flip| flip.repeat)),
        Column::text("test", "Test"),
        Column::integer("flips", "Changes"),
        Column::text("changed_within", "Changed within turns").missing("none"),
        Column::text("outcomes", "Turn by turn"),
    ];
    let mut table = Table::new("flips", "Tests that flip most", columns);
    for flip in &data.flips {
        table.push(vec![
            known(marked(&flip.run, flip.simulated)),
            known(flip.run.as_str()),
            known(flip.episode.as_str()),
            known(flip.scenario.as_str()),
            known(flip.repeat),
            known(flip.test.as_str()),
            known(flip.flips),
            changed_within(&flip.changed_within),
            known(flip.outcomes.as_str()),
        ]);
    }
    if data.flips.is_empty() {
        let sentence = match (data.repair.stretches, data.repair.stretches_repaired) {
            // Where nothing failed there is none to describe.
            (0, _) if data.attempts > 0 || data.repair.failed_first > 0 => {
                "Whether a test changed its outcome is unknown: no failing test is described.".to_owned()
            }
            (_, None) if data.of_one_turn && data.repair.tried_again == 0 => {
                "No test changed its outcome: nothing was tried again.".to_owned()
            }
            (_, None) => "Whether a test changed its outcome is unknown: passed tests are not described, or not followed over turns. Where tests ran once, none changed.".to_owned(),
            _ => "No test changed its outcome more than once.".to_owned(),
        };
        table.notes.push(sentence);
    }
    table.notes.push("Turn by turn: p passed, f failed, . the turn says nothing of it. Changed within turns: those whose attempts had different outcomes.".to_owned());
    with_notes(table, data)
}

/// `3, 7`; nothing where every turn had one outcome.
fn changed_within(turns: &[u32]) -> Option<Value> {
    let numbers: Vec<String> = turns.iter().map(u32::to_string).collect();
    maybe(Some(numbers.join(", ")).filter(|text| !text.is_empty()))
}

/// The rules, in the order in which they are tried.
pub(super) fn rules(rules: &[FailureRule]) -> Table {
    let columns =
        vec![Column::text("class", "Class"), Column::text("rule", "Rule"), Column::text("when", "When")];
    let mut table =
        Table::new("rules", "Rules that classify failures, in the order in which they are tried", columns);
    for rule in rules {
        table.push(vec![
            known(rule.class.replace('_', " ")),
            known(rule.id.as_str()),
            known(rule.description.as_str()),
        ]);
    }
    table
}
