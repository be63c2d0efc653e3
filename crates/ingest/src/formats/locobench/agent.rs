//! The sessions of an agent, out of all its files.
//!
//! A file of records counts first. Final results have the same records again: what they have more is added. A transcript belongs
//! to the record of its session; without one it is a session of which the program's figures are unknown.
//!
//! The same scenario twice is shown twice; the session that ended last has the highest number.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use files::Tree;
use model::{Episode, Warning};

use crate::format_trait::Report;
use crate::identity;
use crate::readers::clock;
use crate::readers::json::Node;

use super::finals;
use super::kept_sessions::{SessionCounts, Sessions};
use super::layout::Agent;
use super::lines;
use super::record::{self, Record};
use super::session::{Place, SessionEpisode, read_session};

/// Bytes of an agent's sessions that are kept. Three agents are in memory at once; the eight thousand sessions of the whole
/// benchmark take 80 to 126 MB, by how long their requests are.
const SESSIONS_CAP: usize = 128 << 20;

/// Reads all sessions of an agent.
pub(super) fn read(tree: &Tree, name: &str, agent: &Agent, report: &mut Report) -> Vec<Episode> {
    read_up_to(SESSIONS_CAP, (tree, name), agent, report)
}

fn read_up_to(room: usize, (tree, name): (&Tree, &str), agent: &Agent, report: &mut Report) -> Vec<Episode> {
    let mut sessions = Sessions::new(room);
    let mut counts = SessionCounts::default();
    for path in &agent.incremental {
        read_lines(tree, path, name, (&mut sessions, &mut counts), report);
    }
    for path in &agent.finals {
        read_finals(tree, path, name, (&mut sessions, &mut counts), report);
    }
    let list = &sessions.list;
    // A record that breaks off behind its conversation has no scenario: the transcript's is read then.
    let is_recorded = |s: &&SessionEpisode| s.has_conversation && s.has_turn_limit() && !s.id.is_empty();
    let recorded: HashSet<String> = list.iter().filter(is_recorded).map(|s| s.id.clone()).collect();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for (index, session) in list.iter().enumerate().filter(|(_, session)| !session.id.is_empty()) {
        by_id.entry(session.id.clone()).or_insert(index);
    }
    let records = list.len();
    let mut transcribed = TranscriptsByIdentity::new();
    for path in &agent.conversations {
        read_transcript(tree, path, (&mut sessions, &by_id, &recorded, &mut transcribed), report);
    }
    let transcripts = sessions.left_out.transcripts;
    // Transcripts are sessions where nothing else is there; else they belong to records.
    let transcript_sessions = if records == 0 { transcripts } else { 0 };
    let left_out = sessions.left_out.count().saturating_add(transcript_sessions);
    if left_out > 0 || transcripts > 0 {
        let files = [&agent.incremental, &agent.finals, &agent.conversations];
        let place = files.into_iter().flatten().next().map_or("", String::as_str);
        let unopened = transcripts - transcript_sessions;
        let message = format!(
            "{name} has more sessions than are kept in memory. {} and {} of others are left out, those that stand last in its files. Means are over the sessions that are kept.",
            model::counted(left_out.into(), "session"),
            model::counted(unopened.into(), "transcript")
        );
        report.warn(Warning::skipped(place, "locobench.too_many", message).with_run(name));
    }
    if left_out > 0 {
        report.not_kept.episodes.insert(name.to_owned(), left_out);
    }
    numbered(sessions.list, records, report, agent)
}

fn read_lines(
    tree: &Tree,
    path: &str,
    agent: &str,
    (sessions, counts): (&mut Sessions, &mut SessionCounts),
    report: &mut Report,
) {
    counts.next_file();
    report.files_read += 1;
    let read = lines::for_each_line(tree, path, |line| {
        let number = line.number + 1;
        let Some(bytes) = line.bytes else {
            let message = format!("Line {number} is longer than 64 MiB. It is left out.");
            report.warn(Warning::skipped(path, "locobench.line_too_long", message));
            return true;
        };
        let pieces = lines::pieces(&bytes);
        let joined = pieces.len() > 1;
        for (index, piece) in pieces.iter().enumerate() {
            let record = record::parse_record(piece);
            let record_agent = record.node.get("agent_name").and_then(Node::word);
            if record_agent.is_some_and(|name| name != agent) {
                continue;
            }
            report.warn_all(record_warning(path, number, &record, joined && index + 1 < pieces.len()));
            let place = Place { path: path.to_owned(), pointer: format!("/{}@{}", line.number, line.offset) };
            if let Some(session) = record_agent.and_then(|_| read_session(&record.node, &place)) {
                sessions.push_new(session, counts);
            }
        }
        true
    });
    if let Err(error) = read {
        report.unreadable(path, &error, "The records before this place are read.");
    }
}

/// What a reader must know of a line.
fn record_warning(path: &str, number: usize, record: &Record, followed: bool) -> Option<Warning> {
    let fields = record.node.map().iter().map(|(name, _)| name.as_str());
    let figures = record.node.get("lcba_efficiency").is_some();
    match &record.broken {
        Some(_) if record.node.get("scenario_id").is_none() => {
            let message = format!("Line {number} holds no record that can be read. It is left out.");
            Some(Warning::skipped(path, "locobench.line_unreadable", message))
        }
        Some(_) => {
            let end = match (followed, figures) {
                (true, _) => "another record begins on the same line, which is read as well",
                (false, true) => "what came before is read: the figures are, the conversation may be missing",
                (false, false) => "what came before is read; its figures are unknown",
            };
            let fields = model::counted(fields.count() as u64, "field");
            let message = format!("The record on line {number} is cut off after {fields}; {end}.");
            Some(Warning::read_differently(path, "locobench.line_cut", message))
        }
        None if record.not_strict => {
            let message = format!(
                "Line {number} is no strict JSON (NaN, or half of a character). NaN is unknown; the rest is read as it stands."
            );
            Some(Warning::repaired(path, "json.not_strict", message))
        }
        None => None,
    }
}

fn read_finals(
    tree: &Tree,
    path: &str,
    agent: &str,
    (sessions, counts): (&mut Sessions, &mut SessionCounts),
    report: &mut Report,
) {
    counts.next_file();
    report.files_read += 1;
    let room = sessions.room;
    let before = std::mem::take(&mut sessions.left_out);
    let new_sessions = || Sessions { left_out: before.clone(), ..Sessions::new(room) };
    // Its transcripts are read one by one: each is found without those before it.
    let offsets = || finals::offsets(tree, path, agent).ok();
    let found = RefCell::new((new_sessions(), counts, offsets()));
    let agent_key = agent.replace('~', "~0").replace('/', "~1");
    let mut restart = || {
        let (found, counts, record_offsets) = &mut *found.borrow_mut();
        (*found, *record_offsets) = (new_sessions(), offsets());
        counts.current_file.clear();
    };
    let read = record::each_final(tree, path, agent, &mut restart, &mut |number, record| {
        let (found, counts, record_offsets) = &mut *found.borrow_mut();
        let offset = record_offsets.as_mut().and_then(finals::Offsets::next_offset);
        let offset = offset.map(|offset| format!("@{offset}")).unwrap_or_default();
        let pointer = format!("/detailed_results/{agent_key}/{number}{offset}");
        let place = Place { path: path.to_owned(), pointer };
        if let Some(session) = read_session(&record, &place) {
            found.push_new(session, counts);
        }
    });
    let (found, ..) = found.into_inner();
    sessions.room = found.room;
    sessions.left_out = found.left_out;
    sessions.list.extend(found.list);
    if let Err(error) = read {
        report.unreadable(path, &error, "Its records before this place are read.");
    }
}

/// The transcripts of sessions without a record, by scenario, id and end. One of which all three are the same is a copy.
type TranscriptsByIdentity = HashMap<(String, String, String), String>;

fn read_transcript(
    tree: &Tree,
    path: &str,
    (sessions, by_id, recorded, transcribed): (
        &mut Sessions,
        &HashMap<String, usize>,
        &HashSet<String>,
        &mut TranscriptsByIdentity,
    ),
    report: &mut Report,
) {
    if sessions.room == 0 {
        sessions.left_out.transcripts += 1;
        return;
    }
    report.files_read += 1;
    let record = record::read_transcript(tree, path, recorded);
    let info = record.node.get("evaluation_info");
    let word = |key: &str| info.and_then(|info| info.get(key)).and_then(Node::word);
    let index = word("session_id").and_then(|id| by_id.get(id)).copied();
    let Sessions { list, room, .. } = sessions;
    let recorded_session = index.and_then(|index| list.get_mut(index));
    if let Some(error) = &record.broken {
        let consequence = if recorded_session.is_some() {
            "The session is read from its record; how its phases went is unknown."
        } else {
            "What came before is read."
        };
        report.unreadable(path, error, consequence);
    }
    match (recorded_session, record.node.get("session_data")) {
        (Some(session), Some(data)) if session.has_conversation => {
            let before = session.bytes();
            session.add(data);
            session.add_turn_limit(record.node.get("scenario_context"));
            session.end();
            *room = room.saturating_sub(session.bytes().saturating_sub(before));
        }
        // The record is cut off: the conversation stands in the transcript only.
        (Some(session), _) if record.node.get("conversation_history").is_some() => {
            let place = Place { path: path.to_owned(), pointer: String::new() };
            if let Some(found) = read_session(&record.node, &place) {
                *room = room.saturating_sub(found.bytes());
                let imported = session.episode.session.as_ref().map(|figures| figures.imported);
                *session = found;
                if let Some((figures, imported)) = session.episode.session.as_mut().zip(imported) {
                    figures.imported = imported;
                }
            }
        }
        (Some(_), _) => {}
        (None, _) => {
            let place = Place { path: path.to_owned(), pointer: String::new() };
            if let Some(session) = read_session(&record.node, &place) {
                let ended = session.episode.timing.finished_at.as_ref().filter(|_| !session.id.is_empty());
                let key =
                    ended.map(|ended| (session.episode.scenario.clone(), session.id.clone(), ended.clone()));
                if let Some(first) = key.as_ref().and_then(|key| transcribed.get(key)) {
                    report.warn(identity::copied(path.to_owned(), first));
                    return;
                }
                transcribed.extend(key.map(|key| (key, path.to_owned())));
                *room = room.saturating_sub(session.bytes());
                list.push(session);
            }
        }
    }
}

/// Numbers the sessions of each scenario by when they ended: what is shown as the last one counts in means. Where the end is
/// unknown it is taken as earlier than any; of ends that are the same a session without a record (`records` = how many have
/// one) is the earlier, and the rest stands as in the files.
fn number_by_time(sessions: &mut [SessionEpisode], records: usize) {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_cached_key(|index| {
        let ended = sessions[*index].episode.timing.finished_at.as_deref();
        (ended.and_then(clock::micros), *index < records)
    });
    let mut repeats: HashMap<String, u32> = HashMap::new();
    for index in order {
        let episode = &mut sessions[index].episode;
        let repeat = repeats.entry(episode.scenario.clone()).or_default();
        *repeat += 1;
        episode.repeat = *repeat;
    }
}

/// Gives sessions their numbers and keys, and says which scenarios were played more than once.
fn numbered(
    mut sessions: Vec<SessionEpisode>,
    records: usize,
    report: &mut Report,
    agent: &Agent,
) -> Vec<Episode> {
    number_by_time(&mut sessions, records);
    let mut repeats: HashMap<String, u32> = HashMap::new();
    let mut keys: HashMap<String, u32> = HashMap::new();
    let mut episodes = Vec::with_capacity(sessions.len());
    let files = [&agent.incremental, &agent.finals, &agent.conversations];
    let place = files.into_iter().flatten().next().map_or("", String::as_str);
    for SessionEpisode { mut episode, id, mut unusable, .. } in sessions {
        *repeats.entry(episode.scenario.clone()).or_default() += 1;
        let name = if id.is_empty() { episode.scenario.clone() } else { id.clone() };
        let nth = keys.entry(name.clone()).or_default();
        *nth += 1;
        episode.key = if *nth == 1 { name } else { format!("{name}#{nth}") };
        let ended = episode.timing.finished_at.as_deref().unwrap_or_default();
        // A line that stands twice in a file is shown twice: it is the same for other sources only once.
        episode.identity =
            (!id.is_empty() && *nth == 1).then(|| identity::from_id(&["locobench", &id, ended]));
        unusable.take_from_timing(&mut episode.timing);
        report.warn_all(unusable.warning(place).map(|mut warning| {
            warning.message = format!("Session {}: {}", episode.key, warning.message);
            warning
        }));
        episodes.push(episode);
    }
    let mut repeated_ids: Vec<(&String, &u32)> = repeats.iter().filter(|(_, count)| **count > 1).collect();
    repeated_ids.sort();
    for (scenario, count) in repeated_ids {
        let message = format!(
            "{scenario} was played {count} times. All are shown; the one that ended last counts in means."
        );
        report.warn(Warning::read_differently(place, "locobench.duplicate", message));
    }
    episodes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::formats::locobench::{layout, transcript};

    /// A file of records with these lines.
    fn place(lines: &[String]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("agent_incremental_results_a.jsonl"), lines.join("\n") + "\n")
            .unwrap();
        let tree = Tree::open(folder.path()).unwrap();
        (folder, tree)
    }

    fn record(number: usize) -> String {
        json!({ "agent_name": "a", "scenario_id": format!("s{number}"), "metric_results": {} }).to_string()
    }

    fn sessions(tree: &Tree, room: usize) -> (Vec<Episode>, Vec<Warning>) {
        let (episodes, report) = read_all(tree, room);
        (episodes, report.warnings)
    }

    fn read_all(tree: &Tree, room: usize) -> (Vec<Episode>, Report) {
        let mut report = Report::default();
        let agents = layout::agents(tree, "", &mut report);
        let episodes = read_up_to(room, (tree, "a"), &agents["a"], &mut report);
        (episodes, report)
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn sessions_of_an_agent_are_kept_up_to_a_bound() {
        let lines: Vec<String> = (0..200).map(record).collect();
        let (_folder, tree) = place(&lines);
        let (all, warnings) = sessions(&tree, SESSIONS_CAP);
        assert_eq!((all.len(), warnings.len()), (200, 0));
        let (few, warnings) = sessions(&tree, 20 * size_of::<SessionEpisode>());
        assert!((5..=20).contains(&few.len()), "{}", few.len());
        assert_eq!(few[..], all[..few.len()], "the first ones");
        let record_warning = format!("{} sessions and 0 transcripts of others are left out", 200 - few.len());
        assert!(
            warnings[0].code == "locobench.too_many" && warnings[0].message.contains(&record_warning),
            "{warnings:?}"
        );
    }

    #[test]
    fn sessions_that_are_left_out_are_counted_once_whatever_file_has_them() {
        let lines: Vec<String> = (0..200).map(record).collect();
        let (folder, tree) = place(&lines);
        // The same records again, under another name.
        std::fs::write(
            folder.path().join("agent_incremental_results_b.jsonl"),
            lines.iter().rev().cloned().collect::<Vec<_>>().join("\n"),
        )
        .unwrap();
        let (few, report) = read_all(&tree, 20 * size_of::<SessionEpisode>());
        let left_out = report.not_kept.episodes.get("a").copied().unwrap();
        assert!(!few.is_empty());
        assert_eq!(few.len() + left_out as usize, 200);
        let (all, report) = read_all(&tree, SESSIONS_CAP);
        assert_eq!((all.len(), report.not_kept.episodes.len()), (200, 0));
    }

    #[test]
    fn a_copy_of_a_transcript_is_no_other_session() {
        let folder = tempfile::tempdir().unwrap();
        let conversations = folder.path().join("conversations_a");
        std::fs::create_dir(&conversations).unwrap();
        let write = |name: &str, ended: Option<&str>| {
            let info = json!({
                "agent_name": "a", "scenario_id": "s", "session_id": "x", "evaluation_timestamp": ended,
            });
            let transcript = json!({
                "evaluation_info": info, "scenario_context": {}, "conversation_history": [], "session_data": {},
            });
            std::fs::write(conversations.join(name), transcript.to_string()).unwrap();
        };
        let found = || {
            let (episodes, warnings) = sessions(&Tree::open(folder.path()).unwrap(), SESSIONS_CAP);
            let codes: Vec<String> = warnings.into_iter().map(|warning| warning.code).collect();
            (episodes.len(), codes)
        };
        write("a.json", Some("2026-01-01T10:00:00"));
        write("a copy.json", Some("2026-01-01T10:00:00"));
        assert_eq!(found(), (1, vec!["part.duplicate".to_owned()]));
        // Another end is another session, and so is one of which it is unknown.
        write("b.json", Some("2026-01-01T11:00:00"));
        write("c.json", None);
        write("d.json", None);
        assert_eq!(found(), (4, vec!["part.duplicate".to_owned(), "locobench.duplicate".to_owned()]));
    }

    /// A record that breaks off behind its conversation does not say how many turns its scenario allows.
    #[test]
    fn the_limit_of_turns_is_that_of_the_record_or_of_its_transcript() {
        let start = r#"{"agent_name": "a", "scenario_id": "s", "session_id": "x", "metric_results": {}, "conversation_history": [], "tool_usage_log": [], "#;
        let limit_of = |context: &str, has_transcript: bool| {
            let (folder, _) = place(&[format!("{start}\"scenario_context\": {context}")]);
            if has_transcript {
                let conversations = folder.path().join("conversations_a");
                std::fs::create_dir(&conversations).unwrap();
                let transcript = json!({
                    "evaluation_info": { "agent_name": "a", "scenario_id": "s", "session_id": "x" },
                    "scenario_context": { "max_turns": 30 }, "conversation_history": [], "session_data": {},
                });
                std::fs::write(conversations.join("a.json"), transcript.to_string()).unwrap();
            }
            let (episodes, _) = sessions(&Tree::open(folder.path()).unwrap(), SESSIONS_CAP);
            assert_eq!(episodes.len(), 1);
            episodes[0].session.as_ref().unwrap().max_turns
        };
        assert_eq!(limit_of("{\"max_turns\": 20}}", true), Some(20));
        assert_eq!(limit_of("{\"max_tu", true), Some(30));
        assert_eq!(limit_of("{\"max_tu", false), None);
        assert_eq!(limit_of("{\"max_turns\": 0}}", false), None, "no session has no turn");
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn lines_that_hold_nothing_make_no_more_warnings_than_are_kept() {
        let lines: Vec<String> =
            std::iter::once(record(0)).chain(std::iter::repeat_n("x".to_owned(), 6_000)).collect();
        let (_folder, tree) = place(&lines);
        let (found, warnings) = sessions(&tree, SESSIONS_CAP);
        assert_eq!((found.len(), warnings.len()), (1, 5_000));
        assert_eq!(warnings[4_999].code, "locobench.line_unreadable");
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_place_has_no_more_agents_than_their_files_are_read_for() {
        let record_with_name = |number: usize| record(number).replace("\"a\"", &format!("\"a{number}\""));
        let lines: Vec<String> = (0..150).map(record_with_name).collect();
        let (_folder, tree) = place(&lines);
        let mut report = Report::default();
        assert_eq!(layout::agents(&tree, "", &mut report).len(), 100);
        assert_eq!(report.warnings[0].code, "locobench.too_many");
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn very_many_phases_are_cut_and_a_record_is_found_by_its_offset() {
        const PHASES: usize = 3_000;
        let all = || 0..PHASES;
        let phases: Vec<_> = all()
            .map(|n| json!({ "phase_id": format!("p{n}"), "initial_prompt": format!("do {n}") }))
            .collect();
        let messages: Vec<_> =
            all().map(|n| json!({ "role": "user", "content": format!("do {n}") })).collect();
        let log: Vec<_> =
            all().flat_map(|n| [json!({ "phase": format!("p{n}") }), json!({ "phase": "p7" })]).collect();
        let large = json!({
            "agent_name": "a", "scenario_id": "large", "metric_results": {},
            "scenario_context": { "conversation_phases": phases }, "conversation_history": messages, "tool_usage_log": log,
        });
        let (_folder, tree) = place(&[record(0), large.to_string(), record(1)]);
        let (found, _) = sessions(&tree, SESSIONS_CAP);
        let episode = &found[1];
        assert_eq!((episode.turns.len(), episode.planned_turns), (200, Some(3_000)));
        let calls = |turn: usize| episode.turns[turn].attempts[0].tool_calls;
        assert_eq!((calls(0), calls(7), calls(199)), (Some(1), Some(3_001), Some(1)));
        let steps = |pointer: &str| {
            let mut artifact = episode.turns[7].attempts[0].artifacts[0].clone();
            artifact.pointer = Some(format!("{pointer}/scenario_context/conversation_phases/7"));
            transcript::read(&tree, &artifact).map(|read| read.steps)
        };
        let begins = record(0).len() + 1;
        let known = episode.turns[7].attempts[0].artifacts[0].pointer.clone();
        assert_eq!(known, Some(format!("/1@{begins}/scenario_context/conversation_phases/7")));
        let read = steps(&format!("/1@{begins}")).unwrap();
        assert_eq!((read.len(), read[0].text.as_str()), (1, "do 7"));
        // As libraries of before have it.
        assert_eq!(steps("/1").unwrap(), read);
        assert!(steps("/0").is_err() && steps("/1@9999999").is_err() && steps("/1@x").is_err());
    }
}
