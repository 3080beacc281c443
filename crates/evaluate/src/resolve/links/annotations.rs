//! The annotations of links (decisions/links#annotations): their values in the document, their
//! defaults, and their checks.

use std::sync::Arc;

use blueprint::{Expr, Key, Value};
use diag::{Diagnostic, Diagnostics, Span};
use dialect::codes as document;
use provider::{Annotation, Side};
use understand::check::links::annotations::key_for;
use understand::links::LinkedPair;
use understand::links::wiring::side_of;

use super::Declared;
use super::slots::LinkAt;
use crate::resolve::{Evaluation, ExpressionSite, Halt, Need};

impl Evaluation {
    /// The effective values of the annotations of a link, by their aliases in the link kind. `None`
    /// if an annotation is invalid, which is reported.
    pub fn annotations(
        &mut self,
        link: LinkAt,
        found: &mut Diagnostics,
    ) -> Result<Option<Value>, Need> {
        let Some(pair) = self.pair(link.0) else {
            return Ok(None);
        };
        let mut values_by_alias = blueprint::Map::default();
        let mut all_valid = true;
        for annotation in &pair.kind.annotations {
            match self.declared_annotation_value(link, &pair, annotation, found) {
                Ok(value) => all_valid &= self.is_valid(link, &pair, annotation, &value, found),
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => all_valid = false,
            }
            // Each key is checked above. Several keys can share an alias, and the alias gets one
            // value: that of the key that takes precedence.
            if values_by_alias.contains_key(&annotation.alias) {
                continue;
            }
            match self.annotation_value(link, &annotation.alias, found) {
                Ok(Value::Null) => {}
                Ok(value) => {
                    values_by_alias.insert(annotation.alias.clone(), value);
                }
                Err(Halt::Need(need)) => return Err(need),
                Err(_) => all_valid = false,
            }
        }
        Ok(all_valid.then(|| Value::Map(Arc::new(values_by_alias))))
    }

    /// The value of an annotation of a link: the value under the key with the other end's name, or
    /// else under the general key, or else the default (decisions/links#annotations). Null if there
    /// is none.
    pub(super) fn annotation_value(
        &mut self,
        link: LinkAt,
        alias: &str,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let Some(pair) = self.pair(link.0) else {
            return Err(Halt::Failed);
        };
        let of_alias = pair
            .kind
            .annotations
            .iter()
            .filter(|it| it.alias.as_ref() == alias);
        // A key with the placeholder `<a>` or `<b>` names the other end.
        let (with_other_end, general): (Vec<&Annotation>, Vec<&Annotation>) =
            of_alias.partition(|it| it.key.contains('<'));
        let by_precedence = [with_other_end, general].concat();
        for annotation in &by_precedence {
            let value = self.declared_annotation_value(link, &pair, annotation, found)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        Ok(by_precedence
            .iter()
            .find_map(|it| it.default.clone())
            .unwrap_or(Value::Null))
    }

    /// The value that the document sets for an annotation.
    fn declared_annotation_value(
        &mut self,
        link: LinkAt,
        pair: &LinkedPair,
        annotation: &Annotation,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let side = side_of(&annotation.side);
        let other = if side == Side::A { pair.b } else { pair.a };
        let Some(other) = self.declared(other) else {
            return Err(Halt::Failed);
        };
        let key = key_for(annotation, other.name());
        let Some((resource, position)) = self.end_of(link, side) else {
            return Err(Halt::Failed);
        };
        // The annotations of an evaluated end are in its metadata. Others are evaluated on their own.
        if let Some(member) = self.member(resource, position) {
            let annotations = member.metadata.get("annotations");
            return Ok(annotations
                .and_then(|all| all.get(&key))
                .cloned()
                .unwrap_or(Value::Null));
        }
        let Some(carrier) = self.declared(resource) else {
            return Err(Halt::Failed);
        };
        let annotations = &carrier.resource().metadata.annotations;
        let Some((_, expr)) = annotations.iter().find(|(it, _)| it.item == key) else {
            return Ok(Value::Null);
        };
        self.evaluate_early(&carrier, position, expr, found)
    }

    /// Evaluates an expression of a resource that is not evaluated yet, for one of its members.
    pub(super) fn evaluate_early(
        &mut self,
        of: &Declared,
        position: Option<u32>,
        expr: &Expr,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        let resource_address = of.address().to_string();
        let item = match position {
            None => None,
            Some(at) => {
                let (name, declared) = of.entry();
                let site = ExpressionSite::of(of.unit, &resource_address);
                let items = self
                    .items(site, name, declared, found)
                    .map_err(Halt::Need)?
                    .unwrap_or_default();
                items.get(at as usize).map(|item| (item.clone(), at))
            }
        };
        let owner = match position {
            Some(at) => of.address().with_key(Key::Index(at)).to_string(),
            None => resource_address,
        };
        self.value(
            ExpressionSite {
                unit: of.unit,
                owner: &owner,
                item: item.as_ref(),
            },
            expr,
            found,
        )
    }

    /// Whether the value of an annotation has its type and is one of its allowed values. The check of
    /// the document sees the values of literals only; here all known values are validated.
    fn is_valid(
        &mut self,
        link: LinkAt,
        pair: &LinkedPair,
        annotation: &Annotation,
        value: &Value,
        found: &mut Diagnostics,
    ) -> bool {
        if value.is_null() || value.has_unknown() {
            return true;
        }
        let side = side_of(&annotation.side);
        let other = if side == Side::A { pair.b } else { pair.a };
        let (Some(other), Some((resource, _))) = (self.declared(other), self.end_of(link, side))
        else {
            return true;
        };
        let Some(of) = self.declared(resource) else {
            return true;
        };
        let key = key_for(annotation, other.name());
        let Some((_, expr)) = of
            .resource()
            .metadata
            .annotations
            .iter()
            .find(|(it, _)| it.item == key)
        else {
            return true;
        };
        match problem(annotation, &key, value, expr.span) {
            Some(diagnostic) => {
                // Several links of the resource can read the annotation: its mistake is reported
                // once.
                let is_reported = found.iter().any(|reported| {
                    reported.span() == expr.span && reported.message == diagnostic.message
                });
                if !is_reported {
                    found.push(diagnostic);
                }
                false
            }
            None => true,
        }
    }
}

/// The diagnostic for an invalid value of an annotation, if it is invalid.
fn problem(annotation: &Annotation, key: &str, value: &Value, span: Span) -> Option<Diagnostic> {
    let revealed = value.revealed();
    let diagnostic = document::INVALID_ANNOTATION.new(format!("`{key}` must be {}", annotation.ty));
    // The conversion only tests the type, and its result is dropped: like a literal, a computed
    // value must have the type exactly.
    if expr::convert(&revealed, &annotation.ty, expr::ValueOrigin::Literal).is_err() {
        return Some(diagnostic.label(span, format!("this is {}", value.kind_word())));
    }
    let is_listed = annotation
        .allowed
        .iter()
        .any(|allowed| understand::compare::same(allowed, &revealed));
    // Without a list, every value of the type is allowed.
    if annotation.allowed.is_empty() || is_listed {
        return None;
    }
    let allowed: Vec<String> = annotation.allowed.iter().map(ToString::to_string).collect();
    Some(
        diagnostic
            .label(span, "not an allowed value")
            .help(format!("use one of: {}", allowed.join(", "))),
    )
}
