//! What a user can do, once.

pub mod api;
mod commands;
