//! Objects as the rows of a `Table`, for clients that show them to people.
//!
//! A definition states the columns of its kind; the kinds of every server have columns here.

mod builtin;
mod cells;

use std::sync::Arc;

use jiff::Timestamp;
use jsonpath::{MissingKeys, PathTemplate};
use serde_json::{Map, Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kinds::ServedVersion;
use crate::naming::ResourceName;
use crate::options::ClusterClock;
use crate::request::ApiRequest;
use crate::values::{json_of, value_of};

use cells::{age, elapsed};

/// What a row has of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowObject {
    Absent,
    Metadata,
    Whole,
}

/// Makes the table of a kind.
pub(crate) struct TableMaker {
    columns: Vec<TableColumn>,
    row_object: RowObject,
    clock: ClusterClock,
}

/// A column of a table.
#[derive(Debug)]
struct TableColumn {
    name: String,
    /// As in a schema: `string`, `integer`, `date`.
    of_type: String,
    format: String,
    description: String,
    /// 0 for a column that is always shown.
    priority: i64,
    cell: CellSource,
}

/// Where a cell comes from.
#[derive(Debug)]
enum CellSource {
    /// What a path finds; nothing if the path is not well formed.
    Path(Option<PathTemplate>),
    Function(fn(&Json, Timestamp) -> Json),
}

/// The columns that a version of a definition states.
pub(crate) type StatedColumns = Arc<[Json]>;

impl TableMaker {
    /// The table of a kind in a version.
    ///
    /// # Errors
    /// If the request asks for rows with unknown objects.
    pub(crate) fn of(
        resource: &ResourceName,
        version: &ServedVersion,
        request: &ApiRequest,
        clock: &ClusterClock,
    ) -> Result<TableMaker, RefusedRequest> {
        let row_object = match request.parameter("includeObject") {
            None | Some("Metadata") => RowObject::Metadata,
            Some("None") => RowObject::Absent,
            Some("Object") => RowObject::Whole,
            Some(other) => {
                return Err(RefusedRequest::bad_request(format!(
                    "unrecognized includeObject value: {other}"
                )));
            }
        };
        let columns = match &version.columns {
            Some(stated) => stated_columns(stated),
            None => builtin::columns(resource),
        };
        Ok(TableMaker {
            columns,
            row_object,
            clock: clock.clone(),
        })
    }

    /// The table of an object or a list. Other answers, such as a `Status`, stay as they are.
    pub(crate) fn table_of(&self, answer: Json) -> Json {
        if answer["kind"] == "Status" {
            return answer;
        }
        let metadata = &answer["metadata"];
        let mut shown = Map::new();
        for field in ["resourceVersion", "continue", "remainingItemCount"] {
            if let Some(value) = metadata.get(field) {
                shown.insert(field.to_owned(), value.clone());
            }
        }
        let now = (self.clock)();
        let rows: Vec<Json> = match answer["items"].as_array() {
            Some(items) => items.iter().map(|item| self.row(item, now)).collect(),
            None => vec![self.row(&answer, now)],
        };
        let columns = self.columns.iter().map(TableColumn::definition);
        json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": shown,
            "columnDefinitions": columns.collect::<Vec<_>>(), "rows": rows})
    }

    fn row(&self, object: &Json, now: Timestamp) -> Json {
        let cells = self.columns.iter().map(|column| cell(column, object, now));
        let mut row = json!({"cells": cells.collect::<Vec<_>>()});
        match self.row_object {
            RowObject::Absent => {}
            RowObject::Metadata => {
                row["object"] = json!({"kind": "PartialObjectMetadata",
                    "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]});
            }
            RowObject::Whole => row["object"] = object.clone(),
        }
        row
    }
}

/// The cell of a column.
fn cell(column: &TableColumn, object: &Json, now: Timestamp) -> Json {
    let path = match &column.cell {
        CellSource::Function(function) => return function(object, now),
        CellSource::Path(Some(path)) => path,
        CellSource::Path(None) => return Json::Null,
    };
    let found = path.results(&value_of(object), MissingKeys::Allowed);
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
    fn name() -> TableColumn {
        TableColumn {
            format: "name".to_owned(),
            ..TableColumn::function("Name", "string", |object, _| {
                object["metadata"]["name"].clone()
            })
        }
    }

    fn age() -> TableColumn {
        TableColumn::function("Age", "string", |object, now| {
            age(&object["metadata"]["creationTimestamp"], now)
        })
    }

    fn function(name: &str, of_type: &str, function: fn(&Json, Timestamp) -> Json) -> TableColumn {
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
    fn wide(self) -> TableColumn {
        TableColumn {
            priority: 1,
            ..self
        }
    }

    fn definition(&self) -> Json {
        json!({"name": self.name, "type": self.of_type, "format": self.format,
            "description": self.description, "priority": self.priority})
    }
}

/// The columns that a definition states; the age if it states none.
fn stated_columns(stated: &[Json]) -> Vec<TableColumn> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_columns_show_what_their_paths_find() {
        let stated = [
            json!({"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type=='Ready')].status"}),
            json!({"name": "Count", "type": "integer", "jsonPath": ".spec.count", "priority": 1}),
            json!({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}),
            json!({"name": "Map", "type": "string", "jsonPath": ".spec.map"}),
            json!({"name": "Broken", "type": "string", "jsonPath": ".spec["}),
        ];
        let maker = TableMaker {
            columns: stated_columns(&stated),
            row_object: RowObject::Metadata,
            clock: Arc::new(|| "2026-01-01T00:05:00Z".parse().unwrap()),
        };
        let object = json!({"kind": "X", "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"count": 3, "map": {"a": 1}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        let list = json!({"kind": "XList", "metadata": {"resourceVersion": "7"}, "items": [object, {"metadata": {"name": "b"}}]});
        let table = maker.table_of(list);
        assert_eq!(table["metadata"], json!({"resourceVersion": "7"}));
        assert_eq!(table["columnDefinitions"][2]["priority"], 1);
        assert_eq!(
            table["rows"][0]["cells"],
            json!(["a", "True", 3, "5m", "{\"a\":1}", null])
        );
        assert_eq!(
            table["rows"][1]["cells"],
            json!(["b", null, null, null, null, null])
        );
        assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
        let status = json!({"kind": "Status"});
        assert_eq!(maker.table_of(status.clone()), status);
    }
}
