//! The environment of a template. Nested templates see all of it except the parameters
//! (decisions/heat#environments).

use std::sync::Arc;

use blueprint::{Breakpoints, IndexMap, Lifecycle, Map, Name, ReplaceOrder, Restricted, Value};
use diag::{Diagnostics, Span};
use expr::ValueStep;
use syntax::Node;

use super::environment::{
    HeatEnvironment, NamedEnvironment, Registry, ResolvedType, TypeResolution, merge,
};
use super::kinds::{LoweredKind, element_kind};
use super::parameters::ParameterKind;
use super::read::{NodeReader, value_span};
use super::refusal::ValueRefusal;
use dialect::{Companion, DialectContext, Document, LoadContext, LoadedCompanions, TypeLookup};

/// The environment of a template.
#[derive(Clone, Debug, Default)]
pub struct TemplateContext {
    /// Values that replace the defaults of parameters.
    defaults: Arc<Map>,
    /// Parameters that are secret although their schemas do not declare them hidden.
    encrypted: Arc<[Name]>,
    registry: Arc<Registry>,
    /// Whether the registry has entries for single resources, so that each nested template has its
    /// own registry.
    is_particular: bool,
    /// A function that returns whether a provider offers a type; `None` if the types are unknown.
    types: Option<TypeLookup>,
}

impl TemplateContext {
    /// The value that replaces a parameter's own default.
    pub(super) fn default_of(&self, parameter: &str) -> Option<&Value> {
        self.defaults
            .get(parameter)
            .filter(|value| !value.is_null())
    }

    /// Whether a parameter is secret although its schema does not declare it hidden.
    pub(super) fn encrypts(&self, parameter: &str) -> bool {
        self.encrypted.iter().any(|name| name.as_ref() == parameter)
    }

    fn resolved(&self, type_name: &str, resource: &str) -> Option<TypeResolution> {
        let known = self
            .registry
            .resolve(type_name, Some(resource), &|name| self.exists(name));
        // A type that does not exist is reported under the name that it resolves to.
        known.or_else(|| self.registry.resolve(type_name, Some(resource), &|_| true))
    }

    /// Whether a provider offers a type. Returns `true` if the types are unknown.
    fn exists(&self, type_name: &str) -> bool {
        self.types
            .as_ref()
            .is_none_or(|types| (types.has_type)(type_name))
    }

    /// Resolves the type of a resource to the kind of element, and the type or path.
    pub(super) fn resolve_type(&self, type_name: &str, resource: &str) -> (LoweredKind, Name) {
        match self
            .resolved(type_name, resource)
            .map(|resolved| resolved.target)
        {
            Some(ResolvedType::Template(path)) => (LoweredKind::Child, path),
            Some(ResolvedType::Type(name)) => (element_kind(&name), name),
            None => (element_kind(type_name), type_name.into()),
        }
    }

    /// Resolves the types of all resources, in order. As in Heat, an alias for one resource applies
    /// to later ones, too.
    pub(super) fn resolve_types<'r>(
        &self,
        resources: impl IntoIterator<Item = (&'r str, &'r str)> + Clone,
    ) -> Vec<(LoweredKind, Name)> {
        let mut registry = Registry::clone(&self.registry);
        let all = registry.resolve_all(resources.clone(), &|name| self.exists(name));
        let meaning = |((resource, written), resolved): ((&str, &str), Option<TypeResolution>)| {
            match resolved.or_else(|| self.registry.resolve(written, Some(resource), &|_| true)) {
                Some(TypeResolution {
                    target: ResolvedType::Template(path),
                    ..
                }) => (LoweredKind::Child, path),
                Some(TypeResolution {
                    target: ResolvedType::Type(name),
                    ..
                }) => (element_kind(&name), name),
                None => (element_kind(written), written.into()),
            }
        };
        resources.into_iter().zip(all).map(meaning).collect()
    }

    /// The environment of a resource that is a nested template.
    fn for_child(&self, resource: &str, type_name: &str) -> TemplateContext {
        let entry = self
            .resolved(type_name, resource)
            .and_then(|resolved| resolved.entry);
        if !self.is_particular && entry.is_none() {
            return self.clone();
        }
        let registry = self.registry.for_child(resource, entry.as_deref());
        TemplateContext {
            registry: Arc::new(registry),
            ..self.clone()
        }
    }

    /// The breakpoints of a resource: its hooks.
    pub(super) fn breakpoints(&self, resource: &str) -> Breakpoints {
        // Unknown hooks have been reported at their place.
        self.registry
            .hooks(resource)
            .iter()
            .filter_map(|hook| hook.parse().ok())
            .collect()
    }

    /// The lifecycle of a resource with the settings of the environment: a replacement is created
    /// first, and a failed resource is replaced.
    pub(super) fn lifecycle(&self, resource: &str) -> Lifecycle {
        let mut restricted = Restricted::default();
        for action in self.restricted(resource) {
            match action.as_ref() {
                "update" => restricted.update = true,
                _ => restricted.replace = true,
            }
        }
        Lifecycle {
            replace_order: Some(ReplaceOrder::CreateFirst),
            replace_if_failed: true,
            restricted,
            breakpoints: self.breakpoints(resource),
            ..Lifecycle::default()
        }
    }

    /// The actions that the environment forbids for a resource.
    fn restricted(&self, resource: &str) -> Vec<Name> {
        self.registry.restricted_actions(resource)
    }
}

impl DialectContext for TemplateContext {
    fn for_child(&self, child: &str, type_name: &str) -> Arc<dyn DialectContext> {
        Arc::new(TemplateContext::for_child(self, child, type_name))
    }

    fn identity(&self) -> usize {
        Arc::as_ptr(&self.registry) as usize
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Reads and merges environment files: the environment of the root, and the values for its
/// parameters.
pub(super) fn read_companions(root: &Document<'_>, beside: &[Companion<'_>]) -> LoadedCompanions {
    let mut diagnostics = Diagnostics::new();
    let kinds = kinds_of(root);
    let mut files = Vec::with_capacity(beside.len());
    let mut whole: Vec<Span> = Vec::with_capacity(beside.len());
    for file in beside {
        let mut reader = NodeReader {
            found: Diagnostics::new(),
        };
        let value = file
            .tree
            .root
            .as_ref()
            .map_or(Value::Null, |root| reader.value(root));
        diagnostics.append(reader.found);
        let mut refusals = Vec::new();
        let mut environment = HeatEnvironment::parse(&value, &mut refusals);
        in_folder(&mut environment.registry, file.folder);
        let mut of_registry = Vec::new();
        Registry::new(&environment.registry, &mut of_registry);
        refusals.extend(
            of_registry
                .into_iter()
                .map(|refusal| refusal.within("resource_registry")),
        );
        for refusal in refusals {
            let at = refusal_span(file, &refusal);
            diagnostics.push(refusal.invalid().at(at));
        }
        whole.push(
            file.tree
                .root
                .as_ref()
                .map_or(Span::new(file.file, 0, 0), |root| value_span(root).head()),
        );
        files.push(NamedEnvironment {
            name: file.name,
            environment,
        });
    }
    let mut conflicts = Vec::new();
    let kind = |name: &str| kinds.get(name).copied();
    let (request, files): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.name.is_empty());
    let numbers: Vec<usize> = (0..beside.len())
        .filter(|at| !beside[*at].name.is_empty())
        .collect();
    // Merge strategies apply to files. Values given outside of files are the base of the merge.
    let mut base = HeatEnvironment::default();
    for mut part in request {
        part.environment.strategies = Map::new();
        base = merge(base, vec![part], &kind, &mut Vec::new());
    }
    let merged = merge(base, files, &kind, &mut conflicts);
    for (number, refusal) in conflicts {
        let number = numbers.get(number).copied().unwrap_or(number);
        let at = beside
            .get(number)
            .map_or(Span::NONE, |file| refusal_span(file, &refusal));
        let at = if at.is_some() {
            at
        } else {
            whole.get(number).copied().unwrap_or(Span::NONE)
        };
        diagnostics.push(refusal.invalid().at(at));
    }
    let registry = Registry::new(&merged.registry, &mut Vec::new());
    let context = TemplateContext {
        defaults: Arc::new(merged.parameter_defaults),
        encrypted: merged.encrypted.into(),
        registry: Arc::new(registry),
        types: root.context.types.clone(),
        is_particular: merged
            .registry
            .get("resources")
            .is_some_and(|resources| !resources.is_null()),
    };
    let given = merged
        .parameters
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let context = LoadContext {
        dialect_context: Some(Arc::new(context)),
        ..root.context.clone()
    };
    LoadedCompanions {
        context,
        input_values: given,
        diagnostics,
    }
}

/// The kinds of the parameters of the root.
fn kinds_of(root: &Document<'_>) -> IndexMap<Name, ParameterKind> {
    let mut reader = NodeReader {
        found: Diagnostics::new(),
    };
    let Some(parameters) = root
        .tree()
        .root
        .as_ref()
        .and_then(|root| root.get("parameters"))
    else {
        return IndexMap::default();
    };
    let pairs = reader.pairs(parameters).unwrap_or_default();
    let kind = |pair: super::read::TextEntry<'_>| {
        let kind = ParameterKind::of_parameter(pair.value.get("type")?.text()?)?;
        Some((pair.key.item, kind))
    };
    pairs.into_iter().filter_map(kind).collect()
}

/// Makes the paths of templates relative to the root: in a file they are relative to the folder of
/// the file.
fn in_folder(registry: &mut Map, folder: &str) {
    if folder.is_empty() {
        return;
    }
    let entries = std::mem::take(registry);
    for (key, value) in entries.iter() {
        registry.insert(key.clone(), prefix_relative_paths(value, folder));
    }
}

fn prefix_relative_paths(value: &Value, folder: &str) -> Value {
    match value {
        Value::Text(text) if is_relative(text) => Value::text(format!("{folder}/{text}")),
        Value::Map(entries) => Value::map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), prefix_relative_paths(value, folder)))
                .collect::<Vec<_>>(),
        ),
        other => other.clone(),
    }
}

fn is_relative(text: &str) -> bool {
    let template = text.ends_with(".yaml") || text.ends_with(".template");
    template && !text.starts_with('/') && !text.contains("://")
}

/// The place of a refusal in a file, as far as its path can be followed.
fn refusal_span(file: &Companion<'_>, refusal: &ValueRefusal) -> Span {
    let Some(root) = &file.tree.root else {
        return Span::new(file.file, 0, 0);
    };
    let mut node: &Node = root;
    let mut at = value_span(node).head();
    for step in &refusal.path {
        let next = match step {
            ValueStep::Key(key) => match node.entry(key) {
                Some(entry) => {
                    at = value_span(&entry.key);
                    &entry.value
                }
                None => break,
            },
            ValueStep::Index(number) => match node.as_list().and_then(|items| items.get(*number)) {
                Some(item) => {
                    at = value_span(item);
                    item
                }
                None => break,
            },
        };
        node = next;
    }
    at
}

/// The environment for lowering; an empty one if there is none.
pub(super) fn of(context: &LoadContext) -> TemplateContext {
    // The context of another dialect has no environment of Heat.
    let own = context
        .dialect_context
        .as_ref()
        .and_then(|own| own.as_any().downcast_ref::<TemplateContext>());
    own.cloned().unwrap_or_default()
}
