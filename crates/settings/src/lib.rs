//! The settings of a run, each declared once: key, what it takes, default, section, label, unit, help and choices.
//!
//! [`all`] is the one table; its rows are in `declarations/`, one file per section of the form. From it come the keys of YAML files and
//! `key=value` lists ([`resolve`], [`read`]), the values of those that are not given ([`Config::with_defaults`]), the fields of the form,
//! and the table of `docs/cli.md` ([`docs::table`]).
//!
//! Keys are dotted: `restful_server_gen_iterative.n_turns`. In YAML they may also be nested. A later file replaces an
//! earlier one, a `key=value` every file, and a later one an earlier one. `null` takes a key back to its default. Every key is one
//! of [`keys`], or lies in a section that belongs to an agent, to Docker or to the sampler's endpoint ([`is_free_section`]); an
//! unknown one is an error that names the nearest. A file that was written elsewhere is read with more patience ([`read`]).
//!
//! This crate knows no run. What settings mean together, and what is refused because of others, is `runner::settings`. To add a
//! setting: one row here, its meaning there. The form of `workbench` (`FormSettings`) has a field for each row, written from them.

mod bounds;
mod declarations;
pub mod docs;
mod error;
mod generation;
mod harness_words;
pub mod protocols;
mod resolve;
mod setting;
#[cfg(test)]
mod tests;
mod value_kind;
pub mod yaml;

pub use self::bounds::WHOLE_PACK;
pub use self::declarations::{all, declaration, fields, keys};
pub use self::error::ConfigError;
pub use self::generation::{Benchmark, Generation, MODEL};
pub use self::harness_words::{AGENTS, is_free_section, is_harness_section, is_player};
pub use self::resolve::{Config, ConfigFile, OmittedKey, read, resolve};
pub use self::setting::{Choice, DefaultValue, FormSection, FormValue, Key, KeyName, Need, Setting};
pub use self::value_kind::ValueKind;
