//! For any files and output of a container, no outcome panics, takes much memory, or reads outside of HOME.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

use std::sync::OnceLock;

use harness::{Exit, Session};
use proptest::prelude::*;

use crate::common::{CommandResult, ID, fixtures};

/// The files that harnesses read in HOME.
const PATHS: [&str; 10] = [
    ".stamina/mini/trajectory.json",
    ".stamina/vibe/export.json",
    ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/base_state.json",
    ".openhands/conversations/c2deb65b83a4493bad6c2163bbe95989/events/event-00000-35a01e68-ef52-47ec-bbf9-84fb3aa5dfac.json",
    ".kimi/sessions/0123456789abcdef0123456789abcdef/0f0e0d0c-0b0a-4908-8706-050403020100/wire.jsonl",
    ".kimi-code/sessions/wd_workspace_0/0f0e0d0c-0b0a-4908-8706-050403020100/agents/main/wire.jsonl",
    ".kimi-code/session_index.jsonl",
    ".codex/sessions/2026/11/21/rollout-2026-11-21T07-37-38-0f0e0d0c-0b0a-4908-8706-050403020100.jsonl",
    ".local/share/opencode/log/opencode.log",
    ".vibe/logs/session/unified/0f0e0d0c-0b0a-4908-8706-050403020100/meta.json",
];

/// All recordings, of all harnesses.
fn recordings() -> &'static [Vec<u8>] {
    static ALL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for folder in std::fs::read_dir(fixtures()).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                all.push(std::fs::read(file.unwrap().path()).unwrap());
            }
        }
        all.sort();
        all
    })
}

/// A recording with a piece of another in it, bytes changed, and cut somewhere.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let number = || 0..recordings().len();
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20);
    (number(), number(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), changes).prop_map(
        |(number, other, position, end, changes)| {
            let mut bytes = recordings()[number].clone();
            let other = &recordings()[other];
            if !bytes.is_empty() && !other.is_empty() {
                let position = position.index(bytes.len());
                bytes.splice(position..position, other[end.index(other.len())..].iter().copied());
                for (place, byte) in changes {
                    let place = place.index(bytes.len());
                    bytes[place] = byte;
                }
                bytes.truncate(end.index(bytes.len() + 1));
            }
            bytes
        },
    )
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![4 => mutated(), 1 => prop::collection::vec(any::<u8>(), 0..400)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 5, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_result_of_a_container_breaks_a_reader(
        stdout in bytes(),
        stderr in bytes(),
        home in prop::collection::vec((0..PATHS.len(), bytes()), 0..3),
        code in prop_oneof![Just(None), prop::sample::select(vec![0_i64, 1, 3, 53, 127, 137, 143, -1]).prop_map(Some)],
        timed_out in any::<bool>(),
        memory in prop::collection::btree_map("(input|messages|read:main|cost|x)", "[0-9a-z.-]{0,25}", 0..4),
        id in prop_oneof![Just(ID.to_owned()), ".{0,40}"],
    ) {
        let mut left = CommandResult::empty();
        for (path, content) in home {
            left = left.file(PATHS[path], content);
        }
        left.stdout = stdout;
        left.stderr = stderr;
        left.exit = Exit { code, timed_out, ..Exit::default() };
        for session in [None, Some(Session { id: Some(id), calls: 1, memory })] {
            left.session = session;
            for harness in harness::all() {
                let outcome = left.outcome(*harness);
                prop_assert_eq!(outcome.end.is_none(), outcome.message.is_none());
                prop_assert!(outcome.message.iter().all(|m| !m.chars().any(char::is_control)));
                prop_assert!(outcome.steps.iter().enumerate().all(|(n, s)| s.index as usize == n + 1));
                prop_assert!(outcome.cost_usd.is_none_or(|c| c.is_finite() && c >= 0.0));
            }
        }
    }
}

/// Files of ten gigabytes (sparse), output of one line of many megabytes, transcripts of a million steps.
#[test]
fn size_is_bounded() {
    let left = PATHS.iter().fold(CommandResult::empty(), |left, path| left.file(path, ""));
    for path in PATHS {
        let file = std::fs::File::options().write(true).open(left.home.path().join(path)).unwrap();
        file.set_len(10 << 30).unwrap();
    }
    for harness in harness::all() {
        let outcome = left.outcome(*harness);
        assert!(outcome.end.is_some() && outcome.steps.is_empty(), "{}", harness.name());
    }
    let mut left = CommandResult::empty();
    left.stdout = b"{\"type\":\"assistant\",\"role\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"".to_vec();
    left.stdout.resize(6 << 20, b'x');
    for harness in harness::all() {
        assert!(left.outcome(*harness).steps.is_empty(), "{}", harness.name());
    }
    for line in [
        "{\"type\":\"assistant\",\"message\":{\"id\":\"N\",\"content\":[{\"type\":\"tool_use\",\"id\":\"N\"}]}}\n{\"type\":\"user\"}\n",
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"N\"}]}\n",
        "{\"type\":\"effect\",\"id\":\"N\"}\n",
        "{\"type\":\"item.started\",\"item\":{\"id\":\"N\",\"type\":\"x\"}}\n",
        "{\"kind\":\"ActionEvent\",\"tool_call_id\":\"N\"}\n",
        "{\"type\":\"step_start\"}\n{\"type\":\"tool_use\"}\n",
    ] {
        let text: String = (0..12_000).map(|n| line.replace('N', &n.to_string())).collect();
        left.stdout = text.into_bytes();
        for harness in harness::all() {
            assert!(left.outcome(*harness).steps.len() <= 5_001, "{}", harness.name());
        }
    }
}

/// JSON that is small in a file and large in memory, and deeper than any stack.
#[test]
fn json_bombs_take_little_memory() {
    let list = |open: &str, item: &str, close: &str| format!("{open}{}{close}", vec![item; 60_000].join(","));
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    for bomb in [
        list("{\"messages\":[", "{}", "]}"),
        list("{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":[", "{}", "]}]}"),
        list("{\"messages\":[{\"role\":\"assistant\",\"content\":[", "{}", "]}]}"),
        list("{\"messages\":[{\"role\":\"user\",\"extra\":{\"response\":{\"choices\":[", "{}", "]}}}]}"),
        list("{\"stats\":{\"usage_to_metrics\":{", "\"a\":{}", "}}}"),
        format!("{{\"messages\":{deep}}}"),
        deep,
    ] {
        let left = PATHS.iter().fold(CommandResult::empty(), |left, path| left.file(path, &bomb));
        for harness in harness::all() {
            assert!(left.outcome(*harness).steps.len() <= 5_001, "{}", harness.name());
        }
    }
}

/// Links out of HOME, folders instead of files, invalid names.
#[test]
fn nothing_outside_home_is_read() {
    let outside = tempfile::tempdir().unwrap();
    let state = "{\"execution_status\":\"finished\",\"outcome\":\"finished\",\"info\":{\"exit_status\":\"Submitted\"},\
                 \"usage\":{\"input_tokens\":1}}";
    for (n, path) in PATHS.iter().enumerate() {
        let left = CommandResult::empty();
        let link = left.home.path().join(path);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = outside.path().join(n.to_string());
        std::fs::write(&target, state).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let folder = CommandResult::empty().file(&format!("{path}/inside"), state);
        for harness in harness::all() {
            for left in [&left, &folder] {
                let outcome = left.outcome(*harness);
                assert!(outcome.end.is_some(), "{} read {path}", harness.name());
                assert!(outcome.usage.is_unknown(), "{} read {path}", harness.name());
            }
        }
    }
}
