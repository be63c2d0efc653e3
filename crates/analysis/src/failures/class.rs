//! The classes of failures, with their labels and sides.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Where the cause of a failure lies.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Side {
    /// In the code that the agent wrote.
    Code,
    /// In the harness, or in how model and harness work together.
    Harness,
    /// Outside: endpoint, budget, infrastructure.
    Outside,
    /// Unknown.
    Unknown,
}

impl Side {
    /// Every side, in the order of display.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The stable word in JSON and in links.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The label that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Code => "agent's code",
            Self::Harness => "harness",
            Self::Outside => "outside",
            Self::Unknown => "unknown",
        }
    }
}

macro_rules! classes {
    ($($variant:ident = $label:literal, $side:ident, $about:literal;)+) => {
        /// The kind of a failure, in order of priority: of two classes with the same number of failing tests, the attempt has
        /// the earlier one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[derive(EnumString, IntoStaticStr, VariantArray)]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        pub enum FailureClass { $(#[doc = $about] $variant,)+ }

        impl FailureClass {
            /// Every class, in order of priority.
            pub const ALL: &'static [Self] = Self::VARIANTS;

            /// The stable word in JSON and in links.
            pub fn as_str(self) -> &'static str {
                self.into()
            }

            /// The label that people read.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label),+ }
            }

            /// The side of the cause.
            pub const fn side(self) -> Side {
                match self { $(Self::$variant => Side::$side),+ }
            }

            /// When it applies, as a sentence, which `docs/metrics.md` repeats.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }
        }
    };
}

classes! {
    Endpoint = "endpoint", Outside,
        "The model's endpoint refused or failed.";
    Budget = "budget", Outside,
        "A limit on tokens, money, steps or time of the run or of the episode was reached.";
    Infrastructure = "infrastructure", Outside,
        "The container could not be built or started, or was lost.";
    ContextOverflow = "context overflow", Harness,
        "The model's context was exceeded, or its compaction failed.";
    ToolCallFormat = "tool-call format", Harness,
        "The harness could not read the model's tool call.";
    LoopDetection = "loop detection", Harness,
        "The harness stopped the agent because it repeated itself.";
    KilledItself = "killed itself", Harness,
        "The agent ended its own harness, for instance with a broad `pkill`.";
    GaveUp = "gave up", Harness,
        "The agent said that it would not go on, or ended without a tool call and without a change.";
    NoChange = "no change", Harness,
        "The agent ended its turn without changing anything.";
    AgentTimeout = "agent timeout", Harness,
        "The agent used up its time.";
    AttemptBudget = "attempt budget", Harness,
        "The agent used up the tokens, dollars, steps or time that one attempt was given.";
    HarnessError = "harness error", Harness,
        "The harness raised an error or exited with one, and no other class says why.";
    DidNotStart = "did not start", Code,
        "What the agent wrote could not be built, loaded or started.";
    Crashed = "crashed", Code,
        "What the agent wrote ended, broke off its answer, raised an error or answered with a status of 500 to 599.";
    TimedOut = "timed out", Code,
        "What the agent wrote did not answer or end in time.";
    NoVerdict = "no verdict", Unknown,
        "The tests left no verdict that can be read, and no other class says why.";
    StaleName = "stale name", Code,
        "What a turn renamed, removed or loosened is still there as it was.";
    MissingRoute = "missing route", Code,
        "A route or action that is asked for is not there.";
    MissingCommand = "missing command", Code,
        "A command, option or function that is asked for is not there.";
    MissingField = "missing field", Code,
        "A field or key of an answer is not there.";
    GuardIgnored = "guard ignored", Code,
        "A condition of an action is not looked at, or not as it is stated.";
    MissingCascade = "missing cascade", Code,
        "A deletion does something else to the record, or to those that refer to it, than is stated.";
    WrongAggregate = "wrong aggregate", Code,
        "An analytic or a computed field gives another value.";
    Nullability = "nullability", Code,
        "Null is refused where it is a value, taken where it is none, or shown otherwise.";
    WrongDefault = "wrong default", Code,
        "What is not given becomes something else than the default.";
    InventedFeature = "invented feature", Code,
        "There is a rule, field or route that nothing asks for.";
    TooStrict = "validation too strict", Code,
        "Something valid is refused.";
    TooLax = "validation too lax", Code,
        "Something that is to be refused is accepted.";
    WrongStatus = "wrong status", Code,
        "The answer has another status or error code, and no other class says why.";
    WrongExit = "wrong exit code", Code,
        "The program ended with another exit code, and no other class says why.";
    WrongEffect = "wrong effect", Code,
        "An action does not change the records as stated.";
    WrongList = "wrong list", Code,
        "A list has the wrong records, order or page.";
    WrongValue = "wrong value", Code,
        "The answer or output has another content than expected, and no other class says why.";
    Other = "not classified", Unknown,
        "No rule applies, or nothing is known about what failed.";
}

impl FailureClass {
    /// Whether enough failures that were labeled by hand have been given this class to say how often it is right.
    /// `docs/metrics.md` states the rule and its numbers, and `crates/workbench/tests/labels.rs` holds the list to it.
    /// Classes without a label of their own claim nothing ([`FailureClass::Other`]).
    pub const fn is_checked(self) -> bool {
        !matches!(
            self,
            Self::Budget
                | Self::Infrastructure
                | Self::LoopDetection
                | Self::NoChange
                | Self::AttemptBudget
                | Self::HarnessError
                | Self::TimedOut
        )
    }

    /// The class of a word of [`FailureClass::as_str`], or of a label of [`FailureClass::label`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok().or_else(|| Self::ALL.iter().copied().find(|class| class.label() == word))
    }

    /// Whether only tests of requests and responses can have this class.
    pub const fn is_of_requests(self) -> bool {
        matches!(
            self,
            Self::StaleName
                | Self::MissingRoute
                | Self::MissingField
                | Self::GuardIgnored
                | Self::MissingCascade
                | Self::WrongAggregate
                | Self::Nullability
                | Self::WrongDefault
                | Self::InventedFeature
                | Self::TooStrict
                | Self::WrongStatus
                | Self::WrongEffect
                | Self::WrongList
        )
    }

    /// Whether only tests of called programs can have this class.
    pub const fn is_of_programs(self) -> bool {
        matches!(self, Self::MissingCommand | Self::WrongExit)
    }

    /// Whether the program of the agent was not available for the tests.
    pub const fn is_of_server(self) -> bool {
        matches!(self, Self::DidNotStart | Self::Crashed | Self::TimedOut)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn stored_words_round_trip_and_are_the_serde_names() {
        for class in FailureClass::ALL {
            assert_eq!(FailureClass::parse(class.as_str()), Some(*class));
            assert_eq!(FailureClass::parse(class.label()), Some(*class));
            assert_eq!(serde_json::to_string(class).unwrap(), format!("\"{}\"", class.as_str()));
        }
        for side in Side::ALL {
            assert_eq!(serde_json::to_string(side).unwrap(), format!("\"{}\"", side.as_str()));
        }
        assert_eq!(FailureClass::parse("unheard_of"), None);
        let labels: BTreeSet<_> = FailureClass::ALL.iter().map(|class| class.label()).collect();
        assert_eq!(labels.len(), FailureClass::ALL.len());
    }
}
