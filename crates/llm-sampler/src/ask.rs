//! Asking until an answer is taken, or [`ATTEMPTS`] have been refused.

use scenario::sample::{Answer, SampleError};

use crate::live::{Heard, Live};
use crate::model::{Message, Question, Speaker};

/// How often a model is asked for the same thing.
pub const ATTEMPTS: u32 = 3;

/// Characters of a refused answer that the model sees again.
const SHOWN_AGAIN: usize = 6000;

/// Where answers come from.
pub(crate) enum Source<'a> {
    /// A model.
    Live(&'a Live),
    /// The answers of this turn, as they were recorded, and where it is, for messages.
    Recorded(&'a [Answer], String),
}

/// One thing to ask for.
pub(crate) struct Asked<'a> {
    /// As in [`Answer::purpose`].
    pub(crate) purpose: &'a str,
    /// What the model is told of its task.
    pub(crate) system: &'a str,
    /// What it is asked.
    pub(crate) text: &'a str,
}

/// Asks, and records every answer. Nothing if all were refused.
pub(crate) fn ask<T>(
    source: &Source<'_>,
    asked: &Asked<'_>,
    answers: &mut Vec<Answer>,
    check: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SampleError> {
    let mut last: Option<(String, String)> = None;
    for attempt in 1..=ATTEMPTS {
        let heard = match source {
            Source::Live(live) => match live.ask(question(asked, last.as_ref()))? {
                Heard::Text(text) => Ok(text),
                Heard::Nothing(why) => Err((String::new(), why)),
            },
            Source::Recorded(recorded, place) => {
                let answer = recorded
                    .iter()
                    .find(|answer| answer.purpose == asked.purpose && answer.attempt == attempt)
                    .ok_or_else(|| {
                        SampleError::NotRecorded(format!(
                            "`{}`, attempt {attempt}, of {place}",
                            asked.purpose
                        ))
                    })?;
                match &answer.refused {
                    // Refused then, refused now: the reason may have lain in what was not recorded.
                    Some(why) => Err((answer.text.clone(), why.clone())),
                    None => Ok(answer.text.clone()),
                }
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
        answers.push(Answer {
            purpose: asked.purpose.to_owned(),
            attempt,
            text: text.clone(),
            refused: refused.clone(),
        });
        match refused {
            None => return Ok(outcome.ok()),
            Some(why) => {
                tracing::debug!(purpose = asked.purpose, attempt, "An answer was refused: {why}");
                last = Some((text, why));
            }
        }
    }
    Ok(None)
}

/// The question, and after a refusal the answer that was refused, and why.
fn question(asked: &Asked<'_>, last: Option<&(String, String)>) -> Question {
    let ours = |text: String| Message { from: Speaker::Us, text };
    let mut messages = vec![ours(asked.text.to_owned())];
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
    Question { system: asked.system.to_owned(), messages }
}
