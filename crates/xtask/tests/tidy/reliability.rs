//! Checks that the page of promises names existing tests.

use crate::specification::is_test;

#[test]
fn every_promise_names_a_test_that_runs() {
    let page = crate::read("docs/reliability.md");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| what is promised |"));
    let mut findings = Vec::new();
    let mut promises = 0;
    for row in rows {
        promises += 1;
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [promise, _, shown] = cells.as_slice() else {
            findings.push(format!("not three cells: {row}"));
            continue;
        };
        let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            findings.push(format!("`{promise}` is shown by nothing"));
        }
        findings.extend(
            names
                .iter()
                .filter(|name| !is_test(name))
                .map(|name| format!("`{promise}`: `{name}`")),
        );
    }
    assert!(promises > 20, "the page has only {promises} rows");
    crate::none(
        &findings,
        "correct the row in docs/reliability.md; it must name existing tests",
    );
}
