//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

mod captions;
#[path = "comparisons/main.rs"]
mod comparisons;
mod failures;
mod figure_names;
mod figures;
#[path = "groups/main.rs"]
mod groups;
mod labels;
mod library;
#[path = "metamorphic/main.rs"]
mod metamorphic;
mod packs;
mod reports;
#[path = "scores/main.rs"]
mod scores;
mod silent;
mod sources;
mod stated_once;
mod tables;
mod texts;
mod tidy;
