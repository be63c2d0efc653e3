//! What the ends of a run's logs tell: its events, and the requests of its gateway.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::problems::Problems;
use crate::state::RunPaths;
use crate::{Event, clock, disk};

/// The least and the most bytes that are read from the end of a log: a busy run writes more in [`FAULTS_SINCE`].
pub(super) const TAIL: (u64, u64) = (512 << 10, 8 << 20);
/// The least number of gaps for a median.
const ENOUGH_GAPS: usize = 5;
/// How far back faults are counted, in seconds.
const FAULTS_SINCE: f64 = 600.0;

/// The median time between signs of life of one episode.
pub(super) fn usual_gap(events: &[Event], requests: &[gateway::Record]) -> Option<f64> {
    let mut signs: HashMap<&str, Vec<f64>> = HashMap::new();
    let event_times = events.iter().filter_map(|event| match event {
        Event::Turn { at: time, episode, .. }
        | Event::Attempt { at: time, episode, .. }
        | Event::Episode { at: time, episode, .. } => Some((episode.as_str(), time.as_str())),
        _ => None,
    });
    let request_times = requests.iter().map(|request| (request.key.episode.as_str(), request.at.as_str()));
    for (episode, time) in event_times.chain(request_times) {
        signs.entry(episode).or_default().extend(clock::seconds(time));
    }
    let mut gaps = Vec::new();
    for times in signs.values_mut() {
        times.sort_by(f64::total_cmp);
        gaps.extend(times.windows(2).map(|pair| pair[1] - pair[0]));
    }
    gaps.sort_by(f64::total_cmp);
    (gaps.len() >= ENOUGH_GAPS).then(|| gaps[gaps.len() / 2])
}

/// Finished requests, the start of each episode's oldest open one, and failed tries. Requests from before `part`, the start
/// of this part of the run, are not open: their process was killed.
pub(super) fn requests(
    paths: &RunPaths,
    part: &str,
    problems: &mut Problems,
) -> (Vec<gateway::Record>, HashMap<String, String>, Vec<gateway::RequestFault>) {
    let (mut ended, mut faulted) = (Vec::new(), Vec::new());
    let mut begun: HashMap<(gateway::AttemptKey, u64), String> = HashMap::new();
    for line in tail::<gateway::LogLine>(&paths.gateway_log(), problems) {
        match line {
            // The gateway's times compare as texts.
            gateway::LogLine::Begun(one) if one.at.as_str() < part => {}
            gateway::LogLine::Begun(one) => {
                begun.insert((one.key, one.number), one.at);
            }
            gateway::LogLine::Faulted(one) => faulted.push(one),
            gateway::LogLine::Finished(record) => {
                begun.remove(&(record.key.clone(), record.number));
                ended.push(*record);
            }
        }
    }
    let mut open: HashMap<String, String> = HashMap::new();
    for ((key, _), time) in begun {
        // The gateway's times compare as texts.
        open.entry(key.episode)
            .and_modify(|oldest| *oldest = time.clone().min(oldest.clone()))
            .or_insert(time);
    }
    (ended, open, faulted)
}

/// Faults of the last minutes by status, each when it happened, including those of requests with further tries.
pub(super) fn faults(requests: &[gateway::Record], faulted: &[gateway::RequestFault]) -> Vec<(u16, u32)> {
    let is_lately = |time: &str| clock::seconds_since(time).is_some_and(|seconds| seconds < FAULTS_SINCE);
    let reported: HashSet<(&gateway::AttemptKey, u64)> =
        faulted.iter().map(|fault| (&fault.key, fault.number)).collect();
    // Faults of requests that finish within the tail of the log may stand before the tail.
    let request_times = requests
        .iter()
        .filter(|request| is_lately(&request.at) && !reported.contains(&(&request.key, request.number)))
        .flat_map(|request| request.faults.iter().copied());
    let by_themselves = faulted.iter().filter(|fault| is_lately(&fault.at)).map(|fault| fault.fault);
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    for status in request_times.chain(by_themselves) {
        *counts.entry(status).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// The last lines of a log: as far back as [`FAULTS_SINCE`], within [`TAIL`]. What of it cannot be read is among the problems.
pub(super) fn tail<T: DeserializeOwned>(path: &Path, problems: &mut Problems) -> Vec<T> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match read_tail(path) {
        Ok((lines, unreadable)) => {
            problems.add_lines(&name, unreadable);
            lines
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            problems.add(&name, &disk::error_at(path, error));
            Vec::new()
        }
    }
}

/// The last lines of a log, and how many more of them hold no JSON.
fn read_tail<T: DeserializeOwned>(path: &Path) -> io::Result<(Vec<T>, u64)> {
    let mut file = files::confined_path::open_file(path, rustix::fs::OFlags::RDONLY)?;
    let length = file.metadata()?.len();
    let mut wanted = TAIL.0;
    loop {
        let begin = length.saturating_sub(wanted);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))?;
        (&mut file).take(length - begin).read_to_end(&mut bytes)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
        let (complete, begun) = bytes.split_at(end);
        let mut lines = complete.split(|byte| *byte == b'\n');
        if begin > 0 {
            // The rest of a line that begins before the tail.
            lines.next();
            let first = lines.clone().find_map(|line| serde_json::from_slice::<LineTime>(line).ok());
            let reaches_back =
                first.and_then(|line| clock::seconds_since(&line.at)).is_some_and(|s| s >= FAULTS_SINCE);
            if !reaches_back && wanted < TAIL.1 {
                wanted *= 4;
                continue;
            }
        }
        let (mut read, mut unreadable) = (Vec::new(), 0);
        for line in lines.filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => read.push(line),
                Err(_) => unreadable += u64::from(is_damaged(line)),
            }
        }
        if begin > 0 && end == 0 {
            // No line that the runner writes is as long as the tail.
            unreadable += 1;
        } else if let Ok(line) = serde_json::from_slice(begun) {
            read.push(line);
        } else {
            // A line without an end is being written just now, if it begins as ours do.
            unreadable += u64::from(begun.first().is_some_and(|byte| *byte != b'{'));
        }
        return Ok((read, unreadable));
    }
}

/// Whether a line holds what the runner never writes. A line of another version is JSON as well, and a process that was killed leaves the
/// beginning of one.
fn is_damaged(line: &[u8]) -> bool {
    let is_begun = |error: &serde_json::Error| line.starts_with(b"{") && error.is_eof();
    serde_json::from_slice::<IgnoredAny>(line).is_err_and(|error| !is_begun(&error))
}

/// What every line of these logs has.
#[derive(Deserialize)]
struct LineTime {
    at: String,
}
