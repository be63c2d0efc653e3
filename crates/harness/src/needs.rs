//! What the harnesses need of an endpoint beside their API.

/// What a harness needs of an endpoint beside its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// It works by tool calls; a model that calls none does nothing.
    pub tools: bool,
    /// It reads answers as streams.
    pub streams: bool,
    /// Bytes of its first request with a prompt of a few words: what it says of itself and of its tools.
    pub first_request_bytes: u64,
}

impl Needs {
    /// Tokens of its first request, at four bytes a token.
    pub const fn first_request_tokens(self) -> u64 {
        self.first_request_bytes / 4
    }
}

/// What a harness that is built in needs, as its pinned version was seen to ask. `None` for others and for the mock agent.
pub fn needs(name: &str) -> Option<Needs> {
    let (streams, kilobytes) = match name {
        "mini_swe" => (false, 4),
        "openhands" => (false, 37),
        "opencode" => (true, 32),
        "qwen_code" => (true, 78),
        "kimi_cli" | "claude_code" => (true, 51),
        "kimi_code" => (true, 86),
        "vibe" => (true, 34),
        "codex" => (true, 41),
        _ => return None,
    };
    Some(Needs { tools: true, streams, first_request_bytes: kilobytes * 1000 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_needs_of_every_agent_that_comes_with_an_image_are_known() {
        for harness in crate::all() {
            assert_eq!(needs(harness.name()).is_none(), harness.name() == "mock", "{}", harness.name());
        }
    }
}
