//! Searches output and files for planted secrets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use sha2::Digest as _;

/// The number of consecutive characters of a secret that count as a find.
const PIECE: usize = 10;

/// Returns the secret for a place: deterministic, unique, and with characters that other encodings
/// escape.
pub(crate) fn marker(place: &str) -> String {
    let digest: String = sha2::Sha256::digest(place)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("Mk{digest}/\"q\"+ü z{}", &digest[..6])
}

/// The secrets to search for.
#[derive(Default)]
pub(crate) struct SecretSearch {
    /// The byte sequences to search for, in lower case, each with the name of its secret.
    pieces: BTreeMap<Vec<u8>, String>,
    looked_at: usize,
}

impl SecretSearch {
    /// Adds a secret. Each line of a longer secret is searched for separately.
    pub(crate) fn plant(&mut self, place: &str, secret: &str) {
        for line in secret
            .lines()
            .map(str::trim)
            .filter(|line| line.len() > PIECE && !line.starts_with("-----"))
        {
            for form in forms(line) {
                let form = form.to_ascii_lowercase();
                for piece in form.windows(PIECE.min(form.len())).step_by(3) {
                    self.pieces.insert(piece.to_vec(), place.to_owned());
                }
            }
        }
    }

    /// Fails if bytes contain a secret.
    #[track_caller]
    pub(crate) fn search(&mut self, place: &str, bytes: &[u8]) {
        self.looked_at += 1;
        let lower = bytes.to_ascii_lowercase();
        for (at, window) in lower.windows(PIECE).enumerate() {
            let Some(secret_name) = self.pieces.get(window) else {
                continue;
            };
            let around = &bytes[at.saturating_sub(200)..(at + 100).min(bytes.len())];
            panic!(
                "the secret of `{secret_name}` lies open in {place}:\n..{}..",
                String::from_utf8_lossy(around)
            );
        }
    }

    /// Whether bytes contain any secret.
    pub(crate) fn finds(&self, bytes: &[u8]) -> bool {
        bytes
            .to_ascii_lowercase()
            .windows(PIECE)
            .any(|window| self.pieces.contains_key(window))
    }

    /// Searches every file below a folder except the given ones. Returns the names of the searched
    /// files.
    #[track_caller]
    pub(crate) fn search_files(&mut self, folder: &Path, but: &[&str]) -> Vec<String> {
        let mut names = Vec::new();
        for path in files(folder) {
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            if but
                .iter()
                .any(|but| name == *but || but.ends_with('/') && name.starts_with(but))
            {
                continue;
            }
            // A running process may remove files during the search.
            let Ok(bytes) = std::fs::read(&path) else {
                continue;
            };
            self.search(&format!("the file {name}"), &bytes);
            self.search("the name of a file", name.as_bytes());
            names.push(name);
        }
        names
    }

    /// The number of texts and files that were searched.
    pub(crate) fn searched(&self) -> usize {
        self.looked_at
    }
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns a secret in plain form and in common encodings.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let percent: String = bytes
        .iter()
        .map(|byte| match byte {
            b if b.is_ascii_alphanumeric() => char::from(*b).to_string(),
            b => format!("%{b:02x}"),
        })
        .collect();
    let json = serde_json::to_string(secret).unwrap();
    let twice = serde_json::to_string(&json).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![
        secret.to_owned(),
        percent,
        json.trim_matches('"').to_owned(),
        hex,
    ];
    forms.push(twice.trim_matches(['"', '\\']).to_owned());
    forms.extend(escaped_forms(secret));
    for before in 0..3_usize {
        let mut whole = vec![b' '; before];
        whole.extend_from_slice(bytes);
        let (skip, rest) = ([0, 2, 3][before], 4);
        for text in [STANDARD.encode(&whole), URL_SAFE_NO_PAD.encode(&whole)] {
            forms.push(text[skip..text.len() - rest].to_owned());
        }
    }
    // Some formats write bytes as a list of numbers.
    let list: Vec<String> = bytes.iter().map(u8::to_string).collect();
    let mut forms: Vec<Vec<u8>> = forms.into_iter().map(String::into_bytes).collect();
    forms.push(list.join(",").into_bytes());
    forms.push(list.join(", ").into_bytes());
    forms.push(bytes.iter().rev().copied().collect());
    forms.retain(|form| form.len() >= PIECE);
    forms
}

/// Returns a secret as encoders write it that escape single characters.
pub(crate) fn escaped_forms(secret: &str) -> Vec<String> {
    let replaced = |text: &str, escapes: &[(&str, &str)]| {
        let each = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        escapes.iter().fold(text.to_owned(), each)
    };
    let json = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        text[1..text.len() - 1].to_owned()
    };
    // Go escapes more characters.
    let go_json = |text: &str| {
        replaced(
            &json(text),
            &[("&", "\\u0026"), ("<", "\\u003c"), (">", "\\u003e")],
        )
    };
    let markup = |quote, apostrophe| {
        [
            ("&", "&amp;"),
            ("<", "&lt;"),
            (">", "&gt;"),
            ("\"", quote),
            ("'", apostrophe),
        ]
    };
    let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    vec![
        json(secret),
        json(&json(secret)),
        go_json(secret),
        go_json(&go_json(secret)),
        replaced(secret, &markup("&quot;", "&#39;")),
        replaced(secret, &markup("&#34;", "&apos;")),
        go_json(&replaced(secret, &markup("&quot;", "&#x27;"))),
        replaced(secret, &[("\"", "\"\"")]),
        replaced(secret, &[("'", "'\\''")]),
        percent.to_lowercase(),
        percent,
    ]
}

#[test]
fn planted_secret_is_found_in_every_form() {
    let secret = marker("here");
    let mut hunt = SecretSearch::default();
    hunt.plant("here", &secret);
    for form in forms(&secret) {
        let text = [b"begin ".to_vec(), form, b" end".to_vec()].concat();
        assert!(hunt.finds(&text), "{}", String::from_utf8_lossy(&text));
    }
    assert!(hunt.finds(secret.to_uppercase().as_bytes()) && hunt.finds(&secret.as_bytes()[3..18]));
    assert!(!hunt.finds(marker("there").as_bytes()));
}
