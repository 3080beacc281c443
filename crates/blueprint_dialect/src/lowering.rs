//! The common base for lowering sections: reads keys by their table, texts, expressions and names.

use std::collections::HashSet;

use blueprint::{Expr, ExprKind, Name, Names, Packages, Value};
use diag::{Diagnostic, Diagnostics, Span, Spanned, find_substitution};
use expr::FunctionTable;
use expr::codes::{NUMBER_OUT_OF_RANGE, TYPE_MISMATCH};
use syntax::{Content, MapEntry, Node, Scalar};

use super::scalar::{Typed, has_leading_zero, has_substitution, is_merge, typed};
use super::version::Version;
use dialect::codes::{
    LEADING_ZERO, MISSING_FIELD, NEWER_THAN_VERSION, NULL_IGNORED, SUBSTITUTION_NOT_ALLOWED,
    UNKNOWN_KEY, WRONG_SHAPE,
};
use dialect::{ForeignWord, ForeignWords, KeyForm, Section, WordPlace};

/// The state of lowering a document to a blueprint.
pub(super) struct Lowering<'a> {
    /// The source text of the tree.
    pub(super) source: &'a str,
    pub(super) functions: &'a FunctionTable,
    pub(super) packages: &'a Packages,
    pub(super) version: Version,
    /// Whether the document has a resource named `none` (decisions/blueprint#feature-table).
    pub(super) none_is_resource: bool,
    /// The start positions of keys that are ignored; see `survey`.
    pub(super) bad_keys: HashSet<u32>,
    pub(super) names: Names,
    pub(super) found: Diagnostics,
}

/// An upper limit for the number of keys of a section.
const MAX_SECTION_KEYS: usize = 12;

/// The values of a map with fixed keys.
pub(super) struct SectionFields<'t> {
    section: &'static Section,
    values: [Option<&'t MapEntry>; MAX_SECTION_KEYS],
    written: u16,
    /// Known keys for which an unknown key is probably a misspelling.
    misspelt: Vec<&'static str>,
}

impl<'t> SectionFields<'t> {
    fn position(&self, key: &str) -> usize {
        let found = self
            .section
            .keys
            .iter()
            .position(|candidate| candidate.name == key);
        debug_assert!(
            found.is_some(),
            "section `{}` has no key `{key}`",
            self.section.name
        );
        found.unwrap_or(MAX_SECTION_KEYS)
    }

    /// The entry of a key, if it is written with a value of the right form.
    pub(super) fn entry(&self, key: &str) -> Option<&'t MapEntry> {
        self.values.get(self.position(key)).copied().flatten()
    }

    /// Whether a key is written, with a value of any form.
    pub(super) fn is_written(&self, key: &str) -> bool {
        self.written & 1 << self.position(key) != 0
    }

    /// Whether an unknown key is probably a misspelling of this key.
    pub(super) fn is_misspelt(&self, key: &str) -> bool {
        self.misspelt.contains(&key)
    }

    /// The value of a key, if it is written with a value of the right form.
    pub(super) fn get(&self, key: &str) -> Option<&'t Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}

/// The entries of a map without the ignored ones.
pub(super) enum CountedEntries<'t> {
    All(std::slice::Iter<'t, MapEntry>),
    Some(std::vec::IntoIter<&'t MapEntry>),
}

impl<'t> Iterator for CountedEntries<'t> {
    type Item = &'t MapEntry;

    fn next(&mut self) -> Option<&'t MapEntry> {
        match self {
            CountedEntries::All(entries) => entries.next(),
            CountedEntries::Some(entries) => entries.next(),
        }
    }
}

/// The span of a value. For the value of an alias, this is the span of the alias.
pub(super) fn value_span(node: &Node) -> Span {
    node.alias().unwrap_or(node.span)
}

impl<'a> Lowering<'a> {
    /// The entries of a map without duplicates and substituted keys, and with merged entries.
    pub(super) fn entries<'t>(&self, map: &'t [MapEntry]) -> CountedEntries<'t> {
        if self.bad_keys.is_empty() {
            return CountedEntries::All(map.iter());
        }
        let is_bad = |entry: &&MapEntry| self.bad_keys.contains(&entry.key.span.start);
        let mut picked: Vec<&MapEntry> = map.iter().filter(|entry| !is_bad(entry)).collect();
        if map.iter().any(|entry| is_merge(&entry.key)) {
            let mut seen: HashSet<&str> =
                picked.iter().filter_map(|entry| entry.key.text()).collect();
            for merge in map.iter().filter(|entry| is_merge(&entry.key)) {
                let merged = merge
                    .value
                    .as_list()
                    .unwrap_or(std::slice::from_ref(&merge.value));
                for entry in merged
                    .iter()
                    .filter_map(Node::as_map)
                    .flatten()
                    .filter(|entry| !is_bad(entry))
                {
                    if entry.key.text().is_some_and(|key| seen.insert(key)) {
                        picked.push(entry);
                    }
                }
            }
        }
        CountedEntries::Some(picked.into_iter())
    }

    /// Reads a map by the table of its keys. A missing key is reported at `place`. Without a `map`
    /// (for a value of the wrong form, which was reported) no key counts as missing.
    pub(super) fn fields<'t>(
        &mut self,
        section: &'static Section,
        map: Option<&'t [MapEntry]>,
        place: Span,
    ) -> SectionFields<'t> {
        let mut fields = SectionFields {
            section,
            values: [None; MAX_SECTION_KEYS],
            written: 0,
            misspelt: Vec::new(),
        };
        let Some(map) = map else { return fields };
        let outside = self.fields_outside_spec(section, map);
        if outside.is_some() {
            fields.misspelt.push("spec");
        }
        let mut foreign: Vec<(&'static str, &MapEntry)> = Vec::new();
        for entry in self.entries(map) {
            let Some(text) = entry.key.text() else {
                continue;
            };
            if let Some(outside) = &outside
                && outside.contains(&text)
            {
                continue;
            }
            let Some(at) = section.keys.iter().position(|key| key.name == text) else {
                let meant = self.unknown_key(section, text, entry);
                fields.misspelt.extend(meant);
                foreign.extend(meant.map(|meant| (meant, entry)));
                continue;
            };
            let key = &section.keys[at];
            if !self.version.has(key.since) {
                self.report_newer_feature(entry.key.span, &format!("`{text}`"));
            }
            if self.is_null(&entry.value) {
                self.null_ignored(entry);
                continue;
            }
            fields.written |= 1 << at;
            // If a list or map is required, a substitution in its place is reported as the only
            // mistake.
            let closed = !key.substitutions && (key.section.is_empty() || text == "linkSelector");
            if closed
                && !key.form.takes(true, false, false)
                && let Some(scalar) = entry.value.as_scalar()
                && self.has_substitution(&entry.value, scalar, text)
            {
                continue;
            }
            if self.check_form(&entry.value, key.form, text) {
                fields.values[at] = Some(entry);
            }
        }
        // What stands under a word of another tool is read as what it means there, so that its own
        // mistakes are reported, too.
        for (meant, entry) in foreign {
            if let Some(at) = section.keys.iter().position(|key| key.name == meant)
                && fields.values[at].is_none()
                && fields.written & 1 << at == 0
                && self.is_readable_as(section, &section.keys[at], entry)
            {
                fields.values[at] = Some(entry);
            }
        }
        for (at, key) in section.keys.iter().enumerate() {
            // A missing version has its own code. A misspelt required key is one mistake.
            let is_missing =
                key.required && fields.written & 1 << at == 0 && !fields.is_misspelt(key.name);
            if is_missing && key.name != "version" {
                self.report_missing_key(section.name, key.name, place);
            }
        }
        fields
    }

    pub(super) fn report_missing_key(&mut self, section: &str, key: &str, place: Span) {
        self.found.push(
            MISSING_FIELD
                .new(format!("`{key}` is missing"))
                .label(
                    place,
                    format!("{} {section} needs `{key}`", article(section)),
                )
                .help(format!("add `{key}`")),
        );
    }

    /// Whether the value of a word of another tool has the form of the key that it means.
    fn is_readable_as(
        &self,
        section: &Section,
        key: &dialect::SectionKey,
        entry: &MapEntry,
    ) -> bool {
        let node = &entry.value;
        let takes = key.form.takes(
            node.as_scalar().is_some(),
            node.as_list().is_some(),
            node.as_map().is_some(),
        );
        let is_path = section.name == "export" && key.name == "field";
        let is_foreign = entry.key.text().is_some_and(|text| {
            let words = ForeignWords::BLUEPRINT;
            words.find(WordPlace::Key(section.name), text).is_some()
        });
        is_foreign && takes && !is_path && key.name != "each" && !self.is_null(node)
    }

    /// Reports an unknown key and returns the key that was probably meant.
    fn unknown_key(
        &mut self,
        section: &'static Section,
        text: &str,
        entry: &MapEntry,
    ) -> Option<&'static str> {
        let span = entry.key.span;
        let known: Vec<&'static str> = section.keys.iter().map(|key| key.name).collect();
        if let Some(row) = ForeignWords::BLUEPRINT.find(WordPlace::Key(section.name), text) {
            let unknown = UNKNOWN_KEY.new(format!("unknown key `{text}`")).label(
                span,
                format!("{} {} has no such key", article(section.name), section.name),
            );
            let edits = self.foreign_key_edits(section, row, entry);
            self.found.push(match edits {
                Some(edits) => unknown.fix(row.help, edits, false),
                None => unknown.help(row.help),
            });
            return known.into_iter().find(|key| *key == row.ours);
        }
        let unknown = UNKNOWN_KEY.new(format!("unknown key `{text}`")).label(
            span,
            format!("{} {} has no such key", article(section.name), section.name),
        );
        let meant = diag::nearest(text, known.iter().copied());
        let unknown = match meant {
            Some(nearest) => unknown.help(format!("did you mean `{nearest}`?")).fix(
                format!("write `{nearest}`"),
                vec![(span, nearest.to_owned())],
                false,
            ),
            None if text.contains('.') && known.contains(&"annotations") => unknown.help(format!(
                "write it under `annotations`: `annotations: {{{text}: ...}}`"
            )),
            None => unknown.help(format!("its keys are {}", listed(&known))),
        };
        self.found.push(unknown);
        known.into_iter().find(|key| Some(*key) == meant)
    }

    /// The edits that write a key of another tool as this dialect has it; `None` if its value has
    /// another form here.
    fn foreign_key_edits(
        &self,
        section: &Section,
        row: &ForeignWord,
        entry: &MapEntry,
    ) -> Option<Vec<(Span, String)>> {
        let (key, node) = (&entry.key, &entry.value);
        let renamed = (key.span, row.ours.to_owned());
        let wanted = section.key(row.ours)?;
        if row.ours == "field" {
            let path = sole_path(node.text()?)?;
            return Some(vec![renamed, (node.span, path.to_owned())]);
        }
        if row.ours == "each" {
            let list = match node.as_scalar() {
                Some(scalar) => match typed(node, scalar) {
                    Typed::Int(count) => format!("\"${{range(0, {count})}}\""),
                    Typed::Text if has_substitution(&scalar.text) => return None,
                    _ => return None,
                },
                None => list_expression(node)?,
            };
            return Some(vec![renamed, (node.span, list)]);
        }
        self.is_readable_as(section, wanted, entry)
            .then(|| vec![renamed])
    }

    /// Whether a node is a written null. A broken text is not null.
    pub(super) fn is_null(&self, node: &Node) -> bool {
        node.as_scalar()
            .is_some_and(|scalar| typed(node, scalar) == Typed::Null)
    }

    pub(super) fn null_ignored(&mut self, entry: &MapEntry) {
        let key = entry.key.text().unwrap_or("");
        // A following line that is not indented is not part of the value.
        let help = match entry
            .value
            .as_scalar()
            .is_some_and(|scalar| scalar.text.is_empty())
        {
            true => {
                "give it a value or remove it; indent the lines of its value further than the key"
            }
            false => "give it a value or remove it",
        };
        self.found.push(
            NULL_IGNORED
                .new(format!("`{key}` is null, which is treated as not set"))
                .label(entry.key.span, "has no value")
                .help(help),
        );
    }

    /// Whether a value has the form that its key accepts. Reports other forms.
    pub(super) fn check_form(&mut self, node: &Node, form: KeyForm, key: &str) -> bool {
        let ok = match &node.content {
            Content::Map(_) => form.takes(false, false, true),
            Content::List(_) => form.takes(false, true, false),
            Content::Scalar(_) => form.takes(true, false, false),
            Content::Missing => return false,
        };
        if !ok {
            self.wrong_shape(node, key, form.words());
        }
        ok
    }

    pub(super) fn wrong_shape(&mut self, node: &Node, key: &str, wanted: &str) {
        let found = match &node.content {
            Content::Map(_) => "a map",
            Content::List(_) => "a list",
            Content::Scalar(_) => "a single value",
            Content::Missing => return,
        };
        let wrong = WRONG_SHAPE
            .new(format!("`{key}` must be {wanted}, found {found}"))
            .label(value_span(node), found);
        self.found.push(match (wanted, key, list_expression(node)) {
            (_, "each", Some(list)) => {
                wrong.fix("write the list in `${..}`", vec![(node.span, list)], false)
            }
            ("a list", _, _) if node.as_scalar().is_some() => {
                let text = self.source_of(node).to_owned();
                wrong.fix("write a list", vec![(node.span, format!("[{text}]"))], false)
            }
            ("a map", _, _) => wrong.help(format!(
                "write keys with values, on lines that are indented further than `{key}`"
            )),
            ("a single value", "each", _) => wrong.help(
                "write one substitution that gives a list, as in `each: \"${list(\"a\", \"b\")}\"`; for the keys of a map, `each: \"${keys(values.NAME)}\"`",
            ),
            _ => wrong,
        });
    }

    /// The text of a node as it is written.
    fn source_of(&self, node: &Node) -> &str {
        let (start, end) = (node.span.start as usize, node.span.end as usize);
        self.source.get(start..end).unwrap_or("")
    }

    /// Reports a feature of a later version than the document's.
    pub(super) fn report_newer_feature(&mut self, span: Span, what: &str) {
        let later = super::version::LATER;
        if !self.version.has(later) {
            self.found.push(
                NEWER_THAN_VERSION
                    .new(format!("{what} came with version {later}"))
                    .label(span, "newer than the version of the document")
                    .help(format!("write `version: {later}`")),
            );
        }
    }

    /// The definitions in a section: each name with its map, or `None` for another value, which is
    /// reported.
    pub(super) fn definitions<'t>(
        &mut self,
        node: &'t Node,
        section: &'static Section,
    ) -> Vec<(&'t MapEntry, Option<&'t [MapEntry]>)> {
        let map = node.as_map().unwrap_or(&[]);
        let mut definitions = Vec::with_capacity(map.len());
        for entry in self.entries(map) {
            if self.is_null(&entry.value) {
                self.null_ignored(entry);
                continue;
            }
            let name = entry.key.text().unwrap_or("");
            let fields = entry.value.as_map();
            match entry.value.as_scalar() {
                Some(scalar) => {
                    let wrong = self.definition_without_keys(entry, scalar, section);
                    self.found.push(wrong);
                }
                None => {
                    self.check_form(&entry.value, KeyForm::Map, name);
                }
            }
            definitions.push((entry, fields));
        }
        definitions
    }

    /// The diagnostic for a definition that is a single value, with the form of the definition.
    fn definition_without_keys(
        &self,
        entry: &MapEntry,
        scalar: &Scalar,
        section: &Section,
    ) -> Diagnostic {
        let node = &entry.value;
        let name = entry.key.text().unwrap_or("");
        let wrong = WRONG_SHAPE
            .new(format!("`{name}` must be a map, found a single value"))
            .label(value_span(node), "a single value");
        let ty = match typed(node, scalar) {
            Typed::Int(_) => "integer",
            Typed::Float(_) => "float",
            Typed::Bool(_) => "boolean",
            _ => "string",
        };
        let text = match ty {
            "string" => json_text(&scalar.text),
            _ => self.source_of(node).to_owned(),
        };
        let whole = match section.name {
            "variable" if !has_substitution(&scalar.text) => {
                format!("{{type: {ty}, default: {text}}}")
            }
            "value" => format!("{{type: {ty}, value: {}}}", json_text(&scalar.text)),
            "include" => format!("{{path: {text}}}"),
            "export" => {
                let path = sole_path(&scalar.text).unwrap_or(&scalar.text);
                if !path.contains('.') {
                    return wrong.help(format!(
                        "write `{name}: {{type: string, field: resources.NAME.spec.FIELD}}`"
                    ));
                }
                format!("{{type: string, field: {path}}}")
            }
            "resource" => {
                return wrong.help(format!(
                    "write `{name}: {{type: PROVIDER/TYPE, spec: {{FIELD: VALUE}}}}`; `cyan types` lists the types"
                ));
            }
            "data source" => {
                return wrong.help(format!(
                    "write `{name}: {{type: PROVIDER/TYPE, metadata: {{displayName: {name}}}, filter: {{field: FIELD, operator: \"=\", search: VALUE}}, exports: {{FIELD: {{type: string}}}}}}`; `cyan types` lists the types"
                ));
            }
            "data source export" => format!("{{type: {text}}}"),
            _ => return wrong,
        };
        let is_block = node.alias().is_none();
        match is_block && !self.source.trim_start().starts_with('{') {
            true => wrong.fix(
                format!("write `{name}: {whole}`"),
                vec![(node.span, whole)],
                false,
            ),
            false => wrong.help(format!("write a map: {whole}")),
        }
    }

    /// The keys of a resource that are fields of its spec, which has no value or is not written:
    /// reports them as one mistake. `None` if there are none.
    fn fields_outside_spec<'t>(
        &mut self,
        section: &'static Section,
        map: &'t [MapEntry],
    ) -> Option<Vec<&'t str>> {
        if section.name != "resource" {
            return None;
        }
        let spec = map.iter().find(|entry| entry.key.text() == Some("spec"));
        if spec.is_some_and(|entry| !self.is_null(&entry.value)) {
            return None;
        }
        let is_unknown = |text: &str| {
            let words = ForeignWords::BLUEPRINT;
            section.key(text).is_none()
                && words.find(WordPlace::Key(section.name), text).is_none()
                && diag::nearest(text, section.keys.iter().map(|key| key.name)).is_none()
                && !text.contains('.')
        };
        let outside: Vec<&MapEntry> = self
            .entries(map)
            .filter(|entry| entry.key.text().is_some_and(is_unknown))
            .collect();
        let (first, last) = (outside.first()?, outside.last()?);
        let names: Vec<&str> = outside
            .iter()
            .filter_map(|entry| entry.key.text())
            .collect();
        let place = spec.map_or(first.key.span, |spec| spec.key.span);
        let mut missing = MISSING_FIELD
            .new("the fields of `spec` do not stand below it")
            .label(place, "no field belongs to `spec`");
        for entry in &outside {
            missing = missing.label(entry.key.span, "not a key of a resource");
        }
        let what = match spec {
            Some(_) => format!("indent {} below `spec`", listed(&names)),
            None => format!("write {} below `spec`", listed(&names)),
        };
        // Edits are possible if the fields stand together, on lines of their own.
        let position = |entry: &MapEntry| {
            map.iter()
                .position(|other| other.key.span.start == entry.key.span.start)
        };
        let together = position(last)
            .zip(position(first))
            .is_some_and(|(last, first)| last - first + 1 == outside.len());
        let after_spec = spec.is_none_or(|spec| position(spec).map(|at| at + 1) == position(first));
        let edits = (together && after_spec)
            .then(|| self.indented(first.key.span, last.value.span, spec.is_none()))
            .flatten();
        self.found.push(match edits {
            Some(edits) => missing.fix(what, edits, false),
            None => missing.help(what),
        });
        Some(names.into_iter().chain(["spec"]).collect())
    }

    /// The edits that indent the lines from one place to another, below a new line `spec:` if it is
    /// missing. `None` if something else stands before the first place in its line.
    fn indented(&self, from: Span, to: Span, needs_spec: bool) -> Option<Vec<(Span, String)>> {
        let start = from.start as usize;
        let line = self.source.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
        let margin = self.source.get(line..start)?;
        if !margin.bytes().all(|byte| byte == b' ') {
            return None;
        }
        let at = |offset: usize| Span::new(from.file, offset as u32, offset as u32);
        let head = match needs_spec {
            true => format!("{margin}spec:\n  "),
            false => "  ".to_owned(),
        };
        let mut edits = vec![(at(line), head)];
        let end = (to.end as usize).min(self.source.len());
        let lines = self.source.get(start..end)?;
        for (offset, _) in lines.match_indices('\n') {
            let next = start + offset + 1;
            let is_blank = self
                .source
                .get(next..)
                .is_none_or(|rest| rest.starts_with(['\n', '\r']) || rest.is_empty());
            if next < end && !is_blank {
                edits.push((at(next), "  ".to_owned()));
            }
        }
        Some(edits)
    }

    /// A text without substitutions; `None` for anything else, which is reported.
    pub(super) fn fixed_text<'t>(&mut self, node: &'t Node, key: &str) -> Option<&'t str> {
        let scalar = self.text_scalar(node, key)?;
        if self.has_substitution(node, scalar, key) {
            None
        } else {
            Some(&scalar.text)
        }
    }

    /// A text without substitutions that is not empty, as a name.
    pub(super) fn fixed_name(&mut self, node: &Node, key: &str) -> Option<Spanned<Name>> {
        let text = self.fixed_text(node, key)?;
        Some(Spanned::new(self.names.share(text), node.span))
    }

    /// Whether a text has a substitution in a place that allows none. Reports the substitution.
    pub(super) fn has_substitution(&mut self, node: &Node, scalar: &Scalar, key: &str) -> bool {
        let Some(at) = find_substitution(&scalar.text) else {
            return false;
        };
        let end = scalar.text[at..]
            .find('}')
            .map_or(at + 2, |length| at + length + 1);
        let span = node.text_map(self.source).span(at as u32, end as u32);
        let refused = SUBSTITUTION_NOT_ALLOWED
            .new(format!("`{key}` takes no substitution"))
            .label(span, "not filled in here");
        let path = sole_path(&scalar.text).map(|path| match key {
            "dependsOn" | "exclude" => {
                let name = path.strip_prefix("resources.").unwrap_or(path);
                name.split(['.', '[']).next().unwrap_or(name)
            }
            _ => path,
        });
        self.found.push(match (key, path) {
            ("field" | "dependsOn" | "exclude", Some(path)) => {
                let written = match scalar.style {
                    syntax::Style::Plain => path.to_owned(),
                    _ => json_text(path),
                };
                refused.fix(format!("write `{path}`"), vec![(node.span, written)], false)
            }
            ("field", None) => refused.help(
                "an export is one path: give the expression a name under `values`, and write `field: values.NAME`",
            ),
            _ => refused.help("write the text out"),
        });
        true
    }

    fn text_scalar<'t>(&mut self, node: &'t Node, key: &str) -> Option<&'t Scalar> {
        let Some(scalar) = node.as_scalar() else {
            self.wrong_shape(node, key, KeyForm::Text.words());
            return None;
        };
        match typed(node, scalar) {
            Typed::Text => Some(scalar),
            other => {
                self.report_not_text(node, scalar, other, key);
                None
            }
        }
    }

    fn report_not_text(&mut self, node: &Node, scalar: &Scalar, found: Typed, key: &str) {
        let span = value_span(node);
        let mut mismatch = TYPE_MISMATCH
            .new(format!("`{key}` must be a string, found {}", found.words()))
            .label(span, found.words());
        if found == Typed::Null {
            mismatch = mismatch.help("give it a value or remove it");
        } else {
            mismatch = mismatch.fix(
                "quote it",
                vec![(node.span, format!("\"{}\"", scalar.text))],
                false,
            );
        }
        self.found.push(mismatch);
    }

    /// An expression for a text with substitutions, such as a description, path or display name.
    pub(super) fn substituted_text(&mut self, node: &Node, key: &str) -> Expr {
        match self.text_scalar(node, key) {
            Some(scalar) => self.text_expr(node, scalar),
            None => Expr::error(node.span),
        }
    }

    /// An expression for a value of any structure.
    pub(super) fn content(&mut self, node: &Node) -> Expr {
        match &node.content {
            Content::Scalar(scalar) => self.scalar(node, scalar),
            Content::List(items) => Expr::new(
                ExprKind::List(items.iter().map(|item| self.content(item)).collect()),
                node.span,
            ),
            Content::Map(entries) => {
                let mut map = Vec::with_capacity(entries.len());
                for entry in self.entries(entries) {
                    if let Some(key) = entry.key.text() {
                        map.push((
                            Spanned::new(self.names.share(key), entry.key.span),
                            self.content(&entry.value),
                        ));
                    }
                }
                Expr::new(ExprKind::Map(map), node.span)
            }
            Content::Missing => Expr::error(node.span),
        }
    }

    /// An expression for a scalar (decisions/blueprint#plain-scalars).
    pub(super) fn scalar(&mut self, node: &Node, scalar: &Scalar) -> Expr {
        match typed(node, scalar) {
            Typed::Text => self.text_expr(node, scalar),
            other => match self.literal(node, scalar, other) {
                Some(value) => Expr::literal(value, node.span),
                None => Expr::error(node.span),
            },
        }
    }

    /// The value of a scalar that is not a text with substitutions. Reports a value that is out of
    /// range and returns `None`.
    pub(super) fn literal(&mut self, node: &Node, scalar: &Scalar, typed: Typed) -> Option<Value> {
        Some(match typed {
            Typed::Null => Value::Null,
            Typed::Bool(value) => Value::Bool(value),
            Typed::Int(value) => {
                if has_leading_zero(scalar) {
                    self.found.push(
                        LEADING_ZERO
                            .new(format!("`{}` is the integer {value}", scalar.text))
                            .label(value_span(node), "loses its leading zeros")
                            .help("quote it to keep the zeros")
                            .fix(
                                "quote it",
                                vec![(node.span, format!("\"{}\"", scalar.text))],
                                false,
                            ),
                    );
                }
                Value::Int(value)
            }
            Typed::Float(value) => Value::Float(value),
            Typed::Text => Value::text(&*scalar.text),
            Typed::OutOfRange => {
                self.found.push(
                    NUMBER_OUT_OF_RANGE
                        .new(format!("`{}` is out of range", scalar.text))
                        .label(value_span(node), "integers have 64 bits, floats are finite")
                        .help("quote it if it is text"),
                );
                return None;
            }
        })
    }

    /// The expression for a text scalar.
    pub(super) fn text_expr(&mut self, node: &Node, scalar: &Scalar) -> Expr {
        if !has_substitution(&scalar.text) {
            return Expr::literal(Value::text(&*scalar.text), node.span);
        }
        let map = node.text_map(self.source);
        let heads: &[&str] = if self.none_is_resource {
            &[super::version::NONE]
        } else {
            &[]
        };
        let (functions, names) = (self.functions, &mut self.names);
        let mut expr = expr::parse_text_scoped(
            &scalar.text,
            &map,
            node.span,
            functions,
            heads,
            names,
            &mut self.found,
        );
        self.apply_version(&mut expr);
        expr
    }

    /// Creates the diagnostic for a value of the wrong kind.
    pub(super) fn mismatch(
        &mut self,
        node: &Node,
        what: &str,
        wanted: &str,
        found: &str,
    ) -> Diagnostic {
        TYPE_MISMATCH
            .new(format!("{what} must be {wanted}, found {found}"))
            .label(value_span(node), found)
    }
}

/// The path in a text that is one substitution with a path and nothing else.
fn sole_path(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("${")?.strip_suffix('}')?.trim();
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']');
    (!inner.is_empty() && inner.chars().all(is_path)).then_some(inner)
}

/// A list of scalars as the text of an expression, in quotes.
fn list_expression(node: &Node) -> Option<String> {
    let items: Option<Vec<String>> = node
        .as_list()?
        .iter()
        .map(|item| {
            let scalar = item.as_scalar()?;
            match typed(item, scalar) {
                Typed::Text if !scalar.text.contains(['\'', '"', '\\', '$', '\n']) => {
                    Some(format!("'{}'", scalar.text))
                }
                Typed::Int(_) | Typed::Bool(_) => Some(scalar.text.to_string()),
                _ => None,
            }
        })
        .collect();
    Some(format!("\"${{list({})}}\"", items?.join(", ")))
}

/// A text in quotes that YAML and JSON read.
pub(super) fn json_text(text: &str) -> String {
    let is_simple = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(is_simple) {
        return text.to_owned();
    }
    format!(
        "\"{}\"",
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    )
}

/// The article of a noun: `a` or `an`.
pub(super) fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

/// A list of names in words: `` `a`, `b` and `c` ``.
pub(super) fn listed(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        let before = if at == 0 {
            ""
        } else if at + 1 == names.len() {
            " and "
        } else {
            ", "
        };
        text.push_str(&format!("{before}`{name}`"));
    }
    text
}
