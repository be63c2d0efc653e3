//! Players without a model: the reference solution, or nobody. They validate tasks: a verifier that the solution does not pass,
//! or that passes without any work, measures nothing.

use harness::{Api, Call, CommandEnd, Harness, HarnessError, Invocation, Outcome};
use strum::IntoStaticStr;

/// A player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Player {
    /// Runs the reference solution of each step.
    Oracle,
    /// Does nothing.
    Nop,
}

impl Player {
    /// Its name in the settings, in lower case.
    pub(super) fn word(self) -> &'static str {
        self.into()
    }
}

static ALL: [Player; 2] = [Player::Oracle, Player::Nop];

/// The player with a name; `None` for the name of a harness.
pub(crate) fn find(name: &str) -> Option<&'static Player> {
    ALL.iter().find(|player| player.name() == name)
}

/// Whether a name is that of a player.
pub(crate) fn is_player(name: &str) -> bool {
    find(name).is_some()
}

/// Describes a player in a run's record like a harness; it is never called as one.
impl Harness for Player {
    fn name(&self) -> &'static str {
        self.word()
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Oracle => "reference solution",
            Self::Nop => "no agent",
        }
    }

    fn image(&self) -> &'static str {
        "the task's own"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn api(&self) -> Api {
        Api::ChatCompletions
    }

    fn probe(&self) -> Vec<String> {
        Vec::new()
    }

    fn invocation(&self, _: &Call<'_>) -> Result<Invocation, HarnessError> {
        Ok(Invocation::default())
    }

    fn outcome(&self, _: &Call<'_>, _: &CommandEnd<'_>) -> Outcome {
        Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_are_no_harnesses() {
        assert!(is_player("oracle") && is_player("nop"));
        for harness in harness::all() {
            assert!(!is_player(harness.name()), "{}", harness.name());
        }
    }
}
