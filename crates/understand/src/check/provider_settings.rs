//! Checks the settings of a provider configuration that a document declares against the catalogue
//! of the provider, like the settings in `cyan.toml`.
//!
//! The settings become fields of the type of the declaring resource. They are therefore checked,
//! converted and marked as secret like all fields. Not here: catalogues without settings, whose
//! providers check the settings themselves.

use std::sync::Arc;

use blueprint::{Expr, ExprKind, Field, Kind, Name, Resource, Schema, Value};
use diag::Spanned;
use provider::{Catalog, Catalogs, ResourceType};

use super::{Checker, codes};

const SETTINGS: &str = "settings";

/// The type of a resource that declares a configuration, with the settings of its provider. `None`
/// for any other resource, or if the settings are not known.
pub(super) fn with_settings(
    ty: &ResourceType,
    resource: &Resource,
    catalogs: &Catalogs,
) -> Option<Arc<ResourceType>> {
    let catalog = catalogs
        .of(resource.configured_namespace()?)
        .filter(|catalog| !catalog.settings.is_empty())?;
    let settings = schema_of(catalog);
    let mut fields = ty.schema.fields.clone();
    let field = fields.get_mut(SETTINGS)?;
    field.required = settings.fields.values().any(|setting| setting.required);
    field.kind = Kind::Object(Arc::new(settings));
    Some(Arc::new(ResourceType {
        schema: Arc::new(Schema {
            fields,
            ..Schema::clone(&ty.schema)
        }),
        ..ty.clone()
    }))
}

/// The settings as fields. The provider applies the defaults, and decides the effect of a change.
fn schema_of(catalog: &Catalog) -> Schema {
    let fields = catalog.settings.iter().map(|setting| {
        let field = &setting.field;
        let required = field.required && field.default.is_none();
        let own = Field {
            required,
            default: None,
            nullable: false,
            must_recreate: false,
            ..field.clone()
        };
        (setting.name.clone(), own)
    });
    Schema {
        fields: fields.collect(),
        ..Schema::default()
    }
}

impl Checker<'_> {
    /// Reports references to the environment, which are allowed only in `cyan.toml`: a document
    /// receives such values as inputs.
    pub(super) fn environment_in_settings(&mut self, entries: &[(Spanned<Name>, Expr)]) {
        for (_, settings) in entries
            .iter()
            .filter(|(key, _)| key.item.as_ref() == SETTINGS)
        {
            self.environment_in(settings);
        }
    }

    fn environment_in(&mut self, value: &Expr) {
        match &value.inner().kind {
            ExprKind::Literal(Value::Text(text)) => {
                let Some(name) = text.strip_prefix("env:").filter(|name| is_variable(name)) else {
                    return;
                };
                self.found.push(
                    codes::ENVIRONMENT_SETTING
                        .new(format!("a document does not read `{name}` from the environment"))
                        .label(value.span, "`env:` has this meaning in `cyan.toml` only")
                        .help(format!(
                            "declare a variable with `secret: true`, write `${{variables.NAME}}` here, and give its value \
                             as an input, for example in the environment: `CYAN_VAR_NAME=\"${name}\"`"
                        )),
                );
            }
            ExprKind::List(items) => items.iter().for_each(|item| self.environment_in(item)),
            ExprKind::Map(entries) => entries
                .iter()
                .for_each(|(_, value)| self.environment_in(value)),
            _ => {}
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '_')
}
