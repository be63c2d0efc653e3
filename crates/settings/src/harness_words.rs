//! The words by which settings name harnesses. A test of `runner` compares them with the harnesses that there are.

/// What `agent` takes: the harnesses of the README, then those of Stamina Lab, then `CUSTOM`, the harness of `harness_file`, then
/// the players of tasks.
pub const AGENTS: &[&str] = &[
    "MINI_SWE",
    "OPENHANDS",
    "OPENCODE",
    "QWEN_CODE",
    "KIMI_CLI",
    "VIBE",
    "MOCK",
    "KIMI_CODE",
    "CLAUDE_CODE",
    "CODEX",
    "CUSTOM",
    "ORACLE",
    "NOP",
];
/// Players of tasks: the reference solution, and nobody. They have no settings, and `oracle` is the section of the simulated
/// model.
const PLAYERS: [&str; 2] = ["ORACLE", "NOP"];
/// Docker, and the endpoint of the model that samples.
const OTHER_SECTIONS: [&str; 2] = ["docker", "llm_sampler"];

/// Whether a word of `agent`, in small letters, is that of a player of tasks: it asks no model.
pub fn is_player(agent: &str) -> bool {
    PLAYERS.iter().any(|word| word.to_ascii_lowercase() == agent)
}

/// Whether a section belongs to a harness: its word in small letters.
pub fn is_harness_section(section: &str) -> bool {
    AGENTS.iter().any(|word| !PLAYERS.contains(word) && word.to_ascii_lowercase() == section)
}

/// Whether any key may stand in a section, because its keys are the business of others: of an agent, of Docker, of the endpoint
/// of the model that samples.
pub fn is_free_section(section: &str) -> bool {
    OTHER_SECTIONS.contains(&section) || is_harness_section(section)
}

#[cfg(test)]
mod tests {
    use super::{is_free_section, is_harness_section};

    #[test]
    fn agents_have_sections_and_players_have_none() {
        for section in ["mini_swe", "custom", "mock", "docker", "llm_sampler"] {
            assert!(is_free_section(section), "{section}");
        }
        for section in ["oracle", "nop", "MINI_SWE", "limits", "endpoint", ""] {
            assert!(!is_free_section(section), "{section}");
        }
        assert!(is_harness_section("codex") && !is_harness_section("docker"));
    }
}
