//! A random program in the making: its configuration, resources, variables and outputs.

use serde_json::{Map, Value as Json, json};

use super::expressions::{Expressions, Root, Shape, WantedKind, input_shape};
use super::node::{YamlPart, quoted};
use crate::fuzz::Random;

/// A program in the making.
pub(super) struct Draft {
    pub(super) expressions: Expressions,
    pub(super) configuration: Vec<(String, YamlPart)>,
    pub(super) variables: Vec<(String, YamlPart)>,
    pub(super) resources: Vec<(String, YamlPart)>,
    pub(super) outputs: Vec<(String, YamlPart)>,
    /// What the stack sets, by full key.
    pub(super) given: Map<String, Json>,
    pub(super) secret_keys: Vec<String>,
}

impl Draft {
    pub(super) fn new(seed: u64) -> Draft {
        Draft {
            expressions: Expressions::new(Random::new(seed ^ 0x5eed)),
            configuration: Vec::new(),
            variables: Vec::new(),
            resources: Vec::new(),
            outputs: Vec::new(),
            given: Map::new(),
            secret_keys: Vec::new(),
        }
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.expressions.chance(percent)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.expressions.below(bound)
    }

    pub(super) fn declare_configuration(&mut self) {
        for number in 0..self.below(4) {
            let name = self.expressions.name("c", number);
            // The type, what the stack sets, a default, and the shape.
            let choices = [
                ("string", "hello", "\"d t\"", Shape::Text),
                ("String", "word-1", "plain", Shape::Text),
                ("integer", "42", "7", Shape::Number),
                ("int", "-3", "0", Shape::Number),
                ("number", "1.5", "2.25", Shape::Number),
                ("boolean", "true", "false", Shape::Bool),
                ("List<String>", "[\"q\"]", "[l0, l1]", Shape::Texts),
                (
                    "object",
                    "{\"k\":\"v\",\"n\":1}",
                    "{k: w, n: 2}",
                    Shape::Map(vec![
                        ("k".to_owned(), Shape::Text),
                        ("n".to_owned(), Shape::Number),
                    ]),
                ),
            ];
            let (kind, set, default, shape) = choices[self.below(choices.len())].clone();
            let mut entry = vec![("type".to_owned(), YamlPart::text(kind))];
            let is_set = self.chance(60);
            if !is_set || self.chance(40) {
                entry.push(("default".to_owned(), YamlPart::Raw(default.to_owned())));
            }
            if is_set {
                let key = format!("demo:{name}");
                self.given.insert(key.clone(), Json::from(set));
                if self.chance(20) {
                    entry.push(("secret".to_owned(), YamlPart::Raw("true".to_owned())));
                    self.secret_keys.push(key);
                }
            }
            self.configuration
                .push((name.clone(), YamlPart::Map(entry)));
            self.expressions.roots.push(Root::value(name, shape));
        }
    }

    pub(super) fn declare_elements(&mut self) {
        for number in 0..1 + self.below(7) {
            match self.below(5) {
                0..=2 => {
                    let name = self.expressions.name("v", number);
                    let (node, shape) = self.expressions.any(3);
                    self.variables.push((name.clone(), node));
                    self.expressions.roots.push(Root::value(name, shape));
                }
                _ => self.declare_resource(number),
            }
        }
    }

    fn declare_resource(&mut self, number: usize) {
        let name = self.expressions.name("r", number);
        let spellings = [
            ("peer:Thing", "thing"),
            ("peer:index:Thing", "thing"),
            ("peer:Other", "other"),
            ("peer:net:Address", "address"),
            ("peer:net/address:Address", "address"),
        ];
        let (token, kind) = spellings[self.below(spellings.len())];
        let properties = match kind {
            "thing" => self.thing(),
            "other" => vec![("value".to_owned(), self.expressions.any(3).0)],
            _ => {
                let mut all = vec![("host".to_owned(), self.expressions.of(WantedKind::Text, 2))];
                if self.chance(50) {
                    all.push(("port".to_owned(), self.expressions.of(WantedKind::Int, 2)));
                }
                all
            }
        };
        let options = self.options();
        let mut entry = vec![
            ("type".to_owned(), YamlPart::Raw(token.to_owned())),
            ("properties".to_owned(), YamlPart::Map(properties)),
        ];
        if self.chance(10) {
            let logical = YamlPart::Raw(format!("named-{number}"));
            entry.push(("name".to_owned(), logical));
        }
        if !options.is_empty() {
            entry.push(("options".to_owned(), YamlPart::Map(options)));
        }
        self.resources.push((name.clone(), YamlPart::Map(entry)));
        self.expressions.roots.push(Root::resource(name, kind));
    }

    fn thing(&mut self) -> Vec<(String, YamlPart)> {
        let mut all = vec![("text".to_owned(), self.expressions.of(WantedKind::Text, 3))];
        for name in [
            "count", "ratio", "flag", "list", "map", "details", "color", "any", "source", "hidden",
        ] {
            if self.chance(25) {
                let node = input_shape(&mut self.expressions, name);
                all.push((name.to_owned(), node));
            }
        }
        all
    }

    fn options(&mut self) -> Vec<(String, YamlPart)> {
        let mut options = Vec::new();
        let made: Vec<String> = self
            .resources
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let mut add = |name: &str, node: YamlPart| options.push((name.to_owned(), node));
        if !made.is_empty() && self.chance(20) {
            let of = &made[self.below(made.len())];
            let list = YamlPart::List(vec![YamlPart::text(&format!("${{{of}}}"))]);
            add("dependsOn", list);
        }
        if !made.is_empty() && self.chance(15) {
            let of = &made[self.below(made.len())];
            add("parent", YamlPart::text(&format!("${{{of}}}")));
        }
        for (name, text) in [
            ("protect", "true"),
            ("retainOnDelete", "true"),
            ("deleteBeforeReplace", "true"),
            ("deleteBeforeReplace", "false"),
            ("ignoreChanges", "[text, \"map.k\"]"),
            ("additionalSecretOutputs", "[arn]"),
            ("replaceOnChanges", "[text]"),
            ("customTimeouts", "{create: 5m}"),
        ] {
            let is_new = name != "deleteBeforeReplace" || text == "true";
            if is_new && self.chance(6) {
                add(name, YamlPart::Raw(text.to_owned()));
            }
        }
        options
    }

    pub(super) fn declare_outputs(&mut self) {
        for number in 0..1 + self.below(4) {
            let (node, _) = self.expressions.any(3);
            self.outputs.push((format!("o{number}"), node));
        }
    }

    /// The text of the program.
    fn text(&mut self) -> String {
        let mut sections = vec!["name: demo\n".to_owned(), "runtime: yaml\n".to_owned()];
        let word = match self.chance(30) {
            true => "configuration",
            false => "config",
        };
        // The order of the sections and of their entries has no meaning.
        if self.chance(50) {
            self.variables.reverse();
            self.resources.reverse();
        }
        let mut parts = vec![
            (word, self.configuration.clone()),
            ("variables", self.variables.clone()),
            ("resources", self.resources.clone()),
            ("outputs", self.outputs.clone()),
        ];
        if self.chance(50) {
            parts.rotate_left(1);
        }
        for (title, entries) in parts {
            if entries.is_empty() {
                continue;
            }
            let lines: Vec<String> = entries
                .iter()
                .map(|(name, node)| format!("  {}: {}\n", quoted(name), node.flow()))
                .collect();
            sections.push(format!("{title}:\n{}", lines.concat()));
        }
        sections.concat()
    }

    pub(super) fn case(mut self, seed: u64) -> Json {
        let text = self.text();
        json!({
            "name": format!("random-{seed}"),
            "files": {"Pulumi.yaml": text, "note.txt": "from a file\n", "data.bin": "\u{1}\u{2}"},
            "project": "demo",
            "stack": "dev",
            "config": self.given,
            "secretKeys": self.secret_keys,
        })
    }
}
