//! Logs of an episode that is being played, from their ends on.
//!
//! What is read was written by an agent, or by a server that it wrote: it is read through a [`files::Tree`], which cannot be
//! left, in pieces of a bounded size, and control characters are escaped.

use std::path::Path;

use files::Tree;
use model::{dollars, log_line};
use serde_json::Value;

use super::folder::absolute_folder;
use crate::Workbench;
use crate::api::{ApiError, LiveLog, LiveLogKind, LiveLogRequest, LogLine};

/// Most bytes of one answer.
const PIECE: u64 = 64 << 10;
/// Most bytes that are searched for an episode's lines in a log that all episodes share.
const SEARCHED: u64 = 16 << 20;
/// Most lines of one answer from such a log: about what a piece of it holds.
const LINES: usize = 200;
/// Most characters of a line.
const LINE: usize = 2000;
/// Most bytes of a line of the gateway's log: no request is longer, and parsed it may take a hundred times as much memory.
const LONGEST_REQUEST: usize = 1 << 20;

impl Workbench {
    /// What a log of an episode says since.
    pub fn live_log(&self, request: LiveLogRequest) -> Result<LiveLog, ApiError> {
        let folder = absolute_folder(&request.folder)?;
        let named = request.episode.strip_prefix("scenario_").is_some_and(|n| n.parse::<u32>().is_ok());
        if !named {
            return Err(ApiError::new("run.no_episode", format!("There is no episode {}", request.episode)));
        }
        read(&folder, &request)
    }
}

/// The file of a log as it is now: its path, which of those that lay there it is, and the turn and attempt it is of.
struct LogFile {
    path: String,
    number: u32,
    attempt: Option<(u32, u32)>,
    size: u64,
}

fn read(folder: &Path, request: &LiveLogRequest) -> Result<LiveLog, ApiError> {
    let tree = crate::sources::open_tree(folder)?;
    let episode = &request.episode;
    let found = match request.which {
        LiveLogKind::Gateway => tree.entry(".stamina/gateway.jsonl").map(|entry| LogFile {
            path: ".stamina/gateway.jsonl".to_owned(),
            number: 0,
            attempt: None,
            size: entry.size,
        }),
        LiveLogKind::Agent => {
            let now = format!(".stamina/episodes/{episode}.log");
            let log = runner::live::agent_log(folder, episode);
            let attempt_of = (log.number > 0).then_some((log.turn, log.attempt));
            tree.entry(&now)
                .map(|entry| LogFile { path: now, number: log.number, attempt: attempt_of, size: entry.size })
                .filter(|found| found.size > 0)
                .or_else(|| newest(&tree, &format!("{episode}/agent_logs")))
        }
        LiveLogKind::Server => newest(&tree, &format!("{episode}/server_logs")),
    };
    let empty = || LiveLog { lines: Vec::new(), next: String::new(), fresh: true, attempt: None, cut: false };
    let Some(found) = found else { return Ok(empty()) };
    // One file holds the output of one attempt after the other: its number says whether it is the same still.
    let name = format!("{}@{}", found.path, found.number);
    let before = request.position.as_deref().and_then(|mark| mark.rsplit_once('@'));
    let continued_at = before
        .filter(|(log, _)| *log == name)
        .and_then(|(_, offset)| offset.parse::<u64>().ok())
        .filter(|offset| *offset <= found.size);
    let fresh = continued_at.is_none();
    if matches!(request.which, LiveLogKind::Gateway) {
        let searched = search(&tree, &found, continued_at.unwrap_or(0), episode)
            .map_err(|error| ApiError::new("run.files", error.to_string()).with_path(found.path.clone()))?;
        let LogMatches { lines, next, cut } = searched;
        return Ok(LiveLog { lines, next: format!("{name}@{next}"), fresh, attempt: found.attempt, cut });
    }
    let tail = found.size.saturating_sub(PIECE);
    let start = continued_at.map_or(tail, |offset| offset.max(tail));
    let cut = start > continued_at.unwrap_or(0);
    let (bytes, _) = tree
        .read_range(&found.path, start, PIECE)
        .map_err(|error| ApiError::new("run.files", error.to_string()).with_path(found.path.clone()))?;
    // Only whole lines, so that none is shown in two pieces; but a line that never ends is shown too.
    let whole = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(index) => index + 1,
        None if bytes.len() as u64 >= PIECE => bytes.len(),
        None => 0,
    };
    let mut text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
    if cut && let Some(index) = text.find('\n') {
        text.drain(..=index);
    }
    let lines = text
        .lines()
        .map(|line| plain(if request.which == LiveLogKind::Agent { "agent" } else { "server" }, line))
        .collect();
    Ok(LiveLog {
        lines,
        next: format!("{name}@{}", start + whole as u64),
        fresh,
        attempt: found.attempt,
        cut,
    })
}

/// What was found of an episode in a log that all episodes share.
struct LogMatches {
    lines: Vec<LogLine>,
    /// Up to where all lines are whole.
    next: u64,
    /// Whether there may be earlier lines.
    cut: bool,
}

/// The last lines of an episode, from the end back to `floor`: one that waits writes none while the others write many.
fn search(tree: &Tree, found: &LogFile, floor: u64, episode: &str) -> Result<LogMatches, files::ReadError> {
    let mut lines = Vec::new();
    let mut next = None;
    // The start of a line whose rest is in `rest` lies before `offset`.
    let (mut offset, mut rest) = (found.size, Vec::new());
    while offset > floor && found.size - offset < SEARCHED && lines.len() < LINES {
        let start = offset.saturating_sub(PIECE).max(floor);
        let (mut bytes, _) = tree.read_range(&found.path, start, offset - start)?;
        bytes.append(&mut rest);
        offset = start;
        if next.is_none() {
            // Only whole lines, so that none is shown in two pieces.
            let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
                rest = rest_of_request(bytes);
                continue;
            };
            bytes.truncate(end + 1);
            next = Some(start + end as u64 + 1);
        }
        let begin = if offset == floor {
            0
        } else {
            bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| n + 1)
        };
        let text = String::from_utf8_lossy(&bytes[begin..]);
        lines.extend(text.lines().rev().filter_map(|line| metered(line, episode)));
        bytes.truncate(begin);
        rest = rest_of_request(bytes);
    }
    lines.reverse();
    Ok(LogMatches { lines, next: next.unwrap_or(floor), cut: offset > floor })
}

/// The rest of a line whose start is not read yet; nothing of one that is too long, so that it is not copied with every piece.
fn rest_of_request(bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() > LONGEST_REQUEST { Vec::new() } else { bytes }
}

/// The log in a folder that was written last, by turn and attempt in its name, else by time.
fn newest(tree: &Tree, folder: &str) -> Option<LogFile> {
    tree.list(folder)
        .into_iter()
        .filter(|entry| !entry.is_folder() && entry.size > 0)
        .map(|entry| {
            let numbers: Vec<u32> = entry
                .name
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|digits| digits.parse().ok())
                .collect();
            (numbers, entry)
        })
        .max_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.name.cmp(&y.name)))
        .map(|(numbers, entry)| LogFile {
            path: files::join(folder, &entry.name),
            number: 0,
            attempt: match numbers[..] {
                [turn, attempt] => Some((turn, attempt)),
                _ => None,
            },
            size: entry.size,
        })
}

fn plain(kind: &str, line: &str) -> LogLine {
    LogLine { time: None, kind: kind.to_owned(), text: shown(line), facts: Vec::new() }
}

/// Without what a terminal would obey.
fn shown(line: &str) -> String {
    log_line(line, LINE)
}

/// A request as the gateway metered it; nothing if it is another episode's.
fn metered(line: &str, episode: &str) -> Option<LogLine> {
    // Most lines of a long log are others': they need not be understood.
    if line.len() > LONGEST_REQUEST || !line.contains(episode) {
        return None;
    }
    let record: Value = serde_json::from_str(line).ok()?;
    // The start of a request needs no line: its end has one.
    if record.get("episode").and_then(Value::as_str) != Some(episode) || record.get("begun").is_some() {
        return None;
    }
    let text = |key: &str| record.get(key).and_then(Value::as_str).map(shown);
    if let Some(fault) = record.get("fault").and_then(Value::as_u64) {
        let sentence = match fault {
            0 => "the endpoint did not answer".to_owned(),
            status => format!("the endpoint answered {status}"),
        };
        return Some(LogLine {
            time: text("at"),
            kind: "model".to_owned(),
            text: sentence,
            facts: Vec::new(),
        });
    }
    let tokens = |key: &str| record.get("tokens").and_then(|t| t.get(key)).and_then(Value::as_u64);
    let count = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    let cached = tokens("cached").map_or_else(String::new, |n| format!(" ({n} cached)"));
    let status = record.get("status").and_then(Value::as_u64).unwrap_or(0);
    let mut message = format!(
        "{}  in {}{cached}  out {}",
        text("model").unwrap_or_else(|| "model unknown".to_owned()),
        count(tokens("input")),
        count(tokens("output"))
    );
    if status == 0 {
        message = format!("{}  not answered", text("route").unwrap_or_default());
    } else if !(200..300).contains(&status) {
        message = format!("{}  answered {status}", text("route").unwrap_or_default());
    }
    let mut facts = Vec::new();
    facts.extend(record.get("seconds").and_then(Value::as_f64).map(|s| format!("{s:.1} s")));
    facts.extend(record.get("cost_usd").and_then(Value::as_f64).map(dollars));
    let retries = record.get("retries").and_then(Value::as_u64).unwrap_or(0);
    if retries > 0 {
        facts.push(format!("{retries} {}", if retries == 1 { "retry" } else { "retries" }));
    }
    if record.get("probe").and_then(Value::as_bool) == Some(true) {
        facts.push("asked by the gateway itself".to_owned());
    }
    Some(LogLine { time: text("at"), kind: "model".to_owned(), text: message, facts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(folder: &Path, kind: LiveLogKind, mark: Option<&str>) -> LiveLog {
        let request = LiveLogRequest {
            folder: folder.display().to_string(),
            episode: "scenario_1".to_owned(),
            which: kind,
            position: mark.map(str::to_owned),
        };
        read(folder, &request).unwrap()
    }

    #[test]
    fn a_log_is_followed_line_by_line_and_a_new_one_begins_afresh() {
        let temp = tempfile::tempdir().unwrap();
        let logs = temp.path().join("scenario_1/agent_logs");
        std::fs::create_dir_all(&logs).unwrap();
        assert!(ask(temp.path(), LiveLogKind::Agent, None).lines.is_empty());
        std::fs::write(logs.join("turn_9_attempt_1.txt"), "one\n\u{1b}[2Jtwo\nhal").unwrap();
        let first = ask(temp.path(), LiveLogKind::Agent, None);
        let texts: Vec<&str> = first.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["one", "\\u{1b}[2Jtwo"]);
        assert_eq!((first.fresh, first.attempt, first.cut), (true, Some((9, 1)), false));
        std::fs::write(logs.join("turn_9_attempt_1.txt"), "one\n\u{1b}[2Jtwo\nhalf\n").unwrap();
        let next_page = ask(temp.path(), LiveLogKind::Agent, Some(&first.next));
        assert_eq!(
            (next_page.lines[0].text.as_str(), next_page.lines.len(), next_page.fresh),
            ("half", 1, false)
        );
        std::fs::write(logs.join("turn_10_attempt_2.txt"), "new\n").unwrap();
        let next = ask(temp.path(), LiveLogKind::Agent, Some(&next_page.next));
        assert_eq!((next.lines[0].text.as_str(), next.fresh, next.attempt), ("new", true, Some((10, 2))));
    }

    /// The output of every attempt lies in the same file: a longer one of the next attempt is not the end of the last one's.
    #[test]
    fn the_output_of_the_next_attempt_is_shown_from_its_begin() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().join(".stamina/episodes");
        std::fs::create_dir_all(&folder).unwrap();
        let begins = |number: u32, attempt: u32, text: &str| {
            let file = serde_json::json!({
                "name": "scenario_1", "title": null, "phase": "agent", "turn": 4, "attempt": attempt, "cells": [],
                "end_reason": null, "seconds": 1.0, "spent": runner_spent(), "last_event_at": null, "now": null,
                "eta_seconds": null, "stuck": null, "at": "2026-01-01T00:00:00Z",
                "log": { "number": number, "turn": 4, "attempt": attempt },
            });
            std::fs::write(folder.join("scenario_1.json"), file.to_string()).unwrap();
            std::fs::write(folder.join("scenario_1.log"), text).unwrap();
        };
        let texts = |log: &LiveLog| log.lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        begins(7, 1, "first\n");
        let first = ask(temp.path(), LiveLogKind::Agent, None);
        assert_eq!((texts(&first), first.attempt), (vec!["first".to_owned()], Some((4, 1))));
        begins(7, 1, "first\nmore\n");
        let next_page = ask(temp.path(), LiveLogKind::Agent, Some(&first.next));
        assert_eq!((texts(&next_page), next_page.fresh), (vec!["more".to_owned()], false));
        begins(8, 2, "second attempt\nthat says more\n");
        let next = ask(temp.path(), LiveLogKind::Agent, Some(&next_page.next));
        assert_eq!(texts(&next), ["second attempt", "that says more"]);
        assert_eq!((next.fresh, next.attempt), (true, Some((4, 2))));
        // The same attempt, retried.
        begins(9, 2, "second attempt\nthat says more\n");
        assert!(ask(temp.path(), LiveLogKind::Agent, Some(&next.next)).fresh);
    }

    /// Nothing was spent, as it is written.
    fn runner_spent() -> Value {
        serde_json::to_value(gateway::Spent::default()).unwrap()
    }

    #[test]
    fn a_large_log_gives_its_tail() {
        let temp = tempfile::tempdir().unwrap();
        let logs = temp.path().join("scenario_1/server_logs");
        std::fs::create_dir_all(&logs).unwrap();
        let text: String =
            (0..20_000).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        std::fs::write(logs.join("turn_1_attempt_1.txt"), text).unwrap();
        let tail = ask(temp.path(), LiveLogKind::Server, None);
        assert!(tail.cut && tail.lines.len() < 10_000);
        assert_eq!(tail.lines.last().unwrap().text, "line 19999");
        assert!(tail.lines[0].text.starts_with("line "));
    }

    #[test]
    fn requests_of_an_episode_are_told_with_their_numbers() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        let line = |episode: &str, status: u16| {
            format!(
                "{{\"episode\":\"{episode}\",\"turn\":1,\"attempt\":1,\"at\":\"2026-01-01T00:00:00Z\",\"route\":\"POST \
                 /v1/messages\",\"model\":\"m\",\"tokens\":{{\"input\":10,\"cached\":4,\"output\":2}},\"cost_usd\":0.5,\
                 \"seconds\":1.25,\"status\":{status},\"retries\":1}}\n"
            )
        };
        let fault = r#"{"fault":429,"episode":"scenario_1","turn":1,"attempt":1,"at":"2026-01-01T00:00:00Z","number":3}"#;
        let text =
            line("scenario_1", 200) + &line("scenario_11", 200) + fault + "\n" + &line("scenario_1", 429);
        std::fs::write(temp.path().join(".stamina/gateway.jsonl"), text).unwrap();
        let log = ask(temp.path(), LiveLogKind::Gateway, None);
        let texts: Vec<&str> = log.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            ["m  in 10 (4 cached)  out 2", "the endpoint answered 429", "POST /v1/messages  answered 429"]
        );
        assert_eq!(
            metered(&line("scenario_1", 200).replace("0.5", "0.00003"), "scenario_1").unwrap().facts[1],
            "$0.00003"
        );
        assert_eq!(log.lines[0].facts, ["1.2 s", "$0.50", "1 retry"]);
    }

    #[test]
    fn a_model_with_line_breaks_in_its_name_has_one_line() {
        let request = request("scenario_1", 1).replace("\"m\"", "\"m\\n\\u001b[2Jfinished\"");
        let line = metered(&request, "scenario_1").unwrap();
        assert_eq!(line.text, "m\\u{a}\\u{1b}[2Jfinished  in 1  out 2");
    }

    /// A request of an episode as the gateway writes it.
    fn request(episode: &str, input: u32) -> String {
        format!(
            "{{\"episode\":\"{episode}\",\"turn\":1,\"attempt\":1,\"at\":\"2026-01-01T00:00:00Z\",\"route\":\"POST \
             /v1/messages\",\"model\":\"m\",\"tokens\":{{\"input\":{input},\"output\":2}},\"status\":200,\"retries\":0}}\n"
        )
    }

    /// The one that waits writes nothing while the others write on; it is the one that is looked at.
    #[test]
    fn the_requests_of_an_episode_are_found_before_many_of_others() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        let path = temp.path().join(".stamina/gateway.jsonl");
        let others =
            |bytes: usize| request("scenario_2", 7).repeat(bytes / request("scenario_2", 7).len() + 1);
        let texts = |log: &LiveLog| log.lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        let mut text = request("scenario_1", 1) + &request("scenario_1", 2) + &others(200 << 10);
        std::fs::write(&path, &text).unwrap();
        let first = ask(temp.path(), LiveLogKind::Gateway, None);
        assert_eq!(texts(&first), ["m  in 1  out 2", "m  in 2  out 2"]);
        assert!(first.fresh && !first.cut);
        // What came between two looks is found in the same way, whole lines only.
        text += &(request("scenario_1", 3) + &others(200 << 10) + "{\"episode\":\"scenario_1\"");
        std::fs::write(&path, &text).unwrap();
        let next_page = ask(temp.path(), LiveLogKind::Gateway, Some(&first.next));
        assert_eq!(
            (texts(&next_page), next_page.fresh, next_page.cut),
            (vec!["m  in 3  out 2".to_owned()], false, false)
        );
        let unchanged = ask(temp.path(), LiveLogKind::Gateway, Some(&next_page.next));
        assert_eq!((unchanged.lines.len(), unchanged.next == next_page.next), (0, true));
    }

    #[test]
    // docs/security.md: The records of a run (`.stamina/`)
    fn a_line_that_no_gateway_writes_is_not_parsed_into_the_log_of_requests() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        let path = temp.path().join(".stamina/gateway.jsonl");
        let longer = |padding: usize| {
            request("scenario_1", 2)
                .replace("\"turn\"", &format!("\"x\":[{}0],\"turn\"", "0,".repeat(padding)))
        };
        let texts = |text: String| {
            std::fs::write(&path, text).unwrap();
            let log = ask(temp.path(), LiveLogKind::Gateway, None);
            log.lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
        };
        let around = |line: &str| request("scenario_1", 1) + line + &request("scenario_1", 3);
        let all = ["m  in 1  out 2", "m  in 2  out 2", "m  in 3  out 2"];
        assert_eq!(texts(around(&longer(400 << 10))), all);
        // Some of its pieces are the first of what is read, and it may have no end.
        for padding in [520 << 10, 2 << 20] {
            assert_eq!(texts(around(&longer(padding))), [all[0], all[2]], "{padding}");
            let endless = request("scenario_1", 1) + longer(padding).trim_end();
            assert_eq!(texts(endless), [all[0]], "{padding}");
        }
    }

    #[test]
    fn the_last_of_many_requests_of_an_episode_are_shown() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join(".stamina")).unwrap();
        let text: String = (0..5000).map(|n| request("scenario_1", n)).collect();
        std::fs::write(temp.path().join(".stamina/gateway.jsonl"), text).unwrap();
        let log = ask(temp.path(), LiveLogKind::Gateway, None);
        assert!(log.cut && log.lines.len() >= LINES && log.lines.len() < 1000, "{}", log.lines.len());
        assert_eq!(log.lines.last().unwrap().text, "m  in 4999  out 2");
        let numbers: Vec<u32> = log
            .lines
            .iter()
            .map(|line| line.text.trim_start_matches("m  in ").split(' ').next().unwrap().parse().unwrap())
            .collect();
        assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1), "in order, without a gap");
    }
}
