//! The sections of a report, in their order.

use figures::table::Table;
use figures::{Figure, FigureSpec, Method, Theme};
use model::PassRate;

use super::super::{caption, preset_layout, tables};
use super::{Block, Report, ReportFigure, Section, attempts, words};
use crate::Workbench;
use crate::api::{
    ApiError, Bands, CompareRequest, Comparison, DisagreementMode, DisagreementRequest, DisagreementSort,
    FailureGrouping, FailureScope, FailuresRequest, FigureSubject, GridSort, Measure, Nothing, Pairs,
    RetriesRequest, TableSubject, TaskMode, TasksRequest,
};

/// The most turns that the table of disagreements has; a page in the app has all.
const MOST_DISAGREEMENTS: u32 = 100;

/// What is measured as bars, with the word for its file.
const MEASURES: [(Measure, &str); 9] = [
    (Measure::Stamina, "bars-stamina"),
    (Measure::Score, "bars-score"),
    (Measure::Tokens, "bars-tokens"),
    (Measure::Cost, "bars-cost"),
    (Measure::Time, "bars-time"),
    (Measure::Steps, "bars-steps"),
    (Measure::StepsSurvived, "bars-steps-survived"),
    (Measure::ToolCalls, "bars-tool-calls"),
    (Measure::CostPerSurvivedTurn, "bars-cost-per-survived-turn"),
];

/// Makes the figures and tables of a report, all for one venue.
struct Figures<'a> {
    workbench: &'a Workbench,
    layout: figures::Layout,
    warnings: Vec<String>,
}

impl Figures<'_> {
    /// A figure, or why there is none.
    fn draw(&mut self, name: &str, figure: &FigureSubject) -> Result<Block, ApiError> {
        let spec = self.workbench.figure_spec(figure)?;
        let spec = FigureSpec { layout: self.layout, theme: Theme::Print, ..spec };
        if let Some(reason) = figures::export::drawing_refusal(&spec) {
            let sentence = format!("The figure \"{name}\" is left out: {reason}.");
            self.warnings.push(sentence.clone());
            return Ok(Block::Text(sentence));
        }
        self.warnings.extend(caption::cautions(&spec));
        let svg = figures::draw(&spec).svg;
        Ok(Block::Figure(Box::new(ReportFigure {
            name: name.to_owned(),
            caption: figures::caption(&spec),
            svg,
            spec,
        })))
    }

    /// A table that can be exported on its own, too.
    fn table(&self, subject: &TableSubject) -> Result<Block, ApiError> {
        Ok(block(self.workbench.table_spec(subject, self.layout, Theme::Print)?))
    }

    /// A table that only reports have.
    fn own_table(&self, table: Table, method: Method) -> Block {
        block(FigureSpec::new(Figure::Table(table), self.layout, Theme::Print).with_method(method))
    }
}

/// More rows than this are folded up.
const MOST_ROWS: usize = 40;

fn block(table: FigureSpec) -> Block {
    let long = matches!(&table.figure, Figure::Table(table) if table.rows.len() > MOST_ROWS);
    if long { Block::Long(Box::new(table)) } else { Block::Table(Box::new(table)) }
}

impl Workbench {
    /// The report of these runs; its figures are made for a venue.
    pub(in crate::export) fn report(
        &self,
        request: &CompareRequest,
        preset: &str,
    ) -> Result<Report, ApiError> {
        let mut figures =
            Figures { workbench: self, layout: preset_layout(preset, None)?, warnings: Vec::new() };
        let data = self.compare_runs(request.clone())?;
        let retries = self
            .get_retries(RetriesRequest { members: request.members.clone(), ..RetriesRequest::default() })?;
        let several = data.members.len() > 1;
        let mut sections = vec![
            section("What this is", words::opening(&data)),
            section("Runs", vec![figures.table(&TableSubject::Runs { request: request.clone() })?]),
        ];
        if several {
            sections.push(section("What differs in their settings", settings(&figures, request, &data)?));
        }
        if data.of_one_turn {
            sections.push(section("Pass rates", pass_rates(&mut figures, request, &data)?));
            if several {
                let pairs = figures.table(&TableSubject::Pairs { request: request.clone() })?;
                sections.push(section("Differences", vec![Block::Text(words::overall(&data)), pairs]));
            }
            sections.push(section("Tasks", tasks(&figures, request)?));
        } else {
            sections.push(section("Survival", survival(&mut figures, request)?));
            if several {
                sections.push(section("Differences", differences(&mut figures, request, &data)?));
                sections.push(section("Where they disagree", vec![disagreements(&figures, request)?]));
            }
        }
        if data.members.iter().any(|member| member.scores.is_some()) {
            sections.push(section("Scores of turns", scores(&figures, request, &data)?));
        }
        sections.push(section("Score and cost", measures(&mut figures, request, &data)?));
        let played = attempts::read(self, &data)?;
        let heading = if data.of_one_turn { "Attempts" } else { "Attempts and turns" };
        sections.push(section(heading, by_attempt_and_turn(&figures, request, &data, &played)?));
        if retries.series.iter().any(|s| s.points.len() > 1) {
            sections.push(section("Retries", by_budget(&mut figures, request)?));
        }
        sections.push(section("Failures", failures(&mut figures, request, &data, &played)?));
        let heading = if data.of_one_turn { "Trials" } else { "Scenarios" };
        sections.push(section(heading, scenarios(&figures, request, &data)?));
        let cautions = words::cautions(&data, &retries);
        if !cautions.is_empty() {
            sections.push(section("Cautions", vec![Block::List(cautions)]));
        }
        let policy = self.get_policy(Nothing {})?;
        sections.push(section("Method", words::method(&data, &policy)));
        let mut seen_warnings = std::collections::BTreeSet::new();
        figures.warnings.retain(|warning| seen_warnings.insert(warning.clone()));
        Ok(Report { title: words::title(&data), sections, warnings: figures.warnings })
    }
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.to_owned(), blocks }
}

fn settings(
    figures: &Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![
        Block::Text(words::comparability(data)),
        figures.table(&TableSubject::Settings { request: request.clone() })?,
    ];
    let equal: Vec<String> = (data.equal.iter())
        .filter(|(setting, _)| !tables::stands_in_settings(setting, data))
        .map(|(setting, value)| format!("{setting}: {value}"))
        .collect();
    if !equal.is_empty() {
        blocks.push(Block::Text(format!("The same for all: {}.", equal.join("; "))));
    }
    Ok(blocks)
}

fn survival(figures: &mut Figures<'_>, request: &CompareRequest) -> Result<Vec<Block>, ApiError> {
    Ok(vec![
        figures
            .draw("survival", &FigureSubject::Survival { request: request.clone(), bands: Bands::Auto })?,
        figures.draw("first-failures", &FigureSubject::FirstFailures { request: request.clone() })?,
        figures.table(&TableSubject::Sensitivity { request: request.clone() })?,
        figures.table(&TableSubject::Survival { request: request.clone() })?,
    ])
}

/// Of members that play one turn: a curve of one step and differences of mean stamina say no more.
fn pass_rates(
    figures: &mut Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let tasks = || TasksRequest { members: request.members.clone(), ..TasksRequest::default() };
    let mut blocks = Vec::new();
    if data.members.len() > 1 {
        let figure =
            FigureSubject::Bars { request: request.clone(), measure: Measure::PassRate, published: false };
        blocks.push(figures.draw("bars-pass-rate", &figure)?);
    }
    blocks.push(figures.table(&TableSubject::PerTask { request: tasks() })?);
    if data.members.iter().any(|member| member.pass_rate.as_ref().is_some_and(PassRate::repeats)) {
        blocks.push(figures.table(&TableSubject::PassAtK { request: tasks() })?);
    }
    blocks.push(figures.table(&TableSubject::Sensitivity { request: request.clone() })?);
    Ok(blocks)
}

/// Who solves what, and what it took.
fn tasks(figures: &Figures<'_>, compare_request: &CompareRequest) -> Result<Vec<Block>, ApiError> {
    let request =
        |mode| TasksRequest { members: compare_request.members.clone(), mode, ..TasksRequest::default() };
    let mut blocks = Vec::new();
    if compare_request.members.len() > 1 {
        blocks.push(figures.table(&TableSubject::TaskGrid { request: request(TaskMode::OnlyOne) })?);
        blocks.push(figures.table(&TableSubject::TaskGrid { request: request(TaskMode::All) })?);
    }
    blocks.push(figures.table(&TableSubject::Tasks { request: request(TaskMode::All) })?);
    Ok(blocks)
}

fn differences(
    figures: &mut Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![
        figures
            .draw("differences", &FigureSubject::Differences { request: request.clone(), ratio: false })?,
        figures.draw("ratios", &FigureSubject::Differences { request: request.clone(), ratio: true })?,
        Block::Text(words::overall(data)),
        figures.table(&TableSubject::Pairs { request: request.clone() })?,
    ];
    // Each against the reference, whatever pairs are tested.
    let paired_request = CompareRequest { pairs: Pairs::Reference, ..request.clone() };
    let data = figures.workbench.compare_runs(paired_request.clone())?;
    let others: Vec<u32> = data.pairs.iter().filter(|p| p.paired.is_some()).map(|p| p.a).collect();
    for other in &others {
        let name = if others.len() == 1 { "paired".to_owned() } else { format!("paired-{}", other + 1) };
        blocks.push(
            figures.draw(&name, &FigureSubject::Paired { request: paired_request.clone(), other: *other })?,
        );
    }
    if !others.is_empty() {
        blocks.push(figures.table(&TableSubject::Paired { request: paired_request, other: None })?);
    }
    Ok(blocks)
}

/// Turns on which members disagree, the first of them in the order of the page.
fn disagreements(figures: &Figures<'_>, compare_request: &CompareRequest) -> Result<Block, ApiError> {
    let request = DisagreementRequest {
        members: compare_request.members.clone(),
        reference: compare_request.reference,
        mode: DisagreementMode::Different,
        sort: DisagreementSort::default(),
        text: String::new(),
        offset: 0,
        limit: 0,
    };
    let table = tables::some_disagreements(figures.workbench, &request, MOST_DISAGREEMENTS)?;
    let method = figures.workbench.table_method(&TableSubject::Disagreements { request })?;
    Ok(figures.own_table(table, method))
}

/// Scores of turns that are graded by themselves, and what others published of the same tasks.
fn scores(
    figures: &Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![figures.table(&TableSubject::Scores { request: request.clone() })?];
    if !data.published_scores.is_empty() {
        let table = tables::published_numbers("Published scores of the same tasks", &data.published_scores);
        let note = "What others published, as their sources state it".to_owned();
        blocks.push(figures.own_table(table, Method { notes: vec![note], ..Method::default() }));
    }
    Ok(blocks)
}

fn measures(
    figures: &mut Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![figures.table(&TableSubject::Spent { request: request.clone() })?];
    if data.members.len() < 2 {
        return Ok(blocks);
    }
    let known = |value: &dyn Fn(&crate::api::ComparedMember) -> bool| {
        data.members.iter().filter(|member| value(member)).count() > 1
    };
    if !data.of_one_turn && known(&|member| member.spent.cost_per_episode.is_some()) {
        blocks.push(figures.draw("pareto", &FigureSubject::Pareto { request: request.clone() })?);
    }
    for (measure, name) in MEASURES {
        // Over one turn these say the same as the pass rate.
        if data.of_one_turn && matches!(measure, Measure::Stamina | Measure::StepsSurvived) {
            continue;
        }
        if known(&|member| super::super::figure::measured(member, measure).0.is_some()) {
            blocks.push(
                figures.draw(
                    name,
                    &FigureSubject::Bars { request: request.clone(), measure, published: false },
                )?,
            );
        }
    }
    Ok(blocks)
}

fn by_attempt_and_turn(
    figures: &Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
    played: &[attempts::MemberAttempts],
) -> Result<Vec<Block>, ApiError> {
    let method = figures.workbench.episodes_method(&request.members)?;
    let mut blocks = vec![figures.own_table(attempts::table(played), method)];
    blocks.push(match attempts::endpoint_table(played) {
        Some(table) => {
            let note = "Counts of the runner, as the sources of the runs state them".to_owned();
            figures.own_table(table, Method { notes: vec![note], ..Method::default() })
        }
        None => Block::Text(words::ENDPOINT_NOT_COUNTED.to_owned()),
    });
    if !data.of_one_turn {
        blocks.push(figures.table(&TableSubject::ByTurn { members: request.members.clone() })?);
    }
    Ok(blocks)
}

fn by_budget(figures: &mut Figures<'_>, request: &CompareRequest) -> Result<Vec<Block>, ApiError> {
    let retries_request = RetriesRequest { members: request.members.clone(), ..RetriesRequest::default() };
    Ok(vec![
        figures.draw(
            "retries",
            &FigureSubject::Retries { request: retries_request.clone(), published: false },
        )?,
        figures.table(&TableSubject::Gains { request: retries_request.clone() })?,
        figures.table(&TableSubject::Retries { request: retries_request })?,
    ])
}

fn failures(
    figures: &mut Figures<'_>,
    compare_request: &CompareRequest,
    compared: &Comparison,
    played: &[attempts::MemberAttempts],
) -> Result<Vec<Block>, ApiError> {
    let request = FailuresRequest {
        members: compare_request.members.clone(),
        group: FailureGrouping::Member,
        scope: FailureScope::First,
        benchmark: None,
    };
    let data = figures.workbench.get_failures(request.clone())?;
    let not_passed = attempts::not_passed(figures.workbench, compared)?;
    let one_turn = compared.of_one_turn;
    let mut blocks = vec![Block::Text(words::failures(&data, not_passed, one_turn))];
    let failures_request = || request.clone();
    if data.attempts > 0 {
        blocks.push(figures.draw("failures", &FigureSubject::Failures { request: failures_request() })?);
        blocks.push(figures.table(&TableSubject::Failures { request: failures_request() })?);
    }
    // In one turn that was tried once nothing is repaired or flips.
    let is_repeated = !one_turn || data.repair.tried_again > 0;
    if data.attempts > 0 && is_repeated {
        blocks.push(figures.table(&TableSubject::Origins { request: failures_request() })?);
    }
    // These are over every attempt, also where no end counts as a failure.
    if (data.repair.failed_first > 0 || data.repair.stretches > 0) && is_repeated {
        blocks.push(figures.table(&TableSubject::Repairs { request: failures_request() })?);
        blocks.push(figures.table(&TableSubject::RepairTimes { request: failures_request() })?);
        blocks.push(figures.table(&TableSubject::Flips { request: failures_request() })?);
    }
    let method = figures.workbench.episodes_method(&compare_request.members)?;
    blocks.push(figures.own_table(attempts::errors(played), method));
    Ok(blocks)
}

/// Every episode, and every turn of it where they have more than one.
fn scenarios(
    figures: &Figures<'_>,
    request: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let (members, sort) = (&request.members, GridSort::Scenario);
    let mut blocks = vec![figures.table(&TableSubject::Episodes { members: members.clone(), sort })?];
    if !data.of_one_turn {
        blocks.push(figures.table(&TableSubject::Turns { members: members.clone(), sort })?);
    }
    Ok(blocks)
}
