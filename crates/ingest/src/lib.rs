//! From files to the store: one file per format behind one trait.
//!
//! A [`files::Tree`] is an opened folder or zip; nothing outside it can be read through it. A [`format_trait::Format`] says
//! whether a place in a tree is its own ([`format_trait::Format::sniff`]), surveys it cheaply into runs and parts
//! ([`format_trait::Format::survey`]) and reads one part at a time ([`format_trait::Format::read`]). Whatever is wrong becomes a
//! [`model::Warning`] in a [`format_trait::Report`]; no damaged file sinks a folder.
//!
//! [`discover`](discover::discover) finds the places ([`unread`] names what other programs wrote where there are none), [`import`](import::import) brings them into the store and is
//! called again whenever [`watch`](watch::watch) notices a change; [`view`] reads what is only shown.

mod attribution;
pub mod decisions;
pub mod discover;
pub mod format_trait;
pub mod formats;
pub mod identity;
pub mod import;
mod noise;
pub mod readers;
mod source_name;
pub mod unread;
pub mod view;
pub mod watch;
