//! Reading returns any written episodes, in any order of writing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::{BTreeMap, HashSet};

use model::{
    Artifact, ArtifactKind, Attempt, Benchmark, CachedInput, Counting, EndReason, Episode, Extra,
    GraderPlace, Request, Run, TestOutcome, TestResult, Timing, Tokens, Turn, Verdict, Warning,
};
use proptest::collection::{btree_set, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use store::{ParsedPart, SourceId, Store, WarningFilter};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,12}",
        "\\PC{0,8}",
        Just("'; DROP TABLE run; --".to_owned()),
        Just("a\0b\n\"".to_owned())
    ]
}

/// SQLite keeps every finite number, but not the sign of a zero.
fn number() -> impl Strategy<Value = f64> {
    let finite = any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| x + 0.0);
    prop_oneof![Just(0.0), Just(1.0), -1e9..1e9, finite]
}

fn extra() -> impl Strategy<Value = Extra> {
    let value = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        number().prop_map(Into::into),
        text().prop_map(Into::into),
        vec(text(), 0..3).prop_map(Into::into),
    ];
    vec((text(), value), 0..3).prop_map(|pairs| pairs.into_iter().collect())
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let kind = select(vec![
        ArtifactKind::Transcript,
        ArtifactKind::TestOutput,
        ArtifactKind::Code,
        ArtifactKind::Request,
    ]);
    (kind, text(), of(text())).prop_map(|(kind, path, pointer)| Artifact { kind, path, pointer })
}

fn tokens() -> impl Strategy<Value = Tokens> {
    let count = || of(0..=i64::MAX as u64);
    (count(), count(), count()).prop_map(|(input, cached, output)| Tokens { input, cached, output })
}

fn timing() -> impl Strategy<Value = Timing> {
    (of(text()), of(text()), of(number()), of(number())).prop_map(
        |(started_at, finished_at, agent_seconds, test_seconds)| Timing {
            started_at,
            finished_at,
            agent_seconds,
            test_seconds,
        },
    )
}

fn test() -> impl Strategy<Value = TestResult> {
    let outcome =
        select(vec![TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Error, TestOutcome::Skipped]);
    let described = (of(text()), of(text()), of(text()), of(text()));
    (text(), outcome, described, of(text()), of(text()), of(text())).prop_map(
        |(id, outcome, (group, kind, intent, scenario), expected, actual, message)| TestResult {
            id,
            outcome,
            group,
            kind,
            intent,
            scenario,
            expected,
            actual,
            message,
        },
    )
}

fn end_reason() -> impl Strategy<Value = Option<EndReason>> {
    of(select(EndReason::ALL))
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let counting = select(vec![Counting::Share, Counting::Zero, Counting::Outside]);
    let verdict = select(vec![Verdict::Passed, Verdict::Failed, Verdict::Error, Verdict::Unfinished]);
    (
        (1_u32..4, verdict, end_reason(), of(any::<u32>()), of(any::<u32>()), of(number()), counting),
        (
            vec(test(), 0..5),
            (tokens(), select(CachedInput::ALL.to_vec())),
            of(number()),
            (of(any::<u32>()), of(any::<u32>())),
            timing(),
        ),
        (
            of((text(), text())),
            vec(artifact(), 0..3),
            extra(),
            of(btree_set(select(GraderPlace::ALL.to_vec()), 0..4)),
        ),
    )
        .prop_map(|(a, b, c)| Attempt {
            number: a.0,
            verdict: a.1,
            end_reason: a.2,
            passed: a.3,
            total: a.4,
            reward: a.5,
            counting: a.6,
            tests: b.0,
            tokens: b.1.0,
            cached_input: b.1.1,
            cost_usd: b.2,
            tool_calls: b.3.0,
            steps: b.3.1,
            timing: b.4,
            exception: c.0,
            artifacts: c.1,
            extra: c.2,
            grader_places: c.3,
        })
}

fn turn() -> impl Strategy<Value = Turn> {
    let request = of(prop_oneof![text().prop_map(Request::Text), artifact().prop_map(Request::File)]);
    (of(text()), request, vec(attempt(), 0..3), vec(artifact(), 0..2), extra()).prop_map(
        |(title, request, attempts, artifacts, extra)| Turn {
            number: 0,
            title,
            request,
            attempts,
            artifacts,
            extra,
        },
    )
}

fn episode() -> impl Strategy<Value = Episode> {
    (
        ("[a-d]", text(), of(text()), 1_u32..4, of(0_u32..20)),
        vec((1_u32..3, turn()), 0..5),
        (end_reason(), vec((text(), number()), 0..3), of(tokens()), of(number()), timing()),
        (of((text(), text())), vec(artifact(), 0..2), extra()),
    )
        .prop_map(|(a, turns, b, c)| {
            let mut episode = Episode::new(a.0, a.1);
            (episode.title, episode.repeat, episode.planned_turns) = (a.2, a.3, a.4);
            let mut number = 0;
            for (step, turn) in turns {
                number += step;
                episode.turns.push(Turn { number, ..turn });
            }
            (episode.end_reason, episode.reported, episode.tokens) = (b.0, b.1, b.2);
            episode.attempts_left = episode.turns.len() % 2 == 1;
            episode.unrecognised = episode.turns.len() % 3 == 1;
            episode.identity = episode.title.clone().filter(|title| !title.is_empty());
            (episode.cost_usd, episode.timing) = (b.3, b.4);
            (episode.exception, episode.artifacts, episode.extra) = (c.0, c.1, c.2);
            episode
        })
}

/// The reading of one part: episodes of the runs `r` and `s`, and a few warnings.
type Reading = (Vec<(String, Episode)>, Vec<Warning>);

fn reading() -> impl Strategy<Value = Reading> {
    let warning =
        (text(), "[a-b]", text()).prop_map(|(path, code, message)| Warning::skipped(path, &code, message));
    (vec(("[rs]", episode()), 0..4), vec(warning, 0..3))
}

fn store() -> (Store, SourceId) {
    let store = Store::in_memory().unwrap();
    let source = store.put_source("/src", "src", false).unwrap();
    let benchmark = || Benchmark { key: "b".into(), name: "B".into() };
    store
        .put_runs(source, "", "f", &[Run::unknown("r", benchmark()), Run::unknown("s", benchmark())])
        .unwrap();
    (store, source)
}

fn put(store: &Store, source: SourceId, key: &str, reading: &Reading) {
    let part = ParsedPart {
        place: "",
        key,
        stamp: u64::MAX,
        episodes: &reading.0,
        warnings: &reading.1,
        files_read: 1,
    };
    store.put_part(source, &part).unwrap();
}

/// Everything that readers see in the library, except numbers of changes, as a text for comparison.
fn dump(store: &Store, source: SourceId) -> String {
    let mut dump = String::new();
    for run in ["src.r", "src.s"] {
        let record = store.run(run).unwrap().unwrap();
        dump.push_str(&format!("{record:?}\n"));
        for entry in store.episodes(record.entry.id).unwrap() {
            let detail = store.episode(record.entry.id, &entry.slug).unwrap().unwrap();
            assert_eq!(detail.entry, entry);
            dump.push_str(&format!("{detail:?}\n{:?}\n", store.whole_episode(entry.id).unwrap()));
        }
    }
    let warnings = store.warnings(source, &WarningFilter::default(), 0, 1000).unwrap();
    dump.push_str(&format!("{warnings:?}\n{:?}", store.source_counts(source).unwrap()));
    let mut stamps: Vec<_> = store.part_stamps(source).unwrap().into_iter().collect();
    stamps.sort();
    dump.push_str(&format!("{stamps:?}"));
    dump
}

/// The episodes of a run as they were written, sorted.
fn read(store: &Store, run: &str) -> Vec<String> {
    let run = store.run(run).unwrap().unwrap().entry.id;
    let entries = store.episodes(run).unwrap();
    let mut episodes: Vec<String> =
        entries.iter().map(|e| format!("{:?}", store.whole_episode(e.id).unwrap().unwrap())).collect();
    episodes.sort();
    episodes
}

/// The expected episodes of a part. Of two episodes with one key in one run, the last one counts.
fn expected(parts: &BTreeMap<usize, Reading>, run: &str) -> Vec<String> {
    let mut episodes: Vec<String> = Vec::new();
    for (readings, _) in parts.values() {
        let run_episodes: BTreeMap<&str, &Episode> =
            readings.iter().filter(|(key, _)| key == run).map(|(_, e)| (e.key.as_str(), e)).collect();
        episodes.extend(run_episodes.values().map(|episode| format!("{episode:?}")));
    }
    episodes.sort();
    episodes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_episode_is_read_as_it_was_written(episode in episode()) {
        let (store, source) = store();
        put(&store, source, "p", &(vec![("r".to_owned(), episode.clone())], vec![]));
        let run = store.run("src.r").unwrap().unwrap().entry.id;
        let entry = store.episodes(run).unwrap().remove(0);
        prop_assert_eq!(entry.stamina, episode.stamina());
        prop_assert_eq!((entry.failed_turn, entry.end_reason), episode.end());
        prop_assert_eq!(entry.cells.len(), episode.known_turns() as usize);
        prop_assert_eq!(entry.failing.len(), entry.cells.len());
        for turn in &episode.turns {
            let read = store.turn(entry.id, turn.number).unwrap();
            prop_assert_eq!(read.as_ref(), Some(turn));
            prop_assert_eq!(entry.cells.chars().nth(turn.number as usize - 1), Some(turn.state().letter()));
        }
        prop_assert_eq!(store.whole_episode(entry.id).unwrap().unwrap(), episode);
    }

    #[test]
    fn writing_twice_equals_writing_once(first in reading(), second in reading()) {
        let (store, source) = store();
        put(&store, source, "a", &first);
        put(&store, source, "b", &second);
        let before = dump(&store, source);
        put(&store, source, "a", &first);
        while store.index_text(1).unwrap() {}
        put(&store, source, "b", &second);
        prop_assert_eq!(dump(&store, source), before);
    }

    #[test]
    fn a_library_holds_the_last_episodes_of_its_parts(steps in vec((0..3_usize, of(reading())), 1..6)) {
        let (store, source) = store();
        let mut parts = BTreeMap::new();
        for (part, reading) in steps {
            if let Some(reading) = reading {
                put(&store, source, &part.to_string(), &reading);
                parts.insert(part, reading);
            } else {
                parts.remove(&part);
                let keep: Vec<_> = parts.keys().map(|part: &usize| (String::new(), part.to_string())).collect();
                store.drop_parts(source, &keep, &HashSet::new()).unwrap();
            }
        }
        for (run, slug) in [("r", "src.r"), ("s", "src.s")] {
            prop_assert_eq!(read(&store, slug), expected(&parts, run));
            let totals = store.run(slug).unwrap().unwrap().entry.totals;
            prop_assert_eq!(totals.episodes as usize, expected(&parts, run).len());
        }
    }
}
