//! Scripts from a text: a stream of YAML documents, one script each.

use std::collections::BTreeMap;
use std::time::Duration;

use blueprint::{Name, parse_duration};
use diag::{Diagnostics, FileId, Span};
use dialect::plain_value;
use jsonpath::Path;
use syntax::{Format, MapEntry, Node};

use crate::codes::SCRIPT;
use crate::script::{RunResult, Script, ScriptStep};

const SCRIPT_KEYS: &[&str] = &["match", "steps", "inputs", "defaults", "every", "runs"];
const MATCH_KEYS: &[&str] = &["apiVersion", "kind", "labels"];
const STEP_KEYS: &[&str] = &["after", "status"];
const RESULT_KEYS: &[&str] = &["condition", "status", "reason", "message"];

/// The scripts of a text, and what is wrong with it. A script with a mistake is left out.
pub fn read(file: FileId, text: &str) -> (Vec<Script>, Diagnostics) {
    let (trees, mut found) = syntax::parse_stream(file, text, Format::Yaml);
    let mut scripts = Vec::new();
    for tree in &trees {
        let Some(root) = tree.root.as_ref().filter(|root| !root.is_missing()) else {
            continue;
        };
        let mut reader = Reader {
            found: Diagnostics::new(),
        };
        let script = reader.script(root);
        let failed = reader.found.has_errors();
        found.append(reader.found);
        scripts.extend(script.filter(|_| !failed));
    }
    (scripts, found)
}

struct Reader {
    found: Diagnostics,
}

impl Reader {
    fn script(&mut self, root: &Node) -> Option<Script> {
        self.keys(root, "a script", SCRIPT_KEYS)?;
        let wanted = self.required(root, "a script", "match")?;
        self.keys(wanted, "`match`", MATCH_KEYS)?;
        let api_version = self.required(wanted, "`match`", "apiVersion");
        let api_version = api_version.and_then(|node| self.parsed(node, "an API version"));
        let kind = self.required(wanted, "`match`", "kind");
        let kind = kind.and_then(|node| self.text(node, "a kind"));
        let labels = wanted.get("labels").map(|node| self.labels(node));
        let steps = self.required(root, "a script", "steps");
        let steps = steps.map(|node| self.steps(node));
        let inputs = match root.get("inputs") {
            Some(node) => self.inputs(node),
            None => Path::parse("spec").into_iter().collect(),
        };
        let every = root.get("every").and_then(|node| self.duration(node));
        let runs = root.get("runs").map(|node| self.runs(node));
        Some(Script {
            api_version: api_version?,
            kind: kind?,
            labels: labels.unwrap_or_default(),
            inputs,
            defaults: root.get("defaults").map(plain_value).unwrap_or_default(),
            every,
            steps: steps?,
            runs: runs.unwrap_or_default(),
        })
    }

    fn steps(&mut self, node: &Node) -> Vec<ScriptStep> {
        let items = self.items(node, "`steps`");
        let mut steps = Vec::new();
        for item in items {
            if self.keys(item, "a step", STEP_KEYS).is_none() {
                continue;
            }
            let after = item.get("after").and_then(|node| self.duration(node));
            let Some(status) = self.required(item, "a step", "status") else {
                continue;
            };
            if status.as_map().is_none() {
                self.wrong(status.span, "a status is a map of fields".to_owned());
                continue;
            }
            steps.push(ScriptStep {
                after: after.unwrap_or_default(),
                status: plain_value(status),
            });
        }
        steps
    }

    fn runs(&mut self, node: &Node) -> BTreeMap<u64, RunResult> {
        let mut runs = BTreeMap::new();
        for entry in self.entries(node, "`runs`") {
            let number = entry.key.text().and_then(|text| text.parse::<u64>().ok());
            let Some(number) = number.filter(|number| *number > 0) else {
                let message = "a key of `runs` is the number of a run, from 1".to_owned();
                self.wrong(entry.key.span, message);
                continue;
            };
            if let Some(result) = self.result(&entry.value) {
                runs.insert(number, result);
            }
        }
        runs
    }

    fn result(&mut self, node: &Node) -> Option<RunResult> {
        self.keys(node, "a result", RESULT_KEYS)?;
        let condition = self.required(node, "a result", "condition")?;
        let condition = self.text(condition, "a condition")?;
        let status = self.required(node, "a result", "status")?;
        let status_word = status.text().unwrap_or_default();
        let status_word = match status_word.to_ascii_lowercase().as_str() {
            "true" => "True",
            "false" => "False",
            "unknown" => "Unknown",
            _ => {
                let message = "the status of a condition is True, False or Unknown".to_owned();
                self.wrong(status.span, message);
                return None;
            }
        };
        let reason = node
            .get("reason")
            .and_then(|node| self.text(node, "a reason"));
        let message = node
            .get("message")
            .and_then(|node| self.text(node, "a message"));
        Some(RunResult {
            condition,
            status: status_word.into(),
            reason: reason.unwrap_or_else(|| "Script".into()),
            message: message.unwrap_or_else(|| "".into()),
        })
    }

    fn inputs(&mut self, node: &Node) -> Vec<Path> {
        let mut paths = Vec::new();
        for item in self.items(node, "`inputs`") {
            let Some(text) = self.text(item, "a path") else {
                continue;
            };
            match Path::parse(&text) {
                Ok(path) => paths.push(path),
                Err(mistake) => {
                    self.wrong(
                        item.span,
                        format!("`{text}` is no path: {}", mistake.message),
                    );
                }
            }
        }
        paths
    }

    fn labels(&mut self, node: &Node) -> Vec<(Name, Name)> {
        let entries = self.entries(node, "`labels`");
        let pairs = entries.iter().filter_map(|entry| {
            let value = self.text(&entry.value, "the value of a label")?;
            Some((Name::from(entry.key.text()?), value))
        });
        pairs.collect()
    }

    fn duration(&mut self, node: &Node) -> Option<Duration> {
        let text = node.text().unwrap_or_default();
        let parsed = parse_duration(text);
        if let Err(error) = &parsed {
            self.wrong(node.span, format!("`{text}` is {error}"));
        }
        parsed.ok()
    }

    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        node: &Node,
        what: &str,
    ) -> Option<T> {
        let text = self.text(node, what)?;
        let parsed = text.parse::<T>();
        if let Err(error) = &parsed {
            self.wrong(node.span, format!("`{text}` is not {what}: {error}"));
        }
        parsed.ok()
    }

    fn text(&mut self, node: &Node, what: &str) -> Option<Name> {
        let text = node.text().filter(|text| !text.is_empty());
        if text.is_none() {
            self.wrong(node.span, format!("{what} is a text"));
        }
        text.map(Name::from)
    }

    fn items<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let items = node.as_list();
        if items.is_none() {
            self.wrong(node.span, format!("{what} is a list"));
        }
        items.unwrap_or_default()
    }

    fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [MapEntry] {
        let entries = node.as_map();
        if entries.is_none() {
            self.wrong(node.span, format!("{what} is a map"));
        }
        entries.unwrap_or_default()
    }

    fn required<'n>(&mut self, node: &'n Node, what: &str, key: &str) -> Option<&'n Node> {
        let found = node.get(key);
        let mut keys = node.as_map().unwrap_or_default().iter();
        // A key that is nearly this one is reported as not known.
        let is_misspelt = keys.any(|entry| {
            let written = entry.key.text().unwrap_or_default();
            diag::nearest(written, [key]).is_some()
        });
        if found.is_none() && !is_misspelt {
            self.wrong(node.span, format!("{what} needs `{key}`"));
        }
        found
    }

    /// Checks that a node is a map with no other keys. `None` if it is no map.
    fn keys(&mut self, node: &Node, what: &str, known: &[&str]) -> Option<()> {
        let entries = node.as_map();
        if entries.is_none() {
            self.wrong(node.span, format!("{what} is a map"));
        }
        for entry in entries? {
            let key = entry.key.text().unwrap_or_default();
            if known.contains(&key) {
                continue;
            }
            let unknown = SCRIPT
                .new(format!("{what} has no `{key}`"))
                .label(entry.key.span, "not known")
                .help_nearest(key, known.iter().copied());
            self.found.push(unknown);
        }
        Some(())
    }

    fn wrong(&mut self, span: Span, message: String) {
        self.found.push(SCRIPT.new(message).label(span, "here"));
    }
}
