//! `stamina`: the commands of the workbench in a terminal.
//!
//! Data goes to standard output, logs and progress to standard error. `--json` prints the keys that `docs/cli.md`
//! documents. The exit code is 0 on success, 1 when a command failed, 2 when nothing was recognized or the command
//! line is wrong. A run also exits with 130 when it was stopped and with 3 when a budget ended it.

mod api_words;
mod args;
mod commands;
mod connections;
mod event_writer;
mod json;
mod library_runs;
mod log_lines;
mod members;
mod numbers;
mod pack_files;
mod print;
mod progress_throttle;
mod run_lines;
mod signals;
mod text_table;
mod web_ui;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use model::counted;
use workbench::api::ApiError;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&shown(error)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("STAMINA_LOG")
                // The AWS tools warn while they look for credentials and a region. Errors that matter are reported once,
                // with what to do about them.
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,aws_config=error")),
        )
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .event_format(log_lines::LogLines)
        .init();
    match commands::run(args) {
        Ok(code) => code,
        Err(error) => {
            report(&error);
            ExitCode::from(if is_of_the_command_line(&error.code) { 2 } else { 1 })
        }
    }
}

/// The same error of the arguments as they are shown: a line break in a name of a stranger makes no line of its own.
fn shown(error: clap::Error) -> clap::Error {
    let arguments = std::env::args_os().map(|argument| model::plain_line(&argument.to_string_lossy()));
    args::Args::try_parse_from(arguments).err().unwrap_or(error)
}

/// Writes help, the version, or what is wrong with the command line. Arguments may be names of files that strangers gave.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let shown = print::without_controls(&text);
    let written = match (&shown, error.use_stderr()) {
        (std::borrow::Cow::Borrowed(_), _) => error.print(),
        (_, true) => std::io::stderr().write_all(shown.as_bytes()),
        (_, false) => std::io::stdout().write_all(shown.as_bytes()),
    };
    // With a closed output nothing can be said.
    drop(written);
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Whether the user has to change the command line: unknown settings, numbers and names that a pack does not have, or a
/// path at which nothing exists or nothing was recognized.
fn is_of_the_command_line(code: &str) -> bool {
    code.starts_with("config.")
        || matches!(
            code,
            "source.not_recognised"
                | "source.missing"
                | "importer.missing"
                | "importer.ambiguous"
                | "importer.not_mine"
                | "table.map"
                | "table.no_column"
                | "table.no_rows"
                | "pack.none"
                | "pack.no_such"
                | "case.no_such"
                | "manifest.missing"
                | "schema.missing"
                | "schema.form"
                | "generate.no_target"
                | "run.no_settings"
                | "settings.value"
                | "serve.what"
                | "server.url"
                | "endpoints.too_many"
        )
}

/// Writes what happened, where and what to do to standard error.
fn report(error: &ApiError) {
    let mut text = format!("error: {}", error.message);
    if let Some(path) = &error.path {
        text.push_str(&format!("\n   at: {path}"));
    }
    let nothing = error.not_recognised.as_deref();
    for thing in
        nothing.map_or(&[][..], |nothing| &nothing.found).iter().filter(|thing| !thing.path.is_empty())
    {
        let first = if thing.count > 1 { "the first at" } else { "at" };
        text.push_str(&format!("\nfound: {}, {first} {}", thing.name, thing.path));
    }
    // Known things and single files need no list of what was looked for.
    if let Some(found) = nothing.filter(|nothing| nothing.found.is_empty() && nothing.folders > 0) {
        text.push_str(&format!(
            "\nlooked at {} in {}, {} deep:",
            counted(found.files, "file"),
            counted(found.folders, "folder"),
            counted(found.depth.into(), "level")
        ));
        for format in &found.formats {
            text.push_str(&format!(
                "\n  {:<28} looked for {:<44} found {}",
                format.format, format.looked_for, format.found
            ));
        }
        if let Some((sentence, _)) = &found.closest {
            text.push_str(&format!("\nclosest: {sentence}"));
        }
    }
    if let Some(hint) = &error.hint {
        text.push_str(&format!("\n hint: {hint}"));
    }
    text.push('\n');
    // With a closed standard error nothing can be reported.
    drop(std::io::stderr().write_all(print::without_controls(&text).as_bytes()));
}
