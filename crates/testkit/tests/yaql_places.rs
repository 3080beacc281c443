//! An error in a yaql expression is marked inside its scalar, in every scalar style.

use std::sync::Arc;

/// The text that the first yaql error marks.
async fn marked(template: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let heat = Arc::new(openstack::heat::provider());
    let harness = testkit::harness::Harness::with(folder.path().to_owned(), Vec::new(), vec![heat]);
    let stage = harness
        .stage("t.yaml", template, Default::default(), Default::default())
        .await;
    let one = stage
        .diagnostics
        .iter()
        .find(|one| one.code.name.starts_with("yaql-"))
        .expect("a mistake in yaql");
    let span = one.span();
    template[span.start as usize..span.end as usize].to_owned()
}

fn template(expression: &str) -> String {
    format!(
        "heat_template_version: 2018-08-31\nparameters: {{p: {{type: string, default: a}}}}\nresources:\n  r:\n    type: \
         OS::Heat::Value\n    properties:\n      value:\n        yaql:\n          expression: {expression}\n          \
         data: {{list: [1, 2], text: {{get_param: p}}}}\n"
    )
}

#[tokio::test]
async fn yaql_errors_are_marked_inside_the_scalar() {
    for (expression, wanted) in [
        // Syntax errors.
        ("$.data.list + ~", "~"),
        ("'$.data.list # 1'", "#"),
        ("\"$.data.\\\"list\\\" + ~\"", "~"),
        (
            "|\n            $.data.list.select($)\n              + ~\n",
            "~",
        ),
        (">-\n            $.data.list\n            + ~", "~"),
        // Evaluation errors.
        ("$.data.list.nope()", "nope()"),
        ("\"$.data.list.len() + nope(1)\"", "nope(1)"),
        (
            "|\n            $.data.list.len()\n              + nope(1)\n",
            "nope(1)",
        ),
        ("$.data.text + 1", "$.data.text + 1"),
    ] {
        assert_eq!(marked(&template(expression)).await, wanted, "{expression}");
    }
}
