//! The provider `cyan`: the conformance suite.

use std::sync::Arc;

use blueprint::Value;
use contract_tests::provider::{Case, Setup};

#[tokio::test]
async fn conformance() {
    let settings = |region: &str| {
        Value::map([
            ("namespace", Value::from("test")),
            (
                "settings",
                Value::map([
                    ("region", Value::from(region)),
                    ("token", Value::from("abc")),
                ]),
            ),
        ])
    };
    let case = Case::new("cyan/provider", settings("north"))
        .changed(settings("south"))
        .stateless();
    let failures = contract_tests::provider::check(
        || Arc::new(providers::cyan::provider()),
        &Setup::in_folder("/nowhere"),
        &[case],
    )
    .await;
    assert!(failures.is_empty(), "{failures:#?}");
}
