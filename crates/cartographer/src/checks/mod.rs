//! What the objects of a folder show together, without a cluster
//! (decisions/cartographer#checks-without-a-cluster): templates, parameters, selectors, tags and
//! outputs that do not fit each other.
//!
//! An object that is not at hand can make a hint wrong, so hints and errors have different levels.
//! Not here: what one object shows by itself (`validation`); the templates of ytt.

mod generated_names;
mod object_set;
mod output_paths;
mod owner_checks;
mod path_names;
mod template_tags;
mod template_uses;

use blueprint::Value;

use object_set::ObjectSet;
pub use object_set::SetFault;
pub use output_paths::SchemaLookup;

/// Every fault that objects show together, by object. Objects of other groups are left out. The
/// work is linear in the objects, except that each owner is compared with each of its blueprints.
pub fn faults_of_set(objects: &[Value], schemas: &SchemaLookup<'_>) -> Vec<SetFault> {
    let set = ObjectSet::new(objects);
    let uses = template_uses::uses(&set);
    let tags = template_tags::tags_of_set(&set);
    let mut found = Vec::new();
    template_uses::check(&set, &uses, &mut found);
    generated_names::check(&set, &mut found);
    output_paths::check(&set, schemas, &mut found);
    template_tags::check(&set, &tags, &uses, &mut found);
    owner_checks::check(&set, &tags, &uses, &mut found);
    found.sort_by_key(|fault| fault.object);
    found
}

#[cfg(test)]
mod tests;
