//! Rehearses every example from the first deploy to the destroy: with its own secrets, and with
//! each of its other inputs made secret.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::hunt::{SecretSearch, marker};
use crate::place::{Place, ran};

/// Returns the documents of the examples: folder and file name.
fn documents() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found = Vec::new();
    for example in std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        // Its document reads a stack that another document deploys.
        .filter(|entry| entry.file_name() != "pulumi-stacks")
    {
        let mut folders = vec![example.path()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if entry.path().is_dir() && name != ".cyan" {
                    folders.push(entry.path());
                } else if name.contains(".blueprint.") {
                    found.push((folder.clone(), name));
                }
            }
        }
    }
    found.sort();
    assert!(found.len() >= 10, "{} are there", found.len());
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let name = entry.file_name();
        if entry.path().is_dir() && name != ".cyan" {
            copy(&entry.path(), &to.join(name));
        } else if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

/// Returns the inputs that are texts: the name, the document in which this input is secret, and
/// whether it was already secret.
fn inputs(text: &str) -> Vec<(String, String, bool)> {
    let Some(begin) = text.find("variables") else {
        return Vec::new();
    };
    let end = [
        "\nvalues:",
        "\nresources:",
        "\ninclude:",
        "\ndatasources:",
        "\n  \"values\"",
        "\n  \"resources\"",
    ]
    .iter()
    .filter_map(|section| text[begin..].find(section))
    .min()
    .map_or(text.len(), |at| begin + at);
    let mut found = Vec::new();
    for (kind, mark, own) in [
        ("type: string", "secret: true", "secret: true"),
        (
            "\"type\": \"string\"",
            "\"secret\": true",
            "\"secret\": true",
        ),
    ] {
        for (at, _) in text[begin..end].match_indices(kind) {
            let at = begin + at;
            let after = at + kind.len();
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            let before = &text[line..at];
            let (name, separator) = if before.trim().is_empty() {
                let head = text[..line]
                    .trim_end()
                    .rsplit('\n')
                    .next()
                    .unwrap_or_default();
                (head, format!("\n{before}"))
            } else {
                (before, ", ".to_owned())
            };
            let name = name
                .split(':')
                .next()
                .unwrap_or_default()
                .trim()
                .trim_matches('"')
                .to_owned();
            let block = &text[at..(at + 200).min(end)];
            let is_secret = block
                .split("\n  ")
                .take(5)
                .take_while(|line| line.starts_with("  ") || line.starts_with(kind));
            if is_secret.into_iter().any(|line| line.contains(own)) {
                found.push((name, text.to_owned(), true));
            } else {
                found.push((
                    name,
                    format!("{}{separator}{mark}{}", &text[..after], &text[after..]),
                    false,
                ));
            }
        }
    }
    found
}

struct Rehearsal {
    place: Place,
    folder: PathBuf,
    document: String,
    hunt: SecretSearch,
}

impl Rehearsal {
    fn new(folder: &Path, document: &str, text: Option<&str>) -> Rehearsal {
        let place = Place::new();
        copy(folder, &place.path().join("example"));
        let rehearsal = Rehearsal {
            folder: place.path().join("example"),
            place,
            document: document.to_owned(),
            hunt: SecretSearch::default(),
        };
        if let Some(text) = text {
            std::fs::write(rehearsal.folder.join(document), text).unwrap();
        }
        rehearsal.place.run(&["key", "new"]);
        rehearsal
    }

    /// Runs a command, and searches its output and all files. Returns the exit code and the output.
    #[track_caller]
    fn run(&mut self, words: &[&str], with: &[String]) -> (i32, String) {
        let mut command = self.place.cyan(words);
        command
            .current_dir(&self.folder)
            .arg("--simulate")
            .args(with);
        if words[0] != "list" && !words.contains(&"export") {
            command.arg(&self.document);
        }
        let said = ran(command
            .env("TMPDIR", self.place.path().join("tmp"))
            .output()
            .unwrap());
        let line = format!("`cyan {}` of {}", words.join(" "), self.document);
        self.hunt.search(&line, said.out.as_bytes());
        self.hunt.search(&line, said.err.as_bytes());
        let folder = self.place.path().to_path_buf();
        self.hunt.search_files(&folder, &["home/"]);
        (said.code, said.out)
    }

    /// Returns the values of computed sensitive fields in the simulated cloud.
    fn made_up(&self, sensitive: &mut BTreeMap<String, BTreeSet<String>>) -> Vec<(String, String)> {
        let world = std::fs::read_to_string(self.folder.join(".cyan/state.simulated.world"))
            .unwrap_or_default();
        let mut found = Vec::new();
        for line in world.lines() {
            let Ok(line) = serde_json::from_str::<Json>(line) else {
                continue;
            };
            let object = &line["created"][0];
            let (Some(ty), Some(fields)) = (object["type"].as_str(), object["fields"].as_object())
            else {
                continue;
            };
            let names = sensitive.entry(ty.to_owned()).or_insert_with(|| {
                let said = self.place.run(&["types", ty, "--json"]);
                let said: Json = serde_json::from_str(&said.out).unwrap_or_default();
                let fields = said["result"]["resource"]["fields"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
                let is_made_up =
                    |field: &Json| field["sensitive"] == true && field["computed"] == true;
                fields
                    .into_iter()
                    .filter(|(_, field)| is_made_up(field))
                    .map(|(name, _)| name)
                    .collect()
            });
            for name in names.iter() {
                // A field that the document writes, as a map or sealed, is none of the cloud's.
                let value = fields.get(name).and_then(Json::as_str);
                let Some(value) = value.filter(|value| *value != "(secret)") else {
                    continue;
                };
                // The algorithm of a key is not secret.
                let value = value.split(' ').next_back().unwrap_or_default();
                found.push((format!("{ty} {name}"), value.to_owned()));
            }
        }
        found
    }
}

#[test]
fn no_secret_of_an_example_appears_in_clear_text() {
    let mut sensitive = BTreeMap::new();
    let (mut planted, mut made_up) = (0, 0);
    for (folder, document) in documents() {
        let text = std::fs::read_to_string(folder.join(&document)).unwrap();
        let mut rehearsal = Rehearsal::new(&folder, &document, None);
        let mut given = Vec::new();
        for (name, _, _) in inputs(&text).into_iter().filter(|(.., secret)| *secret) {
            let secret = marker(&name);
            rehearsal.hunt.plant(&name, &secret);
            given.push("--var".to_owned());
            given.push(format!("{name}={secret}"));
            planted += 1;
        }
        let run = |rehearsal: &mut Rehearsal, words: &[&str], with: &[String]| {
            let (code, said) = rehearsal.run(words, with);
            assert_eq!(code, 0, "cyan {} of {document}: {said}", words.join(" "));
        };
        run(&mut rehearsal, &["validate"], &[]);
        run(&mut rehearsal, &["stage"], &given);
        run(
            &mut rehearsal,
            &["stage", "--json", "--out", "plan"],
            &given,
        );
        run(&mut rehearsal, &["deploy", "-y", "--json"], &given);
        for (name, secret) in rehearsal.made_up(&mut sensitive) {
            assert!(secret.len() > 8, "{name}: {secret}");
            rehearsal.hunt.plant(&name, &secret);
            made_up += 1;
        }
        // The simulated cloud contains the values that it has generated, as a real cloud does.
        std::fs::rename(
            rehearsal.folder.join(".cyan/state.simulated.world"),
            rehearsal.place.path().join("home/world"),
        )
        .unwrap();
        let world = rehearsal.place.path().join("home/world");
        std::fs::hard_link(&world, rehearsal.folder.join(".cyan/state.simulated.world")).unwrap();
        let but = ["home/", "example/.cyan/state.simulated.world"];
        let folder = rehearsal.place.path().to_path_buf();
        rehearsal.hunt.search_files(&folder, &but);
        let instance = document.split(".blueprint.").next().unwrap_or_default();
        let which = ["--simulate", "-i", instance];
        for words in [
            vec!["show"],
            vec!["show", "--json"],
            vec!["exports", "--json"],
            vec!["history", "--json"],
            vec!["drift"],
            vec!["state", "export"],
            vec!["destroy", "-y", "--json"],
        ] {
            let mut command = rehearsal.place.cyan(&words);
            let said = ran(command
                .current_dir(&rehearsal.folder)
                .args(which)
                .output()
                .unwrap());
            let line = format!("`cyan {}` of {document}", words.join(" "));
            assert_eq!(said.code, 0, "{line}: {}{}", said.out, said.err);
            rehearsal.hunt.search(&line, said.out.as_bytes());
            rehearsal.hunt.search(&line, said.err.as_bytes());
            rehearsal.hunt.search_files(&folder, &but);
        }
    }
    assert!(
        planted >= 1 && made_up >= 4,
        "{planted} were planted, {made_up} made up"
    );
}

#[test]
fn no_secret_input_of_an_example_appears_in_clear_text() {
    let (mut deployed, mut refused) = (0, 0);
    for (folder, document) in documents() {
        let text = std::fs::read_to_string(folder.join(&document)).unwrap();
        let all = inputs(&text);
        let own: Vec<&String> = all
            .iter()
            .filter(|(.., secret)| *secret)
            .map(|(name, ..)| name)
            .collect();
        for (name, text, _) in all.iter().filter(|(.., secret)| !*secret) {
            let mut rehearsal = Rehearsal::new(&folder, &document, Some(text));
            // One secret that may be refused because of its characters, and one that is valid as a
            // name.
            let plain = format!("mk{}", &marker(name)[2..16]);
            for secret in [marker(name), plain] {
                rehearsal.hunt.plant(name, &secret);
                let mut given = vec!["--var".to_owned(), format!("{name}={secret}")];
                given.extend(
                    own.iter()
                        .flat_map(|own| ["--var".to_owned(), format!("{own}=hush-hush-hush")]),
                );
                let (code, _) = rehearsal.run(&["deploy", "-y", "--json"], &given);
                match code {
                    0 => {
                        deployed += 1;
                        rehearsal.run(&["stage", "--json"], &given);
                    }
                    1 | 4 => refused += 1,
                    code => panic!("{document} with `{name}` secret ends with {code}"),
                }
            }
        }
    }
    assert!(
        deployed >= 10 && refused >= 5,
        "{deployed} were deployed, {refused} refused"
    );
}
