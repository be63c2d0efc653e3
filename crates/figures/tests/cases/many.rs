//! Figures of several runs for tests of drawings.

use analysis::survival::Observation;
use figures::{
    Bands, BarRow, Bars, DifferenceRow, Differences, FailureClass, FailureGroup, FailureShares, Figure,
    FirstFailuresComparison, Margin, Matrix, MatrixCell, Pair, PairedMean, PairedScenarios, Pareto,
    ParetoPoint, Plane, PlanePoint, Published, PublishedPoint, Retries, RetryPoint, RetrySeries, Scale,
    SeriesData, SeriesLabel, SharesForm, SurvivalComparison,
};

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0135_2901)
    }

    pub fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(end)) as u32
    }

    pub fn unit(&mut self) -> f64 {
        f64::from(self.below(1_000_000)) / 1e6
    }
}

pub const MODELS: [&str; 13] = [
    "Claude-Opus-4.8",
    "GPT-5.5",
    "GLM-5.2",
    "DeepSeek-V4-Pro",
    "Gemini-3.2-Pro",
    "Qwen3.5-397B-A17B",
    "Kimi-K2.7",
    "MiniMax-M3",
    "Grok-5-Code",
    "Devstral-3",
    "Nemotron-Ultra-253B-v2",
    "gpt-oss-240b",
    "Llama-5-Maverick",
];

pub fn label(name: &str) -> SeriesLabel {
    SeriesLabel::new(name, 0)
}

/// Episodes that fail at each turn with a chance, or end from outside.
pub fn episodes(seed: u64, n: usize, planned: u32, chance: f64, stopped: f64) -> Vec<Observation> {
    let mut random = Random::new(seed);
    (0..n)
        .map(|_| {
            for turn in 1..=planned {
                if random.unit() < chance {
                    return Observation::failed_at(turn);
                }
                if random.unit() < stopped {
                    return Observation::censored_after(turn);
                }
            }
            Observation::censored_after(planned)
        })
        .collect()
}

pub fn series(label: SeriesLabel, episodes: &[Observation], planned: u32) -> SeriesData {
    let data = super::run("", episodes, planned);
    SeriesData { label, points: data.points, summary: data.summary, highlight: true }
}

/// Runs of decreasing strength.
pub fn runs(count: usize, n: usize, planned: u32) -> Vec<SeriesData> {
    (0..count)
        .map(|i| {
            let chance = (0.6 + 1.3 * i as f64 / count as f64) / f64::from(planned).max(2.0) * 1.8;
            let label = SeriesLabel::new(MODELS[i % MODELS.len()], i as u8);
            series(label, &episodes(i as u64 + 1, n, planned, chance.min(0.9), 0.01), planned)
        })
        .collect()
}

pub fn survival(series: Vec<SeriesData>, tau: u32) -> Figure {
    Figure::SurvivalComparison(SurvivalComparison {
        series,
        reference: Some(0),
        tau: Some(tau),
        bands: Bands::Auto,
        at_risk: true,
        means: false,
        events: false,
    })
}

/// Difficult names.
pub const ODD_NAMES: [&str; 6] = [
    "qwen3.5-122b-a10b-instruct-2026-06-01-thinking-high-with-a-context-of-1m-tokens-and-a-name-of-one-hundred-and-twenty-characters",
    "通义千问三点五大模型 · 自主编程智能体评测",
    "מודל שפה גדול · סוכן",
    "<b>bold</b> & \"quoted\"\u{202e}\u{0}\nsecond line",
    "نموذج لغوي كبير",
    "👩‍👩‍👧‍👦 agents 🧪",
];

pub fn odd_names() -> Vec<SeriesData> {
    let mut runs = runs(4, 20, 12);
    for (run, name) in runs.iter_mut().zip(ODD_NAMES) {
        name.clone_into(&mut run.label.name);
    }
    runs[1].label.simulated = true;
    runs[0].label.simulated = true;
    runs
}

pub fn first_failures(series: Vec<SeriesData>) -> Figure {
    Figure::FirstFailuresComparison(FirstFailuresComparison { series })
}

pub fn differences(count: usize) -> Figure {
    let mut random = Random::new(7);
    let rows = (1..=count)
        .map(|i| {
            let value = -4.5 * random.unit() + 0.6;
            let half = 0.4 + 1.8 * random.unit();
            DifferenceRow {
                label: SeriesLabel::new(MODELS[i % MODELS.len()], i as u8),
                value: Some(value),
                ci_low: Some(value - half),
                ci_high: Some(value + half),
                p: Some(random.unit().powi(6)),
            }
        })
        .collect();
    Figure::Differences(Differences {
        reference: SeriesLabel::new(MODELS[0], 0),
        rows,
        axis: "Difference in mean stamina (turns)".to_owned(),
        scale: Scale::Linear,
        low: "fails earlier".to_owned(),
        high: "lasts longer".to_owned(),
        p_name: Some("p (log-rank, Holm)".to_owned()),
    })
}

/// Ratios, one of them unknown and one without variation.
pub fn ratios() -> Figure {
    let Figure::Differences(mut figure) = differences(4) else { unreachable!() };
    "Ratio of mean stamina".clone_into(&mut figure.axis);
    figure.scale = Scale::Log;
    figure.p_name = None;
    for (row, value) in figure.rows.iter_mut().zip([0.42, 1.6, 5.7, 0.9]) {
        (row.value, row.ci_low, row.ci_high) = (Some(value), Some(value * 0.6), Some(value * 1.7));
    }
    (figure.rows[2].ci_low, figure.rows[2].ci_high) = (None, None);
    (figure.rows[3].value, figure.rows[3].ci_low, figure.rows[3].ci_high) = (None, None, None);
    figure.rows[1].label.simulated = true;
    Figure::Differences(figure)
}

pub fn paired(count: u32, turns: u32) -> Figure {
    let mut random = Random::new(u64::from(count));
    let pairs = (0..count)
        .map(|i| Pair {
            scenario: format!(
                "scenario_{i:02}-{}",
                ["event-queue", "audit-log", "data-pipeline", "ml"][i as usize % 4]
            ),
            a: f64::from(random.below(turns + 1)),
            a_censored: random.below(5) == 0,
            b: f64::from(random.below(turns + 1)),
            b_censored: random.below(5) == 0,
        })
        .collect();
    Figure::Paired(PairedScenarios {
        of_rates: false,
        first_turns: None,
        a: SeriesLabel::new(MODELS[0], 0),
        b: SeriesLabel::new(MODELS[1], 1),
        pairs,
        mean: Some(PairedMean { value: -1.2, ci_low: Some(-2.5), ci_high: Some(0.1), p: Some(0.071) }),
    })
}

pub fn bars(count: usize) -> Figure {
    let rows = (0..count)
        .map(|i| {
            let value = (i != 2).then(|| 3.2 / (i + 1) as f64);
            BarRow {
                label: SeriesLabel::new(MODELS[i % MODELS.len()], i as u8),
                value,
                ci_low: value.filter(|_| i % 2 == 0).map(|v| v * 0.8),
                ci_high: value.filter(|_| i % 2 == 0).map(|v| v * 1.3),
                instead: None,
                note: (i == 1).then(|| "19 of 20 episodes".to_owned()),
                published: (i == 1)
                    .then(|| Published { value: 2.4, source: "StaminaBench, arXiv 2606.19613".to_owned() })
                    .into_iter()
                    .collect(),
            }
        })
        .collect();
    Figure::Bars(Bars { measure: "Cost per survived turn".to_owned(), unit: Some("$".to_owned()), rows })
}

pub fn pareto(count: usize, scale: Scale) -> Figure {
    let mut random = Random::new(3);
    let points = (0..count)
        .map(|i| {
            let mean = 2.0 + 50.0 * random.unit();
            ParetoPoint {
                label: SeriesLabel::new(MODELS[i % MODELS.len()], i as u8),
                cost: (i != 3).then(|| 0.3 * 60f64.powf(random.unit())),
                mean: Some(mean),
                ci_low: Some(mean * 0.8),
                ci_high: Some(mean * 1.15 + 1.0),
                n: Some(20),
            }
        })
        .collect();
    Figure::Pareto(Pareto {
        points,
        cost: "Cost per episode".to_owned(),
        unit: Some("$".to_owned()),
        scale,
        tau: Some(100),
        measure: None,
        measure_unit: None,
    })
}

/// A plane with one published point, and an unknown fourth point.
pub fn plane(count: usize) -> Figure {
    let mut random = Random::new(5);
    let points = (0..count)
        .map(|i| {
            let (x, y) = (0.5 + 0.4 * random.unit(), 0.4 + 0.5 * random.unit());
            let is_published = i == 1;
            PlanePoint {
                label: SeriesLabel::new(MODELS[i % MODELS.len()], i as u8),
                x: Some(x),
                x_ends: (!is_published).then_some((x - 0.03, x + 0.03)),
                y: (i != 3).then_some(y),
                y_ends: (i != 3 && !is_published).then_some((y - 0.05, y + 0.05)),
                n: (!is_published).then_some(12),
                x_n: None,
                source: is_published.then(|| "A paper, Table 3".to_owned()),
            }
        })
        .collect();
    let note = "A session that does nothing scores .780 / .650.".to_owned();
    Figure::Plane(Plane { points, x: "Efficiency".to_owned(), y: "Comprehension".to_owned(), note })
}

pub const HARNESSES: [&str; 6] =
    ["Mini-SWE", "OpenHands", "OpenCode", "Qwen Code", "Kimi CLI", "Mistral Vibe"];

pub fn matrix(rows: usize, columns: usize) -> Figure {
    let mut random = Random::new(11);
    let mut cells = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            if (row * 7 + column * 3) % 6 == 5 {
                continue;
            }
            let mean = 60.0 * random.unit() * random.unit();
            cells.push(MatrixCell {
                row: row as u32,
                column: column as u32,
                mean: Some(mean),
                ci_low: Some(mean * 0.7),
                ci_high: Some(mean * 1.4),
                n: 20,
                simulated: row == 1 && column == 1,
                doubtful: false,
                published: (row == 2 && column == 0)
                    .then(|| Published {
                        value: 57.0,
                        source: "StaminaBench, secondary article of 20 June 2026".to_owned(),
                    })
                    .into_iter()
                    .collect(),
            });
        }
    }
    let margin = |keep: &dyn Fn(&MatrixCell) -> bool| {
        let means: Vec<f64> = cells.iter().filter(|c| keep(c)).filter_map(|c| c.mean).collect();
        let cells = means.len() as u32;
        Margin { mean: (cells > 0).then(|| means.iter().sum::<f64>() / f64::from(cells)), cells }
    };
    Figure::Matrix(Matrix {
        rows_name: "Harness".to_owned(),
        columns_name: "Model".to_owned(),
        rows: HARNESSES.iter().cycle().take(rows).map(|h| (*h).to_owned()).collect(),
        columns: MODELS.iter().cycle().take(columns).map(|m| (*m).to_owned()).collect(),
        row_means: (0..rows).map(|r| margin(&|c| c.row == r as u32)).collect(),
        column_means: (0..columns).map(|k| margin(&|c| c.column == k as u32)).collect(),
        cells,
        measure: "Mean stamina (turns)".to_owned(),
        tau: Some(100),
    })
}

pub fn retries(count: usize) -> Figure {
    let series = (0..count)
        .map(|i| RetrySeries {
            label: SeriesLabel::new(MODELS[i % MODELS.len()], i as u8),
            points: (0..6)
                .map(|r| {
                    let mean = 60.0 / (i + 1) as f64 * (1.0 - 0.9 * 0.45f64.powi(r));
                    RetryPoint {
                        retries: r as u32,
                        mean: Some(mean),
                        ci_low: Some(mean * 0.75),
                        ci_high: Some(mean * 1.2),
                    }
                })
                .collect(),
        })
        .collect();
    let published = vec![
        PublishedPoint {
            label: SeriesLabel::new("GLM-5 · OpenCode", 2),
            retries: 2,
            mean: 57.0,
            source: "StaminaBench, secondary article of 20 June 2026".to_owned(),
        },
        PublishedPoint {
            label: SeriesLabel::new("GLM-5 · no feedback", 2),
            retries: 0,
            mean: 6.2,
            source: "StaminaBench, secondary article of 20 June 2026".to_owned(),
        },
    ];
    Figure::Retries(Retries { series, reference: Some(0), bands: Bands::Auto, published, tau: Some(100) })
}

pub const CLASSES: [&str; 20] = [
    "server did not start",
    "crashed",
    "timed out",
    "missing route",
    "wrong status",
    "validation too strict",
    "validation too lax",
    "nullability",
    "wrong default",
    "stale name",
    "missing cascade",
    "wrong aggregate",
    "guard ignored",
    "invented feature",
    "tool-call format",
    "context overflow",
    "loop detection",
    "killed itself",
    "gave up",
    "no change",
];

pub fn failures(classes: usize, groups: usize, form: SharesForm) -> Figure {
    let mut random = Random::new(5);
    Figure::FailureShares(FailureShares {
        classes: CLASSES
            .iter()
            .take(classes)
            .enumerate()
            .map(|(i, name)| FailureClass { name: (*name).to_owned(), harness: i >= 14, pattern: None })
            .collect(),
        groups: (0..groups)
            .map(|g| FailureGroup {
                label: SeriesLabel::new(HARNESSES[g % 6], g as u8),
                counts: (0..classes).map(|_| random.below(30) * random.below(3)).collect(),
                total: None,
            })
            .collect(),
        unit: "failed attempts".to_owned(),
        form,
    })
}
