//! Diagnostic codes of the static checks. Codes of the expression language are in `expr::codes`,
//! those of a document's shape in its dialect.

// Dialects report some of these codes themselves.
pub use dialect::codes::{
    CYCLE, EACH_NOT_STATIC, MISSING_SPEC_FIELD, SECRET_EXPOSED, SELF_REFERENCE, UNKNOWN_RESOURCE,
    UNKNOWN_RESOURCE_TYPE, UNKNOWN_SPEC_FIELD, UNKNOWN_VARIABLE, VALUE_CONSTRAINT,
};

diag::codes! {
    MORE_MISTAKES = Note "more-mistakes": "more was found than is listed";
    UNKNOWN_VALUE = Error "unknown-value": "no such value";
    UNKNOWN_DATA_SOURCE = Error "unknown-data-source": "no such data source";
    UNKNOWN_CHILD = Error "unknown-child": "no such include";
    UNKNOWN_LINK = Error "unknown-link": "these two are not linked that way";
    NO_LINK_KIND = Note "no-link-kind": "labels match, types do not link";
    LINK_DIRECTION = Warning "link-direction": "the kind exists the other way round";
    SELECTOR_MATCHES_NOTHING = Warning "selector-matches-nothing": "a selector without effect";
    LINK_CYCLE = Error "link-cycle": "links order each other in a circle";
    LINK_CARDINALITY = Error "link-cardinality": "too few or too many links";
    LINK_CAPABILITY_MISSING = Error "link-capability-missing": "no resource provides what a link needs";
    LINK_CONFLICT = Error "link-conflict": "two writers, two contents";
    LINK_REQUIREMENT = Error "link-requirement": "a link's own requirement fails";
    LINK_LENGTHS = Error "link-lengths": "templates do not pair";
    LINK_NEEDS_RESOURCE = Error "link-needs-resource": "a needed neighbour is not in the document";
    REFERENCE_NEEDS_FIELD = Error "reference-needs-field": "the element alone is not a value";
    INDEX_ON_SINGLE = Error "index-on-single": "an index on a resource without `each`";
    MISSING_EACH_INDEX = Error "missing-each-index": "a resource with `each` is named without an index";
    ELEM_OUTSIDE_EACH = Error "elem-outside-each": "`elem` or `i` has no meaning here";
    ENVIRONMENT_SETTING = Error "environment-setting": "`env:` in a document, where it has no meaning";
    PROVIDER_NAME = Error "provider-name": "`cyan.provider` names no configuration of the provider";
    DEPENDENCY_IGNORED = Note "dependency-ignored": "`dependsOn` names an absent resource";
    AMBIGUOUS_NAME = Warning "ambiguous-name": "a resource and a function share a name";
    UNKNOWN_PROVIDER = Error "unknown-provider": "no provider of that namespace";
    COMPUTED_FIELD_SET = Error "computed-field-set": "the field is the provider's to fill";
    REJECTED_BY_PROVIDER = Error "rejected-by-provider": "the provider's own validation refuses the value";
    NO_UNION_BRANCH = Error "no-union-branch": "the value fits no alternative of the schema";
    EACH_NOT_LIST = Error "each-not-list": "`each` gives no list";
    UNKNOWN_DATA_SOURCE_TYPE = Error "unknown-data-source-type": "the provider has no such type of data source";
    UNSUPPORTED_FILTER_FIELD = Error "unsupported-filter-field": "the field cannot be filtered on";
    FILTER_CONFLICT = Error "filter-conflict": "filter fields that exclude each other";
    FILTER_KIND_MISMATCH = Error "filter-kind-mismatch": "the operator is invalid for these kinds";
    INCLUDE_PATH_UNKNOWN = Error "include-path-unknown": "the path or place of an include depends on the deployment";
    CHILD_FAILED = Error "child-failed": "a child document has errors of its own";
    CHILD_CYCLE = Error "child-cycle": "a document includes itself";
    CHILD_DEPTH = Error "child-depth": "documents are nested too deep";
    CHECKSUM_MISMATCH = Error "checksum-mismatch": "content is not the pinned one";
    UNKNOWN_SOURCE_TYPE = Error "unknown-source-type": "no such kind of remote source";
    SOURCE_METADATA = Error "source-metadata": "keys of a remote source are missing or wrong";
    UNKNOWN_TRANSFORM = Error "unknown-transform": "no such transform";
    ABSTRACT_RESOURCE_LEFT = Error "abstract-resource-left": "nothing turns an abstract resource into real ones";
    EXTERNAL_DEPENDENCY = Error "external-dependency": "a resource that exists elsewhere waits for others";
}
