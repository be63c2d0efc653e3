//! Classes of errors by their codes.
//!
//! An agent can have its own words repeated in an error, so words decide nothing.

use axum::http::StatusCode;
use serde_json::Value;

/// Whether an error looks like one that only the owner of the key or the settings can fix. Its status or its code decides. Its
/// words decide nothing, except for one error that has no code.
pub(crate) fn is_owner_error(status: StatusCode, text: &str) -> bool {
    const QUOTA: [&str; 4] =
        ["insufficient_quota", "billing_hard_limit_reached", "billing_error", "exceeded_current_quota_error"];
    const SETTINGS: [&str; 8] = [
        "model_not_found",
        "model_not_exist",
        "invalid_model",
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "account_deactivated",
        "insufficient_balance",
    ];
    let body: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let error = body.get("error").filter(|error| error.is_object()).unwrap_or(&body);
    let has_code = |codes: &[&str]| {
        ["code", "type"].iter().any(|field| {
            let code = error.get(field).and_then(Value::as_str).unwrap_or_default();
            codes.iter().any(|known| known.eq_ignore_ascii_case(code))
        })
    };
    match status.as_u16() {
        300..400 | 401 | 402 | 403 | 404 | 405 | 407 | 410 | 501 => true,
        429 => has_code(&QUOTA),
        400 => {
            // Anthropic has no code for an empty account.
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            has_code(&QUOTA) || has_code(&SETTINGS) || message.starts_with("Your credit balance is too low")
        }
        _ => false,
    }
}

/// Whether an error within an answer states that the request was invalid. Its code alone decides.
pub(crate) fn is_request_error(error: &Value) -> bool {
    const REQUEST: [&str; 8] = [
        "invalid_request_error",
        "invalid_request",
        "invalid_prompt",
        "bad_request",
        "bad_request_error",
        "content_filter",
        "content_policy_violation",
        "unprocessable_entity",
    ];
    ["code", "type"].iter().any(|field| match error.get(field) {
        Some(Value::Number(number)) => matches!(number.as_u64(), Some(400 | 413 | 415 | 422)),
        Some(Value::String(code)) => {
            REQUEST.iter().any(|known| known.eq_ignore_ascii_case(code))
                || matches!(code.as_str(), "400" | "413" | "415" | "422")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> StatusCode {
        StatusCode::from_u16(status).unwrap()
    }

    #[test]
    fn the_code_of_an_error_decides_and_its_words_do_not() {
        for (code, text) in [
            (401, "anything"),
            (404, ""),
            (429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
            (400, r#"{"error":{"message":"The model does not exist","code":"model_not_found"}}"#),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to"}}"#,
            ),
        ] {
            assert!(is_owner_error(status(code), text), "{code} {text}");
        }
        for (code, text) in [
            (429, r#"{"error":{"message":"insufficient_quota","code":"rate_limit_exceeded"}}"#),
            (400, r#"{"error":{"message":"tool `model_not_found` is not known","code":null}}"#),
            (
                400,
                r#"{"error":{"message":"bad value: {\"code\":\"invalid_api_key\"}","code":"invalid_value"}}"#,
            ),
            (400, r#"{"error":{"message":"messages[3]: `Your credit balance is too low`"}}"#),
            (400, "model_not_found"),
            (422, r#"{"code":"model_not_found"}"#),
            (500, r#"{"code":"model_not_found"}"#),
        ] {
            assert!(!is_owner_error(status(code), text), "{code} {text}");
        }
    }

    #[test]
    fn an_error_within_an_answer_is_a_request_error_by_its_code() {
        let is_request = |text: &str| is_request_error(&serde_json::from_str(text).unwrap());
        for text in [
            r#"{"code":"invalid_prompt","message":"no"}"#,
            r#"{"type":"invalid_request_error","message":"no"}"#,
            r#"{"code":400,"message":"no"}"#,
            r#"{"code":"content_filter"}"#,
        ] {
            assert!(is_request(text), "{text}");
        }
        for text in [
            r#"{"code":"server_error","message":"invalid_prompt"}"#,
            r#"{"type":"overloaded_error"}"#,
            r#"{"code":429}"#,
            r#"{"code":502}"#,
            r#"{"code":"invalid_api_key"}"#,
            r#""invalid_prompt""#,
            "null",
        ] {
            assert!(!is_request(text), "{text}");
        }
    }
}
