//! The sessions of an agent, out of all its files.
//!
//! A file of records counts first. Final results have the same records again: what they have more is added. A transcript belongs
//! to the record of its session; without one it is a session of which the program's figures are unknown.
//!
//! The same scenario twice is shown twice; the session that ended last has the highest number.

use std::collections::{HashMap, HashSet};

use files::Tree;
use model::{Episode, Warning};

use crate::format::Report;
use crate::identity;
use crate::readers::clock;
use crate::readers::json::Node;

use super::layout::Agent;
use super::record::{self, Record};
use super::session::{Place, Played, played};
use super::{lines, session};

/// Reads all sessions of an agent.
pub(super) fn read(tree: &Tree, name: &str, agent: &Agent, report: &mut Report) -> Vec<Episode> {
    let mut sessions: Vec<Played> = Vec::new();
    let mut known = Known::default();
    for path in &agent.incremental {
        of_lines(tree, path, name, (&mut sessions, &mut known), report);
    }
    for path in &agent.finals {
        of_finals(tree, path, name, (&mut sessions, &mut known), report);
    }
    let recorded: HashSet<String> =
        sessions.iter().filter(|s| s.has_conversation && !s.id.is_empty()).map(|s| s.id.clone()).collect();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    for (at, session) in sessions.iter().enumerate().filter(|(_, session)| !session.id.is_empty()) {
        by_id.entry(session.id.clone()).or_insert(at);
    }
    let records = sessions.len();
    for path in &agent.conversations {
        of_transcript(tree, path, (&mut sessions, &by_id, &recorded), report);
    }
    numbered(sessions, records, report, agent)
}

/// How often each session was met in one file, and in all before: the same record in two files is one, twice in one file is two.
#[derive(Default)]
struct Known {
    before: HashMap<String, usize>,
    here: HashMap<String, usize>,
}

impl Known {
    fn next_file(&mut self) {
        for (id, count) in self.here.drain() {
            let before = self.before.entry(id).or_default();
            *before = count.max(*before);
        }
    }

    fn is_new(&mut self, scenario: &str, id: &str) -> bool {
        let key = format!("{scenario}\n{id}");
        let count = self.here.entry(key.clone()).or_default();
        *count += 1;
        *count > self.before.get(&key).copied().unwrap_or(0)
    }
}

fn of_lines(
    tree: &Tree,
    path: &str,
    agent: &str,
    (sessions, known): (&mut Vec<Played>, &mut Known),
    report: &mut Report,
) {
    known.next_file();
    report.files_read += 1;
    let mut warnings = Vec::new();
    let read = lines::each(tree, path, |line| {
        let number = line.number + 1;
        let Some(bytes) = line.bytes else {
            let what = format!("Line {number} is longer than 64 MiB. It is left out.");
            warnings.push(Warning::skipped(path, "locobench.line_too_long", what));
            return true;
        };
        let pieces = lines::pieces(&bytes);
        let joined = pieces.len() > 1;
        for (at, piece) in pieces.iter().enumerate() {
            let record = record::of_bytes(piece);
            let of_agent = record.node.get("agent_name").and_then(Node::word);
            if of_agent.is_some_and(|name| name != agent) {
                continue;
            }
            warnings.extend(said(path, number, &record, joined && at + 1 < pieces.len()));
            let place = Place { path: path.to_owned(), pointer: format!("/{}", line.number) };
            let played = of_agent.and_then(|_| played(&record.node, &place));
            if let Some(played) = played.filter(|p| known.is_new(&p.episode.scenario, &p.id)) {
                sessions.push(played);
            }
        }
        true
    });
    report.warnings.extend(warnings);
    if let Err(error) = read {
        report.unreadable(path, &error, "The records before this place are read.");
    }
}

/// What a reader must know of a line.
fn said(path: &str, number: usize, record: &Record, followed: bool) -> Option<Warning> {
    let fields = record.node.map().iter().map(|(name, _)| name.as_str());
    let figures = record.node.get("lcba_efficiency").is_some();
    match &record.broken {
        Some(_) if record.node.get("scenario_id").is_none() => {
            let what = format!("Line {number} holds no record that can be read. It is left out.");
            Some(Warning::skipped(path, "locobench.line_unreadable", what))
        }
        Some(_) => {
            let end = match (followed, figures) {
                (true, _) => "another record begins on the same line, which is read as well",
                (false, true) => "what came before is read: the figures are, the conversation may be missing",
                (false, false) => "what came before is read; its figures are unknown",
            };
            let what =
                format!("The record on line {number} is cut off after {} fields; {end}.", fields.count());
            Some(Warning::read_differently(path, "locobench.line_cut", what))
        }
        None if record.not_strict => {
            let what = format!(
                "Line {number} is no strict JSON (NaN, or half of a character). NaN is unknown; the rest is read as it stands."
            );
            Some(Warning::repaired(path, "json.not_strict", what))
        }
        None => None,
    }
}

fn of_finals(
    tree: &Tree,
    path: &str,
    agent: &str,
    (sessions, known): (&mut Vec<Played>, &mut Known),
    report: &mut Report,
) {
    known.next_file();
    report.files_read += 1;
    let found: std::cell::RefCell<Vec<(usize, Played)>> = std::cell::RefCell::default();
    let agent_key = agent.replace('~', "~0").replace('/', "~1");
    let read =
        record::each_final(tree, path, agent, &mut || found.borrow_mut().clear(), &mut |number, record| {
            let pointer = format!("/detailed_results/{agent_key}/{number}");
            let place = Place { path: path.to_owned(), pointer };
            found.borrow_mut().extend(played(&record, &place).map(|played| (number, played)));
        });
    for (_, played) in found.into_inner() {
        if known.is_new(&played.episode.scenario, &played.id) {
            sessions.push(played);
        }
    }
    if let Err(error) = read {
        report.unreadable(path, &error, "Its records before this place are read.");
    }
}

fn of_transcript(
    tree: &Tree,
    path: &str,
    (sessions, by_id, recorded): (&mut Vec<Played>, &HashMap<String, usize>, &HashSet<String>),
    report: &mut Report,
) {
    report.files_read += 1;
    let record = record::of_transcript(tree, path, recorded);
    let info = record.node.get("evaluation_info");
    let word = |key: &str| info.and_then(|info| info.get(key)).and_then(Node::word);
    let at = word("session_id").and_then(|id| by_id.get(id)).copied();
    let of_record = at.and_then(|at| sessions.get_mut(at));
    if let Some(error) = &record.broken {
        let consequence = if of_record.is_some() {
            "The session is read from its record; how its phases went is unknown."
        } else {
            "What came before is read."
        };
        report.unreadable(path, error, consequence);
    }
    match (of_record, record.node.get("session_data")) {
        (Some(session), Some(data)) if session.has_conversation => {
            session.add(data);
            session.end();
        }
        // The record is cut off: the conversation stands in the transcript only.
        (Some(session), _) if record.node.get("conversation_history").is_some() => {
            let place = Place { path: path.to_owned(), pointer: String::new() };
            if let Some(found) = played(&record.node, &place) {
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
            sessions.extend(session::played(&record.node, &place));
        }
    }
}

/// Numbers the sessions of each scenario by when they ended: what is shown as the last one counts in means. Where the end is
/// unknown it is taken as earlier than any; of ends that are the same a session without a record (`records` = how many have
/// one) is the earlier, and the rest stands as in the files.
fn number_by_time(sessions: &mut [Played], records: usize) {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_cached_key(|at| {
        let ended = sessions[*at].episode.timing.finished_at.as_deref();
        (ended.and_then(clock::micros), *at < records)
    });
    let mut repeats: HashMap<String, u32> = HashMap::new();
    for at in order {
        let episode = &mut sessions[at].episode;
        let repeat = repeats.entry(episode.scenario.clone()).or_default();
        *repeat += 1;
        episode.repeat = *repeat;
    }
}

/// Gives sessions their numbers and keys, and says which scenarios were played more than once.
fn numbered(mut sessions: Vec<Played>, records: usize, report: &mut Report, agent: &Agent) -> Vec<Episode> {
    number_by_time(&mut sessions, records);
    let mut repeats: HashMap<String, u32> = HashMap::new();
    let mut keys: HashMap<String, u32> = HashMap::new();
    let mut episodes = Vec::with_capacity(sessions.len());
    let files = [&agent.incremental, &agent.finals, &agent.conversations];
    let place = files.into_iter().flatten().next().map_or("", String::as_str);
    for Played { mut episode, id, mut unusable, .. } in sessions {
        *repeats.entry(episode.scenario.clone()).or_default() += 1;
        let name = if id.is_empty() { episode.scenario.clone() } else { id.clone() };
        let nth = keys.entry(name.clone()).or_default();
        *nth += 1;
        episode.key = if *nth == 1 { name } else { format!("{name}#{nth}") };
        let ended = episode.timing.finished_at.as_deref().unwrap_or_default();
        // A line that stands twice in a file is shown twice: it is the same for other sources only once.
        episode.identity = (!id.is_empty() && *nth == 1).then(|| identity::of_id(&["locobench", &id, ended]));
        unusable.settle_times(&mut episode.timing);
        report.warnings.extend(unusable.warning(place).map(|mut warning| {
            warning.message = format!("Session {}: {}", episode.key, warning.message);
            warning
        }));
        episodes.push(episode);
    }
    let mut more: Vec<(&String, &u32)> = repeats.iter().filter(|(_, count)| **count > 1).collect();
    more.sort();
    for (scenario, count) in more {
        let what = format!(
            "{scenario} was played {count} times. All are shown; the one that ended last counts in means."
        );
        report.warn(Warning::read_differently(place, "locobench.duplicate", what));
    }
    episodes
}
