//! The check of calls of functions of packages.

#[expect(dead_code, reason = "this file uses a part")]
mod checking;

use checking::check_text;

/// The mistakes in a value: code, text at the place, and message.
fn mistakes(ty: &str, expression: &str) -> Vec<String> {
    let text = format!(
        "version: 2023-04-20\nresources:\n  eu: {{ type: cyan/provider, spec: {{ namespace: acme }} }}\n  \
         us: {{ type: cyan/provider, spec: {{ namespace: other }} }}\n  \
         shop: {{ type: acme/shop, metadata: {{ annotations: {{ acme.shop.size: 1 }} }}, spec: {{ name: a }} }}\n\
         values:\n  v: {{ type: {ty}, value: '${{{expression}}}' }}\n"
    );
    shown("case.yaml", &text)
}

fn shown(name: &str, text: &str) -> Vec<String> {
    let found = check_text(name, text);
    let errors = found.diagnostics.iter().filter(|one| one.is_error());
    errors
        .map(|one| {
            let span = one.span();
            let help = one.help.join("; ");
            let place = &text[span.start as usize..span.end as usize];
            format!("{} at {place}: {} ({help})", one.code.name, one.message)
        })
        .collect()
}

#[test]
fn correct_calls_have_the_declared_type() {
    for (ty, expression) in [
        (
            "integer",
            "invoke(\"acme/acme_find\", object(name=\"a\")).size",
        ),
        (
            "string",
            "invoke(\"acme/acme_find\", object(name=shop.spec.name, most=2), eu).key",
        ),
        (
            "integer",
            "invoke(\"acme/acme_sum\", list(\"a\", 2), resources.eu)",
        ),
    ] {
        assert_eq!(mistakes(ty, expression), [""; 0], "{expression}");
    }
}

#[test]
fn mistakes_have_places_and_suggestions() {
    for (expression, expected) in [
        (
            "invoke(\"acme/acme_fin\", object(name=\"a\"))",
            "unknown-function at \"acme/acme_fin\": unknown function `acme/acme_fin` (did you mean `acme/acme_find`?)",
        ),
        (
            "invoke(\"acne/acme_find\", object(name=\"a\"))",
            "unknown-provider at \"acne/acme_find\": unknown provider `acne` (did you mean `acme`?)",
        ),
        (
            "invoke(shop.spec.name)",
            "argument-type at shop.spec.name: `invoke` needs the name of a function as a literal (write the package and the function, such as `\"shop/index:getItem\"`)",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\", mos=1))",
            "unknown-field at mos: `acme_find` has no argument `mos` (did you mean `most`?)",
        ),
        (
            "invoke(\"acme/acme_find\", object(most=1))",
            "argument-count at object(most=1): `acme_find` needs the argument `name` ()",
        ),
        (
            "invoke(\"acme/acme_find\")",
            "argument-count at \"acme/acme_find\": `acme_find` needs the argument `name` ()",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\", most=\"b\"))",
            "argument-type at \"b\": `most` of `acme_find` must be an integer ()",
        ),
        (
            "invoke(\"acme/acme_find\", list(1))",
            "argument-type at list(1): `acme_find` takes its arguments by name (write a map, such as `object(name = value)`)",
        ),
        (
            "invoke(\"acme/acme_sum\", object(text=\"a\"))",
            "argument-type at object(text=\"a\"): `acme_sum` takes its arguments by position (write a list, such as `list(value)`)",
        ),
        (
            "invoke(\"acme/acme_sum\", list(\"a\"))",
            "argument-count at list(\"a\"): `acme_sum` does not take 1 argument ()",
        ),
        (
            "invoke(\"acme/acme_sum\", list(\"a\", \"b\"))",
            "argument-type at \"b\": `number` of `acme_sum` must be an integer ()",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\")).sise",
            "unknown-field at .sise: no key `sise` here (did you mean `size`?)",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\"), shop)",
            "provider-name at shop: `shop` is no configuration of a provider (name a resource of type `cyan/provider` without `each`)",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\"), us)",
            "provider-name at us: `us` configures another provider (name a configuration whose `namespace` is `acme`)",
        ),
        (
            "invoke(\"acme/acme_find\", object(name=\"a\"), \"eu\")",
            "argument-type at \"eu\": the third argument of `invoke` must be a resource (name a resource of type `cyan/provider`)",
        ),
    ] {
        // The type of the result, so that only the call is wrong.
        let is_object = expression.contains("acme_find") && expression.ends_with(')');
        let ty = if is_object { "object" } else { "integer" };
        assert_eq!(mistakes(ty, expression), [expected], "{expression}");
    }
}

#[test]
fn sensitive_result_is_refused_where_it_would_be_shown() {
    let text = |field: &str| {
        format!(
            "version: 2023-04-20\nresources:\n  shop:\n    type: acme/shop\n    metadata:\n      \
             displayName: '${{invoke(\"acme/acme_find\", object(name=\"a\")).{field}}}'\n      \
             annotations: {{ acme.shop.size: 1 }}\n    spec: {{ name: a }}\n"
        )
    };
    assert_eq!(shown("case.yaml", &text("size")), [""; 0]);
    let found = shown("case.yaml", &text("key"));
    assert!(
        matches!(&found[..], [one] if one.starts_with("secret-exposed")),
        "{found:?}"
    );
}

#[test]
fn templates_of_heat_call_functions_of_packages() {
    let template = |call: &str| {
        let text = format!(
            "heat_template_version: 2018-08-31\nresources:\n  eu: {{ type: cyan/provider, properties: {{ namespace: acme }} }}\noutputs:\n  \
             a: {{ value: {{ cyan_invoke: {call} }} }}\n"
        );
        shown("case.yaml", &text)
    };
    let correct = "{ function: acme/acme_find, arguments: { name: a }, provider: eu }";
    assert_eq!(template(correct), [""; 0]);
    for (call, expected) in [
        (
            "{ function: acme/acme_fin, arguments: { name: a } }",
            "unknown-function at acme/acme_fin: unknown function `acme/acme_fin` (did you mean `acme/acme_find`?)",
        ),
        (
            "{ function: acme/acme_find, arguments: { nam: a } }",
            "unknown-field at nam: `acme_find` has no argument `nam` (did you mean `name`?)",
        ),
        (
            "{ function: acme/acme_find, argument: { name: a } }",
            "unknown-field at argument: `cyan_invoke` has no entry `argument` (did you mean `arguments`?)",
        ),
        (
            "{ arguments: { name: a } }",
            "argument-count at { arguments: { name: a } }: `cyan_invoke` needs the entry `function` (write the package and the function: `function: shop/index:getItem`)",
        ),
    ] {
        assert_eq!(template(call), [expected], "{call}");
    }
}
