//! Faults that the model injects, attempt by attempt.

use scenario::Seed;

use super::offered_tools::{OfferedTools, ToolCall};
use super::server_files::Step;
use super::{Ability, Call};

/// Malformed calls of an attempt before the model gives up, where the harness keeps them in the conversation. Most harnesses end
/// the turn earlier.
pub(super) const MALFORMED_CALLS: usize = 12;

/// An injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InjectedFault {
    /// No answer.
    Stall,
    /// 400: the context is too long.
    Overflow,
    /// Calls whose arguments are not JSON.
    Malformed,
    /// Ends the process of the harness.
    Kill,
    /// Reports success.
    GiveUp,
}

/// The fault of an attempt, if any.
pub(super) fn choose(ability: &Ability, scenario: u32, turn: u32, attempt: u32) -> Option<InjectedFault> {
    let shares = &ability.fault_injection;
    // words: ok, the name of a random stream, which decides the samples
    let mut draw = Seed { base: ability.seed, scenario }.draw(turn, &format!("oracle mischief {attempt}"));
    let mut number = draw.number_below(super::PARTS) as f64 / super::PARTS as f64;
    [
        (shares.stall, InjectedFault::Stall),
        (shares.overflow, InjectedFault::Overflow),
        (shares.malformed, InjectedFault::Malformed),
        (shares.kill, InjectedFault::Kill),
        (shares.give_up, InjectedFault::GiveUp),
    ]
    .into_iter()
    .find_map(|(share, kind)| {
        let is_chosen = number < share;
        number -= share;
        is_chosen.then_some(kind)
    })
}

/// The steps of such an attempt. Nothing can be killed without a shell.
pub(super) fn steps(kind: InjectedFault, offered: &OfferedTools<'_>) -> Vec<Step> {
    let step = |text: &str, call: Option<ToolCall>| call.map(|call| Step { text: text.to_owned(), call });
    let run = |text: &str, command: &str| step(text, offered.run(command, text));
    match kind {
        InjectedFault::Stall | InjectedFault::Overflow | InjectedFault::GiveUp => Vec::new(),
        InjectedFault::Malformed => {
            let text = "I look around.";
            let looks = run(text, "ls -la /workspace");
            looks.or_else(|| step(text, offered.write("notes.txt", "", text))).into_iter().collect()
        }
        // As an agent that ends its server with a broad command. Harnesses are Python, Node or programs of their own name. One
        // of them is protected from `pkill`, but not from a signal to the parent of the shell.
        InjectedFault::Kill => {
            let names = "pkill -9 -f 'python|node|claude|codex|opencode|qwen|kimi|vibe|openhands'";
            let calls = [run("I stop the old server.", names), run("I stop what is left.", "kill -9 $PPID")];
            calls.into_iter().flatten().collect()
        }
    }
}

/// A call with truncated arguments.
pub(super) fn truncate_call(id: String, call: &ToolCall) -> Call {
    let arguments = call.arguments.to_string();
    let unclosed = arguments.trim_end_matches(['}', '"']);
    Call { id, name: call.name.clone(), arguments: format!("{unclosed} && ") }
}
