//! How endpoints report that a context is too long.
//!
//! There is no common code for it. The phrases below come from the documentation of the providers and from common servers. They
//! are searched in answers with status 400, 413, 422 and 500 to 503 and in error events, in lower case.

const PHRASES: [&str; 29] = [
    // OpenAI and compatible servers: the code, chat completions, responses.
    "context_length_exceeded",
    "maximum context length",
    "exceeds the context window",
    // Anthropic.
    "prompt is too long",
    "exceed context limit",
    "model_context_window_exceeded",
    // Amazon Bedrock.
    "input is too long for requested model",
    "too many input tokens",
    // Google.
    "exceeds the maximum number of tokens allowed",
    "input token count",
    // Mistral.
    "too large for model",
    "maximum context",
    // xAI.
    "maximum prompt length",
    // Groq.
    "please reduce the length of the messages",
    // Moonshot.
    "exceeded model token limit",
    // Alibaba.
    "range of input length should be",
    // Fireworks, Together, DeepSeek and others.
    "prompt too long",
    "exceeds the model's context",
    "exceeds model context",
    "exceeds maximum context",
    // vLLM.
    "longer than the maximum model length",
    // llama.cpp.
    "exceed_context_size_error",
    "exceeds the available context size",
    // llama.cpp and LM Studio, where it fills up in the middle of an answer.
    "context size has been exceeded",
    // LM Studio, of a request.
    "to keep from the initial prompt is greater than the context length",
    "the model is loaded with context length of only",
    // Ollama.
    "input length exceeds the context length",
    // SGLang and Together.
    "longer than the model's context length",
    // Text Generation Inference.
    "`max_new_tokens` must be",
];

/// Whether a text of an endpoint reports a context that is too long.
pub(crate) fn is_reported(text: &str) -> bool {
    let text = text.to_lowercase();
    PHRASES.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_providers_are_recognized() {
        for text in [
            r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 140000","code":"context_length_exceeded"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            r"Your input exceeds the context window of this model. Please adjust your input and try again.",
            r"the request exceeds the available context size, try increasing it",
            r#"{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}"#,
            r#"{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}"#,
            r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}"#,
            r#"{"error":{"message":"the input length exceeds the context length","type":"invalid_request_error"}}"#,
            r#"{"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","type":"BadRequestError","code":400}"#,
            r"Invalid request: Your request exceeded model token limit: 262144",
            r"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ] {
            assert!(is_reported(text), "{text}");
        }
        for text in [
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens'"}}"#,
            "max_tokens is too large: 110003. This model supports at most 16384 completion tokens",
            "Invalid value for messages[3].content",
        ] {
            assert!(!is_reported(text), "{text}");
        }
    }
}
