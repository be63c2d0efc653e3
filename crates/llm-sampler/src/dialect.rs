//! What an endpoint takes, found out by trying: a refusal that names a part of a request is answered by the next best
//! request, and what was found out holds for the endpoint from then on.
//!
//! What one answer shows holds for that answer: a model that once writes words in place of the form, or a question whose
//! answer is too large for the endpoint, changes nothing for the questions after it. Several in a row do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ask::ATTEMPTS;

/// Answers in a row without the form before a form that no answer has kept to is given up.
const NEGLECTED: u32 = 2;

/// The same for a form that answers have kept to: more than one question can bring.
const NEGLECTED_AFTER_ALL: u32 = 2 * ATTEMPTS;

/// Questions in a row whose bound of tokens was refused before all are asked without one.
const TOO_LARGE: u32 = 3;

/// How the form of an answer is asked for, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `response_format: json_schema`, strict.
    Schema,
    /// A tool whose arguments are the answer.
    Tool,
    /// Not at all: in words.
    Prose,
}

/// How the tokens of an answer are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`, which models that think take instead.
    MaxCompletionTokens,
    /// Not at all.
    Unbounded,
}

/// What an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) form: Form,
    pub(crate) bound: Bound,
    /// Whether it takes a temperature.
    pub(crate) temperature: bool,
    /// Whether a model thinks before it answers, and needs tokens for it.
    pub(crate) thinks: bool,
}

impl Dialect {
    /// Before anything was tried.
    pub(crate) const BEST: Self =
        Self { form: Form::Schema, bound: Bound::MaxTokens, temperature: true, thinks: false };

    /// The next best, after a refusal; `None` if the refusal names nothing that could be left out.
    ///
    /// `status` is that of HTTP. Some servers call what they do not take their own error (501, and llama.cpp 500 for
    /// tools without `--jinja`), and routers say 404 where no provider takes a parameter.
    pub(crate) fn after_refusal(self, status: u16, said: &str) -> Option<Self> {
        if !matches!(status, 400 | 404 | 422 | 500 | 501) {
            return None;
        }
        let said = said.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let (tokens, temperature) =
            (names(&["max_tokens", "max_completion_tokens"]), names(&["temperature"]));
        let schema =
            names(&["response_format", "json_schema", "structured output", "grammar", "output_config"]);
        let tool = names(&["tool", "function call", "functions"]);
        match self {
            Self { bound: Bound::MaxTokens, .. } if said.contains("max_completion_tokens") => {
                Some(Self { bound: Bound::MaxCompletionTokens, ..self })
            }
            Self { temperature: true, .. } if temperature => Some(Self { temperature: false, ..self }),
            Self { form: Form::Schema, .. } if schema => Some(Self { form: Form::Tool, ..self }),
            Self { form: Form::Tool, .. } if tool => Some(Self { form: Form::Prose, ..self }),
            Self { bound: Bound::MaxTokens | Bound::MaxCompletionTokens, .. } if tokens => {
                Some(Self { bound: Bound::Unbounded, ..self })
            }
            _ => None,
        }
    }

    /// The next best, after answers that do not keep to the form: the endpoint takes it and does nothing with it.
    fn after_neglect(self) -> Self {
        let form = match self.form {
            Form::Schema => Form::Tool,
            Form::Tool | Form::Prose => Form::Prose,
        };
        Self { form, ..self }
    }
}

/// What was found out of an endpoint by all that ask it at once.
#[derive(Debug)]
pub(crate) struct Learned(Mutex<State>);

#[derive(Debug)]
struct State {
    dialect: Dialect,
    /// An answer has kept to the form.
    is_kept: bool,
    /// Answers in a row that did not.
    neglected: u32,
    /// Questions in a row whose bound of tokens was refused.
    too_large: u32,
}

impl Learned {
    /// Before anything was tried.
    pub(crate) fn new() -> Self {
        Self(Mutex::new(State { dialect: Dialect::BEST, is_kept: false, neglected: 0, too_large: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a question is asked now.
    pub(crate) fn question(&self) -> Asking<'_> {
        Asking { learned: self, is_unbounded: false }
    }
}

/// One question, asked until the endpoint takes the request.
#[derive(Debug)]
pub(crate) struct Asking<'a> {
    learned: &'a Learned,
    /// The bound of its tokens was refused.
    is_unbounded: bool,
}

impl Asking<'_> {
    /// The request to make now.
    pub(crate) fn dialect(&self) -> Dialect {
        let dialect = self.learned.state().dialect;
        if self.is_unbounded { Dialect { bound: Bound::Unbounded, ..dialect } } else { dialect }
    }

    /// Takes the next best request, and keeps it for later questions unless another one was quicker. It ends: each of them
    /// takes something away from a request, once.
    pub(crate) fn proceed(&mut self, from: Dialect, to: Dialect) {
        let mut state = self.learned.state();
        if to.bound == Bound::Unbounded && from.bound != Bound::Unbounded {
            self.is_unbounded = true;
            state.too_large += 1;
            if state.too_large < TOO_LARGE {
                return;
            }
        }
        let known = state.dialect;
        if (Dialect { bound: known.bound, ..from }) != known {
            return;
        }
        let bound = if from.bound == known.bound { to.bound } else { known.bound };
        state.change(Dialect { bound, ..to });
    }

    /// An answer came. `keeps_to_form` says whether it is in the form; `None` = it tells nothing, being empty or asked for in
    /// prose.
    pub(crate) fn answered(&self, dialect: Dialect, keeps_to_form: Option<bool>) {
        let mut state = self.learned.state();
        if dialect.bound != Bound::Unbounded {
            state.too_large = 0;
        }
        if dialect.form != state.dialect.form {
            return;
        }
        match keeps_to_form {
            None => {}
            Some(true) => (state.is_kept, state.neglected) = (true, 0),
            Some(false) => {
                state.neglected += 1;
                let most = if state.is_kept { NEGLECTED_AFTER_ALL } else { NEGLECTED };
                if state.neglected >= most {
                    let next = state.dialect.after_neglect();
                    state.change(next);
                }
            }
        }
    }
}

impl State {
    fn change(&mut self, to: Dialect) {
        if to == self.dialect {
            return;
        }
        tracing::info!(?to, "The model is asked in another form from now on");
        if to.form != self.dialect.form {
            (self.is_kept, self.neglected) = (false, 0);
        }
        self.dialect = to;
    }
}

/// Whether an answer to a question in a form has the form; `None` = it tells nothing.
pub(crate) fn keeps_to_form(dialect: Dialect, text: &str) -> Option<bool> {
    (dialect.form != Form::Prose && !text.trim().is_empty()).then(|| text.contains('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What real servers say, and what is left out then.
    #[test]
    fn a_refusal_leads_to_the_next_best_request() {
        let best = Dialect::BEST;
        let tool = Dialect { form: Form::Tool, ..best };
        let prose = Dialect { form: Form::Prose, ..best };
        let completion = Dialect { bound: Bound::MaxCompletionTokens, ..best };
        for (before, status, said, after) in [
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
            assert_eq!(before.after_refusal(status, said), after, "{status} {said}");
        }
    }

    #[test]
    fn refusals_without_an_end_end() {
        let mut dialect = Dialect::BEST;
        let said = "max_tokens, max_completion_tokens, temperature, response_format, tools";
        for steps in 0.. {
            assert!(steps < 8);
            let Some(next) = dialect.after_refusal(400, said) else { break };
            dialect = next;
        }
        assert_eq!(dialect.form, Form::Prose);
        assert_eq!(Dialect::BEST.after_neglect().after_neglect().after_neglect().form, Form::Prose);
    }

    fn answered(learned: &Learned, text: &str) {
        let asking = learned.question();
        let dialect = asking.dialect();
        asking.answered(dialect, keeps_to_form(dialect, text));
    }

    #[test]
    fn one_answer_in_words_changes_nothing_and_several_in_a_row_do() {
        let learned = Learned::new();
        let form = || learned.question().dialect().form;
        answered(&learned, "I'm sorry.");
        answered(&learned, "{}");
        answered(&learned, "I'm sorry.");
        assert_eq!(form(), Form::Schema, "the form was kept to in between");
        // A question whose answers are all refusals, on an endpoint that is known to take the form.
        for _ in 0..ATTEMPTS {
            answered(&learned, "I'm sorry.");
        }
        assert_eq!(form(), Form::Schema);
        for _ in 0..ATTEMPTS - 1 {
            answered(&learned, "I'm sorry.");
        }
        assert_eq!(form(), Form::Tool);

        // An endpoint that never did anything with it.
        let learned = Learned::new();
        let form = || learned.question().dialect().form;
        for (said, after) in [
            ("Gladly!", Form::Schema),
            ("", Form::Schema),
            ("Gladly!", Form::Tool),
            ("Gladly!", Form::Tool),
            ("Gladly!", Form::Prose),
            ("Gladly!", Form::Prose),
        ] {
            answered(&learned, said);
            assert_eq!(form(), after);
        }
    }

    #[test]
    fn an_answer_that_is_too_large_leaves_the_bound_of_the_others() {
        let learned = Learned::new();
        let refused = |learned: &Learned| {
            let mut asking = learned.question();
            let dialect = asking.dialect();
            let next = dialect.after_refusal(400, "max_tokens is too large: 12000").expect("a next one");
            asking.proceed(dialect, next);
            assert_eq!(asking.dialect().bound, Bound::Unbounded, "this one is asked without");
            // What else is found out on the way is kept.
            let dialect = asking.dialect();
            let next = dialect.after_refusal(400, "temperature").expect("a next one");
            asking.proceed(dialect, next);
            asking.answered(asking.dialect(), Some(true));
        };
        refused(&learned);
        assert_eq!(learned.question().dialect(), Dialect { temperature: false, ..Dialect::BEST });
        let again = |learned: &Learned| {
            let mut asking = learned.question();
            let dialect = asking.dialect();
            if let Some(next) = dialect.after_refusal(400, "max_tokens is too large: 12000") {
                asking.proceed(dialect, next);
            }
        };
        again(&learned);
        answered(&learned, "{}");
        again(&learned);
        again(&learned);
        assert_eq!(learned.question().dialect().bound, Bound::MaxTokens, "not in a row");
        again(&learned);
        assert_eq!(learned.question().dialect().bound, Bound::Unbounded);
    }
}
