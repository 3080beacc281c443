//! The settings of templates.

use dialect::{DialectSetting, DialectSettings, SettingKind};

/// The settings of templates of Heat.
pub(super) const SETTINGS: [DialectSetting; 8] = [
    ("document-bytes", SettingKind::Number(1, i64::MAX)),
    ("resources", SettingKind::Number(1, i64::MAX)),
    ("nesting", SettingKind::Number(1, 16)),
    ("yaql-items", SettingKind::Number(1, 10_000_000)),
    ("yaql-bytes", SettingKind::Number(1, 1 << 40)),
    ("yaql-steps", SettingKind::Number(1, i64::MAX)),
    // Deeper expressions would exceed the stack of a thread.
    ("yaql-depth", SettingKind::Number(1, 200)),
    ("yaql-format", SettingKind::Switch),
];

/// The limits of yaql expressions in the settings.
pub(super) fn yaql_limits(settings: &DialectSettings) -> yaql::EvaluationLimits {
    let usual = yaql::EvaluationLimits::default();
    yaql::EvaluationLimits {
        items: settings.size("yaql-items").unwrap_or(usual.items),
        bytes: settings.size("yaql-bytes").unwrap_or(usual.bytes),
        steps: settings
            .number("yaql-steps")
            .and_then(|steps| u64::try_from(steps).ok())
            .unwrap_or(usual.steps),
        depth: settings
            .number("yaql-depth")
            .and_then(|depth| u32::try_from(depth).ok())
            .unwrap_or(usual.depth),
        text_format: settings.switch("yaql-format").unwrap_or(usual.text_format),
    }
}

#[cfg(test)]
mod tests {
    use blueprint::Value;

    use super::*;
    use dialect::DialectLimits;

    #[test]
    fn every_setting_changes_something_of_its_own() {
        let usual = DialectSettings::NONE;
        let mut all: Vec<(DialectLimits, yaql::EvaluationLimits)> =
            vec![(usual.limits(), yaql_limits(&usual))];
        for (name, range) in SETTINGS {
            let value = if range != SettingKind::Switch {
                Value::Int(7)
            } else {
                Value::Bool(true)
            };
            let settings =
                DialectSettings::read(&SETTINGS, &[(name.into(), value)]).expect("it can be set");
            let one = (settings.limits(), yaql_limits(&settings));
            assert!(!all.contains(&one), "{name}");
            all.push(one);
        }
    }
}
