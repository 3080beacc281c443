//! Parses the text of a scalar into an expression. It never fails
//! (decisions/blueprint#expressions).
//!
//! A syntax error gives one diagnostic and affects only its own `${..}`: parsing resumes after the
//! `}`. Not here: declared names, argument counts, types (`understand::check`).

use std::ops::ControlFlow;

use blueprint::{
    Accessor, AccessorKind, Argument, CallExpr, Expr, ExprKind, Name, Names, Ref, ReferenceHead,
    TextPart, Value,
};
use diag::{Diagnostic, Diagnostics, Span, Spanned, TextMap, find_substitution};

use crate::lexer::{self, Token, TokenKind};
use crate::{FunctionTable, codes};

/// The maximum nesting depth of calls (decisions/blueprint#limits-of-evaluation).
const DEPTH: usize = 256;

/// The maximum length in bytes of a text between substitutions that is interned, if it has no
/// digit: separators and the like.
const MAX_INTERNED_BYTES: usize = 32;

/// Parses a scalar's decoded text (decisions/blueprint#expressions).
///
/// Text without `${` is a literal string. Text that is exactly one substitution, apart from line
/// breaks around it, is an [`ExprKind::Substitution`](blueprint::ExprKind::Substitution)
/// (decisions/blueprint#single-substitutions). Anything else is interpolated text. `span` is the
/// whole scalar; `map` locates the decoded text. Errors go to `found`, each once.
pub fn parse_text(
    text: &str,
    map: &TextMap,
    span: Span,
    functions: &FunctionTable,
    found: &mut Diagnostics,
) -> Expr {
    parse_text_scoped(
        text,
        map,
        span,
        functions,
        &[],
        &mut Names::default(),
        found,
    )
}

/// Like [`parse_text`], but the names in `scoped` are separate heads ([`ReferenceHead::Scoped`]),
/// as in link kinds (decisions/links#kinds-are-data), and names are interned together with others
/// of the document.
pub fn parse_text_scoped(
    text: &str,
    map: &TextMap,
    span: Span,
    functions: &FunctionTable,
    scoped: &[&str],
    names: &mut Names,
    found: &mut Diagnostics,
) -> Expr {
    let Some(first) = find_substitution(text) else {
        return Expr::literal(Value::text(text), span);
    };
    let mut parser = Parser {
        text,
        map,
        functions: Some(functions),
        scoped,
        names,
        found,
        at: 0,
        depth: 0,
    };
    // An upper bound: text may come between substitutions and around them.
    let most = 2 * text.bytes().filter(|byte| *byte == b'$').count() + 1;
    let mut parts =
        Vec::with_capacity(most - usize::from(first == 0) - usize::from(text.ends_with('}')));
    let (mut from, mut next) = (0, Some(first));
    while let Some(open) = next {
        if open > from {
            parts.push(TextPart::Text(parser.literal_between(from, open)));
        }
        let (expr, end) = parser.substitution(open);
        parts.push(TextPart::Expr(expr, map.span(open as u32, end as u32)));
        from = end;
        next = text
            .get(from..)
            .and_then(find_substitution)
            .map(|offset| from + offset);
    }
    if from < text.len() {
        parts.push(TextPart::Text(parser.literal_between(from, text.len())));
    }
    let breaks = |part: &TextPart| matches!(part, TextPart::Text(text) if text.chars().all(|c| matches!(c, '\n' | '\r')));
    let sole = parts.iter().filter(|part| !breaks(part)).count() == 1;
    if sole
        && let Some(at) = parts
            .iter()
            .position(|part| matches!(part, TextPart::Expr(..)))
        && let TextPart::Expr(inner, whole) = parts.swap_remove(at)
    {
        return Expr::new(ExprKind::Substitution(Box::new(inner)), whole);
    }
    parts.shrink_to_fit();
    Expr::new(ExprKind::Text(parts), span)
}

/// Parses a bare reference path, as in an export's `field`
/// (decisions/blueprint#places-of-substitutions, decisions/documents#exports): no `${`, no call.
///
/// Returns an [`ExprKind::Ref`](blueprint::ExprKind::Ref), or an error expression whose error has
/// been reported.
pub fn parse_reference(text: &str, map: &TextMap, span: Span, found: &mut Diagnostics) -> Expr {
    let names = &mut Names::default();
    let mut parser = Parser {
        text,
        map,
        functions: None,
        scoped: &[],
        names,
        found,
        at: 0,
        depth: 0,
    };
    let result = parser.path_only();
    match result {
        Ok(reference) => Expr::new(ExprKind::Ref(Box::new(reference)), span),
        Err(SyntaxMistake { diagnostic, .. }) => {
            found.push(*diagnostic);
            Expr::error(span)
        }
    }
}

/// A syntax error. It ends its substitution.
struct SyntaxMistake {
    diagnostic: Box<Diagnostic>,
    /// The offset at which the search for the closing `}` begins.
    resume: usize,
    /// Whether the error extends to the end of the scalar.
    reaches_end: bool,
}

struct Parser<'t, 'f> {
    text: &'t str,
    map: &'t TextMap,
    /// The functions; `None` if calls are not allowed.
    functions: Option<&'f FunctionTable>,
    scoped: &'t [&'t str],
    names: &'t mut Names,
    found: &'t mut Diagnostics,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, SyntaxMistake>;

impl Parser<'_, '_> {
    fn peek(&self) -> Token {
        lexer::token(self.text, self.at)
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at = token.end;
        token
    }

    fn span(&self, start: usize, end: usize) -> Span {
        self.map.span(start as u32, end as u32)
    }

    fn span_of(&self, token: Token) -> Span {
        self.span(token.start, token.end)
    }

    /// Parses the substitution that opens at `open`. Returns it and the offset after it.
    fn substitution(&mut self, open: usize) -> (Expr, usize) {
        self.at = open + 2;
        self.depth = 0;
        let first = self.next();
        if first.kind == TokenKind::Close {
            let span = self.span(open, first.end);
            self.found.push(
                codes::SUBSTITUTION_EMPTY
                    .new("`${}` is empty")
                    .label(span, "an expression is needed here")
                    .help("write an expression between `${` and `}`, or `${\"${\"}` for the characters themselves"),
            );
            return (Expr::error(span), first.end);
        }
        let result = self.whole_expression(first);
        let mistake = match result {
            Ok(expr) => return (expr, self.at),
            Err(mistake) => mistake,
        };
        let end = if mistake.reaches_end {
            Some(self.text.len())
        } else {
            self.recover(mistake.resume).break_value()
        };
        match end {
            Some(end) => {
                self.found.push(*mistake.diagnostic);
                (Expr::error(self.span(open, end)), end)
            }
            None => {
                let end = self.text.len();
                let span = self.span(open, end);
                self.found.push(
                    codes::SUBSTITUTION_UNTERMINATED
                        .new("`${` has no `}`")
                        .label(span, "the substitution opens here and never ends")
                        .help("add the missing `}`, or write `${\"${\"}` for the characters themselves"),
                );
                (Expr::error(span), end)
            }
        }
    }

    /// Recovers from a syntax error: the offset after the `}` of this substitution, or that of the
    /// next `${`. `Continue` if there is neither.
    fn recover(&self, from: usize) -> ControlFlow<usize> {
        let mut at = from;
        loop {
            let token = lexer::token(self.text, at);
            match token.kind {
                TokenKind::End => return ControlFlow::Continue(()),
                TokenKind::Close => return ControlFlow::Break(token.end),
                TokenKind::Dollar if token.start > from => return ControlFlow::Break(token.start),
                // An unpaired quote inside a faulty substitution does not start a string: continue
                // after it.
                TokenKind::OpenText => at = token.start + 1,
                _ => at = token.end,
            }
        }
    }

    /// Parses an expression that begins with this token, and its `}`.
    fn whole_expression(&mut self, first: Token) -> Parsed<Expr> {
        let expr = self.expression(first)?;
        let token = self.peek();
        if token.kind != TokenKind::Close {
            return Err(self.unexpected(token, END_OF_EXPRESSION));
        }
        self.at = token.end;
        Ok(expr)
    }

    fn expression(&mut self, token: Token) -> Parsed<Expr> {
        match token.kind {
            TokenKind::Int(value) => Ok(Expr::literal(Value::Int(value), self.span_of(token))),
            TokenKind::Float(value) => Ok(Expr::literal(Value::Float(value), self.span_of(token))),
            TokenKind::Text => Ok(self.text_literal(token)),
            TokenKind::TooLarge => {
                self.report_too_large(token);
                Ok(Expr::error(self.span_of(token)))
            }
            TokenKind::Name => self.named(token),
            _ => Err(self.unexpected(token, "an expression")),
        }
    }

    fn text_literal(&mut self, token: Token) -> Expr {
        let text = lexer::unquote(token.of(self.text));
        let span = self.span_of(token);
        if text != "${" && find_substitution(&text).is_some() {
            self.found.push(
                codes::SUBSTITUTION_IN_LITERAL
                    .new("`${` in a string literal is text")
                    .label(span, "nothing is substituted here")
                    .help(
                        "join texts and substitutions outside of `${..}`, as in `a-${variables.b}`",
                    ),
            );
        }
        Expr::literal(Value::text(text), span)
    }

    fn report_too_large(&mut self, token: Token) {
        let what = token.of(self.text);
        self.found.push(
            codes::INVALID_LITERAL
                .new("the number is too large")
                .label(self.span_of(token), "numbers have 64 bits")
                .help(format!(
                    "write a smaller number, or the text \"{}\"",
                    shortened(what)
                )),
        );
    }

    /// Parses an expression that begins with a name: a keyword, a call or a reference.
    fn named(&mut self, token: Token) -> Parsed<Expr> {
        let name = token.of(self.text);
        let literal = match name {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "none" if !self.scoped.contains(&"none") => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = literal {
            return Ok(Expr::literal(value, self.span_of(token)));
        }
        if !self.is_head(name) && self.peek().kind == TokenKind::OpenRound {
            return self.call(token);
        }
        let reference = self.reference(token)?;
        Ok(Expr::new(
            ExprKind::Ref(Box::new(reference)),
            self.span(token.start, self.at),
        ))
    }

    /// The text between two substitutions, interned if it is likely to occur often.
    fn literal_between(&mut self, from: usize, to: usize) -> Name {
        let text = &self.text[from..to];
        // Text with digits is usually unique.
        let often =
            text.len() <= MAX_INTERNED_BYTES && !text.bytes().any(|byte| byte.is_ascii_digit());
        if often {
            self.names.share(text)
        } else {
            text.into()
        }
    }

    fn is_head(&self, name: &str) -> bool {
        matches!(
            name,
            "variables" | "values" | "resources" | "datasources" | "children" | "elem" | "i"
        ) || self.scoped.contains(&name)
    }

    /// Parses a reference whose first name has been read.
    fn reference(&mut self, token: Token) -> Parsed<Ref> {
        let name = token.of(self.text);
        let head = match name {
            "elem" => ReferenceHead::Item,
            "i" => ReferenceHead::Position,
            "variables" => ReferenceHead::Input(self.head_name("variables")?),
            "values" => ReferenceHead::Local(self.head_name("values")?),
            "resources" => ReferenceHead::Resource {
                name: self.head_name("resources")?,
                bare: false,
            },
            "datasources" => ReferenceHead::DataSource(self.head_name("datasources")?),
            "children" => ReferenceHead::Child(self.head_name("children")?),
            scoped if self.scoped.contains(&scoped) => {
                ReferenceHead::Scoped(self.names.share(name))
            }
            _ => ReferenceHead::Resource {
                name: self.names.share(name),
                bare: true,
            },
        };
        let head_span = self.span(token.start, self.at);
        Ok(Ref {
            head,
            head_span,
            path: self.accessors()?,
        })
    }

    /// Parses the name after a head that needs one: `.name` or `["name"]`
    /// (decisions/blueprint#heads-and-accessors).
    fn head_name(&mut self, head: &str) -> Parsed<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Dot => {
                self.at = token.end;
                self.name_after_dot()
            }
            TokenKind::OpenSquare => {
                self.at = token.end;
                match self.quoted(token)? {
                    Some(name) => Ok(name),
                    None => {
                        let inside = self.peek();
                        Err(self.in_brackets(token, inside, "a name in quotes"))
                    }
                }
            }
            _ => Err(self.unexpected(token, &format!("`.` and a name after `{head}`"))),
        }
    }

    fn name_after_dot(&mut self) -> Parsed<Name> {
        let token = self.next();
        if token.kind == TokenKind::Name {
            return Ok(self.names.share(token.of(self.text)));
        }
        let mut mistake = self.unexpected(token, "a name after `.`");
        if token.of(self.text) == "*" {
            mistake.diagnostic.help.push(ALL_MEMBERS.into());
        }
        Err(mistake)
    }

    /// Parses a quoted name and its `]` after `[`, if a quote follows.
    fn quoted(&mut self, open: Token) -> Parsed<Option<Name>> {
        let Some(token) = lexer::quoted_name(self.text, self.at) else {
            return Ok(None);
        };
        self.at = token.end;
        if token.kind == TokenKind::OpenText {
            return Err(self.unexpected(token, "a name in quotes"));
        }
        let text = token.of(self.text);
        let name = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        if name.is_empty() || name.contains(['\n', '\r']) {
            let expected = if name.is_empty() {
                "a name between the quotes"
            } else {
                "a name without line breaks"
            };
            return Err(self.unexpected(token, expected));
        }
        let close = self.peek();
        if close.kind != TokenKind::CloseSquare {
            return Err(self.in_brackets(open, close, "`]`"));
        }
        self.at = close.end;
        if !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        {
            let span = self.span(open.start, self.at);
            self.found.push(
                codes::ACCESSOR_CHARSET
                    .new(format!(
                        "`{name}` has characters that other tools may refuse in an accessor"
                    ))
                    .label(span, "portable are letters, digits, `_`, `-` and `.`"),
            );
        }
        Ok(Some(self.names.share(name)))
    }

    fn accessors(&mut self) -> Parsed<Vec<Accessor>> {
        let mut path = Vec::new();
        loop {
            let token = self.peek();
            let kind = match token.kind {
                TokenKind::Dot => {
                    self.at = token.end;
                    AccessorKind::Name(self.name_after_dot()?)
                }
                TokenKind::OpenSquare => {
                    self.at = token.end;
                    self.bracket(token)?
                }
                // A document has many paths, and they do not grow later.
                _ => {
                    path.shrink_to_fit();
                    return Ok(path);
                }
            };
            if path.is_empty() {
                // Most paths have two accessors.
                path.reserve_exact(2);
            }
            path.push(Accessor {
                kind,
                span: self.span(token.start, self.at),
            });
        }
    }

    /// Parses the content after `[` in a path: a quoted name, a position, or nothing, which means
    /// position 0 (decisions/blueprint#empty-brackets).
    fn bracket(&mut self, open: Token) -> Parsed<AccessorKind> {
        if let Some(name) = self.quoted(open)? {
            return Ok(AccessorKind::Name(name));
        }
        let token = self.peek();
        let index = match token.kind {
            TokenKind::CloseSquare => {
                self.at = token.end;
                return Ok(AccessorKind::Index(0));
            }
            TokenKind::Int(value) if value >= 0 && !token.of(self.text).starts_with('-') => {
                value as u64
            }
            _ => return Err(self.in_brackets(open, token, "a position or a name in quotes")),
        };
        self.at = token.end;
        let close = self.peek();
        if close.kind != TokenKind::CloseSquare {
            return Err(self.in_brackets(open, close, "`]`"));
        }
        self.at = close.end;
        Ok(AccessorKind::Index(index))
    }

    /// Parses a call whose name has been read. `(` is next.
    fn call(&mut self, name: Token) -> Parsed<Expr> {
        let open = self.next();
        if self.functions.is_none() {
            return Err(self.unexpected(open, "a path without calls"));
        }
        self.depth += 1;
        if self.depth > DEPTH {
            let message = format!("calls are nested more than {DEPTH} deep");
            let mut mistake = self.unexpected(name, "a flatter expression");
            mistake.diagnostic.message = message;
            return Err(mistake);
        }
        let function = self.names.share(name.of(self.text));
        let arguments = self.arguments(open, &function)?;
        self.depth -= 1;
        let span = self.span(name.start, self.at);
        let call = CallExpr {
            function,
            name_span: self.span_of(name),
            arguments,
        };
        let call = Expr::new(ExprKind::Call(Box::new(call)), span);
        let path = self.accessors()?;
        if path.is_empty() {
            return Ok(call);
        }
        Ok(Expr::new(
            ExprKind::Access(Box::new(call), path),
            self.span(name.start, self.at),
        ))
    }

    fn arguments(&mut self, open: Token, function: &str) -> Parsed<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            let token = self.peek();
            if token.kind == TokenKind::CloseRound {
                self.at = token.end;
                return Ok(arguments);
            }
            if token.kind == TokenKind::Close {
                return Err(self.unclosed(open, token, ")"));
            }
            let argument = self.argument(function, arguments.len())?;
            arguments.push(argument);
            let token = self.peek();
            match token.kind {
                TokenKind::Comma => self.at = token.end,
                TokenKind::CloseRound => {}
                TokenKind::Close => return Err(self.unclosed(open, token, ")")),
                _ => return Err(self.unexpected(token, NEXT_ARGUMENT)),
            }
        }
    }

    fn argument(&mut self, function: &str, position: usize) -> Parsed<Argument> {
        let first = self.peek();
        let mut name = None;
        if first.kind == TokenKind::Name {
            let equals = lexer::token(self.text, first.end);
            if equals.kind == TokenKind::Equals {
                self.at = equals.end;
                name = Some(Spanned::new(
                    first.of(self.text).into(),
                    self.span_of(first),
                ));
            }
        }
        let first = self.next();
        let value = self.expression(first)?;
        let definition = self.functions.and_then(|functions| functions.get(function));
        let Some(definition) = definition else {
            return Ok(Argument { name, value });
        };
        if let Some(name) = &name
            && !definition.named
        {
            self.found.push(
                codes::NAMED_ARGUMENT_IGNORED
                    .new(format!(
                        "the name `{}` has no effect on an argument of `{function}`",
                        name.item
                    ))
                    .label(name.span, "arguments of this function go by position")
                    .help("remove the name; only `object` takes names"),
            );
        }
        let takes_function = definition
            .parameter(position)
            .is_some_and(|parameter| parameter.callback.is_some());
        let value = if takes_function {
            self.as_function(value)
        } else {
            value
        };
        Ok(Argument { name, value })
    }

    /// Turns a bare name into a function value, if a function is expected and the name is a
    /// function (decisions/blueprint#bare-names).
    fn as_function(&self, value: Expr) -> Expr {
        if let ExprKind::Ref(reference) = &value.kind
            && let ReferenceHead::Resource { name, bare: true } = &reference.head
            && reference.path.is_empty()
            && self
                .functions
                .is_some_and(|functions| functions.get(name).is_some())
        {
            return Expr::new(ExprKind::Function(name.clone()), value.span);
        }
        value
    }

    /// Parses a reference up to the end of the text.
    fn path_only(&mut self) -> Parsed<Ref> {
        let token = self.next();
        if token.kind != TokenKind::Name || matches!(token.of(self.text), "true" | "false" | "none")
        {
            return Err(self.unexpected(token, "a reference such as `resources.name.spec.field`"));
        }
        let reference = self.reference(token)?;
        let rest = self.peek();
        if rest.kind != TokenKind::End {
            return Err(self.unexpected(rest, "the end of the reference"));
        }
        Ok(reference)
    }

    /// The error for a token inside brackets: it does not fit, or the substitution ends before the
    /// closing bracket.
    fn in_brackets(&self, open: Token, token: Token, expected: &str) -> SyntaxMistake {
        if matches!(token.kind, TokenKind::Close | TokenKind::End) {
            return self.unclosed(open, token, "]");
        }
        let mut mistake = self.unexpected(token, expected);
        let after = lexer::token(self.text, token.end).kind;
        let name = token.of(self.text);
        if token.kind == TokenKind::Name && (self.is_head(name) || after != TokenKind::CloseSquare)
        {
            mistake.diagnostic.help.push(COMPUTED_INDEX.into());
        } else if token.kind == TokenKind::Name {
            let span = self.span_of(token);
            mistake.diagnostic.fixes.push(diag::Fix {
                text: "put the name in quotes".into(),
                edits: vec![(span, format!("\"{name}\""))],
                safe: false,
            });
        } else if name == "*" {
            mistake.diagnostic.help.push(ALL_MEMBERS.into());
        } else if name == "@" {
            mistake.diagnostic.help.push(LITERAL.into());
        }
        mistake
    }

    fn unclosed(&self, open: Token, token: Token, closer: &str) -> SyntaxMistake {
        let opener = open.of(self.text);
        let mut diagnostic = codes::UNEXPECTED_TOKEN
            .new(format!("`{opener}` is not closed"))
            .label(self.span_of(open), "opens here");
        if token.kind != TokenKind::End {
            diagnostic = diagnostic.label(
                self.span_of(token),
                format!("`{closer}` is needed before this"),
            );
        }
        let diagnostic = diagnostic.help(format!("add `{closer}`"));
        SyntaxMistake {
            diagnostic: Box::new(diagnostic),
            resume: token.start,
            reaches_end: false,
        }
    }

    /// The error for a token that does not fit or is malformed.
    fn unexpected(&self, token: Token, expected: &str) -> SyntaxMistake {
        let span = self.span_of(token);
        let (diagnostic, resume, final_word) = match token.kind {
            TokenKind::OpenText => (
                codes::UNTERMINATED_STRING
                    .new("the string has no end")
                    .label(span, "opens here and never ends")
                    .help(format!(
                        "close it with `{}`",
                        token.of(self.text).get(..1).unwrap_or("\"")
                    )),
                token.end,
                true,
            ),
            TokenKind::Minus => (
                codes::INVALID_LITERAL
                    .new("`-` needs digits right after it")
                    .label(span, "not a number")
                    .help(if expected == END_OF_EXPRESSION {
                        "there are no operators: write `subtract(a, b)`"
                    } else {
                        "write the number without a space after `-`, or `subtract(0, a)`"
                    }),
                token.end,
                false,
            ),
            TokenKind::TooLarge => (
                codes::INVALID_LITERAL
                    .new("the number is too large")
                    .label(span, "numbers have 64 bits"),
                token.end,
                false,
            ),
            TokenKind::End => (
                codes::UNEXPECTED_TOKEN
                    .new("the text ends too early")
                    .label(span, format!("expected {expected}")),
                token.start,
                false,
            ),
            kind => {
                let what = shortened(token.of(self.text));
                let resume = if kind == TokenKind::Close {
                    token.start
                } else {
                    token.end
                };
                let diagnostic = codes::UNEXPECTED_TOKEN
                    .new(format!("unexpected `{what}`"))
                    .label(span, format!("expected {expected}"));
                let diagnostic = match self.operator_advice(token, expected) {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                };
                (diagnostic, resume, false)
            }
        };
        SyntaxMistake {
            diagnostic: Box::new(diagnostic),
            resume,
            reaches_end: final_word,
        }
    }

    /// Advice for operators, and for `${` of another language such as a shell.
    fn operator_advice(&self, token: Token, expected: &str) -> Option<String> {
        let text = self.text.get(token.start..)?;
        let operator = |call: &str| Some(format!("there are no operators: write `{call}`"));
        let before = self.text.get(..token.start).unwrap_or("").trim_end();
        if expected == NEXT_ARGUMENT
            && matches!(text.as_bytes().first()?, b':' | b'=')
            && !text.starts_with("==")
        {
            return before.ends_with(['"', '\'']).then(|| {
                "write the name of an entry without quotes: `object(name = value)`".into()
            });
        }
        if matches!(expected, END_OF_EXPRESSION | NEXT_ARGUMENT) {
            // Shell syntax has no space: `${x:-y}`, `${x%.*}`, `${x/a/b}`.
            let adjoins = self
                .text
                .get(..token.start)
                .is_some_and(|before| !before.ends_with(char::is_whitespace));
            return match text.as_bytes().first()? {
                b':' | b'#' | b'@' | b'^' | b'~' if expected == END_OF_EXPRESSION => {
                    Some(LITERAL.into())
                }
                b'%' | b'/' if adjoins => Some(LITERAL.into()),
                b'+' => Some(
                    "there are no operators: write `add(a, b)`, or join texts as in `${a}${b}`"
                        .into(),
                ),
                b'-' => operator("subtract(a, b)"),
                b'*' => operator("multiply(a, b)"),
                b'/' => operator("divide(a, b)"),
                b'%' => operator("modulo(a, b)"),
                b'=' => operator("eq(a, b)"),
                b'!' => operator("not(eq(a, b))"),
                b'<' => operator(if text.starts_with("<=") {
                    "le(a, b)"
                } else {
                    "lt(a, b)"
                }),
                b'>' => operator(if text.starts_with(">=") {
                    "ge(a, b)"
                } else {
                    "gt(a, b)"
                }),
                b'&' => operator("and(a, b)"),
                b'|' => operator("or(a, b)"),
                b'?' => operator("if(condition, a, b)"),
                _ => None,
            };
        }
        match text.as_bytes().first()? {
            b'!' => operator("not(a)"),
            b'[' if expected == "an expression" => {
                Some("write a list with its items in `list(..)`, as in `list(1, 2)`".into())
            }
            b'{' if expected == "an expression" => {
                Some("write a map with its entries in `object(..)`, as in `object(a = 1)`".into())
            }
            b'#' | b'@' | b'*' | b'?' | b'$' if expected == "an expression" => Some(LITERAL.into()),
            _ => None,
        }
    }
}

/// The expected token after a whole expression, for messages.
const END_OF_EXPRESSION: &str = "the end of the expression";

/// The expected token after an argument, for messages.
const NEXT_ARGUMENT: &str = "`,` or `)`";

/// Advice for an index that is an expression.
const COMPUTED_INDEX: &str = "an index is a fixed position or name: for the entry of a map, write `lookup(map, key)`; for members of two resources that belong together, give both the same list under `each`, and read `elem` in both";

/// Advice for a wildcard in a path.
const ALL_MEMBERS: &str = "the members cannot be read all at once: read each of them by its position, as in `list(a[0].spec.id, a[1].spec.id)`";

/// Advice for writing a literal `${`.
const LITERAL: &str =
    "for a `${` that belongs to the text, as in a shell script, write `${\"${\"}`";

/// Truncates a long text for a message.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.into()
    } else {
        text.chars().take(37).chain("...".chars()).collect()
    }
}
