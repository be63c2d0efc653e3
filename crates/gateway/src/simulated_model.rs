//! The simulated model: it answers a turn with the code of the reference server, and a step of somebody else's task with its
//! reference solution, with seeded defects.
//!
//! It supports all three APIs, with and without streaming, and uses the tools of the harness that run a command or write a file.
//! It makes the whole pipeline testable at no cost. Runs with it are labeled *simulated*.

mod chat;
mod conversation;
mod defects;
mod fault_injection;
mod messages;
mod offered_tools;
mod progress;
mod reply;
mod responses;
mod server_files;
mod side_requests;
mod solutions;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use model::Tokens;
use scenario::change::Change;
use scenario::ir::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use self::conversation::Conversation;
use self::fault_injection::InjectedFault;
use self::offered_tools::OfferedTools;
use self::reply::{BYTES_PER_TOKEN, Call, Reply};
use self::server_files::File;
pub use self::solutions::{FOLDER as SOLUTION_FOLDER, Solution};
use crate::route::{Answer, Route};

/// The creation time in answers, in seconds since 1970. It is constant, so that the same request has the same answer.
const CREATED: u64 = 1_700_000_000;
/// Resolution of a random chance.
const PARTS: usize = 1_000_000;
/// Servers that are cached: more than episodes run at once.
const CACHED_SERVERS: usize = 32;

/// How capable it is, and how it misbehaves. All choices derive from (seed, scenario, turn, attempt).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ability {
    /// Seed of its choices.
    pub seed: u64,
    /// Share of turns whose first attempt has defects, 0 to 1; of steps of tasks, the share of all attempts.
    pub defect_rate: f64,
    /// Most defects of such a turn, at least 1.
    pub most_defects: u32,
    /// Chance that detailed feedback on a failed attempt repairs a defect, 0 to 1. Less feedback repairs less: [`Feedback`].
    pub repair: f64,
    /// Whether unrepaired defects stay in later turns.
    pub carries_over: bool,
    /// Faults that it injects, by share of attempts.
    // words: ok, the key of the setting
    #[serde(rename = "mischief")]
    pub fault_injection: FaultInjection,
    /// What its servers are written in.
    pub stack: Stack,
}

impl Default for Ability {
    fn default() -> Self {
        Self {
            seed: 0,
            defect_rate: 0.0,
            most_defects: 3,
            repair: 1.0,
            carries_over: true,
            fault_injection: FaultInjection::default(),
            stack: Stack::Flask,
        }
    }
}

/// The stack of the servers that the simulated model writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "FormStack")]
pub enum Stack {
    /// `server.py` with Flask.
    #[default]
    Flask,
    /// `schema.yaml`, served by `$STAMINA serve-reference --schema schema.yaml --port $PORT`: where there is no container.
    Native,
}

/// Injected faults by share of attempts, 0 to 1 each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FaultInjection {
    /// Never answers a request.
    pub stall: f64,
    /// Reports that the context is too long, as an endpoint would (400).
    pub overflow: f64,
    /// Sends tool calls whose arguments are not JSON, repeatedly.
    pub malformed: f64,
    /// Runs a broad `pkill` that ends the harness.
    pub kill: f64,
    /// Reports success without doing anything.
    pub give_up: f64,
}

/// What an attempt has to solve.
#[derive(Debug, Clone)]
pub struct Task {
    /// Scenario, from 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
    /// From 1.
    pub attempt: u32,
    /// The schema of each turn up to this one, and the changes that led to it (none for turn 1).
    pub turns: Arc<Vec<(Arc<Schema>, Vec<Change>)>>,
    /// Number of attempts of each earlier turn, in order (missing = 1): how often its defects could be repaired.
    pub attempts_before: Vec<u32>,
    /// The feedback on a failed attempt, which decides what is repaired.
    pub feedback: Feedback,
    /// The reference solution, where the turn is a step of somebody else's task. It has no schemas then.
    pub solution: Option<Arc<Solution>>,
}

/// How much the feedback tells about failed tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Feedback {
    /// Nothing, and each attempt at a turn begins from the same snapshot: the turn's defects are drawn anew for each.
    Anew,
    /// Only that the attempt failed. Nothing is repaired.
    None,
    /// How many tests failed: a third of the chance.
    Minimal,
    /// Which tests failed: two thirds of it.
    Medium,
    /// Which tests failed, with expected and actual values: all of [`Ability::repair`].
    #[default]
    Detailed,
}

impl Feedback {
    /// The part of [`Ability::repair`] that applies.
    fn share(self) -> f64 {
        match self {
            Self::Anew | Self::None => 0.0,
            Self::Minimal => 1.0 / 3.0,
            Self::Medium => 2.0 / 3.0,
            Self::Detailed => 1.0,
        }
    }
}

/// The simulated model.
#[derive(Debug)]
pub struct SimulatedModel {
    /// How capable it is.
    pub ability: Ability,
    /// The servers of the last attempts. An attempt sends several requests.
    servers: Mutex<VecDeque<(ServerKey, Arc<[File; 2]>)>>,
}

/// Identifies a server. Tasks with the same key have the same server.
#[derive(Debug, Clone)]
struct ServerKey {
    scenario: u32,
    turn: u32,
    attempt: u32,
    attempts_before: Vec<u32>,
    feedback: Feedback,
    turns: Arc<Vec<(Arc<Schema>, Vec<Change>)>>,
}

impl SimulatedModel {
    /// A model with this ability.
    pub fn new(ability: Ability) -> Self {
        Self { ability, servers: Mutex::default() }
    }

    /// Answers one request of an attempt. The same input gives the same answer. May block.
    pub fn answer(&self, route: Route, body: &Value, task: &Task) -> Answer {
        let conversation = Conversation::parse(route, body);
        let injected = fault_injection::choose(&self.ability, task.scenario, task.turn, task.attempt);
        match injected {
            Some(InjectedFault::Stall) => return Answer::silence(),
            Some(InjectedFault::Overflow) => {
                let tokens = conversation.bytes / BYTES_PER_TOKEN;
                let error = match route {
                    Route::ChatCompletions => chat::overflow(tokens),
                    Route::Responses => responses::overflow(),
                    Route::Messages => messages::overflow(tokens),
                };
                return Answer::json(400, &error, Tokens::default());
            }
            _ => {}
        }
        let reply = self.reply(&conversation, injected, body, task);
        match route {
            Route::ChatCompletions => chat::answer(&reply, &conversation),
            Route::Responses => responses::answer(&reply, &conversation),
            Route::Messages => messages::answer(&reply, &conversation),
        }
    }

    fn reply(
        &self,
        conversation: &Conversation,
        injected: Option<InjectedFault>,
        body: &Value,
        task: &Task,
    ) -> Reply {
        // Ids differ between requests, also where a harness repeats a question in a conversation.
        let digest = digest(body);
        let id = |step: usize| progress::call_id(task, step, &digest);
        let offered = OfferedTools::find(&conversation.tools);
        let done = progress::steps_done(conversation, task);
        if let Some(text) = side_requests::answer(conversation, &offered, task, done) {
            return Reply { id: id(0), text, call: None };
        }
        let steps = match injected {
            None => match &task.solution {
                Some(solution) => {
                    solutions::steps(solution, solutions::defect(&self.ability, task), &offered)
                }
                None => {
                    self.files(task).map(|files| server_files::steps(&files, &offered)).unwrap_or_default()
                }
            },
            Some(kind) => fault_injection::steps(kind, &offered),
        };
        if injected == Some(InjectedFault::Malformed)
            && done < fault_injection::MALFORMED_CALLS
            && !steps.is_empty()
        {
            let step = steps.first().cloned();
            let call = step.map(|step| fault_injection::truncate_call(id(done + 1), &step.call));
            return Reply { id: id(done + 1), text: String::new(), call };
        }
        if injected != Some(InjectedFault::Malformed)
            && let Some(step) = steps.into_iter().nth(done)
        {
            let call = Some(Call::new(id(done + 1), step.call));
            let text = format!("{} ({})", step.text, progress::step_label(task, done + 1));
            return Reply { id: id(done + 1), text, call };
        }
        self.end(conversation, &offered, task, injected, &id(done + 1))
    }

    /// Ends the turn as the harness expects it.
    fn end(
        &self,
        conversation: &Conversation,
        offered: &OfferedTools<'_>,
        task: &Task,
        injected: Option<InjectedFault>,
        id: &str,
    ) -> Reply {
        let server = match self.ability.stack {
            Stack::Flask => "server.py",
            Stack::Native => "schema.yaml",
        };
        let text = match injected {
            None if task.solution.is_some() => format!("Done: step {} is solved.", task.turn),
            None => format!("Done: {server} does what turn {} asks for; run.sh starts it.", task.turn),
            Some(_) => "This is done.".to_owned(),
        };
        let last = if conversation.instructs(server_files::SUBMIT) {
            offered.run(&format!("echo {}", server_files::SUBMIT), "I hand in.")
        } else {
            offered.finish(&text)
        };
        let call = last.map(|call| Call::new(id.to_owned(), call));
        Reply { id: id.to_owned(), text, call }
    }

    /// The server of an attempt. `None` for a task without schemas.
    fn files(&self, task: &Task) -> Option<Arc<[File; 2]>> {
        let key = ServerKey {
            scenario: task.scenario,
            turn: task.turn,
            attempt: task.attempt,
            attempts_before: task.attempts_before.clone(),
            feedback: task.feedback,
            turns: Arc::clone(&task.turns),
        };
        let find = |found: &VecDeque<(ServerKey, Arc<[File; 2]>)>| {
            found.iter().find(|(known, _)| known.is_same(&key)).map(|(_, files)| Arc::clone(files))
        };
        if let Some(files) = find(&model::lock(&self.servers)) {
            return Some(files);
        }
        let files =
            Arc::new(server_files::files(&*defects::schema(&self.ability, task)?, self.ability.stack));
        let mut found = model::lock(&self.servers);
        found.push_back((key, Arc::clone(&files)));
        while found.len() > CACHED_SERVERS {
            found.pop_front();
        }
        Some(files)
    }
}

impl ServerKey {
    fn is_same(&self, other: &Self) -> bool {
        (self.scenario, self.turn, self.attempt) == (other.scenario, other.turn, other.attempt)
            && (&self.attempts_before, self.feedback) == (&other.attempts_before, other.feedback)
            && Arc::ptr_eq(&self.turns, &other.turns)
    }
}

/// Eight hexadecimal digits that depend on the whole request.
fn digest(body: &Value) -> String {
    let hash = crate::hash::fnv1a(&body.to_string());
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}
