//! Checks that no template of 64 KB exceeds the limits of memory and time. Templates are random and
//! consist of parts that each require as many resources as possible.
//!
//! A failing case prints its seed. `CYAN_HOSTILE_CASES` runs more cases, `CYAN_HOSTILE_SEED` sets
//! the first seed.

use std::fmt::Write as _;

use crate::exhaustion::bounded;
use crate::place::Place;

/// The approximate length of a template, in bytes.
const LENGTH: usize = 64 << 10;

/// The default number of templates.
const CASES: u64 = 12;

/// A pseudo-random generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A template under construction.
struct Template {
    draw: Draw,
    /// The lines of anchors, parameters, conditions, resources and outputs.
    parts: [String; 5],
    count: usize,
    /// The number of resources that double the previous one.
    doubled: usize,
    /// The expressions of the next resources.
    values: [String; 3],
}

const ANCHORS: usize = 0;
const PARAMETERS: usize = 1;
const CONDITIONS: usize = 2;
const RESOURCES: usize = 3;
const OUTPUTS: usize = 4;

impl Template {
    fn length(&self) -> usize {
        self.parts.iter().map(String::len).sum()
    }

    fn add(&mut self, part: usize, line: &str) {
        writeln!(self.parts[part], "  {line}").unwrap();
    }

    /// Returns an expression that reads a large value of a kind: text, list or map. Sometimes the
    /// value has another kind.
    fn large(&mut self, kind: u64) -> String {
        let kind = if self.draw.below(40) == 0 {
            self.draw.below(3)
        } else {
            kind
        };
        let row = self.draw.below(self.count as u64 / 3);
        match (self.draw.below(6), kind) {
            (0, 0) => "{get_param: text}".to_owned(),
            (0, 1) => "{get_param: list}".to_owned(),
            (0, _) => "{get_param: map}".to_owned(),
            (1, 1) => "*bomb".to_owned(),
            // Three consecutive resources have three different kinds.
            _ => format!("{{get_attr: [r{}, value]}}", row * 3 + kind + 1),
        }
    }

    /// Returns an expression of a kind that enlarges the values that it reads.
    fn growing(&mut self, kind: u64, depth: usize) -> String {
        let mut inner = |kind: u64| {
            if depth > 0 && self.draw.below(3) == 0 {
                self.growing(kind, depth - 1)
            } else {
                self.large(kind)
            }
        };
        let (t, u, l, k, m, n) = (inner(0), inner(0), inner(1), inner(1), inner(2), inner(2));
        match (kind, self.draw.below(8)) {
            (0, 0) => format!("{{list_join: [', ', {l}, {k}, {l}]}}"),
            (0, 1) => format!("{{list_join: [{t}, [{u}, {t}, {m}]]}}"),
            (0, 2) => format!("{{str_replace: {{template: {t}, params: {{x: {u}, a: {l}, 'v1': {m}}}}}}}"),
            (0, 3) => format!("{{str_replace: {{template: {t}, params: {m}}}}}"),
            (0, 4) => format!("{{digest: [sha512, {t}]}}"),
            (0, 5) => format!("{{make_url: {{host: h, path: {t}, query: {m}}}}}"),
            (0, 6) => format!("{{if: [c, {t}, {u}]}}"),
            (0, _) => format!("{{list_join: ['', [{t}, {t}]]}}"),
            (1, 0) => format!("[{l}, {k}, {m}]"),
            (1, 1) => format!("{{list_concat: [{l}, {k}, {l}, {k}, {l}]}}"),
            (1, 2) => format!("{{list_concat_unique: [{l}, {k}]}}"),
            (1, 3) => format!("{{repeat: {{template: {t}, for_each: {{x: {l}, a: {k}}}}}}}"),
            (1, 4) => format!("{{filter: [{l}, {k}]}}"),
            (1, 5) => format!("{{str_split: [x, {t}]}}"),
            (1, 6) => "{repeat: {template: a, for_each: {a: [bb], b: [cccc], c: [dddddddd], d: [eeeeeeee], e: [ffffffff], f: [gg]}}}".to_owned(),
            (1, _) => {
                let expression = self.draw.of(&[
                    "$.data.select(range(100000).len())",
                    "[range(900000).len()]",
                    "$.data.selectMany($.data)",
                    "$.data.where($ in $.data)",
                    "[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\".matches(\"(a+)+$\")]",
                    "$.data.limit(100).toList() + $.data.limit(100).toList()",
                    "$.data.distinct().orderBy($)",
                ]);
                format!("{{yaql: {{expression: '{expression}', data: {l}}}}}")
            }
            (_, 0..3) => format!("{{a: {t}, b: {l}, c: {m}, d: {n}}}"),
            (_, 3..6) => format!("{{map_merge: [{m}, {n}, {m}]}}"),
            _ => format!("{{map_replace: [{m}, {{keys: {{a: b1}}, values: {n}}}]}}"),
        }
    }

    /// Adds a part of one kind.
    fn part(&mut self, kind: u64) {
        let text = "x".repeat(self.draw.below(300) as usize);
        match kind {
            0 | 1 => self.add_values(),
            2 => self.add_doubled_values(),
            3 => self.add_groups(&text),
            // Names that do not exist.
            4 => {
                let name = self.draw.below(1_000_000);
                let wrong =
                    self.draw
                        .of(&["get_resource", "get_param", "get_attr", "get_rezource"]);
                self.add(RESOURCES, &format!("resource_number_{name}: {{type: OS::Heat::Value, propertiez: 1, properties: {{value: {{{wrong}: resource_nunber_{}}}}}}}", name / 2));
            }
            5 => self.add_conditions(),
            6 => self.add_anchors(text),
            // Parameters with many values, whose defaults satisfy none of them.
            7 => {
                let name = self.draw.below(1_000_000);
                let limit = self.draw.of(&[
                    "{allowed_values: *many}",
                    "{allowed_pattern: '(a+)+b'}",
                    "{allowed_pattern: '(a|aa|b*)*c'}",
                ]);
                self.add(
                    PARAMETERS,
                    &format!(
                        "p{name}: {{type: string, default: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, constraints: [{limit}]}}"
                    ),
                );
            }
            // Outputs that read all resources.
            8 => {
                let (name, value) = (self.draw.below(1_000_000), self.growing(1, 3));
                self.add(OUTPUTS, &format!("o{name}: {{value: {value}}}"));
            }
            // Nesting to the limit.
            9 => {
                let depth = self.draw.below(240) as usize;
                let (open, close) = *[
                    ("[", "]"),
                    ("{a: ", "}"),
                    ("{list_concat: [", "]}"),
                    ("{if: [true, ", ", 1]}"),
                ]
                .get(self.draw.below(4) as usize)
                .unwrap();
                let name = self.draw.below(1_000_000);
                self.add(
                    OUTPUTS,
                    &format!(
                        "d{name}: {{value: {}1{}}}",
                        open.repeat(depth),
                        close.repeat(depth)
                    ),
                );
            }
            // Every resource depends on all others.
            _ => {
                let name = self.draw.below(1_000_000);
                let needs: Vec<String> = (1..=self.count.min(200))
                    .map(|at| format!("r{at}"))
                    .collect();
                self.add(
                    RESOURCES,
                    &format!(
                        "n{name}: {{type: OS::Heat::None, depends_on: [{}]}}",
                        needs.join(", ")
                    ),
                );
            }
        }
    }

    /// Adds values made from values.
    fn add_values(&mut self) {
        for kind in 0..3 {
            let value = self.growing(kind, 2);
            self.values[kind as usize] = value;
        }
        for kind in 0..3 {
            let (name, value) = (
                self.count + 1 + kind,
                std::mem::take(&mut self.values[kind]),
            );
            self.add(
                RESOURCES,
                &format!("r{name}: {{type: OS::Heat::Value, properties: {{value: {value}}}}}"),
            );
        }
        self.count += 3;
    }

    /// Adds values that always double.
    fn add_doubled_values(&mut self) {
        let name = self.doubled;
        self.doubled += 1;
        let form = self.draw.of(&[
            "[F, F]",
            "{a: F, b: F, c: F}",
            "[F, {list_concat: [F, [F]]}]",
            "{repeat: {template: F, for_each: {x: [1, 2]}}}",
        ]);
        let former = if name == 0 {
            "x".to_owned()
        } else {
            format!("{{get_attr: [q{}, value]}}", name - 1)
        };
        let value = form.replace('F', &former);
        self.add(
            RESOURCES,
            &format!("q{name}: {{type: OS::Heat::Value, properties: {{value: {value}}}}}"),
        );
    }

    /// Adds groups, some of them in groups.
    fn add_groups(&mut self, text: &str) {
        let kind = self.draw.below(3);
        let (count, value) = (
            self.draw.of(&["1000000000", "10000", "5000", "30", "3"]),
            self.growing(kind, 0),
        );
        let name = self.length();
        let member =
            format!("{{type: OS::Heat::Value, properties: {{value: ['%index%{text}', {value}]}}}}");
        let member = match self.draw.below(3) {
            0 => format!(
                "{{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: {member}}}}}"
            ),
            _ => member,
        };
        self.add(RESOURCES, &format!("g{name}: {{type: OS::Heat::ResourceGroup, properties: {{count: {count}, resource_def: {member}}}}}"));
        self.add(
            OUTPUTS,
            &format!("og{name}: {{value: {{get_attr: [g{name}, value]}}}}"),
        );
    }

    /// Adds conditions made from conditions.
    fn add_conditions(&mut self) {
        let name = self.parts[CONDITIONS].lines().count();
        let former = if name == 0 {
            "c".to_owned()
        } else {
            format!("c{}", name - 1)
        };
        self.add(
            CONDITIONS,
            &format!(
                "c{name}: {{and: [{{or: [{former}, {former}]}}, {{not: {former}}}, {former}]}}"
            ),
        );
        self.add(
            OUTPUTS,
            &format!("oc{name}: {{value: {{if: [c{name}, {{if: [c{name}, 1, 2]}}, 2]}}}}"),
        );
    }

    /// Adds text that is written once and used many times.
    fn add_anchors(&mut self, text: String) {
        let name = self.parts[ANCHORS].lines().count();
        let former = if name == 0 {
            text
        } else {
            format!("*x{}", name - 1)
        };
        let form = self.draw.of(&["[F, F, F, F]", "{a: F, b: F}", "[F]"]);
        self.add(
            ANCHORS,
            &format!("  - &x{name} {}", form.replace('F', &former)),
        );
        let own = self.draw.below(1_000_000);
        self.add(RESOURCES, &format!("m{own}: {{<<: *merged, k{own}: 1}}"));
        self.add(
            RESOURCES,
            &format!("x{own}: {{type: OS::Heat::Value, properties: {{value: *x{name}}}}}"),
        );
    }
}

/// Generates a template from a seed: one or a few kinds of parts, repeated until it is long enough.
fn template(seed: u64) -> String {
    let mut made = Template {
        draw: Draw(seed),
        parts: Default::default(),
        count: 3,
        doubled: 0,
        values: Default::default(),
    };
    made.draw.below(7);
    let kinds: Vec<u64> = (0..=made.draw.below(3))
        .map(|_| made.draw.below(11))
        .collect();
    let length = LENGTH - 8000 - made.draw.below(LENGTH as u64 / 2) as usize;
    for (at, parameter) in ["text", "list", "map"].into_iter().enumerate() {
        made.add(
            RESOURCES,
            &format!(
                "r{}: {{type: OS::Heat::Value, properties: {{value: {{get_param: {parameter}}}}}}}",
                at + 1
            ),
        );
    }
    while made.length() < length {
        let kind = kinds[made.draw.below(kinds.len() as u64) as usize];
        made.part(kind);
    }
    let [anchors, parameters, conditions, resources, outputs] = made.parts;
    let many: Vec<String> = (0..300).map(|at| format!("v{at}")).collect();
    let keys: Vec<String> = (0..100).map(|at| format!("k{at}: v{at}")).collect();
    let mut text = "heat_template_version: 2021-04-16\n".to_owned();
    let lines = [
        "parameters:\n  anchors:\n    type: json\n    default:".to_owned(),
        format!("    - &many [{}]\n    - &merged {{{}}}\n{anchors}", many.join(", "), keys.join(", ")),
        "    - &b0 [x, x, x, x, x, x, x, x]\n    - &b1 [*b0, *b0, *b0, *b0]\n    - &bomb [*b1, *b1, *b1, *b1, *b1]"
            .to_owned(),
        format!("  text: {{type: string, default: '{}'}}", "a x ".repeat(500)),
        format!("  list: {{type: json, default: *many}}\n  map: {{type: json, default: *merged}}\n{parameters}"),
        format!("conditions:\n  c: {{equals: [1, 1]}}\n{conditions}\nresources:\n{resources}"),
        format!("outputs:\n  o: {{value: 1}}\n{outputs}"),
    ];
    lines.iter().for_each(|lines| {
        text.push_str(lines);
        text.push('\n');
    });
    text
}

#[test]
fn no_template_takes_all_memory_or_time() {
    let number = |name: &str, usual: u64| {
        std::env::var(name)
            .ok()
            .map_or(usual, |text| text.parse().unwrap())
    };
    let first = number("CYAN_HOSTILE_SEED", 1);
    let keep = std::env::var("CYAN_HOSTILE_KEEP").ok();
    for seed in first..first + number("CYAN_HOSTILE_CASES", CASES) {
        let text = template(seed);
        let place = Place::with("t.yaml", &text);
        if let Some(folder) = &keep {
            std::fs::write(format!("{folder}/{seed}.yaml"), &text).unwrap();
            continue;
        }
        for command in ["validate", "stage"] {
            let ran = bounded(&place, command, "t.yaml");
            let said: String = ran.err.chars().take(1000).collect();
            assert!(
                matches!(ran.code, 0 | 1),
                "seed {seed}, {command}: ends with {}: {said}",
                ran.code
            );
        }
    }
}
