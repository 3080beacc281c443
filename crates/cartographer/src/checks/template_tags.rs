//! The tags of simple templates, and whether a resource has what they name
//! (decisions/cartographer#context).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use blueprint::Value;
use jsonpath::Path;

use super::object_set::{ObjectSet, SetFault, SetObject};
use super::path_names::{leading_names, plain_steps};
use super::template_uses::{TemplateUse, TemplateUses};
use crate::kinds::{CartoKind, KindFamily};
use crate::tags::{StringTags, string_tags};
use crate::validation::{Fault, FaultClass, INPUT_LISTS, ObjectPlace};

/// Values that are nested deeper are not looked at.
const DEEPEST: usize = 128;

/// A tag of a template.
pub(crate) struct TemplateTag<'a> {
    /// The string that has it.
    place: ObjectPlace<'a>,
    /// The bytes of its path.
    span: Range<usize>,
    path: &'a str,
    /// The names with which its path starts.
    names: Vec<String>,
}

impl TemplateTag<'_> {
    /// The parameter that it reads; `None` for all of them, or for something else.
    pub(crate) fn param(&self) -> Option<&str> {
        match self.names.as_slice() {
            [first, name, ..] if first == "params" => Some(name),
            _ => None,
        }
    }

    /// Whether it reads the parameters as a whole.
    pub(crate) fn reads_all_params(&self) -> bool {
        self.names == ["params"]
    }

    fn fault(&self, class: FaultClass, message: String) -> Fault {
        let mut fault = self.place.fault(class, message);
        let position = |at: usize| u32::try_from(at).ok();
        fault.inside = position(self.span.start)
            .zip(position(self.span.end))
            .map(|(start, end)| start..end);
        fault
    }
}

/// The tags of the templates, by the position of the template.
pub(crate) type TagsOfSet<'a> = BTreeMap<usize, Vec<TemplateTag<'a>>>;

/// Finds the tags of all simple templates.
pub(crate) fn tags_of_set<'a>(set: &ObjectSet<'a>) -> TagsOfSet<'a> {
    let mut found = BTreeMap::new();
    for object in set.all() {
        let family = object.kind.family();
        if matches!(family, KindFamily::Template | KindFamily::RunTemplate) {
            let mut tags = Vec::new();
            collect(&object.spec().field("template"), DEEPEST, &mut tags);
            found.insert(object.at, tags);
        }
    }
    found
}

fn collect<'a>(place: &ObjectPlace<'a>, depth: usize, found: &mut Vec<TemplateTag<'a>>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    match place.value().map(Value::unmarked) {
        Some(Value::Text(text)) => of_text(place, text, found),
        Some(Value::List(_) | Value::Set(_)) => {
            for item in place.items() {
                collect(&item, depth, found);
            }
        }
        Some(Value::Map(_)) => {
            for (_, entry) in place.entries() {
                collect(&entry, depth, found);
            }
        }
        _ => {}
    }
}

fn of_text<'a>(place: &ObjectPlace<'a>, text: &'a str, found: &mut Vec<TemplateTag<'a>>) {
    let places = match string_tags(text) {
        StringTags::Whole(tag) => vec![tag],
        StringTags::Inside(tags) => tags,
    };
    for tag in places {
        let Some(path) = text.get(tag.path.clone()) else {
            continue;
        };
        let steps = plain_steps(path);
        found.push(TemplateTag {
            place: place.clone(),
            span: tag.path,
            path,
            names: leading_names(&steps.0).map(str::to_owned).collect(),
        });
    }
}

/// The keys of the context of a resource.
const RESOURCE_KEYS: [&str; 11] = [
    "workload",
    "deliverable",
    "params",
    "sources",
    "images",
    "configs",
    "deployment",
    "source",
    "image",
    "config",
    "labels",
];

/// The keys of the context of a run template.
const RUN_KEYS: [&str; 2] = ["runnable", "selected"];

/// Adds the faults of tags: by themselves, and for each resource that uses their template.
pub(crate) fn check(
    set: &ObjectSet<'_>,
    tags: &TagsOfSet<'_>,
    uses: &TemplateUses<'_, '_>,
    found: &mut Vec<SetFault>,
) {
    for object in set.all() {
        let keys: &[&str] = match object.kind.family() {
            KindFamily::RunTemplate => &RUN_KEYS,
            _ => &RESOURCE_KEYS,
        };
        for tag in tags.get(&object.at).into_iter().flatten() {
            let fault = syntax_fault(tag).or_else(|| key_fault(tag, keys));
            found.extend(fault.map(|fault| object.with(fault)));
        }
    }
    let owner_params = params_of_owners(set);
    for one in &uses.found {
        let resource = ResourceNames::new(one, &owner_params);
        for tag in tags.get(&one.template.at).into_iter().flatten() {
            let fault = resource.fault(tag);
            found.extend(fault.map(|fault| one.template.with(fault)));
        }
    }
}

fn syntax_fault(tag: &TemplateTag<'_>) -> Option<Fault> {
    let mistake = Path::parse(tag.path).err()?;
    let reason = tag.place.reason(&mistake.message);
    let message = format!("the tag cannot be read{reason}");
    let mut fault = tag.fault(FaultClass::PathSyntax, message);
    let position = |at: usize| u32::try_from(tag.span.start + at).ok();
    fault.inside = position(mistake.span.start)
        .zip(position(mistake.span.end))
        .map(|(start, end)| start..end);
    Some(fault)
}

fn key_fault(tag: &TemplateTag<'_>, keys: &[&str]) -> Option<Fault> {
    let first = tag.names.first()?;
    if keys.contains(&first.as_str()) {
        return None;
    }
    let quoted = tag.place.quoted_part(first);
    let message = format!("a template of this kind has no {quoted} to read");
    let listed: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let help = format!("start the tag with one of {}", listed.join(", "));
    Some(tag.fault(FaultClass::ContextKey, message).helped(help))
}

/// The parameters that owners of each kind set.
fn params_of_owners<'a>(set: &ObjectSet<'a>) -> BTreeMap<CartoKind, BTreeSet<&'a str>> {
    let mut found: BTreeMap<CartoKind, BTreeSet<&'a str>> = BTreeMap::new();
    for owner in set.of_family(KindFamily::Owner) {
        let names = found.entry(owner.kind).or_default();
        names.extend(names_in(&owner.spec().field("params")));
    }
    found
}

/// The names of the entries of a list.
pub(crate) fn names_in<'a>(list: &ObjectPlace<'a>) -> Vec<&'a str> {
    let items = list.items();
    items
        .iter()
        .filter_map(|item| item.field("name").text())
        .collect()
}

/// What the tags of a template can name for a resource.
struct ResourceNames<'u, 'a> {
    resource: &'u ObjectPlace<'a>,
    /// The names in each list of inputs; `None` if one is not known yet.
    inputs: BTreeMap<&'static str, Option<BTreeSet<&'a str>>>,
    params: BTreeSet<&'a str>,
    of_owners: Option<&'u BTreeSet<&'a str>>,
}

impl<'u, 'a> ResourceNames<'u, 'a> {
    fn new(
        one: &'u TemplateUse<'_, 'a>,
        owners: &'u BTreeMap<CartoKind, BTreeSet<&'a str>>,
    ) -> ResourceNames<'u, 'a> {
        let lists = [
            one.template.spec().field("params"),
            one.blueprint.spec().field("params"),
            one.resource.field("params"),
        ];
        let owner = one.blueprint.kind.owner();
        ResourceNames {
            resource: &one.resource,
            inputs: INPUT_LISTS
                .iter()
                .map(|(list, _)| (*list, one.resource.field(list).known_names()))
                .collect(),
            params: lists.iter().flat_map(names_in).collect(),
            of_owners: owner.and_then(|owner| owners.get(&owner)),
        }
    }

    fn fault(&self, tag: &TemplateTag<'_>) -> Option<Fault> {
        let (first, rest) = tag.names.split_first()?;
        let name = rest.first().map(String::as_str);
        let list = match first.as_str() {
            "params" => return self.param_fault(tag, name?),
            "sources" | "source" => "sources",
            "images" | "image" => "images",
            "configs" | "config" => "configs",
            "deployment" => "deployment",
            _ => return None,
        };
        let inputs = self.resource.field(list);
        if inputs.is_unknown() {
            return None;
        }
        let resource = self.resource.field("name").quoted();
        let message = if list == first && list != "deployment" {
            let name = name?;
            let names = self.inputs.get(list)?.as_ref()?;
            if names.contains(name) {
                return None;
            }
            let quoted = tag.place.quoted_part(name);
            format!("the resource {resource} has no input {quoted} in `{list}`")
        } else if inputs.is_empty() {
            format!("the resource {resource} has no `{list}`")
        } else {
            return None;
        };
        let fault = tag.fault(FaultClass::ContextInput, message);
        Some(fault.helped("add the input to the resource, or correct the tag"))
    }

    fn param_fault(&self, tag: &TemplateTag<'_>, name: &str) -> Option<Fault> {
        let is_set = self.of_owners.is_some_and(|names| names.contains(name));
        if is_set || self.params.contains(name) {
            return None;
        }
        let quoted = tag.place.quoted_part(name);
        let message = format!("nothing declares the param {quoted}");
        let fault = tag.fault(FaultClass::UndeclaredParam, message);
        Some(fault.helped("declare the param with a default in the template"))
    }
}

/// The parameters that a template declares or reads; `None` if it may read any.
pub(crate) fn params_of_template<'t>(
    template: &'t SetObject<'_>,
    tags: &'t TagsOfSet<'_>,
) -> Option<BTreeSet<&'t str>> {
    let spec = template.spec();
    if spec.field("ytt").is_set() {
        return None;
    }
    let mut names: BTreeSet<&str> = names_in(&spec.field("params")).into_iter().collect();
    for tag in tags.get(&template.at).into_iter().flatten() {
        if tag.reads_all_params() {
            return None;
        }
        names.extend(tag.param());
    }
    Some(names)
}
