//! Groups: documents that are written from a definition, a size and the remembered members
//! (decisions/heat#groups, decisions/heat#stacks-as-resources).

mod definition;
mod deployments;
mod exports;
mod rolling;
mod sizes;
mod writer;

use blueprint::{Blueprint, Expansion, Expr, ExprKind};
use diag::Diagnostics;

pub(super) use definition::{expansion, part};

use self::definition::{definition_of, without_omitted};
use self::writer::GroupWriter;
use crate::kinds::{CHAIN, RESOURCE_GROUP, SCALING_GROUP, deployment_type};
use dialect::{Expanded, ExpansionContext};

/// Expands a group to its document.
pub(super) fn expand(expansion: &Expansion, place: &ExpansionContext<'_>) -> Expanded {
    let written = definition_of(&expansion.spec, &expansion.kind.item);
    let member = written.and_then(|written| without_omitted(written, &expansion.member, place));
    let member =
        member.unwrap_or_else(|| Expr::new(ExprKind::Map(Vec::new()), expansion.member.span));
    let mut writer = GroupWriter {
        expansion,
        place,
        member,
        spec: (place.evaluate)(&expansion.spec),
        found: Diagnostics::new(),
        names: Vec::new(),
        blueprint: Blueprint {
            dialect: crate::NAME,
            ..Blueprint::default()
        },
    };
    writer.blueprint.span = Some(expansion.kind.span);
    writer.resolve_known_parts();
    if let Some(member_type) = deployment_type(&expansion.kind.item) {
        return writer.deployment_group(member_type);
    }
    match expansion.kind.item.as_ref() {
        RESOURCE_GROUP => writer.resource_group(),
        SCALING_GROUP => writer.scaling_group(),
        CHAIN => writer.chain(),
        _ => writer.stack(),
    }
}
