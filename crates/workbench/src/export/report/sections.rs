//! The sections of a report, in their order.

use figures::FigureSpec;
use figures::table::Table;

use super::super::{caption, preset_layout, tables};
use super::{Block, Drawn, Report, Section, attempts, words};
use crate::Workbench;
use crate::api::{
    ApiError, Bands, CompareRequest, Comparison, DisagreementMode, DisagreementRequest, DisagreementSort,
    FailureGrouping, FailureScope, FailuresRequest, FigureOf, GridSort, Measure, Nothing, Pairs, Retries,
    RetriesRequest,
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

/// Draws the figures of a report, all for one venue.
struct Figures<'a> {
    workbench: &'a Workbench,
    layout: figures::Layout,
    warnings: Vec<String>,
}

impl Figures<'_> {
    fn draw(&mut self, name: &str, figure: &FigureOf) -> Result<Block, ApiError> {
        let spec = self.workbench.figure_spec(figure)?;
        let spec = FigureSpec { layout: self.layout, theme: figures::Theme::Print, ..spec };
        self.warnings.extend(caption::cautions(&spec));
        let svg = figures::draw(&spec).svg;
        Ok(Block::Figure(Box::new(Drawn { name: name.to_owned(), caption: caption::of(&spec), svg, spec })))
    }
}

impl Workbench {
    /// The report of these runs; its figures are made for a venue.
    pub(in crate::export) fn report(&self, of: &CompareRequest, preset: &str) -> Result<Report, ApiError> {
        let mut figures =
            Figures { workbench: self, layout: preset_layout(preset, None)?, warnings: Vec::new() };
        let data = self.compare_runs(of.clone())?;
        let retries = self.get_retries(RetriesRequest { members: of.members.clone() })?;
        let several = data.members.len() > 1;
        let mut sections = vec![
            section("What this is", words::opening(&data)),
            section("Runs", vec![Block::Table(tables::runs(&data))]),
        ];
        if several {
            sections.push(section("What differs in their settings", settings(&data)));
        }
        sections.push(section("Survival", survival(&mut figures, of, &data)?));
        if several {
            sections.push(section("Differences", differences(&mut figures, of, &data)?));
            sections.push(section("Where they disagree", vec![disagreements(self, of)?]));
        }
        sections.push(section("Score and cost", measures(&mut figures, of, &data)?));
        let played = attempts::read(self, &data)?;
        sections.push(section("Attempts", vec![Block::Table(attempts::table(&played))]));
        if retries.series.iter().any(|s| s.points.len() > 1) {
            sections.push(section("Retries", by_budget(&mut figures, of, &retries)?));
        }
        sections.push(section("Failures", failures(&mut figures, of, &played)?));
        let episodes = tables::episodes(self, &of.members, GridSort::Scenario)?;
        sections.push(section("Scenarios", vec![table(episodes)]));
        let cautions = words::cautions(&data, &retries);
        if !cautions.is_empty() {
            sections.push(section("Cautions", vec![Block::List(cautions)]));
        }
        let policy = self.get_policy(Nothing {})?;
        sections.push(section("Method", words::method(&data, &policy)));
        let mut seen = std::collections::BTreeSet::new();
        figures.warnings.retain(|warning| seen.insert(warning.clone()));
        Ok(Report { title: words::title(&data), sections, warnings: figures.warnings })
    }
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.to_owned(), blocks }
}

/// More rows than this are folded up.
const MOST_ROWS: usize = 40;

fn table(table: Table) -> Block {
    if table.rows.len() > MOST_ROWS { Block::Long(table) } else { Block::Table(table) }
}

fn settings(data: &Comparison) -> Vec<Block> {
    let mut blocks = vec![Block::Text(words::comparability(data)), Block::Table(tables::settings(data))];
    if !data.equal.is_empty() {
        let equal =
            data.equal.iter().map(|(setting, value)| format!("{setting}: {value}")).collect::<Vec<_>>();
        blocks.push(Block::Text(format!("The same for all: {}.", equal.join("; "))));
    }
    blocks
}

fn survival(
    figures: &mut Figures<'_>,
    of: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    Ok(vec![
        figures.draw("survival", &FigureOf::Survival { of: of.clone(), bands: Bands::Auto })?,
        figures.draw("first-failures", &FigureOf::FirstFailures { of: of.clone() })?,
        Block::Table(tables::sensitivity(data)),
        table(tables::survival(data)),
    ])
}

fn differences(
    figures: &mut Figures<'_>,
    of: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![
        figures.draw("differences", &FigureOf::Differences { of: of.clone(), ratio: false })?,
        figures.draw("ratios", &FigureOf::Differences { of: of.clone(), ratio: true })?,
        Block::Text(words::overall(data)),
        Block::Table(tables::pairs(data)),
    ];
    // Each against the reference, whatever pairs are tested.
    let of = CompareRequest { pairs: Pairs::Reference, ..of.clone() };
    let data = figures.workbench.compare_runs(of.clone())?;
    let others: Vec<u32> = data.pairs.iter().filter(|p| p.paired.is_some()).map(|p| p.a).collect();
    for other in &others {
        let name = if others.len() == 1 { "paired".to_owned() } else { format!("paired-{}", other + 1) };
        blocks.push(figures.draw(&name, &FigureOf::Paired { of: of.clone(), other: *other })?);
    }
    if !others.is_empty() {
        blocks.push(table(tables::paired(&data, None)?));
    }
    Ok(blocks)
}

/// Turns on which members disagree, the first of them in the order of the page.
fn disagreements(workbench: &Workbench, of: &CompareRequest) -> Result<Block, ApiError> {
    let request = DisagreementRequest {
        members: of.members.clone(),
        reference: of.reference,
        mode: DisagreementMode::Different,
        sort: DisagreementSort::default(),
        text: String::new(),
        offset: 0,
        limit: 0,
    };
    Ok(table(tables::some_disagreements(workbench, &request, MOST_DISAGREEMENTS)?))
}

fn measures(
    figures: &mut Figures<'_>,
    of: &CompareRequest,
    data: &Comparison,
) -> Result<Vec<Block>, ApiError> {
    let mut blocks = vec![Block::Table(tables::spent(data))];
    if data.members.len() < 2 {
        return Ok(blocks);
    }
    let known = |value: &dyn Fn(&crate::api::ComparedMember) -> bool| {
        data.members.iter().filter(|member| value(member)).count() > 1
    };
    if known(&|member| member.spent.cost_per_episode.is_some()) {
        blocks.push(figures.draw("pareto", &FigureOf::Pareto { of: of.clone() })?);
    }
    for (measure, name) in MEASURES {
        if known(&|member| super::super::figure::measured(member, measure).0.is_some()) {
            blocks.push(figures.draw(name, &FigureOf::Bars { of: of.clone(), measure, published: false })?);
        }
    }
    Ok(blocks)
}

fn by_budget(
    figures: &mut Figures<'_>,
    of: &CompareRequest,
    retries: &Retries,
) -> Result<Vec<Block>, ApiError> {
    let members = RetriesRequest { members: of.members.clone() };
    Ok(vec![
        figures.draw("retries", &FigureOf::Retries { of: members, published: false })?,
        Block::Table(tables::gains(retries)),
        table(tables::retries(retries)),
    ])
}

fn failures(
    figures: &mut Figures<'_>,
    of: &CompareRequest,
    played: &[attempts::Played],
) -> Result<Vec<Block>, ApiError> {
    let request = FailuresRequest {
        members: of.members.clone(),
        group: FailureGrouping::Member,
        scope: FailureScope::Attempts,
        benchmark: None,
    };
    let data = figures.workbench.get_failures(request.clone())?;
    let mut blocks = vec![Block::Text(words::failures(&data))];
    if data.attempts > 0 {
        blocks.push(figures.draw("failures", &FigureOf::Failures { of: request })?);
        blocks.push(table(tables::shares(&data)));
        blocks.push(Block::Table(tables::origins(&data)));
        blocks.push(Block::Table(tables::repairs(&data)));
        blocks.push(table(tables::flips(&data)));
    }
    blocks.push(Block::Table(attempts::errors(played)));
    Ok(blocks)
}
