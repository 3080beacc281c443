//! Identifies the call of a memoised value (decisions/blueprint#memoised-values): the path of its
//! scalar, its number in the scalar, and a digest of the scalar.

use blueprint::{
    Accessor, AccessorKind, CallExpr, Expr, ExprKind, Name, ReferenceHead, TextPart, Value,
};
use sha2::{Digest, Sha256};

use super::machine::{ElementStep, Machine};
use crate::Purity;

impl Machine<'_> {
    /// The path of the scalar under evaluation, such as `input.a[0]`.
    pub(super) fn place(&self) -> Name {
        let mut text = String::new();
        for step in &self.path {
            match step {
                ElementStep::Index(at) => text.push_str(&format!("[{at}]")),
                ElementStep::Key(key) if plain(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                }
                ElementStep::Key(key) => text.push_str(&format!("[{key:?}]")),
            }
        }
        text.into()
    }

    /// The number of a memoised call in the scalar, counted from the left, including calls that are
    /// not evaluated. Calls by callbacks have no position and are numbered after all others.
    pub(super) fn number(&mut self, call: Option<&CallExpr>) -> u32 {
        let mut count = 0;
        let mut number = None;
        if let Some(scalar) = self.scalar {
            scalar.walk(&mut |expr| {
                if let ExprKind::Call(other) = &expr.kind
                    && self
                        .functions
                        .get(&other.function)
                        .is_some_and(|function| function.purity == Purity::Memoised)
                {
                    if call.is_some_and(|call| std::ptr::eq(call, other.as_ref())) {
                        number = Some(count);
                    }
                    count += 1;
                }
            });
        }
        number.unwrap_or_else(|| {
            self.callback_calls += 1;
            count + self.callback_calls - 1
        })
    }

    /// A digest of the scalar's expression without places.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut digest = Sha256::new();
        if let Some(scalar) = self.scalar {
            expression(scalar, &mut digest);
        }
        digest
            .finalize()
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}

fn plain(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Writes a text with its length, so that adjacent texts stay distinct.
fn write(text: &str, digest: &mut Sha256) {
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text);
}

fn tag(tag: &str, count: usize, digest: &mut Sha256) {
    write(tag, digest);
    digest.update((count as u64).to_le_bytes());
}

fn expression(expr: &Expr, digest: &mut Sha256) {
    match &expr.kind {
        ExprKind::Literal(value) => literal(value, digest),
        ExprKind::List(items) => {
            tag("list", items.len(), digest);
            items.iter().for_each(|item| expression(item, digest));
        }
        ExprKind::Map(entries) => {
            tag("map", entries.len(), digest);
            for (key, value) in entries {
                write(&key.item, digest);
                expression(value, digest);
            }
        }
        ExprKind::Text(parts) => {
            tag("text", parts.len(), digest);
            for part in parts {
                match part {
                    TextPart::Text(text) => write(text, digest),
                    TextPart::Expr(expr, _) => expression(expr, digest),
                }
            }
        }
        ExprKind::Ref(reference) => {
            tag("ref", 0, digest);
            let (kind, name) = match &reference.head {
                ReferenceHead::Input(name) => ("input", name.as_ref()),
                ReferenceHead::Local(name) => ("local", name.as_ref()),
                ReferenceHead::Resource { name, .. } => ("resource", name.as_ref()),
                ReferenceHead::DataSource(name) => ("data source", name.as_ref()),
                ReferenceHead::Child(name) => ("child", name.as_ref()),
                ReferenceHead::Item => ("item", ""),
                ReferenceHead::Position => ("position", ""),
                ReferenceHead::Scoped(name) => ("scoped", name.as_ref()),
            };
            write(kind, digest);
            write(name, digest);
            accessors(&reference.path, digest);
        }
        ExprKind::Access(inner, path) => {
            tag("access", 0, digest);
            expression(inner, digest);
            accessors(path, digest);
        }
        ExprKind::Call(call) => {
            tag("call", call.arguments.len(), digest);
            write(&call.function, digest);
            for argument in &call.arguments {
                write(argument.name.as_ref().map_or("", |name| &name.item), digest);
                expression(&argument.value, digest);
            }
        }
        ExprKind::Function(name) => {
            tag("function", 0, digest);
            write(name, digest);
        }
        ExprKind::Choice(choice) => {
            tag("choice", 0, digest);
            expression(&choice.condition, digest);
            expression(&choice.then, digest);
            expression(&choice.otherwise, digest);
        }
        ExprKind::Substitution(inner) => {
            tag("substitution", 0, digest);
            expression(inner, digest);
        }
        ExprKind::Error => tag("error", 0, digest),
    }
}

fn accessors(path: &[Accessor], digest: &mut Sha256) {
    tag("path", path.len(), digest);
    for accessor in path {
        match &accessor.kind {
            AccessorKind::Name(name) => write(name, digest),
            AccessorKind::Index(at) => digest.update(at.to_le_bytes()),
        }
    }
}

fn literal(value: &Value, digest: &mut Sha256) {
    tag("literal", 0, digest);
    write(value.kind_word(), digest);
    write(&value.to_string(), digest);
}
