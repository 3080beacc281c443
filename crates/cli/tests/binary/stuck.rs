//! Checks that no instance is stuck: a failing `read` can be corrected in the document, and the
//! commands that diagnostics propose work.

use std::time::Duration;

use crate::place::{Place, Ran};

fn document(create: &str, read: Option<&str>) -> String {
    let read = read
        .map(|read| format!(", read: '{read}'"))
        .unwrap_or_default();
    format!(
        "version: 2023-04-20\nresources:\n  \
         one: {{type: local/command, spec: {{create: '{create}', delete: 'true'{read}}}}}\n"
    )
}

/// Returns the commands that a diagnostic proposes.
fn offered(ran: &Ran) -> Vec<Vec<String>> {
    let text = ran.err.replace('\n', " ");
    let quoted = text.split('`').skip(1).step_by(2);
    let commands = quoted.filter_map(|quoted| quoted.strip_prefix("cyan "));
    commands
        .map(|words| {
            words
                .split_whitespace()
                .map(|word| word.replace('\'', ""))
                .collect()
        })
        .collect()
}

#[test]
fn two_creates_that_fail_beside_a_broken_read_block_nothing() {
    let text = |create: &str| {
        let one = |name: &str| {
            format!(
                "  {name}: {{type: local/command, spec: {{create: '{create}', read: 'exit 9', delete: 'true'}}}}\n"
            )
        };
        format!(
            "version: 2023-04-20\nresources:\n{}{}",
            one("one"),
            one("two")
        )
    };
    let place = Place::with("shop.blueprint.yaml", &text("exit 1"));
    for _ in 0..3 {
        let failed = place.ends(4, &["deploy", "--yes"]);
        assert!(
            failed
                .err
                .contains("the command `create` ended with exit code 1"),
            "{}",
            failed.err
        );
    }
    place.ends(0, &["reconcile", "--yes"]);
    place.write("shop.blueprint.yaml", text("true"));
    assert_eq!(
        place.ends(0, &["deploy", "--yes"]).last_line(),
        "2 created, 0 updated, 0 deleted"
    );
}

/// The recorded `read` fails. A new `read` is accepted. A command that would change the resource
/// reports what to do.
#[test]
fn a_read_that_fails_can_be_corrected_in_the_document() {
    let place = Place::with("shop.blueprint.yaml", &document("echo 1", Some("exit 9")));
    place.ends(0, &["deploy", "--yes"]);
    // If another field changes too, the current resource must be known.
    place.write("shop.blueprint.yaml", document("echo 2", Some("exit 9")));
    for words in [&["deploy", "--yes"][..], &["destroy", "--yes"]] {
        let refused = place.run(words);
        assert_ne!(refused.code, 0, "{words:?}");
        assert!(
            refused.err.contains("ended with exit code 9")
                && refused.err.contains("`--no-refresh`"),
            "{}",
            refused.err
        );
    }
    assert_eq!(
        place
            .ends(0, &["deploy", "--yes", "--no-refresh"])
            .last_line(),
        "0 created, 1 updated, 0 deleted"
    );
    place.write("shop.blueprint.yaml", document("echo 2", Some("true")));
    place.ends(0, &["deploy", "--yes"]);
    let quiet = place.ends(0, &["deploy", "--yes"]);
    assert!(!quiet.err.contains("cannot be read"), "{}", quiet.err);
    place.ends(0, &["destroy", "--yes"]);
}

/// A run is killed during a create, so that the outcome is unknown. Each command that the
/// diagnostic proposes works.
#[test]
fn each_command_that_needs_attention_offers_works() {
    for read in [None, Some("exit 9")] {
        let mut number = 0;
        loop {
            let place = Place::with(
                "shop.blueprint.yaml",
                &document("echo $PPID > recorder; touch began; sleep 2", read),
            );
            let mut run = place
                .cyan(&["deploy", "--yes"])
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let begun = std::time::Instant::now();
            while !place.has("began") {
                assert!(
                    begun.elapsed().as_secs() < 60,
                    "still waiting for the command"
                );
                std::thread::sleep(Duration::from_millis(10));
            }
            run.kill().unwrap();
            run.wait().unwrap();
            // Without the process that records the command, nothing tells how it ends.
            let recorder = place.read("recorder");
            let killed = std::process::Command::new("kill")
                .args(["-9", recorder.trim()])
                .status();
            assert!(killed.unwrap().success());
            place.write(
                "shop.blueprint.yaml",
                document("true", read.map(|_| "true")),
            );
            let asked = place.run(&["deploy", "--yes"]);
            assert_ne!(asked.code, 0);
            assert!(
                asked.err.contains("error[needs-attention]"),
                "{}",
                asked.err
            );
            let offered = offered(&asked);
            assert_eq!(offered.len(), 3, "{}", asked.err);
            let words: Vec<String> = offered[number]
                .iter()
                .map(|word| word.replace("ID", "command-1"))
                .collect();
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.push("--yes");
            place.ends(0, &words);
            let next = place.run(&["deploy", "--yes"]);
            if next.code != 0 {
                // The adopted resource is recorded with the failing `read`.
                assert!(
                    words.contains(&"--adopt") && next.err.contains("`--no-refresh`"),
                    "{words:?}: {}",
                    next.err
                );
                place.ends(0, &["deploy", "--yes", "--no-refresh"]);
            }
            place.ends(0, &["destroy", "--yes"]);
            number += 1;
            if number == offered.len() {
                break;
            }
        }
    }
}
