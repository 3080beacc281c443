//! Every text, truncated or corrupted at any place, gives diagnostics and no panic when it is read,
//! checked and drawn.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use diag::{Colors, draw};
use proptest::prelude::*;
use proptest::sample::Index;
use testkit::harness::Harness;

use crate::{cases, harness, run_with_paused_clock};

/// The documents of the conformance pack.
fn seeds() -> &'static [String] {
    static SEEDS: OnceLock<Vec<String>> = OnceLock::new();
    SEEDS.get_or_init(|| {
        let mut paths: Vec<PathBuf> = Vec::new();
        let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint/cases");
        for kind in ["validation", "stage", "deploy"] {
            let entries = std::fs::read_dir(pack.join(kind)).expect("the pack is there");
            paths.extend(entries.flatten().map(|entry| entry.path()).filter(|path| {
                path.extension()
                    .is_some_and(|end| end == "yaml" || end == "jsonc")
            }));
        }
        paths.sort();
        paths
            .iter()
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .filter(|text| text.len() < 6000)
            .collect()
    })
}

/// Reads and checks a text and draws its diagnostics.
async fn read(harness: &Harness, text: &str) {
    let name = if text.trim_start().starts_with('{') {
        "main.jsonc"
    } else {
        "main.yaml"
    };
    let read = harness.read(name, text).await;
    for diagnostic in &read.diagnostics {
        let drawn = draw(diagnostic, &read.files, Colors::Off);
        assert!(drawn.contains(diagnostic.code.name));
        for label in &diagnostic.labels {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(
                start <= end && end <= text.len(),
                "{} is outside of the text: {label:?}",
                diagnostic.code.name
            );
            assert!(
                text.is_char_boundary(start) && text.is_char_boundary(end),
                "{label:?} cuts a character in\n{text}"
            );
        }
    }
    assert!(
        read.checked.is_some() || read.diagnostics.has_errors(),
        "neither a blueprint nor an error:\n{text}"
    );
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Insertions into a text.
const PIECES: [&str; 28] = [
    "${",
    "}",
    "\"",
    "'",
    "\\",
    "[",
    "]",
    "{",
    "(",
    ")",
    ":",
    ": ",
    "- ",
    " #",
    "\n",
    "\t",
    "\r\n",
    "|\n",
    "&a ",
    "*a",
    "!!str ",
    "---\n",
    "é\u{301}",
    "\u{feff}",
    "\0",
    "9999999999999999999",
    "none",
    "${resources.",
];

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn corrupted_text_is_read(seed in any::<Index>(), accidents in prop::collection::vec((0..4_u8, any::<Index>(), any::<Index>(), any::<Index>()), 1..4)) {
        let mut text = seed.get(seeds()).clone();
        for (kind, from, length, piece) in accidents {
            if text.is_empty() {
                break;
            }
            let start = floor(&text, from.index(text.len()));
            let end = floor(&text, start + length.index(30)).max(start);
            match kind {
                0 => text.truncate(start),
                1 => text.replace_range(start..end, ""),
                2 => text.insert_str(start, PIECES[piece.index(PIECES.len())]),
                _ => {
                    let again = text[start..end].to_owned();
                    let to = floor(&text, piece.index(text.len()));
                    text.insert_str(to, &again);
                }
            }
        }
        run_with_paused_clock(async { read(&harness(), &text).await });
    }
}

#[test]
fn truncated_text_is_read() {
    let mut seeds: Vec<&String> = seeds()
        .iter()
        .filter(|text| (300..1200).contains(&text.len()))
        .collect();
    seeds.sort_by_key(|text| text.len() % 97);
    run_with_paused_clock(async {
        let harness = harness();
        for text in seeds.into_iter().take(4) {
            for end in (0..text.len())
                .step_by(3)
                .filter(|end| text.is_char_boundary(*end))
            {
                read(&harness, &text[..end]).await;
                read(&harness, &text[end..]).await;
            }
        }
    });
}
