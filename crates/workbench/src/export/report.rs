//! A report of runs or of a comparison: sections of words, tables and figures, as Markdown and as one HTML page.
//!
//! It says what the original's `analyze_trajectories_with_attempts` says (scores, attempts with their times, errors by kind)
//! and what this software adds: stamina with intervals, tests, retry budgets, failures by class, every scenario, method and
//! cautions. There is no clock in it: the same library gives the same report.

mod attempts;
mod scenarios;
mod words;

use std::fmt::Write as _;

use figures::table::Table;
use figures::{FigureSpec, SOFTWARE};

use super::{Made, caption, does_not_fit, preset_layout, tables};
use crate::Workbench;
use crate::api::{
    ApiError, Bands, CompareRequest, Comparison, ExportFormat, FailureGrouping, FailureScope,
    FailuresRequest, FigureOf, Measure, Nothing, RetriesRequest,
};
use figures::table::escape_html;
use words::escape_markdown;

/// A report before it is written.
pub(super) struct Report {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
    pub(super) warnings: Vec<String>,
}

/// A heading and what stands under it.
pub(super) struct Section {
    heading: String,
    blocks: Vec<Block>,
}

/// What a report is made of.
pub(super) enum Block {
    Text(String),
    List(Vec<String>),
    Table(Table),
    Figure(Box<Drawn>),
}

/// A figure of a report.
pub(super) struct Drawn {
    /// A stable word for its files.
    pub(super) name: &'static str,
    pub(super) spec: FigureSpec,
    svg: String,
    caption: String,
}

impl Report {
    /// Its figures.
    pub(super) fn figures(&self) -> impl Iterator<Item = &Drawn> {
        self.sections.iter().flat_map(|s| &s.blocks).filter_map(|b| match b {
            Block::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }

    /// Its tables.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sections.iter().flat_map(|s| &s.blocks).filter_map(|b| match b {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }

    /// As Markdown; figures are files in `figures/`.
    pub(super) fn to_markdown(&self) -> String {
        let mut out = format!("# {}\n", escape_markdown(&self.title));
        for section in &self.sections {
            let _ = write!(out, "\n## {}\n", escape_markdown(&section.heading));
            for block in &section.blocks {
                out.push('\n');
                match block {
                    Block::Text(text) => {
                        let _ = writeln!(out, "{}", escape_markdown(text));
                    }
                    Block::List(items) => {
                        for item in items {
                            let _ = writeln!(out, "- {}", escape_markdown(item));
                        }
                    }
                    Block::Table(table) => out.push_str(&table.to_markdown()),
                    Block::Figure(figure) => {
                        let caption = escape_markdown(&figure.caption);
                        let _ =
                            writeln!(out, "![{}](figures/{}.svg)\n\n*{caption}*", figure.name, figure.name);
                    }
                }
            }
        }
        out
    }

    /// As one page of HTML: figures in it as SVG, no script, nothing from elsewhere.
    pub(super) fn to_html(&self) -> String {
        let title = escape_html(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"generator\" content=\"{SOFTWARE}\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        );
        for section in &self.sections {
            let _ = writeln!(out, "<h2>{}</h2>", escape_html(&section.heading));
            for block in &section.blocks {
                match block {
                    Block::Text(text) => {
                        let _ = writeln!(out, "<p>{}</p>", escape_html(text));
                    }
                    Block::List(items) => {
                        out.push_str("<ul>\n");
                        for item in items {
                            let _ = writeln!(out, "<li>{}</li>", escape_html(item));
                        }
                        out.push_str("</ul>\n");
                    }
                    Block::Table(table) => {
                        let _ = writeln!(out, "<div class=\"wide\">{}</div>", table.to_html());
                    }
                    Block::Figure(figure) => {
                        let caption = escape_html(&figure.caption);
                        let _ = writeln!(
                            out,
                            "<figure>{}<figcaption>{caption}</figcaption></figure>",
                            figure.svg
                        );
                    }
                }
            }
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

const STYLE: &str = "body{font:15px/1.5 'IBM Plex Sans','Inter','Noto Sans',system-ui,sans-serif;color:#1b1d20;background:#fff;\
max-width:62rem;margin:2rem auto;padding:0 1rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
figure{margin:1rem 0}figure svg{max-width:100%;height:auto}figcaption,.note,caption{color:#50555b;font-size:.86rem;text-align:left}\
figcaption{max-width:46rem}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.86rem;margin:1rem 0 .3rem}\
caption{font-weight:600;padding-bottom:.3rem}th,td{padding:.2rem .6rem .2rem 0;text-align:left;vertical-align:top}\
thead th{border-top:1.5px solid;border-bottom:1px solid}tbody tr:last-child td{border-bottom:1.5px solid}\
.number{text-align:right;font-variant-numeric:tabular-nums}@media print{body{margin:0}}";

impl Workbench {
    /// The report of these runs; its figures are made for a venue.
    pub(super) fn report(&self, of: &CompareRequest, preset: &str) -> Result<Report, ApiError> {
        let layout = preset_layout(preset, None)?;
        let data = self.compare_runs(of.clone())?;
        let failures = self.get_failures(FailuresRequest {
            members: of.members.clone(),
            group: FailureGrouping::Member,
            scope: FailureScope::Attempts,
        })?;
        let retries = self.get_retries(RetriesRequest { members: of.members.clone() })?;
        let mut warnings = Vec::new();
        let mut draw = |name: &'static str, figure: FigureOf| -> Result<Block, ApiError> {
            let spec = self.figure_spec(&figure)?;
            let spec = FigureSpec { layout, theme: figures::Theme::Print, ..spec };
            warnings.extend(caption::cautions(&spec));
            let svg = figures::draw(&spec).svg;
            Ok(Block::Figure(Box::new(Drawn { name, caption: caption::of(&spec), svg, spec })))
        };
        let several = data.members.len() > 1;
        let mut sections = vec![
            Section { heading: "What this is".to_owned(), blocks: words::opening(&data) },
            Section { heading: "Runs".to_owned(), blocks: vec![Block::Table(tables::runs(&data))] },
        ];
        if several {
            sections.push(Section {
                heading: "What differs in their settings".to_owned(),
                blocks: settings(&data),
            });
        }
        sections.push(Section {
            heading: "Survival".to_owned(),
            blocks: vec![
                draw("survival", FigureOf::Survival { of: of.clone(), bands: Bands::Auto })?,
                draw("first-failures", FigureOf::FirstFailures { of: of.clone() })?,
                Block::Table(tables::sensitivity(&data)),
            ],
        });
        if several {
            let mut blocks = vec![
                draw("differences", FigureOf::Differences { of: of.clone(), ratio: false })?,
                Block::Text(words::overall(&data)),
                Block::Table(tables::pairs(&data)),
            ];
            if let (2, Some(other)) = (data.members.len(), paired_with(&data)) {
                blocks.push(draw("paired", FigureOf::Paired { of: of.clone(), other })?);
            }
            sections.push(Section { heading: "Differences".to_owned(), blocks });
        }
        let mut spent = vec![Block::Table(tables::spent(&data))];
        if several && data.members.iter().filter(|m| m.spent.cost_per_episode.is_some()).count() > 1 {
            spent.push(draw("pareto", FigureOf::Pareto { of: of.clone() })?);
        }
        if several && data.members.iter().filter(|m| m.score.is_some()).count() > 1 {
            spent.push(draw(
                "scores",
                FigureOf::Bars { of: of.clone(), measure: Measure::Score, published: false },
            )?);
        }
        sections.push(Section { heading: "Score and cost".to_owned(), blocks: spent });
        let played = attempts::read(self, &data)?;
        sections.push(Section {
            heading: "Attempts".to_owned(),
            blocks: vec![Block::Table(attempts::table(&played))],
        });
        if retries.series.iter().any(|s| s.points.len() > 1) {
            sections.push(Section {
                heading: "Retries".to_owned(),
                blocks: vec![
                    draw(
                        "retries",
                        FigureOf::Retries {
                            of: RetriesRequest { members: of.members.clone() },
                            published: false,
                        },
                    )?,
                    Block::Table(tables::retries(&retries)),
                ],
            });
        }
        let mut blocks = vec![Block::Text(words::failures(&failures))];
        if failures.attempts > 0 {
            blocks.push(draw(
                "failures",
                FigureOf::Failures {
                    of: FailuresRequest { members: of.members.clone(), ..FailuresRequest::default() },
                },
            )?);
            blocks.push(Block::Table(tables::shares(&failures)));
        }
        blocks.push(Block::Table(attempts::errors(&played)));
        sections.push(Section { heading: "Failures".to_owned(), blocks });
        sections.push(Section {
            heading: "Scenarios".to_owned(),
            blocks: vec![Block::Table(scenarios::table(self, &data)?)],
        });
        let cautions = words::cautions(&data, &retries);
        if !cautions.is_empty() {
            sections.push(Section { heading: "Cautions".to_owned(), blocks: vec![Block::List(cautions)] });
        }
        let policy = self.get_policy(Nothing {})?;
        sections.push(Section { heading: "Method".to_owned(), blocks: words::method(&data, &policy) });
        warnings.dedup();
        Ok(Report { title: words::title(&data), sections, warnings })
    }

    /// A report as one file.
    pub(super) fn report_file(&self, of: &CompareRequest, format: ExportFormat) -> Result<Made, ApiError> {
        let (extension, markdown) = match format {
            ExportFormat::Html => ("html", false),
            ExportFormat::Md => ("md", true),
            other => return Err(does_not_fit(other, "A report", "html, md; a bundle is a zip")),
        };
        let report = self.report(of, "icml")?;
        let mut warnings = report.warnings.clone();
        if markdown {
            warnings.push(
                "The figures of a Markdown report are files beside it, in figures/: a bundle, or `stamina report --out FOLDER`, has them"
                    .to_owned(),
            );
        }
        Ok(Made {
            name: format!("{}.{extension}", super::file::report_name("report", of)),
            bytes: if markdown { report.to_markdown() } else { report.to_html() }.into_bytes(),
            caption: report.title,
            inches: None,
            warnings,
            beside: None,
        })
    }
}

/// The other member of a comparison of two, if they share scenarios.
fn paired_with(data: &Comparison) -> Option<u32> {
    data.pairs.iter().find(|p| p.b == data.reference && p.paired.is_some()).map(|p| p.a)
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
