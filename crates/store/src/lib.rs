//! What was read, in SQLite.
