//! Tests of the parser of templates.

use super::template;
use crate::syntax::{QueryStep, SliceEnd, TemplatePart};

fn steps(query: &str) -> Vec<QueryStep> {
    match template(query).expect("a template").as_slice() {
        [TemplatePart::Query(steps)] => steps.clone(),
        parts => panic!("{parts:?}"),
    }
}

fn mistake(text: &str) -> (String, &str) {
    let mistake = template(text).expect_err("a mistake");
    let place = text.get(mistake.span).expect("a place in the text");
    (mistake.message, place)
}

fn field(name: &str) -> QueryStep {
    QueryStep::Field(name.into())
}

#[test]
fn dots_in_quotes_still_descend_unless_they_are_escaped() {
    assert_eq!(steps("{.a['b.c']}"), [field("a"), field("b"), field("c")]);
    assert_eq!(steps(r"{.a['b\.c']}"), [field("a"), field("b.c")]);
    assert_eq!(steps(r"{.b\.c}"), [field("b.c")]);
}

#[test]
fn blanks_between_steps_are_skipped() {
    assert_eq!(steps("{ .a .b }"), [field("a"), field("b")]);
    assert_eq!(steps("{. a}"), [field(""), QueryStep::Word("a".into())]);
}

#[test]
fn brackets_end_at_the_first_bracket() {
    let QueryStep::Slice(bounds) = &steps("{[3]}")[0] else {
        panic!("no slice");
    };
    assert_eq!((bounds.start, bounds.end), (Some(3), SliceEnd::Derived(4)));
    assert_eq!(mistake("{.a[\"x\"]}").1, "\"x\"");
}

#[test]
fn a_comparison_needs_two_sides() {
    let QueryStep::Filter(filter) = &steps("{[?(@.a==1)]}")[0] else {
        panic!("no filter");
    };
    assert_eq!(filter.left, [field("a")]);
    let comparison = filter.comparison.as_ref().expect("a comparison");
    assert_eq!(
        (comparison.0.as_ref(), comparison.1.as_slice()),
        ("==", [QueryStep::Int(1)].as_slice())
    );
    // The last sign is the right side.
    assert_eq!(mistake("{[?(@.a==)]}").1, "=");
}

#[test]
fn mistakes_have_a_place_in_the_whole_text() {
    assert_eq!(mistake("x {.a[?(@.b==#)]} y").1, "#");
    assert_eq!(mistake("{.a[0, b]}").1, "b");
    assert_eq!(mistake("{.a}{*}").1, "*");
    assert_eq!(mistake("{.a...........b}").1, "..");
    assert_eq!(mistake("{.a").1, "");
}

#[test]
fn deep_conditions_are_a_mistake() {
    let deep = format!("{{{}", "[?(".repeat(10_000));
    assert!(template(&deep).is_err());
    let unions = format!("{{{}}}", "['..x',".repeat(10_000));
    assert!(template(&unions).is_err());
}

#[test]
fn no_text_makes_the_parser_panic() {
    let pieces = [
        "{", "}", "[", "]", "?(", ")", ".", "..", "'", "\"", "\\", "é", "1", "-", ":", ",", "=",
        " ",
    ];
    let mut seed: usize = 7;
    for _ in 0..20_000 {
        let mut text = String::from("{");
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(seed >> 33) % pieces.len()]);
        }
        let _ = template(&text).map_err(|mistake| text[mistake.span].len());
    }
}
