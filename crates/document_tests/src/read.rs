//! Reads a test file.

use std::collections::HashSet;

use blueprint::{Map, Name, Value};
use diag::{Diagnostics, FileId, Span, Spanned};
use dialect::plain_value;
use syntax::{Content, Format, MapEntry, Node};

use crate::case::{
    Assertion, ExpectedActions, ExpectedAddresses, ExpectedFields, ExpectedRefusal, ExpectedValue,
    ExternalChange, RehearsedAnswer, StepAction, TestCase, TestFile, TestStep,
};
use crate::codes::INVALID_TEST;

const FILE_KEYS: &[&str] = &[
    "document",
    "inputs",
    "environments",
    "instance",
    "answers",
    "cases",
];
const CASE_KEYS: &[&str] = &["inputs", "environments", "instance", "answers", "steps"];
const STEP_KEYS: &[&str] = &[
    "inputs",
    "environments",
    "outside",
    "create",
    "update",
    "replace",
    "delete",
    "unchanged",
    "drifted",
    "vanished",
    "spec",
    "exports",
    "assert",
    "refused",
];
const REFUSAL_KEYS: &[&str] = &["code", "message"];
const ASSERTION_KEYS: &[&str] = &["value", "is"];

/// The cases of a text, and what is wrong with it. If there are errors, no case may be run.
pub fn read(file: FileId, text: &str) -> (TestFile, Diagnostics) {
    let (tree, found) = syntax::parse(file, text, Format::Yaml);
    let mut reader = TestFileReader { text, found };
    let test_file = match tree.root.as_ref().filter(|root| !is_empty(root)) {
        Some(root) => reader.file(root),
        None => {
            let whole = Span::new(file, 0, 0);
            reader.wrong(whole, "a test file needs `cases`".to_owned());
            TestFile::default()
        }
    };
    reader.found.sort();
    (test_file, reader.found)
}

/// Whether nothing is written.
fn is_empty(node: &Node) -> bool {
    match &node.content {
        Content::Missing => true,
        Content::Scalar(scalar) => !scalar.style.is_text() && scalar.text.is_empty(),
        _ => false,
    }
}

/// What a file or a case gives to its steps.
#[derive(Clone, Default)]
struct OuterKeys {
    inputs: Map,
    environments: Vec<Spanned<Name>>,
    instance: Option<Spanned<Name>>,
    answers: Vec<RehearsedAnswer>,
}

struct TestFileReader<'t> {
    text: &'t str,
    found: Diagnostics,
}

impl TestFileReader<'_> {
    fn file(&mut self, root: &Node) -> TestFile {
        let mut file = TestFile::default();
        if !self.keys(root, "a test file", &[FILE_KEYS]) {
            return file;
        }
        file.document = root
            .get("document")
            .and_then(|node| self.name(node, "a path"));
        let shared = self.shared(root, OuterKeys::default());
        let Some(cases) = root.get("cases") else {
            self.wrong(root.span.head(), "a test file needs `cases`".to_owned());
            return file;
        };
        for entry in self.entries(cases, "`cases`, each with its name,") {
            let name = Spanned::new(
                Name::from(entry.key.text().unwrap_or_default()),
                entry.key.span,
            );
            file.cases
                .push(self.case(name, &entry.value, shared.clone()));
        }
        if file.cases.is_empty() && !self.found.has_errors() {
            self.wrong(cases.span, "there is no case".to_owned());
        }
        file
    }

    fn case(&mut self, name: Spanned<Name>, node: &Node, shared: OuterKeys) -> TestCase {
        let mut case = TestCase {
            name,
            instance: None,
            answers: Vec::new(),
            steps: Vec::new(),
        };
        let (what, known): (_, &[&[&str]]) = match node.get("steps") {
            Some(_) => ("a case with `steps`", &[CASE_KEYS]),
            None => ("a case", &[CASE_KEYS, STEP_KEYS]),
        };
        // A case without keys is deployed, and its operation must succeed.
        if !is_empty(node) && !self.keys(node, what, known) {
            return case;
        }
        let shared = self.shared(node, shared);
        case.instance = shared.instance.clone();
        case.answers = shared.answers.clone();
        match node.get("steps") {
            Some(steps) => {
                for step in self.items(steps, "`steps`") {
                    if self.keys(step, "a step", &[STEP_KEYS]) {
                        let shared = self.shared(step, shared.clone());
                        case.steps.push(self.step(step, step.span, shared));
                    }
                }
                if steps.as_list().is_some_and(<[Node]>::is_empty) {
                    self.wrong(steps.span, "there is no step".to_owned());
                }
            }
            None => case.steps.push(self.step(node, case.name.span, shared)),
        }
        case
    }

    /// Reads the keys that files, cases and steps share. What is written here overrides what is
    /// written further outside.
    fn shared(&mut self, node: &Node, mut shared: OuterKeys) -> OuterKeys {
        if let Some(inputs) = node.get("inputs") {
            shared.inputs.extend(self.map(inputs, "`inputs`"));
        }
        if let Some(environments) = node.get("environments") {
            shared.environments = self.names(environments, "`environments`", "a path");
        }
        if let Some(instance) = node.get("instance") {
            shared.instance = self.name(instance, "the name of an instance");
        }
        if let Some(answers) = node.get("answers") {
            for entry in self.entries(answers, "`answers`") {
                let fields = Value::map(self.map(&entry.value, "an answer"));
                shared.answers.push(RehearsedAnswer {
                    about: address_key(entry),
                    fields,
                });
            }
        }
        shared
    }

    fn step(&mut self, node: &Node, span: Span, shared: OuterKeys) -> TestStep {
        let mut actions = Vec::new();
        for action in StepAction::ALL {
            if let Some(resources) = self.addresses(node, action.key()) {
                actions.push(ExpectedActions { action, resources });
            }
        }
        TestStep {
            span: span.head(),
            inputs: shared.inputs,
            environments: shared.environments,
            outside: self.outside(node),
            actions,
            drifted: self.addresses(node, "drifted"),
            vanished: self.addresses(node, "vanished"),
            specs: self.specs(node),
            exports: match node.get("exports") {
                Some(exports) => self.values(exports, "`exports`"),
                None => Vec::new(),
            },
            assertions: self.assertions(node),
            refused: self.refused(node),
        }
    }

    fn outside(&mut self, node: &Node) -> Vec<ExternalChange> {
        let Some(outside) = node.get("outside") else {
            return Vec::new();
        };
        let mut changes = Vec::new();
        for entry in self.entries(outside, "`outside`") {
            let fields = match plain_value(&entry.value) {
                Value::Null => None,
                _ => Some(self.map(&entry.value, "a change from outside")),
            };
            changes.push(ExternalChange {
                address: address_key(entry),
                fields,
            });
        }
        changes
    }

    fn specs(&mut self, node: &Node) -> Vec<ExpectedFields> {
        let Some(spec) = node.get("spec") else {
            return Vec::new();
        };
        let mut specs = Vec::new();
        for entry in self.entries(spec, "`spec`") {
            let fields = self.values(&entry.value, "the expected spec of a resource");
            specs.push(ExpectedFields {
                address: address_key(entry),
                fields,
            });
        }
        specs
    }

    /// One assertion, or a list of them.
    fn assertions(&mut self, node: &Node) -> Vec<Assertion> {
        let Some(assert) = node.get("assert") else {
            return Vec::new();
        };
        let all = assert.as_list().unwrap_or(std::slice::from_ref(assert));
        all.iter().filter_map(|one| self.assertion(one)).collect()
    }

    fn assertion(&mut self, node: &Node) -> Option<Assertion> {
        let (expression, expected) = match (node.get("value"), node.get("is")) {
            (Some(value), Some(is)) => {
                self.keys(node, "an assertion with a value", &[ASSERTION_KEYS]);
                (value, Some(Spanned::new(plain_value(is), is.span)))
            }
            (Some(_), None) => {
                self.wrong(node.span, "an assertion with `value` needs `is`".to_owned());
                return None;
            }
            _ => (node, None),
        };
        let span = expression.span;
        let written = self.text.get(span.range())?;
        let before = self.text.get(..span.range().start)?;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        Some(Assertion {
            span,
            yaml: format!("{}{written}", " ".repeat(column)).into(),
            indentation: u32::try_from(column).unwrap_or_default(),
            text: expression.text().map(Into::into),
            expected,
        })
    }

    fn refused(&mut self, node: &Node) -> Option<ExpectedRefusal> {
        let mut entries = node.as_map()?.iter();
        let entry = entries.find(|entry| entry.key.text() == Some("refused"))?;
        let mut refusal = ExpectedRefusal {
            key: entry.key.span,
            code: None,
            message: None,
        };
        let value = &entry.value;
        if value.as_map().is_some() {
            self.keys(value, "`refused`", &[REFUSAL_KEYS]);
            let code = value.get("code");
            refusal.code = code.and_then(|node| self.name(node, "a code"));
            let message = value.get("message");
            refusal.message = message.and_then(|node| self.name(node, "a message"));
        } else {
            refusal.code = self.name(value, "the code of a diagnostic");
        }
        let mut keys = node.as_map().unwrap_or_default().iter();
        let needs_success = |entry: &&MapEntry| {
            let others = ["inputs", "environments", "outside", "refused"];
            let name = entry.key.text().unwrap_or_default();
            STEP_KEYS.contains(&name) && !others.contains(&name)
        };
        if let Some(other) = keys.find(needs_success) {
            let other_key = other.key.text().unwrap_or_default();
            let message = format!("`{other_key}` cannot hold of a document that is refused");
            self.wrong(other.key.span, message);
        }
        Some(refusal)
    }

    /// The list of addresses under a key. One address may be written without a list.
    fn addresses(&mut self, node: &Node, name: &str) -> Option<ExpectedAddresses> {
        let mut entries = node.as_map()?.iter();
        let entry = entries.find(|entry| entry.key.text() == Some(name))?;
        Some(ExpectedAddresses {
            key: entry.key.span,
            addresses: self
                .names(&entry.value, &format!("`{name}`"), "an address")
                .into_iter()
                .map(without_quotes)
                .collect(),
        })
    }

    /// A list of names, or one name.
    fn names(&mut self, node: &Node, what: &str, one: &str) -> Vec<Spanned<Name>> {
        if node.as_map().is_some() {
            self.wrong(node.span, format!("{what} is a list"));
            return Vec::new();
        }
        let all = node.as_list().unwrap_or(std::slice::from_ref(node));
        all.iter().filter_map(|item| self.name(item, one)).collect()
    }

    fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<Name>> {
        let text = node.text().filter(|text| !text.is_empty());
        if text.is_none() {
            self.wrong(node.span, format!("{what} is a text"));
        }
        text.map(|text| Spanned::new(Name::from(text), node.span))
    }

    fn values(&mut self, node: &Node, what: &str) -> Vec<ExpectedValue> {
        let entries = self.entries(node, what).iter();
        let values = entries.map(|entry| ExpectedValue {
            name: key(entry),
            span: entry.value.span,
            value: plain_value(&entry.value),
        });
        values.collect()
    }

    fn map(&mut self, node: &Node, what: &str) -> Map {
        let entries = self.entries(node, what).iter();
        entries
            .map(|entry| (key(entry).item, plain_value(&entry.value)))
            .collect()
    }

    fn items<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        let items = node.as_list();
        if items.is_none() {
            self.wrong(node.span, format!("{what} is a list"));
        }
        items.unwrap_or_default()
    }

    /// The entries of a map. Reports a key that is written twice.
    fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [MapEntry] {
        let Some(entries) = node.as_map() else {
            self.wrong(node.span, format!("{what} is a map"));
            return &[];
        };
        let mut seen = HashSet::new();
        for entry in entries {
            let Some(name) = entry.key.text() else {
                self.wrong(entry.key.span, "a key is a text".to_owned());
                continue;
            };
            if !seen.insert(name) {
                let twice = INVALID_TEST
                    .new(format!("`{name}` is written twice"))
                    .label(entry.key.span, "again")
                    .help("remove or rename one of them");
                self.found.push(twice);
            }
        }
        entries
    }

    /// Checks that a node is a map with no other keys. Returns whether it is a map.
    fn keys(&mut self, node: &Node, what: &str, known: &[&[&str]]) -> bool {
        let is_map = node.as_map().is_some();
        for entry in self.entries(node, what) {
            let name = entry.key.text().unwrap_or_default();
            let mut all = known.iter().copied().flatten().copied();
            if all.any(|known| known == name) {
                continue;
            }
            let all = known.iter().copied().flatten().copied();
            let unknown = INVALID_TEST
                .new(format!("{what} has no `{name}`"))
                .label(entry.key.span, "not known");
            let unknown = match advice(name, known) {
                Some(advice) => unknown.help(advice),
                None => unknown.help_nearest(name, all),
            };
            self.found.push(unknown);
        }
        is_map
    }

    fn wrong(&mut self, span: Span, message: String) {
        self.found
            .push(INVALID_TEST.new(message).label(span, "here"));
    }
}

/// Advice for a key that is known in another place, or under another name.
fn advice(name: &str, known: &[&[&str]]) -> Option<String> {
    let is_case = known.contains(&CASE_KEYS);
    match name {
        "outputs" => Some("write `exports`".to_owned()),
        "expect" | "plan" => Some("write its keys without it".to_owned()),
        _ if is_case && STEP_KEYS.contains(&name) => Some(format!("write `{name}` in a step")),
        _ if known == [FILE_KEYS] && STEP_KEYS.contains(&name) => {
            Some(format!("write `{name}` in a case"))
        }
        _ if known == [STEP_KEYS] && CASE_KEYS.contains(&name) => {
            Some(format!("write `{name}` in the case"))
        }
        _ => None,
    }
}

/// An address without the quotes of a written-out one, such as `"deployment/shop/web"`.
fn without_quotes(address: Spanned<Name>) -> Spanned<Name> {
    let text = &*address.item;
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) => Spanned::new(Name::from(inner), address.span),
        None => address,
    }
}

/// The address that is the key of an entry.
fn address_key(entry: &MapEntry) -> Spanned<Name> {
    without_quotes(key(entry))
}

/// The key of an entry.
fn key(entry: &MapEntry) -> Spanned<Name> {
    Spanned::new(
        Name::from(entry.key.text().unwrap_or_default()),
        entry.key.span,
    )
}
