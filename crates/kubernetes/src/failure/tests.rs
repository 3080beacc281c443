//! Answers of an API server and what they mean.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

fn status(code: u16, reason: &str, message: &str, details: Json) -> Json {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message, "details": details})
}

fn failure_of(kind: &str, answer: &Json) -> ApiFailure {
    let kind: GroupKind = kind.parse().unwrap();
    let object = json!({"spec": {"template": {"spec": {"containers": [{"name": "one"}, {"name": "web"}]}}},
        "data": {"a.b": "x"}});
    let request = FailedRequest {
        kind: &kind,
        object: Some(&object),
    };
    ApiFailure::of_answer(500, &answer.to_string(), request)
}

fn reason(kind: &str, code: u16, reason: &str, message: &str, details: Json) -> FailureReason {
    failure_of(kind, &status(code, reason, message, details)).reason
}

#[test]
fn what_is_missing_is_told_apart() {
    assert_eq!(
        reason(
            "core/ConfigMap",
            404,
            "NotFound",
            r#"configmaps "a" not found"#,
            json!({"name": "a", "kind": "configmaps"})
        ),
        FailureReason::ObjectMissing
    );
    let space = json!({"name": "shop", "kind": "namespaces"});
    let message = r#"namespaces "shop" not found"#;
    assert_eq!(
        reason("core/ConfigMap", 404, "NotFound", message, space.clone()),
        FailureReason::NamespaceMissing("shop".into())
    );
    assert_eq!(
        reason("core/Namespace", 404, "NotFound", message, space),
        FailureReason::ObjectMissing
    );
    assert_eq!(
        reason(
            "a.io/Thing",
            404,
            "NotFound",
            "the server could not find the requested resource",
            json!({})
        ),
        FailureReason::KindMissing
    );
    let kind: GroupKind = "a.io/Thing".parse().unwrap();
    let request = FailedRequest {
        kind: &kind,
        object: None,
    };
    let plain = ApiFailure::of_answer(404, "404 page not found\n", request);
    assert_eq!(plain.reason, FailureReason::KindMissing);
    assert_eq!(plain.message, "404 page not found");
}

#[test]
fn each_conflict_has_its_field_and_manager() {
    let FailureReason::FieldConflicts(conflicts) = reason(
        "apps/Deployment",
        409,
        "Conflict",
        "Apply failed with 2 conflicts",
        json!({"causes": [
            {"reason": "FieldManagerConflict", "message": r#"conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z"#,
                "field": r#".spec.template.spec.containers[name="web"].image"#},
            {"reason": "FieldManagerConflict", "message": r#"conflict with "a\"b" with subresource "scale" using v1"#,
                "field": ".data.a.b"}]}),
    ) else {
        panic!("conflicts are expected")
    };
    let found: Vec<_> = conflicts
        .iter()
        .map(|one| {
            (
                one.path.to_string(),
                &*one.manager,
                one.subresource.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "spec.template.spec.containers[1].image".to_owned(),
                "kubectl-edit",
                None
            ),
            (r#"data["a.b"]"#.to_owned(), "a\"b", Some("scale")),
        ]
    );
    assert_eq!(
        &*conflicts[0].written,
        r#".spec.template.spec.containers[name="web"].image"#
    );
}

#[test]
fn other_conflicts_are_told_apart() {
    for (message, expected) in [
        (
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again",
            FailureReason::Modified,
        ),
        (
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object specified uid 1, and no existing object was found",
            FailureReason::Vanished,
        ),
        (
            "Operation cannot be fulfilled on configmaps \"a\": Precondition failed: UID in precondition: 1, UID in object meta: 2",
            FailureReason::MadeAnew,
        ),
    ] {
        assert_eq!(
            reason("core/ConfigMap", 409, "Conflict", message, json!({})),
            expected,
            "{message}"
        );
    }
    for (message, deleting) in [
        ("configmaps \"a\" already exists", false),
        (
            "object is being deleted: configmaps \"a\" already exists",
            true,
        ),
    ] {
        let answer = status(409, "AlreadyExists", message, json!({}));
        let failure = failure_of("core/ConfigMap", &answer);
        assert_eq!(failure.reason, FailureReason::AlreadyExists { deleting });
        assert_eq!(failure.is_transient(), deleting);
    }
}

#[test]
fn each_invalid_field_has_its_place() {
    let cause = |reason: &str, message: &str, field: &str| json!({"reason": reason, "message": message, "field": field});
    let FailureReason::Invalid(fields) = reason(
        "apps/Deployment",
        422,
        "Invalid",
        "Deployment.apps \"web\" is invalid",
        json!({"causes": [
            cause("FieldValueInvalid", r#"Invalid value: {"matchLabels":{"a":"immutable"}}: field is immutable"#, "spec.selector"),
            cause("FieldValueInvalid", r#"Invalid value: "immutable": must be lower-case"#, "metadata.labels"),
            cause("FieldValueForbidden", "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden", "spec"),
            cause("FieldValueRequired", "Required value", "spec.template.spec.containers[1].image"),
            cause("FieldValueInvalid", "Invalid value: may not change once set", "spec.clusterIPs[0]"),
            cause("", "no field", "<nil>")]}),
    ) else {
        panic!("invalid fields are expected")
    };
    let found: Vec<_> = fields
        .iter()
        .map(|field| (field.path.to_string(), field.problem))
        .collect();
    let expected = [
        ("spec.selector", FieldProblem::Immutable),
        ("metadata.labels", FieldProblem::Value),
        ("spec", FieldProblem::Immutable),
        (
            "spec.template.spec.containers[1].image",
            FieldProblem::Value,
        ),
        ("spec.clusterIPs[0]", FieldProblem::Immutable),
        ("", FieldProblem::Value),
    ];
    assert_eq!(
        found,
        expected.map(|(path, problem)| (path.to_owned(), problem))
    );
    let uid = json!({"causes": [cause("FieldValueInvalid", r#"Invalid value: "1": field is immutable"#, "metadata.uid")]});
    assert_eq!(
        reason("core/ConfigMap", 422, "Invalid", "is invalid", uid),
        FailureReason::MadeAnew
    );
}

#[test]
fn the_value_in_a_message_does_not_decide_the_problem() {
    for (message, expected) in [
        (
            r#"Invalid value: "integer": spec.image in body must be of type string: "integer""#,
            FieldProblem::Value,
        ),
        (
            r#"Invalid value: "a \"b\": immutable": bad: worse"#,
            FieldProblem::Value,
        ),
        (
            r#"Invalid value: {"a":"immutable: x"}: Value is immutable: see the docs"#,
            FieldProblem::Immutable,
        ),
        (
            r#"Invalid value: core.X{A:"immutable"}: is too long"#,
            FieldProblem::Value,
        ),
        (
            "Invalid value: 3: may not change once set",
            FieldProblem::Immutable,
        ),
        (
            "Forbidden: spec is immutable after creation",
            FieldProblem::Immutable,
        ),
    ] {
        assert_eq!(problem(message), expected, "{message}");
    }
}

#[test]
fn fields_in_a_message_have_their_place() {
    let fields = |code: u16, message: &str| {
        let FailureReason::Invalid(fields) =
            reason("apps/Deployment", code, "", message, json!({}))
        else {
            panic!("invalid fields are expected")
        };
        let field = |field: InvalidField| (field.path.to_string(), field.problem, field.message);
        fields.into_iter().map(field).collect::<Vec<_>>()
    };
    let start = "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): ";
    let undeclared = "field not declared in schema".to_owned();
    assert_eq!(
        fields(500, &format!("{start}.spec.foo: {undeclared}")),
        [(
            "spec.foo".to_owned(),
            FieldProblem::Undeclared,
            undeclared.clone()
        )]
    );
    assert_eq!(
        fields(
            500,
            &format!(
                "{start}errors:\n  .spec.template.spec.containers[name=\"web\"].imag: {undeclared}\n  \
                 .spec.replicas: expected numeric (int or float), got string"
            )
        ),
        [
            (
                "spec.template.spec.containers[1].imag".to_owned(),
                FieldProblem::Undeclared,
                undeclared
            ),
            (
                "spec.replicas".to_owned(),
                FieldProblem::Value,
                "expected numeric (int or float), got string".to_owned()
            ),
        ]
    );
    assert_eq!(
        fields(
            500,
            r#"failed to create typed patch object: errors: .spec.env: duplicate entries for key [name="A: B"]"#
        ),
        [(
            "spec.env".to_owned(),
            FieldProblem::Value,
            r#"duplicate entries for key [name="A: B"]"#.to_owned()
        )]
    );
    assert_eq!(
        fields(
            400,
            r#"Deployment in version "v1" cannot be handled: strict decoding error: unknown field "spec.foo", duplicate field "data.a.b""#
        ),
        [
            (
                "spec.foo".to_owned(),
                FieldProblem::Undeclared,
                "unknown field".to_owned()
            ),
            (
                r#"data["a.b"]"#.to_owned(),
                FieldProblem::Value,
                "duplicate field".to_owned()
            ),
        ]
    );
}

#[test]
fn rights_and_admission_are_told_apart() {
    for (code, word, message, details, expected) in [
        (
            403,
            "Forbidden",
            r#"configmaps "a" is forbidden: User "u" cannot patch resource "configmaps" in API group "" in the namespace "shop""#,
            json!({}),
            FailureReason::NoRight,
        ),
        (
            403,
            "Forbidden",
            r#"pods "a" is forbidden: exceeded quota: q, requested: pods=1"#,
            json!({}),
            FailureReason::Refused,
        ),
        (
            403,
            "Forbidden",
            r#"configmaps "a" is forbidden: the namespace ends"#,
            json!({"causes": [{"reason": "NamespaceTerminating", "field": "metadata.namespace"}]}),
            FailureReason::NamespaceTerminating,
        ),
        (
            403,
            "Forbidden",
            r#"pods "a" is forbidden: unable to create new content in namespace shop because it is being terminated"#,
            json!({}),
            FailureReason::NamespaceTerminating,
        ),
        (
            403,
            "Forbidden",
            r#"pods "a" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"#,
            json!({}),
            FailureReason::Refused,
        ),
        (
            400,
            "BadRequest",
            r#"admission webhook "a.example" does not support dry run"#,
            json!({}),
            FailureReason::NoDryRun("a.example".into()),
        ),
        (
            403,
            "",
            r#"admission webhook "a.example" denied the request: no: never"#,
            json!({}),
            FailureReason::Denied {
                by: "a.example".into(),
                message: "no: never".to_owned(),
            },
        ),
        (
            422,
            "Invalid",
            "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too large",
            json!({}),
            FailureReason::Denied {
                by: "p".into(),
                message: "too large".to_owned(),
            },
        ),
        (
            500,
            "InternalError",
            r#"Internal error occurred: failed calling webhook "a.example": failed to call webhook: no route"#,
            json!({}),
            FailureReason::WebhookFailed("a.example".into()),
        ),
    ] {
        assert_eq!(
            reason("core/ConfigMap", code, word, message, details),
            expected,
            "{message}"
        );
    }
}

#[test]
fn plain_reasons_are_read_from_the_word_or_the_code() {
    for (code, word, expected) in [
        (401, "Unauthorized", FailureReason::Unauthorized),
        (429, "TooManyRequests", FailureReason::TooManyRequests),
        (504, "Timeout", FailureReason::Timeout),
        (500, "ServerTimeout", FailureReason::Timeout),
        (503, "ServiceUnavailable", FailureReason::Unavailable),
        (410, "Expired", FailureReason::Expired),
        (405, "MethodNotAllowed", FailureReason::NotSupported),
        (400, "BadRequest", FailureReason::BadRequest),
        (500, "InternalError", FailureReason::Internal),
        (500, "", FailureReason::Internal),
        (503, "Strange", FailureReason::Unavailable),
        (418, "Strange", FailureReason::Other("Strange".into())),
    ] {
        assert_eq!(
            reason("core/ConfigMap", code, word, "words", json!({})),
            expected,
            "{code} {word}"
        );
    }
}

#[test]
fn the_time_to_wait_is_read() {
    let answer = status(
        429,
        "TooManyRequests",
        "slow down",
        json!({"retryAfterSeconds": 3}),
    );
    let failure = failure_of("core/ConfigMap", &answer);
    assert_eq!(failure.retry_after_seconds, Some(3));
    assert!(failure.is_transient());
    let never = failure_of("core/ConfigMap", &status(403, "Forbidden", "no", json!({})));
    assert!(!never.is_transient());
}

proptest! {
    #[test]
    fn any_answer_has_a_reason(code in any::<u16>(), word in "(NotFound|Conflict|Invalid|Forbidden|)",
        message in r#"(admission webhook |failed to create typed patch object \(|strict decoding error: |conflict with )?[a-z"': .\\\[(){}é]{0,40}"#) {
        let details = json!({"causes": [{"reason": "FieldManagerConflict", "message": &message, "field": &message}]});
        failure_of("core/ConfigMap", &status(code, &word, &message, details));
        let kind = GroupKind::new("", "ConfigMap");
        ApiFailure::of_answer(code, &message, FailedRequest { kind: &kind, object: None });
    }
}
