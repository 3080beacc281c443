//! Settings of a program that are computed from its configuration: they are read once the inputs are
//! known, before a plan is made (decisions/pulumi#computed-settings).

use std::time::Duration;

use blueprint::{
    Blueprint, Expr, ExprKind, FormerIdentity, Lifecycle, Name, Resource, Value, parse_duration,
};
use diag::{Diagnostic, Diagnostics, Span, Spanned};
use dialect::EvaluateFn;
use dialect::codes::{UNPARSABLE_VALUE, WRONG_SHAPE};
use expr::codes::TYPE_MISMATCH;

use crate::required_version;

/// The beginning of a URN.
pub(crate) const URN: &str = "urn:";

/// The computed settings of a resource.
pub(crate) type ComputedSettings = Vec<(Setting, Expr)>;

/// A setting of a resource that may be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// A limit of `customTimeouts`.
    Timeout(Limited),
    /// A part of the alias at this position.
    Former(usize, FormerPart),
}

/// What a limit of `customTimeouts` is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limited {
    /// Creates.
    Create,
    /// Updates.
    Update,
    /// Deletes.
    Delete,
    /// Reads.
    Read,
}

impl Limited {
    /// All of them.
    pub(crate) const ALL: [Limited; 4] = [
        Limited::Create,
        Limited::Update,
        Limited::Delete,
        Limited::Read,
    ];

    /// The key of the limit.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Limited::Create => "create",
            Limited::Update => "update",
            Limited::Delete => "delete",
            Limited::Read => "read",
        }
    }

    /// Reads a limit.
    ///
    /// # Errors
    /// If the text is no length of time.
    pub(crate) fn parsed(self, text: &str, span: Span) -> Result<Duration, Box<Diagnostic>> {
        parse_duration(text).map_err(|error| {
            let mistake = UNPARSABLE_VALUE
                .new(format!("the limit of `{}` is {error}", self.key()))
                .label(span, "no length of time")
                .help("write `30s`, `10m` or `1h30m`");
            Box::new(mistake)
        })
    }

    /// Sets the limit.
    pub(crate) fn set(self, lifecycle: &mut Lifecycle, limit: Duration) {
        let limits = &mut lifecycle.timeouts;
        *match self {
            Limited::Create => &mut limits.create,
            Limited::Update => &mut limits.update,
            Limited::Delete => &mut limits.delete,
            Limited::Read => &mut limits.read,
        } = Some(limit);
    }
}

/// A part of a former identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormerPart {
    /// A URN, or else a former name.
    Any,
    /// The whole URN.
    Urn,
    /// The name.
    Name,
    /// The type.
    Type,
    /// The stack.
    Stack,
    /// The project.
    Project,
}

impl FormerPart {
    /// The parts that have a key of their own.
    pub(crate) const NAMED: [FormerPart; 5] = [
        FormerPart::Urn,
        FormerPart::Name,
        FormerPart::Type,
        FormerPart::Stack,
        FormerPart::Project,
    ];

    /// The key of the part.
    pub(crate) fn key(self) -> &'static str {
        match self {
            FormerPart::Any => "alias",
            FormerPart::Urn => "urn",
            FormerPart::Name => "name",
            FormerPart::Type => "type",
            FormerPart::Stack => "stack",
            FormerPart::Project => "project",
        }
    }

    /// Sets the part.
    pub(crate) fn set(self, identity: &mut FormerIdentity, text: &str) {
        let part = match self {
            FormerPart::Any if text.starts_with(URN) => &mut identity.urn,
            FormerPart::Urn => &mut identity.urn,
            FormerPart::Any | FormerPart::Name => &mut identity.name,
            FormerPart::Type => &mut identity.type_name,
            FormerPart::Stack => &mut identity.instance,
            FormerPart::Project => &mut identity.project,
        };
        *part = Some(text.into());
    }
}

impl Setting {
    /// The name of the setting in the blueprint.
    fn name(self) -> Name {
        match self {
            Setting::Timeout(limited) => limited.key().into(),
            Setting::Former(at, part) => format!("{at}:{}", part.key()).into(),
        }
    }

    /// The setting of a name.
    fn of_name(name: &str) -> Option<Setting> {
        if let Some((at, key)) = name.split_once(':') {
            let mut parts = FormerPart::NAMED.into_iter().chain([FormerPart::Any]);
            let part = parts.find(|part| part.key() == key)?;
            return Some(Setting::Former(at.parse().ok()?, part));
        }
        let mut all = Limited::ALL.into_iter();
        let limited = all.find(|limited| limited.key() == name)?;
        Some(Setting::Timeout(limited))
    }
}

/// The computed settings of a resource as its blueprint has them; `None` if there are none.
pub(crate) fn written(computed: ComputedSettings, span: Span) -> Option<Box<Expr>> {
    if computed.is_empty() {
        return None;
    }
    let entries = computed
        .into_iter()
        .map(|(setting, value)| (Spanned::new(setting.name(), value.span), value));
    let all = Expr::new(ExprKind::Map(entries.collect()), span);
    Some(Box::new(all))
}

/// The program with its computed settings, as far as `value` knows them. With `complete`, one that is
/// not known is a mistake.
pub(crate) fn resolve(
    blueprint: &Blueprint,
    complete: bool,
    value: EvaluateFn<'_>,
    found: &mut Diagnostics,
) -> Blueprint {
    let mut settled = blueprint.clone();
    settled.unsettled = false;
    let text_of = |what: &str, expr: &Expr, found: &mut Diagnostics| match text(
        what, expr, complete, value,
    ) {
        Ok(text) => text,
        Err(mistake) => {
            found.extend(mistake.map(|mistake| *mistake));
            None
        }
    };
    for range in &blueprint.required_versions {
        let text = text_of("the required version", range, found);
        found.extend(text.and_then(|text| required_version::refusal(&text, range.span)));
    }
    for resource in settled.resources.values_mut() {
        let Some(computed) = resource.computed.take() else {
            continue;
        };
        let ExprKind::Map(entries) = &computed.kind else {
            continue;
        };
        for (name, expr) in entries {
            let Some(setting) = Setting::of_name(&name.item) else {
                continue;
            };
            let what = match setting {
                Setting::Timeout(limited) => format!("`{}`", limited.key()),
                Setting::Former(_, part) => format!("`{}` of an alias", part.key()),
            };
            if let Some(text) = text_of(&what, expr, found)
                && let Err(mistake) = apply(setting, resource, &text, expr.span)
            {
                found.push(*mistake);
            }
        }
    }
    settled
}

/// Gives a resource the value of a setting.
fn apply(
    setting: Setting,
    resource: &mut Resource,
    text: &str,
    span: Span,
) -> Result<(), Box<Diagnostic>> {
    match setting {
        Setting::Timeout(limited) => {
            let limit = limited.parsed(text, span)?;
            limited.set(&mut resource.lifecycle, limit);
        }
        Setting::Former(at, part) => {
            let ties = resource.ties.as_deref_mut();
            if let Some(identity) = ties.and_then(|ties| ties.former.get_mut(at)) {
                part.set(identity, text);
            }
        }
    }
    Ok(())
}

/// The text of a setting. `None` if it is null, or not known yet. An error is `None` if it is reported
/// elsewhere.
fn text(
    what: &str,
    expr: &Expr,
    complete: bool,
    value: EvaluateFn<'_>,
) -> Result<Option<String>, Option<Box<Diagnostic>>> {
    match value(expr)?.unmarked() {
        Value::Text(text) => Ok(Some(text.to_string())),
        Value::Null => Ok(None),
        Value::Unknown(_) if !complete => Ok(None),
        Value::Unknown(_) => Err(Some(Box::new(
            WRONG_SHAPE
                .new(format!("{what} is known only during the deployment"))
                .label(expr.span, "a plan needs it")
                .help("compute it from the configuration and from variables"),
        ))),
        other => Err(Some(Box::new(
            TYPE_MISMATCH
                .new(format!("{what} must be a string"))
                .label(expr.span, format!("it is {}", other.kind_word())),
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_a_name_by_which_it_is_found() {
        let limits = Limited::ALL.map(Setting::Timeout);
        let parts = FormerPart::NAMED.map(|part| Setting::Former(12, part));
        let whole = [Setting::Former(0, FormerPart::Any)];
        for setting in limits.into_iter().chain(parts).chain(whole) {
            assert_eq!(Setting::of_name(&setting.name()), Some(setting));
        }
    }
}
