//! What the ends of a run's logs tell: its events, and the requests of its gateway.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use crate::state::RunPaths;
use crate::{Event, clock};

/// The least and the most bytes that are read from the end of a log: a busy run writes more in [`FAULTS_SINCE`].
pub(super) const TAIL: (u64, u64) = (512 << 10, 8 << 20);
/// The least number of gaps for a median.
const ENOUGH_GAPS: usize = 5;
/// How far back faults are counted, in seconds.
const FAULTS_SINCE: f64 = 600.0;

/// The median time between signs of life of one episode.
pub(super) fn usual_gap(events: &[Event], requests: &[gateway::Record]) -> Option<f64> {
    let mut signs: HashMap<&str, Vec<f64>> = HashMap::new();
    let of_events = events.iter().filter_map(|event| match event {
        Event::Turn { at, episode, .. }
        | Event::Attempt { at, episode, .. }
        | Event::Episode { at, episode, .. } => Some((episode.as_str(), at.as_str())),
        _ => None,
    });
    let of_requests = requests.iter().map(|request| (request.key.episode.as_str(), request.at.as_str()));
    for (episode, at) in of_events.chain(of_requests) {
        signs.entry(episode).or_default().extend(clock::seconds(at));
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
) -> (Vec<gateway::Record>, HashMap<String, String>, Vec<gateway::RequestFaulted>) {
    let (mut ended, mut faulted) = (Vec::new(), Vec::new());
    let mut begun: HashMap<(gateway::AttemptKey, u64), String> = HashMap::new();
    for line in tail::<gateway::LogLine>(&paths.gateway_log()) {
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
    for ((key, _), at) in begun {
        // The gateway's times compare as texts.
        open.entry(key.episode).and_modify(|oldest| *oldest = at.clone().min(oldest.clone())).or_insert(at);
    }
    (ended, open, faulted)
}

/// Faults of the last minutes by status, each when it happened, including those of requests with further tries.
pub(super) fn faults(requests: &[gateway::Record], faulted: &[gateway::RequestFaulted]) -> Vec<(u16, u32)> {
    let is_lately = |at: &str| clock::seconds_since(at).is_some_and(|seconds| seconds < FAULTS_SINCE);
    let reported: HashSet<(&gateway::AttemptKey, u64)> =
        faulted.iter().map(|fault| (&fault.key, fault.number)).collect();
    // Faults of requests that finish within the tail of the log may stand before the tail.
    let of_requests = requests
        .iter()
        .filter(|request| is_lately(&request.at) && !reported.contains(&(&request.key, request.number)))
        .flat_map(|request| request.faults.iter().copied());
    let by_themselves = faulted.iter().filter(|fault| is_lately(&fault.at)).map(|fault| fault.fault);
    let mut counts: BTreeMap<u16, u32> = BTreeMap::new();
    for status in of_requests.chain(by_themselves) {
        *counts.entry(status).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// The last readable lines of a log: as far back as [`FAULTS_SINCE`], within [`TAIL`].
pub(super) fn tail<T: serde::de::DeserializeOwned>(path: &Path) -> Vec<T> {
    let Ok(mut file) = files::beneath::open_file(path, rustix::fs::OFlags::RDONLY) else { return Vec::new() };
    let length = file.metadata().map_or(0, |meta| meta.len());
    let mut wanted = TAIL.0;
    loop {
        let begin = length.saturating_sub(wanted);
        let mut bytes = Vec::new();
        if file.seek(SeekFrom::Start(begin)).is_err()
            || (&mut file).take(length - begin).read_to_end(&mut bytes).is_err()
        {
            return Vec::new();
        }
        let mut lines = bytes.split(|byte| *byte == b'\n');
        if begin > 0 {
            // The rest of a line that begins before the tail.
            lines.next();
            let first = lines.clone().find_map(|line| serde_json::from_slice::<Dated>(line).ok());
            let reaches_back =
                first.and_then(|line| clock::seconds_since(&line.at)).is_some_and(|s| s >= FAULTS_SINCE);
            if !reaches_back && wanted < TAIL.1 {
                wanted *= 4;
                continue;
            }
        }
        return lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    }
}

/// What every line of these logs has.
#[derive(Deserialize)]
struct Dated {
    at: String,
}
