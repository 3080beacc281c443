//! Random programs of Pulumi YAML: a seed gives a program with its configuration, and some have a
//! mistake. They use all functions, forms of access, kinds of configuration, options and outputs.
//!
//! The types come from the package `peer`, whose schema stands in `packages`, and whose resources
//! compute what `behaviours.json` says.
//!
//! Not here: what a program gives (`conformance`).

mod expressions;
mod mistakes;
mod node;

use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use crate::fuzz::Random;
use expressions::{Expressions, Kind, Root, Shape, input_shape};
use node::{Node, quoted};

/// The folder with the schemas, and the file that says what resources compute.
pub fn assumptions() -> (PathBuf, PathBuf) {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/random_programs");
    (here.join("packages"), here.join("behaviours.json"))
}

/// The program of a seed, in the notation of recorded programs.
pub fn program(seed: u64) -> Json {
    let mut draft = Draft::new(seed);
    draft.declare_configuration();
    draft.declare_elements();
    draft.declare_outputs();
    if draft.chance(25) {
        mistakes::plant(&mut draft);
    }
    draft.case(seed)
}

/// A program in the making.
struct Draft {
    expressions: Expressions,
    configuration: Vec<(String, Node)>,
    variables: Vec<(String, Node)>,
    resources: Vec<(String, Node)>,
    outputs: Vec<(String, Node)>,
    /// What the stack sets, by full key.
    given: Map<String, Json>,
    secret_keys: Vec<String>,
}

impl Draft {
    fn new(seed: u64) -> Draft {
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

    fn chance(&mut self, percent: usize) -> bool {
        self.expressions.chance(percent)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.expressions.below(bound)
    }

    fn declare_configuration(&mut self) {
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
            let mut entry = vec![("type".to_owned(), Node::text(kind))];
            let is_set = self.chance(60);
            if !is_set || self.chance(40) {
                entry.push(("default".to_owned(), Node::Raw(default.to_owned())));
            }
            if is_set {
                let key = format!("demo:{name}");
                self.given.insert(key.clone(), Json::from(set));
                if self.chance(20) {
                    entry.push(("secret".to_owned(), Node::Raw("true".to_owned())));
                    self.secret_keys.push(key);
                }
            }
            self.configuration.push((name.clone(), Node::Map(entry)));
            self.expressions.roots.push(Root::value(name, shape));
        }
    }

    fn declare_elements(&mut self) {
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
                let mut all = vec![("host".to_owned(), self.expressions.of(Kind::Text, 2))];
                if self.chance(50) {
                    all.push(("port".to_owned(), self.expressions.of(Kind::Int, 2)));
                }
                all
            }
        };
        let options = self.options();
        let mut entry = vec![
            ("type".to_owned(), Node::Raw(token.to_owned())),
            ("properties".to_owned(), Node::Map(properties)),
        ];
        if self.chance(10) {
            let logical = Node::Raw(format!("named-{number}"));
            entry.push(("name".to_owned(), logical));
        }
        if !options.is_empty() {
            entry.push(("options".to_owned(), Node::Map(options)));
        }
        self.resources.push((name.clone(), Node::Map(entry)));
        self.expressions.roots.push(Root::resource(name, kind));
    }

    fn thing(&mut self) -> Vec<(String, Node)> {
        let mut all = vec![("text".to_owned(), self.expressions.of(Kind::Text, 3))];
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

    fn options(&mut self) -> Vec<(String, Node)> {
        let mut options = Vec::new();
        let made: Vec<String> = self
            .resources
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        let mut add = |name: &str, node: Node| options.push((name.to_owned(), node));
        if !made.is_empty() && self.chance(20) {
            let of = &made[self.below(made.len())];
            let list = Node::List(vec![Node::text(&format!("${{{of}}}"))]);
            add("dependsOn", list);
        }
        if !made.is_empty() && self.chance(15) {
            let of = &made[self.below(made.len())];
            add("parent", Node::text(&format!("${{{of}}}")));
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
                add(name, Node::Raw(text.to_owned()));
            }
        }
        options
    }

    fn declare_outputs(&mut self) {
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

    fn case(mut self, seed: u64) -> Json {
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
