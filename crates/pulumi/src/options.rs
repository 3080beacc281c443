//! The options of a resource (decisions/pulumi#options).
//!
//! Not here: what a child inherits from its parent (`resources`).

use blueprint::{Expr, Lifecycle, Name, ReplaceOrder, Ties};
use diag::{Span, Spanned};
use syntax::Node;

use crate::access::has_access;
use crate::codes::NOT_A_RESOURCE;
use crate::computed::{ComputedSettings, Limited, Setting};
use crate::lowering::ProgramLowering;
use crate::read::{is_null, node_kind, text, value_span, wrong_shape};
use crate::shape;
use dialect::codes::UNSUPPORTED_FEATURE;

/// The options of a resource in the terms of the blueprint.
#[derive(Default)]
pub(crate) struct ResourceOptions {
    /// Lifecycle settings.
    pub(crate) lifecycle: Lifecycle,
    /// Whether it is protected, if that is computed.
    pub(crate) protection: Option<Box<Expr>>,
    /// Whether `protect` is written.
    pub(crate) states_protection: bool,
    /// Whether `retainOnDelete` is written, so that the parent does not decide.
    pub(crate) states_retention: bool,
    /// Resources that must be there first.
    pub(crate) depends_on: Vec<Spanned<Name>>,
    /// The provider that manages the resource.
    pub(crate) provider: Option<Spanned<Name>>,
    /// The resource that it belongs to.
    pub(crate) parent: Option<Spanned<Name>>,
    /// Its ties to other resources and to former identities.
    pub(crate) ties: Option<Box<Ties>>,
    /// The providers of its children.
    pub(crate) providers: Vec<Spanned<Name>>,
    /// Where it gives environment variables of its plugin other names.
    pub(crate) maps_environment: Option<Span>,
    /// The value whose change replaces it.
    pub(crate) replacement_trigger: Option<Box<Expr>>,
    /// Settings that are computed.
    pub(crate) computed: ComputedSettings,
}

/// Options that cannot be null.
const NOT_NULL: [&str; 4] = ["dependsOn", "parent", "protect", "provider"];

impl ProgramLowering<'_> {
    /// Reads the options of a resource.
    pub(crate) fn options(&mut self, node: &Node) -> ResourceOptions {
        let mut options = ResourceOptions::default();
        if is_null(node) {
            return options;
        }
        let Some(fields) = self.fields(&shape::OPTIONS, node, "`options`") else {
            return options;
        };
        self.unknown_keys(&shape::OPTIONS, &fields.others);
        for name in NOT_NULL {
            if let Some(entry) = fields.entry(name).filter(|entry| is_null(entry.value)) {
                wrong_shape(
                    entry.value,
                    &format!("`{name}`"),
                    "a value",
                    &mut self.found,
                );
            }
        }
        if let Some(node) = fields.written("version") {
            self.version(node, "`version`");
        }
        if let Some(node) = fields.written("pluginDownloadURL") {
            self.fixed_text(node, "`pluginDownloadURL`");
        }
        if let Some(node) = fields.written("providers") {
            options.providers = self.providers(node);
        }
        if let Some(entry) = fields.entry("envVarMappings")
            && !is_empty(entry.value)
        {
            options.maps_environment = Some(entry.key.span);
            self.environment_names(entry.value);
        }
        options.ties = self.ties(&fields, &mut options.computed);
        if let Some(node) = fields.written("replacementTrigger") {
            options.replacement_trigger = Some(Box::new(self.expr(node)));
        }
        let lifecycle = &mut options.lifecycle;
        if let Some(node) = fields.written("protect") {
            options.states_protection = true;
            match text(node).filter(|text| text.contains("${")) {
                Some(_) => options.protection = Some(Box::new(self.expr(node))),
                None if node.as_scalar().is_some() => {
                    lifecycle.protect = self.switch(node, "`protect`").unwrap_or(false);
                }
                None => options.protection = Some(Box::new(self.expr(node))),
            }
        }
        if let Some(node) = fields.written("retainOnDelete") {
            options.states_retention = true;
            lifecycle.retain = self.switch(node, "`retainOnDelete`").unwrap_or(false);
        }
        if let Some(node) = fields.written("deleteBeforeReplace") {
            let order = |first: bool| match first {
                true => ReplaceOrder::DeleteFirst,
                false => ReplaceOrder::CreateFirst,
            };
            lifecycle.replace_order = self.switch(node, "`deleteBeforeReplace`").map(order);
        }
        if let Some(node) = fields.written("ignoreChanges") {
            let paths = self.fixed_texts(node, "`ignoreChanges`");
            lifecycle.ignore_changes = paths.iter().map(|path| Name::from(path.item)).collect();
        }
        if let Some(node) = fields.written("additionalSecretOutputs") {
            let names = self.fixed_texts(node, "`additionalSecretOutputs`");
            lifecycle.secret_fields = names.iter().map(|name| Name::from(name.item)).collect();
        }
        if let Some(node) = fields.written("replaceOnChanges") {
            let paths = self.fixed_texts(node, "`replaceOnChanges`");
            lifecycle.replace_on_changes = paths.iter().map(|path| path.item.into()).collect();
        }
        if let Some(node) = fields.written("import") {
            let id = self.fixed_text(node, "`import`");
            let id = id.filter(|id| !id.item.is_empty());
            lifecycle.import = id.map(|id| Name::from(id.item));
        }
        if let Some(node) = fields.written("customTimeouts") {
            self.timeouts(node, lifecycle, &mut options.computed);
        }
        if let Some(node) = fields.written("dependsOn") {
            options.depends_on = match node.as_list() {
                Some(_) => self.named_resources(node, "`dependsOn`"),
                None => {
                    self.found.push(
                        NOT_A_RESOURCE
                            .new("`dependsOn` must be a list of resources")
                            .label(value_span(node), node_kind(node))
                            .help("write `[${NAME}]`"),
                    );
                    Vec::new()
                }
            };
        }
        options.provider = fields
            .written("provider")
            .and_then(|node| self.named_resource(node, "`provider`"));
        options.parent = fields
            .written("parent")
            .and_then(|node| self.named_resource(node, "`parent`"));
        options
    }

    /// The providers of the children of a resource, as a list or as a map by package.
    fn providers(&mut self, node: &Node) -> Vec<Spanned<Name>> {
        let Some(entries) = node.as_map() else {
            return self.named_resources(node, "`providers`");
        };
        let mut named = Vec::with_capacity(entries.len());
        for entry in entries {
            named.extend(self.named_resource(&entry.value, "a provider of `providers`"));
        }
        named
    }

    /// Checks the names of environment variables: a map of texts.
    fn environment_names(&mut self, node: &Node) {
        let Some(entries) = node.as_map() else {
            if text(node).is_some_and(has_access) {
                let _ = self.expr(node);
            } else {
                wrong_shape(node, "`envVarMappings`", "a map", &mut self.found);
            }
            return;
        };
        for entry in entries {
            if text(&entry.value).is_none() {
                let what = "the name of an environment variable";
                wrong_shape(&entry.value, what, "a string", &mut self.found);
            }
            // The names in it are checked.
            let _ = self.expr(&entry.value);
        }
    }

    pub(crate) fn unsupported_option(&mut self, name: &str, span: Span) {
        self.found.push(
            UNSUPPORTED_FEATURE
                .new(format!("the option `{name}` is not followed yet"))
                .label(span, "not available in this version"),
        );
    }

    fn timeouts(
        &mut self,
        node: &Node,
        lifecycle: &mut Lifecycle,
        computed: &mut ComputedSettings,
    ) {
        let Some(fields) = self.fields(&shape::TIMEOUTS, node, "`customTimeouts`") else {
            return;
        };
        self.unknown_keys(&shape::TIMEOUTS, &fields.others);
        for limited in Limited::ALL {
            let Some(node) = fields.written(limited.key()) else {
                continue;
            };
            if text(node).is_some_and(has_access) {
                let limit = self.expr(node);
                computed.push((Setting::Timeout(limited), limit));
                continue;
            }
            let written = self.fixed_text(node, &format!("`{}`", limited.key()));
            let Some(written) = written else { continue };
            match limited.parsed(written.item, written.span) {
                Ok(limit) => limited.set(lifecycle, limit),
                Err(mistake) => self.found.push(*mistake),
            }
        }
    }
}

/// Whether a value says nothing: null, or an empty list or map.
fn is_empty(node: &Node) -> bool {
    is_null(node)
        || node.as_list().is_some_and(<[Node]>::is_empty)
        || node.as_map().is_some_and(<[syntax::MapEntry]>::is_empty)
}
