//! The oracle model: a scripted model that answers a turn with its reference server, written out as code, with seeded
//! defects.
//!
//! It speaks all three APIs, streaming and not, and drives whatever tool the harness offers to run a command or write a
//! file. It makes the whole pipeline testable at no cost. Runs made with it are marked *simulated*.

mod aside;
mod chat;
mod conversation;
mod defects;
mod messages;
mod mischief;
mod progress;
mod reply;
mod responses;
mod tools;
mod work;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use model::Tokens;
use scenario::change::Change;
use scenario::ir::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::conversation::Conversation;
use self::mischief::Kind;
use self::reply::{BYTES_PER_TOKEN, Call, Reply};
use self::tools::Hands;
use self::work::File;
use crate::route::{Answer, Route};

/// When answers say that they were made, in seconds since 1970: always the same, so that the same request has the same
/// answer.
const CREATED: u64 = 1_700_000_000;
/// Of a chance, in how many parts it is drawn.
const PARTS: usize = 1_000_000;
/// Servers that are kept: more than episodes are played at once.
const KNOWN: usize = 32;

/// How able it is and how it misbehaves. All choices derive from (seed, scenario, turn, attempt).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ability {
    /// Where its choices come from.
    pub seed: u64,
    /// Share of turns in which the first attempt carries defects, 0 to 1.
    pub defect_rate: f64,
    /// Defects in such a turn: 1 to this.
    pub most_defects: u32,
    /// Chance that detailed feedback on a failed attempt repairs each defect, 0 to 1. Less feedback repairs less:
    /// [`Feedback`].
    pub repair: f64,
    /// Whether defects that were not repaired stay in later turns.
    pub carries_over: bool,
    /// What else it does, by share of attempts.
    pub mischief: Mischief,
    /// What the server is written in.
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
            mischief: Mischief::default(),
            stack: Stack::Flask,
        }
    }
}

/// What the oracle's servers are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// `server.py` with Flask.
    #[default]
    Flask,
    /// `schema.yaml`, served by `$STAMINA serve-reference --schema schema.yaml --port $PORT`: where there is no box.
    Native,
}

/// Misbehaviour by share of attempts, 0 to 1 each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mischief {
    /// Never answers a request.
    pub stall: f64,
    /// Says that the context is exceeded, as the endpoint would (400).
    pub overflow: f64,
    /// Sends a tool call whose arguments are no JSON, again and again.
    pub malformed: f64,
    /// Runs a broad `pkill` on the harness.
    pub kill: f64,
    /// Says it is done without doing anything.
    pub give_up: f64,
}

/// What is to be solved in an attempt.
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
    /// How many attempts each turn before this one took, in order (shorter = 1 each): how often defects that carry over
    /// had a chance to be repaired.
    pub attempts_before: Vec<u32>,
    /// What it is told of an attempt that did not pass; what a repair goes by.
    pub feedback: Feedback,
}

/// How much the model is told of the tests that failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Feedback {
    /// Only that it has not passed: there is nothing to go by, so nothing is repaired.
    None,
    /// How many tests failed: a third of the chance.
    Minimal,
    /// Which tests failed: two thirds of it.
    Medium,
    /// Which, what was expected and what came: all of [`Ability::repair`].
    #[default]
    Detailed,
}

impl Feedback {
    /// The part of [`Ability::repair`] that it leaves.
    fn part(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Minimal => 1.0 / 3.0,
            Self::Medium => 2.0 / 3.0,
            Self::Detailed => 1.0,
        }
    }
}

/// The scripted model.
#[derive(Debug)]
pub struct Oracle {
    /// How able.
    pub ability: Ability,
    /// The servers of the attempts that were asked for last: an attempt asks several times.
    known: Mutex<VecDeque<(Which, Arc<[File; 2]>)>>,
}

/// Whose server it is. Two tasks that are equal in this have the same server.
#[derive(Debug, Clone)]
struct Which {
    scenario: u32,
    turn: u32,
    attempt: u32,
    attempts_before: Vec<u32>,
    feedback: Feedback,
    turns: Arc<Vec<(Arc<Schema>, Vec<Change>)>>,
}

impl Oracle {
    /// A model of this ability.
    pub fn new(ability: Ability) -> Self {
        Self { ability, known: Mutex::default() }
    }

    /// Answers one request of an attempt. Called on a thread that may block; the same input gives the same answer.
    pub fn answer(&self, route: Route, body: &Value, task: &Task) -> Answer {
        let asked = Conversation::read(route, body);
        let mischief = mischief::of(&self.ability, task.scenario, task.turn, task.attempt);
        match mischief {
            Some(Kind::Stall) => return Answer::silence(),
            Some(Kind::Overflow) => {
                let tokens = asked.bytes / BYTES_PER_TOKEN;
                let said = match route {
                    Route::ChatCompletions => chat::overflow(tokens),
                    Route::Responses => responses::overflow(),
                    Route::Messages => messages::overflow(tokens),
                };
                return Answer::json(400, &said, Tokens::default());
            }
            _ => {}
        }
        let reply = self.reply(&asked, mischief, body, task);
        match route {
            Route::ChatCompletions => chat::answer(&reply, &asked),
            Route::Responses => responses::answer(&reply, &asked),
            Route::Messages => messages::answer(&reply, &asked),
        }
    }

    fn reply(&self, asked: &Conversation, mischief: Option<Kind>, body: &Value, task: &Task) -> Reply {
        // Ids must differ from request to request, also where a harness asks the same twice in a conversation.
        let digest = digest(body);
        let id = |step: usize| progress::id(task, step, &digest);
        let hands = Hands::find(&asked.tools);
        let done = progress::done(asked, task);
        if let Some(text) = aside::answer(asked, &hands, task, done) {
            return Reply { id: id(0), text, call: None };
        }
        let steps = match mischief {
            None => self.files(task).map(|files| work::steps(&files, &hands)).unwrap_or_default(),
            Some(kind) => mischief::steps(kind, &hands),
        };
        if mischief == Some(Kind::Malformed) && done < mischief::PATIENCE && !steps.is_empty() {
            let step = steps.first().cloned();
            let call = step.map(|step| mischief::break_off(id(done + 1), &step.uses));
            return Reply { id: id(done + 1), text: String::new(), call };
        }
        if mischief != Some(Kind::Malformed)
            && let Some(step) = steps.into_iter().nth(done)
        {
            let call = Some(Call::new(id(done + 1), step.uses));
            let text = format!("{} ({})", step.says, progress::place(task, done + 1));
            return Reply { id: id(done + 1), text, call };
        }
        self.end(asked, &hands, task, mischief, &id(done + 1))
    }

    /// Ends the turn in the way that the harness knows.
    fn end(
        &self,
        asked: &Conversation,
        hands: &Hands<'_>,
        task: &Task,
        mischief: Option<Kind>,
        id: &str,
    ) -> Reply {
        let server = match self.ability.stack {
            Stack::Flask => "server.py",
            Stack::Native => "schema.yaml",
        };
        let text = match mischief {
            None => format!("Done: {server} does what turn {} asks for; run.sh starts it.", task.turn),
            Some(_) => "This is done.".to_owned(),
        };
        let last = if asked.was_told(work::SUBMIT) {
            hands.run(&format!("echo {}", work::SUBMIT), "I hand in.")
        } else {
            hands.finish(&text)
        };
        let call = last.map(|uses| Call::new(id.to_owned(), uses));
        Reply { id: id.to_owned(), text, call }
    }

    /// The server of an attempt; nothing for a task without schemas.
    fn files(&self, task: &Task) -> Option<Arc<[File; 2]>> {
        let which = Which {
            scenario: task.scenario,
            turn: task.turn,
            attempt: task.attempt,
            attempts_before: task.attempts_before.clone(),
            feedback: task.feedback,
            turns: Arc::clone(&task.turns),
        };
        let known = |found: &VecDeque<(Which, Arc<[File; 2]>)>| {
            found.iter().find(|(one, _)| one.is(&which)).map(|(_, files)| Arc::clone(files))
        };
        if let Some(files) = known(&self.known.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Some(files);
        }
        let files = Arc::new(work::files(&*defects::schema(&self.ability, task)?, self.ability.stack));
        let mut found = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        found.push_back((which, Arc::clone(&files)));
        while found.len() > KNOWN {
            found.pop_front();
        }
        Some(files)
    }
}

impl Which {
    fn is(&self, other: &Self) -> bool {
        (self.scenario, self.turn, self.attempt) == (other.scenario, other.turn, other.attempt)
            && (&self.attempts_before, self.feedback) == (&other.attempts_before, other.feedback)
            && Arc::ptr_eq(&self.turns, &other.turns)
    }
}

/// Eight letters and digits that depend on all of a request.
fn digest(body: &Value) -> String {
    let hash = crate::hash::fnv1a(&body.to_string());
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}
