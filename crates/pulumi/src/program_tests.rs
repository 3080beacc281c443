//! Programs that are lowered as a whole.

use blueprint::Blueprint;
use dialect::{Document, LoadContext, Lowered};

fn lowered(text: &str) -> Lowered {
    let file = diag::FileId::new(0);
    let (tree, _) = syntax::parse(file, text, syntax::Format::Yaml);
    let (trees, context) = ([tree], LoadContext::default());
    crate::document::lower(&Document::new(file, "Pulumi.yaml", text, &trees, &context))
}

/// The meaning of a program that has no mistake.
fn sound(text: &str) -> Blueprint {
    let lowered = lowered(text);
    let found: Vec<_> = lowered.diagnostics.iter().collect();
    assert!(found.is_empty(), "{found:?}");
    lowered.blueprint
}

#[test]
fn a_call_that_names_its_provider_ignores_the_parent() {
    for options in [
        "{provider: '${p}', parent: '${p}'}",
        "{parent: '${p}', provider: '${p}'}",
    ] {
        let program = sound(&format!(
            "name: demo\nruntime: yaml\nresources: {{p: {{type: 'pulumi:providers:x'}}}}\n\
             variables: {{v: {{fn::invoke: {{function: 'x:f', options: {options}}}}}}}\n"
        ));
        // The default provider is not used.
        assert!(program.called_plugins.is_empty(), "{options}");
    }
    let program = sound("name: demo\nruntime: yaml\noutputs: {o: {'fn::x:f': {}}}\n");
    assert!(program.called_plugins.contains_key("pulumi:x"));
}
