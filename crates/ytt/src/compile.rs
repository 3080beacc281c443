//! Compiles templates to programs: each node becomes calls of instructions, each line of code is
//! taken over. The mistakes of a program are reported at the lines that its code came from.

use std::collections::HashMap;

use crate::ast::{
    ANNOTATE, COLLECT, END_CONTEXT, SET_DIALECT, SET_KEY, SET_NODE, START_CONTEXT, START_NODE,
    StarProgram,
};
use crate::contexts;
use crate::mistake::TemplateMistake;
use crate::parser::SyntaxFault;
use crate::pieces::{Piece, pieces};
use crate::resolve::resolve;
use crate::statements::parse;
use crate::yaml_tree::{SourceComment, SourceNode, YamlKind, YamlScalar};

/// The annotation that makes strings templates.
const TEXT_TEMPLATES: &str = "yaml/text-templated-strings";

/// A node that a program can make.
#[derive(Clone, Debug)]
pub(crate) struct TemplateNode {
    pub(crate) kind: YamlKind,
    pub(crate) key: YamlScalar,
    pub(crate) value: YamlScalar,
    /// The place of the node around; `None` for a root.
    pub(crate) parent: Option<usize>,
    pub(crate) line: Option<u32>,
}

/// A compiled template.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) program: StarProgram,
    pub(crate) nodes: Vec<TemplateNode>,
    /// For each line of the program, the line of the template; `None` for lines of the compiler.
    lines: Vec<Option<u32>>,
}

impl Compiled {
    /// The line of the template for a line of the program: that of the closest code.
    pub(crate) fn line(&self, line: u32) -> u32 {
        source_line(&self.lines, line)
    }
}

impl Compiled {
    /// A line of the program that a line of the template became.
    pub(crate) fn program_line(&self, line: u32) -> u32 {
        let place = self.lines.iter().position(|own| *own == Some(line));
        place.map_or(1, |at| at as u32 + 1)
    }
}

fn source_line(lines: &[Option<u32>], line: u32) -> u32 {
    let at = (line.max(1) as usize - 1).min(lines.len().saturating_sub(1));
    let before = lines.iter().take(at + 1).rev().flatten().next();
    let after = lines.iter().skip(at).flatten().next();
    *before.or(after).unwrap_or(&1)
}

/// Compiles a template of YAML.
///
/// # Errors
/// If the code of the template is invalid.
pub(crate) fn yaml_template(
    source: &SourceNode,
    is_universal: fn(&str) -> bool,
) -> Result<Compiled, TemplateMistake> {
    let plain;
    let source = match has_code(source) {
        true => source,
        false => {
            plain = without_templating(source);
            &plain
        }
    };
    let mut compiler = Compiler::default();
    compiler.push(format!("{SET_DIALECT}(\"yaml\")"), None);
    compiler.push(format!("{START_CONTEXT}(\"yaml\")"), None);
    compiler.node(source, None, Strings::Plain)?;
    compiler.push(format!("{END_CONTEXT}(None)"), None);
    compiler.finish(is_universal)
}

/// Compiles a template of text.
///
/// # Errors
/// If the code of the template is invalid.
pub(crate) fn text_template(
    text: &str,
    is_universal: fn(&str) -> bool,
) -> Result<Compiled, TemplateMistake> {
    let mut compiler = Compiler::default();
    compiler.pieces(text, 1)?;
    compiler.push(format!("{END_CONTEXT}()"), None);
    compiler.finish(is_universal)
}

/// Whether the strings of a part are text templates.
#[derive(Clone, Copy, PartialEq)]
enum Strings {
    Plain,
    Templates,
}

/// What the comments of a node say.
#[derive(Default)]
struct Metas {
    /// Lines of code before the node.
    code: Vec<(u32, String)>,
    /// Values of the node.
    values: Vec<(u32, String)>,
    /// Names and arguments of annotations.
    annotations: Vec<(u32, String, String)>,
    /// Whether the node is the block of its last line of code.
    needs_end: bool,
}

#[derive(Default)]
struct Compiler {
    code: Vec<String>,
    lines: Vec<Option<u32>>,
    nodes: Vec<TemplateNode>,
}

impl Compiler {
    /// Adds code, which may have several lines.
    fn push(&mut self, code: String, line: Option<u32>) {
        let continues = self.code.last().is_some_and(|last| last.ends_with('\\'));
        let code = match continues {
            true => code,
            false => code.trim_start().to_owned(),
        };
        let count = code.matches('\n').count();
        self.lines.extend(std::iter::repeat_n(line, count + 1));
        self.code.push(code);
    }

    fn add_node(&mut self, node: TemplateNode) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn finish(self, is_universal: fn(&str) -> bool) -> Result<Compiled, TemplateMistake> {
        let lines = self.lines;
        let at = |fault: SyntaxFault| {
            TemplateMistake::new(source_line(&lines, fault.line), fault.message)
        };
        let mut statements = parse(&self.code.join("\n")).map_err(&at)?;
        contexts::mark(&mut statements);
        let program = resolve(statements, is_universal).map_err(&at)?;
        Ok(Compiled {
            program,
            nodes: self.nodes,
            lines,
        })
    }

    fn node(
        &mut self,
        source: &SourceNode,
        parent: Option<usize>,
        mut strings: Strings,
    ) -> Result<(), TemplateMistake> {
        let metas = metas(source)?;
        let tag = self.add_node(TemplateNode {
            kind: source.kind,
            key: source.key.clone(),
            value: source.value.clone(),
            parent,
            line: source.line,
        });
        for (line, code) in metas.code {
            self.push(code, Some(line));
        }
        for (line, name, arguments) in metas.annotations {
            if name == TEXT_TEMPLATES {
                strings = Strings::Templates;
            }
            let code = format!("{ANNOTATE}({tag}, \"{name}\", {COLLECT}({arguments}))");
            self.push(code, Some(line));
        }
        if source.kind == YamlKind::MapItem
            && strings == Strings::Templates
            && let YamlScalar::Text(key) = &source.key
        {
            self.string(key, source.line, SET_KEY, tag)?;
        }
        self.push(format!("{START_NODE}({tag})"), source.line);
        for (line, value) in &metas.values {
            self.push(format!("{SET_NODE}({tag}, ({value}))"), Some(*line));
        }
        if metas.values.is_empty() {
            self.content(source, tag, strings)?;
        }
        if metas.needs_end {
            self.push("end".to_owned(), None);
        }
        Ok(())
    }

    /// The children or the scalar of a node.
    fn content(
        &mut self,
        source: &SourceNode,
        tag: usize,
        strings: Strings,
    ) -> Result<(), TemplateMistake> {
        let holds_value = matches!(
            source.kind,
            YamlKind::Document | YamlKind::MapItem | YamlKind::ArrayItem
        );
        if !holds_value || !source.children.is_empty() {
            return source
                .children
                .iter()
                .try_for_each(|child| self.node(child, Some(tag), strings));
        }
        match &source.value {
            YamlScalar::Text(text) if strings == Strings::Templates => {
                self.string(text, source.line, SET_NODE, tag)
            }
            _ => {
                self.push(format!("{SET_NODE}({tag})"), source.line);
                Ok(())
            }
        }
    }

    /// A string that is a text template, and the instruction that gets its result.
    fn string(
        &mut self,
        text: &str,
        line: Option<u32>,
        instruction: &str,
        tag: usize,
    ) -> Result<(), TemplateMistake> {
        self.pieces(text, line.unwrap_or(1))?;
        self.push(format!("{instruction}({tag}, ({END_CONTEXT}()))"), line);
        self.push(format!("{SET_DIALECT}(\"yaml\")"), None);
        Ok(())
    }

    /// The pieces of a text template, without the end of their context.
    fn pieces(&mut self, text: &str, line: u32) -> Result<(), TemplateMistake> {
        let found =
            pieces(text, line).map_err(|fault| TemplateMistake::new(fault.line, fault.message))?;
        let root = self.add_node(text_node(YamlKind::TextRoot, "", None, line));
        self.push(format!("{SET_DIALECT}(\"text\")"), None);
        self.push(format!("{START_CONTEXT}(\"text\")"), None);
        self.push(format!("{START_NODE}({root})"), None);
        for piece in found {
            match piece {
                Piece::Text { line, text } => {
                    let tag = self.add_node(text_node(YamlKind::Text, &text, Some(root), line));
                    self.push(format!("{START_NODE}({tag})"), Some(line));
                    self.push(format!("{SET_NODE}({tag})"), Some(line));
                }
                Piece::Value { line, code } => {
                    let tag = self.add_node(text_node(YamlKind::Text, "", Some(root), line));
                    self.push(format!("{START_NODE}({tag})"), Some(line));
                    self.push(format!("{SET_NODE}({tag}, ({code}))"), Some(line));
                }
                Piece::Code { line, code } => {
                    for (at, code) in code.split('\n').enumerate() {
                        self.push(code.to_owned(), Some(line + at as u32));
                    }
                }
            }
        }
        Ok(())
    }
}

fn text_node(kind: YamlKind, text: &str, parent: Option<usize>, line: u32) -> TemplateNode {
    TemplateNode {
        kind,
        key: YamlScalar::Null,
        value: YamlScalar::Text(text.into()),
        parent,
        line: Some(line),
    }
}

/// Whether a comment of a node, or of one inside, is code or an annotation.
fn has_code(source: &SourceNode) -> bool {
    let is_code = |comment: &SourceComment| {
        let text = comment.text.strip_prefix('@');
        text.is_some_and(|text| text != "comment" && !text.starts_with("comment "))
    };
    source.comments.iter().any(is_code) || source.children.iter().any(has_code)
}

/// A text without code: comments have no meaning, and of equal keys the last one counts.
fn without_templating(source: &SourceNode) -> SourceNode {
    let mut node = SourceNode {
        children: Vec::with_capacity(source.children.len()),
        comments: Vec::new(),
        ..source.clone_head()
    };
    let mut places: HashMap<String, usize> = HashMap::new();
    for child in &source.children {
        let child = without_templating(child);
        if child.kind != YamlKind::MapItem {
            node.children.push(child);
            continue;
        }
        let next = node.children.len();
        let place = *places.entry(format!("{:?}", child.key)).or_insert(next);
        match node.children.get_mut(place) {
            Some(earlier) => *earlier = child,
            None => node.children.push(child),
        }
    }
    node
}

/// Sorts the comments of a node.
fn metas(source: &SourceNode) -> Result<Metas, TemplateMistake> {
    let mut metas = Metas::default();
    for comment in &source.comments {
        let line = comment.line;
        if comment.text.starts_with('!') {
            continue;
        }
        let Some(text) = comment.text.strip_prefix('@') else {
            let message = format!(
                "Failed to parse line {line}: '#{}': Expected ytt-formatted string (use '#@' for \
                 annotations or code, '#!' for comments)",
                comment.text
            );
            return Err(TemplateMistake::new(line, message));
        };
        let (name, content) = text.split_once(' ').unwrap_or((text, ""));
        let name = match name {
            "" if source.line == Some(line) => "template/value",
            "" => "template/code",
            name => name,
        };
        match name {
            "comment" => {}
            "template/value" => {
                if !source.children.is_empty() || source.value != YamlScalar::Null {
                    let message = format!(
                        "Expected YAML node at line {line} to have either computed or YAML \
                         value, but found both"
                    );
                    return Err(TemplateMistake::new(line, message));
                }
                metas.values.push((line, content.to_owned()));
            }
            "template/code" => {
                if metas.needs_end {
                    let message = format!(
                        "Unexpected code at line {line} after use of '*/end', expected YAML node"
                    );
                    return Err(TemplateMistake::new(line, message));
                }
                let (code, needs_end) = block_code(content);
                metas.needs_end = needs_end;
                metas.code.push((line, code));
            }
            "data/values" | "data/values-schema" | "library/ref" => {
                let message = format!(
                    "`{name}` is not possible: a template is one text (hint: its data values are \
                     given from outside)"
                );
                return Err(TemplateMistake::new(line, message));
            }
            name => {
                let annotation = (line, name.to_owned(), content.to_owned());
                metas.annotations.push(annotation);
            }
        }
    }
    Ok(metas)
}

/// A line of code; `if/end` and the like become `if`, and the node is its block.
fn block_code(code: &str) -> (String, bool) {
    let start = code.len() - code.trim_start().len();
    for word in ["if", "else", "elif", "for", "def"] {
        let rest = code[start..].strip_prefix(word);
        if let Some(rest) = rest.and_then(|rest| rest.strip_prefix("/end")) {
            return (format!("{}{word}{rest}", &code[..start]), true);
        }
    }
    (code.to_owned(), false)
}
