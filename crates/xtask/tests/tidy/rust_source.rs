//! Reads the Rust files of the workspace into plain facts: imports, paths, functions, types and
//! comments.
//!
//! Each file is parsed once per run of the tests. Items under `#[cfg(test)]` add nothing to the
//! imports.
//!
//! Not here: the rules. The checks apply them to these facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, UseTree};

/// The facts of one file.
#[derive(Default)]
pub(crate) struct SourceFile {
    /// The path from the root of the repository.
    pub(crate) path: String,
    /// The module of the file itself, then its inline modules.
    pub(crate) modules: Vec<Module>,
    pub(crate) functions: Vec<Function>,
    pub(crate) types: Vec<TypeSize>,
    /// The structs, unions, enums, traits and type aliases outside of tests, also those in bodies
    /// of functions, each with its line. Associated types are not among them.
    pub(crate) type_names: Vec<(String, usize)>,
    /// The methods of inherent `impl` blocks outside of tests, each as type and name.
    pub(crate) methods: BTreeSet<(String, String)>,
    /// The calls of `self.name()` and `Self::name()` in inherent `impl` blocks outside of tests,
    /// each as type and name, with the first line.
    pub(crate) self_calls: BTreeMap<(String, String), usize>,
    pub(crate) comments: Vec<Comment>,
}

/// A module: a whole file, or the body of an inline `mod name { .. }`.
#[derive(Default)]
pub(crate) struct Module {
    /// The path of inline modules down to this module. Empty for the module of the file.
    pub(crate) inline: Vec<String>,
    /// The names of the module's items, each with its line.
    pub(crate) defined: BTreeMap<String, usize>,
    pub(crate) imports: Vec<Import>,
    /// Paths of two or more segments in code, each with its line.
    pub(crate) paths: Vec<(Vec<String>, usize)>,
}

/// One name of a `use` declaration.
pub(crate) struct Import {
    /// The imported name; `None` for a glob.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Whether the declaration has a visibility (`pub use`), so that other modules reach the name
    /// through this module.
    pub(crate) exported: bool,
}

/// A function with a body.
pub(crate) struct Function {
    /// The name, with its type if it has one: `Type::name`.
    pub(crate) name: String,
    pub(crate) line: usize,
    /// The number of lines from the signature to the closing brace.
    pub(crate) lines: usize,
    /// The number of parameters; `self` counts.
    pub(crate) parameters: usize,
    /// Whether the function is a test or lies in a module of tests.
    pub(crate) test: bool,
}

/// A struct, a union, or one variant of an enum.
pub(crate) struct TypeSize {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) fields: usize,
    /// The derived traits, by their last segment.
    pub(crate) derives: BTreeSet<String>,
}

/// A line that holds a comment, or a part of one.
pub(crate) struct Comment {
    pub(crate) line: usize,
    /// The columns of the whole line, code included.
    pub(crate) columns: usize,
    /// The text from the comment's marker on.
    pub(crate) text: String,
}

/// Returns every Rust file of the workspace.
pub(crate) fn all() -> &'static [SourceFile] {
    static FILES: OnceLock<Vec<SourceFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let paths = crate::files_under("crates", ".rs")
            .into_iter()
            .filter(|path| !path.contains("/tests/data/"));
        paths
            .map(|path| parse(&path, &crate::read(&path)))
            .collect()
    })
}

/// Reads the facts of a source text.
///
/// # Panics
/// If the text is not valid Rust.
pub(crate) fn parse(path: &str, text: &str) -> SourceFile {
    let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let tokens: TokenStream = text
        .parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let file = SourceFile {
        path: path.to_owned(),
        modules: vec![Module::default()],
        comments: comments(text, &tokens),
        ..SourceFile::default()
    };
    let mut reader = Reader {
        file,
        module: 0,
        owners: Vec::new(),
        in_tests: false,
        depth: 0,
        inherent: None,
    };
    reader.visit_file(&tree);
    reader.file
}

struct Reader {
    file: SourceFile,
    /// The module of the current item.
    module: usize,
    /// The types and traits that enclose the current item.
    owners: Vec<String>,
    in_tests: bool,
    /// The number of function bodies that enclose the current item. Items in them define no name of
    /// the module.
    depth: usize,
    /// The type of the inherent `impl` block that encloses the current item.
    inherent: Option<String>,
}

impl Reader {
    /// Adds a call of a method of the enclosing type.
    fn self_call(&mut self, method: &syn::Ident) {
        if let Some(owner) = self.inherent.clone().filter(|_| !self.in_tests) {
            self.file
                .self_calls
                .entry((owner, method.to_string()))
                .or_insert_with(|| line(method.span()));
        }
    }

    /// Adds the calls of `self.name()` in the arguments of a macro.
    fn self_calls_in(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for window in tokens.windows(4) {
            if let [
                TokenTree::Ident(receiver),
                TokenTree::Punct(dot),
                TokenTree::Ident(method),
                TokenTree::Group(_),
            ] = window
                && receiver == "self"
                && dot.as_char() == '.'
            {
                self.self_call(method);
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.self_calls_in(group.stream());
            }
        }
    }

    fn module(&mut self) -> &mut Module {
        &mut self.file.modules[self.module]
    }

    fn define(&mut self, name: &syn::Ident) {
        if self.depth == 0 {
            let line = line(name.span());
            self.module().defined.insert(name.to_string(), line);
        }
    }

    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &syn::Signature,
        block: Option<&syn::Block>,
    ) {
        let Some(block) = block else { return };
        let line = line(signature.fn_token.span);
        let mut name = self.owners.join("::");
        if !name.is_empty() {
            name.push_str("::");
        }
        name.push_str(&signature.ident.to_string());
        self.file.functions.push(Function {
            name,
            line,
            lines: block.brace_token.span.close().end().line + 1 - line,
            parameters: signature.inputs.len(),
            test: self.in_tests
                || attributes
                    .iter()
                    .any(|one| last_segment(one.path()) == "test"),
        });
    }

    fn fields(&mut self, name: String, span: Span, fields: usize, attributes: &[Attribute]) {
        let derives = derives(attributes);
        self.file.types.push(TypeSize {
            name,
            line: line(span),
            fields,
            derives,
        });
    }

    fn path(&mut self, segments: Vec<String>, span: Span) {
        if segments.len() > 1 && !self.in_tests {
            let line = line(span);
            self.module().paths.push((segments, line));
        }
    }

    /// Adds the paths in the arguments of a macro: identifiers joined by `::`.
    fn paths_in(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut at = Span::call_site();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if colons == 2 && !path.is_empty() => {
                    path.push(name.to_string())
                }
                TokenTree::Ident(name) => {
                    self.path(std::mem::take(&mut path), at);
                    at = name.span();
                    path = vec![name.to_string()];
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.path(std::mem::take(&mut path), at);
                    self.paths_in(group.stream());
                }
                _ => self.path(std::mem::take(&mut path), at),
            }
            colons = 0;
        }
        self.path(path, at);
    }

    fn within(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        self.owners.push(owner);
        visit(self);
        self.owners.pop();
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Const(item) => self.define(&item.ident),
            syn::Item::Enum(item) => self.define(&item.ident),
            syn::Item::Fn(item) => self.define(&item.sig.ident),
            syn::Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.define(name);
                }
            }
            syn::Item::Static(item) => self.define(&item.ident),
            syn::Item::Struct(item) => self.define(&item.ident),
            syn::Item::Trait(item) => self.define(&item.ident),
            syn::Item::TraitAlias(item) => self.define(&item.ident),
            syn::Item::Type(item) => self.define(&item.ident),
            syn::Item::Union(item) => self.define(&item.ident),
            _ => {}
        }
        let before = self.in_tests;
        self.in_tests |= attributes_of(item).iter().any(is_for_tests);
        if let Some(name) = type_name(item).filter(|_| !self.in_tests) {
            self.file
                .type_names
                .push((name.to_string(), line(name.span())));
        }
        visit::visit_item(self, item);
        self.in_tests = before;
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let mut inline = self.module().inline.clone();
        inline.push(item.ident.to_string());
        self.file.modules.push(Module {
            inline,
            ..Module::default()
        });
        let before = std::mem::replace(&mut self.module, self.file.modules.len() - 1);
        for item in items {
            self.visit_item(item);
        }
        self.module = before;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_some() || self.in_tests {
            return;
        }
        let exported = !matches!(item.vis, syn::Visibility::Inherited);
        let line = line(item.use_token.span);
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        let imports = found.into_iter().map(|(name, path)| Import {
            name,
            path,
            line,
            exported,
        });
        self.module().imports.extend(imports);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if matches!(&*call.receiver, syn::Expr::Path(receiver) if receiver.path.is_ident("self")) {
            self.self_call(&call.method);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if let Some(owner) = self.inherent.clone().filter(|_| !self.in_tests) {
            self.file
                .methods
                .insert((owner, item.sig.ident.to_string()));
        }
        self.function(&item.attrs, &item.sig, Some(&item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.attrs, &item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.depth += 1;
        visit::visit_block(self, block);
        self.depth -= 1;
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let owner = match &*item.self_ty {
            syn::Type::Path(path) => last_segment(&path.path),
            _ => "impl".to_owned(),
        };
        let inherent = item.trait_.is_none().then(|| owner.clone());
        let before = std::mem::replace(&mut self.inherent, inherent);
        self.within(owner, |reader| visit::visit_item_impl(reader, item));
        self.inherent = before;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(item.ident.to_string(), |reader| {
            visit::visit_item_trait(reader, item)
        });
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.fields(
            item.ident.to_string(),
            item.ident.span(),
            item.fields.len(),
            &item.attrs,
        );
        visit::visit_item_struct(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.fields(
            item.ident.to_string(),
            item.ident.span(),
            item.fields.named.len(),
            &item.attrs,
        );
        visit::visit_item_union(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        for variant in &item.variants {
            let name = format!("{}::{}", item.ident, variant.ident);
            self.fields(
                name,
                variant.ident.span(),
                variant.fields.len(),
                &item.attrs,
            );
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            self.path(
                path.segments
                    .iter()
                    .map(|one| one.ident.to_string())
                    .collect(),
                first.ident.span(),
            );
            if let (2, Some(last)) = (path.segments.len(), path.segments.last())
                && (first.ident == "Self"
                    || self
                        .inherent
                        .as_ref()
                        .is_some_and(|owner| first.ident == owner))
            {
                self.self_call(&last.ident);
            }
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.paths_in(call.tokens.clone());
        self.self_calls_in(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    // A path in a visibility or an attribute imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// Returns the name of a struct, union, enum, trait or type alias.
fn type_name(item: &syn::Item) -> Option<&syn::Ident> {
    match item {
        syn::Item::Enum(item) => Some(&item.ident),
        syn::Item::Struct(item) => Some(&item.ident),
        syn::Item::Trait(item) => Some(&item.ident),
        syn::Item::Type(item) => Some(&item.ident),
        syn::Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

fn attributes_of(item: &syn::Item) -> &[Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute is `#[cfg(test)]` or `#[cfg(any(test, ..))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let Ok(list) = attribute.meta.require_list() else {
        return false;
    };
    let condition = list.tokens.to_string();
    last_segment(attribute.path()) == "cfg"
        && (condition == "test" || condition.starts_with("any") && condition.contains("test"))
}

fn derives(attributes: &[Attribute]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for attribute in attributes
        .iter()
        .filter(|one| last_segment(one.path()) == "derive")
    {
        let _ = attribute.parse_nested_meta(|meta| {
            found.insert(last_segment(&meta.path));
            Ok(())
        });
    }
    found
}

fn last_segment(path: &syn::Path) -> String {
    path.segments
        .last()
        .map_or_else(String::new, |one| one.ident.to_string())
}

fn line(span: Span) -> usize {
    span.start().line
}

/// Adds each name of a `use` tree, with its path.
fn flatten(
    tree: &UseTree,
    prefix: &mut Vec<String>,
    found: &mut Vec<(Option<String>, Vec<String>)>,
) {
    let mut add = |name: Option<String>, last: Option<String>| {
        let mut path = prefix.clone();
        path.extend(last);
        found.push((name, path));
    };
    match tree {
        UseTree::Path(part) => {
            prefix.push(part.ident.to_string());
            flatten(&part.tree, prefix, found);
            prefix.pop();
        }
        UseTree::Name(name) if name.ident == "self" => add(prefix.last().cloned(), None),
        UseTree::Name(name) => add(Some(name.ident.to_string()), Some(name.ident.to_string())),
        UseTree::Rename(name) if name.ident == "self" => add(Some(name.rename.to_string()), None),
        UseTree::Rename(name) => add(Some(name.rename.to_string()), Some(name.ident.to_string())),
        UseTree::Glob(_) => add(None, None),
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, found);
            }
        }
    }
}

/// Returns the comments of a text, by line. Comment markers in literals begin no comment.
fn comments(text: &str, tokens: &TokenStream) -> Vec<Comment> {
    let mut literals = Vec::new();
    collect_literals(tokens.clone(), text, &mut literals);
    literals.sort_unstable();
    let mut found = Vec::new();
    let mut literals = literals.into_iter().peekable();
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let mut at = 0;
    while let Some(next) = text[at..]
        .find("//")
        .into_iter()
        .chain(text[at..].find("/*"))
        .min()
    {
        let start = at + next;
        while literals.next_if(|(_, end)| *end <= start).is_some() {}
        if let Some((_, end)) = literals.peek().filter(|(begin, _)| *begin <= start) {
            at = *end;
            continue;
        }
        let end = end_of_comment(text, start);
        let first = starts.partition_point(|line| *line <= start);
        for (line, part) in (first..).zip(text[start..end].lines()) {
            let columns = lines.get(line - 1).map_or(0, |whole| whole.chars().count());
            found.push(Comment {
                line,
                columns,
                text: part.to_owned(),
            });
        }
        at = end;
    }
    found
}

/// Returns the end of the comment at `start`: the end of its line, or the position after the marker
/// that closes a block.
fn end_of_comment(text: &str, start: usize) -> usize {
    if text[start..].starts_with("//") {
        return text[start..]
            .find('\n')
            .map_or(text.len(), |length| start + length);
    }
    let (mut depth, mut at) = (1, start + 2);
    while depth > 0 {
        let (open, close) = (text[at..].find("/*"), text[at..].find("*/"));
        match (open, close) {
            (Some(open), Some(close)) if open < close => (depth, at) = (depth + 1, at + open + 2),
            (_, Some(close)) => (depth, at) = (depth - 1, at + close + 2),
            (_, None) => return text.len(),
        }
    }
    at
}

/// Adds the positions of texts, characters and numbers. The parser returns a doc comment as a
/// literal; it is left out.
fn collect_literals(tokens: TokenStream, text: &str, found: &mut Vec<(usize, usize)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect_literals(group.stream(), text, found),
            TokenTree::Literal(literal) => {
                let range = literal.span().byte_range();
                if !text[range.clone()].starts_with('/') {
                    found.push((range.start, range.end));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_source_file_becomes_facts() {
    let text = "use super::{self, a::{B, C as D}, e::*};\npub(crate) use f::G;\nstruct S { x: u8 }\n\
                impl S {\n    fn new(self, y: u8) -> u8 {\n        let _ = \"// no comment\"; // a comment\n        \
                format!(\"{}\", g::h())\n    }\n}\n#[cfg(test)]\nmod tests { use crate::z; fn t() {} }\n";
    let file = parse("a.rs", text);
    let imports: Vec<String> = file.modules[0]
        .imports
        .iter()
        .map(|one| {
            format!(
                "{} = {}",
                one.name.as_deref().unwrap_or("*"),
                one.path.join("::")
            )
        })
        .collect();
    assert_eq!(
        imports,
        [
            "super = super",
            "B = super::a::B",
            "D = super::a::C",
            "* = super::e",
            "G = f::G"
        ]
    );
    assert!(file.modules[0].imports[4].exported);
    assert_eq!(
        file.modules[0].paths,
        [(vec!["g".to_owned(), "h".to_owned()], 7)]
    );
    assert!(
        file.modules[1].imports.is_empty(),
        "imports of tests are left out"
    );
    let functions: Vec<_> = file
        .functions
        .iter()
        .map(|one| (&*one.name, one.lines, one.parameters, one.test))
        .collect();
    assert_eq!(functions, [("S::new", 4, 2, false), ("t", 1, 0, true)]);
    assert_eq!(file.types[0].fields, 1);
    let comments: Vec<_> = file
        .comments
        .iter()
        .map(|one| (one.line, &*one.text))
        .collect();
    assert_eq!(comments, [(6, "// a comment")]);
}
