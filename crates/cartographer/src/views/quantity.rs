//! Quantities of resources such as `500m` and `1Gi`, in the form in which Kubernetes prints them:
//! `0.5` is `500m`, and `1024Mi` is `1Gi`.

use std::sync::Arc;

use blueprint::{Map, Value};

/// The same owner with the quantities of `spec.resources` in their printed form. What is no
/// quantity stays as it is.
pub(super) fn with_canonical_quantities(owner: &Value) -> Value {
    let resources = owner.get("spec").and_then(|spec| spec.get("resources"));
    if resources.is_none() {
        return owner.clone();
    }
    changed(owner, &["spec", "resources"], &|resources| {
        ["limits", "requests"]
            .into_iter()
            .fold(resources.clone(), |resources, part| {
                changed(&resources, &[part], &each_canonical)
            })
    })
}

/// The same value with a changed part, if the part is there.
fn changed(value: &Value, path: &[&str], change: &dyn Fn(&Value) -> Value) -> Value {
    let Some((key, rest)) = path.split_first() else {
        return change(value);
    };
    let (Some(entries), Some(part)) = (value.as_map(), value.get(key)) else {
        return value.clone();
    };
    let mut entries: Map = entries.clone();
    entries.insert((*key).into(), changed(part, rest, change));
    Value::Map(Arc::new(entries)).tainted(value.split_secret().1)
}

fn each_canonical(quantities: &Value) -> Value {
    let Some(entries) = quantities.as_map() else {
        return quantities.clone();
    };
    let entries = entries.iter().map(|(name, quantity)| {
        let text = match quantity.unmarked() {
            Value::Text(text) => canonical(text),
            Value::Int(number) => canonical(&number.to_string()),
            Value::Float(number) => canonical(&number.to_string()),
            _ => None,
        };
        let printed = match text {
            Some(text) => Value::from(text).tainted(quantity.split_secret().1),
            None => quantity.clone(),
        };
        (name.clone(), printed)
    });
    Value::map(entries).tainted(quantities.split_secret().1)
}

/// Which suffixes a quantity has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suffixes {
    Decimal,
    Binary,
    Exponent,
}

/// The smallest unit: 1e-9.
const NANO: i128 = 1_000_000_000;

/// The printed form; `None` for what is no quantity or is too large.
fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text
        .find(|character: char| !(character.is_ascii_digit() || "+-.".contains(character)))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let (factor, suffixes) = factor(suffix)?;
    let nanos = nanos(number, factor)?;
    let printed = match suffixes {
        Suffixes::Binary if nanos.abs() >= 1024 * NANO => binary(nanos)?,
        Suffixes::Binary | Suffixes::Decimal => decimal(nanos, |power| {
            ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]
                .get(usize::try_from(power + 3).ok()?)
                .map(|suffix| (*suffix).to_owned())
        })?,
        Suffixes::Exponent => decimal(nanos, |power| {
            Some(if power == 0 {
                String::new()
            } else {
                format!("e{}", power * 3)
            })
        })?,
    };
    Some(printed)
}

/// The factor of a suffix as numerator and denominator.
fn factor(suffix: &str) -> Option<((i128, i128), Suffixes)> {
    let thousand = |power: u32| 1_000_i128.checked_pow(power);
    let decimal = |power: Option<i128>| Some(((power?, 1), Suffixes::Decimal));
    let binary = |power: u32| Some(((1_024_i128.checked_pow(power)?, 1), Suffixes::Binary));
    match suffix {
        "" => decimal(Some(1)),
        "n" => Some(((1, 1_000_000_000), Suffixes::Decimal)),
        "u" => Some(((1, 1_000_000), Suffixes::Decimal)),
        "m" => Some(((1, 1_000), Suffixes::Decimal)),
        "k" => decimal(thousand(1)),
        "M" => decimal(thousand(2)),
        "G" => decimal(thousand(3)),
        "T" => decimal(thousand(4)),
        "P" => decimal(thousand(5)),
        "E" => decimal(thousand(6)),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
            let factor = if exponent < 0 { (1, power) } else { (power, 1) };
            Some((factor, Suffixes::Exponent))
        }
    }
}

/// The amount in units of 1e-9, rounded up.
fn nanos(number: &str, (over, under): (i128, i128)) -> Option<i128> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let under = under.checked_mul(10_i128.checked_pow(u32::try_from(part.len()).ok()?)?)?;
    let amount: i128 = digits.parse().ok()?;
    let amount = amount.checked_mul(over)?.checked_mul(NANO)?;
    let rounded = amount.checked_add(under - 1)? / under;
    Some(if negative { -rounded } else { rounded })
}

/// The amount with the largest suffix that needs no fraction.
fn decimal(nanos: i128, suffix: impl Fn(i32) -> Option<String>) -> Option<String> {
    let (mut amount, mut power) = (nanos, -3);
    while amount != 0 && amount % 1_000 == 0 && power < 6 {
        amount /= 1_000;
        power += 1;
    }
    if amount == 0 {
        return Some("0".to_owned());
    }
    Some(format!("{amount}{}", suffix(power)?))
}

fn binary(nanos: i128) -> Option<String> {
    let mut amount = (nanos + NANO - 1).div_euclid(NANO);
    let mut power = 0;
    while amount % 1_024 == 0 && power < 6 {
        amount /= 1_024;
        power += 1;
    }
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power)?;
    Some(format!("{amount}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn quantities_are_printed_with_the_largest_suffix() {
        for (text, printed) in [
            ("1", "1"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("2000", "2k"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("-2", "-2"),
            ("0", "0"),
            ("0.1n", "1n"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(printed), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_quantities() {
        let long = "9".repeat(200);
        for text in ["", "x", "1x", "1.2.3", ".", "1e9999999999", long.as_str()] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
