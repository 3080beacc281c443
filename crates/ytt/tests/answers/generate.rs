//! Makes random templates from seeds.

/// A generator of numbers with a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

const MODULES: [&str; 13] = [
    "data", "json", "yaml", "base64", "struct", "template", "overlay", "regexp", "assert", "math",
    "md5", "sha256", "url",
];

/// The template of a seed.
pub(crate) fn template(seed: u64) -> String {
    let mut maker = Maker {
        random: Random(seed),
        names: Vec::new(),
        text: String::new(),
        functions: 0,
    };
    for module in MODULES {
        maker.line(0, &format!("#@ load(\"@ytt:{module}\", \"{module}\")"));
    }
    if maker.random.one_in(5) {
        maker.overlay();
    } else {
        maker.documents();
    }
    maker.text
}

/// The template of a seed with some letters removed, doubled or replaced.
pub(crate) fn damaged(seed: u64) -> String {
    let mut letters: Vec<char> = template(seed).chars().collect();
    let mut random = Random(seed ^ 0x5555_5555);
    let others: Vec<char> = "()[]{}:,.#@\"'\\\n -=+*%&!?|<>0é~\t$;".chars().collect();
    for _ in 0..=random.below(6) {
        let at = random.below(letters.len());
        match random.below(4) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            2 => letters[at] = others[random.below(others.len())],
            _ => letters.insert(at, others[random.below(others.len())]),
        }
    }
    letters.into_iter().collect()
}

struct Maker {
    random: Random,
    /// The variables that can be used.
    names: Vec<String>,
    text: String,
    functions: usize,
}

impl Maker {
    fn line(&mut self, indent: usize, line: &str) {
        self.text.push_str(&" ".repeat(indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn documents(&mut self) {
        for _ in 0..self.random.below(3) {
            self.statement(0);
        }
        for _ in 0..self.random.below(3) {
            self.function();
        }
        for at in 0..=self.random.below(3) {
            if at > 0 || self.functions > 0 || self.random.one_in(3) {
                match self.random.below(6) {
                    0 => {
                        let value = self.any(2);
                        self.line(0, &format!("--- #@ {value}"));
                        continue;
                    }
                    1 => {
                        let value = self.bool(1);
                        self.line(0, &format!("#@ if/end {value}:"));
                        self.line(0, "---");
                    }
                    _ => self.line(0, "---"),
                }
            }
            self.map(0, 3);
        }
    }

    fn statement(&mut self, indent: usize) {
        let name = format!("v{}", self.random.below(4));
        let value = self.any(2);
        match self.random.below(8) {
            0 => {
                let condition = self.bool(2);
                let other = self.any(1);
                self.line(indent, &format!("#@ if {condition}:"));
                self.line(indent, &format!("#@ {name} = {value}"));
                self.line(indent, "#@ else:");
                self.line(indent, &format!("#@   {name} = {other}"));
                self.line(indent, "#@ end");
            }
            1 => {
                let items = self.list(1);
                self.line(indent, &format!("#@ {name} = []"));
                self.line(indent, &format!("#@ for x in {items}:"));
                let call = self
                    .random
                    .pick(&["append(x)", "append([x])", "insert(0, x)"]);
                self.line(indent, &format!("#@ {name}.{call}"));
                self.line(indent, "#@ end");
            }
            2 => {
                self.line(indent, &format!("#@ {name} = {{}}"));
                let key = self.string(1);
                self.line(indent, &format!("#@ {name}[{key}] = {value}"));
                let more = self.dict(1);
                self.line(indent, &format!("#@ {name}.update({more})"));
            }
            3 => {
                let number = self.int(1);
                self.line(indent, &format!("#@ {name} = {number}"));
                let sign = self.random.pick(&["+", "-", "*", "&", "|"]);
                let number = self.int(1);
                self.line(indent, &format!("#@ {name} {sign}= {number}"));
            }
            _ => self.line(indent, &format!("#@ {name} = {value}")),
        }
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    fn function(&mut self) {
        let name = format!("f{}", self.functions);
        self.line(0, "---");
        let parameters = self
            .random
            .pick(&["a, b=2", "a=1, *args", "a, **kwargs", "a=None"]);
        self.line(0, &format!("#@ def {name}({parameters}):"));
        let names = std::mem::replace(&mut self.names, vec!["a".into()]);
        match self.random.below(4) {
            0 => {
                let value = self.any(2);
                self.line(0, &format!("#@ return {value}"));
            }
            1 => self.items(0, 2),
            2 => {
                let condition = self.bool(1);
                self.map(0, 1);
                let value = self.any(1);
                self.line(0, &format!("#@ if {condition}:"));
                self.line(0, &format!("#@ return {value}"));
                self.line(0, "#@ end");
                self.line(0, "last: 1");
            }
            _ => self.map(0, 2),
        }
        self.names = names;
        self.line(0, "#@ end");
        // Only later code calls it: endless recursion would end the other program.
        self.functions += 1;
    }

    fn key(&mut self) -> String {
        let keys = [
            "a", "b", "c", "kind", "spec", "x-y", "\"q q\"", "'1'", "7", "yes", "d.e/f",
        ];
        self.random.pick(&keys).to_owned()
    }

    fn map(&mut self, indent: usize, depth: usize) {
        let mut used: Vec<String> = Vec::new();
        for _ in 0..=self.random.below(4) {
            let key = self.key();
            if used.contains(&key) && !self.random.one_in(30) {
                continue;
            }
            if used.contains(&key) && !self.random.one_in(4) {
                self.line(indent, "#@yaml/map-key-override");
            }
            used.push(key.clone());
            let has_block = self.random.one_in(5);
            if has_block {
                let line = match self.random.below(3) {
                    0 => format!("#@ if {}:", self.bool(1)),
                    1 => format!("#@ for i in {}[:1]:", self.list(1)),
                    _ => format!("#@ for/end i in range({}):", self.random.below(2)),
                };
                self.line(indent, &line);
                let is_short = line.contains("/end");
                self.entry(indent, &key, depth);
                if !is_short {
                    if line.starts_with("#@ if") && self.random.one_in(2) {
                        self.line(indent, "#@ else:");
                        self.entry(indent, &key, depth);
                    }
                    self.line(indent, "#@ end");
                }
            } else {
                self.entry(indent, &key, depth);
            }
        }
    }

    fn entry(&mut self, indent: usize, key: &str, depth: usize) {
        match self.random.below(if depth == 0 { 5 } else { 8 }) {
            0 => {
                let value = self.scalar();
                self.line(indent, &format!("{key}: {value}"));
            }
            1 => {
                self.line(indent, "#@yaml/text-templated-strings");
                let value = self.string(1);
                let other = self.string(1);
                let text = format!(
                    "{key}: 'p(@= {} @)-(@= {} @)'",
                    escaped(&value),
                    escaped(&other)
                );
                self.line(indent, &text);
            }
            2 => {
                let value = self.dict(1);
                self.line(indent, &format!("_: #@ template.replace({value})"));
            }
            3 | 4 => {
                let value = self.any(3);
                self.line(indent, &format!("{key}: #@ {value}"));
            }
            5 => {
                self.line(indent, &format!("{key}:"));
                let deeper = if self.random.one_in(2) { 0 } else { 2 };
                self.items(indent + deeper, depth - 1);
            }
            _ => {
                self.line(indent, &format!("{key}:"));
                self.map(indent + 2, depth - 1);
            }
        }
    }

    fn items(&mut self, indent: usize, depth: usize) {
        for _ in 0..=self.random.below(3) {
            match self.random.below(if depth == 0 { 3 } else { 5 }) {
                0 => {
                    let value = self.scalar();
                    self.line(indent, &format!("- {value}"));
                }
                1 => {
                    let value = self.list(1);
                    self.line(indent, &format!("- #@ template.replace({value})"));
                }
                2 => {
                    let items = self.list(1);
                    self.line(indent, &format!("#@ for i in {items}:"));
                    self.line(indent, "- #@ i");
                    self.line(indent, "#@ end");
                }
                3 => {
                    let value = self.any(2);
                    self.line(indent, &format!("- #@ {value}"));
                }
                _ => {
                    let value = self.any(1);
                    self.line(indent, &format!("- first: #@ {value}"));
                    let condition = self.bool(1);
                    self.line(indent + 2, &format!("#@ if/end {condition}:"));
                    self.line(indent + 2, "second: 2");
                }
            }
        }
    }

    fn scalar(&mut self) -> &'static str {
        self.random.pick(&[
            "1",
            "-3",
            "0x1f",
            "017",
            "1e3",
            "1.50",
            "yes",
            "Off",
            "~",
            "null",
            "\"q\\tq\"",
            "'s''s'",
            "plain text",
            "2024-01-02",
            "12:30",
            "1_000",
            ".5",
            "[1, {a: b}]",
            "{a: [x, ~]}",
            "!!str 5",
            "0b11",
            "+7",
            "08",
            "x#y",
            "-x",
            "a:b",
        ])
    }

    fn any(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(5) {
                0 => self.int(0),
                1 => self.string(0),
                2 => self.list(0),
                3 => self.name(),
                _ => self
                    .random
                    .pick(&["None", "True", "False", "1.5", "()", "data.values.num"])
                    .to_owned(),
            };
        }
        match self.random.below(12) {
            0 | 1 => self.int(depth),
            2..=4 => self.string(depth),
            5 => self.list(depth),
            6 => self.dict(depth),
            7 => self.bool(depth),
            8 => self.float(depth),
            9 => {
                let (then, condition, other) = (
                    self.any(depth - 1),
                    self.bool(depth - 1),
                    self.any(depth - 1),
                );
                format!("({then} if {condition} else {other})")
            }
            10 => {
                let argument = self.any(depth - 1);
                match self.functions {
                    0 => format!("(lambda x, y=2: [x, y])({argument})"),
                    count => format!("f{}({argument})", self.random.below(count)),
                }
            }
            _ => self.module(depth - 1),
        }
    }

    fn name(&mut self) -> String {
        match self.names.len() {
            0 => "data.values.port".into(),
            count => self.names[self.random.below(count)].clone(),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        if depth == 0 {
            let plain = [
                "0",
                "1",
                "2",
                "-1",
                "7",
                "10",
                "255",
                "data.values.port",
                "1000000",
            ];
            return self.random.pick(&plain).to_owned();
        }
        let below = depth - 1;
        match self.random.below(10) {
            0..=2 => {
                let sign = self
                    .random
                    .pick(&["+", "-", "*", "+", "-", "&", "|", "^", "// 3 +", "% 7 -"]);
                let (one, other) = (self.int(below), self.int(below));
                format!("({one} {sign} {other})")
            }
            3 => format!("len({})", self.list(below)),
            4 => format!("len({})", self.string(below)),
            5 => {
                let function = self.random.pick(&["max", "min"]);
                format!("{function}({}, {})", self.int(below), self.int(below))
            }
            6 => {
                let method = self.random.pick(&["find", "rfind", "count", "count"]);
                format!("{}.{method}({})", self.string(below), self.string(0))
            }
            7 => format!(
                "int({})",
                self.random.pick(&[
                    "\"12\"",
                    "\"0x1f\", 0",
                    "\"ff\", 16",
                    "2.9",
                    "True",
                    "\"-7\""
                ])
            ),
            8 => format!(
                "{}[{}]",
                self.list(below),
                self.random.pick(&["0", "-1", "0", "1"])
            ),
            _ => format!("-{}", self.int(below)),
        }
    }

    fn float(&mut self, depth: usize) -> String {
        let below = depth.saturating_sub(1);
        match self.random.below(6) {
            0 => format!("({} / 7)", self.int(below)),
            1 => format!("float({})", self.int(below)),
            2 => self
                .random
                .pick(&["1.5", "0.1", "1e10", "2.0", "1e-7", "123456789.0"])
                .to_owned(),
            3 => format!(
                "math.{}({})",
                self.random
                    .pick(&["floor", "ceil", "sqrt", "round", "fabs"]),
                self.int(below)
            ),
            4 => format!("({} * 1.5)", self.int(below)),
            _ => format!("({} % 2.5)", self.int(below)),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .random
                .pick(&["True", "False", "data.values.flag", "0", "\"\"", "[0]"])
                .to_owned();
        }
        let below = depth - 1;
        match self.random.below(9) {
            0 => {
                let sign = self.random.pick(&["==", "!=", "<", ">", "<=", ">="]);
                format!("({} {sign} {})", self.int(below), self.int(below))
            }
            1 => {
                let sign = self.random.pick(&["==", "!=", "<", ">="]);
                format!("({} {sign} {})", self.any(below), self.any(below))
            }
            2 => format!("not {}", self.bool(below)),
            3 => {
                let sign = self.random.pick(&["and", "or"]);
                format!("({} {sign} {})", self.bool(below), self.any(below))
            }
            4 => {
                let sign = self.random.pick(&["in", "not in"]);
                format!("({} {sign} {})", self.string(below), self.list(below))
            }
            5 => {
                let method = self.random.pick(&["startswith", "endswith"]);
                format!("{}.{method}({})", self.string(below), self.string(0))
            }
            6 => {
                let method = self.random.pick(&[
                    "isalpha", "isdigit", "isupper", "islower", "istitle", "isspace", "isalnum",
                ]);
                format!("{}.{method}()", self.string(below))
            }
            7 => format!(
                "hasattr({}, {})",
                self.random
                    .pick(&["data.values", "data.values.map", "[]", "\"\""]),
                self.random
                    .pick(&["\"k1\"", "\"port\"", "\"append\"", "\"upper\""])
            ),
            _ => format!(
                "{}({})",
                self.random.pick(&["any", "all", "bool"]),
                self.list(below)
            ),
        }
    }

    fn string(&mut self, depth: usize) -> String {
        if depth == 0 {
            let plain = [
                "\"\"",
                "\"a\"",
                "\"web\"",
                "'x y'",
                "\"A-b\"",
                "data.values.name",
                "\"é ü\"",
                "r\"\\n\"",
                "\"l1\\nl2\"",
                "\"5\"",
                "\"yes\"",
                "\" pad \"",
                "\"a,b,,c\"",
                "\"{}\"",
                "\"null\"",
                "\"# no\"",
                "\"a: b\"",
                "\"- d\"",
                "\"1.0\"",
                "\"\\t\"",
                "\"'q'\"",
                "\"x\\n\\n\"",
                "\"\\n x\"",
                "\"12:30\"",
                "data.values.text",
                "\"2024-01-02\"",
                "\"@x\"",
                "\"tail \\nx\"",
                "\"%\"",
                "\"[\"",
                "\"0x1f\"",
                "\"~\"",
            ];
            return self.random.pick(&plain).to_owned();
        }
        let below = depth - 1;
        match self.random.below(16) {
            0 => format!("({} + {})", self.string(below), self.string(below)),
            1 => format!("str({})", self.any(below)),
            2 => {
                let method = self.random.pick(&[
                    "upper",
                    "lower",
                    "title",
                    "capitalize",
                    "strip",
                    "lstrip",
                    "rstrip",
                ]);
                format!("{}.{method}()", self.string(below))
            }
            3 => format!(
                "{}.replace({}, {})",
                self.string(below),
                self.string(0),
                self.string(0)
            ),
            4 => format!(
                "{}.join([{}, {}])",
                self.string(0),
                self.string(below),
                self.string(0)
            ),
            5 => format!("{}[{}]", self.string(below), self.slice()),
            6 => format!(
                "\"{{}}-{{}}\".format({}, {})",
                self.any(below),
                self.string(0)
            ),
            7 => format!(
                "\"{{a}}{{1!r}}{{0}}\".format({}, {}, a={})",
                self.int(0),
                self.any(below),
                self.int(0)
            ),
            8 => format!(
                "\"%s/%d/%r\" % ({}, {}, {})",
                self.any(below),
                self.int(below),
                self.any(0)
            ),
            9 => format!(
                "\"%x %o %e %g %f %%\" % ({}, {}, {}, {}, 1.5)",
                self.int(0),
                self.int(0),
                self.float(0),
                self.float(0)
            ),
            10 => format!(
                "({} * {})",
                self.string(0),
                self.random.pick(&["0", "1", "2", "3", "-1"])
            ),
            11 => format!("repr({})", self.any(below)),
            12 => format!("type({})", self.any(below)),
            13 => format!(
                "{}.split({})[0]",
                self.string(below),
                self.random.pick(&["\",\"", "\"a\"", "None", ""])
            ),
            14 => format!(
                "{}.partition({})[2]",
                self.string(below),
                self.random.pick(&["\",\"", "\"a\"", "\"-\""])
            ),
            _ => self.text_module(below),
        }
    }

    fn text_module(&mut self, below: usize) -> String {
        match self.random.below(9) {
            0 => format!("json.encode({})", self.any(below)),
            1 => format!("yaml.encode({})", self.any(below)),
            2 => format!("json.encode({}, indent=2)", self.any(below)),
            3 => format!("base64.encode({})", self.string(below)),
            4 => format!("md5.sum({})", self.string(below)),
            5 => format!("url.path_segment_encode({})", self.string(below)),
            6 => format!("url.query_param_value_encode({})", self.string(below)),
            7 => format!(
                "regexp.replace({}, {}, {})",
                self.random
                    .pick(&["\"[a-z]+\"", "\"(a)(b)?\"", "\"^\"", "\"x*\""]),
                self.string(below),
                self.random.pick(&[
                    "\"<$0>\"",
                    "\"$1-\"",
                    "\"${1}x\"",
                    "lambda m: m.upper()",
                    "\"$$\""
                ])
            ),
            _ => format!("sha256.sum({})", self.string(0)),
        }
    }

    fn module(&mut self, below: usize) -> String {
        match self.random.below(11) {
            0 => format!("json.decode(json.encode({}))", self.any(below)),
            1 => format!("yaml.decode(yaml.encode({}))", self.any(below)),
            2 => format!("yaml.decode({})", self.string(below)),
            3 => format!("struct.decode(struct.encode({}))", self.dict(below)),
            4 => format!("struct.make(a={}, b=2).a", self.any(below)),
            5 => format!("assert.try_to(lambda: {})[0]", self.any(below)),
            6 => format!("regexp.match(\"^[a-z]+\", {})", self.string(below)),
            7 => format!("assert.min(1).check({})", self.int(below)),
            8 => format!(
                "getattr(data.values, {}, {})",
                self.random.pick(&["\"port\"", "\"nope\"", "\"map\""]),
                self.any(below)
            ),
            9 => format!(
                "base64.decode({})",
                self.random.pick(&["\"YQ==\"", "\"YWI\"", "\"YWJj\""])
            ),
            _ => format!(
                "url.query_params_decode({})",
                self.random.pick(&["\"a=1&b=2\"", "\"a=%20\"", "\"x\""])
            ),
        }
    }

    fn slice(&mut self) -> &'static str {
        self.random.pick(&[
            "1:", ":2", "-2:", "::2", "::-1", "1:3", "0:0", "5:", ":-1", "3:0:-1",
        ])
    }

    fn list(&mut self, depth: usize) -> String {
        if depth == 0 {
            let plain = [
                "[]",
                "[1, 2, 3]",
                "data.values.list",
                "[\"b\", \"a\"]",
                "list((1, 2))",
                "list(range(3))",
            ];
            return self.random.pick(&plain).to_owned();
        }
        let below = depth - 1;
        match self.random.below(14) {
            0 => format!("[{}, {}]", self.any(below), self.any(below)),
            1 => format!("[x for x in {} if x]", self.list(below)),
            2 => format!("[(i, x) for i, x in enumerate({})]", self.list(below)),
            3 => format!("sorted({}, key=lambda x: repr(x))", self.list(below)),
            4 => format!("list({})", self.list(below)),
            5 => format!("reversed({})", self.list(below)),
            6 => format!("({} + {})", self.list(below), self.list(below)),
            7 => format!("{}[{}]", self.list(below), self.slice()),
            8 => format!(
                "{}.split({})",
                self.string(below),
                self.random
                    .pick(&["\",\"", "\"x\"", "", "None, 1", "\"a\", 1"])
            ),
            9 => format!("{}.items()", self.dict(below)),
            10 => format!(
                "{}.{}()",
                self.dict(below),
                self.random.pick(&["keys", "values"])
            ),
            11 => format!("list(zip({}, {}))", self.list(below), self.list(below)),
            12 => format!(
                "sorted({}, key=lambda x: str(x), reverse=True)",
                self.list(below)
            ),
            _ => format!("[p.port for p in data.values.ports] + {}", self.list(below)),
        }
    }

    fn dict(&mut self, depth: usize) -> String {
        if depth == 0 {
            let plain = [
                "{}",
                "{\"k\": 1}",
                "{\"z\": 1, \"a\": [2]}",
                "{1: 2}",
                "dict(a=1, b=None)",
            ];
            return self.random.pick(&plain).to_owned();
        }
        let below = depth - 1;
        match self.random.below(6) {
            0 => format!(
                "{{{}: {}, \"b\": {}}}",
                self.string(below),
                self.any(below),
                self.any(below)
            ),
            1 => format!("{{str(x): x for x in {}}}", self.list(below)),
            2 => format!("dict({}, z={})", self.dict(below), self.any(below)),
            3 => "dict(**data.values.map)".to_owned(),
            4 => "struct.decode(data.values.map)".to_owned(),
            _ => format!("dict([({}, {})])", self.string(0), self.any(below)),
        }
    }

    /// A tree and an overlay for it.
    fn overlay(&mut self) {
        self.line(0, "#@ def left():");
        self.overlay_map(0, 2, false);
        self.line(0, "#@ end");
        self.line(0, "#@ def right():");
        self.line(0, "#@overlay/match-child-defaults missing_ok=True");
        self.overlay_map(0, 2, true);
        self.line(0, "#@ end");
        self.line(0, "out: #@ overlay.apply(left(), right())");
    }

    fn annotate(&mut self, indent: usize, is_item: bool) {
        let by = [
            "\"name\"",
            "overlay.index(0)",
            "overlay.all",
            "overlay.subset({\"name\": \"n1\"})",
            "lambda i, l, r: i == 1",
        ];
        let expects = [
            "missing_ok=True",
            "expects=1",
            "expects=\"0+\"",
            "expects=[0, 1]",
            "when=1",
            "missing_ok=False",
            "expects=0",
        ];
        let mut arguments = Vec::new();
        if is_item || self.random.one_in(5) {
            let by = self.random.pick(&by);
            if !self.random.one_in(8) {
                arguments.push(format!("by={by}"));
            }
        }
        if self.random.one_in(2) {
            arguments.push(self.random.pick(&expects).to_owned());
        }
        if arguments.is_empty() || !is_item && self.random.one_in(2) {
            arguments.retain(|argument| argument.starts_with("by"));
            arguments.push("missing_ok=True".into());
        }
        if !self.random.one_in(10) {
            self.line(indent, &format!("#@overlay/match {}", arguments.join(", ")));
        }
        let operations = [
            "remove",
            "replace",
            "replace or_add=True",
            "merge",
            "assert via=lambda l, r: True",
            "match-child-defaults missing_ok=True",
            "replace via=lambda l, r: [l, r]",
            "assert",
            "insert before=True",
            "insert after=True",
            "append",
        ];
        if self.random.one_in(2) {
            let count = if is_item { 11 } else { 8 };
            let operation = operations[self.random.below(count)];
            self.line(indent, &format!("#@overlay/{operation}"));
        }
    }

    fn overlay_map(&mut self, indent: usize, depth: usize, is_right: bool) {
        let mut used: Vec<&str> = Vec::new();
        for _ in 0..=self.random.below(4) {
            let key = self.random.pick(&["a", "b", "c", "d", "name"]);
            if used.contains(&key) {
                continue;
            }
            used.push(key);
            if is_right && !self.random.one_in(8) {
                self.annotate(indent, false);
            }
            match self.random.below(if depth == 0 { 2 } else { 4 }) {
                0 => {
                    let value = self.random.below(3);
                    self.line(indent, &format!("{key}: {value}"));
                }
                1 => {
                    let value = self.random.pick(&["~", "x", "n1", "[1, 2]", "{k: v}"]);
                    self.line(indent, &format!("{key}: {value}"));
                }
                2 => {
                    self.line(indent, &format!("{key}:"));
                    self.overlay_map(indent + 2, depth - 1, is_right);
                }
                _ => {
                    self.line(indent, &format!("{key}:"));
                    for _ in 0..=self.random.below(3) {
                        if is_right && !self.random.one_in(4) {
                            self.annotate(indent, true);
                        }
                        if self.random.one_in(4) {
                            let value = self.random.pick(&["1", "2", "x"]);
                            self.line(indent, &format!("- {value}"));
                        } else {
                            let name = self.random.pick(&["n1", "n2", "n3"]);
                            self.line(indent, &format!("- name: {name}"));
                            if is_right && self.random.one_in(3) {
                                self.annotate(indent + 2, false);
                            }
                            let value = self.random.below(3);
                            self.line(indent, &format!("  v: {value}"));
                        }
                    }
                }
            }
        }
    }
}

/// Code inside single quotes of YAML.
fn escaped(code: &str) -> String {
    code.replace('\'', "''")
}
