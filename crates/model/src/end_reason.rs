//! Why an attempt or episode ended, and whether that counts against the agent.
//!
//! Survival analysis needs each end to be either an *event* (the agent failed) or *censored* (something outside the
//! agent ended the observation). The reason is a fact that importers record; event or censored is a *policy*, visible
//! and editable, that is applied when statistics are computed. The default follows one rule: whatever the agent could
//! have caused is an event, because censoring is valid only if it is unrelated to how well the agent was doing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
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
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $label:literal, $default:ident;)+) => {
        /// Why an attempt or an episode ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        #[serde(rename_all = "snake_case")]
        pub enum EndReason { $($(#[$doc])* $variant,)+ }

        impl EndReason {
            /// Every reason, in the order in which the policy table lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stable word in the database, in JSON and in links.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The words a person reads.
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
    /// Every planned turn was passed: the episode outlived the benchmark.
    PassedAll = "passed_all", "passed all", Censored;
    /// The tests ran and some did not pass.
    TestsFailed = "tests_failed", "tests failed", Event;
    /// The turn was not passed before a single test ran.
    BuildFailed = "build_failed", "build failed", Event;
    /// The agent's server did not start or did not answer.
    ServerFailed = "server_failed", "server failed", Event;
    /// The agent used up its time.
    AgentTimeout = "agent_timeout", "agent timeout", Event;
    /// The agent used up the tokens, dollars or time that one attempt was given.
    AttemptBudget = "attempt_budget", "attempt budget", Event;
    /// The agent or its harness raised an error or exited with one.
    AgentError = "agent_error", "agent error", Event;
    /// The model's context was exceeded.
    ContextOverflow = "context_overflow", "context overflow", Event;
    /// The harness could not read the model's tool call.
    ToolCallFormat = "tool_call_format", "tool-call format", Event;
    /// The harness stopped the agent because it repeated itself.
    LoopDetected = "loop_detected", "loop detected", Event;
    /// The agent ended its own harness, for instance with a broad `pkill`.
    KilledItself = "killed_itself", "killed itself", Event;
    /// The agent said that it would not go on.
    GaveUp = "gave_up", "gave up", Event;
    /// The agent ended its turn without changing anything.
    NoChange = "no_change", "no change", Event;
    /// The tests did not end in time; a hanging server of the agent's is the usual cause.
    VerifierTimeout = "verifier_timeout", "verifier timeout", Event;
    /// The verifier left no verdict that can be read; code of the agent's that breaks the tests is the usual cause.
    VerifierError = "verifier_error", "verifier error", Event;
    /// The source records that the turn was due, and no verdict.
    NoVerdict = "no_verdict", "no verdict", Event;
    /// The model endpoint refused or failed (429, 5xx, authentication).
    Endpoint = "endpoint", "endpoint", Censored;
    /// A limit on tokens, money or time of the run or of the episode was reached.
    Budget = "budget", "budget", Censored;
    /// The container could not be built or started, or was lost.
    Environment = "environment", "environment", Censored;
    /// A person stopped it.
    Cancelled = "cancelled", "cancelled", Censored;
    /// The files end in the middle: still running, or killed.
    Unfinished = "unfinished", "unfinished", Censored;
}

impl EndReason {
    /// The inverse of [`EndReason::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|r| r.as_str() == word)
    }
}

/// Which end reasons count as events. What it does not name keeps [`EndReason::default_ending`].
///
/// `PassedAll` is always censored: nobody failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CensoringPolicy {
    /// Reasons that are counted otherwise than by default.
    pub overrides: BTreeMap<EndReason, Ending>,
    /// Rows of the decision tables of exceptions ([`DECIDED_BY`]) that give another end reason than by default.
    #[serde(default)]
    pub rows: BTreeMap<String, EndReason>,
}

/// Extra field of an attempt or episode: the row of a decision table that decided about its end.
pub const DECIDED_BY: &str = "decided_by";
/// Extra field beside [`DECIDED_BY`]: the end reason that the row gives by default.
pub const DECIDED_AS: &str = "decided_as";
/// Extra field: whether the cause of an end is recognised.
pub const CAUSE: &str = "cause";
/// The value of [`CAUSE`] where it is not.
pub const NOT_RECOGNISED: &str = "not recognised";

/// Notes beside an end which row of a decision table decided about it, and whether its cause is recognised.
pub fn note_decision(extra: &mut Extra, row: Option<String>, reason: EndReason, recognised: bool) {
    if let Some(row) = row {
        extra.insert(DECIDED_BY.to_owned(), row.into());
        extra.insert(DECIDED_AS.to_owned(), reason.as_str().into());
    }
    if !recognised {
        extra.insert(CAUSE.to_owned(), NOT_RECOGNISED.into());
    }
}

impl CensoringPolicy {
    /// How this policy counts `reason`.
    pub fn ending(&self, reason: EndReason) -> Ending {
        if reason == EndReason::PassedAll {
            return Ending::Censored;
        }
        self.overrides.get(&reason).copied().unwrap_or_else(|| reason.default_ending())
    }

    /// Gives ends that a row of a decision table decided about the reason that this policy has for the row. Says whether
    /// anything of the episode changed.
    pub fn move_rows(&self, episode: &mut Episode) -> bool {
        let before = episode.unrecognised;
        let mut changed = false;
        for attempt in episode.turns.iter_mut().flat_map(|turn| &mut turn.attempts) {
            if let Some((reason, _)) = self.decided(&attempt.extra)
                && attempt.end_reason != Some(reason)
            {
                attempt.end_reason = Some(reason);
                changed = true;
            }
        }
        if let Some((reason, _)) = self.decided(&episode.extra)
            && episode.end_reason != Some(reason)
        {
            episode.end_reason = Some(reason);
            changed = true;
        }
        let tried = episode.end().0.and_then(|turn| episode.turn(turn)?.attempts.last());
        let extra = tried.map_or(&episode.extra, |attempt| &attempt.extra);
        if let Some((_, is_moved)) = self.decided(extra) {
            let recognised = extra.get(CAUSE).is_none_or(|cause| cause != NOT_RECOGNISED);
            episode.unrecognised = !recognised && !is_moved;
        }
        changed || episode.unrecognised != before
    }

    /// The reason of an end that a row decided about, and whether this policy moves the row.
    fn decided(&self, extra: &Extra) -> Option<(EndReason, bool)> {
        let text = |key: &str| extra.get(key)?.as_str();
        let moved =
            self.rows.get(text(DECIDED_BY)?).copied().filter(|reason| *reason != EndReason::PassedAll);
        Some((moved.or_else(|| EndReason::parse(text(DECIDED_AS)?))?, moved.is_some()))
    }

    /// `default`, or `custom` as soon as one reason is counted otherwise, or a row gives another reason.
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
    fn words_round_trip_and_are_the_serde_names() {
        for reason in EndReason::ALL {
            assert_eq!(EndReason::parse(reason.as_str()), Some(*reason));
            assert_eq!(serde_json::to_string(reason).unwrap(), format!("\"{}\"", reason.as_str()));
        }
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
    fn a_row_is_moved_and_moved_back() {
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
        assert!(!episode.unrecognised, "the user has recognised it");
        assert!(!policy.move_rows(&mut episode), "once");
        assert!(default.move_rows(&mut episode));
        assert_eq!(episode, before);
    }
}
