mod taken_over;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::Seed;
use crate::config::Generation;
use crate::ir::Schema;
use crate::sample::{ProgrammaticSampler, SampleError, Sampler, SamplerOutput, Turn};

fn small(n_scenarios: u32, n_turns: u32) -> Generation {
    Generation { n_scenarios, n_turns, base_seed: 7, ..Generation::default() }
}

fn write(generation: &Generation, target: &Target) -> Result<Manifest, PackError> {
    write_with(generation, &ProgrammaticSampler, target, &Options::default())
}

fn write_with(
    generation: &Generation,
    sampler: &dyn Sampler,
    target: &Target,
    options: &Options,
) -> Result<Manifest, PackError> {
    generate(generation, sampler, target, options, &|_| {}, &AtomicBool::new(false)).map(|done| done.manifest)
}

/// What of a pack is not as its manifest says.
fn verified(pack: &Pack) -> Vec<Mismatch> {
    (0..pack.manifest().config.n_scenarios)
        .flat_map(|scenario| pack.verify_scenario(scenario, &|| false))
        .collect()
}

fn hash(generation: &Generation) -> String {
    write(generation, &Target::Nowhere).expect("it is generated").sha256
}

/// Names of everything in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_folder_and_a_zip_hold_the_same_and_come_back_as_they_were_made() {
    let temp = tempfile::tempdir().expect("a folder");
    let (folder, zip) = (temp.path().join("pack"), temp.path().join("pack.zip"));
    let generation = small(2, 3);
    let manifest = write(&generation, &Target::from_path(&folder)).expect("it is generated");
    assert_eq!(write(&generation, &Target::from_path(&zip)).expect("it is generated"), manifest);
    assert_eq!(write(&generation, &Target::Nowhere).expect("it is generated"), manifest);
    assert_eq!(names(temp.path()), ["pack", "pack.zip"], "nothing else is left");
    for path in [folder, zip] {
        let pack = Pack::open_path(&path).expect("it is a pack");
        assert_eq!(pack.manifest(), &manifest);
        assert_eq!(verified(&pack), []);
        for scenario in 0..2 {
            let seed = Seed { base: 7, scenario };
            let mut maker = TurnMaker::new(&ProgrammaticSampler, seed, generation.num_changes_per_turn);
            for turn in 1..=3 {
                let made_turn = maker.make_next().expect("it is made");
                assert_eq!(&pack.schema(scenario, turn).expect("a schema"), &made_turn.schema);
                assert_eq!(&pack.changes(scenario, turn).expect("changes"), &made_turn.changes);
                assert_eq!(&pack.request(scenario, turn).expect("a request"), &made_turn.request);
                assert_eq!(&pack.specification(scenario, turn).expect("a text"), &made_turn.specification);
                assert_eq!(&pack.suite(scenario, turn).expect("a suite"), &made_turn.suite);
                assert_eq!(pack.answers(scenario, turn).expect("answers"), []);
                let flask = pack.text(scenario, turn, Part::Flask).expect("a server");
                assert_eq!(flask, crate::code::flask(&made_turn.schema));
            }
        }
        assert!(matches!(pack.schema(2, 1), Err(PackError::NoSuch(_))));
        assert!(matches!(pack.suite(0, 4), Err(PackError::NoSuch(_))));
        assert!(matches!(pack.request(0, 0), Err(PackError::NoSuch(_))));
    }
}

#[test]
fn two_zips_are_the_same_bytes_whatever_the_number_of_threads() {
    let temp = tempfile::tempdir().expect("a folder");
    let bytes = |name: &str, threads: usize| {
        let path = temp.path().join(name);
        let options = Options { threads: std::num::NonZero::new(threads), ..Options::default() };
        write_with(&small(3, 2), &ProgrammaticSampler, &Target::from_path(&path), &options)
            .expect("it is generated");
        std::fs::read(path).expect("a zip")
    };
    assert_eq!(bytes("a.zip", 1), bytes("b.zip", 3));
}

#[test]
fn a_turn_does_not_depend_on_how_many_follow_nor_a_scenario_on_others() {
    let long = write(&small(2, 4), &Target::Nowhere).expect("it is generated");
    let short = write(&small(1, 2), &Target::Nowhere).expect("it is generated");
    assert_eq!(long.scenarios[0].turn_sha256[..2], short.scenarios[0].turn_sha256);
    assert_ne!(long.scenarios[0].turn_sha256, long.scenarios[1].turn_sha256);
    let other = Generation { base_seed: 8, ..small(1, 2) };
    assert_ne!(hash(&other), short.sha256);
    assert_eq!(short.differences(&short), Vec::<String>::new());
    assert!(!short.differences(&write(&other, &Target::Nowhere).expect("it is generated")).is_empty());
}

#[test]
fn the_single_turn_benchmark_has_one_turn_without_changes() {
    let generation = Generation {
        benchmark: crate::config::Benchmark::SingleTurn,
        num_changes_per_turn: 0,
        ..small(1, 1)
    };
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    write(&generation, &Target::from_path(&path)).expect("it is generated");
    let pack = Pack::open_path(&path).expect("it is a pack");
    assert_eq!(pack.changes(0, 1).expect("none"), None);
    let mut first = TurnMaker::new(&ProgrammaticSampler, Seed { base: 7, scenario: 0 }, 5);
    let first = first.make_next().expect("it is made");
    let request = pack.request(0, 1).expect("a request");
    let later: Vec<&str> = first.request.lines().filter(|line| !request.contains(line)).collect();
    assert_eq!(later.len(), 1, "only the announcement of later messages is left out: {later:?}");
    assert_eq!(pack.specification(0, 1).expect("a text"), first.specification);
    assert_eq!(names(&path.join("scenario_0/changes")), ["turn_1.md"]);
}

#[test]
fn damage_is_found_and_told_where_it_is() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    write(&small(2, 2), &Target::from_path(&path)).expect("it is generated");
    let pack = || Pack::open_path(&path).expect("it is a pack");
    let found = || -> Vec<String> { verified(&pack()).into_iter().map(|mismatch| mismatch.at).collect() };
    assert_eq!(found(), Vec::<String>::new());
    let spec = path.join("scenario_1/specs/turn_2.md");
    let text = std::fs::read_to_string(&spec).expect("a text");
    std::fs::write(&spec, format!("{text} ")).expect("it is written");
    assert_eq!(found(), ["scenario_1, turn 2"]);
    std::fs::write(&spec, text).expect("it is written");
    std::fs::write(path.join("scenario_0/schemas/turn_3.yaml"), "").expect("it is written");
    std::fs::write(path.join("scenario_0/note.txt"), "").expect("it is written");
    assert_eq!(found(), ["scenario_0/note.txt", "scenario_0/schemas/turn_3.yaml"]);
    let schema = path.join("scenario_0/schemas/turn_1.yaml");
    let text = std::fs::read_to_string(&schema).expect("a text");
    std::fs::remove_file(&schema).expect("it is removed");
    assert_eq!(found()[0], "scenario_0/schemas/turn_1.yaml");
    let message = pack().schema(0, 1).expect_err("it is not there").to_string();
    assert!(message.starts_with("scenario_0/schemas/turn_1.yaml: "), "{message}");
    for (bad, part) in [
        ("a: &x [1]\nb: *x\n".to_owned(), ""),
        (text.replace("turn: 1\n", "turn: 2\n"), "turn 2"),
        (text.replace("stamina-schema/1", "stamina-schema/2"), "stamina-schema/1"),
        (text.replace("invalid: 4", "invalid: 7"), "status"),
        (format!("{text}extra: 1\n"), "extra"),
        (text[..text.len() / 2].to_owned(), ""),
        ("\u{0}".to_owned(), ""),
    ] {
        std::fs::write(&schema, &bad).expect("it is written");
        let error = pack().schema(0, 1).expect_err("it is no schema");
        assert!(matches!(error, PackError::Content { .. }) && error.to_string().contains(part), "{error}");
    }
    std::fs::write(path.join("scenario_0/test_suites/turn_1.json"), "{\"version\":").expect("it is written");
    let error = pack().suite(0, 1).expect_err("it is no suite");
    assert!(error.to_string().contains("cut short"), "{error}");
}

#[test]
// docs/security.md: A scenario pack
fn files_of_suites_that_grow_in_memory_are_refused_by_name() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    write(&small(1, 4), &Target::from_path(&path)).expect("it is generated");
    let file = |turn: u32| path.join(format!("scenario_0/test_suites/turn_{turn}.json"));
    // The head of a suite, with other lines under `cases`.
    let replace = |turn: u32, lines: &str| {
        let text = std::fs::read_to_string(file(turn)).expect("a text");
        let head = text.split("\"cases\":[").next().unwrap_or_default();
        std::fs::write(file(turn), format!("{head}\"cases\":[\n{lines}\n]}}\n")).expect("it is written");
    };
    let refused = |turn: u32| {
        let pack = Pack::open_path(&path).expect("it is a pack");
        pack.suite(0, turn).expect_err("it is refused").to_string()
    };
    replace(1, &"\n".repeat(15 << 20));
    let error = refused(1);
    assert!(error.starts_with("scenario_0/test_suites/turn_1.json: ") && error.contains("200000"), "{error}");
    replace(2, "[1,0,0]");
    let error = refused(2);
    assert!(error.starts_with("scenario_0/test_suites/turn_1.json: ") && error.contains("200000"), "{error}");
    for turn in 1..=3 {
        replace(turn, &"x".repeat(15 << 20));
    }
    replace(4, "[1,0,0],\n[2,0,0],\n[3,0,0]");
    let error = refused(4);
    assert!(
        error.starts_with("scenario_0/test_suites/turn_4.json: ") && error.contains("33554432"),
        "{error}"
    );
    replace(4, "[1,0,0]");
    Pack::open_path(&path).expect("it is a pack").suite(0, 4).expect("what it does not take is not read");
}

#[test]
fn a_manifest_that_contradicts_itself_is_refused() {
    let manifest = write(&small(1, 2), &Target::Nowhere).expect("it is generated");
    let text = manifest.to_json();
    let read = |text: &str| Manifest::from_json(text.as_bytes(), "manifest.json");
    assert_eq!(read(&text).expect("it is one"), manifest);
    let code = |text: &str| read(text).expect_err("it is refused").code();
    assert_eq!(code(&text.replace(PACK_VERSION, "stamina-pack/1")), "pack.version");
    assert_eq!(code(&text.replace(PACK_VERSION, "other")), "pack.none");
    assert_eq!(code("{"), "pack.none");
    assert_eq!(code(&text.replace("scenario_0", "../../etc")), "pack.content");
    assert_eq!(code(&text.replace("\"n_turns\": 2", "\"n_turns\": 3")), "pack.content");
    assert_eq!(code(&text.replace("\"n_turns\": 2", "\"n_turns\": 2000")), "config.value");
    assert_eq!(code(&text.replace(&manifest.sha256, &"0".repeat(64))), "pack.content");
    let turn = &manifest.scenarios[0].turn_sha256[1];
    assert_eq!(code(&text.replace(turn.as_str(), &"0".repeat(64))), "pack.content");
}

/// Packs that earlier versions wrote.
#[test]
fn packs_of_earlier_versions_are_read_with_their_own_words() {
    let words = [
        "Could we insist on `plate_code`",
        "Could you make `plate_code` required for shared cars?",
        "`/v1/car_users/{id}/accept_licence` → `/v1/car_users/{id}/accept_licence_car_user`",
        "The old verb was easily misunderstood. Names of fields, enum values",
    ];
    for (version, words) in EARLIER_VERSIONS.into_iter().zip(words) {
        let file = format!("tests/packs/{}.zip", version.replace('/', "-"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let pack = Pack::open_path(&path).expect("it is a pack");
        assert_eq!(pack.manifest().format, version);
        assert_eq!(verified(&pack), []);
        let request = pack.request(0, 2).expect("a request");
        assert!(request.contains(words), "{request}");
        assert!(pack.suite(0, 2).expect("a suite").cases.len() > 100);
        // What is generated now from the same seed has other words.
        let now = write(&pack.manifest().config, &Target::Nowhere).expect("it is generated");
        let differences = pack.manifest().differences(&now);
        assert_eq!(differences[0], format!("They are of the formats {version} and {PACK_VERSION}"));
        // A hash of one version is none of another.
        let relabeled = pack.manifest().to_json().replace(version, PACK_VERSION);
        let error = Manifest::from_json(relabeled.as_bytes(), "manifest.json").expect_err("it is refused");
        assert_eq!(error.code(), "pack.content");
    }
}

#[test]
fn nothing_but_a_pack_is_replaced() {
    let temp = tempfile::tempdir().expect("a folder");
    let path_of = |name: &str| temp.path().join(name);
    let occupied = |generation: &Generation, name: &str, force: bool| {
        let options = Options { force, ..Options::default() };
        match write_with(generation, &ProgrammaticSampler, &Target::from_path(&path_of(name)), &options) {
            Ok(_) => false,
            Err(PackError::Occupied { .. }) => true,
            Err(error) => panic!("{error}"),
        }
    };
    let (first_draft, other) = (small(1, 1), small(1, 2));
    std::fs::create_dir(path_of("empty")).expect("a folder");
    assert!(!occupied(&first_draft, "empty", false), "an empty folder is taken");
    assert!(!occupied(&first_draft, "empty", false), "the same pack is made again");
    assert!(occupied(&other, "empty", false), "another pack is not replaced");
    assert!(!occupied(&other, "empty", true), "unless it is asked for");
    let manifest = path_of("empty").join(MANIFEST);
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    std::fs::write(&manifest, text.replace(PACK_VERSION, "stamina-pack/1")).expect("it is written");
    assert!(
        occupied(&first_draft, "empty", false) && occupied(&other, "empty", false),
        "nor is one of another format"
    );
    assert!(!occupied(&other, "empty", true), "unless it is asked for");
    let suites = path_of("empty").join("scenario_0/test_suites");
    std::fs::create_dir(suites.join("__pycache__")).expect("a folder");
    assert!(!occupied(&first_draft, "empty", true), "what Python left is nobody's");
    for name in ["scenario_0/notes.txt", "scenario_0/test_suites/mine.py", "scenario_0/specs/turn_1.md.orig"]
    {
        std::fs::write(path_of("empty").join(name), "mine").expect("it is written");
        assert!(occupied(&first_draft, "empty", false), "{name} would be lost");
        assert!(occupied(&first_draft, "empty", true), "{name} would be lost");
        std::fs::remove_file(path_of("empty").join(name)).expect("it is removed");
    }
    std::fs::write(path_of("empty").join("notes.txt"), "mine").expect("it is written");
    assert!(occupied(&other, "empty", true), "a folder with anything else never");
    std::fs::create_dir(path_of("other")).expect("a folder");
    std::fs::write(path_of("other").join("manifest.json"), "{}").expect("it is written");
    assert!(occupied(&first_draft, "other", true));
    std::fs::write(path_of("x.zip"), "mine").expect("it is written");
    assert!(occupied(&first_draft, "x.zip", true));
    std::fs::write(path_of("file"), "mine").expect("it is written");
    assert!(occupied(&first_draft, "file", true));
    assert!(!occupied(&first_draft, "a.zip", false));
    assert!(!occupied(&first_draft, "a.zip", false));
    assert!(occupied(&other, "a.zip", false));
    assert_eq!(names(temp.path()), ["a.zip", "empty", "file", "other", "x.zip"]);
}

/// Gives up at turn 3, or leads elsewhere than it says.
struct Faulty {
    lies: bool,
}

impl Sampler for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn first_schema(&self, seed: Seed) -> Result<SamplerOutput<Schema>, SampleError> {
        ProgrammaticSampler.first_schema(seed)
    }
    fn next_turn(&self, seed: Seed, before: &Schema, count: u32) -> Result<SamplerOutput<Turn>, SampleError> {
        let mut sampled = ProgrammaticSampler.next_turn(seed, before, count)?;
        if self.lies {
            sampled.value.after.title.push('!');
        } else if before.turn == 2 {
            return Err(SampleError::Stuck { scenario: seed.scenario, turn: 3 });
        }
        Ok(sampled)
    }
}

#[test]
fn what_fails_or_is_stopped_leaves_nothing_behind() {
    let temp = tempfile::tempdir().expect("a folder");
    let generation = small(2, 4);
    for name in ["pack", "pack.zip"] {
        let target = Target::from_path(&temp.path().join(name));
        for lies in [false, true] {
            let error = write_with(&generation, &Faulty { lies }, &target, &Options::default())
                .expect_err("the sampler fails");
            let expected = if lies { "pack.faulty" } else { "pack.sampler" };
            assert_eq!(error.code(), expected, "{error}");
        }
        let cancel = AtomicBool::new(false);
        let stop = |progress: Progress| {
            if progress.done == 2 {
                cancel.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let stopped =
            generate(&generation, &ProgrammaticSampler, &target, &Options::default(), &stop, &cancel);
        assert!(matches!(stopped, Err(PackError::Cancelled)));
    }
    assert_eq!(names(temp.path()), Vec::<String>::new());
}

#[test]
fn a_pack_in_the_only_folder_of_a_zip_is_found() {
    let temp = tempfile::tempdir().expect("a folder");
    write(&small(1, 1), &Target::from_path(&temp.path().join("outer/pack"))).expect("it is generated");
    let pack = Pack::open_path(&temp.path().join("outer")).expect("it is found");
    assert!(pack.schema(0, 1).is_ok());
    let empty = tempfile::tempdir().expect("a folder");
    assert!(matches!(Pack::open_path(empty.path()), Err(PackError::NotAPack(_))));
}

/// A zip of one entry, with 16 MiB and some bytes of nothing in it.
fn bomb(path: &Path, entry: &str) {
    let mut zip = files::ZipWriter::new(std::fs::File::create(path).expect("a file"));
    zip.pack(entry, &vec![b' '; (16 << 20) + 1], &mut files::Packer::new(9)).expect("it is written");
    zip.finish().expect("a zip");
}

#[test]
// docs/security.md: An opened folder or zip
fn the_reason_is_reported_for_what_is_left_out_of_a_hostile_zip() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("bomb.zip");
    bomb(&path, "manifest.json");
    let error = Pack::open_path(&path).expect_err("it is no pack").to_string();
    assert!(error.contains("manifest.json") && error.contains("times its packed size"), "{error}");
}

#[test]
fn a_manifest_has_no_more_than_its_config_needs() {
    let manifest = write(&small(2, 3), &Target::Nowhere).expect("it is generated");
    let text = manifest.to_json();
    assert_eq!(Manifest::from_json(text.as_bytes(), "m").expect("a manifest"), manifest);
    let refusal = |text: String| Manifest::from_json(text.as_bytes(), "m").expect_err("a fault").to_string();
    let padded = format!("{text}{}", " ".repeat(2 << 20));
    assert!(refusal(padded).contains("more than its config needs"));
    let short = text.replacen("\"turn_sha256\": [", "\"turn_sha256\": [\"\",", 1);
    assert!(refusal(short).contains("64 digits"));
}

#[test]
fn two_generations_to_the_same_place_do_not_disturb_each_other() {
    let temp = tempfile::tempdir().expect("a folder");
    for name in ["pack", "pack.zip"] {
        let target = Target::from_path(&temp.path().join(name));
        // Both have begun before one of them goes on.
        let begun = std::sync::Barrier::new(2);
        let met = |progress: Progress| {
            if progress.done == 1 {
                begun.wait();
            }
        };
        let run = || {
            let options = Options::default();
            generate(&small(1, 2), &ProgrammaticSampler, &target, &options, &met, &AtomicBool::new(false))
        };
        let (first_hash, two) = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            (run(), other.join().expect("it ends"))
        });
        assert_eq!(first_hash.expect("it is generated"), two.expect("it is generated"));
        let pack = Pack::open_path(&temp.path().join(name)).expect("it is a pack");
        assert_eq!(verified(&pack), []);
    }
    assert_eq!(names(temp.path()), ["pack", "pack.zip"], "nothing else is left");
}

#[test]
fn what_comes_to_lie_there_meanwhile_is_not_replaced() {
    let temp = tempfile::tempdir().expect("a folder");
    let path = temp.path().join("pack");
    let put = |_: Progress| {
        std::fs::create_dir_all(&path).expect("a folder");
        std::fs::write(path.join("diary.txt"), "mine").expect("it is written");
    };
    let options = Options { force: true, ..Options::default() };
    let target = Target::from_path(&path);
    let outcome =
        generate(&small(1, 1), &ProgrammaticSampler, &target, &options, &put, &AtomicBool::new(false));
    assert!(matches!(outcome, Err(PackError::Occupied { .. })));
    assert_eq!(names(temp.path()), ["pack"]);
    assert_eq!(names(&path), ["diary.txt"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_ended_processes_left_is_cleared_away_and_nothing_else() {
    let temp = tempfile::tempdir().expect("a folder");
    // No process has a number this large.
    let removed = ".pack.4294967295.0.partial";
    let alive = format!(".pack.{}.999999.partial", std::process::id());
    let others =
        [".other.4294967295.0.partial", ".pack.4294967295.0.old", ".pack.x.0.partial", alive.as_str()];
    for name in others.iter().copied().chain([removed]) {
        std::fs::create_dir_all(temp.path().join(name).join("scenario_0")).expect("a folder");
    }
    write(&small(1, 1), &Target::from_path(&temp.path().join("pack"))).expect("it is generated");
    let mut left = others.to_vec();
    left.push("pack");
    left.sort_unstable();
    assert_eq!(names(temp.path()), left);
}

/// "1 of 1 turns" stood in the line of a generation and of a validation.
#[test]
fn progress_in_one_turn_is_in_the_singular() {
    assert_eq!(Progress { done: 1, total: 1 }.in_words(), "1 of 1 turn");
    assert_eq!(Progress { done: 1, total: 40 }.in_words(), "1 of 40 turns");
}
