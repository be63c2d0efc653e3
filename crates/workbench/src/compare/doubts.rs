//! What makes a mean, a pass rate or a sum less sure than it looks, in a few words each: said where the number stands.

use model::{CensoringPolicy, EndReason, Ending, PassRate, by_sentence, counted, dollars, runs_in_words};
use store::EpisodeEntry;

use super::coverage;
use super::members::all_of_one_turn;
pub(crate) use super::pool::Part;
use super::pool::Pool;
use crate::api::{ComparedMember, Stamina};
use crate::episodes::episode_noun;
use crate::undeclared_turns::is_about_scores;

/// A greater share of episodes that were stopped from outside is said.
pub(crate) const MUCH_CENSORED: f64 = 0.1;

/// What is said of intervals alone, of a pass rate and of a mean.
const OF_INTERVALS: [&str; 2] = [
    "several trials of a task, interval clustered by task",
    "several episodes of a scenario, interval by scenario",
];

/// A mean stamina or pass rate with what it is made of.
pub(crate) struct Number<'a> {
    /// The runs that are taken together.
    pub(crate) parts: Vec<Part<'a>>,
    /// Their mean stamina.
    pub(crate) stamina: &'a Stamina,
    /// Their pass rate, where that is shown.
    pub(crate) pass_rate: Option<&'a PassRate>,
    /// Share of their episodes that were stopped from outside before τ.
    pub(crate) early_censored: Option<f64>,
}

impl Number<'_> {
    /// What makes it less sure.
    pub(crate) fn doubts(&self, policy: &CensoringPolicy) -> Vec<String> {
        let mut doubts = self.coverage();
        doubts.extend(self.stopped());
        doubts.extend(self.repeats().map(str::to_owned));
        doubts.extend(self.refused_alike());
        let unrecognised = (self.parts.iter().flat_map(|part| part.episodes))
            .filter(|e| e.unrecognised && policy.ending(e.end_reason) == Ending::Event)
            .count();
        if unrecognised > 0 {
            doubts.push(format!(
                "{} with a cause that is not recognized, counted as failed",
                counted(unrecognised as u64, "end")
            ));
        }
        doubts
    }

    /// Which of the runs are there in part: `35 of 89 episodes`.
    fn coverage(&self) -> Vec<String> {
        let noun = episode_noun(self.pass_rate.is_some());
        let missing = coverage::missing(&self.parts, noun).into_iter();
        let alone = self.parts.len() == 1;
        let mut sentences: Vec<String> =
            missing.map(|(run, text)| if alone { text } else { format!("{text} of {run}") }).collect();
        let withdrawn = coverage::withdrawn(&self.parts.iter().collect::<Vec<_>>());
        if withdrawn > 0 {
            sentences.push(format!("{} left out", counted(withdrawn.into(), &format!("withdrawn {noun}"))));
        }
        sentences
    }

    fn stopped(&self) -> Option<String> {
        if let Some(rate) = self.pass_rate {
            let all = rate.trials + rate.unscored;
            let much = f64::from(rate.unscored) > MUCH_CENSORED * f64::from(all);
            return much.then(|| {
                format!(
                    "{} of {} stopped from outside, not scored",
                    rate.unscored,
                    counted(all.into(), "trial")
                )
            });
        }
        let share = self.early_censored.filter(|share| *share > MUCH_CENSORED)?;
        let tau = self.stamina.tau?;
        let all: usize = self.parts.iter().map(|part| part.episodes.len()).sum();
        // In counts, as of trials: a percentage of a few episodes says too much, and 1 of 8 is neither 12 % nor 13 %.
        let stopped = (share * all as f64).round();
        let all = counted(all as u64, "episode");
        Some(format!("{stopped:.0} of {all} stopped from outside before turn {tau}"))
    }

    /// Whether each episode of some run ended before the agent answered: a wrong model, key or parameter does that to all.
    fn refused_alike(&self) -> Option<String> {
        let is_silent = |e: &EpisodeEntry| {
            let refused = e.end_reason == EndReason::Endpoint || e.unrecognised;
            e.stamina == 0 && refused && e.tokens.output.unwrap_or(0) == 0 && e.tool_calls.unwrap_or(0) == 0
        };
        let is_alike = |part: &Part<'_>| part.episodes.len() > 1 && part.episodes.iter().all(is_silent);
        self.parts.iter().any(is_alike).then(|| {
            let each = episode_noun(self.pass_rate.is_some());
            format!("every {each} ended before the agent answered: look at the configuration")
        })
    }

    fn repeats(&self) -> Option<&'static str> {
        match self.pass_rate {
            Some(rate) => rate.repeats().then_some(OF_INTERVALS[0]),
            None => self.stamina.clustered.then_some(OF_INTERVALS[1]),
        }
    }
}

/// Those of a member of a comparison, and the place among them of the one that is about its cost.
pub(super) fn member_doubts(
    pool: &Pool,
    member: &ComparedMember,
    policy: &CensoringPolicy,
) -> (Vec<String>, Option<usize>) {
    let number = Number {
        parts: Part::from_pools([pool]),
        stamina: &member.stamina,
        pass_rate: member.pass_rate.as_ref(),
        early_censored: member.early_censored,
    };
    let mut doubts: Vec<String> =
        pool.runs.iter().filter_map(|run| withdrawn(run.record.entry.invalid.as_deref())).collect();
    doubts.extend(number.doubts(policy));
    let (spent, n) = (&member.spent, member.stamina.n);
    let cost = spent.cost_usd.filter(|_| !member.simulated && spent.cost_known < n);
    let cost_doubt = cost.map(|cost| {
        doubts.push(cost_in_part(cost, spent.cost_known, &n.to_string()));
        doubts.len() - 1
    });
    (doubts, cost_doubt)
}

/// That a cost, in dollars, is known for a part of what it is the cost of.
pub(crate) fn cost_in_part(cost_usd: f64, known: u32, total: &str) -> String {
    format!("cost ≥ {}, known for {known} of {total}", dollars(cost_usd))
}

/// The mark of a run that a user has withdrawn.
pub(crate) fn withdrawn(reason: Option<&str>) -> Option<String> {
    Some(format!("withdrawn ({})", reason?.trim_end_matches('.')))
}

/// The marks of those runs of members that a user has withdrawn, without full stops. Alone, a withdrawn run is shown all the same.
pub(crate) fn withdrawn_runs(pools: &[Pool]) -> Vec<String> {
    let records = pools.iter().flat_map(|pool| &pool.runs).map(|run| &run.record.entry);
    let mark = |entry: &store::RunEntry| {
        withdrawn(entry.invalid.as_deref()).map(|mark| format!("{}: {mark}", entry.slug))
    };
    records.filter_map(mark).collect()
}

/// The other runs that are named one by one.
const MOST_NAMED: usize = 3;

/// That trials of a run are in others as well: `3 trials are also in RUN`. `others` are their names, each with how many trials.
pub(crate) fn shared_trial_doubts(others: &[(String, u32)]) -> Vec<String> {
    let (named, further) = others.split_at(others.len().min(MOST_NAMED));
    let doubt = |(run, trials): &(String, u32)| match trials {
        1 => format!("1 trial is also in {run}"),
        trials => format!("{trials} trials are also in {run}"),
    };
    let further = match further.len() {
        0 => None,
        n => Some(format!("some trials are also in {}", counted(n as u64, "further run"))),
    };
    named.iter().map(doubt).chain(further).collect()
}

/// That a run may be a copy of others: `others` are their names.
pub(crate) fn may_be_copy(others: &[&str]) -> String {
    format!("may be a copy of {}: they are equal, and too little was measured to tell", runs_in_words(others))
}

/// The doubts of members under a figure or table, each once with the members that it is of. That a cost is known in part stands
/// where costs are shown, and that a score may be too high where scores are.
pub(crate) fn grouped_doubts(members: &[ComparedMember]) -> Vec<String> {
    grouped(members, |member| {
        let cost_doubt = member.doubt_of_cost;
        let each = member.doubts.iter().enumerate();
        each.filter(move |(index, doubt)| Some(*index) != cost_doubt && !is_about_scores(doubt))
            .map(|(_, doubt)| doubt)
    })
}

/// Those about scores alone.
pub(crate) fn grouped_doubts_about_scores(members: &[ComparedMember]) -> Vec<String> {
    grouped(members, |member| member.doubts.iter().filter(|doubt| is_about_scores(doubt)))
}

/// The same under a figure or table whose numbers have no such interval.
pub(crate) fn grouped_doubts_without_intervals(members: &[ComparedMember]) -> Vec<String> {
    grouped(members, |member| {
        let cost_doubt = member.doubt_of_cost;
        let each = member.doubts.iter().enumerate();
        let is_said = move |(index, doubt): &(usize, &String)| {
            Some(*index) != cost_doubt && !OF_INTERVALS.contains(&doubt.as_str()) && !is_about_scores(doubt)
        };
        each.filter(is_said).map(|(_, doubt)| doubt)
    })
}

/// How trials that are not scored count in the score, which stands beside a pass rate over the others; without a full stop. The
/// score is of turns that passed or not (`by_turn`), or of tests.
pub(crate) fn unscored_in_score(
    rate: Option<&PassRate>,
    score: Option<f64>,
    by_turn: bool,
) -> Option<String> {
    let unscored = rate.filter(|rate| rate.unscored > 0 && score.is_some())?.unscored;
    let (begin, pronoun, count) = if unscored == 1 {
        ("1 trial is not scored: it is".to_owned(), "it", "counts")
    } else {
        (format!("{unscored} trials are not scored: they are"), "they", "count")
    };
    let manner = if by_turn {
        "as not passed in the score".to_owned()
    } else {
        format!("in the score with the tests that {pronoun} passed")
    };
    Some(format!("{begin} not in the pass rate, and {count} {manner}"))
}

/// The same of members, each sentence once with the members that it is of.
pub(crate) fn unscored_in_scores(members: &[ComparedMember]) -> Vec<String> {
    let each = members.iter().filter_map(|member| {
        let sentence = unscored_in_score(member.pass_rate.as_ref(), member.score, member.grades_turns)?;
        Some((sentence, member.marked()))
    });
    let named = |(sentence, names): (String, Vec<String>)| sentence_about(&names, members.len(), &sentence);
    by_sentence(each).into_iter().map(named).collect()
}

/// More sentences about what is missing of members are counted.
const MOST_MISSING: usize = 6;

/// What is missing of members, without full stops: each sentence once, with the members that it is of.
pub(crate) fn missing_of_members(pools: &[Pool]) -> Vec<String> {
    let noun = episode_noun(all_of_one_turn(pools));
    let each = pools.iter().flat_map(|pool| {
        let parts = Part::from_pools([pool]);
        let is_alone = parts.len() == 1;
        coverage::missing(&parts, noun)
            .into_iter()
            .map(|(run, text)| (if is_alone { text } else { format!("{text} of {run}") }, pool.marked()))
            .collect::<Vec<(String, String)>>()
    });
    let found = by_sentence(each);
    if found.len() > MOST_MISSING {
        let members: std::collections::BTreeSet<&String> =
            found.iter().flat_map(|(_, names)| names).collect();
        return vec![missing_in_sum(members.len(), pools.len(), noun)];
    }
    found.iter().map(|(sentence, names)| sentence_about(names, pools.len(), sentence)).collect()
}

/// How many of all members lack something, where there is too much to be named.
fn missing_in_sum(members: usize, all: usize, noun: &str) -> String {
    let verb = if members == 1 { "lacks" } else { "lack" };
    format!("{members} of {} {verb} {noun}s or tasks that were planned", counted(all as u64, "member"))
}

/// What is to be said of members, without full stops: each sentence once, with the members that it is of.
pub(crate) fn grouped<'a, I>(
    members: &'a [ComparedMember],
    sentences: impl Fn(&'a ComparedMember) -> I,
) -> Vec<String>
where
    I: Iterator<Item = &'a String>,
{
    let each = (members.iter().enumerate()).flat_map(|(index, member)| {
        sentences(member).map(move |sentence| (sentence.trim_end_matches('.'), index))
    });
    let named = |(sentence, mut places): (&str, Vec<usize>)| {
        // A doubt may be a caveat, too.
        places.dedup();
        let names: Vec<String> = places.iter().map(|index| members[*index].marked()).collect();
        sentence_about(&names, members.len(), sentence)
    };
    by_sentence(each).into_iter().map(named).collect()
}

/// A sentence with the members that it is of; `all` is how many there are.
pub(crate) fn sentence_about<T: AsRef<str>>(names: &[T], all: usize, sentence: &str) -> String {
    if names.len() == all && all > 1 {
        format!("Each of them: {sentence}")
    } else {
        format!("{}: {sentence}", runs_in_words(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Counts as not passed" was said of a score over tests, in which a trial has those that it passed.
    #[test]
    fn what_is_not_scored_counts_in_a_score_of_tests_with_those_that_it_passed() {
        let sentence = |unscored, by_turn| {
            let rate = PassRate { unscored, ..PassRate::default() };
            unscored_in_score(Some(&rate), Some(50.0), by_turn)
        };
        assert_eq!([sentence(0, true), sentence(0, false)], [None, None]);
        for (unscored, by_turn, end) in [
            (1, true, "it is not in the pass rate, and counts as not passed in the score"),
            (2, true, "they are not in the pass rate, and count as not passed in the score"),
            (1, false, "it is not in the pass rate, and counts in the score with the tests that it passed"),
            (
                2,
                false,
                "they are not in the pass rate, and count in the score with the tests that they passed",
            ),
        ] {
            let begin = if unscored == 1 { "1 trial is" } else { "2 trials are" };
            assert_eq!(sentence(unscored, by_turn), Some(format!("{begin} not scored: {end}")));
        }
        let rate = PassRate { unscored: 1, ..PassRate::default() };
        assert_eq!(unscored_in_score(Some(&rate), None, true), None);
    }

    /// "Of 8 of 13 members not all episodes or tasks that were planned are there" could not be read.
    #[test]
    fn members_that_lack_something_are_counted() {
        assert_eq!(
            missing_in_sum(8, 13, "episode"),
            "8 of 13 members lack episodes or tasks that were planned"
        );
        assert_eq!(missing_in_sum(1, 3, "trial"), "1 of 3 members lacks trials or tasks that were planned");
    }
}
