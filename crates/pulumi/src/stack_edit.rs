//! Edits of a stack's file: values are set, encrypted and removed, everything else stays
//! (decisions/pulumi#edits-of-stack-files).
//!
//! Not here: the edits of the text (`syntax::edit`), the cipher (`passphrase`), writing the file.

use blueprint::{Name, Value};
use diag::{Diagnostic, Diagnostics, Span};
use dialect::codes::{INVALID_NAME, UNKNOWN_KEY, UNSUPPORTED_YAML, WRONG_SHAPE};
use dialect::{ConfigEdit, ConfigEdited, ConfigEntry, ConfigKey, FillRandom, InstanceFile};
use serde_json::Value as Json;
use syntax::edit::{EditError, EditStep, NewNode};
use syntax::{Format, Node, Tree};

use crate::codes::LOCKED_VALUE;
use crate::passphrase::StackCipher;
use crate::read::{RepeatedKey, entries, text};
use crate::shape::UNNAMED;
use crate::stack_config::{PathStep, SECURE, StackConfig, StackValue, full_key, steps};
use crate::stack_file::{StackFile, declared};

/// Returns the passphrase of the user.
pub(crate) type Passphrase = fn() -> Result<Option<String>, String>;

/// The text of the file of a new stack: with a key if there is a passphrase.
pub(crate) fn new_file(
    passphrase: Passphrase,
    random: FillRandom<'_>,
) -> Result<String, Box<Diagnostic>> {
    let given = passphrase().map_err(|why| LOCKED_VALUE.new(why).help(HOW_TO_GIVE))?;
    let Some(given) = given else {
        return Ok("config: {}\n".to_owned());
    };
    let (_, salt) = StackCipher::create(&given, random).map_err(no_cipher)?;
    Ok(format!("encryptionsalt: {salt}\n"))
}

pub(crate) const HOW_TO_GIVE: &str =
    "set `PULUMI_CONFIG_PASSPHRASE`, or `PULUMI_CONFIG_PASSPHRASE_FILE`";

fn one(mistake: Diagnostic) -> Diagnostics {
    std::iter::once(mistake).collect()
}

pub(crate) fn no_cipher(why: String) -> Diagnostic {
    LOCKED_VALUE.new(format!("nothing can be encrypted: {why}"))
}

/// A file of a stack with its configuration.
struct EditedFile<'a> {
    text: &'a str,
    tree: Tree,
    format: Format,
    place: Span,
    project: &'a str,
    program: Option<&'a Node>,
    config: StackConfig,
    passphrase: Passphrase,
}

/// A key with the steps below it.
struct ConfigTarget<'k> {
    key: Name,
    steps: Vec<PathStep<'k>>,
}

impl<'a> EditedFile<'a> {
    /// Reads a file. Its mistakes are errors: an edit must not hide or double them.
    fn read(
        file: &'a InstanceFile<'a>,
        passphrase: Passphrase,
        found: &mut Diagnostics,
    ) -> EditedFile<'a> {
        let program = file.document.tree().root.as_ref();
        let project = program
            .and_then(|program| program.get("name"))
            .and_then(text)
            .unwrap_or(UNNAMED);
        let format = Format::of_name(file.name);
        let (tree, mistakes) = syntax::parse(file.file, file.text, format);
        found.append(mistakes);
        let block = tree.root.as_ref().and_then(|root| root.get("config"));
        let (config, mistakes) = block
            .map(|block| StackConfig::read(block, project))
            .unwrap_or_default();
        found.append(mistakes);
        EditedFile {
            text: file.text,
            tree,
            format,
            place: Span::new(file.file, 0, 0),
            project,
            program,
            config,
            passphrase,
        }
    }

    fn target<'k>(&self, key: &ConfigKey<'k>) -> Result<ConfigTarget<'k>, Diagnostics> {
        let (first, rest) = match key.is_path {
            true => split_path(key.text).ok_or_else(|| {
                one(INVALID_NAME
                    .new(format!("`{}` is no path", key.text))
                    .help("write a key, then steps such as `.name`, `[0]` and `[\"a.b\"]`"))
            })?,
            false => (key.text, Vec::new()),
        };
        let key = full_key(first, self.project).ok_or_else(|| {
            one(INVALID_NAME
                .new(format!("`{first}` is no key of a configuration"))
                .help("write `NAME` or `NAMESPACE:NAME`"))
        })?;
        Ok(ConfigTarget { key, steps: rest })
    }

    /// The key as the file writes it; the full key if it does not.
    fn written_key(&self, key: &Name) -> Name {
        let block = self.tree.root.as_ref().and_then(|root| root.get("config"));
        let written = block
            .and_then(|block| entries(block, RepeatedKey::Mistake, &mut Diagnostics::default()))
            .into_iter()
            .flatten()
            .map(|entry| entry.key.item)
            .find(|written| full_key(written, self.project).as_ref() == Some(key));
        written.unwrap_or_else(|| key.clone())
    }

    /// Whether the program declares the entry of a key as secret.
    fn is_declared_secret(&self, key: &Name) -> bool {
        let Some(program) = self.program else {
            return false;
        };
        let entry = declared(program)
            .into_iter()
            .find(|(_, written)| full_key(written, self.project).as_ref() == Some(key));
        let Some((name, _)) = entry else {
            return false;
        };
        let sections = ["config", "configuration"];
        let mut fields = sections
            .iter()
            .filter_map(|section| program.get(section)?.get(name)?.get("secret"));
        fields.any(|secret| {
            secret
                .as_scalar()
                .is_some_and(|scalar| crate::scalar::typed(secret, scalar) == Value::Bool(true))
        })
    }

    /// The cipher of the stack, and the salt if it is new.
    fn cipher(&self, random: FillRandom<'_>) -> Result<(StackCipher, Option<String>), Diagnostics> {
        let none = Node::missing(self.place);
        let root = self.tree.root.as_ref().unwrap_or(&none);
        let has_manager = ["encryptionsalt", "secretsprovider", "encryptedkey"]
            .iter()
            .any(|key| {
                root.get(key)
                    .and_then(text)
                    .is_some_and(|text| !text.is_empty())
            });
        let mut found = Diagnostics::default();
        if has_manager {
            let mut file = StackFile {
                root,
                project: self.project,
                is_check: false,
                passphrase: self.passphrase,
                cipher: None,
                found: &mut found,
            };
            if let Ok(cipher) = file.unlock(root.span) {
                return Ok((cipher, None));
            }
            return Err(found);
        }
        let cipher = match (self.passphrase)() {
            Ok(Some(passphrase)) => StackCipher::create(&passphrase, random).map_err(no_cipher),
            Ok(None) => Err(LOCKED_VALUE
                .new("the value cannot be encrypted: no passphrase is given")
                .help(HOW_TO_GIVE)),
            Err(why) => Err(LOCKED_VALUE.new(why).help(HOW_TO_GIVE)),
        };
        match cipher {
            Ok((cipher, salt)) => Ok((cipher, Some(salt))),
            Err(mistake) => Err(one(mistake)),
        }
    }

    /// The path of a target in the tree of the file.
    fn path<'s>(&self, written: &'s str, steps: &[PathStep<'s>]) -> Vec<EditStep<'s>> {
        let below = steps.iter().map(|step| match step {
            PathStep::Name(name) => EditStep::Key(name),
            PathStep::Position(at) => EditStep::Index(*at),
        });
        let first = [EditStep::Key("config"), EditStep::Key(written)];
        first.into_iter().chain(below).collect()
    }

    /// Checks that a new text has the configuration that the edit should give.
    fn checked(
        &self,
        new: String,
        target: &ConfigTarget<'_>,
        expected: Option<&Json>,
    ) -> Result<String, Diagnostics> {
        let (tree, mistakes) = syntax::parse(self.place.file, &new, self.format);
        let block = tree.root.as_ref().and_then(|root| root.get("config"));
        let (config, more) = block
            .map(|block| StackConfig::read(block, self.project))
            .unwrap_or_default();
        let others = |config: &StackConfig| -> Vec<(Name, Json)> {
            let others = config.entries().filter(|(key, _)| **key != target.key);
            let others = others.map(|(key, value)| (key.clone(), value.to_json()));
            others.collect()
        };
        let written = config.at(&target.key, &[]).map(StackValue::to_json);
        let fits = !mistakes.has_errors()
            && !more.has_errors()
            && written.as_ref() == expected
            && others(&config) == others(&self.config);
        match fits {
            true => Ok(new),
            false => Err(one(WRONG_SHAPE
                .new("the file is written in a way that cannot be edited")
                .help(
                    "edit it by hand, or write the block `config` with one entry on each line",
                ))),
        }
    }

    fn refused(&self, error: EditError) -> Diagnostic {
        match error {
            EditError::Alias(place) => UNSUPPORTED_YAML
                .new("the value is an alias: it is written elsewhere in the file")
                .label(place, "an alias")
                .help("edit the file, or write the value out here"),
            EditError::NotAMap(place) => WRONG_SHAPE
                .new("the path leads through a value that is no map")
                .label(place, "no map")
                .help("remove the value first: `cyan config rm`"),
            EditError::NotAList(place) => WRONG_SHAPE
                .new("the path leads through a value that is no list")
                .label(place, "no list")
                .help("remove the value first: `cyan config rm`"),
            EditError::OutOfRange(place, items) => WRONG_SHAPE
                .new(match items {
                    1 => "the list has 1 item".to_owned(),
                    items => format!("the list has {items} items"),
                })
                .label(place, "this list")
                .help(format!("`[{items}]` adds an item")),
        }
    }
}

/// The first part of a path and the steps below it. `None` if the path is malformed.
fn split_path(path: &str) -> Option<(&str, Vec<PathStep<'_>>)> {
    if let Some(rest) = path.strip_prefix("[\"") {
        let (first, rest) = rest.split_once("\"]")?;
        return Some((first, steps(rest)?));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (first, rest) = path.split_at(end);
    Some((first, steps(rest)?))
}

/// The value of a text below a path: `true`, `false` and integers are no strings there.
fn nested_value(text: &str) -> NewNode {
    let is_word = matches!(text, "true" | "false");
    let is_long = text.len() > 1 && text.starts_with('0');
    let is_number = !is_long
        && text
            .parse::<i64>()
            .is_ok_and(|number| number.to_string() == text);
    match is_word || is_number {
        true => NewNode::Word(text.to_owned()),
        false => NewNode::Text(text.to_owned()),
    }
}

/// A new value in JSON, as [`StackValue::to_json`] writes it.
fn json(value: &NewNode) -> Json {
    match value {
        NewNode::Text(text) => Json::String(text.clone()),
        NewNode::Word(word) => serde_json::from_str(word).unwrap_or(Json::Null),
        NewNode::List(items) => items.iter().map(json).collect(),
        NewNode::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), json(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
    }
}

/// Sets the value below these steps.
fn set_json(at: &mut Json, steps: &[PathStep<'_>], value: Json) {
    let Some((step, rest)) = steps.split_first() else {
        *at = value;
        return;
    };
    match step {
        PathStep::Name(name) => {
            if !at.is_object() {
                *at = Json::Object(serde_json::Map::new());
            }
            set_json(&mut at[*name], rest, value);
        }
        PathStep::Position(index) => {
            if !at.is_array() {
                *at = Json::Array(Vec::new());
            }
            if let Some(items) = at.as_array_mut() {
                if *index == items.len() {
                    items.push(Json::Null);
                }
                if let Some(item) = items.get_mut(*index) {
                    set_json(item, rest, value);
                }
            }
        }
    }
}

/// Removes the value below these steps.
fn remove_json(at: &mut Json, steps: &[PathStep<'_>]) {
    let Some((last, before)) = steps.split_last() else {
        return;
    };
    let mut at = at;
    for step in before {
        let next = match step {
            PathStep::Name(name) => at.get_mut(*name),
            PathStep::Position(index) => at.get_mut(*index),
        };
        let Some(next) = next else {
            return;
        };
        at = next;
    }
    match (last, at) {
        (PathStep::Name(name), Json::Object(entries)) => {
            entries.remove(*name);
        }
        (PathStep::Position(index), Json::Array(items)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

/// Edits the file of a stack. See [`dialect::InstanceFiles::edit`].
pub(crate) fn edit(
    file: &InstanceFile<'_>,
    edit: &ConfigEdit<'_>,
    passphrase: Passphrase,
    random: FillRandom<'_>,
) -> Result<ConfigEdited, Diagnostics> {
    let mut found = Diagnostics::default();
    let own = EditedFile::read(file, passphrase, &mut found);
    if found.has_errors() {
        return Err(found);
    }
    let key = match edit {
        ConfigEdit::Set { key, .. } | ConfigEdit::Remove { key } => key,
    };
    let target = own.target(key)?;
    let written = own.written_key(&target.key);
    let path = own.path(&written, &target.steps);
    let before = own.config.at(&target.key, &[]).map(StackValue::to_json);
    let (new, expected, is_secret) = match edit {
        ConfigEdit::Remove { .. } => {
            let removed = syntax::edit::remove(own.text, &own.tree, &path)
                .map_err(|error| one(own.refused(error)))?;
            let Some(new) = removed else {
                let all = own.config.entries().map(|(key, _)| shown(key, own.project));
                let all: Vec<String> = all.collect();
                return Err(one(UNKNOWN_KEY
                    .new(format!("there is no value of `{}`", key.text))
                    .help_nearest(key.text, all.iter().map(String::as_str))));
            };
            let mut expected = before;
            match (target.steps.as_slice(), &mut expected) {
                ([], expected) => *expected = None,
                (steps, Some(expected)) => remove_json(expected, steps),
                (_, None) => {}
            }
            (new, expected, false)
        }
        ConfigEdit::Set {
            value, is_secret, ..
        } => {
            if matches!(target.steps.last(), Some(PathStep::Name(SECURE))) {
                return Err(one(INVALID_NAME
                    .new("a key `secure` stands for an encrypted value")
                    .help("say `--secret` to encrypt a value, or use another name")));
            }
            let old = own.config.at(&target.key, &target.steps);
            let is_secret = is_secret.unwrap_or_else(|| {
                let was_secret = matches!(old, Some(StackValue::Secure(..)));
                was_secret || own.is_declared_secret(&target.key)
            });
            let mut salted = None;
            let new_value = if is_secret {
                let (cipher, salt) = own.cipher(random)?;
                salted = salt;
                let sealed = cipher
                    .encrypt(value, random)
                    .map_err(|why| one(no_cipher(why)))?;
                NewNode::Map(vec![(SECURE.to_owned(), NewNode::Text(sealed))])
            } else if target.steps.is_empty() {
                NewNode::Text((*value).to_owned())
            } else {
                nested_value(value)
            };
            let mut new = syntax::edit::set(own.text, &own.tree, &path, &new_value)
                .map_err(|error| one(own.refused(error)))?;
            if let Some(salt) = salted {
                let (tree, _) = syntax::parse(own.place.file, &new, own.format);
                let step = [EditStep::Key("encryptionsalt")];
                new = syntax::edit::set(&new, &tree, &step, &NewNode::Text(salt))
                    .map_err(|error| one(own.refused(error)))?;
            }
            let mut expected = before.unwrap_or(Json::Null);
            set_json(&mut expected, &target.steps, json(&new_value));
            (new, Some(expected), is_secret)
        }
    };
    Ok(ConfigEdited {
        text: own.checked(new, &target, expected.as_ref())?,
        key: target.key.to_string(),
        is_secret,
    })
}

/// A full key as people write it: without the project.
fn shown(key: &Name, project: &str) -> String {
    let own = key
        .strip_prefix(project)
        .and_then(|rest| rest.strip_prefix(':'));
    own.unwrap_or(key).to_owned()
}

/// The entries of a file, or the one at a key. See [`dialect::InstanceFiles`].
pub(crate) fn read(
    file: &InstanceFile<'_>,
    at: Option<&ConfigKey<'_>>,
    reveal: bool,
    passphrase: Passphrase,
    found: &mut Diagnostics,
) -> Vec<ConfigEntry> {
    let own = EditedFile::read(file, passphrase, found);
    let none = Node::missing(own.place);
    let mut whole = StackFile {
        root: own.tree.root.as_ref().unwrap_or(&none),
        project: own.project,
        is_check: false,
        passphrase,
        cipher: None,
        found,
    };
    let mut entry = |key: &Name, value: &StackValue| {
        let is_secret = !value.secure_values().is_empty();
        let text = match (is_secret, reveal) {
            (false, _) => Some(value.to_text()),
            (true, false) => None,
            (true, true) => value
                .revealed(&mut |text, place| whole.decrypt(text, place))
                .map(|value| value.to_text()),
        };
        ConfigEntry {
            key: key.to_string(),
            shown: shown(key, own.project),
            text,
            redacted: value.to_redacted_text(),
            is_secret,
        }
    };
    let Some(key) = at else {
        let all = own.config.entries();
        return all.map(|(key, value)| entry(key, value)).collect();
    };
    match own.target(key) {
        Ok(target) => {
            let value = own.config.at(&target.key, &target.steps);
            value
                .map(|value| entry(&target.key, value))
                .into_iter()
                .collect()
        }
        Err(mistakes) => {
            found.append(mistakes);
            Vec::new()
        }
    }
}

/// The name of the file of a stack.
pub(crate) fn file_name(stack: &str) -> String {
    format!("Pulumi.{stack}.yaml")
}

#[cfg(test)]
mod tests {
    use diag::FileId;
    use dialect::{Document, LoadContext};

    use super::*;

    const PROGRAM: &str =
        "name: demo\nruntime: yaml\nconfig:\n  pin: {type: string, secret: true}\n";

    fn with_file<T>(text: &str, then: impl FnOnce(&InstanceFile<'_>) -> T) -> T {
        let (tree, _) = syntax::parse(FileId::new(0), PROGRAM, Format::Yaml);
        let trees = [tree];
        let context = LoadContext::NONE;
        let document = Document::new(FileId::new(0), "Pulumi.yaml", PROGRAM, &trees, &context);
        then(&InstanceFile {
            document,
            file: FileId::new(1),
            name: "Pulumi.dev.yaml",
            text,
        })
    }

    fn horse() -> Result<Option<String>, String> {
        Ok(Some("horse".to_owned()))
    }

    fn change(text: &str, change: &ConfigEdit<'_>) -> Result<ConfigEdited, Diagnostics> {
        let mut random = |bytes: &mut [u8]| {
            bytes.fill(7);
            Ok(())
        };
        with_file(text, |file| edit(file, change, horse, &mut random))
    }

    fn set(text: &str, key: &str, value: &str) -> Result<String, Diagnostics> {
        let is_path = key.contains(['.', '[']);
        let key = ConfigKey { text: key, is_path };
        let edit = ConfigEdit::Set {
            key,
            value,
            is_secret: None,
        };
        change(text, &edit).map(|edited| edited.text)
    }

    #[test]
    fn values_are_set_as_the_command_line_of_pulumi_does() {
        let set = |text: &str, key: &str, value: &str| set(text, key, value).unwrap();
        assert_eq!(set("", "size", "3"), "config:\n  demo:size: \"3\"\n");
        let text = "config:\n  size: 1 # small\n  aws:region: eu\n";
        assert_eq!(
            set(text, "size", "big"),
            text.replace("1 #", "big #"),
            "the key stays as it is written"
        );
        assert_eq!(
            set("", "a.b[0]", "true"),
            "config:\n  demo:a:\n    b:\n      - true\n"
        );
        assert_eq!(
            set("config:\n  demo:a: {b: 1}\n", "a.c", "007"),
            "config:\n  demo:a: {b: 1, c: \"007\"}\n"
        );
    }

    #[test]
    fn a_secret_is_encrypted_and_stays_one() {
        let text = set("# mine\nconfig: {}\n", "pin", "1234").unwrap();
        assert!(text.contains("encryptionsalt: v1:"), "{text}");
        assert!(
            text.contains("secure: v1:") && !text.contains("1234"),
            "{text}"
        );
        let shown = |reveal: bool| {
            let mut found = Diagnostics::default();
            let all = with_file(&text, |file| read(file, None, reveal, horse, &mut found));
            assert!(found.is_empty());
            all
        };
        assert_eq!(shown(true)[0].text.as_deref(), Some("1234"));
        assert_eq!(shown(false)[0].text, None);
        let other = ConfigEdit::Set {
            key: ConfigKey {
                text: "token",
                is_path: false,
            },
            value: "x",
            is_secret: Some(true),
        };
        let text = change(&text, &other).unwrap().text;
        let again = change(&text, &other).unwrap();
        assert!(again.is_secret);
        let again = set(&again.text, "token", "new").unwrap();
        assert!(!again.contains("new"), "{again}");
        assert_eq!(again.matches("encryptionsalt").count(), 1);
    }

    #[test]
    fn values_are_removed() {
        let text = "config:\n  demo:a: {b: 1, c: 2}\n  # kept\n  demo:d: x\n";
        let remove = |key: &str| {
            let is_path = key.contains('.');
            let key = ConfigKey { text: key, is_path };
            change(text, &ConfigEdit::Remove { key }).map(|edited| edited.text)
        };
        assert_eq!(remove("d").unwrap(), text.replace("  demo:d: x\n", ""));
        assert_eq!(remove("a.b").unwrap(), text.replace("b: 1, ", ""));
        assert!(remove("e").is_err());
    }

    #[test]
    fn wrong_edits_are_refused() {
        for (text, key) in [
            ("config:\n  demo:a: 1\n", "a.b"),
            ("config:\n  demo:a: [1]\n", "a[2]"),
            ("config: {demo:a: [1}\n", "b"),
            ("x: &x {demo:a: 1}\nconfig: *x\n", "a"),
            ("", "a..b"),
            ("", "a.secure"),
            ("", "[0]"),
            ("config: 3\n", "a"),
        ] {
            assert!(set(text, key, "x").is_err(), "{text} {key}");
        }
    }
}
