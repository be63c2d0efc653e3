//! The tables of a comparison: its members and their settings.

use figures::table::{Column, Table, Value, known, maybe};
use model::counted;

use super::{
    cautions_without_published, for_machines_if, mean_columns, pass_rate, pass_rate_columns, push_of,
    stamina, stamina_columns,
};
use crate::api::{ComparedMember, Comparison};
use crate::compare::doubts;

/// What is said of a band of survival where some scenario has several episodes; a scenario of runs of one turn is a task.
pub(in crate::export) const fn repeats_note(is_single_turn: bool) -> &'static str {
    if is_single_turn {
        "Where tasks repeat, the band is by task"
    } else {
        "Where scenarios repeat, the band is by scenario"
    }
}

/// The runs of a comparison.
pub(super) fn runs(data: &Comparison) -> Table {
    let mut columns = vec![
        Column::text("run", "Run"),
        Column::text("harness", "Harness"),
        Column::text("model", "Model"),
        Column::flag("simulated", "Simulated"),
    ];
    let one_turn = data.of_one_turn;
    let rates = pass_rate_columns().into_iter().map(|column| column.missing("n/a")).collect();
    columns.extend(for_machines_if(one_turn, stamina_columns()));
    columns.extend(for_machines_if(one_turn, Column::interval_by("bootstrap_", "bootstrap", 2).into()));
    columns.extend(for_machines_if(!one_turn, rates));
    let heads = SpentHeads::new(one_turn);
    columns.extend([
        Column::score("score", "Score"),
        Column::number("tokens_per_turn", heads.tokens, 0),
        Column::number("seconds_per_turn", heads.time, 0).unit("s"),
        Column::number("steps_per_turn", heads.steps, 1),
        Column { for_machines: one_turn, ..Column::number("steps_survived", "Steps survived", 1) },
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column { for_machines: one_turn, ..Column::number("cost_per_turn", "Cost per turn", 3).unit("US$") },
        Column::number("cost_per_episode", heads.cost, 2).unit("US$"),
        Column::number("cost_per_survived_turn", heads.cost_of_passed, 3).unit("US$"),
        Column::integer("cost_known", heads.cost_known).for_machines(),
        Column::text("doubts", "Less sure than it looks").missing("nothing").for_machines(),
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
        row.extend(ends(member.stamina_bootstrap));
        row.extend(pass_rate(member.pass_rate.as_ref()));
        row.extend([
            maybe(member.score),
            maybe(spent.tokens_per_turn),
            maybe(spent.seconds_per_turn),
            maybe(spent.steps_per_turn),
            maybe(spent.steps_survived),
            maybe(spent.cost_usd),
            maybe(spent.cost_per_turn),
            maybe(spent.cost_per_episode),
            maybe(spent.cost_per_survived_turn),
            known(spent.cost_known),
            maybe(Some(member.doubts.join("; ")).filter(|doubts| !doubts.is_empty())),
        ]);
        push_of(&mut table, &member.stamina, row);
        if spent.cost_known < member.stamina.n {
            table.mark_at_least("cost_usd");
        }
    }
    // Horizon, intervals and policy are in the note about the method.
    table.notes.push(if one_turn {
        "Pass rate: trials that passed / scored trials.".to_owned()
    } else {
        format!(
            "Mean stamina is the restricted mean over the first τ turns. Its second interval is by a bootstrap that draws scenarios (seed {}).",
            data.seed
        )
    });
    // Of a run of one turn, steps survived and the cost of a turn have no column.
    let shown = ["tokens", "time", "steps", "steps survived", "cost of a turn"];
    let shown = if one_turn { &shown[..3] } else { &shown[..] };
    table.notes.extend(data.members.iter().filter_map(|member| partial_rates(member, one_turn, shown)));
    let remarks = doubts::grouped(&data.members, |member| member.doubts.iter().chain(&member.caveats));
    table.notes.extend(remarks.into_iter().map(|sentence| format!("{sentence}.")));
    table.notes.extend(cautions_without_published(&data.cautions));
    table
}

/// The heads of what members used: of runs of one turn, a turn is a trial.
struct SpentHeads {
    tokens: &'static str,
    time: &'static str,
    steps: &'static str,
    tool_calls: &'static str,
    turns: &'static str,
    cost: &'static str,
    cost_of_passed: &'static str,
    cost_known: &'static str,
}

impl SpentHeads {
    const fn new(is_single_turn: bool) -> Self {
        if is_single_turn {
            Self {
                tokens: "Tokens per trial",
                time: "Time per trial",
                steps: "Steps per trial",
                tool_calls: "Tool calls per trial",
                turns: "Trials played",
                cost: "Cost per trial",
                cost_of_passed: "Cost per passed trial",
                cost_known: "Trials with a known cost",
            }
        } else {
            Self {
                tokens: "Tokens per turn",
                time: "Time per turn",
                steps: "Steps per turn",
                tool_calls: "Tool calls per turn",
                turns: "Turns played",
                cost: "Cost per episode",
                cost_of_passed: "Cost per survived turn",
                cost_known: "Episodes with a known cost",
            }
        }
    }
}

/// What the members of a comparison used.
pub(super) fn spent(data: &Comparison) -> Table {
    let one_turn = data.of_one_turn;
    let heads = SpentHeads::new(one_turn);
    let columns = vec![
        Column::text("run", "Run"),
        Column::integer("n", if one_turn { "Trials" } else { "n" }),
        Column::integer("input_tokens", "Tokens in"),
        Column::integer("output_tokens", "Tokens out"),
        Column::number("cost_usd", "Cost", 2).unit("US$"),
        Column::integer("cost_known", heads.cost_known),
        Column::number("cost_per_episode", heads.cost, 2).unit("US$"),
        Column { for_machines: one_turn, ..Column::number("cost_per_turn", "Cost per turn", 3).unit("US$") },
        Column::number("cost_per_survived_turn", heads.cost_of_passed, 3).unit("US$"),
        Column::number("agent_seconds", "Agent time", 0).unit("s"),
        Column::integer("turns_played", heads.turns),
        Column { for_machines: one_turn, ..Column::integer("turns_after_failure", "Turns after a failure") },
        Column::number("steps_per_turn", heads.steps, 1),
        Column { for_machines: one_turn, ..Column::number("steps_survived", "Steps survived", 1) },
        Column::number("tool_calls_per_turn", heads.tool_calls, 1),
        Column::number("seconds_per_turn", heads.time, 0).unit("s"),
        Column::number("tokens_per_turn", heads.tokens, 0),
        Column::flag("pareto", "On the Pareto front"),
        Column::integer("cost_per_turn_n", "Episodes with a known cost of a turn").for_machines(),
        Column::integer("steps_n", "Episodes with known steps").for_machines(),
        Column::integer("steps_survived_n", "Episodes with known steps survived").for_machines(),
        Column::integer("tool_calls_n", "Episodes with known tool calls").for_machines(),
        Column::integer("seconds_n", "Episodes with a known time").for_machines(),
        Column::integer("tokens_n", "Episodes with known tokens").for_machines(),
        Column::flag("no_turn_survived", "No turn survived").for_machines(),
        Column::integer("input_tokens_known", "Episodes with known tokens in").for_machines(),
        Column::integer("output_tokens_known", "Episodes with known tokens out").for_machines(),
        Column::integer("agent_seconds_known", "Episodes with a known time of the agent").for_machines(),
    ];
    let mut table = Table::new("spent", "Tokens, cost and time", columns);
    for member in &data.members {
        let spent = &member.spent;
        table.push(vec![
            known(member.marked()),
            known(member.stamina.n),
            maybe(spent.input_tokens),
            maybe(spent.output_tokens),
            maybe(spent.cost_usd),
            known(spent.cost_known),
            maybe(spent.cost_per_episode),
            maybe(spent.cost_per_turn),
            maybe(spent.cost_per_survived_turn),
            maybe(spent.agent_seconds),
            known(spent.turns_played),
            known(spent.turns_after_failure),
            maybe(spent.steps_per_turn),
            maybe(spent.steps_survived),
            maybe(spent.tool_calls_per_turn),
            maybe(spent.seconds_per_turn),
            maybe(spent.tokens_per_turn),
            maybe(spent.pareto),
            known(spent.cost_per_turn_known.episodes),
            known(spent.steps_known.episodes),
            known(spent.steps_survived_known),
            known(spent.tool_calls_known.episodes),
            known(spent.seconds_known.episodes),
            known(spent.tokens_known.episodes),
            known(spent.no_turn_survived),
            known(spent.input_tokens_known),
            known(spent.output_tokens_known),
            known(spent.agent_seconds_known),
        ]);
        let n = member.stamina.n;
        for (column, known_count) in [
            ("input_tokens", spent.input_tokens_known),
            ("output_tokens", spent.output_tokens_known),
            ("cost_usd", spent.cost_known),
            ("agent_seconds", spent.agent_seconds_known),
        ] {
            if known_count < n {
                table.mark_at_least(column);
            }
        }
    }
    for member in data.members.iter().filter(|m| m.spent.no_turn_survived) {
        let reason = member.spent.instead_of_cost_per_survived_turn(one_turn);
        let noun = if one_turn { "passed trial" } else { "survived turn" };
        table.notes.push(format!("{}: {reason}, so there is no cost per {noun}.", member.marked()));
    }
    // As in the table of runs.
    let shown = ["steps", "tool calls", "time", "tokens", "steps survived", "cost of a turn"];
    let shown = if one_turn { &shown[..4] } else { &shown[..] };
    table.notes.extend(data.members.iter().filter_map(|member| partial_rates(member, one_turn, shown)));
    table.notes.extend(data.members.iter().filter_map(|member| partial_sums(member, one_turn)));
    let explanation = if one_turn {
        "Tokens in count cached ones. Rates are over the trials where every attempt tells the number. Cost per passed trial is that of all trials over those that passed."
    } else {
        "Tokens in count cached ones. Rates are over the turns where every attempt tells the number. Cost per survived turn is that of whole episodes, turns after the first failure included, over their stamina."
    };
    table.notes.push(explanation.to_owned());
    table
}

/// Of how much each of these rates of a member is known, where that is not all.
fn partial_rates(member: &ComparedMember, is_single_turn: bool, shown: &[&str]) -> Option<String> {
    let spent = &member.spent;
    let turn = if is_single_turn { "trial" } else { "turn" };
    let (turns, episodes) = ((spent.turns_played, turn), (member.stamina.n, "episode"));
    let rates = [
        ("steps", spent.steps_per_turn, spent.steps_known.turns, turns),
        ("steps survived", spent.steps_survived, spent.steps_survived_known, episodes),
        ("tool calls", spent.tool_calls_per_turn, spent.tool_calls_known.turns, turns),
        ("time", spent.seconds_per_turn, spent.seconds_known.turns, turns),
        ("tokens", spent.tokens_per_turn, spent.tokens_known.turns, turns),
        ("cost of a turn", spent.cost_per_turn, spent.cost_per_turn_known.turns, turns),
    ];
    let partial: Vec<String> = rates
        .into_iter()
        .filter(|(label, rate, known_count, (all, _))| {
            shown.contains(label) && rate.is_some() && known_count < all
        })
        .map(|(label, _, known_count, (all, noun))| {
            format!("{label} for {known_count} of {}", counted(all.into(), noun))
        })
        .collect();
    (!partial.is_empty()).then(|| format!("{}: known are {}.", member.marked(), partial.join(", ")))
}

/// Of how many episodes each sum of a member is wholly known, where that is not all.
fn partial_sums(member: &ComparedMember, is_single_turn: bool) -> Option<String> {
    let (spent, n) = (&member.spent, member.stamina.n);
    let episode = if is_single_turn { "trial" } else { "episode" };
    let sums = [
        ("tokens in", spent.input_tokens.is_some(), spent.input_tokens_known),
        ("tokens out", spent.output_tokens.is_some(), spent.output_tokens_known),
        ("the cost", spent.cost_usd.is_some(), spent.cost_known),
        ("the agent's time", spent.agent_seconds.is_some(), spent.agent_seconds_known),
    ];
    let partial: Vec<String> = sums
        .iter()
        .filter(|(_, is_known, known_count)| *is_known && *known_count < n)
        .map(|(label, _, known_count)| format!("{label} for {known_count} of {}", counted(n.into(), episode)))
        .collect();
    (!partial.is_empty()).then(|| {
        format!("{}: sums are of what is known. Wholly known are {}.", member.marked(), partial.join(", "))
    })
}

/// Mean stamina under other ways to count censored episodes.
pub(super) fn sensitivity(data: &Comparison) -> Table {
    let one_turn = data.of_one_turn;
    let [counted_head, early_head, title] = if one_turn {
        ["Trials not scored", "Share not scored", "Sensitivity to trials that are not scored"]
    } else {
        ["Censored episodes", "Early censored", "Sensitivity to censoring"]
    };
    let mut columns = vec![Column::text("run", "Run"), Column::text("censored_as", counted_head)];
    columns.extend(mean_columns(one_turn));
    columns.push(if one_turn {
        Column::number("change", "Change", 3).missing("n/a")
    } else {
        Column::number("change", "Change", 2).unit("turns").missing("n/a")
    });
    columns.push(Column::share("early_censored", early_head));
    let mut table = Table::new("sensitivity", title, columns);
    let left_out = if one_turn { "left out" } else { "left out; those that passed every planned turn stay" };
    for member in &data.members {
        for (treatment, estimate) in [
            ("as the policy says", &member.stamina),
            ("counted as failures", &member.censored_failed),
            (left_out, &member.censored_dropped),
        ] {
            let mut row = vec![known(member.marked()), known(treatment)];
            row.extend(stamina(estimate));
            row.push(maybe(estimate.mean.zip(member.stamina.mean).map(|(mean, own)| mean - own)));
            row.push(maybe(member.early_censored));
            push_of(&mut table, estimate, row);
        }
    }
    table.notes.push(if one_turn {
        "A trial that was stopped from outside before it passed is not scored.".to_owned()
    } else {
        format!(
            "Early censored is the share of episodes that were stopped from outside before {}.",
            data.early_limit()
        )
    });
    table
}

/// The ends of an interval.
pub(super) fn ends(interval: Option<(f64, f64)>) -> [Option<Value>; 2] {
    [maybe(interval.map(|(low, _)| low)), maybe(interval.map(|(_, high)| high))]
}

/// The setting that says what played the members, as [`Comparison::equal`] and the table of settings name it.
const PLAYED_BY: &str = "Played by";

/// Whether a setting that is the same for all stands in the table of those that differ all the same. A file of values has no heads
/// with names: that all members are simulated has to stand in a row.
pub(in crate::export) fn stands_in_settings(setting: &str, data: &Comparison) -> bool {
    setting == PLAYED_BY && !data.members.is_empty() && data.members.iter().all(|member| member.simulated)
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
        let mut row = vec![known(difference.setting.as_str()), known(difference.mark())];
        for index in 0..data.members.len() {
            row.push(maybe(difference.values.get(index).and_then(Option::as_deref)));
        }
        row.push(known(difference.note.as_str()));
        table.push(row);
    }
    if stands_in_settings(PLAYED_BY, data) {
        let mut row = vec![known(PLAYED_BY), known("the same for all")];
        row.extend(data.members.iter().map(|_| known("simulated model")));
        row.push(known("no real model answered"));
        table.push(row);
    }
    if data.differences.is_empty() {
        table.notes.push("No setting that is known differs.".to_owned());
    }
    let unknown =
        |value: &Option<String>| value.as_ref().is_none_or(|v| v.split(", ").any(|v| v == "unknown"));
    if data.differences.iter().any(|d| d.values.iter().any(unknown)) {
        table.notes.push(
            "Unknown: the source does not say it, so it may be the same as that of the others or not."
                .to_owned(),
        );
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
            table.push(vec![
                known(member.marked()),
                known(row.turn),
                known(row.at_risk),
                known(row.events),
                known(row.censored),
                maybe(row.survival),
                maybe(row.ci_low),
                maybe(row.ci_high),
            ]);
        }
    }
    let repeating: Vec<String> =
        data.members.iter().filter(|m| m.stamina.clustered).map(ComparedMember::marked).collect();
    if !repeating.is_empty() {
        let note = repeats_note(data.of_one_turn);
        table.notes.push(format!("{note} ({}).", repeating.join(", ")));
    }
    table
}
