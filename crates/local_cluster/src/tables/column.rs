//! The columns of a table, and the cells that they have.

use jiff::Timestamp;
use jsonpath::{MissingKeys, PathTemplate};
use kubernetes::json::from_json;
use serde_json::{Value as Json, json};

use super::cells::{age, elapsed};
use crate::values::json_of;

/// A column of a table.
#[derive(Debug)]
pub(super) struct TableColumn {
    pub(super) name: String,
    /// As in a schema: `string`, `integer`, `date`.
    pub(super) of_type: String,
    pub(super) format: String,
    pub(super) description: String,
    /// 0 for a column that is always shown.
    pub(super) priority: i64,
    pub(super) cell: CellSource,
}

/// Where a cell comes from.
#[derive(Debug)]
pub(super) enum CellSource {
    /// What a path finds; nothing if the path is not well formed.
    Path(Option<PathTemplate>),
    Function(fn(&Json, Timestamp) -> Json),
}

/// The cell of a column.
pub(super) fn cell(column: &TableColumn, object: &Json, now: Timestamp) -> Json {
    let path = match &column.cell {
        CellSource::Function(function) => return function(object, now),
        CellSource::Path(Some(path)) => path,
        CellSource::Path(None) => return Json::Null,
    };
    let found = path.results(&from_json(object), MissingKeys::Allowed);
    let first = found.ok().and_then(|found| found.into_iter().next());
    let Some(value) = first.and_then(|items| items.into_iter().next()) else {
        return Json::Null;
    };
    let value = json_of(&value);
    match (column.of_type.as_str(), &value) {
        (_, Json::Null) => Json::Null,
        ("string", Json::String(_)) => value,
        ("string", other) => other.to_string().into(),
        ("integer", Json::Number(number)) => {
            let whole = number.as_i64().map(Json::from);
            whole.unwrap_or_else(|| value.clone())
        }
        ("date", Json::String(text)) => elapsed(text, now).into(),
        ("number", Json::Number(_)) | ("boolean", Json::Bool(_)) => value,
        _ => Json::Null,
    }
}

impl TableColumn {
    /// The column of the names, which every table has.
    pub(super) fn name() -> TableColumn {
        TableColumn {
            format: "name".to_owned(),
            ..TableColumn::function("Name", "string", |object, _| {
                object["metadata"]["name"].clone()
            })
        }
    }

    pub(super) fn age() -> TableColumn {
        TableColumn::function("Age", "string", |object, now| {
            age(&object["metadata"]["creationTimestamp"], now)
        })
    }

    pub(super) fn function(
        name: &str,
        of_type: &str,
        function: fn(&Json, Timestamp) -> Json,
    ) -> TableColumn {
        TableColumn {
            name: name.to_owned(),
            of_type: of_type.to_owned(),
            format: String::new(),
            description: String::new(),
            priority: 0,
            cell: CellSource::Function(function),
        }
    }

    /// The column, shown only in wide tables.
    pub(super) fn wide(self) -> TableColumn {
        TableColumn {
            priority: 1,
            ..self
        }
    }

    pub(super) fn definition(&self) -> Json {
        json!({"name": self.name, "type": self.of_type, "format": self.format,
            "description": self.description, "priority": self.priority})
    }
}

/// The columns that a definition states; the age if it states none.
pub(super) fn stated_columns(stated: &[Json]) -> Vec<TableColumn> {
    let mut columns = vec![TableColumn::name()];
    if stated.is_empty() {
        columns.push(TableColumn::age());
    }
    for column in stated {
        let text = |field: &str| column[field].as_str().unwrap_or_default().to_owned();
        columns.push(TableColumn {
            name: text("name"),
            of_type: text("type"),
            format: text("format"),
            description: text("description"),
            priority: column["priority"].as_i64().unwrap_or(0),
            cell: CellSource::Path(PathTemplate::parse(&format!("{{{}}}", text("jsonPath"))).ok()),
        });
    }
    columns
}
