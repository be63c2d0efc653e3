//! What else the model does wrong, attempt by attempt.

use scenario::Seed;

use super::tools::{Hands, Use};
use super::work::Step;
use super::{Ability, Call};

/// Malformed calls that are sent in an attempt before the model gives up, where the harness leaves them in the
/// conversation. Most harnesses end the turn earlier.
pub(super) const PATIENCE: usize = 12;

/// A kind of misbehaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No answer.
    Stall,
    /// 400: the conversation is too long.
    Overflow,
    /// Calls with arguments that are no JSON.
    Malformed,
    /// Ends the harness's own process.
    Kill,
    /// Says that it is done.
    GiveUp,
}

/// What is done in an attempt, if anything.
pub(super) fn of(ability: &Ability, scenario: u32, turn: u32, attempt: u32) -> Option<Kind> {
    let shares = &ability.mischief;
    let mut draw = Seed { base: ability.seed, scenario }.draw(turn, &format!("oracle mischief {attempt}"));
    let mut at = draw.below(super::PARTS) as f64 / super::PARTS as f64;
    [
        (shares.stall, Kind::Stall),
        (shares.overflow, Kind::Overflow),
        (shares.malformed, Kind::Malformed),
        (shares.kill, Kind::Kill),
        (shares.give_up, Kind::GiveUp),
    ]
    .into_iter()
    .find_map(|(share, kind)| {
        let here = at < share;
        at -= share;
        here.then_some(kind)
    })
}

/// What is called in such an attempt. Without a shell nothing can be killed.
pub(super) fn steps(kind: Kind, hands: &Hands<'_>) -> Vec<Step> {
    let step = |says: &str, uses: Option<Use>| uses.map(|uses| Step { says: says.to_owned(), uses });
    let run = |says: &str, command: &str| step(says, hands.run(command, says));
    match kind {
        Kind::Stall | Kind::Overflow | Kind::GiveUp => Vec::new(),
        Kind::Malformed => {
            let says = "I look around.";
            let looks = run(says, "ls -la /workspace");
            looks.or_else(|| step(says, hands.write("notes.txt", "", says))).into_iter().collect()
        }
        // As an agent would that wants to be sure that its server is gone. Harnesses are Python, Node or programs of
        // their own name. One of them keeps `pkill` away from itself, but not a signal to the shell's parent.
        Kind::Kill => {
            let names = "pkill -9 -f 'python|node|claude|codex|opencode|qwen|kimi|vibe|openhands'";
            let both = [run("I stop the old server.", names), run("I stop what is left.", "kill -9 $PPID")];
            both.into_iter().flatten().collect()
        }
    }
}

/// The call with arguments that end too early.
pub(super) fn break_off(id: String, uses: &Use) -> Call {
    let arguments = uses.arguments.to_string();
    let whole = arguments.trim_end_matches(['}', '"']);
    Call { id, name: uses.name.clone(), arguments: format!("{whole} && ") }
}
