//! Readers of transcripts, one a notation. Several harnesses share some of them, and harness files name them.

pub(crate) mod chat;
pub(crate) mod codex;
pub(crate) mod opencode;
pub(crate) mod openhands;
pub(crate) mod pi;
pub(crate) mod stream;
pub(crate) mod vibe;
