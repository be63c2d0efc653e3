//! Reports and bundles: nothing of the pages is missing in them, and they are whole wherever they go.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use test_folders::copy;
use workbench::Watch;
use workbench::api::{
    CompareRequest, ExportFormat, ExportRequest, ExportSubject, Exported, ListRuns, Member, Nothing, Pairs,
    TableSubject,
};

use crate::library::{Library, members, repository};

fn compared_runs(runs: &[&str]) -> CompareRequest {
    CompareRequest { members: members(runs), pairs: Pairs::Reference, ..CompareRequest::default() }
}

impl Library {
    fn report(
        &self,
        request: &CompareRequest,
        preset: &str,
        format: ExportFormat,
        target_path: Option<&Path>,
    ) -> Exported {
        let target_path = target_path.map(|target_path| target_path.to_str().unwrap().to_owned());
        let report = ExportSubject::Report { request: request.clone(), preset: preset.to_owned() };
        self.workbench.export(ExportRequest { subject: report, format, path: target_path }).expect("a report")
    }
}

fn text(exported: &Exported) -> String {
    String::from_utf8(STANDARD.decode(exported.base64.as_ref().expect("its content")).unwrap()).unwrap()
}

const THREE: [&str; 3] = ["staminabench.own", "staminabench.nested_folders", "staminabench.flat_records"];

#[test]
fn inputs_of_two_sources_of_one_name_are_all_hashed() {
    let places = tempfile::tempdir().unwrap();
    let fixture = repository().join("tests/fixtures/staminabench/own");
    let paths: Vec<_> = ["a", "b"].iter().map(|place| places.path().join(place).join("results")).collect();
    for (number, path) in paths.iter().enumerate() {
        copy(&fixture, path);
        std::fs::write(path.join("note.txt"), format!("source {number}")).unwrap();
    }
    let library = Library::new(&paths);
    let runs = library.workbench.list_runs(ListRuns { limit: 9, ..ListRuns::default() }).unwrap().rows;
    assert_eq!(runs.len(), 2);
    // What tells them apart is said where the sources are.
    let mut labels: Vec<&str> = runs.iter().map(|run| run.source_label.as_str()).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["a/results", "b/results"]);
    let table =
        library.workbench.table(&TableSubject::Library { request: ListRuns::default() }).unwrap().to_csv();
    assert!(labels.iter().all(|label| table.contains(&format!(",{label},"))), "{table}");
    let report_path = places.path().join("report");
    let run_ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    library
        .workbench
        .export_report(&compared_runs(&run_ids), "icml", &report_path, &Watch::nobody())
        .unwrap();
    let settings = std::fs::read_to_string(report_path.join("settings.json")).unwrap();
    assert!(labels.iter().all(|label| settings.contains(&format!("\"source\": \"{label}\""))), "{settings}");
    let sums = std::fs::read_to_string(report_path.join("inputs.sha256")).unwrap();
    let place_files = |place: &str| -> Vec<&str> {
        let mark = format!("  {place}/results/");
        sums.lines().filter_map(|line| Some(line.split_once(&mark)?.1)).collect()
    };
    let (a, b) = (place_files("a"), place_files("b"));
    assert!(a.len() > 3 && a == b && a.contains(&"note.txt"), "{sums}");
    assert_eq!(sums.lines().count(), a.len() + b.len());
    let notes: BTreeSet<&str> = sums.lines().filter(|l| l.ends_with("note.txt")).map(|l| &l[..64]).collect();
    assert_eq!(notes.len(), 2, "each has its own hash");
}

#[test]
fn a_report_of_three_has_what_the_pages_have() {
    let library = Library::fixtures(&["staminabench"]);
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("report");
    let exported = library
        .workbench
        .export_report(&compared_runs(&THREE), "icml", &report_path, &Watch::nobody())
        .unwrap();
    let has = |name: &str| exported.files.iter().any(|file| file == name);
    for figure in [
        "survival",
        "first-failures",
        "differences",
        "ratios",
        "paired",
        "bars-stamina",
        "bars-score",
        "bars-tokens",
        "bars-time",
        "retries",
        "failures",
    ] {
        assert!(
            has(&format!("figures/{figure}.pdf")) && has(&format!("specs/{figure}.toml")),
            "{figure}: {:?}",
            exported.files
        );
    }
    for table in [
        "runs",
        "settings",
        "sensitivity",
        "survival",
        "pairs",
        "paired",
        "disagreements",
        "spent",
        "attempts",
        "gains",
        "retries",
        "failures",
        "origins",
        "repairs",
        "repair-times",
        "flips",
        "end-reasons",
        "episodes",
    ] {
        assert!(has(&format!("tables/{table}.csv")), "{table}: {:?}", exported.files);
    }
    let html = std::fs::read_to_string(report_path.join("report.html")).unwrap();
    for heading in ["Where they disagree", "Differences", "Retries", "Failures"] {
        assert!(html.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
}

/// One that says no word of why it ended is counted as its verdict and its episode say, and one that passed is not.
#[test]
fn every_attempt_that_did_not_pass_is_counted_by_why_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,verdict,end_reason,episode_end_reason,planned_turns\n\
         r,h,m,a,1,1,false,failed,,,2\nr,h,m,b,1,1,false,failed,,,2\nr,h,m,b,1,2,true,passed,agent_timeout,,2\n\
         r,h,m,c,1,1,false,failed,agent_timeout,,2\nr,h,m,d,1,1,,error,,environment,2\n\
         r,h,m,e,1,1,,error,,,2\nr,h,m,f,1,1,,unfinished,,,2\nr,h,m,g,1,1,false,failed,,cancelled,2\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(ListRuns::default()).unwrap().rows[0].id.clone();
    let report_path = folder.path().join("report");
    library.workbench.export_report(&compared_runs(&[&run]), "icml", &report_path, &Watch::nobody()).unwrap();
    let table = std::fs::read_to_string(report_path.join("tables/end-reasons.csv")).unwrap();
    let rows: Vec<&str> = table.lines().filter_map(|line| line.strip_prefix("m,")).collect();
    let expected = ["tests failed,3", "agent timeout,1", "environment,1", "no verdict,1", "unfinished,1"];
    assert_eq!(rows, expected, "{table}");
    let report = std::fs::read_to_string(report_path.join("report.md")).unwrap();
    assert!(report.contains("Of every attempt at every turn: 7 of 8 attempts did not pass"), "{report}");
}

/// Episodes of one scenario that do not do the same vary; an interval over scenarios needs two.
#[test]
fn a_report_says_that_a_mean_over_one_scenario_has_no_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,repeat,turn,attempt,passed,planned_turns\n\
         r,h,m,a,1,1,1,false,3\nr,h,m,a,2,1,1,true,3\nr,h,m,a,2,2,1,false,3\n\
         r,h,m,a,3,1,1,true,3\nr,h,m,a,3,2,1,true,3\nr,h,m,a,3,3,1,false,3\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(ListRuns::default()).unwrap().rows[0].id.clone();
    let report = text(&library.report(&compared_runs(&[&run]), "icml", ExportFormat::Html, None));
    assert!(report.contains("mean stamina 1.00 turns (no interval: one scenario)"), "{report}");
}

#[test]
fn a_report_says_what_the_endpoint_cost_and_unknown_where_nobody_counted() {
    let places = tempfile::tempdir().unwrap();
    let fixture = repository().join("tests/fixtures/staminabench/own");
    let counted = places.path().join("counted");
    let not_counted = places.path().join("not-counted");
    for place in [&counted, &not_counted] {
        copy(&fixture, place);
    }
    let path = counted.join("report.json");
    let mut report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    report["run"]["attempts_retried_for_endpoint"] = 41.into();
    report["run"]["attempts_lost_to_endpoint"] = 0.into();
    std::fs::write(&path, report.to_string()).unwrap();
    let library = Library::new(&[counted, not_counted]);
    let report =
        |runs: &[&str]| text(&library.report(&compared_runs(runs), "icml", ExportFormat::Html, None));
    let rows = library.workbench.list_runs(ListRuns { limit: 9, ..ListRuns::default() }).unwrap().rows;
    let (known, unknown): (Vec<_>, Vec<_>) = rows.iter().partition(|run| run.id.starts_with("counted"));
    let (known, unknown) = (known[0].id.as_str(), unknown[0].id.as_str());

    let caption = "Attempts that the endpoint cost";
    let both_report = report(&[known, unknown]);
    let table = both_report.split(caption).nth(1).unwrap().split("</table>").next().unwrap();
    assert!(table.contains(">41<") && table.contains(">0<"), "{table}");
    assert_eq!(table.matches(">unknown<").count(), 2, "{table}");
    assert!(!report(&[known]).contains("Unknown where a source did not count them"));
    let unknown_report = report(&[unknown]);
    assert!(!unknown_report.contains(caption));
    assert!(
        unknown_report.contains("lost to it, is unknown: no source of these runs counts them."),
        "{unknown_report}"
    );
}

#[test]
fn what_the_endpoint_cost_is_unknown_where_runs_of_a_member_share_trials() {
    let fixture = repository().join("tests/fixtures/staminabench/own");
    // The scenarios of the second run that are played on another day.
    let row = |others: &[&str]| {
        let places = tempfile::tempdir().unwrap();
        let (first, second) = (places.path().join("first"), places.path().join("second"));
        for place in [&first, &second] {
            copy(&fixture, place);
            let path = place.join("report.json");
            let mut report: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            report["run"]["attempts_retried_for_endpoint"] = 41.into();
            report["run"]["attempts_lost_to_endpoint"] = 7.into();
            std::fs::write(&path, report.to_string()).unwrap();
        }
        for scenario in others {
            let path = second.join(scenario).join("trajectory.json");
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::write(&path, text.replace("2026-06-01T", "2026-06-02T")).unwrap();
        }
        let library = Library::new(&[first, second]);
        let member = Member::Model { model: "zai.glm-5".to_owned(), benchmark: String::new() };
        let request = CompareRequest { members: vec![member], ..CompareRequest::default() };
        let report = text(&library.report(&request, "icml", ExportFormat::Html, None));
        let table = report.split("Attempts that the endpoint cost").nth(1).unwrap();
        (table.split("</table>").next().unwrap().to_owned(), report.contains("have trials in common"))
    };
    let (apart, is_stated) = row(&["scenario_0", "scenario_1"]);
    assert!(apart.contains(">82<") && apart.contains(">14<") && !is_stated, "{apart}");
    // The shared scenario would be counted twice.
    let (shared, is_stated) = row(&["scenario_1"]);
    assert!(!shared.contains(">82<") && !shared.contains(">41<") && is_stated, "{shared}");
}

#[test]
fn each_of_three_is_paired_with_the_reference() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let runs = ["jobs.oracle-k2-oracle", "jobs.nop-k1-nop", "jobs.failures-k1-oracle"];
    let markdown = text(&library.report(&compared_runs(&runs), "icml", ExportFormat::Md, None));
    for figure in ["paired-2", "paired-3"] {
        assert!(markdown.contains(&format!("![{figure}]")), "{figure}");
    }
}

#[test]
fn a_markdown_report_is_whole_where_it_is_saved_and_where_it_is_handed_over() {
    let library = Library::fixtures(&["staminabench"]);
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("my (report).md");
    let saved = library.report(&compared_runs(&THREE[..2]), "icml", ExportFormat::Md, Some(&report_path));
    let markdown = std::fs::read_to_string(&report_path).unwrap();
    let links: Vec<&str> = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(!links.is_empty() && links.len() == saved.beside.len(), "{links:?} {:?}", saved.beside);
    for link in links {
        // Blanks and brackets would end the link.
        let name = link.replace("%20", " ").replace("%28", "(").replace("%29", ")");
        assert!(link.starts_with("my%20%28report%29-figures/"), "{link}");
        assert!(std::fs::read_to_string(folder.path().join(name)).unwrap().starts_with("<svg"));
    }
    assert!(saved.warnings.iter().all(|warning| !warning.contains("figures")), "{:?}", saved.warnings);

    // Whoever names the report again has its figures made again; beside a new one lies what is not ours.
    library.report(&compared_runs(&THREE[..2]), "acl", ExportFormat::Md, Some(&report_path));
    let old = folder.path().join("new-figures/survival.svg");
    std::fs::create_dir(old.parent().unwrap()).unwrap();
    std::fs::write(&old, "mine").unwrap();
    let new = folder.path().join("new.md");
    let report = ExportSubject::Report { request: compared_runs(&THREE[..2]), preset: "icml".to_owned() };
    let request = ExportRequest {
        subject: report,
        format: ExportFormat::Md,
        path: Some(new.to_str().unwrap().to_owned()),
    };
    assert_eq!(library.workbench.export(request.clone()).unwrap_err().code, "export.beside");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "mine");
    assert!(!new.exists());
    assert_eq!(std::fs::read_dir(old.parent().unwrap()).unwrap().count(), 1, "nothing is left half-made");
    // A device of this name is not read: it has no end.
    std::fs::remove_file(&old).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &old).unwrap();
    assert_eq!(library.workbench.export(request.clone()).unwrap_err().code, "export.beside");
    // Nor where the disk says no in the middle: what should be a figure is a folder.
    std::fs::remove_file(&old).unwrap();
    std::fs::create_dir(&old).unwrap();
    assert!(library.workbench.export(request).is_err() && !new.exists());
    assert_eq!(std::fs::read_dir(old.parent().unwrap()).unwrap().count(), 1);

    // What a browser is handed has what belongs beside it, too.
    let runs = ExportSubject::Table {
        table: TableSubject::Runs { request: compared_runs(&THREE[..2]) },
        preset: "icml".into(),
        grey: false,
    };
    let request = ExportRequest { subject: runs, format: ExportFormat::Csv, path: None };
    let csv = library.workbench.export(request).unwrap();
    assert!(csv.base64.is_some() && csv.beside.is_empty());
    let [(ending, spec)] = &csv.beside_base64[..] else { panic!("its spec") };
    assert!(ending == ".toml" && !spec.is_empty());

    let handed = library.report(&compared_runs(&THREE[..2]), "icml", ExportFormat::Md, None);
    let inside = text(&handed).matches("](data:image/svg+xml;base64,").count();
    assert!(handed.beside.is_empty() && inside == saved.beside.len(), "{inside}");
}

#[test]
fn the_figures_of_a_report_are_for_its_venue() {
    let library = Library::fixtures(&["staminabench"]);
    let widths = |preset: &str| {
        let html = text(&library.report(&compared_runs(&THREE[..1]), preset, ExportFormat::Html, None));
        html.split("<svg").skip(1).map(|svg| svg.split('>').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(widths("neurips").iter().all(|svg| svg.contains("width=\"396pt\"")), "{:?}", widths("neurips"));
    assert!(widths("icml").iter().all(|svg| svg.contains("width=\"234pt\"")), "{:?}", widths("icml"));
}

#[test]
fn heights_have_one_pair_of_limits() {
    let library = Library::fixtures(&["staminabench"]);
    let (least, greatest) = library.workbench.list_presets(Nothing {}).unwrap().height_pt;
    let figure = |height| {
        let figure = workbench::api::FigureSubject::FirstFailures { request: compared_runs(&THREE[..1]) };
        library.workbench.print_spec(&figure, "icml", Some(height), false).is_ok()
    };
    assert!(figure(least) && figure(greatest) && !figure(least - 1) && !figure(greatest + 1));
}

#[test]
fn what_is_written_beside_a_file_never_goes_into_a_source() {
    let places = tempfile::tempdir().unwrap();
    let source = places.path().join("source");
    copy(&repository().join("tests/fixtures/staminabench/own"), &source);
    let library = Library::new(std::slice::from_ref(&source));
    let run =
        library.workbench.list_runs(ListRuns { limit: 1, ..ListRuns::default() }).unwrap().rows.remove(0).id;
    let before = std::fs::read_dir(&source).unwrap().count();
    std::os::unix::fs::symlink(&source, places.path().join("report-figures")).unwrap();
    let report_path = places.path().join("report.md");
    let requested = ExportSubject::Report { request: compared_runs(&[&run]), preset: "icml".to_owned() };
    let report_path = Some(report_path.to_str().unwrap().to_owned());
    let refused = library.workbench.export(ExportRequest {
        subject: requested,
        format: ExportFormat::Md,
        path: report_path,
    });
    assert_eq!(refused.unwrap_err().code, "export.into_source");
    assert_eq!(std::fs::read_dir(&source).unwrap().count(), before);
}

#[test]
fn nothing_of_a_report_is_written_through_a_link_in_its_folder() {
    let library = Library::fixtures(&["staminabench"]);
    let places = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let path = places.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (outside, report_path) = (place("outside"), place("report"));
    std::os::unix::fs::symlink(&outside, report_path.join("specs")).unwrap();
    let compared = compared_runs(&THREE[..1]);
    let refused =
        library.workbench.export_report(&compared, "icml", &report_path, &Watch::nobody()).unwrap_err();
    assert_eq!(refused.code, "export.link");
    assert_eq!(std::fs::read_dir(&report_path).unwrap().count(), 1, "nothing is half-written");
    // The same of what lies beside a single file.
    std::os::unix::fs::symlink(&outside, places.path().join("page-figures")).unwrap();
    let page = places.path().join("page.md");
    let request = ExportRequest {
        subject: ExportSubject::Report { request: compared.clone(), preset: "icml".to_owned() },
        format: ExportFormat::Md,
        path: Some(page.to_str().unwrap().to_owned()),
    };
    assert_eq!(library.workbench.export(request).unwrap_err().code, "export.link");
    assert!(!page.exists());
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    // Whoever names a link as the folder itself chose where it leads.
    let chosen = places.path().join("chosen");
    std::os::unix::fs::symlink(&outside, &chosen).unwrap();
    library.workbench.export_report(&compared, "icml", &chosen, &Watch::nobody()).unwrap();
    assert!(outside.join("report.html").exists());
}

#[test]
fn a_pair_is_a_table_scenario_by_scenario() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let request = compared_runs(&["jobs.oracle-k2-oracle", "jobs.nop-k1-nop"]);
    let comparison = library.workbench.compare_runs(request.clone()).unwrap();
    let paired = comparison.pairs[0].paired.clone().expect("shared scenarios");
    let table = library
        .workbench
        .table_json(&TableSubject::Paired { request: request.clone(), other: Some(1) })
        .unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.len() as u32, paired.n);
    for (row, wanted) in rows.iter().zip(&paired.scenarios) {
        assert_eq!(row["scenario"], wanted.scenario.as_str());
        assert_eq!(row["difference"].as_f64(), Some(wanted.a - wanted.b));
        assert_eq!(
            (&row["at_least"], &row["reference_at_least"]),
            (&wanted.a_at_least.into(), &wanted.b_at_least.into())
        );
    }
    let all = library
        .workbench
        .table_json(&TableSubject::Paired { request: request.clone(), other: None })
        .unwrap();
    assert_eq!(all["rows"], table["rows"]);
    assert!(library.workbench.table(&TableSubject::Paired { request, other: Some(0) }).is_err());
}

#[test]
fn a_table_that_is_too_long_to_be_drawn_is_named_once_and_written_in_every_other_format() {
    let library = Library::fixtures(&["harbor/jobs"]);
    let folder = tempfile::tempdir().unwrap();
    let report_path = folder.path().join("report");
    let runs = ["jobs.oracle-k2-oracle", "jobs.nop-k1-nop", "jobs.failures-k1-oracle"];
    let saved = library
        .workbench
        .export_report(&compared_runs(&runs), "icml", &report_path, &Watch::nobody())
        .unwrap();
    let long: Vec<&String> =
        saved.warnings.iter().filter(|warning| warning.contains("is not drawn")).collect();
    assert!(!long.is_empty(), "{:?}", saved.warnings);
    for warning in &long {
        let name = warning.split(' ').next().unwrap();
        assert_eq!(long.iter().filter(|w| w.starts_with(&format!("{name} "))).count(), 1, "{long:?}");
        for end in ["csv", "parquet", "tex", "md"] {
            assert!(report_path.join(format!("{name}.{end}")).is_file(), "{name}.{end}");
        }
        assert!(!report_path.join(format!("{name}.pdf")).exists(), "{name}");
    }
}
