//! An exception of a trial or step, and at which stage it came.
//!
//! Harbor still verifies after an exception of the agent and keeps the first exception; a failed tear-down is kept
//! where there was none. So the stage is derived from the time of the exception, against the times of the phases.

use model::{EndReason, strip_ansi};

use crate::attribution::{Attribution, Cell, Evidence, Stage};
use crate::readers::clock;
use crate::readers::json::{Node, cut};

const MESSAGE_CAP: usize = 8 * 1024;

/// The record of an exception follows the end of its phase by up to this, in microseconds.
const RECORDED_AFTER: i64 = 1_000_000;

/// What an `exception_info` says.
#[derive(Debug, Clone)]
pub(super) struct RecordedException {
    kind: String,
    message: String,
    traceback: String,
    occurred_at: Option<Moment>,
}

/// A point in time. Those with and those without a zone are not compared: Harbor 0.1 wrote local times.
#[derive(Debug, Clone, Copy)]
struct Moment {
    micros: i64,
    zoned: bool,
}

impl Moment {
    fn parse(text: &str) -> Option<Self> {
        let zoned = text.trim().get(11..)?.contains(['Z', 'z', '+', '-']);
        Some(Self { micros: clock::micros(text)?, zoned })
    }
}

/// The times of a step's phases, or of a single-step trial's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phases<'a> {
    /// The step's entry in the result, or the result of a single-step trial; `None` = nothing began.
    pub(super) node: Option<&'a Node>,
    /// Whether no step was played before.
    pub(super) first: bool,
}

impl RecordedException {
    /// Reads the exception of a result or step; `None` = none is recorded.
    pub(super) fn read(node: Option<&Node>) -> Option<Self> {
        let info = node?.get("exception_info")?;
        let text = |key| info.get(key).and_then(Node::text).unwrap_or_default();
        Some(Self {
            kind: Some(text("exception_type")).filter(|k| !k.is_empty()).unwrap_or("Exception").to_owned(),
            message: strip_ansi(cut(text("exception_message"), MESSAGE_CAP).0).into_owned(),
            traceback: text("exception_traceback").to_owned(),
            occurred_at: info.get("occurred_at").and_then(Node::word).and_then(Moment::parse),
        })
    }

    /// Type and message.
    pub(super) fn recorded(&self) -> (String, String) {
        (self.kind.clone(), self.message.clone())
    }

    /// Why a step ended that has no verdict, or a trial. `None` = the exception says nothing of it.
    pub(super) fn ended(&self, phases: Phases) -> Option<Attribution> {
        let found = self.attribution(phases)?;
        // Tests that ran after an error of the agent would have given a verdict in spite of it.
        let unjudged = !found.recognized && phases.time("verifier", "finished_at").is_some();
        Some(if unjudged {
            let cell = Some(Cell::unjudged());
            Attribution { reason: EndReason::VerifierError, recognized: true, cell }
        } else {
            found
        })
    }

    /// Why a step was not passed that the tests judged. `None` = because the tests failed: what came after the agent's work
    /// has not changed what they tested.
    pub(super) fn explains_failed(&self, phases: Phases) -> Option<Attribution> {
        match self.stage(phases) {
            // Only the agent's phase raises it, however late it is recorded.
            Stage::Between if self.kind.ends_with("AgentTimeoutError") => self.attribution(phases),
            Stage::Between | Stage::Verifier | Stage::TearDown => None,
            Stage::Setup | Stage::LaterSetup | Stage::Agent | Stage::AgentOrTests => self.attribution(phases),
        }
    }

    /// Whether it came after the tests of a step.
    pub(super) fn after_tests(&self, phases: Phases) -> bool {
        self.stage(phases) == Stage::TearDown
    }

    /// What it says of a next step that never began.
    pub(super) fn before_next_step(&self) -> Option<Attribution> {
        self.attribution_at(Stage::LaterSetup, None)
    }

    fn attribution(&self, phases: Phases) -> Option<Attribution> {
        self.attribution_at(self.stage(phases), phases.agent_seconds())
    }

    fn attribution_at(&self, stage: Stage, agent_seconds: Option<f64>) -> Option<Attribution> {
        let (kind, message, traceback) = (&self.kind, &self.message, &self.traceback);
        Evidence { kind, message, traceback, stage, agent_seconds }.attribution()
    }

    fn stage(&self, phases: Phases) -> Stage {
        let set_up = if phases.first { Stage::Setup } else { Stage::LaterSetup };
        let (agent, verifier) =
            (phases.time("agent_execution", "started_at"), phases.time("verifier", "started_at"));
        let Some(start) = agent.or(verifier) else { return set_up };
        let Some(moment) = self.occurred_at.filter(|moment| moment.zoned == start.zoned) else {
            // Tests that gave a verdict did not fail.
            let judged = phases.node.and_then(|n| n.descendant(&["verifier_result", "rewards"])).is_some();
            return if verifier.is_some() && !judged { Stage::Verifier } else { Stage::Agent };
        };
        let ended = |phase| phases.time(phase, "finished_at").map(|end| end.micros + RECORDED_AFTER);
        if moment.micros < start.micros {
            set_up
        } else if verifier.is_some_and(|start| moment.micros > start.micros) {
            // What the agent's phase raised is recorded before the tests begin.
            if ended("verifier").is_some_and(|end| moment.micros > end) {
                Stage::TearDown
            } else {
                Stage::Verifier
            }
        } else if ended("agent_execution").is_some_and(|end| moment.micros > end) {
            Stage::Between
        } else {
            Stage::Agent
        }
    }
}

impl Phases<'_> {
    fn time(self, phase: &str, key: &str) -> Option<Moment> {
        self.node?.descendant(&[phase, key]).and_then(Node::word).and_then(Moment::parse)
    }

    /// How long the agent worked, in seconds.
    fn agent_seconds(self) -> Option<f64> {
        let time = |key| self.node?.descendant(&["agent_execution", key]).and_then(Node::word);
        clock::seconds_between(time("started_at")?, time("finished_at")?)
    }
}
