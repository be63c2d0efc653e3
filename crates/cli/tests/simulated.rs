//! Results of a simulated model say so wherever they are printed, drawn or exported: the real program on the shipped
//! sample.

use std::path::Path;
use std::process::Command;

use crate::kinds;

const WORD: &str = "simulated";

fn stamina(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stamina"))
        .arg("--db")
        .arg(folder.join("library.sqlite"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("stamina runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What was written, as text; an SVG's is in it as it stands.
fn written(folder: &Path, args: &[&str], name: &str) -> String {
    let mut args = args.to_vec();
    args.extend(["--out", name]);
    stamina(folder, &args);
    String::from_utf8(std::fs::read(folder.join(name)).expect("a file")).expect("text")
}

/// Two runs of the sample.
const RUNS: [&str; 2] = ["sample-simulated.codex-strong", "sample-simulated.codex-weak"];

/// A folder with a library of the sample.
fn with_the_sample() -> tempfile::TempDir {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/sample-simulated.zip");
    let folder = tempfile::tempdir().expect("a folder");
    stamina(folder.path(), &["ingest", sample.to_str().expect("UTF-8")]);
    folder
}

#[test]
fn what_a_scripted_model_came_to_says_so_where_it_is_printed() {
    let folder = with_the_sample();
    let folder = folder.path();
    let printed = [
        vec!["runs"],
        vec!["show", RUNS[0]],
        vec!["survival", RUNS[0]],
        vec!["compare", RUNS[0], RUNS[1]],
        vec!["matrix"],
        vec!["failures"],
        vec!["failures", RUNS[1], "--by", "harness"],
    ];
    for args in &printed {
        assert!(stamina(folder, args).contains(WORD), "{args:?}");
    }
}

/// The second run is the same, of a real model.
#[test]
fn a_scripted_model_has_no_cost_whatever_its_source_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let table = "run,harness,model,scenario,turn,attempt,passed,planned_turns,cost_usd,simulated\n\
        played,h,m,a,1,1,true,2,0.5,true\nplayed,h,m,a,2,1,false,2,0.25,true\n\
        asked,h,m,a,1,1,true,2,0.5,false\nasked,h,m,a,2,1,false,2,0.25,false\n";
    std::fs::write(folder.join("costs.csv"), table).expect("written");
    stamina(folder, &["ingest", "costs.csv"]);
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stamina(folder, &[args, &["--json"]].concat())).expect("JSON")
    };
    let runs = json(&["runs"]);
    let run = |simulated: bool| {
        let runs = runs.as_array().expect("runs");
        runs.iter().find(|run| run["simulated"] == simulated).expect("a run").clone()
    };
    assert!(run(true)["cost_usd"].is_null() && run(true)["cost_known"]["known"] == 0, "{runs}");
    assert_eq!((&run(false)["cost_usd"], &run(false)["cost_known"]["known"]), (&0.75.into(), &1.into()));
    let ids = [run(true), run(false)].map(|run| run["id"].as_str().expect("an id").to_owned());
    let members = ["compare", ids[0].as_str(), ids[1].as_str()];
    let compared = json(&members);
    let [played, billed] = [0_usize, 1].map(|index| compared["runs"][index]["spent"].clone());
    for name in ["cost_usd", "cost_per_episode", "cost_per_turn", "cost_per_survived_turn"] {
        assert!(played[name].is_null() && billed[name].is_number(), "{name}: {compared}");
    }
    for (args, times) in [(&["runs"][..], 1), (&members[..], 2)] {
        let shown = stamina(folder, args);
        assert_eq!(shown.matches("no cost").count(), times, "{shown}");
        assert!(shown.contains("0.75"), "{shown}");
    }
}

/// A table of the two runs in one of its formats.
fn check_table(folder: &Path, kind: &str, ending: &str) {
    let file = written(folder, &["table", kind, RUNS[0], RUNS[1]], &format!("{kind}.{ending}"));
    assert!(file.to_lowercase().contains(WORD), "the table {kind} as {ending}");
}

/// The kinds of tables that are about runs: what others published and the rules are about none.
fn tables_of_runs() -> Vec<String> {
    let about_none = ["published", "rules"];
    kinds::tables_of_runs().into_iter().filter(|kind| !about_none.contains(&kind.as_str())).collect()
}

/// In the format that no report has. The others are looked at with a report.
#[test]
fn what_a_scripted_model_came_to_says_so_in_every_table() {
    let folder = with_the_sample();
    for kind in tables_of_runs() {
        check_table(folder.path(), &kind, "html");
    }
}

#[test]
fn what_a_scripted_model_came_to_says_so_in_every_figure() {
    let folder = with_the_sample();
    let folder = folder.path();
    for kind in kinds::figures() {
        let args = ["figure", kind.as_str(), RUNS[0], RUNS[1]];
        // A simulated model costs nothing that is known: as a picture there is no point to draw.
        let endings = if kind == "pareto" { &["csv"][..] } else { &["svg", "tex", "csv"] };
        for ending in endings {
            let file = written(folder, &args, &format!("figure-{kind}.{ending}"));
            assert!(file.contains(WORD), "the figure {kind} as {ending}");
        }
    }
    let drawn =
        written(folder, &["figure", "failures", RUNS[0], RUNS[1], "--by", "harness"], "by-harness.svg");
    assert!(drawn.contains(WORD), "failures by harness");
}

#[test]
fn what_a_scripted_model_came_to_says_so_in_every_file_of_a_report() {
    let folder = with_the_sample();
    let folder = folder.path();
    stamina(folder, &["report", RUNS[0], RUNS[1], "--out", "report"]);
    let read =
        |name: &str| std::fs::read_to_string(folder.join("report").join(name)).expect("a file of the report");
    for name in ["report.md", "report.html", "README.md", "settings.json"] {
        assert!(read(name).contains(WORD), "{name}");
    }
    let tables = std::fs::read_dir(folder.join("report/tables")).expect("tables");
    for table in tables {
        let name = table.expect("a table").file_name();
        // Packed: the same table as the CSV beside it, the same drawing as the SVG.
        let name_of = name.to_string_lossy();
        let packed = [(".parquet", "csv"), (".pdf", "svg"), (".png", "svg")]
            .iter()
            .find_map(|(ending, beside)| Some((name_of.strip_suffix(ending)?, beside)));
        if let Some((packed, beside)) = packed {
            assert!(folder.join("report/tables").join(format!("{packed}.{beside}")).exists(), "{packed}");
            continue;
        }
        let text = read(&format!("tables/{}", name.to_string_lossy()));
        assert!(text.to_lowercase().contains(WORD), "{}", name.display());
    }
    // Kinds of tables that a report does not have, in the formats that it has.
    let in_report = |kind: &str, ending: &str| folder.join(format!("report/tables/{kind}.{ending}")).exists();
    let endings = ["md", "csv", "tex"];
    assert!(endings.iter().all(|ending| in_report("runs", ending)), "a report has each of them");
    for kind in tables_of_runs() {
        for ending in endings.into_iter().filter(|ending| !in_report(&kind, ending)) {
            check_table(folder, &kind, ending);
        }
    }
}
