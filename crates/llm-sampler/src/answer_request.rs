//! Requests answers until one is accepted, or [`ATTEMPTS`] are refused.

use scenario::sample::{Answer, SampleError};
use serde_json::Value;

use crate::journal::Journal;
use crate::model::{Conversation, Message, Question, Speaker};
use crate::model_calls::{LiveModel, Outcome};
use crate::tally::Tally;

/// How often the same answer is requested.
pub const ATTEMPTS: u32 = 3;

/// The temperature of each attempt. It rises, because a repeated answer is refused again.
const TEMPERATURES: [f64; ATTEMPTS as usize] = [0.4, 0.7, 1.0];

/// How many characters of a refused answer are sent back to the model.
const SHOWN_AGAIN: usize = 6000;

/// Where answers come from.
pub(crate) enum Source<'a> {
    /// A model. Answers of an earlier generation come first.
    Live(&'a LiveModel, Option<JournalPlace<'a>>),
    /// The recorded answers of this turn, and the place of the turn, for messages.
    Recorded(&'a [Answer], String),
}

/// The place in the journal for the answers of a turn.
#[derive(Clone, Copy)]
pub(crate) struct JournalPlace<'a> {
    pub(crate) journal: &'a Journal,
    /// From 0.
    pub(crate) scenario: u32,
    /// From 1.
    pub(crate) turn: u32,
}

/// A recorded answer.
fn recorded(answers: &[Answer], purpose: &str, attempt: u32) -> Option<Result<String, (String, String)>> {
    let answer = answers.iter().find(|answer| answer.purpose == purpose && answer.attempt == attempt)?;
    Some(match &answer.refused {
        // A refused answer stays refused, because the reason may depend on something that is not recorded.
        Some(reason) => Err((answer.text.clone(), reason.clone())),
        None => Ok(answer.text.clone()),
    })
}

/// A request for one answer.
pub(crate) struct AnswerRequest<'a> {
    /// As in [`Answer::purpose`].
    pub(crate) purpose: &'a str,
    /// The task, in prose and for an endpoint that supports a form.
    pub(crate) systems: [&'a str; 2],
    /// The question, in prose and for an endpoint that supports a form.
    pub(crate) texts: [&'a str; 2],
    /// The form of an answer: a JSON schema.
    pub(crate) schema: &'a Value,
    /// Most tokens of an answer in the form.
    pub(crate) most_tokens: u32,
}

/// Requests answers and records every one. `None` if all are refused.
pub(crate) fn request_answer<T>(
    source: &Source<'_>,
    request: &AnswerRequest<'_>,
    answers: &mut Vec<Answer>,
    tally: &Tally,
    check: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SampleError> {
    let mut last: Option<(String, String)> = None;
    for attempt in 1..=ATTEMPTS {
        let mut keep = None;
        let received = match source {
            Source::Live(live, kept) => {
                let known = kept.and_then(|JournalPlace { journal, scenario, turn }| {
                    recorded(journal.answers(scenario, turn), request.purpose, attempt)
                });
                match known {
                    Some(known) => known,
                    None => {
                        keep = *kept;
                        match live.ask(question(request, attempt, last.as_ref()))? {
                            Outcome::Text(text) => Ok(text),
                            Outcome::Missing(reason) => Err((String::new(), reason)),
                        }
                    }
                }
            }
            Source::Recorded(answers, place) => {
                recorded(answers, request.purpose, attempt).ok_or_else(|| {
                    SampleError::NotRecorded(format!("`{}`, attempt {attempt}, of {place}", request.purpose))
                })?
            }
        };
        let (text, outcome) = match received {
            Ok(text) => {
                let outcome = check(&text);
                (text, outcome)
            }
            Err((text, reason)) => (text, Err(reason)),
        };
        let refused = outcome.as_ref().err().cloned();
        let answer = Answer {
            purpose: request.purpose.to_owned(),
            attempt,
            text: text.clone(),
            refused: refused.clone(),
        };
        if let Some(JournalPlace { journal, scenario, turn }) = keep {
            journal.note(scenario, turn, &answer)?;
        }
        answers.push(answer);
        tally.count_answer(request.purpose, attempt, refused.is_none());
        match refused {
            None => return Ok(outcome.ok()),
            Some(reason) => {
                tracing::debug!(purpose = request.purpose, attempt, "An answer was refused: {reason}");
                last = Some((text, reason));
            }
        }
    }
    tally.count_filled(request.purpose);
    Ok(None)
}

/// The question, and after a refusal the refused answer with the reason.
fn question(request: &AnswerRequest<'_>, attempt: u32, last: Option<&(String, String)>) -> Question {
    let [prose, shaped] = [0, 1].map(|form| Conversation {
        system: request.systems[form].to_owned(),
        messages: messages(request.texts[form], last),
    });
    let hottest = TEMPERATURES[TEMPERATURES.len() - 1];
    let temperature = TEMPERATURES.get(attempt.saturating_sub(1) as usize).copied().unwrap_or(hottest);
    Question { prose, shaped, schema: request.schema.clone(), most_tokens: request.most_tokens, temperature }
}

fn messages(text: &str, last: Option<&(String, String)>) -> Vec<Message> {
    let sampler_message = |text: String| Message { speaker: Speaker::Sampler, text };
    let mut messages = vec![sampler_message(text.to_owned())];
    // Only the last refusal: a conversation that grows with every failure costs more and helps less. A missing answer has
    // no reason for the model.
    if let Some((text, reason)) = last
        && !text.trim().is_empty()
    {
        let shown: String = text.chars().take(SHOWN_AGAIN).collect();
        messages.push(Message { speaker: Speaker::Model, text: shown });
        messages.push(sampler_message(format!(
            "That was refused: {reason}\nAnswer again with one JSON object that mends this, and nothing else."
        )));
    }
    messages
}
