//! The spending of the earlier parts of a run.

use std::collections::BTreeMap;

use gateway::Spent;

use crate::run_context::Accounts;
use crate::state::{Journal, RunFile, RunPaths};

/// Spending of earlier parts, of the run and of each episode: the recorded amount, or that of the gateway log if it is higher.
/// The log also has requests of an attempt that was killed before it was recorded. Blocks.
pub(crate) fn earlier_accounts(paths: &RunPaths, run: &RunFile) -> Accounts {
    let counted = gateway::read_totals(&paths.gateway_log()).unwrap_or_else(|error| {
        tracing::warn!(
            "the gateway's log cannot be read, so what killed attempts have spent is not counted: {error}"
        );
        gateway::LogTotals::default()
    });
    let mut episodes = BTreeMap::new();
    for planned in &run.episodes {
        let state = paths.state(&planned.name);
        let journal = Journal::read(&state).unwrap_or_default();
        let known = journal.after.map_or(journal.before.spent, |after| after.known.spent);
        let logged = counted.episodes.get(&planned.name).copied().unwrap_or_default();
        episodes.insert(planned.name.clone(), larger_account(known, logged));
    }
    Accounts { run: larger_account(run.spent, counted.run), episodes, is_answered: counted.is_answered }
}

/// The account that knows of more; seconds are only in the written one.
fn larger_account(written: Spent, logged: Spent) -> Spent {
    let known = |spent: &Spent| (spent.requests, spent.unmetered, spent.reported_tokens());
    let more = known(&logged) > known(&written);
    let account = if more { Spent { seconds: written.seconds, ..logged } } else { written };
    // Somebody else may have written both.
    account.without_negatives()
}
