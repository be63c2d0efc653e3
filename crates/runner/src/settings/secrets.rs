//! What looks like a secret, so that it is refused before it is written anywhere.

/// Whether a name is one that secrets have: `OPENAI_API_KEY`, `password`. Names of models and limits with `token` in them
/// are not.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let complete =
        ["secret", "password", "passwd", "credential", "credentials", "apikey", "authorization", "bearer"];
    let ends = words.last().copied().unwrap_or_default();
    words.iter().any(|word| complete.contains(word))
        || matches!(ends, "key" | "keys" | "token" | "pat")
        || words.windows(2).any(|pair| {
            matches!(pair, ["access" | "api" | "private" | "auth", "key" | "keys" | "token" | "tokens"])
        })
}

/// Whether a text given as the name of a variable is rather a key itself: long, in one word of small letters and digits.
pub(super) fn is_rather_a_key(name: &str) -> bool {
    name.len() >= 20
        && !name.contains('_')
        && name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{is_rather_a_key, is_secret_name};

    #[test]
    fn a_key_is_no_name_of_a_variable() {
        assert!(is_rather_a_key("sk0a1b2c3d4e5f6a7b8c9d"));
        for name in [
            "OPENAI_API_KEY",
            "MY_KEY_NUMBER_2_OF_THE_LAB",
            "key2",
            "my_openai_key_for_lab_2",
            "a_long_name_of_a_variable",
        ] {
            assert!(!is_rather_a_key(name), "{name}");
        }
    }

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in [
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "HF_TOKEN",
            "db-password",
            "aws_session_token",
            "apiKey",
            "api_keys",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["max_tokens", "HOME", "model_id", "MONKEY", "keyboard", "tokenizer", "AWS_REGION"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
