//! What stands at fixed places of a message: the HTTP status where each client writes it, and why an endpoint refused a
//! request. The rest of a message is not read.

/// How far into a message a fixed place may lie behind a name or a command, in bytes.
const REACH: usize = 300;

/// Whether `message` begins as `pattern`, in which `#` is a digit and one `*` stands for anything within a line.
pub(super) fn begins(message: &str, pattern: &str) -> bool {
    let (head, tail) = pattern.split_once('*').map_or((pattern, None), |(head, tail)| (head, Some(tail)));
    let mut rest = message.chars();
    let as_head = head.chars().all(|p| rest.next().is_some_and(|c| c == p || p == '#' && c.is_ascii_digit()));
    as_head && tail.is_none_or(|tail| beginning(rest.as_str()).contains(tail))
}

fn beginning(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    &line[..line.floor_char_boundary(REACH)]
}

/// The HTTP status, where one of the known clients writes it.
pub(super) fn status(message: &str) -> Option<u16> {
    const BEFORE: [&str; 5] = [
        "Error code: ",
        "API error occurred: Status ",
        "An error occurred (",
        "Client error '",
        "Server error '",
    ];
    // `503 Server Error: …`, `429, message=…`, `429 RESOURCE_EXHAUSTED. {…`
    let leading = || {
        let (number, rest) = message.split_at_checked(3)?;
        let status_word = || {
            let word = rest.strip_prefix(' ')?;
            let end = word.find(|c: char| !(c.is_ascii_uppercase() || c == '_'))?;
            (end > 0 && word[end..].starts_with(". {")).then_some(())
        };
        let known = rest.starts_with(" Client Error: ")
            || rest.starts_with(" Server Error: ")
            || rest.starts_with(", message=")
            || status_word().is_some();
        if known { number.parse().ok() } else { None }
    };
    // cohere: `headers: {…}, status_code: 429, body: …`
    let after_headers = || {
        let (_, rest) = message.strip_prefix("headers: {")?.split_once("}, status_code: ")?;
        three_digits(rest)
    };
    BEFORE
        .iter()
        .find_map(|place| message.strip_prefix(place))
        .and_then(three_digits)
        .or_else(leading)
        .or_else(after_headers)
        .filter(|status| (100..600).contains(status))
}

fn three_digits(text: &str) -> Option<u16> {
    let digits = text.get(..3)?;
    let has_more_digits = text[3..].starts_with(|c: char| c.is_ascii_digit());
    if has_more_digits || !digits.bytes().all(|b| b.is_ascii_digit()) { None } else { digits.parse().ok() }
}

/// The error code of AWS: `An error occurred (ThrottlingException) when calling the Converse operation: …`.
pub(super) fn aws_code(message: &str) -> Option<&str> {
    let (code, rest) = message.strip_prefix("An error occurred (")?.split_once(')')?;
    rest.starts_with(" when calling ").then_some(code)
}

/// Why an endpoint refused a request (400, 422).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The context was longer than the model takes.
    TooLong,
    /// The account has no credit.
    Billing,
    /// The content is not allowed.
    Content,
}

/// Why a request was refused: by the error's own code, else by the beginning of its own message.
pub(super) fn refusal(message: &str) -> Option<Refusal> {
    const CODES: [(&str, Refusal); 6] = [
        ("context_length_exceeded", Refusal::TooLong),
        ("string_above_max_length", Refusal::TooLong),
        ("insufficient_quota", Refusal::Billing),
        ("content_policy_violation", Refusal::Content),
        ("content_filter", Refusal::Content),
        ("invalid_prompt", Refusal::Content),
    ];
    const SENTENCES: [(&str, Refusal); 12] = [
        ("This model's maximum context length is ", Refusal::TooLong),
        ("This endpoint's maximum context length is ", Refusal::TooLong),
        ("maximum context length is ", Refusal::TooLong),
        ("Your input exceeds the context window of this model", Refusal::TooLong),
        ("prompt is too long: ", Refusal::TooLong),
        ("input length and `max_tokens` exceed context limit: ", Refusal::TooLong),
        ("The input token count ", Refusal::TooLong),
        ("input token count exceeds the maximum", Refusal::TooLong),
        ("Input is too long for requested model", Refusal::TooLong),
        ("Your credit balance is too low", Refusal::Billing),
        ("Output blocked by content filtering policy", Refusal::Content),
        ("The response was filtered due to the prompt triggering ", Refusal::Content),
    ];
    let inner = after_names(message);
    let body = Body::from_message(message).or_else(|| inner.and_then(Body::from_message)).unwrap_or_default();
    let by_code = CODES.iter().find(|(known, _)| Some(*known) == body.code);
    let by_sentence = || {
        let named = body.message.and_then(after_names);
        let aws_text = after_operation(message).or_else(|| inner.and_then(after_operation));
        let texts = [Some(message), body.message, named, inner, aws_text];
        // Python writes the apostrophe of a text with both kinds of quotes so.
        let texts = texts.map(|text| text.map(|text| beginning(text).replace(r"\'", "'")));
        SENTENCES.iter().find(|(sentence, _)| texts.iter().flatten().any(|text| text.starts_with(sentence)))
    };
    by_code.or_else(by_sentence).map(|(_, refusal)| *refusal)
}

/// The text of AWS behind its code and operation; Bedrock passes on the text of a model.
fn after_operation(message: &str) -> Option<&str> {
    aws_code(message)?;
    let (_, own) = message.split_once(" operation: ")?;
    Some(own.strip_prefix("The model returned the following errors: ").unwrap_or(own))
}

/// What the body of an error says: `{"error": {"code": …, "message": …}}`, or the same without the outer key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Body<'a> {
    code: Option<&'a str>,
    message: Option<&'a str>,
}

impl<'a> Body<'a> {
    /// The body that a message consists of, behind at most a status and its word: `Error code: 400 - {'error': …`.
    fn from_message(message: &'a str) -> Option<Self> {
        let (before, _) = beginning(message).split_once('{')?;
        let is_status = before.len() <= 60 && !before.contains(['\'', '"', ':'])
            || message.starts_with("Error code: ") && status(message).is_some();
        is_status.then(|| Self::parse(&message[before.len()..]))
    }

    /// Reads an object as Python or JSON writes it, as far as it goes: messages are cut.
    fn parse(text: &'a str) -> Self {
        let mut body = Self::default();
        // The key at each depth; none in a list.
        let mut keys: Vec<Option<&str>> = Vec::new();
        let mut rest = text;
        while let Some(index) = rest.find(['{', '}', '[', ']', ',', '\'', '"']) {
            let mark = &rest[index..=index];
            rest = &rest[index + 1..];
            match mark {
                "{" | "[" if keys.len() == DEPTH => break,
                "{" | "[" => keys.push(None),
                "}" | "]" => {
                    keys.pop();
                }
                "," => {
                    if let Some(key) = keys.last_mut() {
                        *key = None;
                    }
                }
                quote => {
                    let end = end_of_string(rest, quote);
                    let (string, behind) = rest.split_at(end.unwrap_or(rest.len()));
                    rest = behind.get(1..).unwrap_or_default();
                    let key = keys.last_mut();
                    match (key, rest.trim_start().starts_with(':')) {
                        (Some(key @ None), true) => *key = Some(string),
                        _ => match keys[..] {
                            [Some("code")] | [Some("error"), Some("code")] => {
                                body.code = body.code.or(Some(string));
                            }
                            [Some("message")] | [Some("error"), Some("message")] => {
                                body.message = body.message.or(Some(string));
                            }
                            _ => {}
                        },
                    }
                }
            }
        }
        body
    }
}

/// How deep a body is read.
const DEPTH: usize = 16;

/// Where a string that was begun with `quote` ends.
fn end_of_string(text: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let is_closing_quote = !escaped && [byte] == *quote.as_bytes();
        escaped = !escaped && byte == b'\\';
        is_closing_quote
    })
}

/// What follows the names of exceptions that a message begins with: `litellm.BadRequestError: OpenAIException - …`.
fn after_names(message: &str) -> Option<&str> {
    let mut rest = message;
    while let Some((_, behind)) = name_in_front(rest) {
        // `VertexAIException BadRequestError - …`
        let has_next_name = || behind.strip_prefix(' ').filter(|behind| name_in_front(behind).is_some());
        let next = behind.strip_prefix(": ").or_else(|| behind.strip_prefix(" - ")).or_else(has_next_name);
        let Some(next) = next else { break };
        rest = next;
    }
    (rest.len() < message.len()).then_some(rest)
}

/// The name of an exception that a text begins with, and what is behind it.
fn name_in_front(text: &str) -> Option<(&str, &str)> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let front = &text[..text.floor_char_boundary(REACH)];
    let (name, _) = front.split_at(front.find(|c| !is_name_char(c))?);
    let is_name = name.ends_with("Error") || name.ends_with("Exception");
    is_name.then(|| text.split_at(name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_stands_where_its_client_writes_it() {
        for (message, want) in [
            ("Error code: 429 - {'error': {}}", Some(429)),
            ("503 UNAVAILABLE. {'error': {}}", Some(503)),
            ("API error occurred: Status 402. Body: x", Some(402)),
            ("headers: {'a': 'b'}, status_code: 501, body: {}", Some(501)),
            ("An error occurred (429) when calling the Converse operation: slow", Some(429)),
            ("An error occurred (ThrottlingException) when calling the Converse operation", None),
            ("Client error '404 Not Found' for url 'https://x'", Some(404)),
            ("503 Server Error: Service Unavailable for url: https://x", Some(503)),
            ("429, message='Too Many Requests', url='https://x'", Some(429)),
            ("the log says Error code: 429 - {", None),
            ("503 tests failed", None),
            ("Error code: 4290", None),
            ("429", None),
            ("ä29 RESOURCE. {", None),
        ] {
            assert_eq!(status(message), want, "{message}");
        }
    }

    #[test]
    fn refusals_are_recognized_by_code_or_beginning() {
        for (message, want) in [
            (
                "Error code: 400 - {'error': {'message': \"This model's maximum context length is 9 tokens.\", 'code': 'x'}}",
                Some(Refusal::TooLong),
            ),
            (
                "Error code: 400 - {'error': {'message': 'long', 'code': 'context_length_exceeded'}}",
                Some(Refusal::TooLong),
            ),
            (
                "litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}",
                Some(Refusal::TooLong),
            ),
            (
                "litellm.BadRequestError: OpenAIException - This model's maximum context length is 9",
                Some(Refusal::TooLong),
            ),
            (
                "An error occurred (ValidationException) when calling the Converse operation: Input is too long for requested model.",
                Some(Refusal::TooLong),
            ),
            (
                "An error occurred (ValidationException) when calling the Converse operation: The model returned the following errors: Input is too long for requested model.",
                Some(Refusal::TooLong),
            ),
            (
                "An error occurred (ValidationException) when calling the Converse operation: it quotes: Input is too long for requested model.",
                None,
            ),
            (
                "Error code: 400 - {'error': {'message': 'Your credit balance is too low to'}}",
                Some(Refusal::Billing),
            ),
            (
                "Error code: 400 - {'error': {'message': 'flagged', 'code': 'content_filter'}}",
                Some(Refusal::Content),
            ),
            ("Error code: 400 - {'error': {'message': 'the user wrote: prompt is too long: 9'}}", None),
            (
                "litellm.BadRequestError: OpenAIException - {\"error\":{\"message\":\"bad args {'code': 'insufficient_quota'}\",\"code\":\"invalid_value\"}}",
                None,
            ),
            (
                "Error code: 400 - {'error': {'message': \"it said 'code': 'content_filter'\", 'param': {'code': 'content_filter'}}}",
                None,
            ),
            ("Error code: 400 - {'message': 'x', 'code': 'insufficient_quota'}", Some(Refusal::Billing)),
            (
                "Error code: 400 - {'error': {'code': 400, 'message': 'prompt is too long: 9",
                Some(Refusal::TooLong),
            ),
            // As people have reported them: one client wraps another, or a gateway a model's answer.
            (
                "litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicError - {\"type\":\"error\",\"error\":{\"message\":\"prompt is too long: 210543 tokens > 200000 maximum\"}}",
                Some(Refusal::TooLong),
            ),
            (
                "litellm.BadRequestError: Error code: 400 - {'error': {'message': 'litellm.BadRequestError: OpenrouterException - This endpoint\\'s maximum context length is 40960 tokens. However, you requested about 42988 tokens (use the \"middle-out\" transform)', 'code': '400'}}",
                Some(Refusal::TooLong),
            ),
            (
                "litellm.BadRequestError: BedrockException - An error occurred (ValidationException) when calling the Converse operation: Input is too long for requested model.",
                Some(Refusal::TooLong),
            ),
            (
                "litellm.BadRequestError: VertexAIException BadRequestError - prompt is too long: 9",
                Some(Refusal::TooLong),
            ),
            ("litellm.BadRequestError: it quotes OpenAIException - prompt is too long: 9", None),
            (
                "litellm.BadRequestError: OpenAIException - {\n  \"error\": {\n    \"message\": \"Unsupported parameter: 'temperature'\", \"code\": null\n  }\n}",
                None,
            ),
        ] {
            assert_eq!(refusal(message), want, "{message}");
        }
    }

    #[test]
    fn beginnings_have_digits_and_one_gap() {
        assert!(begins("404 Client Error for http+docker://x", "### Client Error for http+docker://"));
        assert!(!begins("40 Client Error for http+docker://x", "### Client Error for http+docker://"));
        assert!(begins("Step 'a b' setup.sh exited with code 1", "Step '*' setup.sh exited with code "));
        assert!(!begins("Step 'a\n' setup.sh exited with code 1", "Step '*' setup.sh exited with code "));
    }
}
