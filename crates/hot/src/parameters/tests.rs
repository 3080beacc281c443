//! Tests of schemas, values and constraints against Heat's messages.

use blueprint::Value;

use super::*;
use crate::version::Version;

const LATEST: Version = Version::V2021_04_16;

fn json(text: &str) -> Value {
    pycompat::parse_json(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The mistakes in a schema: codes and Heat's messages.
fn faults(written: &str, version: Version) -> Vec<(String, String)> {
    let mut found = Vec::new();
    HotParameterSchema::parse("p", &json(written), version, &mut found);
    found
        .iter()
        .map(|refusal| {
            (
                refusal.code.name.to_owned(),
                refusal.words().unwrap_or_default().to_string(),
            )
        })
        .collect()
}

/// The value that functions see, or Heat's first message.
fn value(written: &str, given: &str) -> String {
    let mut found = Vec::new();
    let schema =
        HotParameterSchema::parse("p", &json(written), LATEST, &mut found).expect("a schema");
    assert!(
        found
            .iter()
            .all(|refusal| refusal.severity != diag::Severity::Error),
        "{found:?}"
    );
    let seen = schema.value("p", Some(&json(given)), None, &mut found);
    match (seen, found.first()) {
        (Some(seen), _) => pycompat::json_in_order(&seen),
        (None, Some(refusal)) => format!(
            "{}: {}",
            refusal.code.name,
            refusal.heat.clone().unwrap_or_default()
        ),
        (None, None) => panic!("neither a value nor a refusal"),
    }
}

#[test]
fn a_value_is_converted_by_its_type() {
    for (ty, given, expected) in [
        ("string", "true", r#""True""#),
        ("string", "1.50", r#""1.5""#),
        ("string", "1e3", r#""1000.0""#),
        ("string", r#"["a", 1]"#, r#""['a', 1]""#),
        ("string", r#"{"a": 1}"#, r#""{'a': 1}""#),
        ("string", "[null]", r#""[None]""#),
        ("number", r#""3""#, "3"),
        ("number", r#""3.0""#, "3.0"),
        ("number", r#"" 5 ""#, "5"),
        ("number", r#""1_000""#, "1000"),
        ("number", "true", "true"),
        ("number", r#""1e3""#, "1000.0"),
        ("number", r#""nan""#, "NaN"),
        (
            "number",
            r#""99999999999999999999""#,
            "99999999999999999999",
        ),
        ("boolean", r#"" Yes""#, "true"),
        ("boolean", "1", "true"),
        ("boolean", r#""OFF""#, "false"),
        ("comma_delimited_list", r#""a, b,""#, r#"["a", " b", ""]"#),
        ("comma_delimited_list", r#""""#, "[]"),
        (
            "comma_delimited_list",
            r#"["a", null, true, 1.0]"#,
            r#"["a", "None", "True", "1.0"]"#,
        ),
        ("json", r#""{\"a\": [1, null]}""#, r#"{"a": [1, null]}"#),
        ("json", r#""null""#, "null"),
        ("json", r#""""#, r#""""#),
        ("json", "5", "5"),
        ("json", "false", "false"),
    ] {
        assert_eq!(
            value(&format!(r#"{{"type": "{ty}"}}"#), given),
            expected,
            "{ty} {given}"
        );
    }
}

#[test]
fn values_that_do_not_convert_are_refused_with_heats_message() {
    for (ty, given, words) in [
        ("number", r#""""#, "could not convert string to float: ''"),
        (
            "number",
            r#""0x10""#,
            "could not convert string to float: '0x10'",
        ),
        (
            "number",
            "[]",
            "int() argument must be a string, a bytes-like object or a real number, not 'list'",
        ),
        (
            "boolean",
            "2",
            "Unrecognized value '2', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'",
        ),
        (
            "boolean",
            "1.0",
            "Unrecognized value '1.0', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'",
        ),
        (
            "comma_delimited_list",
            "5",
            "Value must be a comma-delimited list string: 'int' object has no attribute 'split'",
        ),
        (
            "json",
            r#""{a: 1}""#,
            "Value must be valid JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
    ] {
        let expected = format!("unparsable-value: Parameter 'p' is invalid: {words}");
        assert_eq!(
            value(&format!(r#"{{"type": "{ty}"}}"#), given),
            expected,
            "{ty} {given}"
        );
    }
}

#[test]
fn values_keep_their_constraints() {
    for (ty, constraint, given, words) in [
        (
            "string",
            r#""length": {"min": 3}"#,
            r#""ab""#,
            "value-constraint: length (2) is out of range (min: 3, max: None)",
        ),
        ("string", r#""length": {"max": "2"}"#, r#""éé""#, ""),
        ("string", r#""length": {"min": 3}"#, "1000", ""),
        (
            "comma_delimited_list",
            r#""length": {"max": 1}"#,
            r#""a,b""#,
            "value-constraint: length (2) is out of range (min: None, max: 1)",
        ),
        (
            "json",
            r#""length": {"max": 1}"#,
            r#""[1, 2]""#,
            "value-constraint: length (2) is out of range (min: None, max: 1)",
        ),
        (
            "number",
            r#""range": {"min": 0, "max": 10}"#,
            "10.5",
            "value-constraint: 10.5 is out of range (min: 0, max: 10)",
        ),
        (
            "number",
            r#""range": {"min": "0.5"}"#,
            r#"" 0.4""#,
            "value-constraint:  0.4 is out of range (min: 0.5, max: None)",
        ),
        (
            "number",
            r#""range": {"min": 0, "max": 10}"#,
            r#""nan""#,
            "",
        ),
        (
            "number",
            r#""modulo": {"step": 2, "offset": 1}"#,
            "4",
            "value-constraint: 4 is not a multiple of 2 with an offset of 1",
        ),
        ("number", r#""modulo": {"step": -3, "offset": -1}"#, "5", ""),
        (
            "string",
            r#""allowed_values": ["a", 1]"#,
            r#""z""#,
            r#"value-not-allowed: "z" is not an allowed value ["a", 1]"#,
        ),
        ("string", r#""allowed_values": ["é", true]"#, "true", ""),
        (
            "string",
            r#""allowed_values": ["é"]"#,
            "1",
            r#"value-not-allowed: 1 is not an allowed value ["\u00e9"]"#,
        ),
        ("number", r#""allowed_values": ["1", 2]"#, "1.0", ""),
        ("boolean", r#""allowed_values": ["yes"]"#, "true", ""),
        (
            "boolean",
            r#""allowed_values": ["yes"]"#,
            r#""off""#,
            r#"value-not-allowed: "off" is not an allowed value ["yes"]"#,
        ),
        (
            "comma_delimited_list",
            r#""allowed_values": ["a", "b"]"#,
            r#""a,z""#,
            r#"value-not-allowed: ["a", "z"] is not an allowed value ["a", "b"]"#,
        ),
        (
            "string",
            r#""allowed_pattern": "a|ab""#,
            r#""ab""#,
            r#"value-constraint: "ab" does not match pattern "a|ab""#,
        ),
        ("string", r#""allowed_pattern": "[0-9]+""#, "12", ""),
        (
            "string",
            r#""allowed_pattern": "[a-z]+", "description": "letters""#,
            r#""A""#,
            "value-constraint: letters",
        ),
        (
            "string",
            r#""custom_constraint": "no.such""#,
            r#""a""#,
            r#"unknown-constraint: "a" does not validate no.such (constraint not found)"#,
        ),
        (
            "string",
            r#""custom_constraint": "nova.flavor""#,
            r#""a""#,
            "",
        ),
        (
            "string",
            r#""custom_constraint": "ip_addr""#,
            r#""10.0.0.256""#,
            "value-constraint: Error validating value '10.0.0.256': Invalid IP address",
        ),
        (
            "string",
            r#""custom_constraint": "net_cidr""#,
            r#""10.0.0.0/8""#,
            "",
        ),
        (
            "string",
            r#""custom_constraint": "mac_addr""#,
            r#""fa:16:3e:0:1:2""#,
            "",
        ),
        (
            "string",
            r#""custom_constraint": "cron_expression""#,
            r#""*/5 0 1-7 jan mon""#,
            "",
        ),
        (
            "string",
            r#""custom_constraint": "cron_expression""#,
            r#""61 * * * *""#,
            "value-constraint: Error validating value '61 * * * *': Invalid CRON expression: [61 * * * *] is not acceptable, out of range",
        ),
    ] {
        let found = value(
            &format!(r#"{{"type": "{ty}", "constraints": [{{{constraint}}}]}}"#),
            given,
        );
        match words {
            "" => assert!(
                !found.contains(": Parameter"),
                "{constraint} {given}: {found}"
            ),
            words => assert_eq!(
                found.replace("Parameter 'p' is invalid: ", ""),
                words,
                "{constraint} {given}"
            ),
        }
    }
}

/// The schema of a number with one constraint.
fn constraint(text: &str) -> String {
    format!(r#"{{"type": "number", "constraints": [{text}]}}"#)
}

/// A schema with a mistake, the code, and Heat's message.
type InvalidSchema = (String, &'static str, &'static str);

#[track_caller]
fn assert_faults(schemas: impl IntoIterator<Item = InvalidSchema>) {
    for (written, code, words) in schemas {
        assert_eq!(
            faults(&written, LATEST),
            [(code.to_owned(), words.to_owned())],
            "{written}"
        );
    }
}

#[test]
fn the_form_of_a_schema_is_checked() {
    assert_faults([
        (
            r#"[]"#.to_owned(),
            "wrong-shape",
            "InvalidSchemaError: Invalid parameter (p), expected a mapping",
        ),
        (
            r#"{"type": "String"}"#.to_owned(),
            "unknown-type",
            "InvalidSchemaError: Invalid type (String)",
        ),
        (
            "{}".to_owned(),
            "missing-field",
            "InvalidSchemaError: Missing parameter type for parameter: p",
        ),
        (
            r#"{"type": "string", "typ": 1}"#.to_owned(),
            "unknown-key",
            "InvalidSchemaError: Invalid key 'typ' for parameter (p)",
        ),
        (
            r#"{"type": "string", "tags": "a"}"#.to_owned(),
            "wrong-shape",
            "InvalidSchemaError: Tags property should be a list for parameter: p",
        ),
        (
            r#"{"type": "string", "constraints": {}}"#.to_owned(),
            "invalid-constraint",
            "InvalidSchemaError: Invalid parameter constraints for parameter p, expected a list",
        ),
    ]);
}

#[test]
fn the_form_of_a_constraint_is_checked() {
    assert_faults([
        (
            constraint("1"),
            "invalid-constraint",
            "InvalidSchemaError: Invalid parameter constraints, expected a mapping",
        ),
        (
            constraint(r#"{"rang": {}}"#),
            "invalid-constraint",
            "InvalidSchemaError: Invalid key 'rang' for parameter constraints",
        ),
        (
            constraint("{}"),
            "invalid-constraint",
            "InvalidSchemaError: No constraint expressed",
        ),
        (
            constraint(r#"{"description": "x"}"#),
            "invalid-constraint",
            "InvalidSchemaError: No constraint expressed",
        ),
        (
            constraint(r#"{"range": []}"#),
            "invalid-constraint",
            "InvalidSchemaError: Invalid range constraint, expected a mapping",
        ),
        (
            constraint(r#"{"range": {}}"#),
            "invalid-constraint",
            "InvalidSchemaError: A range constraint must have a min value and/or a max value specified.",
        ),
        (
            constraint(r#"{"range": {"minimum": 1}}"#),
            "invalid-constraint",
            "InvalidSchemaError: Invalid key 'minimum' for range constraint",
        ),
        (
            constraint(r#"{"range": {"min": "x"}}"#),
            "invalid-constraint",
            "ValueError: could not convert string to float: 'x'",
        ),
        (
            constraint(r#"{"modulo": {"step": 2}}"#),
            "invalid-constraint",
            "InvalidSchemaError: A modulo constraint must have a step value and an offset value specified.",
        ),
        (
            constraint(r#"{"modulo": {"step": 0, "offset": 0}}"#),
            "invalid-constraint",
            "InvalidSchemaError: step cannot be 0.",
        ),
        (
            constraint(r#"{"modulo": {"step": 1.5, "offset": 0}}"#),
            "invalid-constraint",
            "InvalidSchemaError: step/offset must be integer",
        ),
        (
            constraint(r#"{"modulo": {"step": 2, "offset": -2}}"#),
            "invalid-constraint",
            "InvalidSchemaError: offset must be smaller (by absolute value) than step.",
        ),
        (
            constraint(r#"{"modulo": {"step": 2, "offset": -1}}"#),
            "invalid-constraint",
            "InvalidSchemaError: step and offset must be both positive or both negative.",
        ),
        (
            constraint(r#"{"length": {"min": 1}}"#),
            "invalid-constraint",
            "InvalidSchemaError: Parameter 'p' is invalid: Length constraint invalid for number",
        ),
        (
            constraint(r#"{"allowed_values": "a"}"#),
            "invalid-constraint",
            "InvalidSchemaError: AllowedValues must be a list",
        ),
        (
            r#"{"type": "string", "constraints": [{"allowed_pattern": "("}]}"#.to_owned(),
            "invalid-constraint",
            "error: missing ), unterminated subpattern at position 0",
        ),
        (
            r#"{"type": "string", "constraints": [{"length": {"max": 1.5}}]}"#.to_owned(),
            "invalid-constraint",
            "InvalidSchemaError: min/max length must be integral",
        ),
        (
            constraint(r#"{"range": {"min": 1}, "modulo": {"step": 2, "offset": 0}}"#),
            "constraint-ignored",
            "",
        ),
    ]);
}

#[test]
fn an_invalid_default_is_refused() {
    assert_faults([
        (
            r#"{"type": "string", "default": "ab", "constraints": [{"length": {"min": 3}}]}"#
                .to_owned(),
            "invalid-default",
            "InvalidSchemaError: Parameter 'p' is invalid: Invalid default ab (length (2) is out of range (min: 3, max: None))",
        ),
        (
            r#"{"type": "comma_delimited_list", "default": 5}"#.to_owned(),
            "invalid-default",
            "InvalidSchemaError: Parameter 'p' is invalid: Default must be a comma-delimited list string: 'int' object has no attribute 'split'",
        ),
    ]);
}

#[test]
fn keys_of_a_schema_depend_on_the_version() {
    let modulo = constraint(r#"{"modulo": {"step": 2, "offset": 0}}"#);
    assert_eq!(
        faults(&modulo, Version::V2016_10_14),
        [(
            "newer-than-version".into(),
            "InvalidSchemaError: No constraint expressed".into()
        )]
    );
    assert!(faults(&modulo, Version::V2017_02_24).is_empty());
    assert_eq!(
        faults(r#"{"type": "string", "tags": []}"#, Version::V2017_09_01).len(),
        1
    );
    assert!(
        faults(r#"{"type": "string", "default": null, "constraints": null, "hidden": "yes", "tags": ["a"]}"#, LATEST)
            .is_empty()
    );
}

#[test]
fn given_value_precedes_defaults_and_null_is_absent() {
    let mut found = Vec::new();
    let schema = HotParameterSchema::parse(
        "p",
        &json(r#"{"type": "string", "default": "d"}"#),
        LATEST,
        &mut found,
    )
    .expect("a schema");
    let mut seen = |given: &str, default: &str| {
        let (given, default) = (json(given), json(default));
        schema
            .value("p", Some(&given), Some(&default), &mut found)
            .map(|value| pycompat::text(&value))
    };
    assert_eq!(seen(r#""g""#, r#""e""#).as_deref(), Some("g"));
    assert_eq!(seen("null", r#""e""#).as_deref(), Some("e"));
    assert_eq!(seen("null", "null").as_deref(), Some("d"));
    let bare = HotParameterSchema::parse(
        "p",
        &json(r#"{"type": "string", "default": null}"#),
        LATEST,
        &mut found,
    )
    .expect("a schema");
    assert!(
        bare.value("p", Some(&Value::Null), None, &mut found)
            .is_none()
    );
    let refusal = found.pop().expect("a refusal");
    assert_eq!(
        refusal.words().map(|words| words.to_string()).as_deref(),
        Some("UserParameterMissing: The Parameter (p) was not provided.")
    );
    let number = HotParameterSchema::parse(
        "p",
        &json(r#"{"type": "number", "default": "x"}"#),
        LATEST,
        &mut found,
    )
    .expect("a schema");
    assert!(
        number
            .value("p", Some(&1.into()), None, &mut found)
            .is_some()
    );
    let unused = found.pop().expect("a warning");
    assert_eq!(
        (unused.code.name, unused.severity),
        ("invalid-default", diag::Severity::Warning)
    );
    assert!(number.value("p", None, None, &mut found).is_none());
    assert_eq!(found.pop().expect("a refusal").code.name, "invalid-default");
}

#[test]
fn a_default_is_checked_again_after_its_conversion() {
    let mut found = Vec::new();
    let schema = HotParameterSchema::parse(
        "p",
        &json(
            r#"{"type": "json", "default": "{\"a\":1,\"a\":2,\"b\":3}", "constraints": [{"length": {"min": 3}}]}"#,
        ),
        LATEST,
        &mut found,
    )
    .expect("a schema");
    assert!(found.is_empty());
    assert!(schema.value("p", None, None, &mut found).is_none());
    let refusal = found.pop().expect("a refusal");
    assert_eq!(
        (refusal.code.name, refusal.heat.as_deref()),
        (
            "invalid-default",
            Some("Parameter 'p' is invalid: length (2) is out of range (min: 3, max: None)")
        )
    );
}

#[test]
fn hidden_value_is_secret_and_not_in_messages() {
    let mut found = Vec::new();
    let written = json(
        r#"{"type": "string", "hidden": true, "constraints": [{"length": {"min": 9}}, {"allowed_pattern": "a"}]}"#,
    );
    let schema = HotParameterSchema::parse("p", &written, LATEST, &mut found).expect("a schema");
    assert!(
        schema
            .value("p", Some(&"s3cret".into()), None, &mut found)
            .is_none()
    );
    assert_eq!(found.len(), 2, "every broken rule is reported");
    assert!(!format!("{found:?}").contains("s3cret"));
    let open = HotParameterSchema {
        constraints: Vec::new(),
        ..schema
    };
    assert!(
        open.value("p", Some(&"s3cret".into()), None, &mut found)
            .is_some_and(|value| value.has_secret())
    );
}

#[test]
fn a_child_receives_properties() {
    for (ty, given, expected) in [
        (
            "comma_delimited_list",
            r#"["a", null, "b,c"]"#,
            r#"["a", "", "b", "c"]"#,
        ),
        (
            "comma_delimited_list",
            r#"[{"k": "v", "l": 1}, {"k": "w"}]"#,
            r#"[".member.0.k=v", ".member.0.l=1", ".member.1.k=w"]"#,
        ),
        ("comma_delimited_list", "[1, 2.5]", r#"["1", "2.5"]"#),
        ("comma_delimited_list", r#""a,b""#, r#"["a", "b"]"#),
        ("comma_delimited_list", "null", "[]"),
        ("comma_delimited_list", "[]", "[]"),
        ("json", r#"[{"a": 1}]"#, r#"[{"a": 1}]"#),
        ("json", r#""[1]""#, "[1]"),
        ("json", "null", "{}"),
        ("string", "5", r#""5""#),
        ("string", "null", r#""""#),
        ("number", "null", "0"),
        ("number", r#""7""#, "7"),
        ("boolean", r#""True""#, "true"),
        ("boolean", "null", "false"),
        (
            "boolean",
            r#""yes""#,
            r#"type-mismatch: "yes" is not a valid boolean"#,
        ),
        (
            "string",
            "1.5",
            "type-mismatch: Value must be a string; got 1.5",
        ),
        ("json", "5", r#"type-mismatch: "5" is not a map"#),
        (
            "comma_delimited_list",
            "5",
            r#"type-mismatch: "5" is not a list"#,
        ),
    ] {
        let mut found = Vec::new();
        let schema = HotParameterSchema::parse(
            "p",
            &json(&format!(r#"{{"type": "{ty}"}}"#)),
            LATEST,
            &mut found,
        )
        .expect("a schema");
        let seen = child_parameter_value(&schema, &json(given), &mut found).map_or_else(
            || {
                format!(
                    "{}: {}",
                    found[0].code.name,
                    found[0].heat.clone().unwrap_or_default()
                )
            },
            |value| pycompat::json_in_order(&value),
        );
        assert_eq!(seen, expected, "{ty} {given}");
    }
}

#[test]
fn properties_convert_less_than_parameters() {
    for (kind, given, expected) in [
        (ParameterKind::Integer, "1.9", "1"),
        (
            ParameterKind::Integer,
            r#""abc""#,
            "Value 'abc' is not an integer",
        ),
        (
            ParameterKind::Integer,
            r#""1.5""#,
            "Value '1.5' is not an integer",
        ),
        (ParameterKind::Integer, "true", "1"),
        (
            ParameterKind::Integer,
            "[]",
            "int() argument must be a string, a bytes-like object or a real number, not 'list'",
        ),
        (
            ParameterKind::Number,
            r#""abc""#,
            "could not convert string to float: 'abc'",
        ),
        (ParameterKind::Boolean, "1", r#""1" is not a valid boolean"#),
        (
            ParameterKind::Boolean,
            r#""YES""#,
            r#""yes" is not a valid boolean"#,
        ),
        (ParameterKind::List, r#""a,b""#, r#""'a,b'" is not a list"#),
        (ParameterKind::Map, "[1]", r#""[1]" is not a map"#),
        (ParameterKind::Any, "null", "null"),
        (ParameterKind::Integer, "null", "0"),
        (
            ParameterKind::String,
            r#"["a"]"#,
            "Value must be a string; got ['a']",
        ),
    ] {
        let seen = match property(kind, &json(given), None) {
            Ok(value) => pycompat::json_in_order(&value),
            Err(refusal) => refusal.heat.unwrap_or_default(),
        };
        assert_eq!(seen, expected, "{kind:?} {given}");
    }
}

#[test]
fn custom_text_constraints_are_checked() {
    for (name, good, bad) in [
        (
            "ip_addr",
            &["10.0.0.1", "::1"][..],
            &["10.0.0", "010.0.0.1", "a", "10.0.0.1/8"][..],
        ),
        (
            "net_cidr",
            &["10.0.0.0/8", "10.1.2.3/8", "fe80::/64", "0.0.0.0/0"],
            &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08", "a/8"],
        ),
        (
            "ip_or_cidr",
            &["10.0.0.1", "10.0.0.0/8"],
            &["x", "10.0.0.0/99"],
        ),
        (
            "mac_addr",
            &["00:11:22:33:44:55", "0011.2233.4455", "001122334455"],
            &["00:11:22:33:44", "gg:11:22:33:44:55"],
        ),
        (
            "dns_name",
            &["", "a.b", "a-1.b."],
            &["-a", "A", "a..b", "a.1."],
        ),
        ("dns_domain", &["", "a.b."], &["a.b"]),
        ("rel_dns_name", &["", "a"], &["a.b."]),
        ("json_string", &["", "{}", "[1]"], &["{a"]),
        (
            "cron_expression",
            &[
                "",
                "* * * * *",
                "0 0 1 1 0",
                "@daily",
                "0,30 8-18/2 * * mon-fri",
                "* * * * * *",
                "* * * * * * *",
                "0 0 1 1 0 30 2031-2040/3",
            ],
            &[
                "* * * *",
                "x * * * *",
                "*/0 * * * *",
                "* * * * * * 1900",
                "* * * * * * * *",
            ],
        ),
    ] {
        let custom = Custom::of(name).expect(name);
        for text in good {
            assert_eq!(
                custom.check(&Value::from(*text)),
                Some(Ok(())),
                "{name} {text}"
            );
        }
        for text in bad {
            assert!(
                matches!(custom.check(&Value::from(*text)), Some(Err(_))),
                "{name} {text}"
            );
        }
    }
}
