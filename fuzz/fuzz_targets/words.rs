#![no_main]

use std::cell::RefCell;
use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use model::{Artifact, ArtifactKind, Attempt, Benchmark, Episode, Run, Turn, Verdict, strip_ansi};
use store::{ParsedPart, Store, TextOwner, UnindexedEpisode, add_words, excerpt_around};

/// After so many inputs, a new library is created, because replaced texts make an index grow.
const INPUTS: u32 = 2_000;
/// How many letters of a word are indexed.
const LETTERS: usize = 12;
/// The attempt that the texts belong to.
const OWNER: TextOwner = TextOwner { turn: Some(1), attempt: Some(1) };

/// A library with one episode, whose texts are claimed.
struct Library {
    store: Store,
    claim: UnindexedEpisode,
    inputs: u32,
}

thread_local!(static LIBRARY: RefCell<Option<Library>> = const { RefCell::new(None) });

fn library() -> Library {
    let store = Store::in_memory().expect("a library");
    let source = store.put_source("/data/a", "a", false).expect("a source");
    let run = Run::unknown("a", Benchmark { key: "b".to_owned(), name: "B".to_owned() });
    store.put_runs(source, "", "harbor", &[run]).expect("a run");
    let mut attempt = Attempt::new(1, Verdict::Failed);
    attempt.artifacts = vec![Artifact::new(ArtifactKind::AgentLog, "agent.log")];
    let mut episode = Episode::new("e", "task");
    episode.turns = vec![Turn { attempts: vec![attempt], ..Turn::new(1) }];
    let episodes = [("a".to_owned(), episode)];
    let part =
        ParsedPart { place: "", key: "p", stamp: 1, episodes: &episodes, warnings: &[], files_read: 1 };
    store.put_part(source, &part).expect("a part");
    let claim = store.begin_texts("the fuzzer", |_| false).expect("a library").expect("an episode waits");
    Library { store, claim, inputs: 0 }
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    // The first line is a query, the others are a log.
    let (wanted, log) = text.split_once('\n').unwrap_or(("", &*text));
    LIBRARY.with_borrow_mut(|kept| {
        if kept.as_ref().is_none_or(|library| library.inputs >= INPUTS) {
            *kept = None;
        }
        let library = kept.get_or_insert_with(library);
        library.inputs += 1;
        index_and_find(library, wanted, &strip_ansi(log));
    });
});

/// Indexes a text, and searches for its words and for other words.
fn index_and_find(library: &Library, wanted: &str, text: &str) {
    let mut words = HashSet::new();
    add_words(text, &mut words);
    let is_indexed = |word: &String| (1..=LETTERS).contains(&word.chars().count());
    assert!(words.iter().all(is_indexed), "{words:?}");
    assert!(
        library.store.put_texts(&library.claim, &[(OWNER, words)]).expect("it is indexed"),
        "it is claimed"
    );
    let find = |text: &str| library.store.find_texts(text, None, 10).expect("a query");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(4) {
        let half: String = word.chars().take(word.chars().count().div_ceil(2)).collect();
        for looked_for in [word, half.as_str()] {
            assert_eq!(find(looked_for).len(), 1, "{looked_for:?} is not found");
        }
    }
    assert!(find(wanted).len() <= 1);
    let low: Vec<String> = wanted.split_whitespace().map(str::to_lowercase).collect();
    // A long word is shown whole up to its 320th letter, with 80 letters before it.
    assert!(excerpt_around(text, &low).chars().count() <= 404);
}
