//! The table of scores of turns that are graded by themselves: of the cells of a matrix or the members of a comparison.

use workbench::api::TurnScores;

use crate::numbers::{notes, number, score_text};
use crate::text_table;

/// MT@k has a column for each k up to this one, the paper's, and one for the largest.
const TRIES_IN_COLUMNS: usize = 4;

/// A cell or member with its scores.
pub(super) struct ScoredLine<'a> {
    /// What stands in its first columns.
    pub(super) names: Vec<String>,
    /// `None` = they do not apply.
    pub(super) scores: Option<&'a TurnScores>,
    /// Whether a doubt is about its scores.
    pub(super) is_doubtful: bool,
}

/// The scores of each line, with the reasons for missing ones. `name_heads` are the heads of the first columns, `has_published` is
/// whether others published MT@4 of these tasks. Where no score is known, the reasons alone; empty where such scores apply to no line.
pub(super) fn scores_text(name_heads: &[&str], lines: &[ScoredLine<'_>], has_published: bool) -> String {
    let scored = || lines.iter().filter_map(|line| line.scores);
    let is_known = scored().any(is_any_known);
    if !is_known && scored().all(|scores| scores.rounds.missing.is_empty()) {
        return String::new();
    }
    let mut text = String::new();
    if is_known {
        text.push_str("\nScores of turns, 0 to 100\n");
        text.push_str(&table(name_heads, lines));
    }
    let mut sentences = missing_in_words(lines);
    if has_published {
        let sentence =
            "`stamina table published` with the same arguments has the published scores of these tasks.";
        sentences.push(sentence.to_owned());
    }
    notes(&mut text, &sentences);
    text
}

fn table(name_heads: &[&str], lines: &[ScoredLine<'_>]) -> String {
    let counts = lines.iter().filter_map(|line| line.scores).map(|scores| scores.rounds.mt_at_k.len());
    let most = counts.max().unwrap_or(0);
    let tries: Vec<usize> = (1..=most).filter(|k| *k <= TRIES_IN_COLUMNS || *k == most).collect();
    let mut head: Vec<String> = name_heads.iter().map(|name| (*name).to_owned()).collect();
    head.extend(["dataset", "case", "perfect tasks"].map(str::to_owned));
    head.extend(tries.iter().map(|k| format!("MT@{k}")));
    head.extend(["SR", "Gap", "Comp"].map(str::to_owned));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let mut row = line.names.clone();
        let Some(scores) = line.scores else {
            row.resize(head.len(), "n/a".to_owned());
            rows.push(row);
            continue;
        };
        // What is unknown is not in doubt.
        let star = |value: Option<f64>| if line.is_doubtful && value.is_some() { "*" } else { "" };
        row.extend([scores.dataset_score, scores.case_score].map(|score| score_text(score) + star(score)));
        // A number of tasks; over several runs their mean.
        row.push(number(scores.perfect, usize::from(scores.runs > 1)) + star(scores.perfect));
        row.extend(tries.iter().map(|k| score_text(scores.rounds.mt_at_k.get(k - 1).copied())));
        let rounds = &scores.rounds;
        row.extend([score_text(rounds.sr), number(rounds.gap, 1), score_text(rounds.comp)]);
        rows.push(row);
    }
    let right: Vec<bool> = (0..head.len()).map(|column| column >= name_heads.len()).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    text_table::table(&head, &right, &rows)
}

/// Why scores are missing: each reason once, with the lines that it is of where these are not all.
fn missing_in_words(lines: &[ScoredLine<'_>]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for line in lines {
        for reason in line.scores.iter().flat_map(|scores| &scores.rounds.missing) {
            let name = line.names.join(" × ");
            match reasons.iter_mut().find(|(found, _)| found == reason) {
                Some((_, names)) => names.push(name),
                None => reasons.push((reason.as_str(), vec![name])),
            }
        }
    }
    // Such scores do not apply to the other lines.
    let all = lines.iter().filter(|line| line.scores.is_some()).count();
    let sentence = |(reason, names): (&str, Vec<String>)| {
        if names.len() == all { reason.to_owned() } else { format!("{}: {reason}", names.join(", ")) }
    };
    reasons.into_iter().map(sentence).collect()
}

/// Whether any of the scores is known.
fn is_any_known(scores: &TurnScores) -> bool {
    let rounds = &scores.rounds;
    let values =
        [scores.dataset_score, scores.case_score, scores.perfect, rounds.sr, rounds.gap, rounds.comp];
    values.iter().any(Option::is_some) || !rounds.mt_at_k.is_empty()
}
