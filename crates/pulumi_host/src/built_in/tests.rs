//! Tests of the built-in package without a state.

use super::*;

#[test]
fn every_name_of_the_catalogue_is_served() {
    let catalog = built_in().catalog().clone();
    for (short, name) in [
        ("pulumi:pulumi/Stash", STASH),
        ("pulumi:pulumi/pulumi:StackReference", STACK_REFERENCE),
    ] {
        let found = catalog.resource_type(short);
        assert_eq!(found.map(|ty| ty.name.to_string()).as_deref(), Some(name));
    }
    let source = catalog.source.clone().expect("types come from a schema");
    assert!(source.function(GET_RESOURCE).is_some());
}

#[test]
fn an_id_belongs_to_its_token() {
    assert_eq!(id_of_token("a"), id_of_token("a"));
    assert_ne!(id_of_token("a"), id_of_token("b"));
}
