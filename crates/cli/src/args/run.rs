//! The arguments of commands that begin or resume a run.

use std::path::PathBuf;

/// The settings of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// YAML files with keys (see docs/cli.md); a later one wins
    #[arg(long, num_args = 1.., value_name = "FILE")]
    pub(crate) configs: Vec<PathBuf>,
    /// Keys with values; they win over files
    #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
    pub(crate) values: Vec<String>,
}

/// How a run that was not begun here is resumed.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Resume a run that was not begun by this library on this machine, after you have read what it would do
    #[arg(long)]
    pub(crate) trust: bool,
    /// With --trust: use what the folder names instead of what this machine has
    #[arg(long, value_enum, num_args = 1.., requires = "trust")]
    pub(crate) keep: Vec<Keep>,
}

/// What the folder of a run that was not begun here may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Keep {
    /// Its endpoint, to which requests are sent
    Endpoint,
    /// The key that it names, which is sent there; in direct mode, credentials of this machine
    Key,
    /// The variables of this machine's environment that it names, which agents get
    Variables,
}
