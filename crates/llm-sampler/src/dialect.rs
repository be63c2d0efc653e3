//! What an endpoint takes, found out by trying: a refusal that names a part of a request is answered by the next best
//! request, and what was found out holds for the endpoint from then on.

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
    pub(crate) fn after_neglect(self) -> Self {
        let form = match self.form {
            Form::Schema => Form::Tool,
            Form::Tool | Form::Prose => Form::Prose,
        };
        Self { form, ..self }
    }
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
}
