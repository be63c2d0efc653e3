//! Scores of turns that are graded by themselves: dataset and case score, perfect tasks, MT@k, SR, Gap and Comp; beside
//! them what others published of the same tasks.

use figures::table::{Column, Table, Value, known, maybe};

use super::{mean_columns, push_of, stamina};
use crate::api::{Comparison, PublishedNumber, TurnScores};
use crate::compare::doubts::{grouped, grouped_doubts_about_scores};
use crate::published::label;
use crate::rounds::PAPER;

/// The scores of the members of a comparison.
pub(super) fn scores(data: &Comparison) -> Table {
    let turn_scores = || data.members.iter().filter_map(|member| Some((member, member.scores.as_ref()?)));
    let most_tries = turn_scores().map(|(_, scores)| scores.rounds.mt_at_k.len()).max().unwrap_or(0);
    let mut columns = vec![
        Column::text("run", "Run"),
        Column::text("harness", "Harness").for_machines(),
        Column::text("model", "Model").for_machines(),
        Column::flag("simulated", "Simulated"),
        Column::integer("runs", "Runs").for_machines(),
    ];
    // A pass rate has its interval in the table of runs.
    let shown: &[&str] =
        if data.of_one_turn { &["mean_stamina"] } else { &["mean_stamina", "ci_low", "ci_high"] };
    columns.extend(
        mean_columns(data.of_one_turn)
            .into_iter()
            .map(|column| Column { for_machines: !shown.contains(&column.name.as_str()), ..column }),
    );
    columns.extend(score_columns(most_tries));
    let mut table = Table::new("scores", "Scores of turns", columns);
    for member in &data.members {
        let scores = member.scores.as_ref();
        let mut row = vec![
            known(member.name.as_str()),
            maybe(member.harness.as_deref()),
            maybe(member.model.as_deref()),
            known(member.simulated),
            known(member.runs.len() as u64),
        ];
        row.extend(stamina(&member.stamina));
        row.extend(score_values(scores, most_tries));
        if scores.is_some() {
            push_of(&mut table, &member.stamina, row);
        } else {
            table.push_absent(row, "n/a");
        }
    }
    table.notes.push("Scores are 0 to 100. Dataset: turns passed of those declared, mean over tasks. Case: test cases passed, mean over turns, then tasks. Perfect tasks: the number of tasks with an episode that passed every turn. MT@k: the best reward of each round over the first k attempts, mean over rounds, then tasks. Comp: tasks with an attempt that passed the last round. Round by round, each try began from one snapshot. MT@k is then the share of rounds before the first that its first k tries did not pass. Members of several runs have the means over their runs.".to_owned());
    for (member, scores) in turn_scores() {
        if scores.rounds.round_by_round {
            table.notes.push(format!("{}: MT@k and Comp are evaluated round by round.", member.marked()));
        }
    }
    let missing =
        grouped(&data.members, |member| member.scores.iter().flat_map(|scores| scores.rounds.missing.iter()));
    let too_high = grouped_doubts_about_scores(&data.members);
    table.notes.extend(too_high.into_iter().chain(missing).map(|sentence| format!("{sentence}.")));
    for member in data.members.iter().filter(|member| member.scores.is_none()) {
        table.notes.push(format!(
            "{}: these scores do not apply, since turns are not graded by themselves or a task has one turn.",
            member.marked()
        ));
    }
    table
}

/// Dataset, case, perfect, MT@1 to MT@`most`, SR, Gap, Comp.
pub(super) fn score_columns(most_tries: usize) -> Vec<Column> {
    let mut columns = vec![
        Column::score("dataset_score", "Dataset"),
        Column::score("case_score", "Case"),
        // A number of tasks, over several runs their mean.
        Column::number("perfect", "Perfect tasks", 1),
    ];
    columns.extend((1..=most_tries).map(|k| Column::score(&format!("mt_at_{k}"), &format!("MT@{k}"))));
    columns.extend([
        Column::score("sr", "SR"),
        Column::number("gap", "Gap", 1),
        Column::score("comp", "Comp"),
    ]);
    columns
}

/// What stands in them.
pub(super) fn score_values(scores: Option<&TurnScores>, most_tries: usize) -> Vec<Option<Value>> {
    let rounds = scores.map(|scores| &scores.rounds);
    let mut row = vec![
        maybe(scores.and_then(|scores| scores.dataset_score)),
        maybe(scores.and_then(|scores| scores.case_score)),
        maybe(scores.and_then(|scores| scores.perfect)),
    ];
    row.extend((0..most_tries).map(|k| maybe(rounds.and_then(|rounds| rounds.mt_at_k.get(k).copied()))));
    row.extend([
        maybe(rounds.and_then(|rounds| rounds.sr)),
        maybe(rounds.and_then(|rounds| rounds.gap)),
        maybe(rounds.and_then(|rounds| rounds.comp)),
    ]);
    row
}

/// The metric of which a reader must know how the paper of EvoCode-Bench evaluates it.
const MT_AT_4: &str = "mt4";

/// Published numbers, one a row.
pub(in crate::export) fn published(title: &str, numbers: &[PublishedNumber]) -> Table {
    let columns = vec![
        Column::text("model", "Model"),
        Column::text("harness", "Harness").missing("not said"),
        Column::integer("retries", "Retries (R)").missing("not said"),
        Column::text("metric", "Metric").for_machines(),
        Column::text("label", "What it is"),
        Column::number("value", "Value", 1),
        Column::text("source", "Source"),
        Column::flag("second_hand", "Second hand"),
    ];
    let mut table = Table::new("published", title, columns);
    for number in numbers {
        table.push(vec![
            known(number.model.as_str()),
            maybe(number.harness.as_deref()),
            maybe(number.retries),
            known(number.metric.replace('_', " ")),
            known(label(number)),
            known(number.value),
            known(number.source.as_str()),
            known(number.second_hand),
        ]);
    }
    table.notes.push("None of these was computed here.".to_owned());
    if numbers.iter().any(|number| number.metric == MT_AT_4) {
        table.notes.push(PAPER.to_owned());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "mt4" and "comp tasks" stood in the place of names.
    #[test]
    fn published_numbers_have_names_for_a_reader_and_their_keys_in_files() {
        let table = published("Published numbers", &crate::published::numbers("evocode-bench"));
        let printed = table.to_markdown();
        for name in ["4, in percent |", "| tasks counted in Comp, of 26 |"] {
            assert!(printed.contains(name), "{name}: {printed}");
        }
        assert!(!printed.contains("mt4") && !printed.contains("comp tasks"), "{printed}");
        let csv = table.to_csv();
        assert!(csv.contains("Claude-Opus-4.7,,,mt4,\"MT@4, in percent\",54"), "{csv}");
    }

    #[test]
    fn a_number_of_tasks_is_no_score_of_100() {
        let columns = score_columns(1);
        let top = |name: &str| columns.iter().find(|column| column.name == name).expect(name).top;
        assert_eq!([top("perfect"), top("gap")], [None; 2]);
        // "9.0" beside scores reads as 9 of 100.
        let heading =
            columns.iter().find(|column| column.name == "perfect").map(|column| column.heading.as_str());
        assert_eq!(heading, Some("Perfect tasks"));
        assert_eq!([top("dataset_score"), top("mt_at_1")], [Some(100.0); 2]);
    }
}
