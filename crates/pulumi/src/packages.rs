//! The packages that a program names, with what it says about their plugins.
//!
//! Not here: finding plugins (the engine and `pulumi_host`).

use blueprint::{IndexMap, Name, StatedPlugin};
use dialect::{Answer, Document, PackageRequest, Wanted};
use syntax::{Content, Node};

use crate::call_forms::invoked_token;
use crate::read::text;
use crate::stack_file::StackValues;
use crate::std_package;
use crate::tokens::{BUILT_IN, TypeToken, namespace};

/// The requests for the packages by their names in Pulumi, in the order of the program.
pub(crate) type NamedPackages = IndexMap<Name, PackageRequest>;

/// What a program needs before it can be lowered: its packages, so that their types are known.
pub(crate) fn required(document: &Document<'_>) -> Vec<Wanted> {
    if document.context.inputs_only {
        return Vec::new();
    }
    let requests = named_packages(document).into_values();
    requests.map(Wanted::Package).collect()
}

/// The reason why the package of a request cannot be used; `None` if it can, or if nobody was
/// asked.
pub(crate) fn unavailable<'d>(
    document: &Document<'d>,
    request: &PackageRequest,
) -> Option<&'d Name> {
    let wanted = Wanted::Package(request.clone());
    match document.context.answers.get(&wanted)? {
        Answer::Missing(why) => Some(why),
        _ => None,
    }
}

/// Finds the packages of all types and functions.
pub(crate) fn named_packages(document: &Document<'_>) -> NamedPackages {
    let mut named = NamedPackages::default();
    let Some(root) = &document.tree().root else {
        return named;
    };
    let resources = section_key(root, "resources").and_then(Node::as_map);
    for entry in resources.into_iter().flatten() {
        let Some(node) = section_key(&entry.value, "type") else {
            continue;
        };
        let package = match text(node).and_then(TypeToken::read) {
            Some(TypeToken::Packaged { package, .. } | TypeToken::Provider { package }) => package,
            _ => continue,
        };
        if package == BUILT_IN {
            continue;
        }
        // The first resource of a package decides.
        if named.contains_key(package) {
            continue;
        }
        let request = named_package(&mut named, package);
        let options = section_key(&entry.value, "options");
        let option = |key: &str| {
            options
                .and_then(|options| section_key(options, key))
                .and_then(Node::text)
        };
        request.version = option("version").map(Name::from);
        request.url = option("pluginDownloadURL").map(unescaped);
    }
    calls(root, &mut named);
    let plugins = root
        .get("plugins")
        .and_then(|plugins| plugins.get("providers"));
    for plugin in plugins.and_then(Node::as_list).unwrap_or_default() {
        let part = |key: &str| plugin.get(key).and_then(Node::text).map(Name::from);
        let Some(package) = part("name").and_then(|name| named.get_mut(&name)) else {
            continue;
        };
        package.path = part("path");
        if let Some(version) = part("version") {
            package.version = Some(version);
        }
    }
    let locks = StackValues::of(document.context).locks;
    for (name, request) in &mut named {
        if let Some(locked) = locks.get(name) {
            locked.complete(request);
        }
    }
    named
}

/// A text without accesses, in which `$$` is a dollar sign.
pub(crate) fn unescaped(text: &str) -> Name {
    text.replace("$$", "$").into()
}

/// The plugin that a request asks for.
pub(crate) fn stated_plugin(request: &PackageRequest) -> StatedPlugin {
    StatedPlugin {
        version: request.version.clone(),
        url: request.url.clone(),
    }
}

/// The request for a package, which is added if it is new.
fn named_package<'n>(named: &'n mut NamedPackages, package: &str) -> &'n mut PackageRequest {
    let new = || PackageRequest::named(namespace(package));
    named.entry(package.into()).or_insert_with(new)
}

/// Adds the packages of all functions that are called in a node.
fn calls(node: &Node, named: &mut NamedPackages) {
    match &node.content {
        Content::List(items) => items.iter().for_each(|item| calls(item, named)),
        Content::Map(entries) => {
            if let [entry] = entries.as_slice()
                && let Some(token) = invoked_token(entry)
                && let Some(TypeToken::Packaged { package, .. }) = TypeToken::read(token)
                && package != std_package::PACKAGE
                && package != BUILT_IN
            {
                named_package(named, package);
            }
            for entry in entries {
                calls(&entry.value, named);
            }
        }
        Content::Scalar(_) | Content::Missing => {}
    }
}

/// The value of a key without regard to case.
fn section_key<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let matches = |written: &str| written.eq_ignore_ascii_case(key);
    let mut entries = node.as_map()?.iter();
    entries
        .find(|entry| entry.key.text().is_some_and(matches))
        .map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use dialect::LoadContext;

    use super::*;

    #[test]
    fn the_first_resource_of_a_package_decides_on_its_version() {
        let text = "Resources:\n  a: {Type: 'x:A', Options: {Version: 1.2.3}}\n  \
                    b: {type: 'x:B', options: {version: 2.0.0}}\n  c: {type: 'y:C'}\n  \
                    d: {type: 'y:C', options: {version: 3.0.0}}\n\
                    outputs: {o: {'fn::std:uuid': {}}, p: {'fn::z:f': {}}}\n";
        let file = diag::FileId::new(0);
        let (tree, _) = syntax::parse(file, text, syntax::Format::Yaml);
        let (trees, context) = ([tree], LoadContext::default());
        let document = Document::new(file, "Pulumi.yaml", text, &trees, &context);
        let named = named_packages(&document);
        let versions: Vec<(&str, Option<&str>)> = named
            .iter()
            .map(|(name, request)| (name.as_ref(), request.version.as_deref()))
            .collect();
        assert_eq!(versions, [("x", Some("1.2.3")), ("y", None), ("z", None)]);
    }
}
