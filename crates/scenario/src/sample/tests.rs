//! What the sampler makes: valid schemas, of every kind of change, of the right size, and the same always.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::*;
use crate::change::{ActionChange, AnalyticChange, ConventionKind, EntityChange, EntityKind, FieldChange};
use crate::check::check;

fn seed(scenario: u32) -> Seed {
    Seed { base: 0, scenario }
}

/// The schemas of the first turns of a scenario, and the changes that led to each.
type Turns = Vec<(Schema, Vec<Change>)>;

fn make(scenario: u32, turns: u32) -> Turns {
    let first = ProgrammaticSampler.first_schema(seed(scenario)).unwrap();
    assert!(first.answers.is_empty());
    let mut all = vec![(first.value, Vec::new())];
    for _ in 1..turns {
        let turn = ProgrammaticSampler.next_turn(seed(scenario), &all.last().unwrap().0, 5).unwrap().value;
        assert!(turn.origins.iter().all(|origin| *origin == Origin::Programmatic));
        assert_eq!(turn.origins.len(), turn.changes.len());
        all.push((turn.after, turn.changes));
    }
    all
}

/// Six scenarios of 100 turns.
fn scenarios() -> Vec<Turns> {
    std::thread::scope(|scope| {
        let halves = [0, 3].map(|first| {
            scope.spawn(move || (first..first + 3).map(|number| make(number, 100)).collect::<Vec<_>>())
        });
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    })
}

/// A name and what must hold of all scenarios.
type Check = (&'static str, fn(&[Turns]));

/// One test, because 600 turns take long to make and each test may have a process of its own. Each check has a thread that
/// bears its name, so that all of them are made and each that fails says so.
#[test]
fn six_scenarios_of_a_hundred_turns_are_as_they_should_be() {
    let checks: [Check; 9] = [
        ("the_same_seed_gives_the_same_bytes", the_same_seed_gives_the_same_bytes),
        ("seed_0_is_what_it_was", seed_0_is_what_it_was),
        ("every_schema_is_valid_and_every_turn_whole", every_schema_is_valid_and_every_turn_whole),
        ("changes_lead_from_schema_to_schema", changes_lead_from_schema_to_schema),
        ("every_kind_of_change_comes", every_kind_of_change_comes),
        ("a_turn_changes_nothing_twice", a_turn_changes_nothing_twice),
        ("sizes_follow_the_schedule", sizes_follow_the_schedule),
        ("no_name_comes_back_with_another_meaning", no_name_comes_back_with_another_meaning),
        ("no_word_is_doubled_and_articles_fit", no_word_is_doubled_and_articles_fit),
    ];
    let scenarios: &[Turns] = &scenarios();
    let failed: Vec<&str> = std::thread::scope(|scope| {
        let checks_in_threads = checks.map(|(name, check)| {
            let thread = std::thread::Builder::new().name(name.to_owned());
            (name, thread.spawn_scoped(scope, move || check(scenarios)).unwrap())
        });
        checks_in_threads
            .into_iter()
            .filter_map(|(name, check)| check.join().is_err().then_some(name))
            .collect()
    });
    assert!(failed.is_empty(), "these failed, each with a message above: {failed:?}");
}

fn hash(schema: &Schema) -> String {
    let digest = Sha256::digest(serde_json::to_vec(schema).unwrap());
    digest.iter().take(8).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn the_same_seed_gives_the_same_bytes(scenarios: &[Turns]) {
    for number in [1, 4] {
        let again = make(number, 12);
        // How many turns follow makes no difference.
        let all = &scenarios[number as usize];
        for ((again, changes), (schema, same)) in again.iter().zip(all) {
            assert_eq!(hash(again), hash(schema));
            assert_eq!(changes, same);
        }
    }
    // Nor does how many changes follow.
    let before = &scenarios[0][40].0;
    let three = ProgrammaticSampler.next_turn(seed(0), before, 3).unwrap().value.changes;
    assert_eq!(three, scenarios[0][41].1[..3]);
    // Another scenario and another base seed are others.
    let other = ProgrammaticSampler.first_schema(Seed { base: 1, scenario: 0 }).unwrap().value;
    assert_ne!(hash(&other), hash(&scenarios[0][0].0));
}

/// A change of these hashes is a change of every pack: the version of the format must count on, and gets a line of its own.
fn seed_0_is_what_it_was(scenarios: &[Turns]) {
    let hashes = [(0, 1), (0, 2), (2, 30), (5, 100)]
        .map(|(number, turn): (usize, usize)| hash(&scenarios[number][turn - 1].0));
    let golden = GOLDEN.last().unwrap();
    assert_eq!((crate::pack::PACK_VERSION, hashes.each_ref().map(String::as_str)), *golden);
}
/// By version of the format, for the record: the first turn, the second, the thirtieth and the hundredth, of scenarios 0, 0, 2
/// and 5.
const GOLDEN: [(&str, [&str; 4]); 7] = [
    ("stamina-pack/1", ["e15fcba7755daf7e", "795f292915a64411", "9f95f4da5015d262", "8b9b54da7f54ba6f"]),
    ("stamina-pack/2", ["e15fcba7755daf7e", "795f292915a64411", "9f95f4da5015d262", "d4b7351b38826c04"]),
    ("stamina-pack/3", ["e15fcba7755daf7e", "795f292915a64411", "9f95f4da5015d262", "d4b7351b38826c04"]),
    ("stamina-pack/4", ["e15fcba7755daf7e", "795f292915a64411", "9f95f4da5015d262", "d4b7351b38826c04"]),
    ("stamina-pack/5", ["e15fcba7755daf7e", "795f292915a64411", "e2fd50c4a12286b2", "b5632aa56c694dcc"]),
    ("stamina-pack/6", ["8bb78644b0caecbd", "f7f7b625e8584be6", "dc376f9850c22bff", "f72630c0f3cfcb19"]),
    ("stamina-pack/7", ["8bb78644b0caecbd", "f7f7b625e8584be6", "d3283a99f485f7bb", "f72630c0f3cfcb19"]),
];

fn every_schema_is_valid_and_every_turn_whole(scenarios: &[Turns]) {
    for number in 0..20 {
        assert_eq!(
            check(&ProgrammaticSampler.first_schema(seed(number)).unwrap().value),
            [],
            "first of {number}"
        );
    }
    for turns in scenarios.iter().take(4) {
        for (index, (schema, changes)) in turns.iter().enumerate().take(60) {
            assert_eq!(check(schema), [], "{} turn {}", schema.topic, schema.turn);
            assert_eq!(schema.turn as usize, index + 1);
            assert_eq!(changes.len(), if index == 0 { 0 } else { 5 });
        }
    }
}

fn changes_lead_from_schema_to_schema(scenarios: &[Turns]) {
    for turns in scenarios {
        for pair in turns.windows(2).step_by(9) {
            let [(before, _), (after, changes)] = pair else { panic!() };
            let replayed =
                changes.iter().fold(next_turn(before), |schema, change| apply(&schema, change).unwrap());
            assert_eq!(&replayed, after);
        }
    }
}

#[test]
fn a_first_schema_is_small_and_has_a_bit_of_all() {
    let mut topics = BTreeSet::new();
    for number in 0..20 {
        let schema = ProgrammaticSampler.first_schema(seed(number)).unwrap().value;
        assert!(topics.insert(schema.topic.clone()), "{} twice", schema.topic);
        assert!((3..=4).contains(&schema.entities.len()));
        let references = schema.entities.iter().flat_map(|entity| &entity.fields);
        let references = references.filter(|field| field.target().is_some()).count();
        assert!((2..=4).contains(&references), "{number}: {references} references");
        let actions: usize = schema.entities.iter().map(|entity| entity.actions.len()).sum();
        assert!((2..=3).contains(&actions), "{number}: {actions} actions");
        assert_eq!(schema.analytics.len(), 2, "{number}");
        for entity in &schema.entities {
            let fields = entity.fields.len();
            assert!((4..=7).contains(&fields), "{number}: {} has {fields}", entity.key);
            assert!(!entity.filters.is_empty(), "{number}: {}", entity.key);
        }
        assert!(schema.removed.is_empty() && !schema.used.is_empty());
    }
}

fn every_kind_of_change_comes(scenarios: &[Turns]) {
    let mut counts: BTreeMap<ChangeKind, usize> = ChangeKind::ALL.map(|kind| (kind, 0)).into();
    for (_, changes) in scenarios.iter().flatten() {
        for change in changes {
            *counts.entry(change.kind()).or_default() += 1;
        }
    }
    let missing: Vec<&ChangeKind> =
        counts.iter().filter(|(_, times)| **times == 0).map(|(kind, _)| kind).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(counts.len() >= 30);
    // What changes all routes is rare.
    for (kind, most) in [(ConventionKind::ChangeFieldCase, 24), (ConventionKind::ChangePrefix, 32)] {
        let kind = ChangeKind::Convention(kind);
        assert!(counts[&kind] <= most, "{kind:?} came {} times in 600 turns", counts[&kind]);
    }
}

fn a_turn_changes_nothing_twice(scenarios: &[Turns]) {
    for (schema, changes) in scenarios.iter().flatten() {
        let mut fields = BTreeSet::new();
        let mut entities = BTreeSet::new();
        let mut sweeping = 0;
        for change in changes {
            let kind = change.kind();
            sweeping += usize::from(kind.is_sweeping());
            let written = serde_json::to_value(change).unwrap();
            let key = |name: &str| written.get(name).and_then(|value| value.as_str()).map(str::to_owned);
            if let (Some(entity), Some(field)) = (key("entity"), key("field")) {
                let place = format!("{entity}.{field} in turn {} of {}", schema.turn, schema.topic);
                assert!(fields.insert((entity, field)), "{place}");
            }
            if let ChangeKind::Entity(EntityKind::RenameEntity | EntityKind::RemoveEntity) = kind {
                assert!(entities.insert(key("entity").unwrap()));
            }
        }
        assert!(sweeping <= 1);
        for (entity, field) in &fields {
            assert!(!entities.contains(entity), "{entity} and its {field} in turn {}", schema.turn);
        }
    }
}

fn sizes_follow_the_schedule(scenarios: &[Turns]) {
    let mut last = Vec::new();
    for turns in scenarios {
        for (schema, _) in turns {
            let off = lines_behind(schema);
            assert!(off.abs() <= 900, "{} turn {}: {off} lines off", schema.topic, schema.turn);
            assert!(schema.entities.len() <= 28);
        }
        let (schema, _) = turns.last().unwrap();
        let lines = crate::code::flask(schema).lines().count();
        assert!((4500..=7500).contains(&lines), "{}: {lines} lines at turn 100", schema.topic);
        assert!(
            lines.abs_diff(usize::try_from(size(schema)).unwrap()) <= 600,
            "{lines} lines, taken for {}",
            size(schema)
        );
        last.push(lines);
        for entity in &schema.entities {
            assert!((4..=15).contains(&entity.fields.len()), "{}.{}", schema.topic, entity.key);
        }
    }
    let mean = last.iter().sum::<usize>() / last.len();
    assert!((5400..=6600).contains(&mean), "{mean} lines at turn 100: {last:?}");
}

fn no_name_comes_back_with_another_meaning(scenarios: &[Turns]) {
    for turns in scenarios {
        // What each name stood for, by key; within an entity as `key of the entity.name`.
        let mut meaning: BTreeMap<String, String> = BTreeMap::new();
        let mut note_name = |name: String, key: String| {
            let before = meaning.entry(name.clone()).or_insert_with(|| key.clone());
            assert_eq!(*before, key, "{name}");
        };
        let mut renames: BTreeMap<String, usize> = BTreeMap::new();
        for (schema, changes) in turns {
            for entity in &schema.entities {
                note_name(entity.name.clone(), entity.key.clone());
                note_name(entity.plural.clone(), entity.key.clone());
                for field in &entity.fields {
                    note_name(format!("{}.{}", entity.key, field.name), field.key.clone());
                }
                for action in &entity.actions {
                    note_name(format!("{}.{}", entity.key, action.name), format!("action {}", action.key));
                }
            }
            for analytic in &schema.analytics {
                note_name(analytic.name.clone(), format!("analytic {}", analytic.key));
            }
            for change in changes {
                let subject = match change {
                    Change::Entity(EntityChange::RenameEntity { entity, .. }) => entity.clone(),
                    Change::Field(FieldChange::RenameField { entity, field, .. }) => {
                        format!("{entity}.{field}")
                    }
                    Change::Action(ActionChange::RenameAction { entity, action, .. }) => {
                        format!("{entity}.{action}")
                    }
                    Change::Analytic(AnalyticChange::RenameAnalytic { analytic, .. }) => {
                        format!("analytics.{analytic}")
                    }
                    _ => continue,
                };
                *renames.entry(subject).or_default() += 1;
            }
        }
        assert!(!renames.is_empty());
        assert!(renames.values().all(|times| *times <= 2), "{renames:?}");
        // No name is made unique by a number.
        assert!(meaning.keys().all(|name| !name.contains(|c: char| c.is_ascii_digit())));
    }
}

/// `exam_photo_photo`, `average_average_score`, a picture of a exam.
fn no_word_is_doubled_and_articles_fit(scenarios: &[Turns]) {
    let mut children = 0;
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for (schema, _) in scenarios.iter().flatten() {
        for entity in &schema.entities {
            names.extend([entity.name.as_str(), entity.plural.as_str()]);
            let is_child = |child: &crate::vocabulary::ChildWord| {
                let before = child.word.about.split_once("{}").map_or("", |(before, _)| before);
                !before.is_empty() && entity.about.starts_with(before)
            };
            children += usize::from(crate::vocabulary::vocabulary().children.iter().any(is_child));
            let words: Vec<&str> = entity.about.split(' ').collect();
            for pair in words.windows(2) {
                let is_wrong = pair[0] == "a" && pair[1].starts_with(['a', 'e', 'i']);
                assert!(!is_wrong, "{}: {}", entity.name, entity.about);
            }
        }
        names.extend(schema.analytics.iter().map(|analytic| analytic.name.as_str()));
    }
    for name in names {
        let words: Vec<&str> = name.split('_').collect();
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{name}");
    }
    assert!(children > 0, "no entity that belongs to another one");
}

#[test]
fn a_name_of_two_has_no_word_twice_in_a_row() {
    for (first, second, name) in [
        ("film_rating", "rating", "film_rating"),
        ("film_rating", "rating_count", "film_rating_count"),
        ("average", "average_score", "average_score"),
        ("film", "films_shown", "film_films_shown"),
        ("film", "rating", "film_rating"),
    ] {
        assert_eq!(super::names::joined(first, second), name);
    }
    // A photo of what is called a photo, or a picture.
    let mut schema = crate::ir::example();
    schema.entities[0].name = "exam_picture".to_owned();
    let nouns = super::names::child_nouns(&schema, &schema.entities[0]);
    assert!(!nouns.is_empty());
    assert!(nouns.iter().all(|noun| noun.name != "exam_picture_photo"));
    assert!(nouns.iter().any(|noun| noun.about == "what somebody says about an exam picture"));
}

#[test]
fn one_change_a_turn_is_enough_to_grow_and_twenty_are_possible() {
    let mut schema = ProgrammaticSampler.first_schema(seed(9)).unwrap().value;
    for _ in 0..30 {
        schema = ProgrammaticSampler.next_turn(seed(9), &schema, 1).unwrap().value.after;
    }
    assert!(schema.entities.len() >= 6, "{} entities", schema.entities.len());
    for _ in 0..5 {
        let turn = ProgrammaticSampler.next_turn(seed(9), &schema, 20).unwrap().value;
        assert_eq!(turn.changes.len(), 20);
        schema = turn.after;
    }
    assert_eq!(check(&schema), []);
}
