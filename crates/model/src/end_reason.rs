//! Why an attempt or episode ended, and whether that counts against the agent.
//!
//! Survival analysis needs each end to be either an *event* (the agent failed) or *censored* (something outside the
//! agent ended the observation). Importers record the reason, which is a fact. A *policy*, which users see and edit,
//! decides whether a reason is an event. It applies when statistics are computed.
//!
//! The default follows one rule: whatever the agent could have caused is an event. Censoring is valid only if it is
//! unrelated to how well the agent was doing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use ts_rs::TS;

use crate::{Episode, Extra};

/// Whether the end of an episode counts as a failure of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent failed at the turn after the last one it passed.
    Event,
    /// Observation stopped after the last turn passed, for a reason outside the agent.
    Censored,
}

macro_rules! end_reasons {
    ($($(#[$doc:meta])* $variant:ident = $label:literal, $default:ident;)+) => {
        /// Why an attempt or an episode ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[derive(EnumString, IntoStaticStr, VariantArray)]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum EndReason { $($(#[$doc])* $variant,)+ }

        impl EndReason {
            /// Every reason, in the order in which the policy table lists them.
            pub const ALL: &'static [Self] = Self::VARIANTS;

            /// The stable word in the database, in JSON and in links.
            pub fn as_str(self) -> &'static str {
                self.into()
            }

            /// The label that people read.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// How the default policy counts it.
            pub const fn default_ending(self) -> Ending {
                match self { $(Self::$variant => Ending::$default),+ }
            }
        }
    };
}

end_reasons! {
    /// The agent passed every planned turn.
    PassedAll = "passed all", Censored;
    /// The tests ran and at least one did not pass.
    TestsFailed = "tests failed", Event;
    /// The attempt ended without a pass before any test ran.
    BuildFailed = "build failed", Event;
    /// The agent's server did not start or did not respond.
    ServerFailed = "server failed", Event;
    /// The agent used up its time.
    AgentTimeout = "agent timeout", Event;
    /// The agent reached the limit of one attempt on tokens, dollars or time.
    AttemptBudget = "attempt budget", Event;
    /// The agent or its harness raised an error, or exited with one.
    AgentError = "agent error", Event;
    /// The agent exceeded the model's context window.
    ContextOverflow = "context overflow", Event;
    /// The harness could not parse a tool call of the model.
    ToolCallFormat = "tool-call format", Event;
    /// The harness stopped the agent because it repeated itself.
    LoopDetected = "loop detected", Event;
    /// The agent ended its own harness, for example with a broad `pkill`.
    KilledItself = "killed itself", Event;
    /// The agent declared that it gives up.
    GaveUp = "gave up", Event;
    /// The agent ended its turn without changing anything.
    NoChange = "no change", Event;
    /// The tests did not finish in time. The usual cause is that the agent's server hangs.
    VerifierTimeout = "verifier timeout", Event;
    /// The verifier left no readable verdict. The usual cause is code of the agent that breaks the tests.
    VerifierError = "verifier error", Event;
    /// The source records that the turn was due, but no verdict.
    NoVerdict = "no verdict", Event;
    /// The model endpoint refused or failed (429, 5xx, authentication).
    Endpoint = "endpoint", Censored;
    /// The run or the episode reached a limit on tokens, money or time.
    Budget = "budget", Censored;
    /// The container failed to build or start, or was lost.
    Environment = "environment", Censored;
    /// A person stopped it.
    // words: ok (the word is stored and exported)
    Cancelled = "cancelled", Censored;
    /// The files are incomplete: the run is still running, or was killed.
    Unfinished = "unfinished", Censored;
}

impl EndReason {
    /// The inverse of [`EndReason::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// Which end reasons count as events. A reason without an entry keeps [`EndReason::default_ending`].
///
/// `PassedAll` is always censored: nobody failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CensoringPolicy {
    /// Reasons whose ending differs from the default.
    pub overrides: BTreeMap<EndReason, Ending>,
    /// Rows of the decision tables of exceptions ([`DECIDED_BY`]) whose end reason differs from the default.
    #[serde(default)]
    pub rows: BTreeMap<String, EndReason>,
}

/// Extra field of an attempt or episode: the row of a decision table that decided its end.
pub const DECIDED_BY: &str = "decided_by";
/// Extra field beside [`DECIDED_BY`]: the end reason that the row gives by default.
pub const DECIDED_AS: &str = "decided_as";
/// Extra field: whether the cause of an end is recognized.
pub const CAUSE: &str = "cause";
/// The value of [`CAUSE`] for a cause that is not recognized.
// words: ok (the value is stored in libraries)
pub const NOT_RECOGNIZED: &str = "not recognised";

/// Records beside an end which row of a decision table decided it, and whether its cause is recognized.
pub fn note_decision(extra: &mut Extra, row: Option<String>, reason: EndReason, recognized: bool) {
    if let Some(row) = row {
        extra.insert(DECIDED_BY.to_owned(), row.into());
        extra.insert(DECIDED_AS.to_owned(), reason.as_str().into());
    }
    if !recognized {
        extra.insert(CAUSE.to_owned(), NOT_RECOGNIZED.into());
    }
}

impl CensoringPolicy {
    /// Whether this policy counts `reason` as an event.
    pub fn ending(&self, reason: EndReason) -> Ending {
        if reason == EndReason::PassedAll {
            return Ending::Censored;
        }
        self.overrides.get(&reason).copied().unwrap_or_else(|| reason.default_ending())
    }

    /// Applies this policy to the ends that a row of a decision table decided: each gets the reason of its row. Returns
    /// whether the episode changed.
    pub fn move_rows(&self, episode: &mut Episode) -> bool {
        let before = episode.unrecognised;
        let mut changed = false;
        for attempt in episode.turns.iter_mut().flat_map(|turn| &mut turn.attempts) {
            if let Some((reason, _)) = self.decided_end(&attempt.extra)
                && attempt.end_reason != Some(reason)
            {
                attempt.end_reason = Some(reason);
                changed = true;
            }
        }
        if let Some((reason, _)) = self.decided_end(&episode.extra)
            && episode.end_reason != Some(reason)
        {
            episode.end_reason = Some(reason);
            changed = true;
        }
        let tried = episode.end().0.and_then(|turn| episode.turn(turn)?.attempts.last());
        let extra = tried.map_or(&episode.extra, |attempt| &attempt.extra);
        if let Some((_, is_moved)) = self.decided_end(extra) {
            let recognized = extra.get(CAUSE).is_none_or(|cause| cause != NOT_RECOGNIZED);
            episode.unrecognised = !recognized && !is_moved;
        }
        changed || episode.unrecognised != before
    }

    /// The reason of an end that a row decided, and whether this policy changes the row.
    fn decided_end(&self, extra: &Extra) -> Option<(EndReason, bool)> {
        let text = |key: &str| extra.get(key)?.as_str();
        let moved =
            self.rows.get(text(DECIDED_BY)?).copied().filter(|reason| *reason != EndReason::PassedAll);
        Some((moved.or_else(|| EndReason::parse(text(DECIDED_AS)?))?, moved.is_some()))
    }

    /// `default`, or `custom` if a reason or a row differs from the default.
    pub fn name(&self) -> &'static str {
        let changed =
            self.overrides.iter().any(|(r, e)| *r != EndReason::PassedAll && *e != r.default_ending());
        if changed || !self.rows.is_empty() { "custom" } else { "default" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attempt, Turn, Verdict};

    #[test]
    fn stored_words_round_trip_and_are_the_serde_names() {
        for reason in EndReason::ALL {
            assert_eq!(EndReason::parse(reason.as_str()), Some(*reason));
            assert_eq!(serde_json::to_string(reason).unwrap(), format!("\"{}\"", reason.as_str()));
        }
    }

    #[test]
    fn a_cause_that_is_not_recognized_keeps_the_spelling_of_libraries() {
        let mut extra = Extra::new();
        note_decision(&mut extra, None, EndReason::AgentError, false);
        // words: ok (the value is stored in libraries)
        assert_eq!(extra.get("cause"), Some(&"not recognised".into()));
    }

    #[test]
    fn passing_everything_cannot_be_made_an_event() {
        let mut policy = CensoringPolicy::default();
        policy.overrides.insert(EndReason::PassedAll, Ending::Event);
        assert_eq!(policy.ending(EndReason::PassedAll), Ending::Censored);
        assert_eq!(policy.name(), "default");
        policy.overrides.insert(EndReason::Endpoint, Ending::Event);
        assert_eq!(policy.ending(EndReason::Endpoint), Ending::Event);
        assert_eq!(policy.name(), "custom");
    }

    #[test]
    fn a_row_changes_the_reason_and_changes_it_back() {
        let mut episode = Episode::new("e", "s");
        let mut turn = Turn::new(1);
        let mut attempt = Attempt::new(1, Verdict::Error);
        attempt.end_reason = Some(EndReason::AgentError);
        note_decision(&mut attempt.extra, Some("X, agent".to_owned()), EndReason::AgentError, false);
        turn.attempts.push(attempt);
        episode.turns.push(turn);
        episode.unrecognised = true;
        let before = episode.clone();

        let default = CensoringPolicy::default();
        assert!(!default.move_rows(&mut episode));
        let mut policy = default.clone();
        policy.rows.insert("Y, agent".to_owned(), EndReason::Endpoint);
        assert!(!policy.move_rows(&mut episode));
        policy.rows.insert("X, agent".to_owned(), EndReason::Environment);
        assert_eq!(policy.name(), "custom");
        assert!(policy.move_rows(&mut episode));
        assert_eq!(episode.end(), (Some(1), EndReason::Environment));
        assert!(!episode.unrecognised, "the user has recognized it");
        assert!(!policy.move_rows(&mut episode), "once");
        assert!(default.move_rows(&mut episode));
        assert_eq!(episode, before);
    }
}
