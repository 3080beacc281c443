//! `random/integer` and `random/shuffle`.

use blueprint::Value;
use provider::CheckFindings;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Checks that the minimum does not exceed the maximum.
pub(super) fn check_integer(spec: &Value, found: &mut CheckFindings) {
    let limit = |name: &str| spec.get(name).and_then(Value::as_int);
    if let (Some(min), Some(max)) = (limit("min"), limit("max"))
        && min > max
    {
        found.refuse("max", format!("{max} is less than the minimum, {min}"));
    }
}

/// A uniformly distributed integer from `min` to `max`, both included.
pub(super) fn integer(spec: &Value, random: &mut StdRng) -> Value {
    let limit = |name: &str| spec.get(name).and_then(Value::as_int).unwrap_or_default();
    let (min, max) = (limit("min"), limit("max"));
    Value::Int(if min < max {
        random.random_range(min..=max)
    } else {
        min
    })
}

/// Checks that an item can be drawn.
pub(super) fn check_shuffle(spec: &Value, found: &mut CheckFindings) {
    let input = spec.get("input").and_then(Value::as_list);
    let count = spec.get("count").and_then(Value::as_int);
    if let (Some([]), Some(1..)) = (input, count) {
        found.refuse("input", "is empty, so nothing can be drawn from it");
    }
}

/// `count` items of `input` in random order. If `count` exceeds the number of items, they are
/// repeated in a new order, so that the numbers of occurrences differ by at most one.
pub(super) fn shuffle(spec: &Value, random: &mut StdRng) -> Value {
    let Some(input) = spec.get("input") else {
        return Value::list([]);
    };
    let (list, secret) = input.split_secret();
    let items = list.as_list().unwrap_or_default();
    let wanted = spec
        .get("count")
        .and_then(Value::as_int)
        .map_or(items.len(), |count| usize::try_from(count).unwrap_or(0));
    let mut drawn: Vec<Value> = Vec::with_capacity(wanted.min(items.len()));
    let mut order: Vec<&Value> = items.iter().collect();
    while drawn.len() < wanted && !order.is_empty() {
        order.shuffle(random);
        drawn.extend(
            order
                .iter()
                .take(wanted - drawn.len())
                .map(|item| (*item).clone()),
        );
    }
    Value::list(drawn).tainted(secret)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn letters(count: Option<i64>) -> Vec<String> {
        let mut spec = vec![("input", Value::list(["a", "b", "c"].map(Value::from)))];
        spec.extend(count.map(|count| ("count", Value::Int(count))));
        let result = shuffle(&Value::map(spec), &mut StdRng::seed_from_u64(1));
        result
            .as_list()
            .unwrap()
            .iter()
            .map(|item| item.as_text().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn every_integer_of_the_range_comes_about_as_often() {
        let spec = Value::map([("min", Value::Int(-1)), ("max", Value::Int(2))]);
        let mut random = StdRng::seed_from_u64(7);
        let mut seen = [0_u32; 4];
        for _ in 0..4000 {
            let drawn = integer(&spec, &mut random).as_int().unwrap();
            seen[usize::try_from(drawn + 1).unwrap()] += 1;
        }
        assert!(
            seen.iter().all(|count| (850..1150).contains(count)),
            "{seen:?}"
        );
    }

    #[test]
    fn the_whole_range_of_integers_can_be_asked_for() {
        let spec = Value::map([("min", Value::Int(i64::MIN)), ("max", Value::Int(i64::MAX))]);
        assert_ne!(
            integer(&spec, &mut StdRng::seed_from_u64(1)),
            integer(&spec, &mut StdRng::seed_from_u64(2))
        );
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut all = letters(None);
        all.sort();
        assert_eq!(all, ["a", "b", "c"]);
        assert_eq!(letters(Some(2)).len(), 2);
        assert_eq!(letters(Some(0)).len(), 0);
    }

    #[test]
    fn count_above_the_number_of_items_repeats_items_evenly() {
        let drawn = letters(Some(7));
        for letter in ["a", "b", "c"] {
            let times = drawn.iter().filter(|item| *item == letter).count();
            assert!((2..=3).contains(&times), "{drawn:?}");
        }
    }

    #[test]
    fn secret_items_stay_secret() {
        let spec = Value::map([(
            "input",
            Value::list([Value::from("pin").secret(), Value::from("pin").secret()]),
        )]);
        assert_eq!(
            shuffle(&spec, &mut StdRng::seed_from_u64(1)).to_string(),
            "[(secret), (secret)]"
        );
    }
}
