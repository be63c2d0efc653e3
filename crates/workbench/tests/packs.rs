//! The commands of the Scenarios page on real packs, and on broken and hostile ones.

use std::path::Path;
use std::sync::Arc;

use scenario::config::Generation;
use scenario::pack::{Options as Writing, Target, generate};
use scenario::sample::ProgrammaticSampler;
use workbench::api::{
    GeneratePack, GenerationSettings, Job, JobRef, JobState, Nothing, OpenSource, ScenarioCaseRequest,
    ScenarioDocument, ScenarioDocumentRequest, ScenarioSuiteRequest, ScenarioTurnRef, TableSubject,
    ValidatePack,
};
use workbench::{Options, Workbench};

fn write(path: &Path, seed: u64) {
    let generation = Generation { n_scenarios: 2, n_turns: 3, base_seed: seed, ..Generation::default() };
    let stop = std::sync::atomic::AtomicBool::new(false);
    generate(
        &generation,
        &ProgrammaticSampler,
        &Target::from_path(path),
        &Writing::default(),
        &|_| {},
        &stop,
    )
    .expect("a pack");
}

fn lab(temp: &Path) -> Arc<Workbench> {
    Workbench::open(Options { db: Some(temp.join("library.sqlite")), ..Options::default() })
        .expect("a library")
}

fn opened(lab: &Workbench, path: &Path) -> i64 {
    lab.ingest(path, &|_, _| {}).expect("it is read");
    lab.list_packs(Nothing {})
        .expect("packs")
        .packs
        .iter()
        .find(|p| Path::new(&p.path) == path.canonicalize().expect("a path"))
        .expect("it is a pack")
        .source
}

fn ended(lab: &Workbench, job: &JobRef) -> Job {
    loop {
        let now = lab.get_job(job.clone()).expect("it is there");
        if now.state != JobState::Running {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn settings() -> GenerationSettings {
    GenerationSettings { iterative: true, scenarios: 1, turns: 2, changes_per_turn: 5, seed: 3 }
}

#[test]
fn a_turn_is_told_as_the_pack_has_it() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack.zip");
    write(&path, 3);
    let lab = lab(temp.path());
    let source = opened(&lab, &path);
    let pack = lab.list_packs(Nothing {}).expect("packs").packs.remove(0);
    assert_eq!((pack.problem, pack.scenarios.len(), pack.scenarios[1].turns, pack.seed), (None, 2, 3, 3));
    let turn_ref = ScenarioTurnRef { source, folder: pack.folder, scenario: 1, turn: 3 };
    let turn = lab.get_scenario_turn(turn_ref.clone()).expect("a turn");
    assert_eq!((turn.turns, turn.changes.len(), turn.counts.entities as usize), (3, 5, turn.entities.len()));
    assert_eq!(turn.counts.cases, turn.counts.new + turn.counts.changed + turn.counts.unchanged);
    let list_cases = |marks: &[&str], text: &str| {
        let marks = marks.iter().map(|&m| m.to_owned()).collect();
        lab.list_scenario_cases(ScenarioSuiteRequest {
            turn: turn_ref.clone(),
            text: text.to_owned(),
            marks,
            aspects: Vec::new(),
            offset: 0,
            limit: 3,
        })
        .expect("cases")
    };
    assert_eq!(
        (list_cases(&[], "").total, list_cases(&["new"], "").total),
        (turn.counts.cases, turn.counts.new)
    );
    assert_eq!(list_cases(&[], "").cases.len(), 3);
    // What a page shows does not cut the table.
    let suite = |marks: &[&str]| {
        let marks = marks.iter().map(|&m| m.to_owned()).collect();
        let requested = ScenarioSuiteRequest {
            turn: turn_ref.clone(),
            text: String::new(),
            marks,
            aspects: Vec::new(),
            offset: 2,
            limit: 1,
        };
        lab.table(&TableSubject::Suite { request: requested }).expect("a table").rows.len() as u32
    };
    assert_eq!((suite(&[]), suite(&["new"])), (turn.counts.cases, turn.counts.new));
    let id = list_cases(&["new"], "").cases[0].id.clone();
    assert!(list_cases(&[], &id).total >= 1);
    let case = lab.get_scenario_case(ScenarioCaseRequest { turn: turn_ref.clone(), id }).expect("a case");
    assert!(!case.steps.is_empty() && !case.says.is_empty());
    for document in [
        ScenarioDocument::Request,
        ScenarioDocument::Specification,
        ScenarioDocument::Schema,
        ScenarioDocument::Changes,
        ScenarioDocument::Reference,
        ScenarioDocument::Pytest,
    ] {
        let text = lab
            .get_scenario_document(ScenarioDocumentRequest { turn: turn_ref.clone(), document })
            .expect("a document");
        assert!(text.text.len() > 100, "{}", text.path);
    }
    assert_eq!(
        lab.get_scenario_turn(ScenarioTurnRef { turn: 4, ..turn_ref }).expect_err("no such turn").code,
        "pack.no_such"
    );
}

/// What the cases of a turn cite, with its words, and the specification of the turn.
fn cited(lab: &Workbench, turn: &ScenarioTurnRef) -> (Vec<(String, Option<String>)>, String) {
    let suite = lab
        .list_scenario_cases(ScenarioSuiteRequest {
            turn: turn.clone(),
            text: String::new(),
            marks: Vec::new(),
            aspects: Vec::new(),
            offset: 0,
            limit: 2_000,
        })
        .expect("cases");
    let case =
        |id: String| lab.get_scenario_case(ScenarioCaseRequest { turn: turn.clone(), id }).expect("a case");
    let clauses = suite.cases.into_iter().step_by(4).flat_map(|info| case(info.id).says).collect();
    let document = ScenarioDocument::Specification;
    let text =
        lab.get_scenario_document(ScenarioDocumentRequest { turn: turn.clone(), document }).expect("a text");
    (clauses, text.text)
}

#[test]
fn clauses_are_shown_as_the_pack_wrote_them() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack.zip");
    write(&path, 3);
    let lab = lab(temp.path());
    let turn_at = |path: &Path, turn| ScenarioTurnRef {
        source: opened(&lab, path),
        folder: String::new(),
        scenario: 0,
        turn,
    };
    let (clauses, text) = cited(&lab, &turn_at(&path, 2));
    assert!(clauses.len() > 20 && clauses.iter().all(|(_, words)| words.is_some()));
    assert!(clauses.iter().all(|(_, words)| text.contains(words.as_deref().unwrap_or("never"))));
    // A pack of an earlier version has words of its own.
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/packs/stamina-pack-3.zip");
    let (clauses, text) = cited(&lab, &turn_at(&earlier, 2));
    assert!(clauses.len() > 20 && clauses.iter().any(|(_, words)| words.is_none()));
    for (id, words) in clauses {
        assert!(words.is_none_or(|words| text.contains(&words)), "{id} is not what the pack says");
    }
}

#[test]
fn a_pack_is_made_opened_and_validated() {
    let temp = tempfile::tempdir().expect("a folder");
    let lab = lab(temp.path());
    let out = temp.path().join("made").display().to_string();
    let job = lab.generate_pack(GeneratePack { out: out.clone(), settings: settings() }).expect("it begins");
    let job = ended(&lab, &job);
    assert_eq!((job.state, job.error, job.progress), (JobState::Done, None, (2, 2)));
    let manifest = job.generated.expect("what was made");
    assert_eq!((manifest.scenarios, manifest.turns), (1, 2));
    lab.open_source(OpenSource { path: out }).expect("it is open");
    let source = opened(&lab, Path::new(&manifest.path));
    let validate = |scenarios: Vec<u32>| {
        lab.validate_pack(ValidatePack { source, folder: String::new(), mutants: 1, scenarios })
    };
    let validation = validate(vec![0]).expect("it begins");
    let found = ended(&lab, &validation).validation.expect("what was found");
    // What it found can be taken away.
    let mutants = lab.table(&TableSubject::Mutants { job: validation.clone() }).expect("a table");
    assert_eq!(mutants.rows.len(), found.operators.len());
    let findings = lab.table(&TableSubject::Findings { job: validation }).expect("a table");
    assert_eq!(findings.rows.len(), found.survivors.len());
    assert!(findings.notes[0].starts_with("Turns: 2, scenarios: 1: valid."), "{:?}", findings.notes);
    assert_eq!((found.good, found.turns, found.reference_failures, found.damages), (true, 2, 0, 0));
    assert!(found.mutants > 20 && found.killed * 100 >= found.mutants * 97, "{found:?}");
    assert_eq!(validate(vec![1]).expect_err("there is one").code, "pack.no_such");
    let many = ValidatePack { source, folder: String::new(), mutants: 21, scenarios: vec![0] };
    assert_eq!(lab.validate_pack(many).expect_err("too many").code, "pack.mutants");
}

#[test]
fn settings_are_estimated_or_refused_field_by_field() {
    let temp = tempfile::tempdir().expect("a folder");
    let lab = lab(temp.path());
    let estimate = |settings| lab.estimate_generation(settings).expect("an answer");
    let good = estimate(settings());
    assert_eq!((good.files, good.problems.len()), (14, 0));
    // What was estimated is near what is made.
    let bytes = ended(
        &lab,
        &lab.generate_pack(GeneratePack {
            out: temp.path().join("made").display().to_string(),
            settings: settings(),
        })
        .expect("it begins"),
    )
    .generated
    .expect("what was made")
    .bytes;
    assert!((good.bytes as f64 / bytes as f64 - 1.0).abs() < 0.5, "{} for {bytes}", good.bytes);
    // One turn has no changes and no more turns, whatever the form still holds.
    assert_eq!(estimate(GenerationSettings { iterative: false, turns: 100, ..settings() }).files, 7);
    let bad =
        estimate(GenerationSettings { turns: u32::MAX, scenarios: 0, changes_per_turn: 51, ..settings() });
    assert_eq!(
        bad.problems.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(),
        ["scenarios", "turns", "changes_per_turn"]
    );
    let refused = |out: &str| {
        lab.generate_pack(GeneratePack { out: out.to_owned(), settings: settings() })
            .expect_err("refused")
            .code
    };
    assert_eq!(refused("somewhere"), "pack.relative");
}

#[test]
fn a_broken_pack_says_what_is_wrong_and_stays_listed() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    write(&path, 4);
    let lab = lab(temp.path());
    let source = opened(&lab, &path);
    let request = ScenarioTurnRef { source, folder: String::new(), scenario: 0, turn: 2 };
    for file in ["schemas/turn_2.yaml", "test_suites/turn_2.json"] {
        let file = path.join("scenario_0").join(file);
        let whole = std::fs::read(&file).expect("it is there");
        for bad in [&b""[..], b"\xff\xfe", b"[]", &whole[..whole.len() / 2], b"a: &a [*a, *a]"] {
            std::fs::write(&file, bad).expect("it can be written");
            let error = lab.get_scenario_turn(request.clone()).expect_err("it is broken");
            assert!(!error.code.starts_with("command"), "{error:?}");
        }
        std::fs::write(&file, whole).expect("it can be written");
    }
    lab.get_scenario_turn(request).expect("it is whole again");
    std::fs::write(path.join("manifest.json"), "{\"format\": \"stamina-pack/1\"}")
        .expect("it can be written");
    let pack = lab.list_packs(Nothing {}).expect("packs").packs.remove(0);
    assert!(pack.problem.is_some() && pack.scenarios.is_empty());
}
