//! Settings of dialects, as a program with two dialects reads them.

use blueprint::Value;
use dialect::DocumentSettings;

#[test]
fn settings_are_read_by_the_dialect_that_they_name() {
    let all = testkit::dialects();
    let mut settings = DocumentSettings::NONE;
    let mut set = |dialect: &str, name: &str| {
        all.set(&mut settings, dialect, &[(name.into(), Value::Int(1))])
    };
    assert_eq!(
        set("hott", "resources"),
        Err("is about no dialect".to_owned())
    );
    assert_eq!(
        set("blueprint", "resources"),
        Err("has no setting `resources`; it has none".to_owned())
    );
    assert_eq!(set("hot", "resources"), Ok(()));
    assert_eq!(settings.limits("hot").resources, Some(1));
}
