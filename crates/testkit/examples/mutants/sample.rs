//! The sample: the list of all possible changes, their names, and the ones that are tried.
//!
//! Not here: making the changes ([`crate::schemata`]).

use std::collections::BTreeMap;
use std::io::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::cargo;

/// The mutated code: the evaluation of expressions, the planner, the core of apply.
const WHERE: [&str; 4] = [
    "crates/expr/src/**",
    "crates/plan/src**",
    "crates/evaluate/src/resolve/**",
    "crates/apply/src**",
];
/// The size of the sample.
const SAMPLE: usize = 300;
/// The seed of the sample.
const SEED: u64 = 20_230_420;

/// A region of a file. Lines and columns count from 1; a column is a character; the end is
/// exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Region {
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
}

impl Region {
    fn of(span: &Json) -> Option<Region> {
        let number = |json: &Json| {
            json.as_u64()
                .and_then(|number| usize::try_from(number).ok())
        };
        let point = |json: &Json| Some((number(&json["line"])?, number(&json["column"])?));
        Some(Region {
            start: point(&span["start"])?,
            end: point(&span["end"])?,
        })
    }

    /// The byte range of the region in a text; `None` if the text has no such place.
    pub(crate) fn bytes(self, text: &str) -> Option<std::ops::Range<usize>> {
        let byte = |(line, column): (usize, usize)| {
            let before: usize = text
                .split_inclusive('\n')
                .take(line.checked_sub(1)?)
                .map(str::len)
                .sum();
            let rest = &text[before..];
            let within = rest
                .char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .nth(column.checked_sub(1)?)?;
            Some(before + within)
        };
        Some(byte(self.start)?..byte(self.end)?)
    }
}

/// A possible change.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    /// A name that does not change when lines move.
    pub(crate) name: String,
    /// The path of the file from the root of the tree.
    pub(crate) file: String,
    /// The function, with its comments and attributes; `None` for code outside of functions.
    pub(crate) function: Option<Region>,
    /// The name of the function, with the type or module that it belongs to.
    pub(crate) function_name: String,
    /// The region that is replaced.
    pub(crate) span: Region,
    pub(crate) replacement: String,
}

impl Mutant {
    /// The crate that is changed.
    pub(crate) fn package(&self) -> &str {
        self.file.split('/').nth(1).unwrap_or_default()
    }

    /// The text of the file with the change; `None` if the file has no such place.
    pub(crate) fn applied(&self, source: &str) -> Option<String> {
        let span = self.span.bytes(source)?;
        Some(format!(
            "{}{}{}",
            &source[..span.start],
            self.replacement,
            &source[span.end..]
        ))
    }
}

/// All possible changes, as `cargo mutants` lists them.
pub(crate) fn listed(root: &Path) -> Result<Vec<Mutant>, Error> {
    let mut command = Command::new(cargo());
    command
        .current_dir(root)
        .args(["mutants", "--list", "--json", "--diff", "--colors", "never"]);
    for path in WHERE {
        command.args(["--file", path]);
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(Error::other(
            "`cargo mutants` is needed: cargo install --locked cargo-mutants",
        ));
    }
    let all: Vec<Json> = serde_json::from_slice(&output.stdout)?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let mutants = all.iter().map(|mutant| {
        // Line numbers change, so the name has the removed lines of the diff instead.
        let diff = text(&mutant["diff"]);
        let gone: Vec<&str> = diff
            .lines()
            .skip(2)
            .filter_map(|line| line.strip_prefix('-'))
            .map(str::trim)
            .take(2)
            .collect();
        let (file, replacement) = (text(&mutant["file"]), text(&mutant["replacement"]));
        let function_name = text(&mutant["function"]["function_name"]);
        let what = format!(
            "{file} | {function_name} | {} | {}",
            gone.join(" "),
            replacement.split_whitespace().collect::<Vec<_>>().join(" ")
        );
        let nth = seen.entry(what.clone()).or_default();
        *nth += 1;
        let name = if *nth == 1 {
            what
        } else {
            format!("{what} | {nth}")
        };
        let function = Region::of(&mutant["function"]["span"]);
        let span = Region::of(&mutant["span"])
            .ok_or_else(|| Error::other(format!("`{name}` is nowhere")))?;
        Ok(Mutant {
            name,
            file,
            function,
            function_name,
            span,
            replacement,
        })
    });
    mutants.collect()
}

/// A hash of a name, so that the sample does not depend on the order of the code.
fn drawn(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ SEED;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

/// Chooses another sample.
pub(crate) fn choose(root: &Path, folder: &Path) -> Result<bool, Error> {
    let mut names: Vec<String> = listed(root)?
        .into_iter()
        .map(|mutant| mutant.name)
        .collect();
    let of = names.len();
    names.sort_by_key(|name| drawn(name));
    names.truncate(SAMPLE);
    names.sort();
    std::fs::create_dir_all(folder)?;
    let sample = json!({"seed": SEED, "of": of, "mutants": names});
    std::fs::write(
        folder.join("sample.json"),
        format!("{}\n", serde_json::to_string_pretty(&sample)?),
    )?;
    println!("{} of {of} are in the sample", names.len());
    Ok(true)
}

/// The names in the sample.
pub(crate) fn sample(folder: &Path) -> Result<Vec<String>, Error> {
    let sample: Json = serde_json::from_slice(&std::fs::read(folder.join("sample.json"))?)?;
    let names = sample["mutants"].as_array().into_iter().flatten();
    Ok(names
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect())
}
