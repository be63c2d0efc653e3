//! The arguments of the command line. Their docstrings are what `--help` prints.

mod failures;
mod images;
mod numbers;
mod run;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use workbench::api::RunSort;

pub(crate) use self::failures::{FailuresBy, FailuresScope};
pub(crate) use self::images::ImagesCommand;
pub(crate) use self::numbers::Numbers;
pub(crate) use self::run::{Keep, RunArgs, TrustArgs};
use crate::api_words::api_word;
use crate::commands::{FigureArgs, ReportArgs, TableArgs};

/// See how long coding agents last.
///
/// Reads results of Harbor, EvoCode-Bench, StaminaBench and LoCoBench-Agent from folders and zips, in place, and computes survival
/// statistics over turns.
#[derive(Debug, Parser)]
#[command(name = "stamina", version, about, max_term_width = 100)]
pub(crate) struct Args {
    /// The library's database; created if it is missing. Default: the desktop app's library
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
    /// Files stay where they are. What has not changed since the last time is not read again. A damaged file is a warning, and
    /// the others are read. The exit code is 2 if nothing in one of the paths is recognized.
    #[command(after_help = "Example: stamina ingest results/sweep-11 harbor-jobs.zip")]
    Ingest {
        /// Folders, zips or tables (.csv, .tsv, .jsonl, .parquet)
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Read the column NAME of a table as COLUMN: turn=round reads its column round as the turn. Repeatable, and remembered for
        /// every table with the same header
        #[arg(long, value_name = "COLUMN=NAME")]
        map: Vec<String>,
        /// Read the paths through an importer, a program that converts them to a tidy table: stamina-import-NAME on the PATH, an
        /// importer in the settings, or the path of one, with a /
        #[arg(long, value_name = "NAME")]
        with: Option<String>,
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
        #[arg(long, value_parser = api_word::<RunSort>(RUN_SORTS), default_value = "stamina")]
        sort: RunSort,
        /// Sort from low to high
        #[arg(long)]
        ascending: bool,
    },
    /// Print the survival table of a run (Kaplan–Meier, log-log 95 % band)
    Survival {
        /// Id of the run, or a part of an id that no other run has
        run: String,
    },
    /// Print a run with its episodes, turns and attempts
    Show {
        /// Id of the run, or a part of an id that no other run has
        run: String,
    },
    /// Print the figures of a run of LoCoBench-Agent: its sessions, and means over scenarios
    ///
    /// That benchmark has no tests: its runs have no stamina, and take no part in survival, matrix or comparisons.
    #[command(after_help = "Example: stamina locobench openai-gpt-4o --json")]
    Locobench {
        /// Id of the run, or a part of an id that no other run has
        run: String,
    },
    /// Mark runs, or trials of a run, as withdrawn, so that they do not count
    ///
    /// They stay in the library. A withdrawn run is excluded wherever runs are combined: groups, the matrix, failures and
    /// estimates say so, and a comparison refuses it. A withdrawn trial is excluded from every number, also from those of its
    /// own run. `stamina runs --json`, CSV and Parquet have the reason.
    #[command(
        after_help = "Examples:\n  stamina withdraw sweep.glm-5 --reason \"wrong image\"\n  stamina withdraw sweep.glm-5 --trial fix-git --reason \"network down\"\n  stamina withdraw sweep.glm-5 --undo\n  stamina withdraw --from runs.csv"
    )]
    Withdraw {
        /// Ids of the runs, or parts of ids that no other run has
        #[arg(required_unless_present = "from")]
        runs: Vec<String>,
        /// Withdraw this trial instead of the whole run; only one run may be named then. NAME is its id in `stamina show`, its name
        /// in the source, or its task. Repeatable
        #[arg(long, value_name = "NAME", conflicts_with = "from")]
        trial: Vec<String>,
        /// Why their numbers must not count
        #[arg(long, value_name = "TEXT", required_unless_present_any = ["undo", "from"])]
        reason: Option<String>,
        /// Let them count again
        #[arg(long, conflicts_with = "reason")]
        undo: bool,
        /// Read the marks from a CSV of `stamina table library` or `stamina table episodes`. It needs the columns `run_id` and
        /// `invalid`, and for trials also `episode`
        #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "reason", "undo"])]
        from: Option<PathBuf>,
    },
    /// Print which runs share trials with a run, and which of the copies count
    ///
    /// The same trial may lie in several sources. Where runs are combined (groups, matrix, failures) it counts once.
    Copies {
        /// Id of the run, or a part of an id that no other run has
        run: String,
        /// Let the trials of this run count from now on
        #[arg(long)]
        count_here: bool,
    },
    /// Print which trials of a run to run again, and the flags or YAML for its runner
    ///
    /// Without --censored, --unreadable and --missing, it prints all three kinds. It runs nothing itself.
    #[command(after_help = "Example: stamina rerun-list sweep.glm-5 --censored --missing")]
    RerunList {
        /// Id of the run, or a part of an id that no other run has
        run: String,
        /// Trials that something outside the agent ended
        #[arg(long)]
        censored: bool,
        /// Trials without a readable verdict
        #[arg(long)]
        unreadable: bool,
        /// Trials that were planned and are not in the source
        #[arg(long)]
        missing: bool,
    },
    /// Compare runs, or groups of runs: what differs in their settings, survival, tests
    ///
    /// Differences that make them not comparable come first. Each run is tested against the reference, which is the first
    /// unless --reference names another. p values of the log-rank test are corrected by Holm over the printed pairs.
    #[command(
        after_help = "Examples:\n  stamina compare sweep.glm-5 sweep.kimi-k2 --reference sweep.glm-5\n  stamina compare harness:opencode harness:mini_swe\n  stamina compare model:glm-5@staminabench tag:final --json"
    )]
    Compare {
        /// Ids of runs (or unique parts of them), or groups: harness:NAME, model:NAME, tag:NAME,
        /// cell:HARNESS×MODEL, each with @BENCHMARK where it has runs of several
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<String>,
        /// Test the others against this one
        #[arg(long, value_name = "RUN")]
        reference: Option<String>,
        /// Test every two against each other
        #[arg(long, conflicts_with = "reference")]
        all_pairs: bool,
        /// Horizon of mean stamina in turns; as far as every curve is known by default
        #[arg(long, value_name = "TURNS")]
        tau: Option<u32>,
    },
    /// Print mean stamina by harness and model
    ///
    /// Baselines and runs of a simulated model are excluded where there are real runs.
    #[command(after_help = "Example: stamina matrix --benchmark staminabench")]
    Matrix {
        /// Only these runs
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Key of the benchmark; the one with most runs by default
        #[arg(long, value_name = "KEY")]
        benchmark: Option<String>,
        /// Include baselines and runs of a simulated model
        #[arg(long)]
        with_baselines: bool,
        /// Exclude this run, such as an aborted one that keeps τ low for all; repeatable
        #[arg(long, value_name = "RUN", conflicts_with = "runs")]
        without: Vec<String>,
        /// Horizon in turns; as far as every cell is known by default
        #[arg(long, value_name = "TURNS")]
        tau: Option<u32>,
    },
    /// Print failed attempts by class: why they failed, what is new and what is a regression
    ///
    /// Classes come from rules over end reasons and failing tests (see docs/metrics.md). Without RUN every real run of one
    /// benchmark counts.
    #[command(
        after_help = "Examples:\n  stamina failures sweep.glm-5\n  stamina failures harness:opencode --by turn --scope first --cases"
    )]
    Failures {
        /// Ids of runs (or unique parts of them), or groups as in `stamina compare`
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Without RUN: key of the benchmark; the one with most runs by default
        #[arg(long, value_name = "KEY", conflicts_with = "runs")]
        benchmark: Option<String>,
        /// How failed attempts are grouped
        #[arg(long, value_enum, default_value_t = FailuresBy::Run)]
        by: FailuresBy,
        /// Which failed attempts count
        #[arg(long, value_enum, default_value_t = FailuresScope::First)]
        scope: FailuresScope,
        /// List the failed attempts, too
        #[arg(long)]
        cases: bool,
        /// List only those of a class
        #[arg(long, value_name = "CLASS", requires = "cases")]
        class: Option<String>,
        /// With --class: attempts with a failing test of it, whatever their own class
        #[arg(long, requires = "class")]
        by_tests: bool,
    },
    /// Search requests, failing tests, transcripts and logs of all runs
    ///
    /// Finds texts that contain every word, those with the words as a phrase first; the last letters of a word may be missing.
    /// Words in double quotation marks are a phrase. Transcripts and logs that are not yet in the index are read first, so the
    /// first search after an import takes longer.
    #[command(
        after_help = "Examples:\n  stamina search connection refused\n  stamina search '\"no such table\"' --json"
    )]
    Search {
        /// Words to look for
        #[arg(required = true, value_name = "WORDS")]
        words: Vec<String>,
        /// Largest number of places
        #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// List the sources of the library
    Sources,
    /// Print the import report of a source: what was recognized, skipped and repaired, and why
    ImportReport {
        /// Name, path or number of the source
        source: String,
    },
    /// Remove a source from the library; the folder or zip itself is never changed
    Close {
        /// Name, path or number of the source
        source: String,
    },
    /// Make a figure of runs, or reproduce one from its spec
    ///
    /// Files carry their spec: SVG, PDF, PNG, .tex and Parquet in themselves, CSV in FILE.csv.toml beside it. A file that is
    /// named as SPEC is reproduced exactly, byte by byte. Prints the caption.
    #[command(
        after_help = "Examples:\n  stamina figure survival sweep.glm-5 sweep.kimi-k2 --out survival.pdf --preset icml\n  stamina figure differences run-a run-b run-c --reference run-a --out differences.tex\n  stamina figure survival.pdf --out survival.png\n  stamina figure survival run-a > curve.svg"
    )]
    Figure(FigureArgs),
    /// Make a table of runs
    #[command(after_help = "Example: stamina table pairs run-a run-b --out pairs.tex")]
    Table(TableArgs),
    /// Write a report of runs, or of a comparison: report.html, report.md, figures, tables, specs, settings, hashes
    #[command(
        after_help = "Examples:\n  stamina report run-a --out report\n  stamina report run-a run-b --out comparison.zip --zip"
    )]
    Report(ReportArgs),
    /// Serve the app to a browser on this machine
    ///
    /// Listens on the loopback address only and asks for a token, which is part of the printed link.
    Serve {
        /// Port; 0 selects a free one
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Token that a browser must send; a random one by default
        #[arg(long, env = "STAMINA_TOKEN")]
        token: Option<String>,
        /// Folder of the built web UI. By default the one beside this program or in its checkout, else the one inside the program
        #[arg(long, value_name = "FOLDER")]
        ui: Option<PathBuf>,
    },
    /// Generate scenarios: schemas, requests, specifications, test suites and reference servers, from a seed
    ///
    /// Keys are those of the StaminaBench README (see docs/cli.md). The same settings give the same bytes.
    #[command(
        after_help = "Example: stamina generate --out pack --values restful_server_gen_iterative.n_scenarios=20 restful_server_gen_iterative.n_turns=100"
    )]
    Generate {
        /// Folder of the pack, or a .zip; by default that of the key `output_dir`
        #[arg(long, value_name = "DIR|X.zip")]
        out: Option<PathBuf>,
        /// YAML files with keys; a later one wins
        #[arg(long, num_args = 1.., value_name = "FILE")]
        configs: Vec<PathBuf>,
        /// Keys with values; they win over files
        #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
        values: Vec<String>,
        /// Replace a pack that has other settings. A folder or file that is no pack is never replaced
        #[arg(long)]
        force: bool,
        /// Write nothing: generate the pack of this manifest in memory and compare the hashes. The exit code is 1 if they differ
        #[arg(long, value_name = "MANIFEST", conflicts_with_all = ["out", "configs", "values", "force"])]
        check: Option<PathBuf>,
        /// Generate this pack again, from its settings and the answers of the model that it contains. No model is asked
        #[arg(long, value_name = "PACK", conflicts_with_all = ["configs", "values", "check"])]
        replay: Option<PathBuf>,
    },
    /// Prove that a pack is sound, not vacuous and sensitive to mutants
    ///
    /// Exit code 1 if the reference fails its suite, a suite demands what no text states, a turn is vacuous, a hash differs,
    /// or fewer than 99 % of the mutants are noticed.
    Validate {
        /// Folder or zip of the pack
        pack: PathBuf,
        /// Only these scenarios, counted from 0: 0,3 or 0-4
        #[arg(long, value_name = "NUMBERS", value_parser = Numbers::parse)]
        scenarios: Option<Numbers>,
        /// Only these turns, counted from 1: 1-10
        #[arg(long, value_name = "NUMBERS", value_parser = Numbers::parse)]
        turns: Option<Numbers>,
        /// Mutants of each operator at each turn
        #[arg(long, value_name = "N", default_value_t = 1)]
        mutants: u32,
    },
    /// Serve the reference of a turn on this machine, until Ctrl-C
    ServeReference {
        /// Folder or zip of the pack
        #[arg(required_unless_present = "schema", requires_all = ["scenario", "turn"])]
        pack: Option<PathBuf>,
        /// Scenario, counted from 0 as its folder is
        #[arg(long, requires = "pack")]
        scenario: Option<u32>,
        /// Turn, counted from 1
        #[arg(long, requires = "pack")]
        turn: Option<u32>,
        /// Instead of a pack: a file with the schema of a turn (YAML), which may break the rules of schemas
        #[arg(long, value_name = "FILE", conflicts_with_all = ["pack", "scenario", "turn"])]
        schema: Option<PathBuf>,
        /// Port; 0 selects a free one
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// Instead of a port: standard input is a TCP socket that has an address and does not listen yet
        #[arg(long, conflicts_with = "port")]
        on_stdin: bool,
    },
    /// Run the suite of a turn against a server
    ///
    /// Exit code 1 if a case fails.
    TestServer {
        /// Folder or zip of the pack
        pack: PathBuf,
        /// Scenario, counted from 0 as its folder is
        #[arg(long)]
        scenario: u32,
        /// Turn, counted from 1
        #[arg(long)]
        turn: u32,
        /// Where the server listens: `http://127.0.0.1:8000`
        #[arg(long)]
        url: String,
        /// Only these cases: ids, or the start of ids up to a dot
        #[arg(long = "case", num_args = 1.., value_name = "ID")]
        cases: Vec<String>,
    },
    /// Run an evaluation: agents in containers, turn by turn, measured, stoppable, resumable
    ///
    /// First checks what it needs (see `stamina preflight`); it does not begin if a check fails. Results go to the folder
    /// `output_dir`; the desktop app shows them live. Ctrl-C stops it after saving, a second one at once; `stamina resume`
    /// continues it. Exit code 0 when finished, 130 when stopped, 3 when a budget ended it, 1 when something failed.
    /// With --json each event is a line of JSON.
    #[command(
        after_help = "Examples:\n  stamina run --values agent=MOCK output_dir=results/smoke quick_debug=true\n  stamina run --values benchmark=HARBOR tasks=tasks agent=ORACLE output_dir=results/oracle\n  stamina run --values benchmark=HARBOR tasks=tasks agent=MINI_SWE harbor.protocol=mt_at_k output_dir=results/tries\n  stamina run --configs results/opencode-glm5-40.yaml --values batch_size=5 limits.run.usd=60 --json"
    )]
    Run {
        #[command(flatten)]
        what: RunArgs,
        /// Begin in spite of warnings, without asking
        #[arg(long)]
        yes: bool,
    },
    /// Resume a run that was stopped or killed, in the same sessions of its agents
    #[command(after_help = "Example: stamina resume results/opencode-glm5-40 --values limits.run.usd=90")]
    Resume {
        /// Results folder of the run
        folder: PathBuf,
        /// Keys with values that raise budgets and limits
        #[arg(long, num_args = 1.., value_name = "KEY=VALUE")]
        values: Vec<String>,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Pause a run: it begins no new attempts
    Pause {
        /// Results folder of the run
        folder: PathBuf,
        /// Continue a paused run
        #[arg(long = "continue")]
        is_continued: bool,
    },
    /// Stop a run; a resume retries its running attempts
    Stop {
        /// Results folder of the run
        folder: PathBuf,
    },
    /// End the attempt of an episode that is running, and retry it from its snapshot
    ///
    /// An episode that the endpoint or the containers ended is continued; one that its agent ended is a result.
    #[command(after_help = "Example: stamina retry results/opencode-glm5-40 scenario_3")]
    Retry {
        /// Results folder of the run
        folder: PathBuf,
        /// Episode: `scenario_3`
        episode: String,
    },
    /// Print what a run is doing
    Status {
        /// Results folder of the run
        folder: PathBuf,
    },
    /// Check whether a run can begin, and estimate what it takes
    ///
    /// Takes the arguments of `stamina run` and begins nothing. Exit code 1 when a check fails.
    #[command(after_help = "Example: stamina preflight --configs results/opencode-glm5-40.yaml")]
    Preflight {
        #[command(flatten)]
        what: RunArgs,
        /// Send no request to the model endpoint (otherwise a few small ones)
        #[arg(long)]
        no_call: bool,
        /// Ask the endpoint again for its abilities, even if it was asked within the last day: after a restart of its server
        #[arg(long, conflicts_with = "no_call")]
        ask_again: bool,
    },
    /// List the model endpoints that answer, and their models
    ///
    /// Asks the usual ports of this machine (Ollama 11434, llama.cpp 8080, vLLM 8000, LM Studio 1234, and 30000), or
    /// the addresses that are named. Exit code 1 when an address that is named lists no models.
    #[command(after_help = "Example: stamina endpoints http://127.0.0.1:18080")]
    Endpoints {
        /// Addresses to ask instead of the usual ports
        #[arg(value_name = "URL")]
        urls: Vec<String>,
        /// The environment variable that holds the key of these addresses
        #[arg(long, value_name = "NAME", requires = "urls")]
        key_env: Option<String>,
    },
    /// List, build or test the images that agents run in
    Images {
        #[command(subcommand)]
        command: ImagesCommand,
    },
    /// List the harnesses that Stamina Lab can run
    Harnesses,
    /// Show and remove containers, networks and volumes that killed runs left behind
    ///
    /// Results are never changed. Asks before it removes anything, unless --yes is given.
    Clean {
        /// Remove without asking
        #[arg(long)]
        yes: bool,
        /// Include those of running runs
        #[arg(long)]
        all: bool,
    },
    /// Call any command of the app by name with a JSON request (for scripts; `stamina rpc` lists them)
    Rpc {
        /// Name of the command
        name: Option<String>,
        /// The request; `-` reads it from standard input, so that a key appears in no list of processes
        #[arg(default_value = "{}")]
        request: String,
    },
}

/// Columns by which `stamina runs` sorts.
const RUN_SORTS: &str = "stamina model harness benchmark source episodes turns score tokens cost date";

#[cfg(test)]
mod tests;
