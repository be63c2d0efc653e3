//! The time to draw each kind: best and median of many, at the size of a column of ICML.
//!
//! `cargo run --release -p figures --example speed`

use std::io::Write as _;
use std::time::{Duration, Instant};

use analysis::survival::{Observation, kaplan_meier, summarize};
use figures::{
    Bands, BarRow, Bars, DifferenceRow, Differences, FailureClass, FailureGroup, FailureShares, Figure,
    FigureSpec, FirstFailuresComparison, Matrix, MatrixCell, Pair, PairedScenarios, Pareto, ParetoPoint,
    Retries, RetryPoint, RetrySeries, RunData, Scale, SeriesData, SeriesLabel, SharesForm,
    SurvivalComparison, Theme, draw, venue::Preset,
};

const RUNS: u8 = 8;
const TURNS: u32 = 100;

fn episodes(run: u8) -> Vec<Observation> {
    let turn = |i: u32| 1 + (i * 37 + u32::from(run) * 11) % TURNS;
    (0..1_000)
        .map(
            |i| {
                if i % 4 == 0 {
                    Observation::censored_after(turn(i))
                } else {
                    Observation::failed_at(turn(i))
                }
            },
        )
        .collect()
}

fn labels() -> impl Iterator<Item = SeriesLabel> {
    (0..RUNS).map(|i| SeriesLabel::new(format!("a-model-with-a-long-name-{i} · harness"), i))
}

fn series() -> Vec<SeriesData> {
    labels()
        .map(|label| {
            let episodes = episodes(label.color);
            let (points, summary) = (kaplan_meier(&episodes, TURNS), summarize(&episodes, Some(TURNS)));
            SeriesData { label, points, summary, highlight: true }
        })
        .collect()
}

fn kinds() -> Vec<(&'static str, Figure)> {
    let run = || {
        let SeriesData { label, points, summary, .. } = series().remove(0);
        RunData { name: label.name, points, summary, policy: "default".to_owned() }
    };
    let (mean, low, high) = (Some(20.0), Some(10.0), Some(30.0));
    let cell = |i: u32| MatrixCell {
        row: i / u32::from(RUNS),
        column: i % u32::from(RUNS),
        mean: Some(f64::from(i)),
        ci_low: low,
        ci_high: high,
        n: 20,
        simulated: false,
        doubtful: false,
        published: Vec::new(),
    };
    let names: Vec<String> = labels().map(|l| l.name).collect();
    vec![
        ("survival", Figure::Survival(run())),
        ("first failures", Figure::FirstFailures(run())),
        (
            "survival comparison",
            Figure::SurvivalComparison(SurvivalComparison {
                series: series(),
                reference: Some(0),
                tau: Some(TURNS),
                bands: Bands::All,
                at_risk: true,
                means: true,
                events: true,
            }),
        ),
        (
            "first failures comparison",
            Figure::FirstFailuresComparison(FirstFailuresComparison { series: series() }),
        ),
        (
            "differences",
            Figure::Differences(Differences {
                reference: SeriesLabel::new("reference", 0),
                rows: labels()
                    .map(|label| DifferenceRow {
                        label,
                        value: mean,
                        ci_low: low,
                        ci_high: high,
                        p: Some(0.03),
                    })
                    .collect(),
                axis: "Difference".to_owned(),
                scale: Scale::Linear,
                low: "fails earlier".to_owned(),
                high: "lasts longer".to_owned(),
                p_name: Some("p".to_owned()),
            }),
        ),
        (
            "paired, 100 scenarios",
            Figure::Paired(PairedScenarios {
                of_rates: false,
                first_turns: None,
                a: SeriesLabel::new("a", 0),
                b: SeriesLabel::new("b", 1),
                pairs: (0..100)
                    .map(|i| Pair {
                        scenario: format!("scenario_{i}"),
                        a: f64::from(i),
                        a_censored: i % 3 == 0,
                        b: f64::from(i * 7 % 100),
                        b_censored: false,
                    })
                    .collect(),
                mean: None,
            }),
        ),
        (
            "bars",
            Figure::Bars(Bars {
                measure: "Cost".to_owned(),
                unit: Some("$".to_owned()),
                rows: labels()
                    .map(|label| BarRow {
                        label,
                        value: mean,
                        ci_low: low,
                        ci_high: high,
                        instead: None,
                        note: None,
                        published: Vec::new(),
                    })
                    .collect(),
            }),
        ),
        (
            "pareto",
            Figure::Pareto(Pareto {
                points: labels()
                    .map(|label| ParetoPoint {
                        cost: Some(1.0 + f64::from(label.color)),
                        label,
                        mean,
                        ci_low: low,
                        ci_high: high,
                        n: Some(20),
                    })
                    .collect(),
                cost: "Cost per episode".to_owned(),
                unit: Some("$".to_owned()),
                scale: Scale::Log,
                tau: Some(TURNS),
                measure: None,
                measure_unit: None,
            }),
        ),
        (
            "matrix, 8 × 8",
            Figure::Matrix(Matrix {
                rows_name: "Harness".to_owned(),
                columns_name: "Model".to_owned(),
                rows: names.clone(),
                columns: names,
                cells: (0..u32::from(RUNS) * u32::from(RUNS)).map(cell).collect(),
                row_means: Vec::new(),
                column_means: Vec::new(),
                measure: "Mean stamina".to_owned(),
                tau: Some(TURNS),
            }),
        ),
        (
            "retries",
            Figure::Retries(Retries {
                series: labels()
                    .map(|label| RetrySeries {
                        label,
                        points: (0..10)
                            .map(|retries| RetryPoint { retries, mean, ci_low: low, ci_high: high })
                            .collect(),
                    })
                    .collect(),
                reference: Some(0),
                bands: Bands::Auto,
                published: Vec::new(),
                tau: Some(TURNS),
            }),
        ),
        (
            "failure shares, 20 × 8",
            Figure::FailureShares(FailureShares {
                classes: (0..20)
                    .map(|i| FailureClass { name: format!("class {i}"), harness: i > 14, pattern: None })
                    .collect(),
                groups: labels()
                    .map(|label| FailureGroup { label, counts: (1..=20).collect(), total: None })
                    .collect(),
                unit: "failed attempts".to_owned(),
                form: SharesForm::Auto,
            }),
        ),
    ]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let layout = Preset::parse("icml")?.layout();
    let mut out = std::io::stdout().lock();
    for (name, figure) in kinds() {
        let spec = FigureSpec::new(figure, layout, Theme::Print);
        let mut took: Vec<Duration> = (0..50)
            .map(|_| {
                let start = Instant::now();
                std::hint::black_box(draw(&spec));
                start.elapsed()
            })
            .collect();
        took.sort_unstable();
        writeln!(out, "{name:28} best {:>8.2?}  median {:>8.2?}", took[0], took[took.len() / 2])?;
    }
    Ok(())
}
