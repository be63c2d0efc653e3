//! The library and the run page: rows, groups, curves, grids, figures.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use analysis::band::kaplan_meier_by_scenario;
use figures::{Figure, FigureSpec, Layout, RunData, Theme};
use model::CensoringPolicy;
use store::{EpisodeEntry, JOB_ID, RunEntry, RunId, RunRecord};

use crate::Workbench;
use crate::api::{
    AnnotateRuns, ApiError, EndCount, FigureDrawing, FigureKind, FigureTheme, GridRow, GridSort, ListRuns,
    Nothing, RunDetail, RunFigureRequest, RunGrid, RunGridRequest, RunGroup, RunGrouping, RunPage, RunRef,
    RunRow, SearchHits, SearchRequest, SurvivalTable,
};
use crate::compare::doubts::{may_be_copy, shared_trial_doubts, withdrawn};
use crate::compare::members::joined_names;
use crate::compare::survival_row;
use crate::episodes::{
    ending, episode_score, grades_turns, in_scenarios, observations, run_record, turn_axis,
};
use crate::rounds;
use crate::sessions::tested_run;
use crate::summary::stamina_summary;

/// Most rows of one page of runs.
const PAGE: u32 = 500;

impl Workbench {
    /// Runs of all sources, filtered, sorted, grouped, paged.
    pub fn list_runs(&self, mut request: ListRuns) -> Result<RunPage, ApiError> {
        self.refresh_summaries()?;
        let policy = self.store.get_policy()?;
        let by_source = request.group == RunGrouping::Source;
        request.limit = if request.limit == 0 { PAGE } else { request.limit.min(PAGE) };
        let mut list = self.store.list_runs(&request)?;
        let mut gaps = rounds::Gaps::new(&*self.store);
        for (_, entry) in &mut list.rows {
            gaps.fill(entry)?;
        }
        let labels = self.source_labels()?;
        let ids: Vec<_> = list.rows.iter().map(|(_, entry)| entry.id).collect();
        let others = self.store.runs_sharing_trials(&ids)?;
        let mut undecided = copy_doubts(&ids, &self.store.undecided_copies()?);
        let row_of = |(group, entry): (u32, RunEntry)| {
            let shared = others.get(&entry.id).map_or_else(Vec::new, |others| shared_trial_doubts(others));
            let undecided = undecided.remove(&entry.id);
            let mut row = row(entry, group, &policy, &labels);
            row.doubts.extend(shared.into_iter().chain(undecided));
            row
        };
        let rows: Vec<RunRow> = list.rows.into_iter().map(row_of).collect();
        let mut groups: Vec<RunGroup> = list.groups.into_iter().map(group).collect();
        for row in rows.iter().filter(|_| by_source) {
            if let Some(group) = groups.get_mut(row.group as usize) {
                group.title.clone_from(&row.source_label);
            }
        }
        self.opened_sources.note_first_page();
        Ok(RunPage { rows, groups, total: list.total, facets: list.facets })
    }

    /// Ids of the runs that have a name in their source, letter by letter. Ids end after 100 letters and have no capital
    /// letters, spaces or slashes, so names that differ may look alike there.
    ///
    /// Errors: those of the library.
    pub fn runs_of_name(&self, name: &str) -> Result<Vec<String>, ApiError> {
        let mut ids = Vec::new();
        for (_, entry) in self.store.list_runs(&ListRuns::default())?.rows {
            if self.store.run(&entry.slug)?.is_some_and(|record| record.run.key == name) {
                ids.push(entry.slug);
            }
        }
        Ok(ids)
    }

    /// One run with its settings.
    pub fn get_run(&self, request: RunRef) -> Result<RunDetail, ApiError> {
        self.refresh_summaries()?;
        let policy = self.store.get_policy()?;
        let mut record = run_record(&self.store, &request.run)?;
        rounds::Gaps::new(&*self.store).fill(&mut record.entry)?;
        let shared = self.store.shared_episodes(record.entry.id)?;
        let mut caveats = self.caveats_alone(&record, &shared, &policy)?;
        let doubts = record.entry.summary.as_ref().map_or(&[][..], |summary| &summary.doubts);
        if !doubts.is_empty() {
            caveats.push(format!("Its numbers are less sure than they look: {}.", doubts.join("; ")));
        }
        let others = shared.iter().map(|other| (other.run.clone(), other.episodes)).collect::<Vec<_>>();
        let id = record.entry.id;
        let undecided = copy_doubts(&[id], &self.store.undecided_copies_of(id)?).remove(&id);
        // The id of a job is no field of the source that is not known.
        if record.entry.job.is_some() {
            record.run.extra.remove(JOB_ID);
        }
        let mut row = row(record.entry, 0, &policy, &self.source_labels()?);
        row.doubts.extend(shared_trial_doubts(&others).into_iter().chain(undecided));
        Ok(RunDetail {
            row,
            source_path: record.source_path,
            policy: policy.name().to_owned(),
            settings: record.run.settings,
            extra: record.run.extra,
            totals_only: record
                .run
                .reported
                .totals_only
                .into_iter()
                .map(|t| (t.scenario, t.turns, t.passed_turns))
                .collect(),
            caveats,
            copies: shared,
        })
    }

    /// Lets the trials of this run count where other runs have the same ones.
    pub fn prefer_run(&self, request: RunRef) -> Result<RunDetail, ApiError> {
        run_record(&self.store, &request.run)?;
        self.store.prefer_run(&request.run)?;
        self.get_run(request)
    }

    /// Sets tags and notes.
    pub fn annotate(&self, request: AnnotateRuns) -> Result<Nothing, ApiError> {
        self.store.annotate(
            &request.runs,
            &request.add_tags,
            &request.remove_tags,
            request.note.as_deref(),
        )?;
        Ok(Nothing {})
    }

    /// Kaplan–Meier table of a run.
    pub fn run_survival(&self, request: RunRef) -> Result<SurvivalTable, ApiError> {
        let record = tested_run(&self.store, &request.run)?;
        let episodes = self.store.episodes(record.entry.id)?;
        let policy = self.store.get_policy()?;
        let trials = in_scenarios(&record, &episodes, &observations(&episodes, &policy));
        let points = kaplan_meier_by_scenario(&trials, turn_axis(&episodes));
        Ok(SurvivalTable { rows: points.into_iter().map(survival_row).collect() })
    }

    /// Rows of the episode × turn grid.
    pub fn run_grid(&self, request: RunGridRequest) -> Result<RunGrid, ApiError> {
        let record = tested_run(&self.store, &request.run)?;
        let policy = self.store.get_policy()?;
        let episodes = self.store.all_episodes(record.entry.id)?;
        let (turns, total) = (turn_axis(&episodes), episodes.len() as u32);
        let mut rows = grid_rows(&record, episodes, &policy, request.sort);
        rows.drain(..(request.offset as usize).min(rows.len()));
        if request.limit > 0 {
            rows.truncate(request.limit as usize);
        }
        Ok(RunGrid { turns, total, rows })
    }

    /// A chart of the run page.
    pub fn run_figure(&self, request: RunFigureRequest) -> Result<FigureDrawing, ApiError> {
        let record = tested_run(&self.store, &request.run)?;
        let policy = self.store.get_policy()?;
        let episodes = self.store.episodes(record.entry.id)?;
        let observations = observations(&episodes, &policy);
        let data = RunData {
            name: name(&record),
            points: kaplan_meier_by_scenario(
                &in_scenarios(&record, &episodes, &observations),
                turn_axis(&episodes),
            ),
            summary: stamina_summary(&record, &episodes, &policy),
            policy: policy.name().to_owned(),
        };
        let figure = match request.kind {
            FigureKind::Survival => Figure::Survival(data),
            FigureKind::FirstFailures => Figure::FirstFailures(data),
        };
        let layout = Layout::Screen {
            width: request.width,
            height: request.height,
            plot_left: request.plot_left,
            px_per_turn: request.px_per_turn,
            turns: request.turns,
        };
        let theme = match request.theme {
            FigureTheme::Light => Theme::Light,
            FigureTheme::Dark => Theme::Dark,
        };
        let drawing = figures::draw(&FigureSpec::new(figure, layout, theme));
        Ok(FigureDrawing {
            svg: drawing.svg,
            width: drawing.width,
            height: drawing.height,
            hits: drawing.hits,
            summary: drawing.summary,
        })
    }

    /// Looks in names, requests and failure messages.
    pub fn search(&self, request: SearchRequest) -> Result<SearchHits, ApiError> {
        let limit = if request.limit == 0 { 20 } else { request.limit.min(200) };
        let mut found = self.store.search(&request.text, limit)?;
        for hit in found.hits.iter_mut().filter(|hit| hit.also > 0) {
            let places = model::counted(hit.also.into(), "more place");
            let at_least = if hit.also_is_least { "at least " } else { "" };
            hit.detail = format!("{} · and in {at_least}{places}", hit.detail);
        }
        Ok(found)
    }
}

/// What a figure calls the run.
fn name(record: &RunRecord) -> String {
    let known: Vec<&str> =
        [record.entry.model.as_deref(), record.entry.harness.as_deref()].into_iter().flatten().collect();
    if known.is_empty() { record.entry.slug.clone() } else { joined_names(known) }
}

/// The rows of a run's grid in order.
pub(crate) fn grid_rows(
    record: &RunRecord,
    episodes: Vec<EpisodeEntry>,
    policy: &CensoringPolicy,
    sort: GridSort,
) -> Vec<GridRow> {
    let by_turn = grades_turns(record);
    let mut rows: Vec<GridRow> = episodes.into_iter().map(|e| grid_row(by_turn, e, policy)).collect();
    let by_score = |a: &GridRow, b: &GridRow| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal);
    let by_name = |a: &GridRow, b: &GridRow| (&a.scenario, a.repeat).cmp(&(&b.scenario, b.repeat));
    match sort {
        GridSort::Stamina => rows.sort_by(|a, b| {
            (b.stamina, b.censored)
                .cmp(&(a.stamina, a.censored))
                .then_with(|| by_score(a, b))
                .then_with(|| by_name(a, b))
        }),
        GridSort::Scenario => rows.sort_by(by_name),
        GridSort::Score => rows.sort_by(|a, b| by_score(a, b).then_with(|| by_name(a, b))),
    }
    rows
}

/// Of each of these runs that may be a copy of others, that it may: nothing decides it.
fn copy_doubts(runs: &[RunId], groups: &[Vec<(RunId, String)>]) -> HashMap<RunId, String> {
    let wanted_runs: HashSet<RunId> = runs.iter().copied().collect();
    let mut marks = HashMap::new();
    for group in groups {
        for (run, _) in group.iter().filter(|(run, _)| wanted_runs.contains(run)) {
            let others = group.iter().filter(|(other, _)| other != run);
            let others: Vec<&str> = others.map(|(_, slug)| slug.as_str()).collect();
            marks.insert(*run, may_be_copy(&others));
        }
    }
    marks
}

fn grid_row(by_turn: bool, episode: EpisodeEntry, policy: &CensoringPolicy) -> GridRow {
    GridRow {
        score: episode_score(by_turn, &episode, policy),
        censored: ending(&episode, policy) == model::Ending::Censored,
        episode: episode.slug,
        scenario: episode.scenario,
        title: episode.title,
        repeat: episode.repeat,
        planned_turns: episode.planned_turns,
        cells: episode.cells,
        failing: episode.failing,
        stamina: episode.stamina,
        failed_turn: episode.failed_turn,
        end_reason: episode.end_reason,
        unrecognised: episode.unrecognised,
        invalid: episode.invalid,
    }
}

/// A run as the library shows it.
pub(crate) fn row(
    entry: RunEntry,
    group: u32,
    policy: &CensoringPolicy,
    labels: &HashMap<i64, String>,
) -> RunRow {
    let tested = entry.benchmark.has_verdicts();
    let scored_episodes = entry.summary.as_ref().filter(|_| tested).map(|summary| summary.scored);
    let summary = entry.summary.unwrap_or_default();
    // Without tests no end is a failure or censored, and `no_verdict` says nothing of how a session went.
    let end_reasons = (entry.totals.end_reasons.iter().filter(|_| tested))
        .map(|(reason, count)| EndCount { reason: *reason, ending: policy.ending(*reason), count: *count })
        .collect();
    RunRow {
        id: entry.slug,
        source: entry.source,
        source_label: labels.get(&entry.source).unwrap_or(&entry.source_name).clone(),
        source_name: entry.source_name,
        format: entry.format,
        tested,
        benchmark: entry.benchmark,
        group,
        harness: entry.harness,
        harness_version: entry.harness_version,
        runner: entry.runner,
        model: entry.model,
        provider: entry.provider,
        baseline: entry.baseline,
        simulated: entry.simulated,
        episodes: entry.totals.episodes,
        planned_episodes: entry.planned_episodes,
        scored_episodes,
        planned_turns: entry.totals.planned_turns,
        attempt_limit: entry.attempt_limit,
        stamina: summary.stamina,
        // Known where anything is: of episodes that were at risk, or of tasks of which the source gives totals.
        perfect: rounds::perfect(&summary),
        pass_rate: summary.pass_rate,
        rounds: summary.rounds,
        score: summary.score,
        dataset_score: summary.dataset_score,
        case_score: summary.case_score,
        reported: entry.reported,
        end_reasons,
        unrecognised: entry.totals.unrecognised,
        tokens: entry.totals.tokens,
        cost_usd: entry.totals.cost_usd,
        tokens_known: entry.totals.tokens_known,
        cost_known: entry.totals.cost_known,
        started_at: entry.started_at,
        warnings: entry.warnings,
        severities: entry.severities,
        partial: summary.partial,
        doubts: withdrawn(entry.invalid.as_deref()).into_iter().chain(summary.doubts).collect(),
        tags: entry.tags,
        note: entry.note,
        invalid: entry.invalid,
        withdrawn_episodes: entry.withdrawn_episodes,
    }
}

/// Where the scale of runs with one τ ends: at τ, or sooner where all of it would be crowded into the first half. Of runs of one
/// turn it is from 0 to 1: pass rates are drawn on it, and their intervals are wider than `most`.
fn scale(tau: u32, greatest: Option<f64>) -> f64 {
    const BELOW_ONE: [f64; 3] = [0.1, 0.2, 0.5];
    let tau = f64::from(tau.max(1));
    match greatest {
        Some(greatest) if tau > 1.0 && greatest * 2.0 < tau => {
            let end = BELOW_ONE.into_iter().find(|end| greatest > 0.0 && greatest <= *end);
            end.unwrap_or_else(|| greatest.ceil().clamp(1.0, tau))
        }
        _ => tau,
    }
}

/// Where the scale of mean stamina as a share of τ ends, of runs with several τ: turns out of 12 and turns out of 100 are never on one
/// axis. Pass rates of runs of one turn are drawn on it, too, and their intervals are wider than `most_stamina`.
fn share_scale(most_stamina: &[(u32, f64)]) -> Option<f64> {
    const ENDS: [f64; 7] = [0.04, 0.1, 0.2, 0.4, 0.5, 0.6, 0.8];
    let [(least, _), _, ..] = most_stamina else { return None };
    if *least <= 1 {
        return Some(1.0);
    }
    let share = |(tau, most): &(u32, f64)| most / f64::from(*tau);
    Some(ENDS.into_iter().find(|end| most_stamina.iter().all(|known| share(known) <= *end)).unwrap_or(1.0))
}

fn group(group: store::GroupEntry) -> RunGroup {
    let tau = group.tau.map_or(0, |(_, greatest)| greatest);
    let most = group.most_stamina.iter().find(|(known, _)| *known == tau).map(|(_, most)| *most);
    RunGroup {
        title: group.title.unwrap_or_else(|| "Unknown".to_owned()),
        runs: group.runs,
        planned_turns: group.planned_turns,
        tau: group.tau,
        scale: scale(tau, most),
        share_scale: share_scale(&group.most_stamina),
        known: group.known,
    }
}

#[cfg(test)]
mod tests {
    use super::{scale, share_scale};

    /// Means up to 12 turns stood on an axis of 100 turns, at its left edge.
    #[test]
    fn means_over_several_numbers_of_turns_are_shares_of_them() {
        assert_eq!(share_scale(&[(12, 10.8), (15, 1.6), (100, 68.0)]), Some(1.0));
        // The published results of EvoCode-Bench: 2 of 7, 5.2 of 9 and 2.5 of 15 at most.
        assert_eq!(share_scale(&[(7, 2.0), (9, 5.2), (15, 2.5)]), Some(0.6));
        assert_eq!(share_scale(&[(7, 0.0), (9, 0.1)]), Some(0.04));
        // Pass rates need all of it.
        assert_eq!(share_scale(&[(1, 0.1), (9, 0.1)]), Some(1.0));
        // One τ has an axis of turns.
        assert_eq!((share_scale(&[(9, 5.2)]), share_scale(&[])), (None, None));
    }

    /// Where all means were below a half, their intervals were crowded at the left of a scale of one turn.
    #[test]
    fn a_scale_ends_where_its_values_do_and_at_tau_at_most() {
        let hundredths = |tau, greatest| (scale(tau, greatest) * 100.0).round() as u32;
        let cases = [
            (9, None, 900),
            (9, Some(8.2), 900),
            (9, Some(4.5), 900),
            (9, Some(4.4), 500),
            (9, Some(0.86), 100),
            (9, Some(0.5), 50),
            (9, Some(0.13), 20),
            (9, Some(0.02), 10),
            // Nothing but zeros: nothing says how fine the scale is.
            (9, Some(0.0), 100),
            // Of one turn there are pass rates.
            (1, Some(0.1), 100),
            (0, None, 100),
        ];
        for (tau, greatest, end) in cases {
            assert_eq!(hundredths(tau, greatest), end, "τ = {tau}, {greatest:?}");
        }
    }
}
