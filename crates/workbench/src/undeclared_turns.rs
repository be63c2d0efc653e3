//! Scores of runs that may be too high, because no source says how many turns some scenario has: a doubt about their numbers,
//! whatever format they are of. The summary of a run has it among its doubts; whoever shows scores finds it there.

use ingest::formats::table::FORMAT as TABLE;
use model::{by_sentence, counted, runs_in_words};
use store::{RunEntry, RunId, Store, Summary, UndeclaredTurns};

use crate::api::ApiError;

/// How the doubt ends. Others end otherwise.
const SCORE_TOO_HIGH: &str = "the most turns seen stand in for it, so the score may be too high";

/// What to do so that a source of this format says how many turns there are, in parentheses after a space; empty where nothing is
/// known to help.
pub(crate) fn way_out(format: &str) -> &'static str {
    match format {
        TABLE => " (give the column planned_turns)",
        "harbor" => " (open the folder of the task together with the job)",
        "staminabench" => " (give n_turns in config.yaml)",
        _ => "",
    }
}

/// Why scores over the episodes of these runs, which are of this format, may be too high; `None` = they may not, or there are none.
pub(crate) fn doubt_about_turns(
    store: &Store,
    runs: &[RunId],
    format: &str,
    summary: &Summary,
) -> Result<Option<String>, ApiError> {
    let scores = [summary.score, summary.dataset_score, summary.case_score];
    // A run with a pass rate plays one turn.
    if scores.iter().all(Option::is_none) || summary.pass_rate.is_some() {
        return Ok(None);
    }
    let mut sum = UndeclaredTurns::default();
    for run in runs {
        let undeclared = store.undeclared_turns(*run)?;
        sum.episodes = sum.episodes.saturating_add(undeclared.episodes);
        sum.all = sum.all.saturating_add(undeclared.all);
    }
    Ok(doubt(sum, format))
}

fn doubt(undeclared: UndeclaredTurns, format: &str) -> Option<String> {
    let all = counted(undeclared.all.into(), "episode");
    (undeclared.episodes > 0).then(|| {
        format!(
            "the declared number of turns is unknown for {} of {all}{}, and {SCORE_TOO_HIGH}",
            undeclared.episodes,
            way_out(format)
        )
    })
}

/// Whether a doubt is this one: it is about scores, and neither about mean stamina nor about a pass rate.
pub fn is_about_scores(doubt: &str) -> bool {
    doubt.ends_with(SCORE_TOO_HIGH)
}

/// Those of the runs of a member. Of several runs each names its own: it counts their episodes only.
pub(crate) fn doubts_about_turns<'a>(runs: impl Iterator<Item = &'a RunEntry>) -> Vec<String> {
    let runs: Vec<&RunEntry> = runs.collect();
    let named = |(doubt, names): (&str, Vec<&str>)| {
        if runs.len() == 1 { doubt.to_owned() } else { format!("{}: {doubt}", runs_in_words(&names)) }
    };
    by_sentence(doubts_of(&runs)).into_iter().map(named).collect()
}

/// The same of any runs, in sentences that name them.
pub(crate) fn sentences_about_turns<'a>(runs: impl Iterator<Item = &'a RunEntry>) -> Vec<String> {
    let runs: Vec<&RunEntry> = runs.collect();
    let sentence = |(doubt, names): (&str, Vec<&str>)| format!("{}: {doubt}.", runs_in_words(&names));
    by_sentence(doubts_of(&runs)).into_iter().map(sentence).collect()
}

/// The doubt of each run that has it, with the name of the run.
fn doubts_of<'a>(runs: &[&'a RunEntry]) -> Vec<(&'a str, &'a str)> {
    let each = runs.iter().filter_map(|run| Some((run.slug.as_str(), run.summary.as_ref()?)));
    each.flat_map(|(name, summary)| {
        let doubts = summary.doubts.iter().map(String::as_str).filter(|doubt| is_about_scores(doubt));
        doubts.map(move |doubt| (doubt, name))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_in_doubt_where_turns_are_unknown_and_something_passed() {
        assert_eq!(doubt(UndeclaredTurns { episodes: 0, all: 3 }, TABLE), None);
        let found = |format: &str| doubt(UndeclaredTurns { episodes: 1, all: 3 }, format).unwrap();
        let unknown = "the declared number of turns is unknown for 1 of 3 episodes";
        assert_eq!(found("evocode"), format!("{unknown}, and {SCORE_TOO_HIGH}"));
        let table_doubt = found(TABLE);
        assert_eq!(table_doubt, format!("{unknown} (give the column planned_turns), and {SCORE_TOO_HIGH}"));
        assert!(is_about_scores(&table_doubt) && !is_about_scores("2 of 3 episodes"));
    }
}
