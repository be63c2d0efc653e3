//! One scenario in one run: its turns, and how it ended.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    Artifact, Attempt, CachedInput, EndReason, Ending, Extra, SessionFigures, Timing, Tokens, TurnState,
    Verdict,
};

/// The change request of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum Request {
    /// Short, or a part of a larger file: kept in the store.
    Text(String),
    /// Read from the source when somebody opens it.
    File(Artifact),
}

/// One change request with its attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Turn {
    /// From 1.
    pub number: u32,
    /// A short name: the step's name, the first line of the request.
    pub title: Option<String>,
    /// The change request.
    pub request: Option<Request>,
    /// In order; empty = not reached.
    pub attempts: Vec<Attempt>,
    /// Artifacts of the turn that belong to no attempt (reference, suite, schema).
    pub artifacts: Vec<Artifact>,
    /// Unknown fields, kept.
    pub extra: Extra,
}

impl Turn {
    /// A turn without attempts.
    pub fn new(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    /// The state of this turn in the grid. The final attempt decides it (README of StaminaBench, "Scoring").
    pub fn state(&self) -> TurnState {
        TurnState::from_last(self.attempts.last().map(|last| last.verdict), self.attempts.len())
    }
}

/// One scenario in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Episode {
    /// Identity inside its run. It stays the same when the source is read again.
    pub key: String,
    /// What all copies of it share: an id from the source, or a hash of its contents; `None` = it cannot be told from
    /// others. Episodes with equal values are the same observation and count once.
    #[serde(default)]
    pub identity: Option<String>,
    /// The scenario (task). The same name in several runs means the same scenario.
    pub scenario: String,
    /// A name for people, if the source has one.
    pub title: Option<String>,
    /// Repeat of the scenario in this run, from 1.
    pub repeat: u32,
    /// How many turns were planned; `None` = the source does not record it.
    pub planned_turns: Option<u32>,
    /// In the order of `number`, possibly with gaps. Turns after the last one were not reached.
    pub turns: Vec<Turn>,
    /// Why the observation ended: the reason of the first turn that was not passed, or why every turn was passed.
    /// With `None`, [`Episode::end`] decides it from the turns.
    pub end_reason: Option<EndReason>,
    /// Whether its last turn had attempts left when the episode ended. If something outside ended it, that turn is not
    /// decided. False if the source does not record it.
    #[serde(default)]
    pub attempts_left: bool,
    /// Whether an exception with an unrecognized cause ended it. Such an end is attributed to the agent, because nothing
    /// proves another cause.
    #[serde(default)]
    pub unrecognised: bool,
    /// Why the source marks it as withdrawn; `None` = it counts.
    #[serde(default)]
    pub invalid: Option<String>,
    /// Figures that the source reports for the whole episode, such as (`harbor.reward`, 0.75).
    pub reported: Vec<(String, f64)>,
    /// Tokens, if only the sum of the episode is known.
    pub tokens: Option<Tokens>,
    /// Why the input of these includes the cached ones.
    #[serde(default)]
    pub cached_input: CachedInput,
    /// Cost, if only the sum of the episode is known.
    pub cost_usd: Option<f64>,
    /// When.
    pub timing: Timing,
    /// An exception of the whole episode: type and message.
    pub exception: Option<(String, String)>,
    /// Logs that belong to no turn.
    pub artifacts: Vec<Artifact>,
    /// Fields that describe the scenario (difficulty, category) or are unknown, kept.
    pub extra: Extra,
    /// Figures of a session, if the benchmark has no tests.
    #[serde(default)]
    pub session: Option<SessionFigures>,
}

impl Episode {
    /// An episode with only a key and a scenario.
    pub fn new(key: impl Into<String>, scenario: impl Into<String>) -> Self {
        Self { key: key.into(), scenario: scenario.into(), repeat: 1, ..Self::default() }
    }

    /// The turn of this number.
    pub fn turn(&self, number: u32) -> Option<&Turn> {
        self.turns.binary_search_by_key(&number, |t| t.number).ok().map(|i| &self.turns[i])
    }

    /// Stamina: consecutive turns passed from turn 1.
    pub fn stamina(&self) -> u32 {
        let mut passed = 0;
        for turn in &self.turns {
            if turn.number != passed + 1 || !turn.state().is_passed() {
                break;
            }
            passed += 1;
        }
        passed
    }

    /// The last turn that is known to exist: the planned number, or the highest recorded one.
    pub fn known_turns(&self) -> u32 {
        self.planned_turns.unwrap_or(0).max(self.turns.last().map_or(0, |t| t.number))
    }

    /// The first turn not passed and the reason that ended the observation there. The turn is `None` if every known turn
    /// was passed.
    ///
    /// The first turn not passed decides, even if the agent was allowed to continue: stamina measures the first failure.
    /// A last turn whose attempts failed so far is not decided in two cases: the reason of the episode is *unfinished*,
    /// or attempts were left and the reason comes from outside.
    pub fn end(&self) -> (Option<u32>, EndReason) {
        let stamina = self.stamina();
        if let Some(turn) = self.turn(stamina + 1)
            && let Some(last) = turn.attempts.last()
        {
            // The agent may continue after a failed turn, so the later end of the episode does not explain that failure.
            let episode_attempts =
                self.end_reason.filter(|_| self.turns.last().is_some_and(|t| t.number == turn.number));
            let from_outside = episode_attempts.filter(|reason| {
                *reason == EndReason::Unfinished
                    || self.attempts_left && reason.default_ending() == Ending::Censored
            });
            let reason = match (last.verdict, from_outside) {
                // Attempts are left: the next one may pass.
                (Verdict::Failed | Verdict::Error, Some(reason)) => reason,
                (_, Some(EndReason::Unfinished)) => EndReason::Unfinished,
                (Verdict::Passed | Verdict::Failed, _) => last.end_reason.unwrap_or(EndReason::TestsFailed),
                // A turn without tests has no verdict. The reason of the episode is the only evidence.
                (Verdict::NotTested, _) => self.end_reason.unwrap_or(EndReason::NoVerdict),
                (Verdict::Error, _) => last.end_reason.or(episode_attempts).unwrap_or(EndReason::NoVerdict),
                (Verdict::Unfinished, _) => {
                    last.end_reason.or(episode_attempts).unwrap_or(EndReason::Unfinished)
                }
            };
            return (Some(stamina + 1), reason);
        }
        match self.planned_turns {
            // Of no planned turn none was passed: what the source says of the end stands.
            Some(planned)
                if stamina >= planned
                    && (stamina > 0
                        || self.end_reason.is_none_or(|reason| reason == EndReason::PassedAll)) =>
            {
                (None, EndReason::PassedAll)
            }
            // A later known turn was not passed. The outcome of the turn before it is unknown.
            None if stamina > 0
                && self.end_reason.is_none()
                && self.turns.iter().all(|turn| turn.number <= stamina) =>
            {
                (None, EndReason::PassedAll)
            }
            _ => (Some(stamina + 1), self.end_reason.unwrap_or(EndReason::Unfinished)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turn(number: u32, verdicts: &[Verdict]) -> Turn {
        let mut t = Turn::new(number);
        t.attempts = verdicts.iter().zip(1..).map(|(v, n)| Attempt::new(n, *v)).collect();
        t
    }

    fn episode(planned: Option<u32>, turns: &[&[Verdict]]) -> Episode {
        let mut e = Episode::new("e", "s");
        e.planned_turns = planned;
        e.turns = turns.iter().zip(1..).map(|(v, n)| turn(n, v)).collect();
        e
    }

    use Verdict::{Error, Failed, Passed, Unfinished};

    #[test]
    fn stamina_counts_passes_before_the_first_turn_not_passed() {
        let e = episode(Some(4), &[&[Passed], &[Failed, Passed], &[Failed, Failed], &[Passed]]);
        assert_eq!(e.stamina(), 2);
        assert_eq!(e.end(), (Some(3), EndReason::TestsFailed));
        assert_eq!(e.turns[1].state(), TurnState::PassedAfterRetries);
    }

    #[test]
    fn a_failed_turn_stays_failed_whatever_ended_the_episode_later() {
        let mut e = episode(Some(3), &[&[Failed], &[Passed]]);
        e.end_reason = Some(EndReason::Budget);
        assert_eq!(e.end(), (Some(1), EndReason::TestsFailed));
        let mut cut = episode(Some(3), &[&[Passed], &[Unfinished]]);
        cut.end_reason = Some(EndReason::Budget);
        assert_eq!(cut.end(), (Some(2), EndReason::Budget));
    }

    #[test]
    fn stopping_an_episode_does_not_fail_a_turn_with_attempts_left() {
        let mut e = episode(Some(3), &[&[Passed], &[Failed]]);
        e.end_reason = Some(EndReason::Cancelled);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "it may have been the last attempt");
        e.attempts_left = true;
        assert_eq!(e.end(), (Some(2), EndReason::Cancelled));
        e.end_reason = Some(EndReason::Budget);
        assert_eq!(e.end(), (Some(2), EndReason::Budget));
        e.end_reason = Some(EndReason::GaveUp);
        assert_eq!(e.end(), (Some(2), EndReason::TestsFailed), "an end of the agent");
    }

    #[test]
    fn a_gap_in_the_turns_is_not_a_pass() {
        let mut e = episode(Some(3), &[&[Passed], &[Passed], &[Passed]]);
        e.turns.remove(1);
        assert_eq!(e.stamina(), 1);
        assert_eq!(e.end(), (Some(2), EndReason::Unfinished));
    }

    #[test]
    fn an_episode_without_a_planned_turn_ends_as_its_source_says() {
        let mut e = episode(Some(0), &[]);
        assert_eq!(e.end(), (None, EndReason::PassedAll));
        e.end_reason = Some(EndReason::Environment);
        assert_eq!(e.end(), (Some(1), EndReason::Environment));
        e.end_reason = Some(EndReason::PassedAll);
        assert_eq!(e.end(), (None, EndReason::PassedAll));
        let mut passed = episode(Some(0), &[&[Passed]]);
        passed.end_reason = Some(EndReason::Environment);
        assert_eq!(passed.end(), (None, EndReason::PassedAll));
    }

    #[test]
    fn the_end_is_decided_from_the_turns() {
        assert_eq!(episode(Some(2), &[&[Passed], &[Passed]]).end(), (None, EndReason::PassedAll));
        assert_eq!(episode(Some(3), &[&[Passed]]).end(), (Some(2), EndReason::Unfinished));
        assert_eq!(episode(Some(3), &[&[Passed], &[Error]]).end(), (Some(2), EndReason::NoVerdict));
        assert_eq!(episode(Some(3), &[&[Unfinished]]).end(), (Some(1), EndReason::Unfinished));
        assert_eq!(episode(None, &[]).end(), (Some(1), EndReason::Unfinished));
    }

    proptest! {
        #[test]
        fn stamina_never_exceeds_what_is_known(codes in prop::collection::vec(0u8..4, 0..30), planned in prop::option::of(0u32..40)) {
            let verdicts: Vec<Vec<Verdict>> = codes.iter().map(|c| vec![[Passed, Failed, Error, Unfinished][*c as usize]]).collect();
            let refs: Vec<&[Verdict]> = verdicts.iter().map(Vec::as_slice).collect();
            let e = episode(planned, &refs);
            prop_assert!(e.stamina() <= e.known_turns());
            if let (Some(turn), _) = e.end() { prop_assert_eq!(turn, e.stamina() + 1); }
        }
    }
}
