//! Takes secrets out of what a command prints before a person sees it.

use blueprint::Value;

const INSTEAD: &str = "(secret)";

/// The secrets of a spec, longest first so that one inside another leaves no rest.
#[derive(Clone, Default)]
pub(super) struct Scrub {
    secrets: Vec<String>,
}

impl Scrub {
    /// All that is marked secret in these values, at any depth.
    pub(super) fn new(values: &[&Value]) -> Scrub {
        let mut secrets = Vec::new();
        values.iter().for_each(|value| collect(value, false, &mut secrets));
        secrets.sort_unstable_by(|a: &String, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Scrub { secrets }
    }

    /// The text with each secret replaced.
    pub(super) fn clean(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), INSTEAD);
            }
        }
        clean
    }
}

fn collect(value: &Value, secret: bool, found: &mut Vec<String>) {
    match value {
        Value::Secret(inner) => collect(inner, true, found),
        Value::List(items) | Value::Set(items) => items.iter().for_each(|item| collect(item, secret, found)),
        Value::Map(entries) => entries.values().for_each(|value| collect(value, secret, found)),
        Value::Text(text) if secret => {
            // Output is shown line by line, so a secret of several lines must be known by each of them.
            found.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
        }
        Value::Int(_) | Value::Float(_) | Value::Decimal(_) if secret => found.push(value.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_secret_goes() {
        let spec = Value::map([(
            "environment",
            Value::map([("KEY", Value::from("abc\nabcdef\n").secret()), ("PORT", Value::from("80"))]),
        )]);
        let scrub = Scrub::new(&[&spec]);
        assert_eq!(scrub.clean("x abcdef y abc z 80"), "x (secret) y (secret) z 80");
    }
}
