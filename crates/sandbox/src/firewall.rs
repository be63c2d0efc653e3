//! Services of the host that listen on all addresses are kept from server containers, where this program may: as root, on a machine
//! whose engine makes its bridges here.
//!
//! A bridge leads to the host itself by every address that it has, also from a network without a way out. So packets that
//! come in from a run's bridge are dropped (`INPUT`), but those of connections that the host began: its tests. Rules name a bridge of this program and carry a comment with the run and the process that made them: no other traffic is
//! touched, and what a crash leaves is found and taken away like everything else that it made.

use std::collections::HashSet;
use std::process::{Command, Stdio};

use crate::owner::{Process, plain_name};

/// How comments of our rules begin.
const MARK: &str = "stamina-lab";
/// Both tables of rules; containers have no IPv6 unless the engine was told so.
const PROGRAMS: [&str; 2] = ["iptables", "ip6tables"];

/// Whether rules may be made here: as root, and where they can be listed. Blocks.
pub(crate) fn is_possible() -> bool {
    rustix::process::geteuid().is_root() && list("iptables").is_some()
}

/// Whether rules like ours are taken: makes them for a bridge that does not exist, and takes them away. Blocks.
pub(crate) fn is_proven() -> bool {
    use std::sync::atomic::{AtomicU32, Ordering};
    static TRIALS: AtomicU32 = AtomicU32::new(0);
    // A run of its own, so that two trials at once are not in each other's way.
    let run = format!("trial{}", TRIALS.fetch_add(1, Ordering::Relaxed));
    let proven = is_possible() && guard(&run, "stamina-trial").is_ok();
    if proven {
        unguard(&run);
    }
    proven
}

/// Keeps containers on a bridge from the host. Errors are sentences, and then no rule is left. Blocks.
pub(crate) fn guard(run: &str, bridge: &str) -> Result<(), String> {
    for program in PROGRAMS {
        if let Err(error) = guard_with(program, run, bridge) {
            // Half of the rules would keep tests from the containers.
            remove_of(program, |rule| rule.run() == Some(run) && rule.bridge() == Some(bridge));
            if program == PROGRAMS[0] {
                return Err(error);
            }
            tracing::warn!("servers in containers may reach services of this machine over IPv6: {error}");
        }
    }
    Ok(())
}

fn guard_with(program: &str, run: &str, bridge: &str) -> Result<(), String> {
    let Some(rules) = list(program) else {
        return if program == PROGRAMS[0] { Err("iptables cannot be used".to_owned()) } else { Ok(()) };
    };
    let process = Process::current();
    let own_label = process.label();
    let (own_rules, others): (Vec<&Rule>, Vec<&Rule>) = rules
        .iter()
        .filter(|rule| rule.run() == Some(run) && rule.bridge() == Some(bridge))
        .partition(|rule| rule.owner().is_some_and(|owner| owner == own_label));
    for rule in others {
        delete(program, rule)?;
    }
    if !own_rules.is_empty() {
        return Ok(());
    }
    let comment = comment(run);
    let chain_rule = ["-i", bridge, "-m", "comment", "--comment", &comment];
    // Each is put in front of the one before.
    insert(program, &[&chain_rule[..], &["-j", "DROP"]].concat())?;
    let known = ["-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"];
    insert(program, &[&chain_rule[..], &known, &["-j", "ACCEPT"]].concat())
}

/// Takes the rules of a run away. Blocks.
pub(crate) fn unguard(run: &str) {
    remove(|rule| rule.run() == Some(run));
}

/// Takes the rules of dead processes away, but those of runs that still have containers. Blocks.
pub(crate) fn sweep(guarded: &HashSet<String>) {
    remove(|rule| {
        rule.owner().is_some_and(|owner| !Process::from_label(&owner).lives())
            && rule.run().is_some_and(|run| !guarded.contains(run))
    });
}

fn remove(is_meant: impl Fn(&Rule) -> bool) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for program in PROGRAMS {
        remove_of(program, &is_meant);
    }
}

fn remove_of(program: &str, is_meant: impl Fn(&Rule) -> bool) {
    for rule in list(program).unwrap_or_default().iter().filter(|rule| is_meant(rule)) {
        if let Err(error) = delete(program, rule) {
            tracing::warn!("a rule of the firewall could not be taken away: {error}");
        }
    }
}

/// `stamina-lab_0f3a5c77_4711-123456-4026531836`: letters that are not quoted.
fn comment(run: &str) -> String {
    let owner = Process::current().label().replace(':', "-");
    format!("{MARK}_{}_{owner}", plain_name(run))
}

/// A rule as it is listed: the words behind `-A INPUT`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule(Vec<String>);

impl Rule {
    fn word_after(&self, word: &str) -> Option<&str> {
        let index = self.0.iter().position(|other| other == word)?;
        self.0.get(index + 1).map(String::as_str)
    }

    fn bridge(&self) -> Option<&str> {
        self.word_after("-i")
    }

    /// Run and process of a rule of this program.
    fn run_and_owner(&self) -> Option<(&str, &str)> {
        self.word_after("--comment")?.strip_prefix(MARK)?.strip_prefix('_')?.split_once('_')
    }

    fn run(&self) -> Option<&str> {
        Some(self.run_and_owner()?.0)
    }

    fn owner(&self) -> Option<String> {
        Some(self.run_and_owner()?.1.replace('-', ":"))
    }
}

/// The rules for what comes in; nothing where they cannot be listed.
fn list(program: &str) -> Option<Vec<Rule>> {
    Some(read(&call(program, &["-S", "INPUT"]).ok()?))
}

fn read(listed: &str) -> Vec<Rule> {
    let words = |line: &str| line.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect();
    listed.lines().filter_map(|line| line.strip_prefix("-A INPUT ")).map(|line| Rule(words(line))).collect()
}

fn insert(program: &str, rule: &[&str]) -> Result<(), String> {
    call(program, &[&["-I", "INPUT"], rule].concat()).map(drop)
}

fn delete(program: &str, rule: &Rule) -> Result<(), String> {
    let words: Vec<&str> = ["-D", "INPUT"].into_iter().chain(rule.0.iter().map(String::as_str)).collect();
    call(program, &words).map(drop)
}

/// Waits for other programs that change rules just now.
fn call(program: &str, words: &[&str]) -> Result<String, String> {
    let ran = Command::new(program).args(["-w", "5"]).args(words).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("{program}: {error}"))?;
    if ran.status.success() {
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    } else {
        Err(format!("{program}: {}", String::from_utf8_lossy(&ran.stderr).trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_ours_are_told_from_others() {
        let listed = "-P INPUT ACCEPT\n-A INPUT -i lo -j ACCEPT\n\
            -A INPUT -i br-1 -m comment --comment \"some words of somebody\" -j DROP\n\
            -A INPUT -i br-0123456789ab -m comment --comment stamina-lab_0f3a5c77_4711-123-402 -j DROP\n";
        let rules = read(listed);
        let runs: Vec<_> = rules.iter().map(Rule::run).collect();
        assert_eq!(runs, [None, None, Some("0f3a5c77")]);
        assert_eq!(rules[2].owner().as_deref(), Some("4711:123:402"));
        assert_eq!(rules[2].bridge(), Some("br-0123456789ab"));
        let own_comment = comment("0f3a5c77");
        let rule = Rule(vec!["--comment".to_owned(), own_comment]);
        assert_eq!(rule.run(), Some("0f3a5c77"));
        assert!(Process::from_label(&rule.owner().unwrap()).lives());
    }
}
