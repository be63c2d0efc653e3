//! Readers of transcripts, one a notation. Several harnesses share some of them, and harness files name them.

pub(crate) mod chat;
pub(crate) mod stream;
