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

impl Settings {
    /// From what is written for a dialect, by name. Else why not, as a sentence goes on behind the place of the settings.
    pub fn read(dialect: &str, written: &[(Name, Value)]) -> Result<Settings, String> {
        let Some(known) = crate::dialect(dialect).map(|dialect| dialect.settings()) else {
            return Err("is about no dialect".to_owned());
        };
        let mut settings = Settings::default();
        for (name, value) in written {
            let Some((_, range)) = known.iter().find(|(known, _)| *known == name.as_ref()) else {
                let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
                let nearest = diag::nearest(name, known.iter().map(|(name, _)| *name));
                return Err(match nearest {
                    Some(nearest) => format!("has no setting `{name}`; did you mean `{nearest}`?"),
                    None if names.is_empty() => format!("has no setting `{name}`; it has none"),
                    None => format!("has no setting `{name}`; it has {}", names.join(", ")),
                });
            };
            match (range, value) {
                (None, Value::Bool(on)) => settings.yaql.text_format = *on,
                (None, _) => return Err(format!("wants true or false for `{name}`")),
                (Some((least, most)), Value::Int(number)) if (least..=most).contains(&number) => {
                    settings.put(name, *number);
                }
                (Some((least, i64::MAX)), _) => return Err(format!("wants a number of at least {least} for `{name}`")),
                (Some((least, most)), _) => {
                    return Err(format!("wants a number from {least} to {most} for `{name}`"));
                }
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
