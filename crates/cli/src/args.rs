//! The command line, as people see it in `--help`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// See how long coding agents last.
///
/// Reads results of Harbor, EvoCode-Bench and StaminaBench from folders and zips, in place, and computes survival
/// statistics over turns.
#[derive(Debug, Parser)]
#[command(name = "stamina", version, about, max_term_width = 100)]
pub(crate) struct Args {
    /// The library's database; made if it is not there. Default: the desktop app's library
    #[arg(long, global = true, value_name = "FILE", env = "STAMINA_DB")]
    pub(crate) db: Option<PathBuf>,
    /// Print JSON with stable keys (see docs/cli.md)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read folders or zips into the library
    ///
    /// Unchanged folders are not read again. Damaged files become warnings; the rest is read.
    /// Exit code 2 when nothing in a PATH is recognised.
    #[command(after_help = "Example: stamina ingest results/sweep-11 harbor-jobs.zip")]
    Ingest {
        /// Folders or zips
        #[arg(required = true)]
        paths: Vec<PathBuf>,
    },
    /// Open a folder or zip in the desktop app
    Open {
        /// Folders or zips
        paths: Vec<PathBuf>,
    },
    /// List the runs of the library
    #[command(after_help = "Example: stamina runs --text glm --sort score")]
    Runs {
        /// Only runs in which all of these words occur (model, harness, benchmark, source, tags, note)
        #[arg(long, default_value = "")]
        text: String,
        /// Column to sort by
        #[arg(long, value_enum, default_value_t = Sort::Stamina)]
        sort: Sort,
        /// Sort from low to high
        #[arg(long)]
        ascending: bool,
    },
    /// Print the survival table of a run (Kaplan–Meier, log-log 95 % band)
    Survival {
        /// Id of the run, or the begin of one that names it alone
        run: String,
    },
    /// Print a run with its episodes, turns and attempts
    Show {
        /// Id of the run, or the begin of one that names it alone
        run: String,
    },
    /// List the sources of the library
    Sources,
    /// Print the import report of a source: what was recognised, skipped and repaired, and why
    Report {
        /// Name, path or number of the source
        source: String,
    },
    /// Take a source out of the library; the folder or zip itself is never touched
    Close {
        /// Name, path or number of the source
        source: String,
    },
    /// Draw a chart of a run as SVG on standard output
    Figure {
        /// Which chart
        #[arg(value_enum)]
        kind: Figure,
        /// Id of the run, or the begin of one that names it alone
        run: String,
        /// Draw for the dark theme
        #[arg(long)]
        dark: bool,
    },
    /// Serve the app to a browser on this machine
    ///
    /// Listens on the loopback address only and asks for a token, which stands in the printed link.
    Serve {
        /// Port; 0 takes a free one
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Token to ask for; a random one by default
        #[arg(long, env = "STAMINA_TOKEN")]
        token: Option<String>,
        /// Folder of the built web UI; by default the one beside this program
        #[arg(long, value_name = "FOLDER")]
        ui: Option<PathBuf>,
    },
    /// Call any command of the app by name with a JSON request (for scripts; `stamina rpc` lists them)
    Rpc {
        /// Name of the command
        name: Option<String>,
        /// The request
        #[arg(default_value = "{}")]
        request: String,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Sort {
    Stamina,
    Model,
    Harness,
    Benchmark,
    Source,
    Episodes,
    Turns,
    Score,
    Tokens,
    Cost,
    Date,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Figure {
    Survival,
    FirstFailures,
}
