//! A report of runs or of a comparison: sections of words, tables and figures, as Markdown and as one HTML page.
//!
//! It says what the original's `analyze_trajectories_with_attempts` says (scores, attempts with their times, errors by kind)
//! and what this software adds: stamina with intervals, tests, retry budgets, failures by class, every scenario, method and
//! cautions. There is no clock in it: the same library gives the same report.

mod attempts;
mod sections;
mod words;

use std::fmt::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use figures::table::{Table, escape_html, escape_markdown};
use figures::{FigureSpec, SOFTWARE};

use super::{CompanionName, MadeFile, does_not_fit};
use crate::Workbench;
use crate::api::{ApiError, CompareRequest, ExportFormat};

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

/// Where the figures of a Markdown report are.
pub(super) enum Figures {
    /// Files in a folder beside it.
    In(String),
    /// In the text itself.
    Inside,
}

impl Figures {
    fn address(&self, figure: &ReportFigure) -> String {
        match self {
            Self::In(folder) => format!("{}/{}.svg", in_address(folder), figure.name),
            Self::Inside => format!(
                "data:image/svg+xml;base64,{}",
                STANDARD.encode(figures::export::standalone(&figure.svg))
            ),
        }
    }
}

/// A name as part of an address: whatever could end a link in Markdown is written as its bytes.
fn in_address(name: &str) -> String {
    name.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// What a report is made of.
pub(super) enum Block {
    Text(String),
    List(Vec<String>),
    /// A table: a spec of one.
    Table(Box<FigureSpec>),
    /// A table of many rows, which a page folds up.
    Long(Box<FigureSpec>),
    Figure(Box<ReportFigure>),
}

/// A figure of a report.
pub(super) struct ReportFigure {
    /// A stable word for its files.
    pub(super) name: String,
    pub(super) spec: FigureSpec,
    svg: String,
    caption: String,
}

/// What a table is called that a page folds up: its title, and how long it is.
fn fold_title(table: &Table) -> String {
    format!("{}, {}", table.title, model::counted(table.rows.len() as u64, "row"))
}

/// A table without rows, in sentences that say why it has none, with its notes. A table of what there is says that there is none
/// of it.
fn without_rows(table: &Table) -> String {
    let reason = match table.name.as_str() {
        // Their first note says it.
        "flips" | "settings" => return table.notes.first().cloned().unwrap_or_default(),
        // Its notes say whether anything was tried again, and what is unknown.
        "repairs" => return table.notes.join(" "),
        "attempts" => "no attempt was made",
        "origins" => "no failing test is described",
        _ => "none",
    };
    let mut sentences = vec![format!("{}: {reason}.", table.title)];
    sentences.extend(table.notes.iter().cloned());
    sentences.join(" ")
}

impl Report {
    /// Its figures.
    pub(super) fn figures(&self) -> impl Iterator<Item = &ReportFigure> {
        self.sections.iter().flat_map(|s| &s.blocks).filter_map(|b| match b {
            Block::Figure(figure) => Some(&**figure),
            _ => None,
        })
    }

    /// Its tables, by their specs.
    pub(super) fn tables(&self) -> impl Iterator<Item = &FigureSpec> {
        self.sections.iter().flat_map(|s| &s.blocks).filter_map(|b| match b {
            Block::Table(table) | Block::Long(table) => Some(&**table),
            _ => None,
        })
    }

    /// As Markdown.
    pub(super) fn to_markdown(&self, figures: &Figures) -> String {
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
                    Block::Table(table) | Block::Long(table) => match table.table() {
                        Some(table) if table.rows.is_empty() => {
                            let _ = writeln!(out, "{}", escape_markdown(&without_rows(&table)));
                        }
                        table => out.extend(table.map(|table| table.without_unknown().to_markdown())),
                    },
                    Block::Figure(figure) => {
                        let caption = escape_markdown(&figure.caption);
                        let _ =
                            writeln!(out, "![{}]({})\n\n*{caption}*", figure.name, figures.address(figure));
                    }
                }
            }
        }
        out
    }

    /// As one page of HTML: figures in it as SVG, the font of all of it, no script, nothing from elsewhere.
    pub(super) fn to_html(&self) -> String {
        let title = escape_html(&self.title);
        let body = self.body();
        let font = figures::font_face(&body);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"generator\" content=\"{SOFTWARE}\">\n\
             <title>{title}</title>\n<style>{font}{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
        )
    }

    fn body(&self) -> String {
        let mut out = format!("<h1>{}</h1>\n", escape_html(&self.title));
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
                        let Some(table) = table.table() else { continue };
                        if table.rows.is_empty() {
                            let _ = writeln!(out, "<p>{}</p>", escape_html(&without_rows(&table)));
                            continue;
                        }
                        let _ =
                            writeln!(out, "<div class=\"wide\">{}</div>", table.without_unknown().to_html());
                    }
                    Block::Long(table) => {
                        let Some(table) = table.table() else { continue };
                        let _ = writeln!(
                            out,
                            "<details><summary>{}</summary><div class=\"wide\">{}</div></details>",
                            escape_html(&fold_title(&table)),
                            table.without_unknown().to_html()
                        );
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
        out
    }
}

const STYLE: &str = "body{font:15px/1.5 'IBM Plex Sans','Inter','Noto Sans',system-ui,sans-serif;color:#1b1d20;background:#fff;\
max-width:88rem;margin:2rem auto;padding:0 1rem}h1,h2,p,ul,figure{max-width:62rem}h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}\
figure{margin:1rem 0}figure svg{max-width:100%;height:auto}figcaption,.note,caption{color:#50555b;font-size:.86rem;text-align:left}\
figcaption{max-width:46rem}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.86rem;margin:1rem 0 .3rem}\
caption{font-weight:600;padding-bottom:.3rem}th,td{padding:.2rem .6rem .2rem 0;text-align:left;vertical-align:top}\
details{margin:1rem 0}summary{cursor:pointer;font-size:.86rem;font-weight:600}thead th{border-top:1.5px solid;border-bottom:1px solid}tbody tr:last-child td{border-bottom:1.5px solid}\
.number{text-align:right;font-variant-numeric:tabular-nums}td.number{white-space:nowrap}\
@media print{body{margin:0}.wide{overflow:visible}table{font-size:.64rem}th,td{padding-right:.35rem}}";

impl Workbench {
    /// A report as one file. Written to a path, a Markdown report has its figures in a folder beside it; handed over, it has
    /// them inside, so that it is whole in either case.
    pub(super) fn report_file(
        &self,
        request: &CompareRequest,
        preset: &str,
        format: ExportFormat,
        target: Option<&str>,
    ) -> Result<MadeFile, ApiError> {
        let (extension, markdown) = match format {
            ExportFormat::Html => ("html", false),
            ExportFormat::Md => ("md", true),
            other => return Err(does_not_fit(other, "A report", "html, md; a bundle is a zip")),
        };
        let report = self.report(request, preset)?;
        let mut beside = Vec::new();
        let text = match target
            .map(|target| Path::new(target).file_stem().and_then(|name| name.to_str()).unwrap_or("report"))
        {
            _ if !markdown => report.to_html(),
            None => report.to_markdown(&Figures::Inside),
            Some(name) => {
                let folder = format!("{name}-figures");
                beside.extend(report.figures().map(|figure| {
                    let name = format!("{folder}/{}.svg", figure.name);
                    (CompanionName::Named(name), figures::export::standalone(&figure.svg).into_bytes())
                }));
                report.to_markdown(&Figures::In(folder))
            }
        };
        Ok(MadeFile {
            name: format!("{}.{extension}", super::file::report_name("report", request)),
            bytes: text.into_bytes(),
            caption: report.title,
            short_caption: String::new(),
            inches: None,
            warnings: report.warnings,
            beside,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use crate::api::{FailureScope, FailuresRequest, FigureSubject, ListRuns, Member};

    #[test]
    fn a_table_without_rows_keeps_what_its_notes_say() {
        let table = |name: &str| {
            let mut table = Table::new(name, "A title", Vec::new());
            table.notes.extend(["None was tried again.".to_owned(), "How it ended is unknown.".to_owned()]);
            without_rows(&table)
        };
        assert_eq!(table("repairs"), "None was tried again. How it ended is unknown.");
        assert_eq!(table("tasks"), "A title: none. None was tried again. How it ended is unknown.");
        assert_eq!(table("flips"), "None was tried again.");
    }

    /// "1 rows" stood over a table of one row.
    #[test]
    fn one_row_is_in_the_singular() {
        let mut table = Table::new("tasks", "Tasks", vec![figures::table::Column::text("task", "Task")]);
        table.push(vec![figures::table::known("a")]);
        assert_eq!(fold_title(&table), "Tasks, 1 row");
        table.push(vec![figures::table::known("b")]);
        assert_eq!(fold_title(&table), "Tasks, 2 rows");
    }

    /// The endpoint ended the episode at turn 2. A report had nothing of turn 1, which failed and was repaired.
    #[test]
    fn repairs_are_reported_where_no_end_counts_as_a_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("turns.csv");
        let rows = "r,h,m,a,1,1,false,,3\nr,h,m,a,1,2,true,,3\nr,h,m,a,2,1,,endpoint,3\n";
        let head = "run,harness,model,scenario,turn,attempt,passed,end_reason,planned_turns\n";
        std::fs::write(&source, format!("{head}{rows}")).expect("written");
        let db = Some(folder.path().join("library.sqlite"));
        let workbench = Workbench::open(Options { db, ..Options::default() }).expect("a library");
        workbench.ingest(&source, &|_, _| {}).expect("read");
        let run = workbench.list_runs(ListRuns::default()).expect("runs").rows.remove(0).id;
        let members = vec![Member::Run { run }];

        let request = CompareRequest { members: members.clone(), ..CompareRequest::default() };
        let report = workbench.report(&request, "icml").expect("a report");
        let names: Vec<String> =
            report.tables().filter_map(|spec| Some(spec.table()?.name.clone())).collect();
        for (name, is_there) in [
            ("repairs", true),
            ("repair-times", true),
            ("flips", true),
            ("failures", false),
            ("origins", false),
        ] {
            assert_eq!(names.iter().any(|found| found == name), is_there, "{name}: {names:?}");
        }
        let text = report.to_markdown(&Figures::Inside);
        assert!(
            text.contains("2 turns failed at the first attempt; 1 of them passed at a later one"),
            "{text}"
        );

        let scope = FailureScope::First;
        let request = FailuresRequest { members, scope, ..FailuresRequest::default() };
        let spec = workbench.figure_spec(&FigureSubject::Failures { request }).expect("a figure");
        let reason = figures::export::drawing_refusal(&spec);
        assert_eq!(reason.as_deref(), Some("no failure of this scope counts, so there are no shares"));
    }
}
