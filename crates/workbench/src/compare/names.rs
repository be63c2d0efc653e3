//! How members are named, everywhere: in charts, chips, tables, captions and exports.
//!
//! What tells members apart is decided here; the short form where there is little room is [`figures::short_names`], in charts
//! too, which cut it further by measuring where not even that fits.

use std::collections::{BTreeMap, BTreeSet};

use super::pool::{Pool, only};
use crate::api::Member;

/// Names of fewer characters are shown whole.
const SHORT: usize = 16;
/// What tells a member from others of the same name.
type Mark<'a> = &'a dyn Fn(&Pool) -> Option<String>;

/// Gives every member the shortest name that tells it from the others: the model, the harness or both; then, where that
/// is still the same, version, source or id.
pub(super) fn name(pools: &mut [Pool]) {
    let distinct =
        |level: fn(&Pool) -> String, pools: &[Pool]| pools.iter().map(level).collect::<BTreeSet<_>>().len();
    let (models, harnesses) = (distinct(Pool::model_level, pools), distinct(Pool::harness_level, pools));
    let groups = pools.iter().any(|p| !matches!(p.member, Member::Run { .. }));
    let runs = pools.iter().any(|p| matches!(p.member, Member::Run { .. }));
    let cells = pools.iter().any(|p| matches!(p.member, Member::Cell { .. }));
    let only_cells = pools.iter().all(|p| matches!(p.member, Member::Cell { .. }));
    let first = |pool: &Pool| match &pool.member {
        Member::Harness { .. } if runs || cells || models > 1 => format!("all {}", pool.harness_label()),
        Member::Harness { .. } => pool.harness_label(),
        Member::Model { .. } if runs || cells || harnesses > 1 => format!("all {}", pool.model_label()),
        Member::Model { .. } => pool.model_label(),
        Member::Tag { tag, .. } => tag.clone(),
        Member::Cell { .. } if !only_cells => {
            format!("all {}", pool.both_labels())
        }
        Member::Cell { .. } => match (models > 1, harnesses > 1) {
            (true, false) => pool.model_label(),
            (false, true) => pool.harness_label(),
            _ => pool.both_labels(),
        },
        Member::Run { .. } if groups => pool.full_name(),
        Member::Run { .. } => match (models > 1, harnesses > 1) {
            (true, false) => pool.model_label(),
            (false, true) => pool.harness_label(),
            // One run, or runs that differ in neither.
            (false, false) if pools.len() == 1 && pool.model().is_some() => pool.model_label(),
            _ => pool.full_name(),
        },
    };
    let mut names: Vec<String> = pools.iter().map(first).collect();
    let version =
        |pool: &Pool| only(pool.runs.iter().map(|run| run.record.entry.harness_version.clone())).flatten();
    let source = |pool: &Pool| only(pool.runs.iter().map(|run| run.record.entry.source_name.clone()));
    let benchmark = |pool: &Pool| Some(pool.benchmark().name);
    let run_id = |pool: &Pool| Some(pool.id.clone());
    let steps: [(Mark<'_>, bool); 4] =
        [(&version, false), (&benchmark, false), (&source, false), (&run_id, true)];
    for (step, is_id) in steps {
        let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, name) in names.iter().enumerate() {
            same.entry(name.clone()).or_default().push(i);
        }
        for places in same.into_values().filter(|places| places.len() > 1) {
            let mut marks: Vec<Option<String>> = places.iter().map(|i| step(&pools[*i])).collect();
            if is_id {
                marks = what_differs(&marks.into_iter().flatten().collect::<Vec<_>>());
            }
            if marks.iter().collect::<BTreeSet<_>>().len() < 2 {
                continue;
            }
            for (i, mark) in places.into_iter().zip(marks) {
                if let Some(mark) = mark {
                    names[i] = format!("{} ({mark})", names[i]);
                }
            }
        }
    }
    let short_names = short(&names);
    for ((pool, name), short_name) in pools.iter_mut().zip(names).zip(short_names) {
        (pool.name, pool.short_name) = (name, short_name);
    }
}

/// What tells ids apart: without the parts (to the dots) that all begin with, and the words (to the hyphens) that all end with.
fn what_differs(ids: &[String]) -> Vec<Option<String>> {
    fn common_length(lists: &[Vec<&str>]) -> usize {
        let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
        (0..shortest.saturating_sub(1))
            .take_while(|index| lists.iter().all(|parts| parts[*index] == lists[0][*index]))
            .count()
    }
    let parts: Vec<Vec<&str>> = ids.iter().map(|id| id.split('.').collect()).collect();
    let first = common_length(&parts);
    let rest: Vec<String> = parts.iter().map(|parts| parts[first..].join(".")).collect();
    let words: Vec<Vec<&str>> = rest.iter().map(|rest| rest.rsplit('-').collect()).collect();
    let last = common_length(&words);
    let short = |words: &Vec<&str>| words[last..].iter().rev().copied().collect::<Vec<_>>().join("-");
    words.iter().map(|words| Some(short(words))).collect()
}

/// The names where there is little room for them: what tells each from the others. Names that are all short stay whole.
fn short(names: &[String]) -> Vec<String> {
    let is_short = |name: &String| name.chars().count() <= SHORT;
    if names.iter().all(is_short) { names.to_vec() } else { figures::short_names(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: &[&str]) -> Vec<String> {
        short(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn short_names_show_what_differs_where_names_begin_alike() {
        assert_eq!(
            shown(&["model-a · agent-a (jobs-1)", "model-a · agent-a (jobs-2)"]),
            ["jobs-1", "jobs-2"]
        );
        assert_eq!(
            shown(&["claude-opus-4.8 · opencode", "claude-opus-4.8 · mini-swe"]),
            ["opencode", "mini-swe"]
        );
        assert_eq!(
            shown(&["claude-opus-4.8 · opencode", "claude-opus-4.7 · opencode"]),
            ["opus-4.8", "opus-4.7"]
        );
        assert_eq!(
            shown(&["model-a · agent-a, 2 runs", "model-a · agent-a, 2 runs (x)"]),
            ["runs", "runs (x)"]
        );
        assert_eq!(
            shown(&["模型 · 一个很长的名字的代理 甲", "模型 · 一个很长的名字的代理 乙"]),
            ["甲", "乙"]
        );
    }

    #[test]
    fn short_names_one_name_and_equal_names_stay_as_they_are() {
        assert_eq!(shown(&["glm 5", "glm 6"]), ["glm 5", "glm 6"]);
        assert_eq!(shown(&["model-a · agent-a (jobs-1)"]), ["model-a · agent-a (jobs-1)"]);
        assert_eq!(shown(&[]), Vec::<String>::new());
        let thirteen: Vec<String> =
            (0..42).map(|i| format!("a model with a long name · agent {i}")).collect();
        let short = short(&thirteen);
        assert_eq!(short[41], "agent 41");
        assert_eq!(short.iter().collect::<BTreeSet<_>>().len(), 42);
    }

    #[test]
    fn ids_are_shortened_to_what_differs() {
        let short = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            what_differs(&ids).into_iter().flatten().collect::<Vec<_>>()
        };
        assert_eq!(short(&["set.job-a-agent-vendor", "set.job-b-agent-vendor"]), ["job-a", "job-b"]);
        assert_eq!(short(&["a.run", "b.run"]), ["a.run", "b.run"]);
        assert_eq!(short(&["a.run", "a.run-run"]), ["run", "run-run"]);
        assert_eq!(short(&["x", "y"]), ["x", "y"]);
    }
}
