//! Files and folders that a program passes as assets and archives: a change of their content is a
//! change.

use crate::lab::Lab;

/// A program that passes a file, and a folder in an archive.
const PROGRAM: &str = "name: app\nruntime: yaml\nresources:\n  \
    page: {type: 'stub:Item', properties: {name: page, any: {fn::fileAsset: page.html}}}\n  \
    code: {type: 'stub:Item', properties: {name: code, any: {fn::fileArchive: ./app}}}\n  \
    both: {type: 'stub:Item', properties: {name: both, any: {fn::assetArchive: {app: {fn::fileArchive: ./app}, note: {fn::stringAsset: x}}}}}\n";

/// A folder with the program and its files.
fn lab() -> Lab {
    let lab = Lab::new("pulumi");
    let table = std::fs::read_to_string(lab.path().join("cyan.toml")).unwrap();
    let table = table.replace("[plugins.stub]", "[plugins.stub]\npackage = \"stub\"");
    lab.place.write("cyan.toml", table);
    lab.place.write("Pulumi.yaml", PROGRAM);
    lab.place.write("page.html", "one");
    lab.place.write("app/main.js", "one");
    lab
}

#[test]
fn a_changed_file_updates_what_it_is_passed_to() {
    let lab = lab();
    lab.deploy(0);
    let hash = |id: &str| lab.world.get(id).unwrap()["any"]["hash"].clone();
    let sha = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    assert_eq!(hash("page-1"), sha);
    let before = (hash("code-1"), hash("both-1"));
    let staged = lab.ends(0, &["stage"]).out;
    assert!(staged.contains("0 to create, 0 to update"), "{staged}");
    lab.place.write("app/main.js", "two");
    let staged = lab.ends(0, &["stage"]).out;
    for part in ["~ code", "~ both", "0 to create, 2 to update", "sha256"] {
        assert!(staged.contains(part), "{part}: {staged}");
    }
    let deployed = lab.deploy(0).out;
    assert!(deployed.contains("2 updated"), "{deployed}");
    let after = (hash("code-1"), hash("both-1"));
    assert!(
        before.0 != after.0 && before.1 != after.1,
        "{before:?} {after:?}"
    );
    lab.place.write("page.html", "two");
    assert!(lab.deploy(0).out.contains("1 updated"));
    // Nothing is left to do, and a destroy needs no file.
    let staged = lab.ends(0, &["stage"]).out;
    assert!(staged.contains("0 to create, 0 to update"), "{staged}");
    std::fs::remove_dir_all(lab.path().join("app")).unwrap();
    lab.ends(0, &["destroy", "-y"]);
    assert!(lab.world.ids().is_empty());
}

#[test]
fn a_plan_with_a_file_that_has_changed_is_refused() {
    let lab = lab();
    let staged = lab.ends(0, &["stage", "--out", "p.plan"]).out;
    let shown = "\"note\": (text \"x\"), sha256 ";
    assert!(staged.contains(shown), "{staged}");
    lab.place.write("page.html", "two");
    let said = lab.ends(4, &["deploy", "p.plan"]).err;
    let message = "`page.html` has changed since the plan was made";
    assert!(said.contains(message), "{said}");
    assert_eq!(lab.world.ids(), ["both-1", "code-1"]);
    // A new plan has the new content, and no question is open.
    assert!(lab.deploy(0).out.contains("1 created"));
}
