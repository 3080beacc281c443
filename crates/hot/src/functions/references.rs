//! Descriptions of the functions that depend on more than their argument: on the template itself,
//! files, conditions, or the language yaql.
//!
//! The lowering implements these functions; this module has only their documentation.

use super::super::version::Version::{self, *};

/// The description of a function.
#[derive(Debug)]
pub struct Described {
    /// The name in a template.
    pub name: &'static str,
    /// The first version with the function.
    pub since: Version,
    /// The first version without the function.
    pub until: Option<Version>,
    /// A description: a paragraph of Markdown.
    pub docs: &'static str,
    /// Calls in flow style.
    pub examples: &'static [&'static str],
}

/// All descriptions, in the order of decisions/heat#functions.
pub fn references() -> &'static [Described] {
    REFERENCES
}

const REFERENCES: &[Described] = &[
    Described {
        name: "get_param",
        since: V2013_05_23,
        until: None,
        docs: "`name` or `[name, path..]`: the value of a parameter, or what lies at a path in it. On a list a step is an index, also \
               as text and from the end; text is a sequence of characters. What is not there is an empty text, never an error.",
        examples: &["{get_param: size}", "{get_param: [networks, 0, name]}"],
    },
    Described {
        name: "get_resource",
        since: V2013_05_23,
        until: None,
        docs: "`name`: what identifies a resource. Of a nested template its identifier, or its output `OS::stack_id`. Before the \
               resource is there it is unknown, and what reads it waits.",
        examples: &["{get_resource: network}"],
    },
    Described {
        name: "get_attr",
        since: V2013_05_23,
        until: None,
        docs: "`[resource, attribute, path..]`: an attribute of a resource, or what lies at a path in it; an output of a nested \
               template; of a group the attribute of every member. From 2015-10-15 `[resource]` gives all attributes. What does not \
               lie at the path is null. Text that spells a number is no index.",
        examples: &[
            "{get_attr: [server, first_address]}",
            "{get_attr: [group, resource.0, name]}",
        ],
    },
    Described {
        name: "get_file",
        since: V2013_05_23,
        until: None,
        docs: "`path`: the text of a file. The path counts from the folder of the template that it stands in. What a plan has read \
               it keeps.",
        examples: &["{get_file: files/start.sh}"],
    },
    Described {
        name: "resource_facade",
        since: V2013_05_23,
        until: None,
        docs: "`metadata`, `deletion_policy` or `update_policy`: in a nested template, that part of the resource that it stands for.",
        examples: &["{resource_facade: metadata}"],
    },
    Described {
        name: "if",
        since: V2016_10_14,
        until: None,
        docs: "`[condition, then, else]`: one of two values. The condition is a name, a boolean or a call. The value that is not taken \
               may name resources that are not there. From 2021-04-16 `else` may be missing: the entry, item or property is then \
               left out.",
        examples: &[
            "{if: [is_large, 10, 2]}",
            "{if: [{equals: [{get_param: env}, prod]}, 10, 2]}",
        ],
    },
    Described {
        name: "yaql",
        since: V2016_10_14,
        until: None,
        docs: "`{expression, data}`: an expression in the language [yaql](yaql.md), over data that it sees as `$.data`. In conditions from \
               2017-09-01.",
        examples: &["{yaql: {expression: '$.data.where($ > 1).sum()', data: [1, 2, 3]}}"],
    },
    Described {
        name: "Ref",
        since: V2013_05_23,
        until: Some(V2014_10_16),
        docs: "`name`: the resource of that name as `get_resource` gives it, else the parameter.",
        examples: &["{Ref: network}"],
    },
    Described {
        name: "Fn::GetAZs",
        since: V2013_05_23,
        until: Some(V2014_10_16),
        docs: "`region`: availability zones. It asks the cloud.",
        examples: &["{\"Fn::GetAZs\": \"\"}"],
    },
    Described {
        name: "Fn::ResourceFacade",
        since: V2013_05_23,
        until: Some(V2014_10_16),
        docs: "`Metadata`, `DeletionPolicy` or `UpdatePolicy`: as `resource_facade`.",
        examples: &["{\"Fn::ResourceFacade\": Metadata}"],
    },
];

#[cfg(test)]
mod tests {
    use super::super::functions;
    use super::*;

    #[test]
    fn every_function_of_a_template_is_described_with_its_versions() {
        let described = references()
            .iter()
            .map(|one| (one.name, one.since, one.until));
        let mut described: Vec<_> = functions()
            .filter(|one| one.in_values)
            .map(|one| (one.name, one.since, one.until))
            .chain(described)
            .collect();
        let mut known = crate::function_versions::FUNCTIONS.to_vec();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }
}
