//! Generated Flask servers and pytest suites against the native server and client: the same verdict for every case.
//!
//! With real Flask and pytest, on a sample; `examples/parity.rs` does the same for as much as is wanted.

#![allow(clippy::print_stderr, reason = "a note to who runs the tests")]

#[path = "python/mod.rs"]
mod python;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use python::{
    Failure, HOW_TO_GET_PYTHON, Python, compare, find_python, is_every_way, mutants, one_case_per_kind,
    reference, sampled,
};
use scenario::Seed;
use scenario::code::flask;
use scenario::config::Generation;
use scenario::ir::{Comparison, Condition, Effect, Field, Kind, OnDelete, Operand, Schema, example};
use scenario::pack::{Options, Pack, Target, generate};
use scenario::reference::Flaw;
use scenario::sample::ProgrammaticSampler;
use scenario::suite::suite;

/// Python, or nothing where it may be missing: on a machine that is not set up for tests.
fn python_or_note() -> Result<Option<Python>, Failure> {
    match find_python() {
        Some(python) => Ok(Some(Python::new(python)?)),
        None if std::env::var("CI").is_ok_and(|ci| ci == "true") => Err(HOW_TO_GET_PYTHON.into()),
        None => {
            eprintln!("Not tested, for there is no Python: {HOW_TO_GET_PYTHON}");
            Ok(None)
        }
    }
}

#[test]
fn both_clients_and_both_servers_agree_on_every_case() -> Result<(), Failure> {
    let Some(python) = python_or_note()? else { return Ok(()) };
    let example = example();
    let example_suite = suite(Seed { base: 0, scenario: 0 }, &example, None);
    let mut turns = vec![(Arc::new(example), example_suite)];
    // In `npm test` the tests of a pack (below) meet turn 2 of the first scenario.
    let drawn: &[(u32, u32)] = if is_every_way() { &[(0, 2), (1, 20)] } else { &[(1, 20)] };
    for &(scenario, turn) in drawn {
        turns.extend(
            sampled(Seed { base: 0, scenario }, &[turn])?.into_iter().map(|turn| (turn.schema, turn.suite)),
        );
    }
    for (schema, suite) in &turns {
        let agreement = compare(&python, schema, &BTreeSet::new(), suite)?;
        let place = format!("{}, turn {}", schema.title, schema.turn);
        assert!(agreement.cases > 100, "{place}: only {} cases", agreement.cases);
        assert!(agreement.differ.is_empty(), "{place}: {:#?}\n{}", agreement.differ, agreement.output);
        assert!(agreement.failed.is_empty(), "{place}: {:#?}\n{}", agreement.failed, agreement.output);
    }
    Ok(())
}

/// The files of a pack take over tests of one another; what runs must be the suite of the turn all the same.
#[test]
fn the_tests_of_a_pack_are_those_of_the_whole_suite() -> Result<(), Failure> {
    let Some(python) = python_or_note()? else { return Ok(()) };
    let room = tempfile::tempdir()?;
    let path = room.path().join("pack");
    let generation = Generation { n_scenarios: 1, n_turns: 6, ..Generation::default() };
    let never = AtomicBool::new(false);
    generate(
        &generation,
        &ProgrammaticSampler,
        &Target::Folder(path.clone()),
        &Options::default(),
        &|_| {},
        &never,
    )?;
    let pack = Pack::open_path(&path)?;
    // The server of the turn before fails some of them.
    for (turn, server) in [(2, 2), (2, 1), (6, 5)] {
        let suite = pack.suite(0, turn)?;
        let reference = reference(&pack.schema(0, server)?, BTreeSet::new())?;
        let (whole, _) = python.pytest(&suite, &reference.url)?;
        let file = format!("turn_{turn}.py");
        let (taken, output) =
            python.pytest_in(&path.join("scenario_0/test_suites"), &file, &reference.url)?;
        assert_eq!(whole.len(), suite.cases.len(), "{output}");
        assert_eq!(taken, whole, "turn {turn} on the server of turn {server}: {output}");
        assert_eq!(whole.values().all(|passed| *passed), server == turn);
        // A test that fails says with which values, though what compares them stands in another file.
        assert!(!output.lines().any(|line| line.ends_with(": AssertionError")), "{output}");
    }
    Ok(())
}

#[test]
fn they_agree_on_what_mutants_break() -> Result<(), Failure> {
    let Some(python) = python_or_note()? else { return Ok(()) };
    let example = example();
    let whole = suite(Seed { base: 0, scenario: 0 }, &example, None);
    let shortened = one_case_per_kind(&example, whole.clone());
    let mut mutants = Vec::new();
    for (label, mutate) in MUTATIONS {
        let mut mutant = example.clone();
        mutate(&mut mutant);
        assert_ne!(mutant, example, "{label} changes nothing");
        mutants.push((label, mutant, BTreeSet::new()));
    }
    let flaws = BTreeSet::from([Flaw::FilterIgnored, Flaw::NullNotShown, Flaw::ResetKeepsIds]);
    mutants.push(("flaws of the reference", example, flaws));
    for (number, (label, schema, flaws)) in mutants.iter().enumerate() {
        let mut suite = whole.clone();
        if !is_every_way() {
            // Every second kind, in turn the others, to save time: a mutant here has many faults.
            suite.cases = shortened.cases.iter().skip(number % 2).step_by(2).cloned().collect();
        }
        let agreement = compare(&python, schema, flaws, &suite)?;
        assert!(agreement.differ.is_empty(), "{label}: {:#?}\n{}", agreement.differ, agreement.output);
        assert!(!agreement.failed.is_empty(), "{label}: no case notices it");
    }
    Ok(())
}

/// The mutants that `stamina validate` makes, of a late turn: a change of the schema on both servers, a flaw on the reference.
///
/// Each mutant meets a third of the suite, another one each, so that a case of each kind is asked; with `STAMINA_EVERY_WAY`, every
/// case. `npm run test:deep` lets mutants of every turn meet whole suites (`examples/parity.rs`).
#[test]
fn they_agree_on_mutants_of_a_late_turn() -> Result<(), Failure> {
    const PARTS: usize = 3;
    let Some(python) = python_or_note()? else { return Ok(()) };
    let mut used = BTreeMap::new();
    for mut turn in sampled(Seed { base: 0, scenario: 2 }, &[45])? {
        let whole = turn.suite.cases.len();
        if !is_every_way() {
            turn.suite = one_case_per_kind(&turn.schema, turn.suite);
        }
        let (mut on_flask, mut tested) = (0, 0);
        for (number, mutant) in mutants(&turn, PARTS, &mut used).into_iter().enumerate() {
            let label = format!("{} at {}", mutant.operator.name(), mutant.site);
            let mut part = turn.suite.clone();
            part.cases = part.cases.into_iter().skip(number).step_by(PARTS).collect();
            let agreement = compare(&python, &mutant.schema, &mutant.flaws, &part)?;
            assert!(agreement.differ.is_empty(), "{label}: {:#?}\n{}", agreement.differ, agreement.output);
            tested += agreement.cases;
            on_flask += usize::from(mutant.flaws.is_empty());
        }
        assert!(tested == turn.suite.cases.len() && whole > 400, "{tested} of {whole} cases");
        assert!(on_flask >= 1, "only {on_flask} mutants on Flask");
    }
    Ok(())
}

type Mutation = fn(&mut Schema);

const MUTATIONS: [(&str, Mutation); 4] = [
    ("nulls where there are none", |schema| {
        for field in schema.entities.iter_mut().flat_map(|entity| &mut entity.fields) {
            field.nullable = field.is_writable();
        }
    }),
    ("other rules of deletion, other defaults", |schema| {
        for field in schema.entities.iter_mut().flat_map(|entity| &mut entity.fields) {
            if let Kind::Reference { on_delete, .. } = &mut field.kind {
                *on_delete = match on_delete {
                    OnDelete::Cascade => OnDelete::Restrict,
                    OnDelete::Restrict | OnDelete::SetNull => OnDelete::Cascade,
                };
            }
            field.unique = false;
            field.immutable = false;
            if let Some(serde_json::Value::Bool(default)) = &mut field.default {
                *default = !*default;
            }
        }
    }),
    ("guards inverted, effects off by one", |schema| {
        for action in schema.entities.iter_mut().flat_map(|entity| &mut entity.actions) {
            for guard in &mut action.guards {
                if let Condition::Field { is, .. } | Condition::Related { is, .. } = &mut guard.condition {
                    *is = match is.clone() {
                        Comparison::Equals(value) => Comparison::Not(value),
                        Comparison::Not(value) => Comparison::Equals(value),
                        other => other,
                    };
                }
            }
            for effect in &mut action.effects {
                if let Effect::Increment { by, .. } = effect {
                    *by = Operand::Value(1.into());
                }
            }
        }
    }),
    ("no filters, soft delete turned round, other statuses", |schema| {
        for entity in &mut schema.entities {
            entity.filters.clear();
            entity.soft_delete = !entity.soft_delete;
        }
        schema.conventions.status.deleted = 200;
        schema.conventions.status.refused = 403;
    }),
];

/// Names that mean something in Python or in the written code must not break it.
#[test]
fn servers_are_valid_python_whatever_the_names() -> Result<(), Failure> {
    let Some(python) = find_python() else { return python_or_note().map(|_| ()) };
    let names = [
        "class", "import", "from", "list", "id_2", "request", "app", "rows", "value", "none", "table", "self",
    ];
    let mut schema = example();
    schema.title = "A \"\"\" title \\".to_owned();
    let mut next = names.iter().cycle();
    let mut name = || (*next.next().unwrap_or(&"name")).to_owned();
    for entity in &mut schema.entities {
        entity.name = name();
        entity.plural = name();
        entity.about = "lines\nand \"quotes\"".to_owned();
        for Field { name: field_name, kind, .. } in &mut entity.fields {
            *field_name = name();
            if let Kind::Enum { values } = kind {
                values.push("\"\\\n".to_owned());
            }
        }
        for action in &mut entity.actions {
            action.name = name();
            // Keys that lead nowhere.
            action.guards.truncate(1);
            action
                .effects
                .push(Effect::Set { field: "nowhere".to_owned(), to: Operand::Param("nothing".to_owned()) });
        }
    }
    for analytic in &mut schema.analytics {
        analytic.name = name();
    }
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("server.py");
    fs::write(&file, flask(&schema))?;
    // Importing it compiles it and registers all routes; it serves only as a program.
    let run = Command::new(python)
        .args(["-W", "error", "-c", "import server"])
        .current_dir(folder.path())
        .output()?;
    assert!(run.status.success(), "{}\n{}", String::from_utf8_lossy(&run.stderr), flask(&schema));
    Ok(())
}
