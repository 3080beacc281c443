//! Translation of a pattern in Python's syntax for `fancy-regex`.
//!
//! The result uses no flags except `i`, has numbered groups only, and encloses each item so that a
//! following quantifier applies to that item. Errors have Python's messages and positions.

use super::class;
use super::translator::{
    ErrorPlace, Flags, PatternError, PrecedingItem, Translation, Translator, Width,
};

/// A translated pattern.
pub(super) struct Translated {
    pub(super) pattern: String,
    /// The name of each group, the whole match first.
    pub(super) names: Vec<Option<String>>,
}

/// The pattern of a word character in Python; the `\w` of the engine differs.
macro_rules! word {
    () => {
        r"[\p{L}\p{N}_]"
    };
}

/// The deepest nesting of groups.
const DEEPEST: usize = 200;

/// Translates a whole pattern.
pub(super) fn translate(pattern: &str, flags: Flags) -> Result<Translated, PatternError> {
    let mut translator = Translator::new(pattern);
    match translator.whole(flags) {
        Ok(()) => Ok(Translated {
            pattern: translator.out,
            names: translator.names,
        }),
        Err(mut error) => {
            if error.place == ErrorPlace::Position && pattern.contains('\n') {
                let before = &translator.characters[..error.at.min(translator.characters.len())];
                let column = before
                    .iter()
                    .rev()
                    .take_while(|character| **character != '\n')
                    .count()
                    + 1;
                error.place = ErrorPlace::Line(
                    before
                        .iter()
                        .filter(|character| **character == '\n')
                        .count()
                        + 1,
                    column,
                );
            }
            Err(error)
        }
    }
}

impl Translator {
    fn whole(&mut self, flags: Flags) -> Translation<()> {
        let flags = self.global_flags(flags)?;
        self.out
            .push_str(if flags.ignore_case { "(?i:" } else { "(?:" });
        self.alternatives(flags)?;
        if self.peek().is_some() {
            return Err(self.error("unbalanced parenthesis", self.at));
        }
        self.out.push(')');
        for (group, at) in &self.referenced_groups {
            if *group >= self.names.len() {
                return Err(self.error(format!("invalid group reference {group}"), *at));
            }
        }
        if self.variable_look_behind {
            let message = "look-behind requires fixed-width pattern".to_owned();
            return Err(PatternError {
                message,
                at: 0,
                place: ErrorPlace::None,
            });
        }
        Ok(())
    }

    /// Reads global flags such as `(?i)` at the beginning.
    fn global_flags(&mut self, mut flags: Flags) -> Translation<Flags> {
        loop {
            if flags.verbose {
                self.skip_verbose();
            }
            let begin = self.at;
            if self.eat("(?#") {
                self.comment(begin)?;
                continue;
            }
            if !self.eat("(?") || !self.peek().is_some_and(|next| "aiLmsux".contains(next)) {
                self.at = begin;
                return Ok(flags);
            }
            let changed = self.flag_letters(flags)?;
            if self.eat(")") {
                flags = changed;
            } else {
                self.at = begin;
                return Ok(flags);
            }
        }
    }

    /// Reads letters of flags that are set.
    fn flag_letters(&mut self, mut flags: Flags) -> Translation<Flags> {
        while let Some(letter) = self.peek() {
            match letter {
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_all = true,
                'x' => flags.verbose = true,
                'a' => flags.ascii = true,
                'u' => flags.ascii = false,
                'L' => {
                    return Err(self.error(
                        "bad inline flags: cannot use 'L' flag with a str pattern",
                        self.at + 1,
                    ));
                }
                _ => break,
            }
            self.at += 1;
        }
        Ok(flags)
    }

    fn skip_verbose(&mut self) {
        while let Some(next) = self.peek() {
            if next == '#' {
                while self.next().is_some_and(|next| next != '\n') {}
            } else if matches!(next, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn comment(&mut self, begin: usize) -> Translation<()> {
        loop {
            match self.next() {
                Some(')') => return Ok(()),
                Some(_) => {}
                None => return Err(self.error("missing ), unterminated comment", begin)),
            }
        }
    }

    /// Translates alternatives up to `)` or the end.
    fn alternatives(&mut self, flags: Flags) -> Translation<Width> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("groups are nested too deeply", self.at));
        }
        let mut width = self.sequence(flags)?;
        while self.eat("|") {
            self.out.push('|');
            width = width.or(self.sequence(flags)?);
        }
        self.depth -= 1;
        Ok(width)
    }

    fn sequence(&mut self, flags: Flags) -> Translation<Width> {
        let (mut width, mut last) = (Width::NONE, Width::NONE);
        let mut before = PrecedingItem::Nothing;
        let mut item_at = self.out.len();
        loop {
            if flags.verbose {
                self.skip_verbose();
            }
            let begin = self.at;
            let Some(next) = self.peek() else { break };
            if matches!(next, '|' | ')') {
                break;
            }
            if let Some((least, most, suffix)) = self.quantifier()? {
                match before {
                    PrecedingItem::Nothing | PrecedingItem::Anchor => {
                        return Err(self.error("nothing to repeat", begin));
                    }
                    PrecedingItem::Repeated => return Err(self.error("multiple repeat", begin)),
                    PrecedingItem::Item => before = PrecedingItem::Repeated,
                }
                match (last.1, least) {
                    // Repeating an item without width changes nothing. An optional item must not
                    // fail the match.
                    (0, 1..) => {}
                    (0, 0) => {
                        let lazy = suffix == "?";
                        self.out
                            .insert_str(item_at, if lazy { "(?:|" } else { "(?:" });
                        self.out.push_str(if lazy { ")" } else { "|)" });
                    }
                    _ if most == u32::MAX => self.out.push_str(&format!("{{{least},}}{suffix}")),
                    _ => self.out.push_str(&format!("{{{least},{most}}}{suffix}")),
                }
                width = width.then(Width(
                    last.0.saturating_mul(least),
                    last.1.saturating_mul(most),
                ));
                last = Width::NONE;
                continue;
            }
            let start = self.out.len();
            // A comment is not an item: a quantifier after it applies to the item before it.
            if let Some((kind, item)) = self.item(next, flags)? {
                width = width.then(last);
                (before, last, item_at) = (kind, item, start);
            }
        }
        Ok(width.then(last))
    }

    /// Reads an optional quantifier: the minimum, the maximum, and the lazy or possessive suffix.
    fn quantifier(&mut self) -> Translation<Option<(u32, u32, &'static str)>> {
        let begin = self.at;
        let (least, most) = match self.next() {
            Some('*') => (0, u32::MAX),
            Some('+') => (1, u32::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                let low = self.digits();
                let comma = self.eat(",");
                let high = if comma { self.digits() } else { low.clone() };
                if (low.is_empty() && !comma) || !self.eat("}") {
                    self.at = begin;
                    return Ok(None);
                }
                let number = |digits: &str, absent: u32| {
                    if digits.is_empty() {
                        Ok(absent)
                    } else {
                        digits.parse()
                    }
                };
                let (Ok(least), Ok(most)) = (number(&low, 0), number(&high, u32::MAX)) else {
                    return Err(self.error("the repetition number is too large", begin));
                };
                if most < least {
                    return Err(self.error("min repeat greater than max repeat", begin));
                }
                (least, most)
            }
            _ => {
                self.at = begin;
                return Ok(None);
            }
        };
        let suffix = if self.eat("?") {
            "?"
        } else if self.eat("+") {
            "+"
        } else {
            ""
        };
        Ok(Some((least, most, suffix)))
    }

    fn digits(&mut self) -> String {
        let digits: String = self.characters[self.at..]
            .iter()
            .take_while(|next| next.is_ascii_digit())
            .collect();
        self.at += digits.len();
        digits
    }

    /// Translates one item; `None` for a comment.
    fn item(&mut self, next: char, flags: Flags) -> Translation<Option<(PrecedingItem, Width)>> {
        match next {
            '(' => return self.group(flags),
            '[' => {
                self.class(flags)?;
            }
            '\\' => return self.escape(flags).map(Some),
            '.' => {
                self.at += 1;
                self.out
                    .push_str(if flags.dot_all { "(?s:.)" } else { "." });
            }
            '^' | '$' => {
                self.at += 1;
                self.out.push_str(match (next, flags.multi_line) {
                    ('^', true) => "(?m:^)",
                    ('^', false) => r"\A",
                    (_, true) => "(?m:$)",
                    (_, false) => r"(?=\n?\z)",
                });
                return Ok(Some((PrecedingItem::Anchor, Width::NONE)));
            }
            other => {
                self.at += 1;
                class::literal(other, &mut self.out);
            }
        }
        Ok(Some((PrecedingItem::Item, Width::ONE)))
    }

    fn group(&mut self, flags: Flags) -> Translation<Option<(PrecedingItem, Width)>> {
        let begin = self.at;
        self.at += 1;
        if !self.eat("?") {
            return self.capture(None, begin, flags).map(Some);
        }
        let Some(kind) = self.next() else {
            return Err(self.error("unexpected end of pattern", self.at));
        };
        match kind {
            '#' => {
                self.comment(begin)?;
                Ok(None)
            }
            'P' if self.eat("<") => {
                let name = self.name('>')?;
                self.capture(Some(name), begin, flags).map(Some)
            }
            'P' if self.eat("=") => {
                let at = self.at;
                let name = self.name(')')?;
                let group = self.by_name.get(&name).copied();
                let group =
                    group.ok_or_else(|| self.error(format!("unknown group name '{name}'"), at))?;
                self.reference(group, at).map(Some)
            }
            'P' => match self.peek() {
                Some(other) => Err(self.error(format!("unknown extension ?P{other}"), begin + 1)),
                None => Err(self.error("unexpected end of pattern", self.at)),
            },
            ':' => self
                .inner("(?:", begin, flags)
                .map(|width| Some((PrecedingItem::Item, width))),
            '>' => self
                .inner("(?>", begin, flags)
                .map(|width| Some((PrecedingItem::Item, width))),
            '=' | '!' => self
                .look(if kind == '=' { "(?:(?=" } else { "(?:(?!" }, begin, flags)
                .map(Some),
            '<' => match self.next() {
                Some('=') => self.look("(?:(?<=", begin, flags).map(Some),
                Some('!') => self.look("(?:(?<!", begin, flags).map(Some),
                Some(other) => Err(self.error(format!("unknown extension ?<{other}"), begin + 1)),
                None => Err(self.error("unexpected end of pattern", self.at)),
            },
            '(' => self.conditional(begin, flags).map(Some),
            letter if letter == '-' || "aiLmsux".contains(letter) => {
                self.at -= 1;
                self.scoped(begin, flags).map(Some)
            }
            other => Err(self.error(format!("unknown extension ?{other}"), begin + 1)),
        }
    }

    /// Translates the content of a group up to its `)`. The translation begins with `open`.
    fn inner(&mut self, open: &str, begin: usize, flags: Flags) -> Translation<Width> {
        self.out.push_str(open);
        let width = self.alternatives(flags)?;
        if !self.eat(")") {
            return Err(self.error("missing ), unterminated subpattern", begin));
        }
        self.out.push(')');
        Ok(width)
    }

    fn capture(
        &mut self,
        name: Option<String>,
        begin: usize,
        flags: Flags,
    ) -> Translation<(PrecedingItem, Width)> {
        let group = self.names.len();
        if let Some(name) = &name {
            if let Some(first) = self.by_name.get(name) {
                let words = format!(
                    "redefinition of group name '{name}' as group {group}; was group {first}"
                );
                return Err(self.error(words, self.at - name.chars().count() - 1));
            }
            self.by_name.insert(name.clone(), group);
        }
        self.names.push(name);
        self.widths.push(None);
        let width = self.inner("(", begin, flags)?;
        self.widths[group] = Some(width);
        Ok((PrecedingItem::Item, width))
    }

    /// Translates a look-around, which has no width. The content of a look-behind must have a fixed
    /// width.
    fn look(
        &mut self,
        open: &str,
        begin: usize,
        flags: Flags,
    ) -> Translation<(PrecedingItem, Width)> {
        let width = self.inner(open, begin, flags)?;
        self.out.push(')');
        if open.contains('<') && width.0 != width.1 {
            self.variable_look_behind = true;
        }
        Ok((PrecedingItem::Item, Width::NONE))
    }

    /// Translates `(?(group)yes|no)`.
    fn conditional(&mut self, begin: usize, flags: Flags) -> Translation<(PrecedingItem, Width)> {
        let at = self.at;
        let name = self.name_or_number(')')?;
        let group = match name.parse() {
            Ok(0) => return Err(self.error("bad group number", at)),
            Ok(group) => group,
            Err(_) => {
                let group = self.by_name.get(&name).copied();
                group.ok_or_else(|| self.error(format!("unknown group name '{name}'"), at))?
            }
        };
        self.referenced_groups.push((group, at));
        self.out.push_str(&format!("(?:(?({group})"));
        let mut width = self.sequence(flags)?;
        if self.eat("|") {
            self.out.push('|');
            width = width.or(self.sequence(flags)?);
            if self.peek() == Some('|') {
                return Err(self.error("conditional backref with more than two branches", self.at));
            }
        } else {
            width = width.or(Width::NONE);
        }
        if !self.eat(")") {
            return Err(self.error("missing ), unterminated subpattern", begin));
        }
        self.out.push_str("))");
        Ok((PrecedingItem::Item, width))
    }

    /// Translates `(?i-s:..)`.
    fn scoped(&mut self, begin: usize, flags: Flags) -> Translation<(PrecedingItem, Width)> {
        let mut changed = self.flag_letters(flags)?;
        if self.peek().is_none() {
            return Err(self.error("missing -, : or )", self.at));
        }
        if self.peek() == Some(')') {
            return Err(self.error("global flags not at the start of the expression", begin));
        }
        if self.eat("-") {
            let from = self.at;
            while let Some(letter) = self.peek() {
                match letter {
                    'i' => changed.ignore_case = false,
                    'm' => changed.multi_line = false,
                    's' => changed.dot_all = false,
                    'x' => changed.verbose = false,
                    'a' | 'u' | 'L' => {
                        let words = "bad inline flags: cannot turn off flags 'a', 'u' and 'L'";
                        return Err(self.error(words, self.at + 1));
                    }
                    _ => break,
                }
                self.at += 1;
            }
            if from == self.at {
                return Err(self.error("missing flag", self.at));
            }
        }
        match self.next() {
            Some(':') => {}
            Some(other) if other.is_alphabetic() => {
                return Err(self.error("unknown flag", self.at - 1));
            }
            Some(_) => return Err(self.error("missing :", self.at - 1)),
            None => return Err(self.error("missing :", self.at)),
        }
        let open = if changed.ignore_case { "(?i:" } else { "(?-i:" };
        self.inner(open, begin, changed)
            .map(|width| (PrecedingItem::Item, width))
    }

    fn name_or_number(&mut self, end: char) -> Translation<String> {
        let at = self.at;
        let mut name = String::new();
        loop {
            match self.next() {
                Some(next) if next == end && name.is_empty() => {
                    return Err(self.error("missing group name", at));
                }
                Some(next) if next == end => return Ok(name),
                Some(next) => name.push(next),
                None if name.is_empty() => return Err(self.error("missing group name", at)),
                None => return Err(self.error(format!("missing {end}, unterminated name"), at)),
            }
        }
    }

    fn name(&mut self, end: char) -> Translation<String> {
        let at = self.at;
        let name = self.name_or_number(end)?;
        let good = |(at, next): (usize, char)| {
            next == '_' || next.is_alphabetic() || (at > 0 && next.is_alphanumeric())
        };
        if name.chars().enumerate().all(good) {
            Ok(name)
        } else {
            Err(self.error(
                format!("bad character in group name {}", crate::repr_text(&name)),
                at,
            ))
        }
    }

    fn reference(&mut self, group: usize, at: usize) -> Translation<(PrecedingItem, Width)> {
        match self.widths.get(group) {
            None => Err(self.error(format!("invalid group reference {group}"), at)),
            Some(None) => Err(self.error("cannot refer to an open group", at - 1)),
            Some(Some(width)) => {
                self.out.push_str(&format!("(?:\\{group})"));
                Ok((PrecedingItem::Item, *width))
            }
        }
    }

    fn escape(&mut self, flags: Flags) -> Translation<(PrecedingItem, Width)> {
        let begin = self.at;
        self.at += 1;
        let Some(next) = self.peek() else {
            return Err(self.error("bad escape (end of pattern)", begin));
        };
        let anchor = match next {
            'A' => Some(r"\A"),
            'Z' => Some(r"\z"),
            'b' if flags.ascii => Some(r"(?-u:\b)"),
            'B' if flags.ascii => Some(r"(?:(?!\A\z)(?-u:\B))"),
            'b' => Some(concat!(
                r"(?:(?<=",
                word!(),
                r")(?!",
                word!(),
                r")|(?<!",
                word!(),
                ")(?=",
                word!(),
                "))"
            )),
            'B' => Some(concat!(
                r"(?:(?!\A\z)(?:(?<=",
                word!(),
                r")(?=",
                word!(),
                r")|(?<!",
                word!(),
                ")(?!",
                word!(),
                ")))"
            )),
            _ => None,
        };
        if let Some(anchor) = anchor {
            self.at += 1;
            self.out.push_str(anchor);
            return Ok((PrecedingItem::Anchor, Width::NONE));
        }
        if matches!(next, '1'..='9') {
            let digits: String = self.characters[self.at..].iter().take(3).collect();
            let octal = digits.len() == 3 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
            if !octal {
                let digits: String = digits
                    .chars()
                    .take(2)
                    .take_while(char::is_ascii_digit)
                    .collect();
                self.at += digits.len();
                return self.reference(digits.parse().unwrap_or_default(), begin + 1);
            }
        }
        match self.escaped(begin, false, flags)? {
            class::Escaped::Character(character) => class::literal(character, &mut self.out),
            class::Escaped::Class(class) => self.out.push_str(&format!("[{class}]")),
        }
        Ok((PrecedingItem::Item, Width::ONE))
    }
}
