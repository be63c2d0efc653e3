//! From what a figure is about to a spec with its data: the numbers are those of the pages' own commands.

use analysis::survival::{RestrictedMean, StaminaSummary, SurvivalPoint};
use figures::{
    BarRow, Bars, DifferenceRow, Differences, Drawing, FailureClass, FailureGroup, FailureShares, Figure,
    FigureSpec, FirstFailuresComparison, Layout, Mark, Method, Pair, PairedMean, PairedScenarios, Pareto,
    ParetoPoint, PublishedPoint, Retries, RetryPoint, RetrySeries, Scale, SeriesData, SeriesLabel,
    SharesForm, SurvivalComparison, Theme,
};
use model::PassRate;

use super::paired_turns::counted_turns;
use super::percent::percent;
use super::scenario_names::ScenarioNames;
use super::tables::repeats_note;
use super::{class_patterns, matrix, measure_names, method, plane};

use crate::Workbench;
use crate::api::{
    self, ApiError, Bands, CompareRequest, ComparedMember, Comparison, FailureGrouping, FigureMark,
    FigureSubject, Measure, Nothing, Pairs, PublishedNumber, SessionsRequest, Stamina, SurvivalRow,
};
use crate::compare::members;
use crate::published;

/// Most runs of a plane.
const MOST_RUNS: usize = 50;

impl Workbench {
    /// A figure with its data; place and colors are still to be chosen.
    pub(super) fn figure_spec(&self, selection: &FigureSubject) -> Result<FigureSpec, ApiError> {
        let (figure, method) = match selection {
            FigureSubject::Survival { request, bands } => {
                let data = self.compare_runs(request.clone())?;
                let method = Method { tau: data.tau, ..self.method_with_doubts(&data)? };
                let repeats = data.members.iter().any(|member| member.stamina.clustered);
                let repeats = repeats.then(|| repeats_note(data.of_one_turn).to_owned()).into_iter();
                let notes = repeats.chain(method::passed_are_censored(&data)).collect();
                (survival(&data, *bands), method::with_notes(method, notes))
            }
            FigureSubject::FirstFailures { request } => {
                let data = self.compare_runs(request.clone())?;
                let figure = FirstFailuresComparison { series: series(&data.members) };
                let notes = method::passed_are_censored(&data);
                let method = method::with_notes(self.method_with_doubts_of_sums(&data)?, notes);
                (Figure::FirstFailuresComparison(figure), method)
            }
            FigureSubject::Differences { request, ratio } => {
                let data =
                    self.compare_runs(CompareRequest { pairs: Pairs::Reference, ..request.clone() })?;
                // Holm's correction is over the pairs that the figure shows.
                let method = method::differences(self.method_with_doubts(&data)?, &data, *ratio);
                (Figure::Differences(differences(&data, *ratio)?), method)
            }
            FigureSubject::Paired { request, other } => {
                let data =
                    self.compare_runs(CompareRequest { pairs: Pairs::Reference, ..request.clone() })?;
                let method = method::paired(self.method_with_doubts_of_sums(&data)?, &data, *other);
                let pools = members::resolve(&self.store, &request.members)?;
                let figure = paired(&data, *other, &ScenarioNames::from_pools(&pools))?;
                let first_turns = counted_turns(&data, *other, &pools);
                (Figure::Paired(PairedScenarios { first_turns, ..figure }), method)
            }
            FigureSubject::Bars { request, measure, published } => {
                let data = self.compare_runs(request.clone())?;
                let with_doubts = match measure {
                    Measure::Stamina | Measure::PassRate => self.method_with_doubts(&data)?,
                    _ => self.method_with_doubts_of_sums(&data)?,
                };
                let method = method::bars(with_doubts, &data, *measure);
                let beside_member = |member: &ComparedMember| {
                    if !*published || *measure != Measure::Stamina {
                        return Ok(Vec::new());
                    }
                    let pair = (member.harness.as_deref(), member.model.as_deref());
                    self.published_beside(&published::numbers(&member.benchmark.0), pair, &member.runs)
                };
                let beside = data.members.iter().map(beside_member).collect::<Result<Vec<_>, ApiError>>()?;
                let mut notes = matrix::left_out(beside.iter().flatten(), &[], data.tau);
                if *published && beside.iter().all(Vec::is_empty) {
                    notes.push(matrix::none_beside(&data, *measure));
                }
                let method = method::with_notes(method, notes);
                (Figure::Bars(bars(&data, *measure, &beside)), method)
            }
            FigureSubject::Pareto { request } => {
                let data = self.compare_runs(request.clone())?;
                (Figure::Pareto(pareto(&data)), method::pareto(self.method_with_doubts(&data)?, &data))
            }
            FigureSubject::Plane { runs } => {
                if runs.is_empty() || runs.len() > MOST_RUNS {
                    let message = format!("A plane is of 1 to {MOST_RUNS} runs of LoCoBench-Agent");
                    return Err(ApiError::new("export.figure", message).hint("`stamina runs` lists them"));
                }
                let sessions = runs.iter().map(|run| self.list_sessions(SessionsRequest::all(run)));
                let sessions = sessions.collect::<Result<Vec<_>, _>>()?;
                let notes = self.sessions_in_several(runs)?;
                let (figure, method) = plane::figure(&sessions);
                (Figure::Plane(figure), method::with_notes(method, notes))
            }
            FigureSubject::Matrix { request, published } => {
                let data = self.get_matrix(request.clone())?;
                let method = method::matrix(self.policy_method(&data.policy)?, &data);
                let method = method::with_notes(method, method::matrix_comparability_notes(&data));
                let method = method::with_notes(method, crate::matrix::doubts(&data));
                if !*published {
                    return Ok(printed(Figure::Matrix(matrix::figure(&data, None)), method));
                }
                let beside = self.beside_cells(&data)?;
                let method = method::with_notes(method, matrix::not_in_matrix(&data, &beside));
                (Figure::Matrix(matrix::figure(&data, Some(&beside))), method)
            }
            FigureSubject::Retries { request, published } => {
                let data = self.get_retries(request.clone())?;
                let policy = self.get_policy(Nothing {})?.name;
                let method = method::retries(self.policy_method(&policy)?, &data);
                let not_drawn = matrix::not_drawn(&data.published, data.tau)
                    .or_else(|| matrix::none_published(&data.published))
                    .filter(|_| *published);
                let notes = not_drawn.into_iter().chain(self.withdrawn_marks(&request.members)?).collect();
                let method = method::with_notes(method, notes);
                (Figure::Retries(retries(&data, *published)), method)
            }
            FigureSubject::Failures { request } => {
                let (data, pools) = self.failures_with_pools(request)?;
                let policy = self.get_policy(Nothing {})?.name;
                let episodes = self.episodes_of_pools(&pools)?;
                let method = method::failures(self.policy_method(&policy)?, &data, request.scope, episodes);
                let method = method::with_notes(method, method::failure_cautions(&data));
                (Figure::FailureShares(failure_shares(&data, request.group)), method)
            }
        };
        Ok(printed(figure, method))
    }
}

/// A spec whose place and colors are still to be chosen.
fn printed(figure: Figure, method: Method) -> FigureSpec {
    FigureSpec::new(figure, Layout::print(234.0), Theme::Print).with_method(method)
}

/// Classes of failures by group, without those that no attempt has as its own: they stand at the end, so that the others keep
/// their places.
fn failure_shares(data: &api::Failures, group: FailureGrouping) -> FailureShares {
    let counted = data.total.shares.iter().filter(|share| share.attempts > 0);
    let counted: Vec<&str> = counted.map(|share| share.class.as_str()).collect();
    let drawn: Vec<_> = data.classes.iter().filter(|class| counted.contains(&class.class.as_str())).collect();
    let classes = drawn
        .iter()
        .map(|c| FailureClass {
            name: c.label.clone(),
            harness: c.side == "harness",
            pattern: class_patterns::pattern(&c.class),
        })
        .collect();
    let groups = (0_u8..).zip(&data.groups).map(|(index, group)| FailureGroup {
        label: SeriesLabel { simulated: group.simulated, ..SeriesLabel::new(group.label.clone(), index) },
        counts: drawn
            .iter()
            .map(|c| group.shares.iter().find(|s| s.class == c.class).map_or(0, |s| s.attempts))
            .collect(),
        total: Some(group.attempts),
    });
    let form = match group {
        FailureGrouping::Member | FailureGrouping::Harness => SharesForm::Auto,
        FailureGrouping::Turn | FailureGrouping::Attempt => SharesForm::Stacked,
    };
    FailureShares { groups: groups.take(200).collect(), classes, unit: "failed attempts".to_owned(), form }
}

/// Colors and marks count from 1 on the pages and from 0 in figures.
fn label(member: &ComparedMember) -> SeriesLabel {
    marked(&member.name, member.style, member.simulated)
}

fn marked(name: &str, style: api::SeriesStyle, simulated: bool) -> SeriesLabel {
    let index = |n: u32| u8::try_from(n.saturating_sub(1)).unwrap_or(0);
    let (mark, marker) = (index(style.dash), index(style.marker));
    SeriesLabel {
        name: name.to_owned(),
        color: index(style.color),
        mark,
        marker: Some(marker).filter(|marker| *marker != mark),
        simulated,
    }
}

fn summary(stamina: &Stamina) -> StaminaSummary {
    StaminaSummary {
        restricted_mean: RestrictedMean {
            mean: stamina.mean,
            ci_low: stamina.ci_low,
            ci_high: stamina.ci_high,
            standard_error: None,
            tau: stamina.tau,
        },
        n: stamina.n,
        events: stamina.events,
        censored: stamina.censored,
        median: stamina.median,
    }
}

/// A survival table as it is drawn: where S is unknown the points repeat the last known value, see [`SurvivalPoint`].
fn points(rows: &[SurvivalRow]) -> Vec<SurvivalPoint> {
    let mut last = 1.0;
    rows.iter()
        .map(|row| {
            last = row.survival.unwrap_or(last);
            SurvivalPoint {
                turn: row.turn,
                at_risk: row.at_risk,
                events: row.events,
                censored: row.censored,
                survival: last,
                ci_low: row.ci_low,
                ci_high: row.ci_high,
            }
        })
        .collect()
}

fn series(members: &[ComparedMember]) -> Vec<SeriesData> {
    members
        .iter()
        .map(|member| SeriesData {
            label: label(member),
            points: points(&member.survival),
            summary: summary(&member.stamina),
            highlight: true,
        })
        .collect()
}

fn survival(data: &Comparison, bands: Bands) -> Figure {
    Figure::SurvivalComparison(SurvivalComparison {
        series: series(&data.members),
        reference: (data.members.len() > 1).then_some(data.reference),
        tau: data.tau,
        bands: match bands {
            Bands::Auto => figures::Bands::Auto,
            Bands::All => figures::Bands::All,
            Bands::None => figures::Bands::None,
        },
        at_risk: true,
        means: false,
        events: true,
    })
}

fn reference(data: &Comparison) -> Result<&ComparedMember, ApiError> {
    data.members.get(data.reference as usize).ok_or_else(|| {
        ApiError::new("export.reference", "There is nothing to compare with")
            .hint("Choose at least two runs, one of them as the reference")
    })
}

/// Estimates of members against the reference; their p is corrected over these pairs.
fn differences(data: &Comparison, ratio: bool) -> Result<Differences, ApiError> {
    // Of runs of one turn the pass rates are compared, as everywhere else.
    let rates = data.of_one_turn && !ratio;
    let shown = |value: f64| if rates { percent(value) } else { value };
    let rows =
        (0_u32..).zip(&data.members).filter(|(index, _)| *index != data.reference).map(|(index, member)| {
            let pair = data.pairs.iter().find(|p| (p.a, p.b) == (index, data.reference));
            let estimate = pair.and_then(|p| match (ratio, rates) {
                (true, _) => p.ratio,
                (false, true) => p.pass_rate_difference,
                (false, false) => p.difference,
            });
            DifferenceRow {
                label: label(member),
                value: estimate.map(|e| shown(e.value)),
                ci_low: estimate.and_then(|e| e.ci_low).map(shown),
                ci_high: estimate.and_then(|e| e.ci_high).map(shown),
                p: pair.and_then(|p| p.p_holm),
            }
        });
    Ok(Differences {
        reference: label(reference(data)?),
        rows: rows.collect(),
        axis: match (ratio, data.of_one_turn) {
            (true, true) => "Ratio of pass rates",
            (true, false) => "Ratio of mean stamina",
            (false, true) => "Difference in pass rate (percentage points)",
            (false, false) => "Difference in mean stamina (turns)",
        }
        .to_owned(),
        scale: if ratio { Scale::Log } else { Scale::Linear },
        low: if data.of_one_turn { "passes less" } else { "fails earlier" }.to_owned(),
        high: if data.of_one_turn { "passes more" } else { "lasts longer" }.to_owned(),
        p_name: data.holm_pairs().map(|pairs| format!("p (log-rank, Holm over {pairs})")),
    })
}

fn paired(data: &Comparison, other: u32, names: &ScenarioNames) -> Result<PairedScenarios, ApiError> {
    let member = data.members.get(other as usize).filter(|_| other != data.reference).ok_or_else(|| {
        ApiError::new("export.paired", format!("There is no other member {other} in this comparison"))
            .hint(format!("Members are counted from 0; {} is the reference", data.reference))
    })?;
    let pair = data.pairs.iter().find(|p| (p.a, p.b) == (other, data.reference));
    let Some(found) = pair.and_then(|p| p.paired.as_ref()) else {
        let reference_member = reference(data)?;
        let reason =
            pair.map(|pair| pair.not_paired(&member.marked(), &reference_member.marked(), data.of_one_turn));
        let reason = reason.unwrap_or_default();
        return Err(ApiError::new("export.paired", reason.trim_end_matches('.'))
            .hint("Compare runs of one benchmark, none of which is in both members"));
    };
    // On the pages a difference is "other − reference"; so it is here, with the reference as a.
    let shown = |value: f64| if data.of_one_turn { percent(value) } else { value };
    let names = names.in_all_sets();
    let pairs = found.scenarios.iter().map(|row| Pair {
        scenario: names.get(row.scenario.as_str()).copied().unwrap_or(&row.scenario).to_owned(),
        a: shown(row.b),
        a_censored: row.b_at_least,
        b: shown(row.a),
        b_censored: row.a_at_least,
    });
    Ok(PairedScenarios {
        of_rates: data.of_one_turn,
        first_turns: None,
        a: label(reference(data)?),
        b: label(member),
        pairs: pairs.collect(),
        mean: Some(PairedMean {
            value: shown(found.mean),
            ci_low: found.ci_low.map(shown),
            ci_high: found.ci_high.map(shown),
            p: found.p,
        }),
    })
}

/// What a member has of a measure, with an interval where it has one.
pub(super) fn measured(member: &ComparedMember, measure: Measure) -> (Option<f64>, Option<f64>, Option<f64>) {
    let spent = &member.spent;
    match measure {
        Measure::Stamina => (member.stamina.mean, member.stamina.ci_low, member.stamina.ci_high),
        Measure::PassRate => {
            let rate = member.pass_rate.as_ref();
            let part = |value_of: fn(&PassRate) -> Option<f64>| rate.and_then(value_of).map(percent);
            (part(|rate| rate.value), part(|rate| rate.ci_low), part(|rate| rate.ci_high))
        }
        Measure::Score => (member.score, None, None),
        Measure::Tokens => (spent.tokens_per_turn, None, None),
        Measure::Cost => (spent.cost_per_episode, None, None),
        Measure::Time => (spent.seconds_per_turn, None, None),
        Measure::Steps => (spent.steps_per_turn, None, None),
        Measure::StepsSurvived => (spent.steps_survived, None, None),
        Measure::ToolCalls => (spent.tool_calls_per_turn, None, None),
        Measure::CostPerSurvivedTurn => (spent.cost_per_survived_turn, None, None),
    }
}

/// `beside`: for each member, the published numbers that may stand beside it.
fn bars(data: &Comparison, measure: Measure, beside: &[Vec<matrix::PublishedBeside>]) -> Bars {
    let one_turn = data.of_one_turn;
    let (name, unit) = measure_names::name_and_unit(measure, one_turn);
    let rows = data.members.iter().zip(beside).map(|(member, beside)| {
        let (value, ci_low, ci_high) = measured(member, measure);
        let n = match &member.pass_rate {
            Some(rate) if measure == Measure::PassRate => rate.trials,
            _ => member.stamina.n,
        };
        let counted = matches!(measure, Measure::Stamina | Measure::PassRate);
        // A number over some of them is that of others than the figure shows elsewhere.
        let note = method::known_in_part(member, measure, one_turn)
            .map(|known| format!("known for {known}"))
            .or_else(|| counted.then(|| format!("n = {n}")));
        let instead = (measure == Measure::CostPerSurvivedTurn && member.spent.no_turn_survived)
            .then(|| member.spent.instead_of_cost_per_survived_turn(one_turn).to_owned());
        let published = matrix::published_alike(beside, data.tau);
        BarRow { label: label(member), value, ci_low, ci_high, instead, note, published }
    });
    Bars { measure: name.to_owned(), unit: unit.map(str::to_owned), rows: rows.collect() }
}

fn pareto(data: &Comparison) -> Pareto {
    // Over one turn mean stamina is the pass rate, which is what every page shows of these runs.
    let measure = if data.of_one_turn { Measure::PassRate } else { Measure::Stamina };
    let points: Vec<ParetoPoint> = data
        .members
        .iter()
        .map(|member| {
            let (mean, ci_low, ci_high) = measured(member, measure);
            let n = match &member.pass_rate {
                Some(rate) if data.of_one_turn => rate.trials,
                _ => member.stamina.n,
            };
            let cost = member.spent.cost_per_episode;
            ParetoPoint { label: label(member), cost, mean, ci_low, ci_high, n: Some(n) }
        })
        .collect();
    let costs: Vec<f64> = points.iter().filter_map(|p| p.cost).collect();
    let (low, high) = costs.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), c| (l.min(*c), h.max(*c)));
    // Prices of models lie factors apart; equal steps would press the cheap ones together.
    let scale = if low > 0.0 && high / low > 20.0 { Scale::Log } else { Scale::Linear };
    Pareto {
        points,
        cost: measure_names::name_and_unit(Measure::Cost, data.of_one_turn).0.to_owned(),
        unit: Some("US$".to_owned()),
        scale,
        tau: data.tau.filter(|_| !data.of_one_turn),
        measure: data.of_one_turn.then(|| "Pass rate".to_owned()),
        measure_unit: data.of_one_turn.then(|| "%".to_owned()),
    }
}

fn retries(data: &api::Retries, published: bool) -> Retries {
    let series = data.series.iter().map(|series| RetrySeries {
        label: marked(&series.name, series.style, series.simulated),
        points: series
            .points
            .iter()
            .map(|point| RetryPoint {
                retries: point.retries,
                mean: point.stamina.mean,
                ci_low: point.stamina.ci_low,
                ci_high: point.stamina.ci_high,
            })
            .collect(),
    });
    let laid_over =
        data.published.iter().filter(|p| published && matrix::is_over(p, data.tau)).filter_map(|p| {
            let name = p.harness.as_ref().map_or_else(|| p.model.clone(), |h| format!("{} · {h}", p.model));
            Some(PublishedPoint {
                label: SeriesLabel { name, color: 7, ..SeriesLabel::default() },
                retries: p.retries?,
                mean: p.value,
                source: matrix::source(&PublishedNumber { retries: None, ..p.clone() }),
            })
        });
    Retries {
        published: laid_over.collect(),
        series: series.collect(),
        reference: None,
        bands: figures::Bands::Auto,
        tau: data.tau,
    }
}

/// What can be pointed at in a drawing, as the pages know it: whose, and which of its data.
pub(super) fn marks(subject: &FigureSubject, figure: &Figure, drawing: &Drawing) -> Vec<FigureMark> {
    let mut marks: Vec<FigureMark> = drawing.marks.iter().map(|m| mark(subject, figure, m)).collect();
    // A turn is pointed at anywhere over its column, down to the rows of the table.
    let rows = drawing.marks.iter().filter(|m| m.id.starts_with("row-")).map(|m| m.y0);
    let bottom = rows.fold(drawing.height, f64::min);
    marks.extend(drawing.hits.iter().map(|hit| FigureMark {
        series: 0,
        item: Some(hit.turn),
        x0: hit.x0,
        y0: 0.0,
        x1: hit.x1,
        y1: bottom,
        lines: hit.lines.clone(),
    }));
    marks
}

fn mark(selection: &FigureSubject, figure: &Figure, mark: &Mark) -> FigureMark {
    let mut numbers = mark.id.split('-').skip(1).map_while(|part| part.parse::<u32>().ok());
    let (first, second) = (numbers.next().unwrap_or(0), numbers.next());
    let (series, item) = match (selection, figure) {
        // Row and column: with published numbers a figure may have more of both than the matrix of the page.
        (_, Figure::Matrix(_)) => (first, second),
        (FigureSubject::Paired { other, .. }, _) => (*other, Some(first)),
        // The rows of a forest leave the reference out.
        (FigureSubject::Differences { request, .. }, _) => {
            (if first < request.reference { first } else { first + 1 }, None)
        }
        // Published numbers stand behind the members.
        (_, Figure::Retries(data)) if mark.series.is_none() => (data.series.len() as u32 + first, None),
        _ => (mark.series.unwrap_or(first), second),
    };
    FigureMark { series, item, x0: mark.x0, y0: mark.y0, x1: mark.x1, y1: mark.y1, lines: mark.lines.clone() }
}
