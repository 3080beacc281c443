//! Written documents, compared with recorded answers.

fn written(json: &str) -> String {
    super::write(&pycompat::parse_json(json).unwrap())
}

#[test]
fn documents_are_written_as_recorded() {
    let recorded: Vec<(String, String)> =
        serde_json::from_str(include_str!("recorded.json")).unwrap();
    assert!(recorded.len() > 100);
    for (document, yaml) in recorded {
        assert_eq!(written(&document), yaml, "{document}");
    }
}

/// Compares written YAML with recorded answers: a file of lines, each with a document in JSON and
/// its YAML.
#[test]
fn documents_are_written_as_in_the_file_that_is_named() {
    let Some(file) = std::env::var_os("CYAN_HEAT_YAML") else {
        return;
    };
    let mut wrong = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let (document, yaml): (String, String) = serde_json::from_str(line).unwrap();
        let ours = written(&document);
        if ours != yaml {
            wrong += 1;
            if wrong < 6 {
                println!("{document}\nwanted {yaml:?}\n   got {ours:?}");
            }
        }
    }
    assert_eq!(wrong, 0);
}
