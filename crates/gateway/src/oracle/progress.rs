//! How far an attempt is, read from the conversation alone.
//!
//! The ids of the model's calls say it: `t3a1s2x…` is step 2 of the first attempt at turn 3. A harness that runs out of
//! context lets a summary stand for the calls, so the model's texts say it as well: each step in words ([`place`]), and
//! the summary, which the model writes itself, how far the steps were done ([`summed_up`]). Without either, as where
//! a harness gives calls ids of its own, the calls that were answered since the last request are counted.

use super::Task;
use super::conversation::{By, Conversation, Entry};

/// What a summary says before the last step that was done.
const DONE: &str = "Done so far: ";

/// The own part of a call's id.
pub(super) fn id(task: &Task, step: usize, digest: &str) -> String {
    format!("{}{step}x{digest}", marker(task))
}

/// A step in words: `turn 3, attempt 1, step 2`.
pub(super) fn place(task: &Task, step: usize) -> String {
    format!("{}{step}", words(task))
}

/// How far it is, for a summary; nothing before the first step.
pub(super) fn summed_up(task: &Task, done: usize) -> String {
    if done == 0 { String::new() } else { format!(" {DONE}{}.", place(task, done)) }
}

fn marker(task: &Task) -> String {
    format!("t{}a{}s", task.turn, task.attempt)
}

fn words(task: &Task) -> String {
    format!("turn {}, attempt {}, step ", task.turn, task.attempt)
}

/// How many of the steps of this attempt were done.
pub(super) fn done(asked: &Conversation, task: &Task) -> usize {
    let marker = marker(task);
    let mut ours = false;
    let mut done = 0;
    for call in asked.calls() {
        let marked = call.split_once('_').map(|(_, id)| id).filter(|id| is_marked(id));
        ours |= marked.is_some();
        let step = marked.and_then(|id| id.strip_prefix(&marker)).and_then(|rest| rest.split('x').next());
        if let Some(step) = step.and_then(|step| step.parse::<usize>().ok())
            && asked.is_answered(call)
        {
            done = done.max(step);
        }
    }
    let summed_up = summaries(asked, task);
    if ours || summed_up > 0 { done.max(summed_up) } else { asked.answered_since_asked() }
}

/// What summaries say. A conversation that a harness hands over as one text, to have a summary made of it, counts by the
/// steps that it tells: it is made between steps.
fn summaries(asked: &Conversation, task: &Task) -> usize {
    let words = words(task);
    let summary = format!("{DONE}{words}");
    let alone = asked.calls().next().is_none() && asked.tools.is_empty();
    let mut done = 0;
    for entry in &asked.entries {
        let Entry::Said { by, text } = entry else { continue };
        let told = if alone && *by == By::User { &words } else { &summary };
        for rest in text.split(told.as_str()).skip(1) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            done = done.max(digits.parse().unwrap_or(0));
        }
    }
    done
}

/// Whether an id is one that [`id`] made.
fn is_marked(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = || {
        let (turn, rest) = id.strip_prefix('t')?.split_once('a')?;
        let (attempt, rest) = rest.split_once('s')?;
        let (step, _) = rest.split_once('x')?;
        Some(digits(turn) && digits(attempt) && digits(step))
    };
    parts().unwrap_or(false)
}
