//! Random expressions of a wanted kind, over the names that a program has so far.

use super::node::{YamlPart, quoted};
use crate::fuzz::Random;

/// The kind of value that a place wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedKind {
    Text,
    Int,
    Number,
    Bool,
    Texts,
    Map,
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    Text,
    Number,
    Bool,
    Null,
    /// A list of texts of unknown length.
    Texts,
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
    /// An asset, or a whole resource.
    Opaque,
}

impl Shape {
    fn fits(&self, kind: WantedKind) -> bool {
        match (self, kind) {
            (Shape::Text, WantedKind::Text)
            | (Shape::Number, WantedKind::Number)
            | (Shape::Bool, WantedKind::Bool)
            | (Shape::Texts, WantedKind::Texts) => true,
            (Shape::List(items), WantedKind::Texts) => items.iter().all(|one| *one == Shape::Text),
            (Shape::Map(entries), WantedKind::Map) => {
                entries.iter().all(|(_, one)| *one == Shape::Text)
            }
            _ => false,
        }
    }
}

/// A name that expressions can refer to.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) is_resource: bool,
}

impl Root {
    pub(super) fn value(name: String, shape: Shape) -> Root {
        Root {
            name,
            shape,
            is_resource: false,
        }
    }

    /// A resource with what its type computes.
    pub(super) fn resource(name: String, kind: &str) -> Root {
        let map = |entries: &[(&str, Shape)]| {
            let entries = entries.iter();
            Shape::Map(
                entries
                    .map(|(name, shape)| ((*name).to_owned(), shape.clone()))
                    .collect(),
            )
        };
        let shape = match kind {
            "thing" => map(&[
                ("id", Shape::Text),
                ("urn", Shape::Text),
                ("text", Shape::Text),
                ("arn", Shape::Text),
                ("size", Shape::Number),
                ("ready", Shape::Bool),
                ("token", Shape::Text),
                ("items", Shape::List(vec![Shape::Text, Shape::Text])),
                ("tags", map(&[("owner", Shape::Text), ("k.2", Shape::Text)])),
                (
                    "state",
                    map(&[
                        ("name", Shape::Text),
                        ("count", Shape::Number),
                        ("deep", map(&[("a", Shape::Text)])),
                    ]),
                ),
            ]),
            "other" => map(&[("id", Shape::Text), ("late", Shape::Text)]),
            _ => map(&[
                ("urn", Shape::Text),
                ("host", Shape::Text),
                ("arn", Shape::Text),
            ]),
        };
        Root {
            name,
            shape,
            is_resource: true,
        }
    }
}

/// Makes expressions.
pub(super) struct Expressions {
    random: Random,
    /// Whether accesses to members may be in brackets, which today's interpreter often refuses.
    has_brackets: bool,
    pub(super) roots: Vec<Root>,
}

impl Expressions {
    pub(super) fn new(mut random: Random) -> Expressions {
        let has_brackets = random.below(10) == 0;
        Expressions {
            random,
            has_brackets,
            roots: Vec::new(),
        }
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// A new name.
    pub(super) fn name(&mut self, letter: &str, number: usize) -> String {
        let plain = format!("{letter}{number}");
        match self.below(12) {
            0 => format!("{plain}-dash"),
            1 => format!("{plain}_under"),
            2 => format!("{plain} blank"),
            3 if self.has_brackets => format!("{plain}.dot"),
            4 => format!("{plain}É"),
            _ => plain,
        }
    }

    /// A value of any kind with its shape.
    pub(super) fn any(&mut self, depth: usize) -> (YamlPart, Shape) {
        match self.below(14) {
            0..=3 => (self.of(WantedKind::Text, depth), Shape::Text),
            4 => (self.of(WantedKind::Number, depth), Shape::Number),
            5 => (self.of(WantedKind::Bool, depth), Shape::Bool),
            6 => (self.of(WantedKind::Texts, depth), Shape::Texts),
            7 if depth > 0 => {
                let count = self.below(4);
                let (items, shapes) = (0..count).map(|_| self.any(depth - 1)).unzip();
                (YamlPart::List(items), Shape::List(shapes))
            }
            8 | 9 if depth > 0 => {
                let keys = ["a", "b c", "d.e", "q\"q", "é", "0"];
                let (mut entries, mut shapes) = (Vec::new(), Vec::new());
                for key in keys {
                    if self.chance(35) {
                        let (node, shape) = self.any(depth - 1);
                        entries.push((key.to_owned(), node));
                        shapes.push((key.to_owned(), shape));
                    }
                }
                (YamlPart::Map(entries), Shape::Map(shapes))
            }
            10 => (YamlPart::Raw("null".to_owned()), Shape::Null),
            11 => (self.asset(), Shape::Opaque),
            12 if depth > 0 => {
                let (node, shape) = self.any(depth - 1);
                let function = self.pick(&["fn::secret", "Fn::Secret", "fn::unsecret"]);
                (YamlPart::one(function, node), shape)
            }
            _ => match self.access(None) {
                Some((path, shape)) => (YamlPart::text(&format!("${{{path}}}")), shape),
                None => (self.literal_text(), Shape::Text),
            },
        }
    }

    /// A value of a kind.
    pub(super) fn of(&mut self, kind: WantedKind, depth: usize) -> YamlPart {
        if self.chance(35)
            && let Some((path, _)) = self.access(Some(kind))
        {
            return YamlPart::text(&format!("${{{path}}}"));
        }
        if depth > 0 && self.chance(10) {
            let inner = self.of(kind, depth - 1);
            return YamlPart::one("fn::secret", inner);
        }
        match kind {
            WantedKind::Text => self.text(depth),
            WantedKind::Int if depth > 0 && self.chance(25) => self.length(depth),
            WantedKind::Int => {
                YamlPart::Raw(self.pick(&["0", "7", "-3", "0x1f", "1000000"]).to_owned())
            }
            WantedKind::Number => {
                let all = ["0", "7", "-3", "1.5", "0.00001", "123456789", "1e3", "2.0"];
                YamlPart::Raw(self.pick(&all).to_owned())
            }
            WantedKind::Bool => YamlPart::Raw(self.pick(&["true", "false", "True"]).to_owned()),
            WantedKind::Texts => self.texts(depth),
            WantedKind::Map => {
                let mut entries = Vec::new();
                for key in ["k", "k.2", "x y"] {
                    if self.chance(50) {
                        let value = self.of(WantedKind::Text, depth.saturating_sub(1));
                        entries.push((key.to_owned(), value));
                    }
                }
                YamlPart::Map(entries)
            }
        }
    }

    fn literal_text(&mut self) -> YamlPart {
        let all = [
            "plain",
            "'single ''quoted'''",
            "\"\"",
            "\"two\\nlines\"",
            "\"ünï ☃\"",
            "\"$${escaped}\"",
            "\"a $ b $$ c\"",
            "\"0123\"",
            "\"42\"",
            "yes",
            "\"true\"",
            "\"<&>\"",
            "~tilde",
            "2020-01-02",
        ];
        YamlPart::Raw(self.pick(&all).to_owned())
    }

    fn text(&mut self, depth: usize) -> YamlPart {
        if depth == 0 {
            return self.literal_text();
        }
        let inner = depth - 1;
        match self.below(18) {
            0..=3 => self.literal_text(),
            4..=6 => self.interpolated(),
            7 => {
                let delimiter =
                    YamlPart::Raw(self.pick(&["\", \"", "\"\"", "null", "'-'"]).to_owned());
                let list = self.of(WantedKind::Texts, inner);
                YamlPart::one("fn::join", YamlPart::List(vec![delimiter, list]))
            }
            8 => {
                let (node, _) = self.any(inner);
                YamlPart::one("fn::toJSON", node)
            }
            9 => YamlPart::one("fn::toBase64", self.of(WantedKind::Text, inner)),
            10 => {
                let encoded = self.pick(&["aGVsbG8=", "4pyTIG9r", ""]);
                YamlPart::one("Fn::FromBase64", YamlPart::text(encoded))
            }
            11 => YamlPart::one("fn::sha1", self.of(WantedKind::Text, inner)),
            12 => {
                let items = (0..2).map(|_| self.of(WantedKind::Text, inner)).collect();
                let index = YamlPart::Raw(self.pick(&["0", "1"]).to_owned());
                YamlPart::one(
                    "fn::select",
                    YamlPart::List(vec![index, YamlPart::List(items)]),
                )
            }
            13 => {
                let function =
                    self.pick(&["fn::readFile", "fn::filebase64", "fn::filebase64sha256"]);
                let file = self.pick(&["./note.txt", "note.txt", "data.bin"]);
                YamlPart::one(function, YamlPart::text(file))
            }
            14 => self.invoked(inner),
            15 => {
                let one = self.of(WantedKind::Text, inner);
                YamlPart::one("fn::singleOrNone", YamlPart::List(vec![one]))
            }
            16 => {
                let resources: Vec<String> = self
                    .roots
                    .iter()
                    .filter(|root| root.is_resource)
                    .map(|root| root.name.clone())
                    .collect();
                if resources.is_empty() {
                    return self.literal_text();
                }
                let name = &resources[self.below(resources.len())];
                let function = self.pick(&["fn::pulumiResourceName", "fn::pulumiResourceType"]);
                let path = root_path(name, true);
                YamlPart::one(function, YamlPart::text(&format!("${{{path}}}")))
            }
            _ => {
                let context = self.pick(&["pulumi.stack", "pulumi.project"]);
                YamlPart::text(&format!("${{{context}}}"))
            }
        }
    }

    fn length(&mut self, depth: usize) -> YamlPart {
        let of = match self.chance(50) {
            true => self.of(WantedKind::Texts, depth - 1),
            false => self.of(WantedKind::Text, depth - 1),
        };
        YamlPart::one("fn::length", of)
    }

    fn texts(&mut self, depth: usize) -> YamlPart {
        if depth > 0 && self.chance(25) {
            let delimiter = YamlPart::Raw(self.pick(&["\",\"", "\"\"", "\" \""]).to_owned());
            let text = self.of(WantedKind::Text, depth - 1);
            return YamlPart::one("fn::split", YamlPart::List(vec![delimiter, text]));
        }
        let count = self.below(4);
        let items = (0..count).map(|_| self.of(WantedKind::Text, depth.saturating_sub(1)));
        YamlPart::List(items.collect())
    }

    /// A text around accesses.
    fn interpolated(&mut self) -> YamlPart {
        let mut text = self.pick(&["a", "", "$$", "é "]).to_owned();
        for _ in 0..1 + self.below(2) {
            let kind = [
                WantedKind::Text,
                WantedKind::Text,
                WantedKind::Bool,
                WantedKind::Number,
            ][self.below(4)];
            if let Some((path, _)) = self.access(Some(kind)) {
                text.push_str(&format!("${{{path}}}"));
            }
            text.push_str(self.pick(&["-", " z", "$", "/"]));
        }
        YamlPart::text(&text)
    }

    fn invoked(&mut self, depth: usize) -> YamlPart {
        let text = self.of(WantedKind::Text, depth);
        let arguments = YamlPart::one("text", text.clone());
        match self.below(4) {
            0 => YamlPart::one(
                "fn::invoke",
                YamlPart::Map(vec![
                    ("function".to_owned(), YamlPart::text("peer:echo")),
                    ("arguments".to_owned(), arguments),
                    ("return".to_owned(), YamlPart::text("arn")),
                ]),
            ),
            1 => YamlPart::one(
                "Fn::Invoke",
                YamlPart::Map(vec![
                    ("Function".to_owned(), YamlPart::text("peer:index:echo")),
                    ("Arguments".to_owned(), arguments),
                    ("Return".to_owned(), YamlPart::text("text")),
                ]),
            ),
            2 => YamlPart::one(
                "fn::invoke",
                YamlPart::Map(vec![
                    (
                        "function".to_owned(),
                        YamlPart::text("peer:net/lookup:lookup"),
                    ),
                    ("arguments".to_owned(), YamlPart::one("host", text)),
                    ("return".to_owned(), YamlPart::text("address")),
                ]),
            ),
            _ => YamlPart::one(
                "fn::toJSON",
                YamlPart::one("fn::peer:net:lookup", YamlPart::one("host", text)),
            ),
        }
    }

    fn asset(&mut self) -> YamlPart {
        let (function, argument) = [
            ("fn::stringAsset", "text"),
            ("fn::fileAsset", "./note.txt"),
            ("fn::remoteAsset", "https://example.test/a"),
            ("Fn::StringAsset", "é"),
        ][self.below(4)];
        YamlPart::one(function, YamlPart::text(argument))
    }

    /// An access to a value of a kind, or of any kind, with what is known of it.
    fn access(&mut self, kind: Option<WantedKind>) -> Option<(String, Shape)> {
        let mut found = Vec::new();
        for root in &self.roots {
            if root.is_resource && kind.is_none() {
                found.push((vec![], root.clone(), Shape::Opaque));
            }
            let mut open = vec![(Vec::new(), root.shape.clone())];
            while let Some((path, shape)) = open.pop() {
                let is_whole = root.is_resource && path.is_empty();
                if !is_whole && kind.is_none_or(|kind| shape.fits(kind)) {
                    found.push((path.clone(), root.clone(), shape.clone()));
                }
                let mut below = |step: WalkedStep, shape: &Shape| {
                    let mut path: Vec<WalkedStep> = path.clone();
                    path.push(step);
                    open.push((path, shape.clone()));
                };
                match &shape {
                    Shape::List(items) => {
                        for (at, item) in items.iter().enumerate() {
                            below(WalkedStep::Index(at), item);
                        }
                    }
                    Shape::Map(entries) => {
                        for (name, entry) in entries {
                            let is_plain = !name.contains(['.', '[', '"', '}']);
                            if is_plain || self.has_brackets {
                                below(WalkedStep::Name(name.clone()), entry);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let (path, root, shape) = found[self.below(found.len())].clone();
        let bracketed = self.has_brackets && self.chance(50);
        let mut text = root_path(&root.name, !bracketed);
        for step in path {
            match step {
                WalkedStep::Index(at) => text.push_str(&format!("[{at}]")),
                WalkedStep::Name(name) => {
                    let is_plain = !name.contains(['.', '[', '"', '}']);
                    match is_plain && !(self.has_brackets && self.chance(30)) {
                        true => text.push_str(&format!(".{name}")),
                        false => text.push_str(&format!("[{}]", quoted(&name))),
                    }
                }
            }
        }
        Some((text, shape))
    }
}

#[derive(Clone, Debug)]
enum WalkedStep {
    Name(String),
    Index(usize),
}

/// A root in an access, in brackets where its name needs that.
fn root_path(name: &str, plain: bool) -> String {
    match plain && !name.contains('.') {
        true => name.to_owned(),
        false => format!("[{}]", quoted(name)),
    }
}

/// A value for an input of the type `Thing`.
pub(super) fn input_shape(expressions: &mut Expressions, name: &str) -> YamlPart {
    match name {
        "count" => expressions.of(WantedKind::Int, 2),
        "ratio" => expressions.of(WantedKind::Number, 2),
        "flag" => expressions.of(WantedKind::Bool, 2),
        "list" => expressions.of(WantedKind::Texts, 2),
        "map" => expressions.of(WantedKind::Map, 2),
        "color" => YamlPart::Raw(expressions.pick(&["red", "blue"]).to_owned()),
        "any" => expressions.any(3).0,
        "source" => expressions.asset(),
        "hidden" => expressions.of(WantedKind::Text, 2),
        _ => YamlPart::Map(vec![
            ("name".to_owned(), expressions.of(WantedKind::Text, 2)),
            ("count".to_owned(), expressions.of(WantedKind::Int, 1)),
            ("deep".to_owned(), expressions.of(WantedKind::Map, 1)),
        ]),
    }
}
