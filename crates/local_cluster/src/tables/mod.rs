//! Objects as the rows of a `Table`, for clients that show them to people.
//!
//! A definition states the columns of its kind; the kinds of every server have columns here.

mod builtin;
mod cells;
mod column;

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use crate::failure::RefusedRequest;
use crate::kinds::ServedVersion;
use crate::naming::ResourceName;
use crate::options::ClusterClock;
use crate::request::ApiRequest;

use column::{TableColumn, cell, stated_columns};

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
