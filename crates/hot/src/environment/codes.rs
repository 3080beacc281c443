//! Diagnostics of environments.

diag::codes! {
    EMPTY_SECTION = Error "empty-section": "a section of an environment is null";
    MERGE_CONFLICT = Error "merge-conflict": "two environment files combine a parameter in different ways";
    MERGE_KIND = Error "merge-kind": "values of that kind cannot be merged";
    EVENT_SINK_IGNORED = Warning "event-sink-ignored": "events are sent nowhere";
    REGISTRY_SHADOWED = Warning "registry-shadowed": "an entry of the registry that another one always goes before";
}
