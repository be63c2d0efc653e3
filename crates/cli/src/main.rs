//! `stamina`: the commands of the workbench in a terminal.
//!
//! Data goes to standard output, logs and progress to standard error. `--json` prints the keys that `docs/cli.md`
//! documents. The exit code is 0 on success, 1 when a command failed, 2 when nothing was recognised or the command
//! line is wrong; that of a run also 130 when it was stopped and 3 when a budget ended it.

mod args;
mod commands;
mod compare_command;
mod connections;
mod endpoints_command;
mod exports;
mod failures_command;
mod json;
mod library_commands;
mod locobench_command;
mod log_lines;
mod machine_commands;
mod matrix_command;
mod members;
mod numbers;
mod pack_files;
mod play_commands;
mod preflight_command;
mod print;
mod progress;
mod reference_commands;
mod scenario_commands;
mod search_command;
mod serve;
mod signals;
mod source_commands;
mod steer_commands;
mod table;
mod teller;
mod told;
mod web_ui;
mod withdraw_command;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use model::counted;
use workbench::api::ApiError;

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = args::Args::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("STAMINA_LOG")
                // What the AWS tools warn of while they look for credentials and a region is said once, in our own words,
                // where it matters.
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

/// Whether another command line is what helps: settings that are none, numbers and names that a pack does not have, or a
/// path at which nothing lies or nothing was recognised.
fn is_of_the_command_line(code: &str) -> bool {
    code.starts_with("config.")
        || matches!(
            code,
            "source.not_recognised"
                | "source.missing"
                | "importer.missing"
                | "importer.not_mine"
                | "table.map"
                | "table.no_column"
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

/// Says what happened, where and what to do, on standard error.
fn report(error: &ApiError) {
    let mut text = format!("error: {}", error.message);
    if let Some(path) = &error.path {
        text.push_str(&format!("\n   at: {path}"));
    }
    let nothing = error.not_recognised.as_deref();
    for thing in nothing.map_or(&[][..], |nothing| &nothing.found).iter().filter(|thing| !thing.at.is_empty())
    {
        let first = if thing.count > 1 { "the first at" } else { "at" };
        text.push_str(&format!("\nfound: {}, {first} {}", thing.name, thing.at));
    }
    // What is known needs no list of what was looked for, and neither does a single file.
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
    // A closed standard error is nobody's fault and nothing can be told any more.
    drop(std::io::stderr().write_all(print::without_controls(&text).as_bytes()));
}
