//! Tests of removing old operations from the history, by a command and by a setting.

use crate::place::Place;

const SHOP: &str = "version: 2023-04-20
variables:
  size: {type: integer, default: 1}
resources:
  a: {type: test/data, spec: {input: \"${variables.size}\"}}
";

/// Returns the generations in the history, newest first.
fn generations(place: &Place) -> Vec<String> {
    let history = place.ends(0, &["history"]).out;
    history
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

fn deployed(times: u32) -> Place {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    for size in 1..=times {
        place.ends(0, &["deploy", "--yes", "--var", &format!("size={size}")]);
    }
    place
}

#[test]
fn prune_removes_old_operations_after_a_confirmation() {
    let place = deployed(4);
    let shown = place.ends(0, &["show", "--json"]).out;
    let usage = place.ends(2, &["state", "prune"]);
    assert!(usage.err.contains("--keep N"), "{}", usage.err);
    let refused = place.ends(2, &["state", "prune", "--keep", "2"]);
    assert!(
        refused
            .err
            .contains("2 operations would be removed from the history of `shop`"),
        "{}",
        refused.err
    );
    assert_eq!(
        generations(&place),
        ["4", "3", "2", "1"],
        "nothing is removed without a confirmation"
    );
    let pruned = place.ends(0, &["state", "prune", "--keep", "2", "--yes"]);
    assert_eq!(pruned.out.lines().count(), 3, "{}", pruned.out);
    assert!(
        pruned
            .err
            .contains("Removed 2 operations from the history of `shop`"),
        "{}",
        pruned.err
    );
    assert_eq!(generations(&place), ["4", "3"]);
    assert_eq!(place.ends(0, &["show", "--json"]).out, shown);
    assert!(
        place
            .ends(0, &["state", "prune", "--keep", "2"])
            .err
            .contains("Nothing to remove")
    );

    place.ends(1, &["rollback", "1", "--yes"]);
    place.ends(0, &["rollback", "3", "--yes"]);
    assert!(place.ends(0, &["show", "a"]).out.contains('3'));
    let kept = place.ends(0, &["deploy", "--yes", "--keep-vars"]);
    assert_eq!(kept.last_line(), "0 created, 0 updated, 0 deleted");
    place.ends(0, &["state", "verify"]);
    place.ends(0, &["destroy", "--yes"]);
}

#[test]
fn export_of_a_pruned_instance_is_imported_with_the_remaining_history() {
    let place = deployed(4);
    place.ends(0, &["state", "prune", "--keep", "1", "--yes"]);
    place.ends(0, &["state", "export", "kept.json"]);
    assert!(
        place.read("kept.json").contains("\"format\": 3"),
        "{}",
        place.read("kept.json")
    );
    let other = Place::with("shop.blueprint.yaml", SHOP);
    other.write("kept.json", place.read("kept.json"));
    other.ends(0, &["state", "import", "kept.json", "--yes"]);
    assert_eq!(generations(&other), ["4"]);
    assert_eq!(
        other.ends(0, &["show", "--json"]).out,
        place.ends(0, &["show", "--json"]).out
    );
    other.ends(0, &["state", "export", "again.json"]);
    assert_eq!(other.read("again.json"), place.read("kept.json"));
}

#[test]
fn the_history_is_pruned_after_each_operation_where_a_number_is_set() {
    let place = Place::with("shop.blueprint.yaml", SHOP);
    place.write("cyan.toml", "[history]\nkeep = 2\n");
    for size in 1..=4 {
        place.ends(0, &["deploy", "--yes", "--var", &format!("size={size}")]);
    }
    assert_eq!(generations(&place), ["4", "3"]);
    // The newest successful generation stays, however many have failed since.
    place.write(
        "shop.blueprint.yaml",
        SHOP.replace(
            "resources:",
            "resources:\n  b: {type: local/command, spec: {create: 'exit 1'}}",
        ),
    );
    for _ in 0..3 {
        place.ends(4, &["deploy", "--yes", "--var", "size=9"]);
    }
    place.ends(0, &["state", "prune", "--yes"]);
    assert_eq!(generations(&place), ["7", "6", "5", "4"]);
    place.ends(0, &["rollback", "--yes"]);
    assert_eq!(generations(&place), ["8", "7", "6", "5", "4"][..2]);
    for wrong in ["keep = 0", "keep = \"all\"", "kept = 1"] {
        place.write("cyan.toml", format!("[history]\n{wrong}\n"));
        assert!(
            place
                .ends(1, &["list"])
                .err
                .contains("`cyan.toml` cannot be used"),
            "{wrong}"
        );
    }
}
