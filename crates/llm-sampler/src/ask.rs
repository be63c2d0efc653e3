//! Asking until an answer is taken, or [`ATTEMPTS`] have been refused.

use scenario::sample::{Answer, SampleError};
use serde_json::Value;

use crate::journal::Journal;
use crate::live::{Heard, Live};
use crate::model::{Conversation, Message, Question, Speaker};
use crate::tally::Tally;

/// How often a model is asked for the same thing.
pub const ATTEMPTS: u32 = 3;

/// How freely a model answers at each attempt: one that repeats itself is refused again.
const TEMPERATURES: [f64; ATTEMPTS as usize] = [0.4, 0.7, 1.0];

/// Characters of a refused answer that the model sees again.
const SHOWN_AGAIN: usize = 6000;

/// Where answers come from.
pub(crate) enum Source<'a> {
    /// A model; what an earlier generation kept comes first.
    Live(&'a Live, Option<Kept<'a>>),
    /// The answers of this turn, as they were recorded, and where it is, for messages.
    Recorded(&'a [Answer], String),
}

/// Where the answers of a turn are kept as they come.
#[derive(Clone, Copy)]
pub(crate) struct Kept<'a> {
    pub(crate) journal: &'a Journal,
    /// From 0.
    pub(crate) scenario: u32,
    /// From 1.
    pub(crate) turn: u32,
}

/// An answer as it was recorded.
fn recorded(answers: &[Answer], purpose: &str, attempt: u32) -> Option<Result<String, (String, String)>> {
    let answer = answers.iter().find(|answer| answer.purpose == purpose && answer.attempt == attempt)?;
    Some(match &answer.refused {
        // Refused then, refused now: the reason may have lain in what was not recorded.
        Some(why) => Err((answer.text.clone(), why.clone())),
        None => Ok(answer.text.clone()),
    })
}

/// One thing to ask for.
pub(crate) struct Asked<'a> {
    /// As in [`Answer::purpose`].
    pub(crate) purpose: &'a str,
    /// What the model is told of its task, in prose and where the endpoint takes a form.
    pub(crate) systems: [&'a str; 2],
    /// What it is asked, in prose and where the endpoint takes a form.
    pub(crate) texts: [&'a str; 2],
    /// The form of an answer: a JSON schema.
    pub(crate) schema: &'a Value,
    /// Tokens of an answer in the form, at most.
    pub(crate) most_tokens: u32,
}

/// Asks, and records every answer. Nothing if all were refused.
pub(crate) fn ask<T>(
    source: &Source<'_>,
    asked: &Asked<'_>,
    answers: &mut Vec<Answer>,
    tally: &Tally,
    check: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SampleError> {
    let mut last: Option<(String, String)> = None;
    for attempt in 1..=ATTEMPTS {
        let mut keep = None;
        let heard = match source {
            Source::Live(live, kept) => {
                let known = kept.and_then(|Kept { journal, scenario, turn }| {
                    recorded(journal.of(scenario, turn), asked.purpose, attempt)
                });
                match known {
                    Some(known) => known,
                    None => {
                        keep = *kept;
                        match live.ask(question(asked, attempt, last.as_ref()))? {
                            Heard::Text(text) => Ok(text),
                            Heard::Nothing(why) => Err((String::new(), why)),
                        }
                    }
                }
            }
            Source::Recorded(answers, place) => {
                recorded(answers, asked.purpose, attempt).ok_or_else(|| {
                    SampleError::NotRecorded(format!("`{}`, attempt {attempt}, of {place}", asked.purpose))
                })?
            }
        };
        let (text, outcome) = match heard {
            Ok(text) => {
                let outcome = check(&text);
                (text, outcome)
            }
            Err((text, why)) => (text, Err(why)),
        };
        let refused = outcome.as_ref().err().cloned();
        let answer = Answer {
            purpose: asked.purpose.to_owned(),
            attempt,
            text: text.clone(),
            refused: refused.clone(),
        };
        if let Some(Kept { journal, scenario, turn }) = keep {
            journal.note(scenario, turn, &answer)?;
        }
        answers.push(answer);
        tally.answered(asked.purpose, attempt, refused.is_none());
        match refused {
            None => return Ok(outcome.ok()),
            Some(why) => {
                tracing::debug!(purpose = asked.purpose, attempt, "An answer was refused: {why}");
                last = Some((text, why));
            }
        }
    }
    tally.filled(asked.purpose);
    Ok(None)
}

/// The question, and after a refusal the answer that was refused, and why.
fn question(asked: &Asked<'_>, attempt: u32, last: Option<&(String, String)>) -> Question {
    let [prose, shaped] = [0, 1].map(|form| Conversation {
        system: asked.systems[form].to_owned(),
        messages: messages(asked.texts[form], last),
    });
    let hottest = TEMPERATURES[TEMPERATURES.len() - 1];
    let temperature = TEMPERATURES.get(attempt.saturating_sub(1) as usize).copied().unwrap_or(hottest);
    Question { prose, shaped, schema: asked.schema.clone(), most_tokens: asked.most_tokens, temperature }
}

fn messages(text: &str, last: Option<&(String, String)>) -> Vec<Message> {
    let ours = |text: String| Message { from: Speaker::Us, text };
    let mut messages = vec![ours(text.to_owned())];
    // Only the last one: a conversation that grows with every failure costs more and helps less. An answer that never
    // came has no reason that the model could heed.
    if let Some((text, why)) = last
        && !text.trim().is_empty()
    {
        let shown: String = text.chars().take(SHOWN_AGAIN).collect();
        messages.push(Message { from: Speaker::Model, text: shown });
        messages.push(ours(format!(
            "That was refused: {why}\nAnswer again with one JSON object that mends this, and nothing else."
        )));
    }
    messages
}
