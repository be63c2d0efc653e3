//! Phrases that harnesses and servers print when they stop, found in one pass over a log.
//!
//! There are dozens of phrases, and a log has up to 64 KiB. Single searches for each phrase would take most of the time of
//! classifying the failures of a library.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use strum::VariantArray;

/// The meaning of a phrase in a log or in an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum PhraseMeaning {
    /// The context was exceeded.
    Context,
    /// A tool call was malformed.
    Format,
    /// A loop was stopped.
    Loop,
    /// The endpoint failed for good.
    Endpoint,
    /// A limit of the harness on steps or money was reached.
    Budget,
    /// A limit of the harness on time was reached.
    Time,
    /// The container is being lost.
    Lost,
    /// The port of a server was in use, or its code could not be loaded.
    NotLoaded,
}

impl PhraseMeaning {
    /// The phrases with this meaning, in lower case. Those of harnesses come from nine of them.
    pub(crate) const fn phrases(self) -> &'static [&'static str] {
        match self {
            Self::Context => &[
                "contextwindowexceedederror",
                "contextoverflowerror",
                "apicontextoverflowerror",
                "contextlengthexceeded",
                "prompt_too_long",
                "prompt is too long",
                "context_length_exceeded",
                "maximum context length",
                "context window exceeded",
                "compaction.failed",
                "nocondensationavailableexception",
                "ran out of room in the model's context window",
                "hard context reset",
            ],
            Self::Format => &[
                "repeatedformaterror",
                "invalid tool call",
                "malformed tool call",
                "failed to parse tool call",
                "could not parse tool call",
                "tool call arguments are not valid json",
            ],
            Self::Loop => &[
                "loop detection halted",
                "loop detected",
                "loop_detected",
                "agentstuckinlooperror",
                "agent is stuck in a loop",
            ],
            Self::Endpoint => &[
                "ratelimiterror",
                "litellm.internalservererror",
                "authenticationerror",
                "litellm.authenticationerror",
                "apiconnectionerror",
                "provider.api_error",
                "provider.auth_error",
                "error: invalid api key",
                "unexpected status 401 unauthorized",
                "unexpected status 429",
                "waiting for network (connection failed",
                "error code: 401 - {",
                "error code: 403 - {",
                "error code: 429 - {",
                "error code: 500 - {",
                "error code: 502 - {",
                "error code: 503 - {",
                "connection error.\n",
                "[api error: ",
                "\"terminal_reason\":\"api_error\"",
                "\"name\":\"apierror\"",
                "experiencing high demand",
            ],
            Self::Budget => &[
                "\nlimitsexceeded",
                "limitsexceeded: ",
                "error_max_turns",
                "max number of steps reached",
                "\"outcome\":\"turn_limit\"",
                "fatalturnlimitederror",
                "reached max session turns",
                "stopped: turn_limit",
                "cost limit",
            ],
            Self::Time => &["wall-clock budget of", "stopped: deadline"],
            Self::Lost => &[
                "no space left on device",
                "cannot connect to the docker daemon",
                "error response from daemon",
                "oomkilled",
                "no such container",
            ],
            Self::NotLoaded => &[
                "address already in use",
                "eaddrinuse",
                "modulenotfounderror",
                "importerror",
                "syntaxerror",
                "cannot find module",
                "command not found",
                "could not compile",
            ],
        }
    }
}

/// A set of meanings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MeaningSet(u8);

impl MeaningSet {
    pub(crate) const fn has(self, meaning: PhraseMeaning) -> bool {
        self.0 & (1 << meaning as u8) != 0
    }
}

/// The automaton of all phrases, and the meaning of each.
struct Phrases {
    automaton: AhoCorasick,
    meanings: Vec<PhraseMeaning>,
}

static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let (mut phrases, mut meanings): (Vec<&str>, Vec<PhraseMeaning>) = (Vec::new(), Vec::new());
    for &meaning in PhraseMeaning::VARIANTS {
        phrases.extend(meaning.phrases());
        meanings.resize(phrases.len(), meaning);
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        // There are a few hundred states. A table needs the fewest steps per byte.
        .kind(Some(AhoCorasickKind::DFA))
        .build(phrases)
        .ok()?;
    Some(Phrases { automaton, meanings })
});

/// The meanings of the phrases in a text, for any case of its ASCII letters.
pub(crate) fn meanings_in(text: &str) -> MeaningSet {
    let mut found = MeaningSet::default();
    if let Some(phrases) = &*PHRASES {
        // One phrase may be a part of another, so overlapping matches count.
        for hit in phrases.automaton.find_overlapping_iter(text) {
            found.0 |= 1 << phrases.meanings[hit.pattern().as_usize()] as u8;
        }
    } else {
        // The automaton always fits into memory. If it does not, each phrase is searched alone.
        let text = text.to_ascii_lowercase();
        for &meaning in PhraseMeaning::VARIANTS {
            if meaning.phrases().iter().any(|phrase| text.contains(phrase)) {
                found.0 |= 1 << meaning as u8;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {

    use super::*;

    /// The search of the fallback: each phrase alone.
    fn one_by_one(text: &str) -> MeaningSet {
        let text = text.to_ascii_lowercase();
        let mut found = MeaningSet::default();
        for &meaning in PhraseMeaning::VARIANTS {
            if meaning.phrases().iter().any(|phrase| text.contains(phrase)) {
                found.0 |= 1 << meaning as u8;
            }
        }
        found
    }

    #[test]
    fn every_phrase_is_found_like_in_single_searches() {
        for &meaning in PhraseMeaning::VARIANTS {
            for phrase in meaning.phrases() {
                assert_eq!(*phrase, phrase.to_ascii_lowercase(), "phrases are in lower case");
                for text in [(*phrase).to_owned(), format!("é {} \u{1f600}", phrase.to_ascii_uppercase())] {
                    assert!(meanings_in(&text).has(meaning), "{text}");
                    assert_eq!(meanings_in(&text), one_by_one(&text), "{text}");
                }
            }
        }
        let all: String =
            PhraseMeaning::VARIANTS.iter().flat_map(|meaning| meaning.phrases()).copied().collect();
        assert_eq!(meanings_in(&all), one_by_one(&all));
        assert_eq!(
            meanings_in("An order has a context and a loop; the tool prints the limit."),
            MeaningSet::default()
        );
    }
}
