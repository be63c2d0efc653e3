//! The table of one sweep: a cell `7/9 c100% r55.2` per task and model.

use std::collections::HashMap;

use files::{ReadError, Tree};

const CAP: u64 = 16 << 20;

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    /// Rounds passed.
    pub(super) passed: u32,
    /// Rounds of the task.
    pub(super) total: u32,
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
}

impl Cell {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let (passed, total) = words.next()?.split_once('/')?;
        let mut cell =
            Self { passed: passed.parse().ok()?, total: total.parse().ok()?, cases: None, tool_calls: None };
        for word in words {
            let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite());
            if let Some(percent) = word.strip_prefix('c') {
                cell.cases = number(percent.trim_end_matches('%'));
            } else if let Some(calls) = word.strip_prefix('r') {
                cell.tool_calls = number(calls);
            }
        }
        Some(cell)
    }
}

impl Sweep {
    pub(super) fn read(tree: &Tree, path: &str) -> Result<Self, ReadError> {
        Self::parse(&tree.read(path, CAP)?).map_err(|what| ReadError::Malformed {
            code: "csv.malformed",
            what: format!("It is not the table: {what}"),
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
                if let Some(cell) = Cell::parse(text) {
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
    /// a column of blanks says nothing. Cells that give no share of cases give no case score: it is unknown, not 0.
    pub(super) fn figures(&self, model: &str) -> Vec<(String, f64)> {
        if !self.models.iter().any(|m| m == model) || self.tasks.is_empty() {
            return Vec::new();
        }
        let cells: Vec<Cell> = self.tasks.iter().filter_map(|t| self.cell(t, model)).collect();
        if cells.is_empty() {
            return Vec::new();
        }
        let tasks = self.tasks.len() as f64;
        let share = |c: &Cell| if c.total == 0 { 0.0 } else { f64::from(c.passed) / f64::from(c.total) };
        let calls: Vec<f64> = cells.iter().filter_map(|c| c.tool_calls).collect();
        let mut figures = vec![
            ("evocode.dataset_score".to_owned(), 100.0 * cells.iter().map(share).sum::<f64>() / tasks),
            (
                "evocode.perfect_tasks".to_owned(),
                cells.iter().filter(|c| c.total > 0 && c.passed == c.total).count() as f64,
            ),
        ];
        if let Some(cases) = cells.iter().map(|c| c.cases).collect::<Option<Vec<f64>>>() {
            figures.insert(1, ("evocode.case_score".to_owned(), cases.iter().sum::<f64>() / tasks));
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
            Some(Cell { passed: 2, total: 4, cases: Some(75.0), tool_calls: Some(10.5) })
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
}
