//! Writes the document of a group: evaluates the known parts of the definition, and adds members.

use blueprint::{
    Blueprint, Child, Expansion, Expr, ExprKind, Name, Resource, ResourceMetadata, TypeId, Value,
};
use diag::{Diagnostics, Span, Spanned};

use super::definition::{expansion, known_keys_map, part, remove_null_entries};
use crate::kinds::{
    LoweredKind, RESOURCE_GROUP, SCALING_GROUP, STACK, definition_property, deployment_type,
};
use crate::message_path::invalid;
use crate::providers::region_of_stack;
use crate::version::NAME;
use dialect::ExpansionContext;
use dialect::codes::{MISSING_FIELD, VALUE_CONSTRAINT};

/// The maximum number of members of a group, unless the settings allow more resources.
const MOST_MEMBERS: usize = 10_000;

pub(super) struct GroupWriter<'a> {
    pub(super) expansion: &'a Expansion,
    pub(super) place: &'a ExpansionContext<'a>,
    /// The definition of members, without omitted parts and with the known keys of computed maps.
    pub(super) member: Expr,
    /// The value of the definition, as far as it is known.
    pub(super) spec: Value,
    pub(super) found: Diagnostics,
    /// The members in order, each with its kind.
    pub(super) names: Vec<(Name, LoweredKind)>,
    pub(super) blueprint: Blueprint,
}

impl GroupWriter<'_> {
    /// Replaces a computed definition by its known parts: the type of a member, and the keys of its
    /// properties.
    pub(super) fn resolve_known_parts(&mut self) {
        if deployment_type(&self.expansion.kind.item).is_some() {
            return;
        }
        let key = definition_property(&self.expansion.kind.item);
        let defined = self.spec.unmarked().get(key).cloned().unwrap_or_default();
        if let Some(member) = known_keys_map(&self.member, &defined) {
            self.member = member;
        }
        if !matches!(
            self.expansion.kind.item.as_ref(),
            RESOURCE_GROUP | SCALING_GROUP
        ) {
            return;
        }
        let known = |part: &str| defined.unmarked().get(part).cloned().unwrap_or_default();
        let is_open = self.place.complete && (self.spec.is_unknown() || defined.is_unknown());
        let ExprKind::Map(entries) = &mut self.member.kind else {
            if is_open {
                self.not_static(key);
            }
            return;
        };
        let mut open = false;
        for (name, value) in entries {
            match name.item.as_ref() {
                "type" if value.as_literal().is_none() => {
                    let ty = known("type");
                    open = ty.has_unknown();
                    if !open {
                        let ty = ty.revealed();
                        let is_text =
                            matches!(ty, Value::Int(_) | Value::Bool(_) | Value::Decimal(_));
                        value.kind = ExprKind::Literal(if is_text {
                            Value::from(pycompat::text(&ty))
                        } else {
                            ty
                        });
                    }
                }
                "properties" => {
                    let properties = known("properties");
                    if let Some(apart) = known_keys_map(value, &properties) {
                        *value = apart;
                    }
                    if self.expansion.kind.item.as_ref() == RESOURCE_GROUP {
                        remove_null_entries(value, &properties);
                    }
                }
                _ => {}
            }
        }
        if open && self.place.complete {
            self.not_static(key);
        }
    }

    pub(super) fn not_static(&mut self, key: &str) {
        self.found.push(
            dialect::codes::EACH_NOT_STATIC
                .new(format!(
                    "`{key}` of a group must be known before the deployment"
                ))
                .label(self.span_of(key), "known only on deploy"),
        );
    }

    pub(super) fn span_of(&self, key: &str) -> Span {
        part(&self.expansion.spec, key).map_or(self.expansion.kind.span, |expr| expr.span)
    }

    /// A part of the definition; `None` if it is absent or null. A value that is still unknown is
    /// reported.
    pub(super) fn known(&mut self, key: &str) -> Result<Option<Value>, ()> {
        let value = match self.spec.unmarked() {
            Value::Unknown(_) => self.spec.clone(),
            spec => spec.get(key).cloned().unwrap_or_default(),
        };
        if value.is_null() {
            return Ok(None);
        }
        if !value.has_unknown() {
            return Ok(Some(value.revealed()));
        }
        if self.place.complete {
            self.not_static(key);
        }
        Err(())
    }

    pub(super) fn integer_property(&mut self, key: &str) -> Result<Option<i64>, ()> {
        let Some(value) = self.known(key)? else {
            return Ok(None);
        };
        // A value that is no number was reported with the definition.
        pycompat::integer(&value)
            .ok()
            .and_then(|value| value.as_int())
            .map(Some)
            .ok_or(())
    }

    /// A size. Null is 0, as for every integer without a default.
    pub(super) fn size(&mut self, key: &str) -> Result<Option<i64>, ()> {
        let is_null = self.spec.unmarked().get(key).is_some_and(Value::is_null);
        if is_null {
            Ok(Some(0))
        } else {
            self.integer_property(key)
        }
    }

    pub(super) fn out_of_range(&mut self, key: &str, message: String, words: &str) {
        let span = self.span_of(key);
        self.found.push(
            VALUE_CONSTRAINT
                .new(message)
                .label(span, "does not fit the others")
                .with_native_message(invalid(words)),
        );
    }

    /// The number of members if it is within the limit. Otherwise reports the excess and returns 1.
    /// The check precedes the expansion, so that a huge number takes no memory.
    pub(super) fn within_limit(&mut self, key: &str, count: usize) -> usize {
        let settings = &self.place.context.settings;
        let resources = settings.limits(NAME).resources.unwrap_or(0);
        let most = settings
            .limits
            .members
            .unwrap_or(resources.max(MOST_MEMBERS));
        if count <= most {
            // Each member has its own definition.
            let all = expr::Meter::new(None, settings.limits.all_value_bytes).total_limit();
            let fits = all / expr::weight(&self.expansion.spec).max(1);
            if count <= fits.max(1) {
                return count;
            }
            self.found.push(
                VALUE_CONSTRAINT
                    .new(format!("a group with a definition this large may have at most {fits} members, not {count}"))
                    .label(self.span_of(key), "too many")
                    .help("make the definition smaller, or raise `all-value-bytes` under `[documents]` in `cyan.toml`"),
            );
            return 1;
        }
        self.found.push(
            VALUE_CONSTRAINT
                .new(format!("a group may have at most {most} members, not {count}"))
                .label(self.span_of(key), "too many")
                .help("divide it into several groups, or raise `members` under `[documents]` in `cyan.toml`"),
        );
        1
    }

    /// The value of the definition of members, as far as it is known.
    pub(super) fn defined(&self, key: &str) -> &Value {
        self.spec.unmarked().get(key).unwrap_or(&Value::Null)
    }

    /// Adds a member.
    pub(super) fn member(
        &mut self,
        name: &Name,
        definition: &Expr,
        properties: Option<Expr>,
        depends_on: Vec<Spanned<Name>>,
    ) {
        let Some(type_expr) = part(definition, "type") else {
            return;
        };
        let is_nothing = |value: &Value| value.is_null() || value.as_text() == Some("");
        if type_expr.as_literal().is_some_and(is_nothing)
            && self.names.is_empty()
            && self.found.is_empty()
        {
            let missing = MISSING_FIELD
                .new("the members have no type")
                .label(type_expr.span, "it evaluates to null or an empty text")
                .with_native_message(invalid("Resource \"None\" has no type"));
            self.found.push(missing);
        }
        // A value that is no type was reported with the definition.
        let type_name = type_expr
            .as_literal()
            .and_then(Value::as_text)
            .filter(|name| !name.is_empty());
        let Some(type_name) = type_name.map(Name::from) else {
            return;
        };
        let span = type_expr.span;
        let spec_key = properties.as_ref().map_or(span, |expr| expr.span);
        let spec = properties.unwrap_or_else(|| Expr::new(ExprKind::Map(Vec::new()), span));
        let context = crate::context::of(self.place.context);
        let (kind, meaning) = context.resolve_type(&type_name, name);
        let stands_for =
            (meaning != type_name).then(|| Spanned::new(TypeId::from(type_name), span));
        let type_name = Spanned::new(TypeId::from(meaning), span);
        self.names.push((name.clone(), kind));
        let path = Expr::literal(Value::Text(type_name.item.name().clone()), span);
        let said = |key: &str| {
            part(definition, key).filter(|expr| expr.as_literal().is_none_or(|it| !it.is_null()))
        };
        let (removal, policy) = (
            said("deletion_policy").cloned().map(Box::new),
            said("update_policy").cloned(),
        );
        let mut providers = Vec::new();
        if type_name.item.name().as_ref() == STACK {
            let resources = &self.blueprint.resources;
            let is_taken = |name: &str| resources.contains_key(name);
            let report = |diagnostic| self.found.push(diagnostic);
            if let Some((region, configuration)) = region_of_stack(name, &spec, is_taken, report) {
                providers.push(region.clone());
                self.blueprint.resources.insert(region.item, configuration);
            }
        }
        match kind {
            LoweredKind::Resource => {
                let metadata = ResourceMetadata {
                    custom: said("metadata").cloned(),
                    replacement_trigger: None,
                    ..ResourceMetadata::default()
                };
                let resource = Resource {
                    depends_on,
                    metadata,
                    lifecycle: context.lifecycle(name),
                    removal,
                    update_policy: policy.map(Box::new),
                    ..Resource::new(span, type_name, spec_key, spec)
                };
                self.blueprint.resources.insert(name.clone(), resource);
            }
            LoweredKind::Child | LoweredKind::Group => {
                let (inputs, expansion) = if kind == LoweredKind::Group {
                    let metadata = said("metadata").cloned();
                    let (expansion, inputs) =
                        expansion(type_name, spec, spec_key, policy, metadata);
                    (inputs, Some(Box::new(expansion)))
                } else {
                    let inputs = match spec.kind {
                        ExprKind::Map(entries) => entries,
                        _ => Vec::new(),
                    };
                    (inputs, None)
                };
                let child = Child {
                    span,
                    path,
                    stands_for,
                    inputs,
                    source: None,
                    condition: None,
                    depends_on,
                    providers,
                    removal,
                    expansion,
                    breakpoints: context.breakpoints(name),
                    description: None,
                };
                self.blueprint.children.insert(name.clone(), child);
            }
        }
    }
}
