//! From what a table is about to its rows: the numbers are those of the pages' own commands.

use figures::table::{Column, Table, Value, known, maybe};

use super::figure::parts;
use crate::Workbench;
use crate::api::{
    self, ApiError, Comparability, ComparedMember, Comparison, FailuresRequest, MatrixRequest,
    RetriesRequest, Stamina, TableOf,
};

/// A table with its data.
pub(super) fn table(workbench: &Workbench, of: &TableOf) -> Result<Table, ApiError> {
    Ok(match of {
        TableOf::Runs { of } => runs(&workbench.compare_runs(of.clone())?),
        TableOf::Pairs { of } => pairs(&workbench.compare_runs(of.clone())?),
        TableOf::Settings { of } => settings(&workbench.compare_runs(of.clone())?),
        TableOf::Survival { of } => survival(&workbench.compare_runs(of.clone())?),
        TableOf::Matrix { of } => matrix(workbench, of)?,
        TableOf::Retries { of } => retries(workbench, of)?,
        TableOf::Failures { of } => failures(workbench, of)?,
    })
}

/// n, events, censored, mean stamina with its interval, median.
fn stamina_columns() -> Vec<Column> {
    let [low, high] = Column::interval("", 2);
    vec![
        Column::integer("n", "n"),
        Column::integer("events", "Failed"),
        Column::integer("censored", "Censored"),
        Column::number("mean_stamina", "Mean stamina", 2).unit("turns"),
        low,
        high,
        Column::integer("tau", "τ"),
        Column::integer("median", "Median").missing("not reached"),
    ]
}

fn stamina(of: &Stamina) -> Vec<Option<Value>> {
    vec![
        known(of.n),
        known(of.events),
        known(of.censored),
        maybe(of.mean),
        maybe(of.ci_low),
        maybe(of.ci_high),
        known(of.tau),
        maybe(of.median),
    ]
}

/// The runs of a comparison.
pub(super) fn runs(data: &Comparison) -> Table {
    let mut columns = vec![
        Column::text("run", "Run"),
        Column::text("harness", "Harness"),
        Column::text("model", "Model"),
        Column::flag("simulated", "Simulated"),
    ];
    columns.extend(stamina_columns());
    columns.extend([
        Column::number("score", "Score", 1),
        Column::number("tokens_per_turn", "Tokens per turn", 0),
        Column::number("seconds_per_turn", "Time per turn", 0).unit("s"),
        Column::number("steps_per_turn", "Tool calls per turn", 1),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::number("cost_per_turn", "Cost per turn", 3).unit("US$"),
        Column::number("cost_per_episode", "Cost per episode", 2).unit("US$"),
        Column::number("cost_per_survived_turn", "Cost per survived turn", 3).unit("US$"),
    ]);
    let mut table = Table::new("runs", "Runs", columns);
    for member in &data.members {
        let spent = &member.spent;
        let mut row = vec![
            known(member.name.as_str()),
            maybe(member.harness.as_deref()),
            maybe(member.model.as_deref()),
            known(member.simulated),
        ];
        row.extend(stamina(&member.stamina));
        row.extend([
            maybe(member.score),
            maybe(spent.tokens_per_turn),
            maybe(spent.seconds_per_turn),
            maybe(spent.steps_per_turn),
            maybe(spent.cost_usd),
            maybe(spent.cost_per_turn),
            maybe(spent.cost_per_episode),
            maybe(spent.cost_per_survived_turn),
        ]);
        table.push(row);
    }
    table.notes.push(format!(
        "Mean stamina is the restricted mean over the first {} turns, with Greenwood's 95 % interval; censoring policy: {}.",
        data.tau, data.policy
    ));
    table.notes.extend(caveats(&data.members));
    table
}

/// What must be known of each member.
fn caveats(members: &[ComparedMember]) -> Vec<String> {
    members
        .iter()
        .filter(|m| !m.caveats.is_empty())
        .map(|m| {
            // Some are sentences, some are not: in a row of them each goes without its full stop.
            let each: Vec<&str> = m.caveats.iter().map(|c| c.trim_end_matches('.')).collect();
            format!("{}: {}.", m.name, each.join("; "))
        })
        .collect()
}

fn name(data: &Comparison, index: u32) -> Option<Value> {
    maybe(data.members.get(index as usize).map(ComparedMember::marked))
}

/// The tests of a comparison.
pub(super) fn pairs(data: &Comparison) -> Table {
    let [low, high] = Column::interval("difference_", 2);
    let [ratio_low, ratio_high] = Column::interval("ratio_", 2);
    let [paired_low, paired_high] = Column::interval("paired_", 2);
    let columns = vec![
        Column::text("a", "Run"),
        Column::text("b", "Against"),
        Column::number("difference", "Difference", 2).unit("turns").missing("n/a"),
        low,
        high,
        Column::p("difference_p", "p"),
        Column::number("ratio", "Ratio", 2).missing("n/a"),
        ratio_low,
        ratio_high,
        Column::number("logrank_chi2", "Log-rank χ²", 2).missing("n/a"),
        Column::integer("logrank_df", "df").missing("n/a"),
        Column::p("logrank_p", "p"),
        Column::p("logrank_p_holm", "p (Holm)"),
        Column::p("logrank_p_permutation", "p (permutation)"),
        Column::integer("shared_scenarios", "Shared scenarios").missing("none"),
        Column::number("paired_mean", "Paired difference", 2).unit("turns").missing("n/a"),
        paired_low,
        paired_high,
        Column::p("paired_p", "p (paired t)"),
        Column::p("paired_p_sign_flip", "p (sign flip)"),
    ];
    let mut table = Table::new("pairs", "Comparisons of two", columns);
    for pair in &data.pairs {
        let [value, low, high, p] = parts(pair.difference).map(maybe);
        let [ratio, ratio_low, ratio_high, _] = parts(pair.ratio).map(maybe);
        let paired = pair.paired.as_ref();
        table.push(vec![
            name(data, pair.a),
            name(data, pair.b),
            value,
            low,
            high,
            p,
            ratio,
            ratio_low,
            ratio_high,
            maybe(pair.logrank.map(|t| t.chi2)),
            maybe(pair.logrank.map(|t| t.df)),
            maybe(pair.logrank.map(|t| t.p)),
            maybe(pair.p_holm),
            maybe(pair.logrank_permutation.map(|t| t.p)),
            maybe(paired.map(|p| p.n)),
            maybe(paired.map(|p| p.mean)),
            maybe(paired.and_then(|p| p.ci_low)),
            maybe(paired.and_then(|p| p.ci_high)),
            maybe(paired.and_then(|p| p.p)),
            maybe(paired.and_then(|p| p.p_sign_flip)),
        ]);
    }
    table.notes.push(format!(
        "Differences and ratios of mean stamina are run against reference over {} turns; p of the log-rank test is corrected by Holm over {}.",
        data.tau,
        if data.pairs.len() == 1 { "this one pair".to_owned() } else { format!("these {} pairs", data.pairs.len()) }
    ));
    table
}

/// The settings that differ.
pub(super) fn settings(data: &Comparison) -> Table {
    let mut columns = vec![Column::text("setting", "Setting"), Column::text("effect", "Effect")];
    for (index, member) in data.members.iter().enumerate() {
        columns.push(Column::text(&format!("run_{}", index + 1), &member.marked()));
    }
    columns.push(Column::text("note", "Note"));
    let mut table = Table::new("settings", "Settings that differ", columns);
    for difference in &data.differences {
        let effect = match difference.comparability {
            Comparability::NoEffect => "no effect",
            Comparability::CannotBeRuledOut => "cannot be ruled out",
            Comparability::NotComparable => "not comparable",
        };
        let mut row = vec![known(difference.setting.as_str()), known(effect)];
        for index in 0..data.members.len() {
            row.push(maybe(difference.values.get(index).and_then(Option::as_deref)));
        }
        row.push(known(difference.note.as_str()));
        table.push(row);
    }
    if !data.members.is_empty() && data.members.iter().all(|m| m.simulated) {
        // A file of values has no heads with names: it has to say this in a row.
        let mut row = vec![known("Played by"), known("the same for all")];
        row.extend(data.members.iter().map(|_| known("a scripted model (simulated)")));
        row.push(None);
        table.push(row);
    }
    if data.differences.is_empty() {
        table.notes.push("No setting that is known differs.".to_owned());
    }
    table
}

/// Kaplan–Meier tables.
pub(super) fn survival(data: &Comparison) -> Table {
    let [low, high] = Column::interval("", 3);
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("turn", "Turn"),
        Column::integer("at_risk", "At risk"),
        Column::integer("events", "Failed"),
        Column::integer("censored", "Censored"),
        Column::number("survival", "S(t)", 3),
        low,
        high,
    ];
    let mut table = Table::new("survival", "Survival by turn (Kaplan–Meier, log-log band)", columns);
    for member in &data.members {
        for row in &member.survival {
            let alive = (row.at_risk > 0 || row.survival <= 0.0).then_some(row.survival);
            table.push(vec![
                known(member.marked()),
                known(row.turn),
                known(row.at_risk),
                known(row.events),
                known(row.censored),
                maybe(alive),
                maybe(row.ci_low),
                maybe(row.ci_high),
            ]);
        }
    }
    table
}

fn matrix(workbench: &Workbench, of: &MatrixRequest) -> Result<Table, ApiError> {
    let data = workbench.get_matrix(of.clone())?;
    let mut columns = vec![Column::text("harness", "Harness"), Column::text("model", "Model")];
    columns.extend(stamina_columns().into_iter().map(|c| c.missing("no run")));
    columns.push(Column::integer("runs", "Runs").missing("none"));
    columns.push(Column::flag("simulated", "Simulated").missing("n/a"));
    let mut table =
        Table::new("matrix", &format!("Mean stamina by harness and model, {}", data.benchmark.1), columns);
    for (h, harness) in data.harnesses.iter().enumerate() {
        for (m, model) in data.models.iter().enumerate() {
            let mut row = vec![maybe(harness.name.as_deref()), maybe(model.name.as_deref())];
            if let Some(Some(cell)) = data.cells.get(h * data.models.len() + m) {
                row.extend(stamina(&cell.stamina));
                row.extend([known(cell.runs.len() as u64), known(cell.simulated)]);
            }
            table.push(row);
        }
    }
    for (model, spread) in data.models.iter().zip(&data.spread) {
        let of = |row: u32| data.harnesses.get(row as usize).and_then(|l| l.name.clone());
        if let Some(spread) = spread
            && let (Some(best), Some(worst), Some(ratio)) = (of(spread.best), of(spread.worst), spread.ratio)
        {
            let model = model.name.as_deref().unwrap_or("unknown model");
            table.notes.push(format!("{model}: {best} lasts {:.2} times as long as {worst}.", ratio.value));
        }
    }
    table
        .notes
        .extend(data.not_comparable.iter().map(|what| format!("Runs here are not comparable. {what}.")));
    table.notes.extend(data.cautions.iter().cloned());
    Ok(table)
}

pub(super) fn retries(workbench: &Workbench, of: &RetriesRequest) -> Result<Table, ApiError> {
    let data = workbench.get_retries(of.clone())?;
    let mut columns = vec![Column::text("run", "Run"), Column::integer("retries", "Retries (R)")];
    columns.extend(stamina_columns());
    let mut table = Table::new("retries", "Mean stamina by retry budget", columns);
    for series in &data.series {
        for point in &series.points {
            let mut row = vec![known(series.marked()), known(point.retries)];
            row.extend(stamina(&point.stamina));
            table.push(row);
        }
        if let Some(gain) = series.gain {
            let interval = match (gain.ci_low, gain.ci_high) {
                (Some(low), Some(high)) => format!(" (95 % CI {low:.2} to {high:.2})"),
                _ => String::new(),
            };
            table.notes.push(format!("{}: feedback gain {:.2}{interval}.", series.marked(), gain.value));
        }
    }
    table.notes.extend(data.cautions.iter().cloned());
    Ok(table)
}

pub(super) fn failures(workbench: &Workbench, of: &FailuresRequest) -> Result<Table, ApiError> {
    let data = workbench.get_failures(of.clone())?;
    Ok(failures_table(&data))
}

/// Classes of failed attempts by group.
pub(super) fn failures_table(data: &api::Failures) -> Table {
    let [low, high] = Column::interval("", 3);
    let columns = vec![
        Column::text("group", "Group"),
        Column::text("class", "Class"),
        Column::text("side", "Of"),
        Column::integer("attempts", "Failed attempts"),
        Column::integer("of", "Of all"),
        Column::number("share", "Share", 3),
        low,
        high,
        Column::integer("tests", "Failing tests"),
    ];
    let mut table = Table::new("failures", "Failed attempts by class", columns);
    let groups: Vec<&api::FailureGroup> =
        if data.groups.is_empty() { vec![&data.total] } else { data.groups.iter().collect() };
    for group in groups {
        for share in &group.shares {
            let class = data.classes.iter().find(|c| c.class == share.class);
            table.push(vec![
                known(group.marked()),
                known(class.map_or(share.class.as_str(), |c| c.label.as_str())),
                maybe(class.map(|c| c.side.as_str())),
                known(share.attempts),
                known(group.attempts),
                known(share.share),
                known(share.ci_low),
                known(share.ci_high),
                known(share.tests),
            ]);
        }
    }
    table.notes.push(format!(
        "{} failed attempts of {} in all; shares with Wilson's 95 % interval.",
        data.attempts, data.all_attempts
    ));
    table
}
