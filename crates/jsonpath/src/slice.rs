//! Indexes and slices: their text, and the elements that they choose.

use std::ops::Range;

use crate::failure::{FailureClass, PathFailure};
use crate::syntax::{SliceBounds, SliceEnd};

/// The bounds in a text such as `1`, `-1`, `1:3` or `::2`; the error says why it has none.
pub(crate) fn bounds(text: &str) -> Result<SliceBounds, String> {
    let parts: Vec<&str> = text.split(':').collect();
    if parts.len() > 3 || !parts.iter().all(|part| is_number(part)) {
        return Err(format!("`{text}` is no index"));
    }
    let start = bound(parts[0])?;
    let end = match parts.get(1) {
        None => SliceEnd::Derived(start.unwrap_or(0).wrapping_add(1)),
        Some(part) => bound(part)?.map_or(SliceEnd::Open, SliceEnd::Before),
    };
    let step = match parts.get(2) {
        None => None,
        Some(part) => bound(part)?,
    };
    Ok(SliceBounds { start, end, step })
}

/// Whether the text is empty, or digits with an optional sign. A bare sign is seen later.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn bound(text: &str) -> Result<Option<i64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("the index `{text}` is not a number")),
    }
}

impl SliceBounds {
    /// The positions of the chosen elements of a list with `length` elements, and their distance.
    /// `None` if the slice is empty by its bounds, wherever they are. Bounds outside of the list
    /// are an error.
    pub(crate) fn choose(
        &self,
        length: usize,
    ) -> Result<Option<(Range<usize>, usize)>, PathFailure> {
        let size = i64::try_from(length).unwrap_or(i64::MAX);
        let from_end = |number: i64| {
            if number < 0 {
                number.wrapping_add(size)
            } else {
                number
            }
        };
        let start = from_end(self.start.unwrap_or(0));
        let end = match self.end {
            SliceEnd::Open => size,
            SliceEnd::Before(number) => from_end(number),
            SliceEnd::Derived(0) => size,
            SliceEnd::Derived(number) => from_end(number),
        };
        if start == end {
            return Ok(None);
        }
        if start >= size || start < 0 {
            return Err(out_of_bounds(start, length));
        }
        if end > size || end < 0 {
            return Err(out_of_bounds(end.wrapping_sub(1), length));
        }
        let evaluate = |message: String| PathFailure::new(FailureClass::Evaluate, message);
        if start > end {
            return Err(evaluate(format!(
                "the slice starts at {start}, which is after its end {end}"
            )));
        }
        let step = self.step.unwrap_or(1);
        if step <= 0 {
            return Err(evaluate("the step of a slice must be above 0".to_owned()));
        }
        // Both are within the list.
        let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(length);
        Ok(Some((range, usize::try_from(step).unwrap_or(usize::MAX))))
    }
}

fn out_of_bounds(index: i64, length: usize) -> PathFailure {
    PathFailure::new(
        FailureClass::Bounds,
        format!("index {index} is outside of a list with {length} elements"),
    )
}

#[cfg(test)]
mod tests {
    use super::bounds;
    use crate::failure::FailureClass;

    fn chosen(text: &str, length: usize) -> Vec<usize> {
        let bounds = bounds(text).expect("bounds");
        match bounds.choose(length).expect("elements") {
            Some((range, step)) => range.step_by(step).collect(),
            None => Vec::new(),
        }
    }

    fn refused(text: &str, length: usize) -> FailureClass {
        let bounds = bounds(text).expect("bounds");
        bounds.choose(length).expect_err("a failure").class
    }

    #[test]
    fn negative_bounds_count_from_the_end() {
        assert_eq!(chosen("-1", 3), [2]);
        assert_eq!(chosen("-2:", 3), [1, 2]);
        assert_eq!(chosen("0:-1", 3), [0, 1]);
        assert_eq!(chosen("::2", 5), [0, 2, 4]);
    }

    #[test]
    fn nothing_between_brackets_is_the_first_element() {
        assert_eq!(chosen("", 3), [0]);
    }

    #[test]
    fn equal_bounds_choose_nothing_even_outside() {
        assert_eq!(chosen("7:7", 3), [] as [usize; 0]);
    }

    #[test]
    fn bounds_outside_of_the_list_are_failures() {
        assert_eq!(refused("3", 3), FailureClass::Bounds);
        assert_eq!(refused("-4", 3), FailureClass::Bounds);
        assert_eq!(refused("0:4", 3), FailureClass::Bounds);
        assert_eq!(refused("2:1", 3), FailureClass::Evaluate);
        assert_eq!(refused("0:2:0", 3), FailureClass::Evaluate);
    }

    #[test]
    fn other_texts_are_no_bounds() {
        for text in [
            "a",
            "1:2:3:4",
            "--1",
            "-",
            ":-",
            "1 ",
            "99999999999999999999",
        ] {
            assert!(bounds(text).is_err(), "{text}");
        }
    }
}
