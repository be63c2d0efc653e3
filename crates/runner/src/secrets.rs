//! Variables that are handed on to containers, and how their values are kept out of what is written.
//!
//! A value is in the memory of this process and in the container. An agent can print it, and with it lands in logs, transcripts,
//! answers of its server and its code; so everything that is written down of an attempt goes through [`SecretFilter`] first. An
//! agent that writes a value in other letters (backwards, in base 64) is not caught, and its own folders (`.stamina/state`)
//! stay as it left them until its episode is over: it continues them.

use std::borrow::Cow;

use gateway::keys::KeySource;

use crate::settings::{EndpointSettings, RunSettings, is_secret_name};

/// What is handed on to containers in direct mode without being named, as the original does.
pub const AWS_CHAIN: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "AWS_PROFILE",
];
/// Where the original looks for its models.
const REGION: &str = "us-east-1";
/// Shorter values are none that a secret has, and stand in texts by chance.
const SHORTEST: usize = 8;
/// From this length on a value with letters and digits is taken for a secret, whatever its name.
const RANDOM: usize = 16;
/// What stands in the place of a value.
const REDACTED: &[u8] = b"[secret]";

/// Variables for containers: what the settings name, and in direct mode the AWS chain; their values are only in memory. The key of the
/// endpoint behind the gateway is none of them, whatever it is called.
pub(crate) fn forwarded(settings: &RunSettings) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let direct = settings.endpoint == EndpointSettings::Direct;
    let key = match &settings.endpoint {
        EndpointSettings::Gateway { key: KeySource::Env(name), .. } => std::env::var(name).ok(),
        _ => None,
    };
    let chain = AWS_CHAIN.iter().filter(|_| direct).map(|name| (*name).to_owned());
    for entry in chain.chain(settings.env_vars.iter().cloned()) {
        match entry.split_once('=') {
            Some((name, value)) => list.push((name.to_owned(), value.to_owned())),
            None => {
                let value = std::env::var(&entry).ok().filter(|value| Some(value) != key.as_ref());
                list.extend(value.map(|value| (entry, value)));
            }
        }
    }
    if direct {
        list.extend(region(&list, std::env::var("AWS_DEFAULT_REGION").ok()));
    }
    list
}

/// The region where keys for AWS are handed on and nobody says one: without it no client finds Bedrock.
fn region(forwarded: &[(String, String)], default: Option<String>) -> Option<(String, String)> {
    const KEYS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK"];
    const REGION_VARIABLES: [&str; 3] = ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_REGION_NAME"];
    let has = |names: &[&str]| {
        forwarded.iter().any(|(name, value)| names.contains(&name.as_str()) && !value.is_empty())
    };
    let default = default.filter(|region| !region.is_empty()).unwrap_or_else(|| REGION.to_owned());
    (has(&KEYS) && !has(&REGION_VARIABLES)).then(|| ("AWS_REGION".to_owned(), default))
}

/// Takes values out of what an agent left.
#[derive(Debug, Default)]
pub(crate) struct SecretFilter {
    /// Longest first: one may be a part of another.
    words: Vec<Vec<u8>>,
}

impl SecretFilter {
    /// For the variables of [`forwarded`]. What is written in the settings themselves is no secret.
    pub(crate) fn new(forwarded: &[(String, String)], settings: &RunSettings) -> Self {
        let is_in_settings =
            |name: &str, value: &str| settings.env_vars.iter().any(|e| *e == format!("{name}={value}"));
        let secret =
            forwarded.iter().filter(|(name, value)| is_secret(name, value) && !is_in_settings(name, value));
        let mut words: Vec<Vec<u8>> = secret.flat_map(|(_, value)| spellings(value)).collect();
        words.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        words.dedup();
        Self { words }
    }

    /// The values, for whoever else writes something down.
    pub(crate) fn hidden_values(&self) -> Vec<gateway::Secret> {
        let texts = self.words.iter().filter_map(|word| String::from_utf8(word.clone()).ok());
        texts.map(gateway::Secret::new).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.words.is_empty()
    }

    /// Bytes that a value may have before the end of a piece without being seen there.
    pub(crate) fn overlap(&self) -> usize {
        self.words.first().map_or(0, |word| word.len() - 1)
    }

    pub(crate) fn bytes<'a>(&self, content: &'a [u8]) -> Cow<'a, [u8]> {
        let mut found = Cow::Borrowed(content);
        for word in &self.words {
            if let Some(changed) = without_word(&found, word) {
                found = Cow::Owned(changed);
            }
        }
        found
    }

    pub(crate) fn text(&self, text: &str) -> String {
        // What is put in is plain, and what is taken out begins and ends at characters.
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    if value.len() < SHORTEST || matches!(name, "AWS_REGION" | "AWS_PROFILE") {
        return false;
    }
    let plain_place = value.starts_with(['/', '.', '~']) || (value.contains("://") && !value.contains('@'));
    let random = value.len() >= RANDOM
        && !value.contains(char::is_whitespace)
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic());
    is_secret_name(name) || (random && !plain_place)
}

/// A value as it stands in texts and in JSON.
fn spellings(value: &str) -> Vec<Vec<u8>> {
    let quoted = serde_json::Value::from(value).to_string();
    let inside = quoted[1..quoted.len() - 1].to_owned();
    let slashes = inside.replace('/', "\\/");
    [value.trim().to_owned(), value.to_owned(), inside, slashes].map(String::into_bytes).to_vec()
}

/// The content without a word; nothing if it is not in it.
fn without_word(content: &[u8], word: &[u8]) -> Option<Vec<u8>> {
    let first = *word.first()?;
    let mut out: Option<Vec<u8>> = None;
    let (mut kept, mut position) = (0, 0);
    while let Some(next) = content[position..].iter().position(|byte| *byte == first) {
        position += next;
        if content[position..].starts_with(word) {
            let out = out.get_or_insert_default();
            out.extend_from_slice(&content[kept..position]);
            out.extend_from_slice(REDACTED);
            position += word.len();
            kept = position;
        } else {
            position += 1;
        }
    }
    let mut out = out?;
    out.extend_from_slice(&content[kept..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_for_aws_go_with_a_region() {
        let given = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let region_of = |list: &[(&str, &str)], default: Option<&str>| {
            region(&given(list), default.map(str::to_owned)).map(|(name, value)| format!("{name}={value}"))
        };
        let key = ("AWS_ACCESS_KEY_ID", "AKIA");
        let token = ("AWS_BEARER_TOKEN_BEDROCK", "t");
        assert_eq!(region_of(&[key], None).as_deref(), Some("AWS_REGION=us-east-1"));
        assert_eq!(
            region_of(&[token, ("AWS_REGION", "")], Some("")).as_deref(),
            Some("AWS_REGION=us-east-1")
        );
        assert_eq!(region_of(&[token], Some("eu-west-1")).as_deref(), Some("AWS_REGION=eu-west-1"));
        assert_eq!(region_of(&[key, ("AWS_REGION", "eu-central-1")], None), None);
        assert_eq!(region_of(&[key, ("AWS_DEFAULT_REGION", "eu-central-1")], None), None);
        assert_eq!(region_of(&[("OPENAI_API_KEY", "sk")], None), None, "it is not for AWS");
    }

    fn scrub(pairs: &[(&str, &str)]) -> SecretFilter {
        let forwarded: Vec<_> = pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let values =
            ["agent=MOCK", "use_docker=true", "output_dir=x", "docker.env_vars=LEVEL=abcdefgh12345678"];
        let settings = crate::settings::resolve(&[], &values.map(str::to_owned)).unwrap();
        SecretFilter::new(&forwarded, &settings)
    }

    #[test]
    fn values_of_secrets_are_taken_out_in_every_spelling() {
        let scrub = scrub(&[
            ("AWS_SECRET_ACCESS_KEY", "ab/cd+\"efgh"),
            ("MY_PASS", "x9x9x9x9x9x9x9x9"),
            ("SHORT_TOKEN", "abc"),
        ]);
        let found =
            scrub.text("a ab/cd+\"efgh b \"ab/cd+\\\"efgh\" c ab\\/cd+\\\"efgh x9x9x9x9x9x9x9x9x9 abc");
        assert_eq!(found, "a [secret] b \"[secret]\" c [secret] [secret]x9 abc");
        assert!(matches!(scrub.bytes(b"nothing of it"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_no_secret_stays() {
        let scrub = scrub(&[
            ("AWS_REGION", "eu-central-1"),
            ("PYTHONPATH", "/workspace/lib2/python3"),
            ("PROXY", "http://proxy.example:3128"),
            ("LANG", "en_US.UTF-8"),
            ("LEVEL", "abcdefgh12345678"),
        ]);
        assert!(scrub.is_idle(), "{scrub:?}");
    }

    #[test]
    fn a_value_within_another_is_taken_out_with_it() {
        let scrub = scrub(&[("A_KEY", "12345678"), ("B_KEY", "12345678-and-more")]);
        assert_eq!(scrub.text("12345678-and-more, 12345678"), "[secret], [secret]");
    }
}
