//! The lines of `trial.log` that say which steps were started.

/// The lines `Starting step 2/4: round-2` of `trial.log`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StepLog {
    /// Names of the steps, in order.
    pub(super) started: Vec<String>,
    /// How many there were to be.
    pub(super) declared: Option<usize>,
}

impl StepLog {
    /// Reads a log.
    pub(super) fn parse(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines() {
            let Some(rest) = line.split_once("Starting step ").map(|(_, rest)| rest) else { continue };
            let Some((position, name)) = rest.split_once(": ") else { continue };
            let Some((index, total)) = position.split_once('/') else { continue };
            let (Ok(index), Ok(total)) = (index.parse::<usize>(), total.parse::<usize>()) else { continue };
            if index == log.started.len() + 1 && index <= total && total <= 10_000 {
                log.started.push(name.trim().to_owned());
                log.declared = Some(total);
            }
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_which_steps_were_started_of_how_many() {
        let log = StepLog::parse(
            "x\nStarting step 1/4: round-1\n2026 DEBUG Starting step 2/4: a: b \nStarting step 4/4: no\nStarting step x/4: no\n",
        );
        assert_eq!(log, StepLog { started: vec!["round-1".into(), "a: b".into()], declared: Some(4) });
    }
}
