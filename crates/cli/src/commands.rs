//! Runs the command that the arguments name.

mod clean;
mod compare;
mod control;
mod copies;
mod endpoints;
mod exports;
mod failures;
mod figure;
mod generate;
mod harnesses;
mod images;
mod import_report;
mod ingest;
mod locobench;
mod matrix;
mod open;
mod preflight;
mod report;
mod rerun_list;
mod resume;
mod rpc;
mod run;
mod runs;
mod search;
mod selection;
mod serve;
mod serve_reference;
mod show;
mod sources;
mod status;
mod survival;
mod table;
mod test_server;
mod turn_scores;
mod validate;
mod withdraw;

use std::process::ExitCode;

use workbench::api::{ApiError, MatrixRequest, RerunRequest, RunAction};
use workbench::runs::EndpointCall;
use workbench::{Options, Workbench};

pub(crate) use self::figure::FigureArgs;
pub(crate) use self::report::ReportArgs;
pub(crate) use self::table::TableArgs;
use crate::args::{Args, Command};

/// Runs the command that the arguments name.
pub(crate) fn run(args: Args) -> Result<ExitCode, ApiError> {
    let json = args.json;
    let open = || Workbench::open(Options { db: args.db.clone(), ..Options::default() });
    match args.command {
        Command::Ingest { paths, map, with } => {
            Ok(ingest::ingest(&*open()?, &paths, (&map, with.as_deref()), json))
        }
        Command::Open { paths } => open::open_app(&paths, args.db.as_deref(), json),
        Command::Runs { text, sort, ascending } => runs::runs(&*open()?, text, sort, ascending, json),
        Command::Survival { run } => survival::survival(&*open()?, &run, json),
        Command::Show { run } => show::show(&*open()?, &run, json),
        Command::Locobench { run } => locobench::locobench(&*open()?, &run, json),
        Command::Withdraw { runs, trial, reason, undo, from } => {
            let options = withdraw::WithdrawOptions { runs, trials: trial, reason, undo, table: from };
            withdraw::withdraw(&*open()?, &options, json)
        }
        Command::Copies { run, count_here } => copies::copies(&*open()?, &run, count_here, json),
        Command::RerunList { run, censored, unreadable, missing } => {
            let request = RerunRequest { run, censored, unreadable, missing };
            rerun_list::rerun_list(&*open()?, &request, json)
        }
        Command::Compare { runs, reference, all_pairs, tau } => {
            compare::compare(&*open()?, &runs, reference.as_deref(), all_pairs, tau, json)
        }
        Command::Matrix { runs, benchmark, with_baselines, without, tau } => {
            let request = MatrixRequest { runs, benchmark, with_baselines, without, tau };
            matrix::matrix(&*open()?, request, json)
        }
        Command::Failures { runs, benchmark, by, scope, cases, class, by_tests } => {
            let grouping = by;
            let options =
                failures::FailuresOptions { runs, benchmark, grouping, scope, cases, class, by_tests };
            failures::failures(&*open()?, &options, json)
        }
        Command::Search { words, limit } => search::search(&*open()?, &words.join(" "), limit, json),
        Command::Sources => sources::sources(&*open()?, json),
        Command::ImportReport { source } => import_report::import_report(&*open()?, &source, json),
        Command::Close { source } => sources::close(&*open()?, &source, json),
        Command::Figure(args) => figure::figure(&*open()?, &args, json),
        Command::Table(args) => table::table(&*open()?, &args, json),
        Command::Report(args) => report::report(&*open()?, &args, json),
        Command::Serve { port, token, ui } => {
            let sample = workbench::sample::find(None);
            let options = Options { db: args.db.clone(), live: true, sample, ..Options::default() };
            let workbench = Workbench::open(options)?;
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .map_err(|e| ApiError::new("serve.runtime", format!("The server cannot be started: {e}")))?;
            let ended = runtime.block_on(serve::serve(workbench, port, token, ui, json));
            runtime.shutdown_background();
            ended.map(|()| ExitCode::SUCCESS)
        }
        Command::Generate { out, configs, values, force, check, replay } => match (check, replay) {
            (Some(manifest), _) => generate::check(&manifest, json),
            (None, Some(pack)) => generate::replay(&pack, out, force, json),
            (None, None) => generate::generate(out, &configs, &values, force, json),
        },
        Command::Validate { pack, scenarios, turns, mutants } => {
            validate::validate(&pack, scenarios.as_ref(), turns.as_ref(), mutants, json)
        }
        Command::ServeReference { pack, scenario, turn, schema, port, on_stdin } => {
            let from = match (schema, pack, scenario, turn) {
                (Some(file), ..) => serve_reference::Reference::File(file),
                (None, Some(pack), Some(scenario), Some(turn)) => {
                    serve_reference::Reference::OfPack { pack, scenario, turn }
                }
                // Cannot happen: clap checks the arguments.
                _ => {
                    return Err(ApiError::new("serve.what", "The arguments name nothing to serve")
                        .hint("PACK --scenario S --turn T, or --schema FILE"));
                }
            };
            serve_reference::serve_reference(&from, (!on_stdin).then_some(port), json)
        }
        Command::TestServer { pack, scenario, turn, url, cases } => {
            test_server::test_server(&pack, (scenario, turn), &url, &cases, json)
        }
        Command::Run { what: run_args, yes } => run::run(&run_args, args.db.as_deref(), yes, json),
        Command::Resume { folder, values, trust } => {
            resume::resume(&folder, &values, &trust, args.db.as_deref(), json)
        }
        Command::Pause { folder, is_continued } => control::send_request(
            &folder,
            if is_continued { &RunAction::Continue } else { &RunAction::Pause },
            json,
        ),
        Command::Stop { folder } => control::send_request(&folder, &RunAction::Stop, json),
        Command::Retry { folder, episode } => {
            control::send_request(&folder, &RunAction::Retry { episode }, json)
        }
        Command::Status { folder } => status::status(&folder, json),
        Command::Preflight { what: run_args, no_call, ask_again } => {
            let call = match (no_call, ask_again) {
                (true, _) => EndpointCall::Nothing,
                (false, false) => EndpointCall::Missing,
                (false, true) => EndpointCall::Anew,
            };
            preflight::preflight(&run_args, args.db.as_deref(), call, json)
        }
        Command::Endpoints { urls, key_env } => endpoints::endpoints(urls, key_env, json),
        Command::Images { command } => images::images(&command, json),
        Command::Harnesses => {
            harnesses::harnesses(json);
            Ok(ExitCode::SUCCESS)
        }
        Command::Clean { yes, all } => clean::clean(yes, all, json),
        Command::Rpc { name, request } => rpc::rpc(&open()?, name.as_deref(), &request),
    }
}
