//! Harness × model, and the retry budget.

pub(crate) mod retries;

use std::collections::BTreeSet;
use std::sync::Arc;

use analysis::bootstrap::{Resampling, bootstrap_mean};
use analysis::clusters::InScenario;
use analysis::matrix::{Margin, MatrixRun, matrix};
use analysis::pass_rate::pass_rate;
use analysis::survival::known_horizon;
use model::{by_sentence, counted};
use store::{RunEntry, RunFilter};

use crate::Workbench;
use crate::api::{
    ApiError, HarnessSpread, Matrix, MatrixCell, MatrixLine, MatrixRequest, Member, Retries, RetriesRequest,
    ShortestCells,
};
use crate::benchmarks;
use crate::compare::coverage::by_job;
use crate::compare::doubts::{self, Number, Part};
use crate::compare::horizon::{self, OtherCurves, held_down};
use crate::compare::members::{self, Pool};
use crate::compare::pair_tests::bootstrapped;
use crate::compare::{copies, settings};
use crate::episodes::early_censored;
use crate::published;
use crate::rounds;
use crate::sessions::no_stamina;
use crate::stamina_for_hosts::stamina_of;
use crate::undeclared_turns::{doubts_about_turns, sentences_about_turns};

/// Stands for an unknown name while lines are sorted, so that it comes last.
const UNKNOWN: &str = "\u{10ffff}";
/// Most cells of a matrix, whether they have runs or not. All are in memory, in figures and in tables.
const MOST_CELLS: usize = 50_000;

impl Workbench {
    /// Mean stamina by harness and model.
    pub fn get_matrix(&self, request: MatrixRequest) -> Result<Matrix, ApiError> {
        Ok((*self.matrix(&request)?).clone())
    }

    /// The same, remembered until something changes in the library.
    pub(crate) fn matrix(&self, request: &MatrixRequest) -> Result<Arc<Matrix>, ApiError> {
        let change = self.store.last_change()?;
        self.cache.matrices.get(change, request, || self.make_matrix(request))
    }

    /// Mean stamina against the retry budget.
    pub fn get_retries(&self, request: RetriesRequest) -> Result<Retries, ApiError> {
        Ok((*self.retries(&request)?).clone())
    }

    fn make_matrix(&self, request: &MatrixRequest) -> Result<Matrix, ApiError> {
        self.refresh_summaries()?;
        let policy = self.store.get_policy()?;
        let (mut entries, only_simulated) = self.runs_of_matrix(request)?;
        let asks_for =
            |run: &RunEntry| request.benchmark.as_ref().is_none_or(|key| *key == run.benchmark.key);
        let are_withdrawn = entries.iter().any(|run| run.invalid.is_some() && asks_for(run));
        let withdrawn: Vec<String> = withdrawn(&mut entries);
        // If only runs without tests are named, the error says why there is nothing.
        if let Some(untested) = entries.iter().find(|run| !run.benchmark.has_verdicts())
            && (request.benchmark.as_ref() == Some(&untested.benchmark.key)
                || entries.iter().all(|run| !run.benchmark.has_verdicts()))
        {
            return Err(no_stamina(untested));
        }
        let benchmarks = benchmarks::counted(&entries);
        let benchmark = chosen(request, &benchmarks, are_withdrawn)?;
        let left_out: Vec<String> = entries
            .iter()
            .filter(|run| !request.runs.is_empty() && run.benchmark.key != benchmark.0)
            .map(|run| run.slug.clone())
            .collect();
        let mut chosen_runs: Vec<&str> = entries
            .iter()
            .filter(|run| run.benchmark.key == benchmark.0)
            .map(|run| run.slug.as_str())
            .collect();
        chosen_runs.sort_unstable();
        let each: Vec<Member> =
            chosen_runs.iter().map(|run| Member::Run { run: (*run).to_owned() }).collect();
        let mut pools = members::resolve(&self.store, &each)?;
        let copied = copies::count_once_each(&self.store, &mut pools)?;
        copies::count_scores(&self.store, &mut pools)?;
        let slugs: Vec<&str> =
            pools.iter().flat_map(|pool| &pool.runs).map(|run| run.record.entry.slug.as_str()).collect();
        let episodes: Vec<Vec<InScenario>> = pools.iter().map(|pool| pool.in_scenarios(&policy)).collect();
        let names: Vec<(&str, &str)> = pools
            .iter()
            .map(|pool| (pool.harness().unwrap_or(UNKNOWN), pool.model().unwrap_or(UNKNOWN)))
            .collect();
        check_size(&names)?;
        let runs: Vec<MatrixRun<'_>> = pools
            .iter()
            .zip(&episodes)
            .zip(&names)
            .map(|((pool, episodes), (harness, model))| MatrixRun {
                harness,
                model,
                episodes,
                planned: pool.planned(),
            })
            .collect();
        let method = Resampling::default();
        let mean_matrix = matrix(&runs, request.tau, method);
        if let Some(tau) = request.tau.filter(|tau| *tau == 0 || *tau > mean_matrix.tau) {
            // A matrix over no turn does not say how far the curves go.
            let known = if tau == 0 { matrix(&runs, None, method).tau } else { mean_matrix.tau };
            return Err(ApiError::new(
                "matrix.tau",
                format!("The curves of all cells are known to turn {known}, and not for a τ of {tau}"),
            )
            .hint(horizon::hint(known)));
        }
        let tau = known_horizon(mean_matrix.tau);
        let not_comparable = settings::not_comparable(&by_job(&pools));
        let columns = mean_matrix.models.len();
        let all_of_one_turn = members::all_of_one_turn(&pools);
        let place = |(index, cell): (usize, &Option<analysis::matrix::Cell>)| {
            let cell = cell.as_ref()?;
            let entries = || cell.runs.iter().flat_map(|i| &pools[*i].runs).map(|run| &run.record.entry);
            let is_single_turn =
                all_of_one_turn || members::all_of_one_turn(cell.runs.iter().map(|i| &pools[*i]));
            let trials: Vec<InScenario> = cell.runs.iter().flat_map(|i| &episodes[*i]).cloned().collect();
            let cell_pools: Vec<&Pool> = cell.runs.iter().map(|i| &pools[*i]).collect();
            let stamina =
                stamina_of(&cell.summary, &trials, || bootstrap_mean(&trials, mean_matrix.tau, method));
            let pass_rate = is_single_turn.then(|| pass_rate(&trials));
            let early_censored =
                early_censored(cell_pools.iter().flat_map(|pool| pool.episodes()), tau, &policy);
            let number = Number {
                parts: Part::from_pools(cell_pools),
                stamina: &stamina,
                pass_rate: pass_rate.as_ref(),
                early_censored,
            };
            Some(MatrixCell {
                harness: (index / columns) as u32,
                model: (index % columns) as u32,
                doubts: number.doubts(&policy),
                score_doubts: doubts_about_turns(cell.runs.iter().flat_map(|i| pools[*i].scored())),
                early_censored,
                stamina,
                pass_rate,
                scores: rounds::turn_scores(cell.runs.iter().flat_map(|i| pools[*i].scored())),
                runs: entries().map(|run| run.slug.clone()).collect(),
                simulated: entries().any(|run| run.simulated),
                mixed: mixed(&pools, &cell.runs),
            })
        };
        let cells = mean_matrix.cells.iter().flatten().enumerate().map(place).collect();
        let spread = |extremes: &Option<analysis::matrix::Extremes>| {
            extremes.as_ref().map(|extremes| HarnessSpread {
                best: extremes.best as u32,
                worst: extremes.worst as u32,
                ratio: extremes.ratio.as_ref().map(bootstrapped),
            })
        };
        let spread = mean_matrix.extremes.iter().map(spread).collect();
        let mut answer = Matrix {
            of_one_turn: all_of_one_turn,
            tau,
            shortest: mean_matrix.shortest.filter(|_| request.tau.is_none()).map(|cells| ShortestCells {
                runs: cells.runs.iter().map(|run| slugs[*run].to_owned()).collect(),
                otherwise: cells.otherwise,
                others: cells.others,
                furthest: cells.furthest,
            }),
            harnesses: mean_matrix.harnesses.iter().map(line).collect(),
            models: mean_matrix.models.iter().map(line).collect(),
            cells,
            spread,
            not_comparable: settings::in_words(&not_comparable, "run"),
            published: published::numbers_of_tasks(
                &benchmark.0,
                pools.iter().flat_map(Pool::episodes).map(|episode| episode.scenario.as_str()),
            ),
            cautions: Vec::new(),
            policy: policy.name().to_owned(),
            seed: method.seed,
            benchmark,
            benchmarks,
            left_out,
        };
        answer.cautions = cautions(&answer, only_simulated);
        // Beside mean staminas, which it does not concern, it is no star.
        let has_rounds =
            |run: &&RunEntry| run.summary.as_ref().is_some_and(|summary| summary.rounds.is_some());
        answer.cautions.extend(sentences_about_turns(pools.iter().flat_map(Pool::scored).filter(has_rounds)));
        answer.cautions.extend(copied);
        answer.cautions.extend(withdrawn);
        Ok(answer)
    }

    /// The runs that may be in the matrix, of all benchmarks, and whether they are there only for want of real ones.
    fn runs_of_matrix(&self, request: &MatrixRequest) -> Result<(Vec<RunEntry>, bool), ApiError> {
        let list = |real_only| -> Result<Vec<RunEntry>, ApiError> {
            let filter = RunFilter { real_only, ..RunFilter::default() };
            let mut runs: Vec<RunEntry> =
                self.store.list_runs(&filter)?.rows.into_iter().map(|(_, run)| run).collect();
            if !request.runs.is_empty() {
                if let Some(missing) = request.runs.iter().find(|id| runs.iter().all(|r| r.slug != **id))
                    && !real_only
                {
                    return Err(ApiError::new(
                        "run.not_found",
                        format!("There is no run \"{missing}\" in the library"),
                    ));
                }
                runs.retain(|run| request.runs.contains(&run.slug));
            }
            runs.retain(|run| !request.without.contains(&run.slug));
            Ok(runs)
        };
        // Who names runs means them.
        if request.with_baselines || !request.runs.is_empty() {
            return Ok((list(false)?, false));
        }
        let real = list(true)?;
        if real.iter().any(|run| request.benchmark.as_ref().is_none_or(|key| *key == run.benchmark.key)) {
            return Ok((real, false));
        }
        Ok((list(false)?, true))
    }
}

/// Refuses more cells than a matrix has: it grows with harnesses times models, and each table names its own.
fn check_size(names: &[(&str, &str)]) -> Result<(), ApiError> {
    let harnesses: BTreeSet<&str> = names.iter().map(|(harness, _)| *harness).collect();
    let models: BTreeSet<&str> = names.iter().map(|(_, model)| *model).collect();
    if harnesses.len().saturating_mul(models.len()) <= MOST_CELLS {
        return Ok(());
    }
    let message = format!(
        "The runs have {} {} and {}. A matrix has at most {MOST_CELLS} cells",
        harnesses.len(),
        if harnesses.len() == 1 { "harness" } else { "harnesses" },
        counted(models.len() as u64, "model")
    );
    Err(ApiError::new("matrix.too_large", message)
        .hint("Name fewer runs, or close the source that names so many"))
}

/// Takes withdrawn runs out; gives a sentence for each.
fn withdrawn(entries: &mut Vec<RunEntry>) -> Vec<String> {
    let sentences = entries
        .iter()
        .filter_map(|run| {
            let mark = doubts::withdrawn(run.invalid.as_deref())?;
            Some(format!("{} is {mark}, and not in this matrix.", run.slug))
        })
        .collect();
    entries.retain(|run| run.invalid.is_none());
    sentences
}

/// In which settings the runs of a cell differ so that they are not comparable: judged among themselves, as on the
/// Compare page, for what differs among all runs of the matrix may be alike in this cell, and the other way round.
fn mixed(pools: &[Pool], runs: &[usize]) -> Vec<String> {
    if runs.len() < 2 {
        return Vec::new();
    }
    let own: Vec<Pool> = runs.iter().filter_map(|run| pools.get(*run).cloned()).collect();
    settings::not_comparable(&by_job(&own)).into_iter().map(|difference| difference.setting).collect()
}

fn chosen(
    request: &MatrixRequest,
    benchmarks: &[(String, String, u32)],
    are_withdrawn: bool,
) -> Result<(String, String), ApiError> {
    let found = match &request.benchmark {
        None => benchmarks.first(),
        Some(wanted) => benchmarks.iter().find(|(key, _, _)| key == wanted),
    };
    found.map(|(key, name, _)| (key.clone(), name.clone())).ok_or_else(|| {
        benchmarks::no_runs("matrix.no_runs", request.benchmark.as_deref(), are_withdrawn, benchmarks)
    })
}

fn line(margin: &Margin) -> MatrixLine {
    MatrixLine {
        name: Some(margin.name.clone()).filter(|name| name != UNKNOWN),
        mean: margin.mean,
        cells: margin.present,
        missing: margin.missing,
    }
}

fn cautions(matrix: &Matrix, only_simulated: bool) -> Vec<String> {
    let mut cautions = Vec::new();
    if only_simulated {
        cautions.push(
            "There are no real runs of this benchmark: these are baselines or runs of a simulated model."
                .to_owned(),
        );
    }
    match matrix.left_out.as_slice() {
        [] => {}
        [one] => cautions.push(format!("{one} is of another benchmark, and not in this matrix.")),
        [first, ..] => cautions.push(format!(
            "{} runs that were named are of other benchmarks, and not in this matrix: {first}, …",
            matrix.left_out.len()
        )),
    }
    if let (Some(shortest), Some(tau)) = (&matrix.shortest, matrix.tau) {
        let cells = cells_of(matrix, &shortest.runs);
        let names: Vec<&str> = cells.iter().map(String::as_str).collect();
        cautions.push(held_down(
            tau,
            &names,
            "cell",
            &OtherCurves {
                number: shortest.others,
                known_to: shortest.otherwise,
                furthest: shortest.furthest,
            },
        ));
    }
    let missing = matrix.cells.iter().filter(|cell| cell.is_none()).count();
    if missing > 0 {
        let verb = if missing == 1 { "has" } else { "have" };
        cautions.push(format!(
            "{missing} of {} cells {verb} no run. Margins are over the cells that are there, so lines with other gaps are not comparable.",
            matrix.cells.len()
        ));
    }
    let name = |lines: &[MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|l| l.name.clone()).unwrap_or_else(|| "unknown".to_owned())
    };
    for cell in matrix.cells.iter().flatten().filter(|cell| !cell.mixed.is_empty()) {
        cautions.push(format!(
            "{} × {} pools runs that are not comparable: they differ in {}.",
            name(&matrix.harnesses, cell.harness),
            name(&matrix.models, cell.model),
            cell.mixed.join(", ")
        ));
    }
    cautions.extend(doubts(matrix).into_iter().map(|doubt| format!("{doubt}.")));
    let few = matrix.cells.iter().flatten().filter(|cell| cell.stamina.n < 10).count();
    if few > 0 {
        let (cells, verb) = if few == 1 { ("cell", "has") } else { ("cells", "have") };
        let episodes = if matrix.of_one_turn { "trials" } else { "episodes" };
        cautions.push(format!("{few} {cells} {verb} fewer than 10 {episodes}."));
    }
    if matrix.has_picked() {
        cautions.push(
            "Best and worst harness are picked after looking: the ratio of the two is larger than that of two named beforehand."
                .to_owned(),
        );
    }
    cautions.extend(published::statements(&matrix.benchmark.0, "matrix"));
    if !matrix.published.is_empty() && matrix.cells.iter().flatten().any(|cell| cell.scores.is_some()) {
        cautions.push(rounds::PAPER.to_owned());
    }
    cautions
}

/// The names of the cells that have these runs: what tells them from the others. `heldInWords` of the page has the same.
fn cells_of(matrix: &Matrix, runs: &[String]) -> Vec<String> {
    let name = |lines: &[MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|line| line.name.clone()).unwrap_or_else(|| "unknown".to_owned())
    };
    let cell_name = |cell: &MatrixCell| {
        let (harness, model) = (name(&matrix.harnesses, cell.harness), name(&matrix.models, cell.model));
        match (matrix.harnesses.len(), matrix.models.len()) {
            (1, _) => model,
            (_, 1) => harness,
            _ => format!("{harness} × {model}"),
        }
    };
    let has_one = |cell: &&MatrixCell| cell.runs.iter().any(|run| runs.contains(run));
    matrix.cells.iter().flatten().filter(has_one).map(cell_name).collect()
}

/// What makes the numbers of cells less sure than they look; cells of which the same is to be said share a sentence. Such
/// cells have a star.
pub(crate) fn doubts(matrix: &Matrix) -> Vec<String> {
    let name = |lines: &[MatrixLine], index: u32| {
        lines.get(index as usize).and_then(|line| line.name.clone()).unwrap_or_else(|| "unknown".to_owned())
    };
    let cell_name = |cell: &MatrixCell| {
        format!("{} × {}", name(&matrix.harnesses, cell.harness), name(&matrix.models, cell.model))
    };
    let cells = || matrix.cells.iter().flatten();
    let each = cells().flat_map(|cell| cell.doubts.iter().map(|doubt| (doubt.as_str(), cell_name(cell))));
    let all = cells().count();
    (by_sentence(each).into_iter())
        .map(|(doubt, cells)| match cells.len() {
            n if n > 1 && n == all => format!("* All cells: {doubt}"),
            _ => format!("* {}: {doubt}", cells.join(", ")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::{Attempt, Benchmark, Episode, Run, Turn, Verdict};
    use store::{ParsedPart, Store};

    use super::*;

    /// Runs of one harness and model over these scenarios, with these attempt limits.
    fn pools(scenarios: &[(&str, u32, Option<u32>)]) -> Vec<Pool> {
        let store = Store::in_memory().unwrap();
        let source = store.put_source("/results", "results", false).unwrap();
        let runs: Vec<Run> = scenarios
            .iter()
            .enumerate()
            .map(|(i, (_, _, limit))| {
                let mut run =
                    Run::unknown(format!("run{i}"), Benchmark { key: "b".into(), name: "b".into() });
                (run.harness, run.model) = (Some("h".into()), Some("m".into()));
                run.attempt_limit = *limit;
                run
            })
            .collect();
        store.put_runs(source, "", "harbor", &runs).unwrap();
        for (run, (scenario, planned, _)) in runs.iter().zip(scenarios) {
            let mut episode = Episode::new("e", *scenario);
            episode.planned_turns = Some(*planned);
            let mut turn = Turn::new(1);
            turn.attempts.push(Attempt::new(1, Verdict::Passed));
            episode.turns.push(turn);
            let part = [(run.key.clone(), episode)];
            let read = ParsedPart {
                place: "",
                key: &run.key,
                stamp: 1,
                episodes: &part,
                warnings: &[],
                files_read: 1,
            };
            store.put_part(source, &read).unwrap();
        }
        let members: Vec<Member> =
            (0..scenarios.len()).map(|i| Member::Run { run: format!("results.run{i}") }).collect();
        members::resolve(&store, &members).unwrap()
    }

    #[test]
    fn runs_of_a_cell_are_judged_among_themselves() {
        let apart = pools(&[("a", 5, Some(3)), ("b", 5, Some(3))]);
        assert_eq!(mixed(&apart, &[0, 1]), ["Scenarios"], "as many, and none the same");
        let longer = pools(&[("a", 5, Some(3)), ("a", 9, Some(3))]);
        assert_eq!(mixed(&longer, &[0, 1]), ["Planned turns"]);
        let unknown = pools(&[("a", 5, Some(3)), ("a", 5, None)]);
        assert!(mixed(&unknown, &[0, 1]).is_empty(), "what is not known may be the same");
        let elsewhere = pools(&[("a", 5, Some(3)), ("a", 5, Some(3)), ("a", 5, Some(10))]);
        assert!(mixed(&elsewhere, &[0, 1]).is_empty(), "a run of another cell differs");
        assert_eq!(mixed(&elsewhere, &[1, 2]), ["Attempt limit"]);
        assert!(mixed(&elsewhere, &[2]).is_empty());
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_matrix_of_many_names_is_refused() {
        let all: Vec<String> = (0..300).map(|number| format!("name {number}")).collect();
        let apart: Vec<(&str, &str)> = all.iter().map(|name| (name.as_str(), name.as_str())).collect();
        let refused = check_size(&apart).unwrap_err();
        assert_eq!(refused.code, "matrix.too_large");
        assert!(refused.message.contains("300 harnesses and 300 models"), "{}", refused.message);
        let one_source: Vec<(&str, &str)> = all.iter().map(|name| ("one", name.as_str())).collect();
        assert!(check_size(&one_source).is_ok() && check_size(&[]).is_ok());
    }
}
