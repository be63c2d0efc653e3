//! A table in a spec: a row is a table of its known values by the names of the columns, because TOML has no null.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Column, Kind, Table, Value};

/// The form in a spec.
#[derive(Serialize, Deserialize)]
pub(super) struct SerializedTable {
    #[serde(default = "table")]
    name: String,
    #[serde(default)]
    title: String,
    columns: Vec<Column>,
    #[serde(default)]
    rows: Vec<Row>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    absent: Vec<AbsentValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    at_least: Vec<LowerBound>,
}

fn table() -> String {
    "table".to_owned()
}

/// Known values by the names of their columns, in the order of the columns when they are written.
struct Row(Vec<(String, Value)>);

/// The word for the missing values of a row, or for the one of a column in it.
#[derive(Serialize, Deserialize)]
struct AbsentValue {
    /// Index of the row, from 0.
    row: usize,
    /// The name of the column; `None` = all columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    word: Cow<'static, str>,
}

/// A number that is the sum of what is known.
#[derive(Serialize, Deserialize)]
struct LowerBound {
    /// Index of the row, from 0.
    row: usize,
    /// The name of the column.
    column: String,
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        let mut map = output.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Ok(Self(BTreeMap::<String, Value>::deserialize(input)?.into_iter().collect()))
    }
}

impl From<Table> for SerializedTable {
    fn from(table: Table) -> Self {
        let Table { name, title, columns, rows, notes, absent, absent_cells, at_least } = table;
        let known = |value: &Value| !matches!(value, Value::Number(number) if !number.is_finite());
        let rows = rows.into_iter().map(|row| {
            let values = columns
                .iter()
                .zip(row)
                .filter_map(|(column, value)| Some((column.name.clone(), value.filter(known)?)));
            Row(values.collect())
        });
        let rows = rows.collect();
        let absent_rows = absent.into_iter().map(|(row, word)| AbsentValue { row, column: None, word });
        let absent_in_cells = absent_cells.into_iter().filter_map(|((row, column_index), word)| {
            Some(AbsentValue { row, column: Some(columns.get(column_index)?.name.clone()), word })
        });
        let absent = absent_rows.chain(absent_in_cells).collect();
        let at_least = at_least.into_iter().filter_map(|(row, column_index)| {
            let column = columns.get(column_index)?.name.clone();
            Some(LowerBound { row, column })
        });
        let at_least = at_least.collect();
        Self { name, title, columns, rows, notes, absent, at_least }
    }
}

impl From<SerializedTable> for Table {
    fn from(serialized: SerializedTable) -> Self {
        let SerializedTable { name, title, columns, rows, notes, absent, at_least } = serialized;
        let rows = rows
            .into_iter()
            .map(|Row(values)| {
                let mut values: BTreeMap<String, Value> = values.into_iter().collect();
                columns
                    .iter()
                    .map(|column| values.remove(&column.name).map(|v| fitting(column.kind, v)))
                    .collect()
            })
            .collect();
        let mut table = Self {
            name,
            title,
            columns,
            rows,
            notes,
            absent: BTreeMap::new(),
            absent_cells: BTreeMap::new(),
            at_least: BTreeSet::new(),
        };
        for LowerBound { row, column } in at_least {
            let index = table.columns.iter().position(|own| own.name == column);
            table.at_least.extend(index.map(|index| (row, index)));
        }
        for AbsentValue { row, column, word } in absent {
            if let Some(name) = column {
                let index = table.columns.iter().position(|column| column.name == name);
                table.absent_cells.extend(index.map(|index| ((row, index), word)));
            } else {
                table.absent.insert(row, word);
            }
        }
        table
    }
}

/// A handwritten row may have 3 for 3.0.
fn fitting(kind: Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Number | Kind::P, Value::Integer(number)) => Value::Number(number as f64),
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{known, maybe};
    use super::*;

    #[test]
    fn a_table_is_the_same_after_toml_and_json_and_what_is_unknown_is_left_out() {
        let [low, high] = Column::interval("", 2);
        let columns = vec![
            Column::text("run", "Run"),
            Column::number("mean", "Mean", 2).unit("turns"),
            low,
            high,
            Column::integer("n", "n").missing("no run"),
            Column::flag("simulated", "Simulated").for_machines(),
        ];
        let mut table = Table::new("t", "A title", columns);
        table.push(vec![known("a \"b\""), known(3.0), known(0.1 + 0.2), None, known(12_u32), known(true)]);
        table.push_absent(vec![known("b")], "no run");
        table.push(vec![known("true"), maybe(None::<f64>), known(-0.5), known(1e300)]);
        table.name_absent("mean", "not reached");
        table.mark_at_least("n");
        table.notes.push("A note.".to_owned());
        let toml = toml::to_string(&table).unwrap();
        assert_eq!(toml::from_str::<Table>(&toml).unwrap(), table, "{toml}");
        assert!(toml.contains("run = \"b\"\n\n"), "the second row has a name and no more: {toml}");
        let json = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&json).unwrap(), table);
        // A value that is not a number is unknown. A handwritten whole number is valid.
        table.rows[0][1] = known(f64::NAN);
        let again: Table = toml::from_str(&toml::to_string(&table).unwrap()).unwrap();
        assert_eq!(again.rows[0][1], None);
        let by_hand = "columns = [{ name = \"x\", heading = \"X\", kind = \"number\" }]\nrows = [{ x = 3 }]";
        let by_hand: Table = toml::from_str(by_hand).unwrap();
        assert_eq!(by_hand.rows, [[known(3.0)]]);
    }
}
