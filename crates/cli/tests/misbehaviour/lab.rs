//! A folder with a document, a state and the stub as the package `stub`.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::{Place, Ran, ran};
use crate::stub::{FAMILY, WORLD, World};

/// The families of plugins.
pub(crate) const FAMILIES: [&str; 2] = ["pulumi", "terraform"];

/// A folder with the stub.
pub(crate) struct Lab {
    pub(crate) place: Place,
    pub(crate) world: World,
    pub(crate) family: &'static str,
}

impl Lab {
    pub(crate) fn new(family: &'static str) -> Lab {
        let place = Place::new();
        let world = World::new(place.path().join("world"));
        let lab = Lab {
            place,
            world,
            family,
        };
        lab.configure("");
        lab
    }

    /// Writes the configuration of the package, with further lines of its table.
    pub(crate) fn configure(&self, more: &str) {
        self.configure_with(&["--exact", "plugin", "--nocapture"], more);
    }

    /// Writes the configuration of the package with these arguments.
    pub(crate) fn configure_with(&self, arguments: &[&str], more: &str) {
        let program = std::env::current_exe().unwrap();
        self.place.write(
            "cyan.toml",
            format!(
                "[plugins.stub]\nkind = \"{}\"\npath = '{}'\narguments = {arguments:?}\n{more}",
                self.family,
                program.display(),
            ),
        );
    }

    /// The type of an item.
    pub(crate) fn item(&self) -> &'static str {
        match self.family {
            "pulumi" => "stub/index:Item",
            _ => "stub/item",
        }
    }

    /// Writes a document of these resources: their names and specs.
    pub(crate) fn document(&self, resources: &[(&str, &str)]) {
        let mut text = "version: 2023-04-20\nresources:\n".to_owned();
        for (name, spec) in resources {
            text += &format!("  {name}: {{type: \"{}\", spec: {spec}}}\n", self.item());
        }
        self.place.write("a.blueprint.yaml", text);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.cyan(arguments);
        command
            .env("CYAN_KEY", format!("{}=", "A".repeat(43)))
            .env(FAMILY, self.family)
            .env(WORLD, self.path().join("world"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().unwrap())
    }

    #[track_caller]
    pub(crate) fn ends(&self, code: i32, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(
            ran.code,
            code,
            "{}: cyan {}\n{}{}",
            self.family,
            arguments.join(" "),
            ran.out,
            ran.err
        );
        ran
    }

    #[track_caller]
    pub(crate) fn deploy(&self, code: i32) -> Ran {
        self.ends(code, &["deploy", "-y"])
    }

    /// Waits until a condition holds.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(60), "not: {what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }
}

impl Lab {
    /// Repeats a command until it succeeds, and decides about each unknown outcome as a user does
    /// who looks at the objects. Returns what was said if it never succeeds.
    pub(crate) fn until_done(&self, command: &[&str], runs: usize) -> Result<(), String> {
        let mut said = String::new();
        for _ in 0..runs {
            let ran = self.run(command);
            if ran.code == 0 {
                return Ok(());
            }
            said = format!("exit {}\n{}{}", ran.code, ran.out, ran.err);
            if ran.err.contains("error[needs-attention]") {
                let decided = match self.world.ids().as_slice() {
                    [] => self.run(&["reconcile", "-y", "--retry", "a"]),
                    [id] => self.run(&["reconcile", "-y", "--adopt", &format!("a={id}")]),
                    more => return Err(format!("there are {more:?}")),
                };
                if decided.code != 0 {
                    said += &format!("reconcile\n{}{}", decided.out, decided.err);
                }
            }
        }
        Err(format!("stuck: {said}"))
    }

    /// Whether exactly one object of the size exists and is recorded, or none.
    pub(crate) fn holds(&self, size: Option<i64>) -> Result<(), String> {
        let (objects, records) = (self.world.ids(), self.recorded());
        if objects != records {
            return Err(format!("objects {objects:?}, records {records:?}"));
        }
        let sizes: Vec<_> = objects
            .iter()
            .map(|id| self.world.get(id).unwrap_or_default()["size"].as_i64())
            .collect();
        match size {
            Some(size) if sizes != [Some(size)] => Err(format!("the sizes are {sizes:?}")),
            None if !sizes.is_empty() => Err(format!("{objects:?} are left")),
            _ => Ok(()),
        }
    }

    /// The ids of all recorded objects, sorted.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let shown = self.run(&["show", "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap_or_default();
        let resources = shown["result"]["resources"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut ids: Vec<String> = resources
            .iter()
            .filter_map(|one| one["id"].as_str().map(str::to_owned))
            .filter(|id| !id.is_empty())
            .collect();
        ids.sort();
        ids
    }
}
