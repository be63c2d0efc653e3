//! The table of one sweep: a cell `7/9 c100% r55.2` per task and model.

use std::collections::HashMap;

use files::{ReadError, Tree};

use crate::readers::value::UnusableValues;

const CAP: u64 = 16 << 20;

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    /// Rounds passed, and rounds of the task; `None` where more passed than there are.
    pub(super) rounds: Option<(u32, u32)>,
    /// Mean share of cases passed, in per cent, rounded.
    pub(super) cases: Option<f64>,
    /// Tool calls per round that has a trajectory.
    pub(super) tool_calls: Option<f64>,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// Model names in the order of the columns.
    pub(super) models: Vec<String>,
    tasks: Vec<String>,
    cells: HashMap<(String, String), Cell>,
    /// What stands in cells and cannot be.
    pub(super) unusable: UnusableValues,
}

impl Cell {
    /// `name` is what the cell is called where something in it cannot be.
    fn parse(text: &str, name: &str, unusable: &mut UnusableValues) -> Option<Self> {
        let mut words = text.split_whitespace();
        let first = words.next()?;
        let (passed, total) = first.split_once('/')?;
        let (passed, total): (u32, u32) = (passed.parse().ok()?, total.parse().ok()?);
        let mut odd = |word: &str| unusable.add(name, &word.into());
        let mut cell =
            Self { rounds: (passed <= total).then_some((passed, total)), cases: None, tool_calls: None };
        if cell.rounds.is_none() {
            odd(first);
        }
        for word in words {
            let (kind, digits) = (word.chars().next(), word.get(1..).unwrap_or_default());
            let number = |text: &str, most: f64| text.parse().ok().filter(|n| (0.0..=most).contains(n));
            let (place, found) = match kind {
                Some('c') => (&mut cell.cases, number(digits.trim_end_matches('%'), 100.0)),
                Some('r') => (&mut cell.tool_calls, number(digits, f64::MAX)),
                _ => continue,
            };
            if found.is_none() {
                odd(word);
            }
            *place = found;
        }
        Some(cell)
    }
}

impl Sweep {
    pub(super) fn read(tree: &Tree, path: &str) -> Result<Self, ReadError> {
        Self::parse(&tree.read(path, CAP)?).map_err(|message| ReadError::Malformed {
            code: "csv.malformed",
            message: format!("It is not the table: {message}"),
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(bytes);
        let header = reader.headers().map_err(|e| e.to_string())?.clone();
        let task_at = header.iter().position(|h| h == "task").ok_or("there is no column `task`")?;
        let is_model = |name: &str| !matches!(name, "" | "task" | "total_rounds") && !name.starts_with("__");
        let mut sweep = Self {
            models: header.iter().filter(|h| is_model(h)).map(str::to_owned).collect(),
            ..Self::default()
        };
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let Some(task) = record.get(task_at).filter(|t| !t.is_empty()) else { continue };
            sweep.tasks.push(task.to_owned());
            for (name, text) in header.iter().zip(&record).filter(|(name, _)| is_model(name)) {
                let called = format!("{name} at {task}");
                if let Some(cell) = Cell::parse(text, &called, &mut sweep.unusable) {
                    sweep.cells.insert((task.to_owned(), name.to_owned()), cell);
                }
            }
        }
        Ok(sweep)
    }

    /// The cell of a task and a model; `None` if it is blank.
    pub(super) fn cell(&self, task: &str, model: &str) -> Option<Cell> {
        self.cells.get(&(task.to_owned(), model.to_owned())).copied()
    }

    /// What the table says of a model over all tasks. As in the published scores a blank counts as 0, but for the tool calls;
    /// a column of blanks says nothing. Where a cell gives no share of cases, the case score is unknown, not 0; likewise the
    /// dataset score and the perfect tasks where the rounds of one cannot be.
    pub(super) fn figures(&self, model: &str) -> Vec<(String, f64)> {
        if !self.models.iter().any(|m| m == model) || self.tasks.is_empty() {
            return Vec::new();
        }
        let cells: Vec<Cell> = self.tasks.iter().filter_map(|t| self.cell(t, model)).collect();
        if cells.is_empty() {
            return Vec::new();
        }
        let tasks = self.tasks.len() as f64;
        let calls: Vec<f64> = cells.iter().filter_map(|c| c.tool_calls).collect();
        let mut figures = Vec::new();
        let rounds = cells.iter().map(|c| c.rounds).collect::<Option<Vec<(u32, u32)>>>();
        if let Some(rounds) = &rounds {
            let share = |(passed, total): &(u32, u32)| f64::from(*passed) / f64::from(*total).max(1.0);
            let score = 100.0 * rounds.iter().map(share).sum::<f64>() / tasks;
            figures.push(("evocode.dataset_score".to_owned(), score));
        }
        if let Some(cases) = cells.iter().map(|c| c.cases).collect::<Option<Vec<f64>>>() {
            figures.push(("evocode.case_score".to_owned(), cases.iter().sum::<f64>() / tasks));
        }
        if let Some(rounds) = rounds {
            let perfect = rounds.iter().filter(|(passed, total)| *total > 0 && passed == total).count();
            figures.push(("evocode.perfect_tasks".to_owned(), perfect as f64));
        }
        if !calls.is_empty() {
            figures.push(("evocode.avg_rounds".to_owned(), calls.iter().sum::<f64>() / calls.len() as f64));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_by_names_and_blanks_stay_blank() {
        let sweep = Sweep::parse("\u{feff}task,total_rounds,B,A,__note\nt1,4,2/4 c75% r10.5,—,x\nt2,2,2/2 c100% r9.5,0/2 c0% r99,\n".as_bytes()).unwrap();
        assert_eq!(sweep.models, ["B", "A"]);
        assert_eq!(
            sweep.cell("t1", "B"),
            Some(Cell { rounds: Some((2, 4)), cases: Some(75.0), tool_calls: Some(10.5) })
        );
        assert_eq!(sweep.cell("t1", "A"), None);
        let figures: Vec<String> = sweep.figures("B").iter().map(|(name, n)| format!("{name} {n}")).collect();
        assert_eq!(
            figures,
            [
                "evocode.dataset_score 75",
                "evocode.case_score 87.5",
                "evocode.perfect_tasks 1",
                "evocode.avg_rounds 10"
            ]
        );
        assert!(Sweep::parse(b"a,b\n1,2\n").is_err());
    }

    #[test]
    fn a_score_of_nothing_is_unknown() {
        let figures = |table: &str| -> Vec<String> {
            let sweep = Sweep::parse(table.as_bytes()).unwrap();
            sweep.figures("m").iter().map(|(name, n)| format!("{name} {n}")).collect()
        };
        let without_cases = ["evocode.dataset_score 50", "evocode.perfect_tasks 0"];
        assert_eq!(figures("task,m\na,1/2\n"), without_cases);
        assert_eq!(figures("task,m\na,1/2\nb,1/2 c50%\n"), without_cases, "known for a part of the tasks");
        assert!(figures("task,m\na,\nb,—\n").is_empty(), "a model that was never run");
    }

    #[test]
    fn what_a_cell_cannot_say_is_unknown_and_named() {
        let table = "task,m\na,9/7 c50% r3\nb,2/2 c140% r-1\nc,1/2 cNaN% r2\n";
        let sweep = Sweep::parse(table.as_bytes()).unwrap();
        let cell = |task: &str| sweep.cell(task, "m").unwrap();
        assert_eq!(cell("a"), Cell { rounds: None, cases: Some(50.0), tool_calls: Some(3.0) });
        assert_eq!(cell("b"), Cell { rounds: Some((2, 2)), cases: None, tool_calls: None });
        assert_eq!(cell("c"), Cell { rounds: Some((1, 2)), cases: None, tool_calls: Some(2.0) });
        assert_eq!(sweep.figures("m"), [("evocode.avg_rounds".to_owned(), 2.5)]);
        let message = sweep.unusable.warning("t").unwrap().message;
        for odd in ["m at a \"9/7\"", "m at b \"c140%\"", "m at b \"r-1\"", "m at c \"cNaN%\""] {
            assert!(message.contains(odd), "{message}");
        }
    }
}
