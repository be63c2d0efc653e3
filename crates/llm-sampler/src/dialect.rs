//! What an endpoint supports, learned from its refusals: after a refusal that names a part of a request, the next request
//! lacks this part. Later requests to the endpoint lack it too.
//!
//! One answer changes nothing for later questions if it is prose instead of the form, or too large for the endpoint. Several
//! such answers in a row do.

use std::sync::{Mutex, MutexGuard};

use crate::answer_request::ATTEMPTS;

/// After so many answers in a row without the form, an endpoint that never used the form gets no more forms.
const MOST_IGNORED_FORMS: u32 = 2;

/// The same for a form that answers have used. It is more than one question can cause.
const MOST_LATER_IGNORED_FORMS: u32 = 2 * ATTEMPTS;

/// After so many questions in a row with a refused bound on tokens, all questions have no bound.
const TOO_LARGE: u32 = 3;

/// How the form of an answer is requested, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// `response_format: json_schema`, strict.
    Schema,
    /// A tool whose arguments are the answer.
    Tool,
    /// No form: in prose.
    Prose,
}

/// The parameter that bounds the tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`, which reasoning models require instead.
    MaxCompletionTokens,
    /// No bound.
    Unbounded,
}

/// What an endpoint supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) form: AnswerForm,
    pub(crate) bound: Bound,
    /// Whether it supports a temperature.
    pub(crate) temperature: bool,
    /// Whether the model reasons before it answers, and needs tokens for it.
    pub(crate) is_reasoning: bool,
}

impl Dialect {
    /// The dialect before the first request.
    pub(crate) const FIRST_CHOICE: Self =
        Self { form: AnswerForm::Schema, bound: Bound::MaxTokens, temperature: true, is_reasoning: false };

    /// The next dialect after a refusal; `None` if the refusal names nothing that can be left out.
    ///
    /// `status` is the HTTP status. Some servers report unsupported parts as an error of the server (501, and llama.cpp 500
    /// for tools without `--jinja`), and routers respond with 404 if no provider supports a parameter.
    pub(crate) fn after_refusal(self, status: u16, message: &str) -> Option<Self> {
        if !matches!(status, 400 | 404 | 422 | 500 | 501) {
            return None;
        }
        let message = message.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
        let (tokens, temperature) =
            (names(&["max_tokens", "max_completion_tokens"]), names(&["temperature"]));
        let schema =
            names(&["response_format", "json_schema", "structured output", "grammar", "output_config"]);
        let tool = names(&["tool", "function call", "functions"]);
        match self {
            Self { bound: Bound::MaxTokens, .. } if message.contains("max_completion_tokens") => {
                Some(Self { bound: Bound::MaxCompletionTokens, ..self })
            }
            Self { temperature: true, .. } if temperature => Some(Self { temperature: false, ..self }),
            Self { form: AnswerForm::Schema, .. } if schema => Some(Self { form: AnswerForm::Tool, ..self }),
            Self { form: AnswerForm::Tool, .. } if tool => Some(Self { form: AnswerForm::Prose, ..self }),
            Self { bound: Bound::MaxTokens | Bound::MaxCompletionTokens, .. } if tokens => {
                Some(Self { bound: Bound::Unbounded, ..self })
            }
            _ => None,
        }
    }

    /// The next dialect after answers without the form: the endpoint accepts the form and ignores it.
    fn after_ignored_form(self) -> Self {
        let form = match self.form {
            AnswerForm::Schema => AnswerForm::Tool,
            AnswerForm::Tool | AnswerForm::Prose => AnswerForm::Prose,
        };
        Self { form, ..self }
    }
}

/// What all threads have learned about an endpoint.
#[derive(Debug)]
pub(crate) struct EndpointKnowledge(Mutex<State>);

#[derive(Debug)]
struct State {
    dialect: Dialect,
    /// Whether an answer has used the form.
    form_was_used: bool,
    /// Answers in a row without the form.
    answers_without_form: u32,
    /// Questions in a row with a refused bound on tokens.
    too_large: u32,
}

impl EndpointKnowledge {
    /// The state before the first request.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State {
            dialect: Dialect::FIRST_CHOICE,
            form_was_used: false,
            answers_without_form: 0,
            too_large: 0,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        model::lock(&self.0)
    }

    /// Starts a question with the present dialect.
    pub(crate) fn question(&self) -> PendingQuestion<'_> {
        PendingQuestion { learned: self, is_unbounded: false }
    }
}

/// One question, sent until the endpoint accepts the request.
#[derive(Debug)]
pub(crate) struct PendingQuestion<'a> {
    learned: &'a EndpointKnowledge,
    /// Whether the bound on its tokens was refused.
    is_unbounded: bool,
}

impl PendingQuestion<'_> {
    /// The dialect of the next request.
    pub(crate) fn dialect(&self) -> Dialect {
        let dialect = self.learned.state().dialect;
        if self.is_unbounded { Dialect { bound: Bound::Unbounded, ..dialect } } else { dialect }
    }

    /// Changes to the next dialect, also for later questions, unless another thread has changed it already. This ends, because
    /// each change removes a part of a request.
    pub(crate) fn proceed(&mut self, previous: Dialect, to: Dialect) {
        let mut state = self.learned.state();
        if to.bound == Bound::Unbounded && previous.bound != Bound::Unbounded {
            self.is_unbounded = true;
            state.too_large += 1;
            if state.too_large < TOO_LARGE {
                return;
            }
        }
        let known = state.dialect;
        if (Dialect { bound: known.bound, ..previous }) != known {
            return;
        }
        let bound = if previous.bound == known.bound { to.bound } else { known.bound };
        state.change(Dialect { bound, ..to });
    }

    /// Records an answer. `has_form`: whether it is in the form; `None` = unknown, because it is empty or its request was in
    /// prose.
    pub(crate) fn record_answer(&self, dialect: Dialect, has_form: Option<bool>) {
        let mut state = self.learned.state();
        if dialect.bound != Bound::Unbounded {
            state.too_large = 0;
        }
        if dialect.form != state.dialect.form {
            return;
        }
        match has_form {
            None => {}
            Some(true) => (state.form_was_used, state.answers_without_form) = (true, 0),
            Some(false) => {
                state.answers_without_form += 1;
                let most = if state.form_was_used { MOST_LATER_IGNORED_FORMS } else { MOST_IGNORED_FORMS };
                if state.answers_without_form >= most {
                    let next = state.dialect.after_ignored_form();
                    state.change(next);
                }
            }
        }
    }
}

impl State {
    fn change(&mut self, dialect: Dialect) {
        if dialect == self.dialect {
            return;
        }
        tracing::info!(?dialect, "Requests to the model have another form from now on");
        if dialect.form != self.dialect.form {
            (self.form_was_used, self.answers_without_form) = (false, 0);
        }
        self.dialect = dialect;
    }
}

/// Whether an answer to a question with a form has the form; `None` = unknown.
pub(crate) fn has_form(dialect: Dialect, text: &str) -> Option<bool> {
    (dialect.form != AnswerForm::Prose && !text.trim().is_empty()).then(|| text.contains('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of real servers, and what the next request lacks.
    #[test]
    fn a_refusal_leads_to_the_next_best_request() {
        let best = Dialect::FIRST_CHOICE;
        let tool = Dialect { form: AnswerForm::Tool, ..best };
        let prose = Dialect { form: AnswerForm::Prose, ..best };
        let completion = Dialect { bound: Bound::MaxCompletionTokens, ..best };
        for (before, status, message, after) in [
            (
                best,
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some(completion),
            ),
            (
                completion,
                400,
                "Unsupported value: 'temperature' does not support 0.4 with this model. Only the default (1) value is supported.",
                Some(Dialect { temperature: false, ..completion }),
            ),
            (
                best,
                400,
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                Some(tool),
            ),
            (
                best,
                422,
                r#"{"detail":[{"loc":["body","response_format"],"msg":"Extra inputs"}]}"#,
                Some(tool),
            ),
            (best, 501, "structured output is not built in", Some(tool)),
            (tool, 500, "tools param requires --jinja flag", Some(prose)),
            (tool, 404, "No endpoints found that support tool use.", Some(prose)),
            (
                prose,
                400,
                "max_tokens is too large: 12000",
                Some(Dialect { bound: Bound::Unbounded, ..prose }),
            ),
            (prose, 400, "tools param requires --jinja flag", None),
            (best, 401, "response_format", None),
            (best, 429, "max_tokens a minute", None),
            (best, 404, "The model `gpt` does not exist", None),
        ] {
            assert_eq!(before.after_refusal(status, message), after, "{status} {message}");
        }
    }

    #[test]
    fn the_number_of_dialects_is_finite() {
        let mut dialect = Dialect::FIRST_CHOICE;
        let message = "max_tokens, max_completion_tokens, temperature, response_format, tools";
        for steps in 0.. {
            assert!(steps < 8);
            let Some(next) = dialect.after_refusal(400, message) else { break };
            dialect = next;
        }
        assert_eq!(dialect.form, AnswerForm::Prose);
        assert_eq!(
            Dialect::FIRST_CHOICE.after_ignored_form().after_ignored_form().after_ignored_form().form,
            AnswerForm::Prose
        );
    }

    fn record_answer(learned: &EndpointKnowledge, text: &str) {
        let asking = learned.question();
        let dialect = asking.dialect();
        asking.record_answer(dialect, has_form(dialect, text));
    }

    #[test]
    fn one_answer_in_prose_changes_nothing_and_several_in_a_row_do() {
        let learned = EndpointKnowledge::new();
        let form = || learned.question().dialect().form;
        record_answer(&learned, "I'm sorry.");
        record_answer(&learned, "{}");
        record_answer(&learned, "I'm sorry.");
        assert_eq!(form(), AnswerForm::Schema, "an answer between them used the form");
        // A question with only refusals, at an endpoint that is known to support the form.
        for _ in 0..ATTEMPTS {
            record_answer(&learned, "I'm sorry.");
        }
        assert_eq!(form(), AnswerForm::Schema);
        for _ in 0..ATTEMPTS - 1 {
            record_answer(&learned, "I'm sorry.");
        }
        assert_eq!(form(), AnswerForm::Tool);

        // An endpoint that never used the form.
        let learned = EndpointKnowledge::new();
        let form = || learned.question().dialect().form;
        for (text, after) in [
            ("Gladly!", AnswerForm::Schema),
            ("", AnswerForm::Schema),
            ("Gladly!", AnswerForm::Tool),
            ("Gladly!", AnswerForm::Tool),
            ("Gladly!", AnswerForm::Prose),
            ("Gladly!", AnswerForm::Prose),
        ] {
            record_answer(&learned, text);
            assert_eq!(form(), after);
        }
    }

    #[test]
    fn an_answer_that_is_too_large_does_not_change_the_bound_of_others() {
        let learned = EndpointKnowledge::new();
        let refused = |learned: &EndpointKnowledge| {
            let mut asking = learned.question();
            let dialect = asking.dialect();
            let next = dialect.after_refusal(400, "max_tokens is too large: 12000").expect("a next one");
            asking.proceed(dialect, next);
            assert_eq!(asking.dialect().bound, Bound::Unbounded, "this question has no bound");
            // Other results of the question are kept.
            let dialect = asking.dialect();
            let next = dialect.after_refusal(400, "temperature").expect("a next one");
            asking.proceed(dialect, next);
            asking.record_answer(asking.dialect(), Some(true));
        };
        refused(&learned);
        assert_eq!(learned.question().dialect(), Dialect { temperature: false, ..Dialect::FIRST_CHOICE });
        let again = |learned: &EndpointKnowledge| {
            let mut asking = learned.question();
            let dialect = asking.dialect();
            if let Some(next) = dialect.after_refusal(400, "max_tokens is too large: 12000") {
                asking.proceed(dialect, next);
            }
        };
        again(&learned);
        record_answer(&learned, "{}");
        again(&learned);
        again(&learned);
        assert_eq!(learned.question().dialect().bound, Bound::MaxTokens, "not in a row");
        again(&learned);
        assert_eq!(learned.question().dialect().bound, Bound::Unbounded);
    }
}
