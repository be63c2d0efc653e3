//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod captions;
mod cases;
mod committed_picture;
mod comparison_pictures;
mod drawing;
mod drawn_tables;
mod drawn_words;
mod export;
mod kinds;
mod latex_pictures;
#[path = "layout/main.rs"]
mod layout;
mod not_visible;
mod painted;
mod paper;
mod papers;
mod pictures;
mod stated_values;
