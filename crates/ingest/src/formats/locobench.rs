//! Output of LoCoBench-Agent, as its program writes it.
//!
//! ```text
//! intermediate_agent_results/
//!   agent_incremental_results_<agent>.jsonl        a record a session, appended
//!   agent_evaluation_checkpoint_<agent>.json       which scenarios were to be played
//!   conversations_<agent>/<agent>_<scenario>_<time>.json     a transcript a session
//! evaluation_agent_results/
//!   <model>_agent_evaluation_results_<time>.json   all records of an agent again, and means over them
//! ```
//!
//! A place is the folder that holds both, or either of them. A run is an agent, a session an episode, a phase a turn **without a
//! verdict**: nothing is tested there. The figures of a session are the program's own, the same computed here, and what its calls
//! show (`analysis::locobench`).

mod agent;
mod finals;
mod kept_sessions;
mod layout;
mod lines;
mod record;
mod session;
mod transcript;

use std::collections::BTreeMap;

use files::{ReadError, Tree};
use model::{Artifact, Benchmark, Run, Transcript};

use crate::format_trait::{Format, Part, PartReader, PlannedScenario, Reading, Report, Sniff, Survey};

use self::layout::Agent;

/// Output of LoCoBench-Agent.
#[derive(Debug, Clone, Copy)]
pub struct LocoBench;

impl Format for LocoBench {
    fn id(&self) -> &'static str {
        "locobench"
    }

    fn name(&self) -> &'static str {
        "LoCoBench-Agent output"
    }

    fn looked_for(&self) -> &'static str {
        "agent_incremental_results_*.jsonl, *_agent_evaluation_results_*.json or conversations_*/ of LoCoBench-Agent"
    }

    fn sniff(&self, tree: &Tree, folder: &str) -> Sniff {
        layout::sniff(tree, folder)
    }

    fn survey(&self, tree: &Tree, folder: &str, report: &mut Report) -> Survey {
        let agents = layout::agents(tree, folder, report);
        let parts =
            agents.iter().map(|(name, agent)| Part { key: name.clone(), stamp: agent.stamp(tree) }).collect();
        let runs = agents.iter().map(|(name, agent)| run(tree, name, agent)).collect();
        Survey { runs, parts }
    }

    fn reader(&self, tree: &Tree, folder: &str) -> Box<dyn PartReader> {
        // The survey has warned of what is wrong here.
        Box::new(AgentReader { agents: layout::agents(tree, folder, &mut Report::default()) })
    }

    fn planned(&self, tree: &Tree, folder: &str, run: &str) -> Option<Vec<PlannedScenario>> {
        let agents = layout::agents(tree, folder, &mut Report::default());
        let planned = PlannedScenario::count(agents.get(run)?.planned(tree));
        (!planned.is_empty()).then_some(planned)
    }

    fn transcript(&self, tree: &Tree, artifact: &Artifact) -> Result<Transcript, ReadError> {
        transcript::read(tree, artifact)
    }
}

/// Kinds of agents, as the program's command line names them: the name of an agent is its kind, `-`, and its model.
const KINDS: [&str; 8] =
    ["openai", "anthropic", "google", "autogen", "langchain", "crewai", "swarm", "custom"];

fn run(tree: &Tree, name: &str, agent: &Agent) -> Run {
    let mut run = Run::unknown(name, Benchmark::locobench_agent());
    run.runner = Some(("LoCoBench-Agent".to_owned(), None));
    match name.split_once('-').filter(|(kind, model)| KINDS.contains(kind) && !model.is_empty()) {
        Some((kind, model)) => {
            (run.harness, run.model) = (Some(kind.to_owned()), Some(model.to_owned()));
        }
        None => run.harness = Some(name.to_owned()),
    }
    let planned = agent.planned(tree).len();
    run.planned_episodes = u32::try_from(planned).ok().filter(|n| *n > 0);
    run
}

/// Reads the sessions of agents.
struct AgentReader {
    agents: BTreeMap<String, Agent>,
}

impl PartReader for AgentReader {
    fn read(&self, tree: &Tree, part: &Part, report: &mut Report) -> Vec<Reading> {
        let Some(agent) = self.agents.get(&part.key) else { return Vec::new() };
        let episodes = agent::read(tree, &part.key, agent, report);
        episodes.into_iter().map(|episode| Reading { run: part.key.clone(), episode }).collect()
    }
}
