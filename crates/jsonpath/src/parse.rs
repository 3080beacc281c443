//! The parser of templates. Texts inside of brackets are parsed again as queries of their own, so
//! each mistake keeps its place in the outer text.

use std::ops::Range;

use blueprint::Name;
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::failure::ParseMistake;
use crate::quote::unquote;
use crate::slice;
use crate::syntax::{FilterStep, QueryStep, SliceBounds, SliceEnd, TemplatePart};

/// How deep queries may stand in filters and unions of each other.
const DEPTH: usize = 16;

/// Parses a whole template.
pub(crate) fn template(text: &str) -> Result<Vec<TemplatePart>, ParseMistake> {
    nested_template(text, 0)
}

fn nested_template(text: &str, depth: usize) -> Result<Vec<TemplatePart>, ParseMistake> {
    let mut parser = PathParser { text, at: 0, depth };
    let mut parts = Vec::new();
    while let Some(length) = parser.rest().find('{') {
        parser.text_until(parser.at + length, &mut parts);
        parser.at += 1;
        parts.push(TemplatePart::Query(parser.query()?));
    }
    parser.text_until(text.len(), &mut parts);
    Ok(parts)
}

/// Parses the inside of a query that stands at `place` of an outer text. Braces can end it early,
/// as in the original.
fn query(inner: &str, place: Range<usize>, depth: usize) -> Result<Vec<QueryStep>, ParseMistake> {
    if depth >= DEPTH {
        let message = format!("more than {DEPTH} conditions stand in each other");
        return Err(ParseMistake::new(message, place));
    }
    let parts = nested_template(&format!("{{{inner}}}"), depth + 1)
        .map_err(|mistake| mistake.moved(place, 1))?;
    Ok(match parts.into_iter().next() {
        Some(TemplatePart::Query(steps)) => steps,
        _ => Vec::new(),
    })
}

struct PathParser<'a> {
    text: &'a str,
    /// The byte position of the next character.
    at: usize,
    depth: usize,
}

impl<'a> PathParser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn mistake<T>(&self, message: impl Into<String>, start: usize) -> Result<T, ParseMistake> {
        let end = self.at.min(self.text.len());
        Err(ParseMistake::new(message, start.min(end)..end))
    }

    fn text_until(&mut self, end: usize, parts: &mut Vec<TemplatePart>) {
        if end > self.at {
            let text = self.text.get(self.at..end).unwrap_or_default();
            parts.push(TemplatePart::Text(Name::from(text)));
        }
        self.at = end;
    }

    /// Reads the steps of a query after its opening brace, and the closing brace.
    fn query(&mut self) -> Result<Vec<QueryStep>, ParseMistake> {
        let mut steps = Vec::new();
        loop {
            if self.rest().starts_with("[?(") {
                steps.push(self.filter()?);
                continue;
            }
            if self.rest().starts_with("..") {
                self.recursive(&mut steps)?;
                continue;
            }
            let start = self.at;
            match self.next() {
                Some('}') => return Ok(steps),
                None | Some('\r' | '\n') => {
                    return self.mistake("the query has no closing brace `}`", start);
                }
                // The current object, which is there anyway.
                Some(' ' | '@' | '$') => {}
                Some('[') => self.brackets(start, &mut steps)?,
                Some(quote @ ('"' | '\'')) => steps.push(self.quoted(start, quote)?),
                Some('.') => steps.push(self.field()),
                Some(character) if matches!(character, '+' | '-') || is_digit(character) => {
                    steps.push(self.number(start)?);
                }
                Some(character) if is_word(character) => steps.push(self.word(start)),
                Some(character) => {
                    return self.mistake(format!("`{character}` is not expected here"), start);
                }
            }
        }
    }

    fn recursive(&mut self, steps: &mut Vec<QueryStep>) -> Result<(), ParseMistake> {
        let start = self.at;
        self.at += "..".len();
        if steps.last() == Some(&QueryStep::Recursive) {
            return self.mistake("`..` follows `..`", start);
        }
        steps.push(QueryStep::Recursive);
        if self.peek().is_some_and(is_word) {
            steps.push(self.field());
        }
        Ok(())
    }

    /// Reads the name of a field after its dot.
    fn field(&mut self) -> QueryStep {
        let start = self.at;
        while let Some(character) = self.peek() {
            if character == '\\' {
                self.next();
                self.next();
            } else if ends_word(character) {
                break;
            } else {
                self.next();
            }
        }
        match self.since(start) {
            "*" => QueryStep::Wildcard,
            name => QueryStep::Field(Name::from(name.replace('\\', ""))),
        }
    }

    /// Reads the rest of a bare word.
    fn word(&mut self, start: usize) -> QueryStep {
        while self.peek().is_some_and(|character| !ends_word(character)) {
            self.next();
        }
        match self.since(start) {
            "true" => QueryStep::Flag(true),
            "false" => QueryStep::Flag(false),
            word => QueryStep::Word(Name::from(word)),
        }
    }

    /// Reads the rest of a number.
    fn number(&mut self, start: usize) -> Result<QueryStep, ParseMistake> {
        while self
            .peek()
            .is_some_and(|character| character == '.' || is_digit(character))
        {
            self.next();
        }
        let text = self.since(start);
        if let Ok(number) = text.parse() {
            return Ok(QueryStep::Int(number));
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(QueryStep::Float(number)),
            _ => self.mistake(format!("`{text}` is not a number"), start),
        }
    }

    /// Reads the rest of a quoted string.
    fn quoted(&mut self, start: usize, quote: char) -> Result<QueryStep, ParseMistake> {
        let mut before = quote;
        loop {
            match self.next() {
                None | Some('\n') => return self.mistake("the string has no end", start),
                Some(character) if character == quote && before != '\\' => break,
                Some(character) => before = character,
            }
        }
        match unquote(self.since(start)) {
            Some(text) => Ok(QueryStep::Text(Name::from(text))),
            None => self.mistake("the string has an escape that does not exist", start),
        }
    }

    /// Reads the rest of brackets that are no filter.
    fn brackets(&mut self, start: usize, steps: &mut Vec<QueryStep>) -> Result<(), ParseMistake> {
        loop {
            match self.next() {
                None | Some('\n') => return self.mistake("`[` has no closing `]`", start),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let inside = start + 1..self.at - 1;
        let text = self.text.get(inside.clone()).unwrap_or_default();
        if text.contains(',') {
            steps.push(self.union(text, inside.start)?);
        } else if let Some(keys) = single_quoted(text) {
            // The dot stands where the quote is.
            let place = inside.start..inside.end - 1;
            steps.extend(query(&format!(".{keys}"), place, self.depth)?);
        } else if text == "*" {
            steps.push(QueryStep::Slice(SliceBounds {
                start: None,
                end: SliceEnd::Open,
                step: None,
            }));
        } else {
            match slice::bounds(text) {
                Ok(bounds) => steps.push(QueryStep::Slice(bounds)),
                Err(message) => return Err(ParseMistake::new(message, inside)),
            }
        }
        Ok(())
    }

    fn union(&self, text: &str, start: usize) -> Result<QueryStep, ParseMistake> {
        let mut members = Vec::new();
        let mut base = start;
        for member in text.split(',') {
            let inner = format!("[{}]", member.trim_matches(' '));
            let blanks = member.len() - member.trim_start_matches(' ').len();
            // The brackets stand where the characters around the member are.
            let first = base + blanks;
            let place = first.saturating_sub(1)..first + inner.len() - "[]".len();
            members.push(query(&inner, place, self.depth)?);
            base += member.len() + 1;
        }
        Ok(QueryStep::Union(members))
    }

    fn filter(&mut self) -> Result<QueryStep, ParseMistake> {
        let opening = self.at;
        self.at += "[?(".len();
        let start = self.at;
        self.skip_condition(opening)?;
        let text = self.since(start);
        let text = text.strip_suffix(')').unwrap_or(text);
        match self.peek() {
            Some(']') => self.at += 1,
            _ => return self.mistake("the condition has no closing `)]`", opening),
        }
        let part = |range: Range<usize>| {
            let inner = text.get(range.clone()).unwrap_or_default();
            query(inner, start + range.start..start + range.end, self.depth)
        };
        let filter = match operator(text) {
            None => FilterStep {
                left: part(0..text.len())?,
                comparison: None,
            },
            Some(operator) => FilterStep {
                left: part(0..operator.start)?,
                comparison: Some((
                    Name::from(text.get(operator.clone()).unwrap_or_default()),
                    part(operator.end..text.len())?,
                )),
            },
        };
        Ok(QueryStep::Filter(Box::new(filter)))
    }

    /// Reads up to the parenthesis that ends a condition. A parenthesis inside of the first quoted
    /// string does not end it.
    fn skip_condition(&mut self, opening: usize) -> Result<(), ParseMistake> {
        let mut quote = None;
        let mut closed = false;
        let mut before = '(';
        loop {
            let Some(character) = self.next().filter(|character| *character != '\n') else {
                return self.mistake("the condition has no end", opening);
            };
            match (character, quote) {
                ('"' | '\'', None) => quote = Some(character),
                ('"' | '\'', Some(quote)) if before != '\\' && character == quote => closed = true,
                (')', quote) if quote.is_some() == closed => return Ok(()),
                _ => {}
            }
            before = character;
        }
    }
}

/// The place of the comparison in a condition, which has something before and after it.
fn operator(text: &str) -> Option<Range<usize>> {
    let is_sign = |character: char| matches!(character, '!' | '<' | '>' | '=');
    let start = text.find(is_sign).filter(|start| *start > 0)?;
    let signs = text.get(start..)?;
    let length = signs
        .find(|character| !is_sign(character))
        .unwrap_or(signs.len());
    // At the end of the text, the last sign is what the comparison compares with.
    let length = length.min(signs.len() - 1);
    (length > 0).then_some(start..start + length)
}

/// The text between single quotes, which has no such quote.
fn single_quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inner.contains('\'')).then_some(inner)
}

fn ends_word(character: char) -> bool {
    matches!(
        character,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

fn is_word(character: char) -> bool {
    use GeneralCategory::{
        LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter,
    };
    character == '_'
        || is_digit(character)
        || matches!(
            get_general_category(character),
            LowercaseLetter | ModifierLetter | OtherLetter | TitlecaseLetter | UppercaseLetter
        )
}

fn is_digit(character: char) -> bool {
    get_general_category(character) == GeneralCategory::DecimalNumber
}

#[cfg(test)]
mod tests;
