//! Whether a pack is valid: sound, not vacuous, sensitive.
