//! Settings for documents from outside: limits, and features that are off by default.
//!
//! A dialect declares its settings as data ([`DialectSetting`]) and reads their values by name
//! ([`DialectSettings`]).
//!
//! Not here: the files with settings, and reading them.

use blueprint::{Name, Value};

/// A setting: its name and what it takes.
pub type DialectSetting = (&'static str, SettingKind);

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// True or false.
    Switch,
    /// A number with its minimum and maximum.
    Number(i64, i64),
    /// A list of paths, relative to the file with the settings.
    Paths,
}

/// Limits on documents of a dialect; `None` if not set. A dialect has these limits if it declares
/// settings of these names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DialectLimits {
    /// The maximum number of bytes of one document: `document-bytes`.
    pub bytes: Option<usize>,
    /// The maximum number of resources in a root and all documents below it: `resources`.
    pub resources: Option<usize>,
    /// The maximum nesting depth: `nesting`. The includes of the root are at level 1.
    pub levels: Option<u32>,
}

/// Limits on documents of any dialect. `None` for the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentLimits {
    /// The maximum number of bytes of one value.
    pub value_bytes: Option<usize>,
    /// The maximum number of bytes of all values of expressions.
    pub all_value_bytes: Option<usize>,
    /// The maximum number of members of one group, or of one template with `each`.
    pub members: Option<usize>,
    /// The maximum number of members of all groups and templates with `each`, and of resources of
    /// included documents, together.
    pub all_members: Option<usize>,
    /// The maximum number of bytes of a file that a document names and whose content becomes a
    /// value.
    pub file_bytes: Option<u64>,
    /// The maximum number of bytes of a document, and of a file of inputs.
    pub text_bytes: Option<usize>,
}

impl DocumentLimits {
    /// The defaults.
    pub const DEFAULT: DocumentLimits = DocumentLimits {
        value_bytes: None,
        all_value_bytes: None,
        members: None,
        all_members: None,
        file_bytes: None,
        text_bytes: None,
    };

    /// The settings.
    const SETTINGS: [DialectSetting; 6] = [
        (
            "value-bytes",
            SettingKind::Number(1024, expr::MAX_VALUE_BYTES as i64),
        ),
        ("all-value-bytes", SettingKind::Number(1024, i64::MAX)),
        ("members", SettingKind::Number(1, 1_000_000)),
        ("all-members", SettingKind::Number(1, 10_000_000)),
        ("file-bytes", SettingKind::Number(1024, 1 << 30)),
        (
            "text-bytes",
            SettingKind::Number(1024, syntax::MAX_BYTES as i64),
        ),
    ];

    /// Reads the written values. An error is the rest of a sentence that begins with the place of
    /// the settings.
    pub fn read(written: &[(Name, Value)]) -> Result<DocumentLimits, String> {
        let read = DialectSettings::read(&DocumentLimits::SETTINGS, written)?;
        Ok(DocumentLimits {
            value_bytes: read.size("value-bytes"),
            all_value_bytes: read.size("all-value-bytes"),
            members: read.size("members"),
            all_members: read.size("all-members"),
            file_bytes: read
                .number("file-bytes")
                .and_then(|bytes| u64::try_from(bytes).ok()),
            text_bytes: read.size("text-bytes"),
        })
    }

    /// The maximum number of bytes of a document, and of a file of inputs.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes.unwrap_or(syntax::USUAL_BYTES)
    }

    /// The maximum number of members in total.
    pub fn all_members(&self) -> usize {
        self.all_members.unwrap_or(100_000)
    }

    /// The maximum number of items of an `each`.
    pub fn items(&self) -> usize {
        self.members.unwrap_or(100_000)
    }
}

/// The settings of one dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DialectSettings(Vec<(&'static str, SetTo)>);

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SetTo {
    Switch(bool),
    Number(i64),
    Paths(Vec<Name>),
}

impl DialectSettings {
    /// No settings.
    pub const NONE: DialectSettings = DialectSettings(Vec::new());

    /// Reads written settings by name; `known` are the existing settings. An error is the rest of a
    /// sentence that begins with the place of the settings.
    pub fn read(
        known: &[DialectSetting],
        written: &[(Name, Value)],
    ) -> Result<DialectSettings, String> {
        let mut read: Vec<(&'static str, SetTo)> = Vec::with_capacity(written.len());
        for (name, value) in written {
            let one = checked(known, name, value)?;
            read.retain(|(known, _)| *known != one.0);
            read.push(one);
        }
        Ok(DialectSettings(read))
    }

    /// The value of a number; `None` if it is not set.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|(known, value)| match value {
            SetTo::Number(number) if *known == name => Some(*number),
            _ => None,
        })
    }

    /// The value of a number as a size; `None` if it is not set.
    pub fn size(&self, name: &str) -> Option<usize> {
        self.number(name)
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// The value of a switch; `None` if it is not set.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.0.iter().find_map(|(known, value)| match value {
            SetTo::Switch(on) if *known == name => Some(*on),
            _ => None,
        })
    }

    /// The paths of a setting; empty if it is not set.
    pub fn paths(&self, name: &str) -> &[Name] {
        let found = self.0.iter().find_map(|(known, value)| match value {
            SetTo::Paths(paths) if *known == name => Some(paths.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// The value of the setting with a name; `None` if it is not set.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.0
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| match value {
                SetTo::Switch(on) => Value::Bool(*on),
                SetTo::Number(number) => Value::Int(*number),
                SetTo::Paths(paths) => Value::list(paths.iter().cloned().map(Value::Text)),
            })
    }

    /// The limits on documents in these settings.
    pub fn limits(&self) -> DialectLimits {
        DialectLimits {
            bytes: self.size("document-bytes"),
            resources: self.size("resources"),
            levels: self
                .number("nesting")
                .and_then(|levels| u32::try_from(levels).ok()),
        }
    }
}

/// All settings for documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentSettings {
    /// Limits for documents of every dialect.
    pub limits: DocumentLimits,
    /// The settings by dialect.
    by_dialect: Vec<(&'static str, DialectSettings)>,
}

impl DocumentSettings {
    /// No settings.
    pub const NONE: DocumentSettings = DocumentSettings {
        limits: DocumentLimits::DEFAULT,
        by_dialect: Vec::new(),
    };

    /// Replaces the settings of a dialect.
    pub fn set(&mut self, dialect: &'static str, settings: DialectSettings) {
        self.by_dialect.retain(|(known, _)| *known != dialect);
        self.by_dialect.push((dialect, settings));
    }

    /// The settings of a dialect.
    pub fn of(&self, dialect: &str) -> &DialectSettings {
        const NONE: &DialectSettings = &DialectSettings::NONE;
        self.by_dialect
            .iter()
            .find(|(known, _)| *known == dialect)
            .map_or(NONE, |(_, settings)| settings)
    }

    /// The limits on documents of a dialect.
    pub fn limits(&self, dialect: &str) -> DialectLimits {
        self.of(dialect).limits()
    }
}

/// The setting with a name and its value. Checks that the setting accepts the value.
fn checked(
    known: &[DialectSetting],
    name: &str,
    value: &Value,
) -> Result<(&'static str, SetTo), String> {
    let Some((name, kind)) = known.iter().find(|(known, _)| *known == name) else {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let nearest = diag::nearest(name, known.iter().map(|(name, _)| *name));
        return Err(match nearest {
            Some(nearest) => format!("has no setting `{name}`; did you mean `{nearest}`?"),
            None if names.is_empty() => format!("has no setting `{name}`; it has none"),
            None => format!("has no setting `{name}`; it has {}", names.join(", ")),
        });
    };
    let set = match (kind, value) {
        (SettingKind::Switch, Value::Bool(on)) => SetTo::Switch(*on),
        (SettingKind::Number(least, most), Value::Int(number))
            if (least..=most).contains(&number) =>
        {
            SetTo::Number(*number)
        }
        (SettingKind::Paths, Value::List(paths)) if paths.iter().all(is_path) => {
            let paths = paths.iter().filter_map(Value::as_text);
            SetTo::Paths(paths.map(Name::from).collect())
        }
        _ => return Err(format!("wants {} for `{name}`", kind.wanted())),
    };
    Ok((name, set))
}

fn is_path(value: &Value) -> bool {
    value.as_text().is_some_and(|text| !text.is_empty())
}

impl SettingKind {
    fn wanted(self) -> String {
        match self {
            SettingKind::Switch => "true or false".to_owned(),
            SettingKind::Number(least, i64::MAX) => format!("a number of at least {least}"),
            SettingKind::Number(least, most) => format!("a number from {least} to {most}"),
            SettingKind::Paths => "a list of paths".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[DialectSetting] = &[
        ("resources", SettingKind::Number(1, i64::MAX)),
        ("nesting", SettingKind::Number(1, 16)),
        ("fancy", SettingKind::Switch),
        ("document-bytes", SettingKind::Number(1, 99)),
    ];

    fn read(
        known: &[DialectSetting],
        written: &[(&str, Value)],
    ) -> Result<DialectSettings, String> {
        let written: Vec<(Name, Value)> = written
            .iter()
            .map(|(name, value)| ((*name).into(), value.clone()))
            .collect();
        DialectSettings::read(known, &written)
    }

    #[test]
    fn settings_of_documents_are_limits() {
        let written = [
            ("resources", Value::Int(7)),
            ("nesting", Value::Int(2)),
            ("resources", Value::Int(8)),
        ];
        let settings = read(KNOWN, &written).expect("they can be set");
        assert_eq!(
            settings.limits(),
            DialectLimits {
                bytes: None,
                resources: Some(8),
                levels: Some(2)
            }
        );
        assert_eq!(
            (settings.switch("fancy"), settings.value("nesting")),
            (None, Some(Value::Int(2)))
        );
        let mut all = DocumentSettings::NONE;
        all.set("toy", settings);
        assert_eq!(
            (all.limits("toy").resources, all.limits("other").resources),
            (Some(8), None)
        );
    }

    #[test]
    fn every_limit_of_documents_can_be_set() {
        let mut all = vec![DocumentLimits::DEFAULT];
        for (name, _) in DocumentLimits::SETTINGS {
            let room =
                DocumentLimits::read(&[(name.into(), Value::Int(2000))]).expect("it can be set");
            assert!(!all.contains(&room), "{name}");
            all.push(room);
        }
        let refused = |name: &str, value: i64| {
            DocumentLimits::read(&[(name.into(), Value::Int(value))]).expect_err("it is refused")
        };
        assert_eq!(
            refused("member", 1),
            "has no setting `member`; did you mean `members`?"
        );
        assert_eq!(
            refused("value-bytes", 1 << 40),
            "wants a number from 1024 to 67108864 for `value-bytes`"
        );
    }

    #[test]
    fn unknown_settings_and_wrong_values_are_refused() {
        let refused =
            |name: &str, value: Value| read(KNOWN, &[(name, value)]).expect_err("it is refused");
        assert_eq!(
            read(&[], &[("resources", Value::Int(1))]),
            Err("has no setting `resources`; it has none".to_owned())
        );
        assert_eq!(
            refused("resource", Value::Int(1)),
            "has no setting `resource`; did you mean `resources`?"
        );
        assert_eq!(
            refused("nesting", Value::Int(17)),
            "wants a number from 1 to 16 for `nesting`"
        );
        assert_eq!(
            refused("resources", Value::Int(0)),
            "wants a number of at least 1 for `resources`"
        );
        assert_eq!(
            refused("resources", Value::from("9")),
            "wants a number of at least 1 for `resources`"
        );
        assert_eq!(
            refused("fancy", Value::Int(1)),
            "wants true or false for `fancy`"
        );
    }
}
