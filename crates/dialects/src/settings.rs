//! What a person may set for a dialect, beside its documents: limits, and what is off unless somebody wants it.
//!
//! Not here: where settings are written, and how files are read.

use blueprint::{Name, Value};

/// How large documents of a dialect may be. What is not said is as the dialect has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one document.
    pub bytes: Option<usize>,
    /// Resources in a root and all documents below it.
    pub resources: Option<usize>,
    /// How deep documents may be nested: what the root includes stands at level 1.
    pub levels: Option<u32>,
    /// What documents of every dialect may ask for.
    pub room: Room,
}

/// How much documents may ask for, whatever their dialect. What is not said is as it usually is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Bytes of one value.
    pub value_bytes: Option<usize>,
    /// Bytes of all values that expressions make.
    pub all_value_bytes: Option<usize>,
    /// Members of one group, or of one resource that is repeated.
    pub members: Option<usize>,
    /// Members of all groups and repetitions, and resources of included documents, together.
    pub all_members: Option<usize>,
}

impl Room {
    /// Nothing is said.
    pub const USUAL: Room = Room { value_bytes: None, all_value_bytes: None, members: None, all_members: None };

    /// What can be set.
    const SETTINGS: [Setting; 4] = [
        ("value-bytes", Some((1024, expr::MOST as i64))),
        ("all-value-bytes", Some((1024, i64::MAX))),
        ("members", Some((1, 1_000_000))),
        ("all-members", Some((1, 10_000_000))),
    ];

    /// From what is written, by name. Else why not, as a sentence goes on behind the place of the settings.
    pub fn read(written: &[(Name, Value)]) -> Result<Room, String> {
        let mut room = Room::USUAL;
        for (name, value) in written {
            let Set::Number(number) = checked(&Room::SETTINGS, name, value)? else { continue };
            let number = Some(usize::try_from(number).unwrap_or(usize::MAX));
            match name.as_ref() {
                "value-bytes" => room.value_bytes = number,
                "all-value-bytes" => room.all_value_bytes = number,
                "members" => room.members = number,
                _ => room.all_members = number,
            }
        }
        Ok(room)
    }

    /// So many members there may be in all.
    pub fn all_members(&self) -> usize {
        self.all_members.unwrap_or(100_000)
    }

    /// So many items a repetition may have.
    pub fn items(&self) -> usize {
        self.members.unwrap_or(100_000)
    }
}

/// What is set for a dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How large documents may be.
    pub limits: Limits,
    /// How much an expression in yaql may use, and what it may do.
    pub yaql: yaql::Limits,
}

/// A setting of a dialect: its name, and from what to what its value goes; none for one that is on or off. What the names are for
/// stands in [`Settings`].
pub type Setting = (&'static str, Option<(i64, i64)>);

/// A value of a setting.
enum Set {
    Switch(bool),
    Number(i64),
}

/// The value of a setting that is known by that name, if it is one.
fn checked(known: &[Setting], name: &str, value: &Value) -> Result<Set, String> {
    let Some((_, range)) = known.iter().find(|(known, _)| *known == name) else {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        let nearest = diag::nearest(name, known.iter().map(|(name, _)| *name));
        return Err(match nearest {
            Some(nearest) => format!("has no setting `{name}`; did you mean `{nearest}`?"),
            None if names.is_empty() => format!("has no setting `{name}`; it has none"),
            None => format!("has no setting `{name}`; it has {}", names.join(", ")),
        });
    };
    match (range, value) {
        (None, Value::Bool(on)) => Ok(Set::Switch(*on)),
        (None, _) => Err(format!("wants true or false for `{name}`")),
        (Some((least, most)), Value::Int(number)) if (least..=most).contains(&number) => Ok(Set::Number(*number)),
        (Some((least, i64::MAX)), _) => Err(format!("wants a number of at least {least} for `{name}`")),
        (Some((least, most)), _) => Err(format!("wants a number from {least} to {most} for `{name}`")),
    }
}

impl Settings {
    /// From what is written for a dialect that has these settings. Else why not, as a sentence goes on behind the place of the
    /// settings.
    pub(crate) fn of(known: &[Setting], written: &[(Name, Value)]) -> Result<Settings, String> {
        let mut settings = Settings::default();
        for (name, value) in written {
            match checked(known, name, value)? {
                Set::Switch(on) => settings.yaql.text_format = on,
                Set::Number(number) => settings.put(name, number),
            }
        }
        Ok(settings)
    }

    fn put(&mut self, name: &str, number: i64) {
        let size = usize::try_from(number).unwrap_or(usize::MAX);
        match name {
            "document-bytes" => self.limits.bytes = Some(size),
            "resources" => self.limits.resources = Some(size),
            "nesting" => self.limits.levels = u32::try_from(number).ok(),
            "yaql-items" => self.yaql.items = size,
            "yaql-bytes" => self.yaql.bytes = size,
            "yaql-steps" => self.yaql.steps = u64::try_from(number).unwrap_or(u64::MAX),
            _ => self.yaql.depth = u32::try_from(number).unwrap_or(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: &str, written: &[(&str, Value)]) -> Result<Settings, String> {
        let written: Vec<(Name, Value)> = written.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        Settings::read(dialect, &written)
    }

    #[test]
    fn every_setting_changes_something_of_its_own() {
        let mut all = vec![Settings::default()];
        for (name, range) in crate::dialect("hot").expect("it is there").settings().iter().copied() {
            let value = if range.is_some() { Value::Int(7) } else { Value::Bool(true) };
            let settings = read("hot", &[(name, value)]).expect("it can be set");
            assert!(!all.contains(&settings), "{name}");
            all.push(settings);
        }
    }

    #[test]
    fn every_limit_of_documents_can_be_set() {
        let mut all = vec![Room::USUAL];
        for (name, _) in Room::SETTINGS {
            let room = Room::read(&[(name.into(), Value::Int(2000))]).expect("it can be set");
            assert!(!all.contains(&room), "{name}");
            all.push(room);
        }
        let said = |name: &str, value: i64| Room::read(&[(name.into(), Value::Int(value))]).expect_err("it is refused");
        assert_eq!(said("member", 1), "has no setting `member`; did you mean `members`?");
        assert_eq!(said("value-bytes", 1 << 40), "wants a number from 1024 to 67108864 for `value-bytes`");
    }

    #[test]
    fn what_cannot_be_set_is_said() {
        let said =
            |dialect: &str, name: &str, value: Value| read(dialect, &[(name, value)]).expect_err("it is refused");
        assert_eq!(said("hott", "resources", Value::Int(1)), "is about no dialect");
        assert_eq!(said("blueprint", "resources", Value::Int(1)), "has no setting `resources`; it has none");
        assert_eq!(said("hot", "resource", Value::Int(1)), "has no setting `resource`; did you mean `resources`?");
        assert_eq!(said("hot", "nesting", Value::Int(17)), "wants a number from 1 to 16 for `nesting`");
        assert_eq!(said("hot", "resources", Value::Int(0)), "wants a number of at least 1 for `resources`");
        assert_eq!(said("hot", "resources", Value::from("9")), "wants a number of at least 1 for `resources`");
        assert_eq!(said("hot", "yaql-format", Value::Int(1)), "wants true or false for `yaql-format`");
    }
}
