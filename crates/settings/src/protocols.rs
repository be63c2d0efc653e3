//! What the protocols of tasks set: `harbor.protocol` stands for these settings together.

/// What a protocol sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Its word: `mt_at_k`.
    pub word: &'static str,
    /// Attempts at a step (`attempt_limit`), unless others are given.
    pub attempts: u32,
    /// Whether others may be given.
    pub takes_attempts: bool,
    /// `fail_stop`.
    pub fail_stop: bool,
    /// `restore_before_try`.
    pub restore_before_try: bool,
    /// `harbor.timeout`: `graded` or `stop`.
    pub timeout: &'static str,
}

/// EvoCode-Bench at present. It is also what is played where no protocol is named.
pub const EVOCODE: Protocol = Protocol {
    word: "evocode",
    attempts: 1,
    takes_attempts: false,
    fail_stop: false,
    restore_before_try: false,
    timeout: "graded",
};
/// MT@k of the EvoCode paper, with the paper's number of attempts.
pub const MT_AT_K: Protocol = Protocol {
    word: "mt_at_k",
    attempts: 4,
    takes_attempts: true,
    fail_stop: true,
    restore_before_try: true,
    timeout: "stop",
};
/// SR of the EvoCode paper. What an agent leaves of a step is in no later one, so no step ends the others.
pub const SR: Protocol = Protocol {
    word: "sr",
    attempts: 1,
    takes_attempts: true,
    fail_stop: false,
    restore_before_try: true,
    timeout: "stop",
};
/// As scenarios are played: with feedback, and as many attempts at a step as at a turn of a scenario.
pub const FEEDBACK: Protocol = Protocol {
    word: "ours",
    attempts: 10,
    takes_attempts: true,
    fail_stop: false,
    restore_before_try: false,
    timeout: "graded",
};
/// All of them, in the order of `harbor.protocol`.
pub const ALL: [Protocol; 4] = [EVOCODE, MT_AT_K, SR, FEEDBACK];
