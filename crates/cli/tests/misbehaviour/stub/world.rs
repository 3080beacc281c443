//! The objects of the stub, its rules, and the log of its calls: files in one folder.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value as Json;

/// A folder with objects, rules and a log.
#[derive(Clone)]
pub(crate) struct World {
    folder: PathBuf,
}

impl World {
    pub(crate) fn new(folder: PathBuf) -> World {
        for part in ["objects", "rules", "processes"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        World { folder }
    }

    /// Notes that a plugin process began.
    pub(crate) fn began(&self) {
        let process = std::process::id().to_string();
        fs::write(self.folder.join("processes").join(process), "").unwrap();
    }

    /// The numbers of all plugin processes that began.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let files = fs::read_dir(self.folder.join("processes")).unwrap();
        files
            .map(|file| file.unwrap().file_name().to_str().unwrap().parse().unwrap())
            .collect()
    }

    /// Appends a call to the log.
    pub(crate) fn log(&self, method: &str) {
        let log = self.folder.join("calls");
        let mut file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(log)
            .unwrap();
        file.write_all(format!("{method}\n").as_bytes()).unwrap();
    }

    /// The number of calls of a method.
    pub(crate) fn calls(&self, method: &str) -> usize {
        let log = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        log.lines().filter(|line| *line == method).count()
    }

    /// Adds a rule for the next call of a method.
    pub(crate) fn rule(&self, method: &str, actions: &str) {
        let number = fs::read_dir(self.folder.join("rules")).unwrap().count();
        self.add(&format!("{method}.{number:04}"), actions);
    }

    /// Adds a rule for all calls of a method.
    pub(crate) fn always(&self, method: &str, actions: &str) {
        self.add(&format!("{method}.always"), actions);
    }

    fn add(&self, name: &str, actions: &str) {
        fs::write(self.folder.join("rules").join(name), actions).unwrap();
    }

    /// Takes the rule for a call.
    pub(crate) fn take_rule(&self, method: &str) -> Option<String> {
        let files = fs::read_dir(self.folder.join("rules")).unwrap();
        let mut rules: Vec<PathBuf> = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.file_stem().is_some_and(|stem| stem == method))
            .collect();
        rules.sort();
        for rule in rules {
            let stays = rule.extension().is_some_and(|one| one == "always");
            let text = fs::read_to_string(&rule).ok();
            // Of concurrent calls, the one that removes the rule follows it.
            if let Some(text) = text
                && (stays || fs::remove_file(&rule).is_ok())
            {
                return Some(text);
            }
        }
        None
    }

    fn object(&self, id: &str) -> PathBuf {
        self.folder.join("objects").join(id)
    }

    /// Stores a new object, and returns its id.
    pub(crate) fn create(&self, name: &str, value: &Json) -> String {
        let taken = |number: &usize| {
            let path = self.object(&format!("{name}-{number}"));
            let file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(path);
            file.is_ok()
        };
        let number = (1..).find(taken).unwrap();
        let id = format!("{name}-{number}");
        self.put(&id, value);
        id
    }

    /// Stores the value of an object.
    pub(crate) fn put(&self, id: &str, value: &Json) {
        fs::write(self.object(id), value.to_string()).unwrap();
    }

    /// The value of an object.
    pub(crate) fn get(&self, id: &str) -> Option<Json> {
        let text = fs::read_to_string(self.object(id)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Removes an object.
    pub(crate) fn delete(&self, id: &str) {
        let _ = fs::remove_file(self.object(id));
    }

    /// The ids of all objects, sorted.
    pub(crate) fn ids(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.join("objects")).unwrap();
        let mut ids: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        ids.sort();
        ids
    }
}
