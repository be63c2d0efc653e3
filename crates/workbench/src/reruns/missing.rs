//! Which planned episodes are not there.

use std::collections::HashMap;

use ingest::format_trait::PlannedScenario;

use super::last_part;

/// What was planned more often than it is there. Names are compared whole, or by their last part where that tells the planned
/// ones apart. `present` are the scenarios and keys of the episodes that are there; the time is linear in both.
pub(super) fn missing(planned: &[PlannedScenario], present: &[(&str, &str)]) -> Vec<(String, u32)> {
    let last_part_counts = count_each(planned.iter().map(|planned| last_part(&planned.scenario)));
    let by_name = count_each(present.iter().map(|(scenario, _)| *scenario));
    let by_last_part = count_each(present.iter().map(|(scenario, _)| last_part(scenario)));
    // An episode may have the planned name as its key alone; these are not among the ones above.
    let by_key_not_name =
        count_each(present.iter().filter(|(scenario, key)| scenario != key).map(|(_, key)| *key));
    let by_key_not_last_part = count_each(
        present.iter().filter(|(scenario, key)| last_part(scenario) != last_part(key)).map(|(_, key)| *key),
    );
    let number = |counts: &HashMap<&str, u32>, name: &str| counts.get(name).copied().unwrap_or(0);
    planned
        .iter()
        .filter_map(|planned| {
            let name = planned.scenario.as_str();
            let present_count = if number(&last_part_counts, last_part(name)) == 1 {
                number(&by_last_part, last_part(name)) + number(&by_key_not_last_part, name)
            } else {
                number(&by_name, name) + number(&by_key_not_name, name)
            };
            Some((planned.scenario.clone(), planned.episodes.checked_sub(present_count).filter(|n| *n > 0)?))
        })
        .collect()
}

/// How often each name comes.
fn count_each<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, u32> {
    names.fold(HashMap::new(), |mut counts, name| {
        *counts.entry(name).or_insert(0) += 1;
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(names: &[(&str, u32)]) -> Vec<PlannedScenario> {
        names
            .iter()
            .map(|(name, episodes)| PlannedScenario { scenario: (*name).to_owned(), episodes: *episodes })
            .collect()
    }

    fn found(names: &[(&str, u32)], present: &[(&str, &str)]) -> Vec<(String, u32)> {
        missing(&planned(names), present)
    }

    #[test]
    fn names_are_compared_whole_or_by_a_last_part_that_only_one_has_and_by_the_key() {
        let none: Vec<(String, u32)> = Vec::new();
        assert_eq!(found(&[("set/a", 2)], &[]), [("set/a".to_owned(), 2)]);
        // Its last part is that of no other planned one.
        assert_eq!(found(&[("set/a", 2), ("b", 1)], &[("a", "a__1"), ("other/a", "a__2"), ("b", "b")]), none);
        // Two have it, so the whole name counts.
        let entries = [("x/a", 1), ("y/a", 1)];
        assert_eq!(found(&entries, &[("a", "a__1"), ("x/a", "a__2")]), [("y/a".to_owned(), 1)]);
        assert_eq!(found(&entries, &[("x/a", "x/a"), ("shop", "y/a")]), none);
        // One that scenario and key both name is one.
        assert_eq!(found(&[("a", 2)], &[("a", "a")]), [("a".to_owned(), 1)]);
        assert_eq!(found(&[("a", 2)], &[("set/a", "a")]), [("a".to_owned(), 1)]);
        assert_eq!(
            found(&[("scenario_0", 1), ("scenario_1", 1)], &[("shop", "scenario_1")]),
            [("scenario_0".to_owned(), 1)]
        );
        // More than planned is nothing that is missing.
        assert_eq!(found(&[("a", 1)], &[("a", "a__1"), ("a", "a__2")]), none);
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn very_many_planned_names_are_not_each_compared_with_every_episode() {
        let names: Vec<String> = (0..200_000).map(|number| format!("set/task-{number}")).collect();
        let planned: Vec<PlannedScenario> =
            names.iter().map(|name| PlannedScenario { scenario: name.clone(), episodes: 1 }).collect();
        let present: Vec<(&str, &str)> =
            names.iter().skip(1).map(|name| (name.as_str(), name.as_str())).collect();
        assert_eq!(missing(&planned, &present), [("set/task-0".to_owned(), 1)]);
    }
}
