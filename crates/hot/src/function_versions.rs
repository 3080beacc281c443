//! The functions of each version of the language.

use super::version::Version::{self, *};

/// The functions, each with its first version and the first version without it.
pub(super) const FUNCTIONS: &[(&str, Version, Option<Version>)] = &[
    ("get_param", V2013_05_23, None),
    ("get_resource", V2013_05_23, None),
    ("get_attr", V2013_05_23, None),
    ("get_file", V2013_05_23, None),
    ("resource_facade", V2013_05_23, None),
    ("list_join", V2013_05_23, None),
    ("str_replace", V2013_05_23, None),
    ("repeat", V2015_04_30, None),
    ("digest", V2015_04_30, None),
    ("str_split", V2015_10_15, None),
    ("map_merge", V2016_04_08, None),
    ("yaql", V2016_10_14, None),
    ("map_replace", V2016_10_14, None),
    ("if", V2016_10_14, None),
    ("filter", V2017_02_24, None),
    ("str_replace_strict", V2017_02_24, None),
    ("make_url", V2017_09_01, None),
    ("list_concat", V2017_09_01, None),
    ("list_concat_unique", V2017_09_01, None),
    ("str_replace_vstrict", V2017_09_01, None),
    ("contains", V2017_09_01, None),
    ("Fn::Select", V2013_05_23, Some(V2015_10_15)),
    ("Fn::GetAZs", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Join", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Split", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Replace", V2013_05_23, Some(V2014_10_16)),
    ("Fn::Base64", V2013_05_23, Some(V2014_10_16)),
    ("Fn::MemberListToMap", V2013_05_23, Some(V2014_10_16)),
    ("Fn::ResourceFacade", V2013_05_23, Some(V2014_10_16)),
    ("Ref", V2013_05_23, Some(V2014_10_16)),
];

/// The meaning of a map with one key in a version.
pub(super) enum FunctionStatus {
    Function,
    /// A function that this version no longer has.
    Removed,
    /// A function that this version does not have yet. The map is data.
    Later(Version),
    /// Data.
    Other,
}

pub(super) fn function_status(version: Version, key: &str) -> FunctionStatus {
    match FUNCTIONS.iter().find(|(name, ..)| *name == key) {
        None => FunctionStatus::Other,
        Some((.., Some(until))) if version >= *until => FunctionStatus::Removed,
        Some((_, since, _)) if version < *since => FunctionStatus::Later(*since),
        Some(_) => FunctionStatus::Function,
    }
}

/// Whether a name is a function of a version, in conditions or elsewhere.
pub(super) fn is_function(version: Version, name: &str) -> bool {
    let condition = matches!(name, "equals" | "not" | "and" | "or") && version >= V2016_10_14;
    condition || matches!(function_status(version, name), FunctionStatus::Function)
}
