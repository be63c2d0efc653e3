//! How far an attempt has come, read from the conversation alone.
//!
//! The ids of the model's calls name it: `t3a1s2x…` is step 2 of the first attempt at turn 3. A harness that runs out of context
//! replaces calls by a summary, so the texts of the model name it as well: each step ([`step_label`]), and the summary, which the
//! model writes itself ([`summary`]). Without either, as where a harness replaces the ids, the calls that were answered since the
//! last request count.

use super::Task;
use super::conversation::{Conversation, Entry, Speaker};

/// Introduces the last finished step in a summary.
const DONE: &str = "Done so far: ";

/// The id of a call, without the prefix of the API.
pub(super) fn call_id(task: &Task, step: usize, digest: &str) -> String {
    format!("{}{step}x{digest}", marker(task))
}

/// A step as text: `turn 3, attempt 1, step 2`.
pub(super) fn step_label(task: &Task, step: usize) -> String {
    format!("{}{step}", label_prefix(task))
}

/// The finished steps, for a summary. Empty before the first step.
pub(super) fn summary(task: &Task, done: usize) -> String {
    if done == 0 { String::new() } else { format!(" {DONE}{}.", step_label(task, done)) }
}

fn marker(task: &Task) -> String {
    format!("t{}a{}s", task.turn, task.attempt)
}

fn label_prefix(task: &Task) -> String {
    format!("turn {}, attempt {}, step ", task.turn, task.attempt)
}

/// How many steps of this attempt are finished.
pub(super) fn steps_done(conversation: &Conversation, task: &Task) -> usize {
    let marker = marker(task);
    let mut has_own_ids = false;
    let mut done = 0;
    for call in conversation.calls() {
        let marked = call.split_once('_').map(|(_, id)| id).filter(|id| is_marked(id));
        has_own_ids |= marked.is_some();
        let step = marked.and_then(|id| id.strip_prefix(&marker)).and_then(|rest| rest.split('x').next());
        if let Some(step) = step.and_then(|step| step.parse::<usize>().ok())
            && conversation.is_answered(call)
        {
            done = done.max(step);
        }
    }
    let summarized = summarized_steps(conversation, task);
    if has_own_ids || summarized > 0 { done.max(summarized) } else { conversation.answered_since_request() }
}

/// The steps that summaries name. A harness may send a whole conversation as one text to have it summarized: there the steps
/// themselves count.
fn summarized_steps(conversation: &Conversation, task: &Task) -> usize {
    let prefix = label_prefix(task);
    let introduction = format!("{DONE}{prefix}");
    let is_text_only = conversation.calls().next().is_none() && conversation.tools.is_empty();
    let mut done = 0;
    for entry in &conversation.entries {
        let Entry::Message { speaker, text } = entry else { continue };
        let marker = if is_text_only && *speaker == Speaker::User { &prefix } else { &introduction };
        for rest in text.split(marker.as_str()).skip(1) {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            done = done.max(digits.parse().unwrap_or(0));
        }
    }
    done
}

/// Whether [`call_id`] made an id.
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
