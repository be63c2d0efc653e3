//! What is to be played, and what that takes in the engine.

use runner::settings::RunSettings;
use scenario::config::Benchmark;
use scenario::pack::Pack;

use crate::api::EngineDisk;
use crate::packs::estimated_bytes;
use crate::runs::planned_checks::named_images;

/// Snapshots of a trial that are there at once where they are kept for a resume only.
const KEPT_FOR_RESUME: u32 = 2;

/// What is to be played.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::runs) struct RunPlan {
    pub(in crate::runs) episodes: u32,
    pub(in crate::runs) turns: u64,
    /// Bytes of their schemas, suites and reference servers.
    pub(in crate::runs) bytes: u64,
    /// Steps of each task; empty for scenarios.
    pub(in crate::runs) steps: Vec<u32>,
    /// Images that are built for tasks.
    pub(in crate::runs) images: u64,
}

/// What is to be played, by the settings and their pack.
pub(in crate::runs) fn plan(settings: &RunSettings, pack: Option<&Pack>) -> RunPlan {
    if settings.tasks.is_some() {
        let steps: Vec<u32> =
            runner::planned(settings).unwrap_or_default().into_iter().map(|(_, steps)| steps).collect();
        let turns = steps.iter().map(|steps| u64::from(*steps)).sum();
        // A harness is laid into every image, also into one that a task names.
        let images = named_images(settings);
        let is_built = images.iter().filter(|(_, image)| settings.asks_model() || image.is_none());
        let images = is_built.count() as u64;
        return RunPlan { episodes: steps.len() as u32, turns, bytes: 0, steps, images };
    }
    let g = &settings.generation;
    let most_turns = if g.benchmark == Benchmark::Iterative { g.n_turns } else { 1 };
    let named = &settings.execute_episodes;
    let numbers: Vec<u32> = match (named.is_empty(), settings.quick_debug) {
        (true, _) => (0..g.n_scenarios).collect(),
        (false, false) => named.clone(),
        // Two of those that are named.
        (false, true) => named.iter().copied().take(g.n_scenarios as usize).collect(),
    };
    let turns: Vec<u32> = match pack {
        Some(pack) => {
            let entries = pack.scenarios();
            numbers.iter().filter_map(|n| Some(entries.get(*n as usize)?.turns.min(most_turns))).collect()
        }
        None => numbers.iter().map(|_| most_turns).collect(),
    };
    let bytes = turns.iter().map(|n| estimated_bytes(*n, g.num_changes_per_turn)).sum();
    let (episodes, turns) = (turns.len() as u32, turns.iter().map(|n| u64::from(*n)).sum());
    RunPlan { episodes, turns, bytes, steps: Vec::new(), images: 0 }
}

/// What a run of tasks will take in the engine. `sizes` = bytes of images of other tasks there; where there are none, what images
/// take is unknown.
pub(super) fn in_engine(settings: &RunSettings, plan: &RunPlan, sizes: &[u64]) -> Option<EngineDisk> {
    settings.tasks.as_ref()?;
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let images = match plan.images {
        0 => Some(0),
        images => sizes.get(sizes.len() / 2).map(|size| size.saturating_mul(images)),
    };
    let mut steps = plan.steps.clone();
    steps.sort_unstable_by_key(|steps| std::cmp::Reverse(*steps));
    // The longest ones may meet.
    steps.truncate(settings.batch_size.max(1) as usize);
    // What is kept for a resume only goes once the next one is there.
    let most_kept = if settings.restore_before_try { u32::MAX } else { KEPT_FOR_RESUME };
    let kept: u64 = steps.iter().map(|steps| u64::from((*steps).min(most_kept))).sum();
    let snapshots = if settings.keeps_snapshots() { kept } else { 0 };
    let containers_at_most = settings.limits.disk.saturating_mul(steps.len() as u64 + snapshots);
    Some(EngineDisk { images, containers_at_most, snapshots })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(added: &[&str]) -> RunSettings {
        let mut values = vec!["agent=MOCK".to_owned(), "output_dir=/r".to_owned()];
        values.extend(added.iter().map(|&value| value.to_owned()));
        runner::settings::resolve(&[], &values).unwrap()
    }

    #[test]
    fn containers_and_snapshots_of_tasks_and_their_images_are_counted() {
        const GIB: u64 = 1 << 30;
        let tasks = |added: &[&str]| {
            let always =
                ["agent=ORACLE", "benchmark=HARBOR", "tasks=/t", "limits.disk_gib=2", "batch_size=2"];
            settings(&[&always[..], added].concat())
        };
        let plan = RunPlan { episodes: 3, turns: 12, bytes: 0, steps: vec![3, 5, 4], images: 2 };
        let chain = in_engine(&tasks(&[]), &plan, &[]).unwrap();
        let expected = EngineDisk { images: None, containers_at_most: 4 * GIB, snapshots: 0 };
        assert_eq!(chain, expected, "two at once, and what images take is unknown");
        let tries = in_engine(&tasks(&["restore_before_try=true"]), &plan, &[700, 100, 300]).unwrap();
        // Nine snapshots of the two longest tasks and their containers; the median of three images, twice.
        let expected = EngineDisk { images: Some(600), containers_at_most: 22 * GIB, snapshots: 9 };
        assert_eq!(tries, expected);
        // The last one of each of them, and for a moment the one before.
        let resumable = in_engine(&tasks(&["harbor.snapshots=each_step"]), &plan, &[700, 100, 300]).unwrap();
        let expected = EngineDisk { images: Some(600), containers_at_most: 12 * GIB, snapshots: 4 };
        assert_eq!(resumable, expected);
        let single = RunPlan { steps: vec![1, 1], ..plan.clone() };
        assert_eq!(in_engine(&tasks(&["harbor.snapshots=each_step"]), &single, &[]).unwrap().snapshots, 2);
        let named = RunPlan { images: 0, ..plan.clone() };
        assert_eq!(in_engine(&tasks(&[]), &named, &[]).unwrap().images, Some(0), "all of them are there");
        assert_eq!(in_engine(&settings(&[]), &plan, &[700]), None, "scenarios leave nothing in the engine");
    }

    #[test]
    fn what_is_chosen_is_counted() {
        let all = settings(&["restful_server_gen_iterative.n_turns=7"]);
        assert_eq!((plan(&all, None).episodes, plan(&all, None).turns), (10, 70));
        let selected = settings(&["restful_server_gen_iterative.execute_episodes=1,3,9"]);
        assert_eq!(
            (plan(&selected, None).episodes, plan(&selected, None).turns),
            (3, 9),
            "as they are played"
        );
        let quick = settings(&["restful_server_gen_iterative.execute_episodes=1,3,99", "quick_debug=true"]);
        assert_eq!((plan(&quick, None).episodes, plan(&quick, None).turns), (2, 4));
    }
}
