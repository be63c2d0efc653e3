//! Interned.
