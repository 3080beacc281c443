//! Violations that were there when a check came: listed in `known.txt`, which only shrinks.
//!
//! A violation that is not listed fails, and so does a line whose violation is gone. With `CYAN_ACCEPT` set the lines
//! of a check are rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

const LIST: &str = "crates/xtask/tests/tidy/known.txt";

/// Tests run at once, and one of them may write the list.
static LOCK: Mutex<()> = Mutex::new(());

/// Holds the violations of one check, each a key that begins with the check's name and a message, against the list.
#[track_caller]
pub(crate) fn compare(check: &str, findings: Vec<(String, String)>, what_to_do: &str) {
    let guard = LOCK.lock();
    let list = crate::read(LIST);
    let (new, gone) = differences(check, &findings, &list);
    if std::env::var_os("CYAN_ACCEPT").is_some() {
        let keys: BTreeSet<&str> = findings.iter().map(|(key, _)| key.as_str()).collect();
        let others = list.lines().filter(|line| !belongs(line, check));
        let lines: BTreeSet<&str> = others.chain(keys).collect();
        let text: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
        std::fs::write(crate::root().join(LIST), text).expect("the list can be written");
        return;
    }
    drop(guard);
    crate::none(&new, what_to_do);
    crate::none(&gone, &format!("the violation is gone: take its line out of {LIST}"));
}

/// The messages of violations that are not listed, and the lines whose violation is gone.
fn differences(check: &str, findings: &[(String, String)], list: &str) -> (Vec<String>, Vec<String>) {
    let listed: BTreeSet<&str> = list.lines().filter(|line| belongs(line, check)).collect();
    let found: BTreeMap<&str, &str> = findings.iter().map(|(key, message)| (key.as_str(), message.as_str())).collect();
    let new: BTreeSet<&str> = findings
        .iter()
        .filter(|(key, _)| !listed.contains(key.as_str()))
        .map(|(_, message)| message.as_str())
        .collect();
    let gone = listed.iter().filter(|line| !found.contains_key(*line)).map(|line| (*line).to_owned());
    (new.into_iter().map(str::to_owned).collect(), gone.collect())
}

fn belongs(line: &str, check: &str) -> bool {
    line.strip_prefix(check).is_some_and(|rest| rest.starts_with(' '))
}

#[test]
fn the_list_of_known_violations_only_shrinks() {
    let findings = [("lines a".to_owned(), "a is long".to_owned()), ("lines b".to_owned(), "b is long".to_owned())];
    let (new, gone) = differences("lines", &findings, "columns x\nlines a\nlines c\n");
    assert_eq!((new, gone), (vec!["b is long".to_owned()], vec!["lines c".to_owned()]));
}
