//! The diagnostics of small documents, with their places.

#[expect(dead_code, reason = "this file uses a part")]
mod checking;

use checking::check_text;

/// Checks the document after its `version` line. A line that ends in `# code` must have exactly
/// that diagnostic (several codes are separated by blanks), and all other lines none. Notes about
/// versions do not count.
fn check(text: &str) {
    let text = format!("version: 2023-04-20\n{}", unindented(text));
    let mut wanted: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some((_, codes)) = line.rsplit_once(" # ") {
            wanted.extend(
                codes
                    .split_whitespace()
                    .map(|code| format!("{}: {code}", at + 1)),
            );
        }
    }
    let found = check_text("case.yaml", &text);
    let mut lines: Vec<String> = found
        .diagnostics
        .iter()
        .filter(|diagnostic| {
            !matches!(diagnostic.code.name, "newer-than-version" | "reserved-name")
        })
        .map(|diagnostic| {
            let span = diagnostic.span();
            let line = found
                .files
                .get(span.file)
                .map_or(0, |file| file.position(span.start).line);
            format!("{line}: {}", diagnostic.code.name)
        })
        .collect();
    lines.sort();
    wanted.sort();
    assert_eq!(
        lines,
        wanted,
        "in\n{text}\n{:#?}",
        found
            .diagnostics
            .iter()
            .map(|found| &found.message)
            .collect::<Vec<_>>()
    );
}

fn unindented(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let margin = lines()
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    lines()
        .map(|line| format!("{}\n", line.get(margin..).unwrap_or("")))
        .collect()
}

/// The messages, helps and labels of all diagnostics.
fn words(text: &str) -> String {
    let text = format!("version: 2023-04-20\n{}", unindented(text));
    let found = check_text("case.yaml", &text);
    found
        .diagnostics
        .iter()
        .map(|diagnostic| format!("{diagnostic:?}\n"))
        .collect()
}

#[test]
fn argument_that_may_be_an_integer_or_a_float_is_called_a_number() {
    let said = words(r#"resources: { a: { type: test/data, spec: { input: "${gt('x', 1)}" } } }"#);
    assert!(said.contains("must be a number"), "{said}");
}

#[test]
fn value_of_any_kind_is_called_a_value() {
    let said = words("resources: { a: { type: test/data, spec: { input: [1, ~] } } }");
    assert!(said.contains("a value is needed here"), "{said}");
    assert!(!said.contains("an any"), "{said}");
}

#[test]
fn undeclared_names_are_reported() {
    check(
        r#"
        variables:
          region: { type: string, default: eu }
        resources:
          a: { type: test/data, spec: { input: "${variables.regoin}" } } # unknown-variable
          b: { type: test/data, spec: { input: "${values.v}" } } # unknown-value
          c: { type: test/data, spec: { input: "${datasources.d.x}" } } # unknown-data-source
          d: { type: test/data, spec: { input: "${children.c.x}" } } # unknown-child
          e: { type: test/data, spec: { input: "${nope.spec.id}${resources.nope}" } } # unknown-resource unknown-resource
          f: { type: test/data, spec: { input: "${trimm('a')}" } } # unknown-function
          g: { type: test/data, dependsOn: [a, nope, g], spec: { input: 1 } } # unknown-resource self-reference
          h: { type: test/data, linkSelector: { byLabel: { a: b }, exclude: [nope] }, spec: { input: 1 } } # unknown-resource selector-matches-nothing
        "#,
    );
    let reader = "  r: { type: test/data, spec: { input: \"${order.spec.id}\" } }\n";
    let words_of = |resource: &str| words(&format!("resources:\n  {resource}\n{reader}"));
    let said = words_of("orders: { type: test/data, spec: { input: 1 } }");
    assert!(said.contains("did you mean `orders`?"), "{said}");
}

#[test]
fn a_resource_is_not_suggested_for_a_name_that_it_reads_itself() {
    let said =
        words("resources:\n  orders: { type: test/data, spec: { input: \"${order.spec.id}\" } }\n");
    assert!(!said.contains("did you mean"), "{said}");
    assert!(said.contains("declare it under `resources`"), "{said}");
}

#[test]
fn bare_function_name_is_a_function_only_as_an_argument() {
    check(
        r#"
        values:
          h: { type: array, value: "${list('a')}" }
        resources:
          trim: { type: test/data, spec: { input: "${map(values.h, to_upper)}" } }
          a: { type: test/data, spec: { input: "${to_upper}" } } # function-as-value
          b: { type: test/data, spec: { input: "${getattr('x')}" } } # function-as-value
          c: { type: test/data, spec: { input: "${map(values.h, trim)}" } } # ambiguous-name
          d: { type: test/data, spec: { input: "${trim}" } }
          e: { type: test/data, spec: { input: "a${to_upper}" } } # function-as-value
          f: { type: test/data, spec: { input: "a${trim_g}" } } # unknown-resource
          g: { type: test/data, spec: { input: "a${getelem(0)}" } } # interpolated-complex
          h: { type: test/data, spec: { input: "${map(values.h, to_uper)}" } } # unknown-function
          i: { type: test/data, spec: { input: "${eq(to_upper, 'a')}" } } # function-as-value
        "#,
    );
}

#[test]
fn reference_paths_are_checked_against_types() {
    check(
        r#"
        resources:
          x:
            type: test/record
            metadata: { displayName: X, labels: { a: b }, annotations: { acme.a: 1 }, custom: { pos: { left: 4 } } }
            spec: { title: t, settings: { mode: m }, rules: [{ key: k }] }
          a: { type: test/data, spec: { input: ["${x.spec.rules[0].key}", "${x.spec.settings.deep.y[2]}", "${x.spec.limits.any}"] } }
          b: { type: test/data, spec: { input: "${x.spec.rules.key}" } } # wrong-accessor
          c: { type: test/data, spec: { input: "${x.spec.title.a}" } } # wrong-accessor
          d: { type: test/data, spec: { input: "${x.spec.titel}" } } # unknown-field
          e: { type: test/data, spec: { input: "${x.title}" } } # unknown-field
          f: { type: test/data, spec: { input: "${x.metadata.labels.b}" } } # unknown-field
          g: { type: test/data, spec: { input: ["${x.metadata.labels.a}", "${x.metadata.custom.pos.left}", "${x.metadata.annotations}"] } }
          h: { type: test/data, spec: { input: "${x.metadata}" } } # reference-needs-field
          i2: { type: test/data, spec: { input: "${a.metadata.displayName}" } } # unknown-field
          j: { type: test/data, spec: { input: "${coalesce(a.metadata.displayName, 'none')}" } }
          k: { type: test/data, spec: { input: "${x.spec.target.host}" } }
          l: { type: test/data, spec: { input: "${x.spec.target.hosts}" } } # unknown-field
          m: { type: test/data, spec: { input: "${x.spec.free.a.b[0]}" } }
        "#,
    );
    assert!(words("resources:\n  x: { type: test/record, spec: { title: t } }\n  y: { type: test/data, spec: { input: \"${x.title}\" } }\n").contains("did you mean `.spec.title`?"));
}

#[test]
fn types_are_inferred_through_intermediate_values() {
    check(
        r#"
        values:
          c: { type: object, value: "${object(host = 'h', ports = list(80))}" }
          d: { type: object, value: "${values.c}" }
          j: { type: object, value: "${jsondecode('{}')}" }
        resources:
          a: { type: test/record, spec: { title: "${values.d.host}", ports: "${values.d.ports}" } }
          b: { type: test/record, spec: { title: t, count: "${values.d.host}" } } # type-mismatch
          e: { type: test/data, spec: { input: "${values.d.hots}" } } # unknown-field
          f: { type: test/data, spec: { input: "${coalesce(values.d.hots, 1)}" } }
          g: { type: test/data, spec: { input: "${values.j.anything[0]}" } }
          h: { type: test/data, spec: { input: "${values.d.ports.first}" } } # wrong-accessor
        "#,
    );
}

#[test]
fn instances_are_chosen_by_position() {
    check(
        r#"
        resources:
          b: { type: test/data, each: "${list(1, 2)}", spec: { input: "${elem}-${i}" } }
          s: { type: test/data, spec: { input: 1 } }
          t: { type: test/topic, spec: { name: t } }
          a: { type: test/data, spec: { input: ["${b[0]}", "${b[1].spec.id}", "${resources.b[].spec.id}"] } }
          c: { type: test/data, spec: { input: "${b.spec.id}" } } # missing-each-index
          d: { type: test/data, spec: { input: "${s[0].spec.id}" } } # index-on-single
          e: { type: test/data, spec: { input: "${t}" } } # reference-needs-field
          f: { type: test/data, spec: { input: "${s}" } }
        "#,
    );
}

#[test]
fn elem_and_i_are_rejected_outside_each() {
    check(
        r#"
        values:
          v: { type: integer, value: "${i}" } # elem-outside-each
        exports:
          e: { type: string, field: r.spec.id, description: "${elem}" } # elem-outside-each
        resources:
          r: { type: test/data, spec: { input: "${elem}" } } # elem-outside-each
          t:
            type: test/data
            each: ${list(object(n = "a"))}
            condition: ${eq(elem.n, "a")}
            description: the ${elem.n}
            metadata: { displayName: "${elem.n}", annotations: { acme.i: "${i}" }, custom: { e: "${elem}" } }
            spec: { input: "${elem.m}" } # unknown-field
          u:
            type: test/data
            each: ${list(elem)} # elem-outside-each
            spec: { input: 1 }
        "#,
    );
}

#[test]
fn only_a_description_may_read_its_own_element() {
    check(
        r#"
        values:
          v: { type: integer, value: "${values.v}", description: "${values.v}" } # self-reference
        resources:
          r:
            type: test/data
            description: made as ${r.spec.id}
            metadata: { displayName: "${r.spec.id}" } # self-reference
            spec: { input: "${resources.r.metadata.displayName}" } # self-reference
        "#,
    );
}

#[test]
fn cycle_is_reported_once() {
    check(
        r#"
        values:
          v: { type: string, value: "${c.spec.id}" }
        resources:
          a: { type: test/data, spec: { input: "${b.spec.id}" } } # cycle
          b: { type: test/data, dependsOn: a, spec: { input: 1 } }
          c: { type: test/data, condition: "${eq(d.spec.id, 'x')}", spec: { input: 1 } } 
          d: { type: test/data, spec: { input: "${a.spec.id}" } }
          e: { type: test/data, description: "${f.spec.id}", spec: { input: 1 } }
          f: { type: test/data, spec: { input: "${e.spec.id}" } }
        "#,
    );
    let words = words(
        "resources:\n  a: { type: test/data, spec: { input: \"${b.spec.id}\" } }\n  b: { type: test/data, dependsOn: a, spec: { input: 1 } }\n",
    );
    assert!(words.contains("a -> b -> a"), "{words}");
}

#[test]
fn cycle_is_reported_at_its_first_edge() {
    check(
        r#"
        resources:
          a:
            type: test/data
            spec: { input: "${b.spec.id}" } # cycle
            dependsOn: b
            condition: ${eq(b.spec.id, "x")}
          b: { type: test/data, dependsOn: a, spec: { input: 1 } }
        "#,
    );
}

#[test]
fn metadata_orders_only_evaluation() {
    check(
        r#"
        resources:
          a: { type: test/data, metadata: { displayName: A }, spec: { input: "${b.spec.id}" } }
          b: { type: test/data, spec: { input: "${a.metadata.displayName}" } }
        "#,
    );
    check(
        r#"
        resources:
          a: { type: test/data, metadata: { displayName: "${b.metadata.displayName}" }, spec: { input: 1 } } # cycle
          b: { type: test/data, metadata: { displayName: "${a.metadata.displayName}" }, spec: { input: 1 } }
        "#,
    );
}

#[test]
fn list_of_each_is_known_before_deployment() {
    check(
        r#"
        variables:
          n: { type: string, default: "a,b" }
        values:
          static: { type: array, value: "${split(variables.n, ',')}" }
          far: { type: array, value: "${list(values.near)}" }
          near: { type: string, value: "${a.spec.id}" }
          m: { type: object, value: "${object(a = 1)}" }
        datasources:
          d:
            type: test/network
            filter: { field: name, operator: "=", search: "${a.spec.id}" }
            exports: { subnets: { type: array } }
          e:
            type: test/network
            filter: { field: name, operator: "=", search: main }
            exports: { subnets: { type: array } }
        resources:
          a: { type: test/data, spec: { input: 1 } }
          b: { type: test/data, each: "${values.static}", spec: { input: 1 } }
          c: { type: test/data, each: "${values.far}", spec: { input: 1 } } # each-not-static
          f: { type: test/data, each: "${datasources.d.subnets}", spec: { input: 1 } } # each-not-static
          g: { type: test/data, each: "${datasources.e.subnets}", spec: { input: 1 } }
          h: { type: test/data, each: "${values.m}", spec: { input: 1 } } # each-not-list
          j: { type: test/data, each: "${vals(values.m)}", spec: { input: "${elem.x}" } } # wrong-accessor
          k: { type: test/data, each: "${jsondecode(variables.n)}", spec: { input: "${elem.x}" } }
          l: { type: test/data, each: "${none}", spec: { input: 1 } }
          m: { type: test/data, each: "${5}", spec: { input: 1 } } # each-not-list
        "#,
    );
    let words = words(
        r#"
        values:
          l: { type: array, value: "${list(a.spec.id)}" }
        resources:
          a: { type: test/data, spec: { input: 1 } }
          r: { type: test/data, each: "${values.l}", spec: { input: 1 } }
        "#,
    );
    assert!(words.contains("r -> values.l -> a"), "{words}");
}

#[test]
fn a_spec_fits_its_schema() {
    check(
        r#"
        resources:
          a: { type: test/record, spec: { titel: t } } # unknown-spec-field
          b: { type: test/record, spec: { title: t, id: x } } # computed-field-set
          c: { type: test/record, spec: { title: 5 } } # type-mismatch
          d: { type: test/record, spec: { title: t, count: 5.5 } } # type-mismatch
          e: { type: test/record, spec: { title: t, ratio: 1 } }
          f: { type: test/record, spec: { title: t, ratio: 2 } } # value-constraint
          g: { type: test/record, spec: { title: t, code: x } } # value-constraint
          h: { type: test/record, spec: { title: "", size: smal } } # value-constraint value-not-allowed
          j: { type: test/record, spec: { title: t, tags: x } } # type-mismatch
          k: { type: test/record, spec: { title: t, tags: [a, ~, [b]] } } # type-mismatch type-mismatch
          l: { type: test/record, spec: { title: t, settings: { level: 1, x: 2 } } } # missing-spec-field unknown-spec-field
          m: { type: test/record, spec: { title: t, rules: [{ value: 1 }, { key: a, value: b }] } } # missing-spec-field type-mismatch
          n: { type: test/record, spec: { title: t, target: { host: h, port: 80 }, amount: true, free: [1, { a: b }] } }
          o: { type: test/record, spec: { title: t, target: { port: 80 } } } # no-union-branch
          p: { type: test/record, spec: { title: t, amount: [1] } } # no-union-branch
          q: { type: test/record, spec: { title: t, note: ~, zone: ~ } } # null-ignored
          r: { type: test/record, spec: { title: ~ } } # null-ignored missing-spec-field
          s: { type: test/record, spec: { title: "${none}" } } # missing-spec-field
          t: { type: test/record, spec: { title: forbidden } } # rejected-by-provider
          u: { type: test/record, spec: { title: "${'forbidden'}" } } # rejected-by-provider
          v: { type: test/record, spec: { title: t, endpoint: { host: h } } } # computed-field-set
          w: { type: test/data, spec: { input: { a: ~ } } } # null-ignored
          x: { type: test/record, spec: [] } # wrong-shape
        "#,
    );
    let words = words("resources:\n  r: { type: test/record, spec: { title: 5 } }\n");
    assert!(words.contains("quote it"), "{words}");
}

#[test]
fn results_convert_by_the_conversion_table() {
    check(
        r#"
        variables:
          n: { type: integer, default: 1 }
          s: { type: string, default: a }
          b: { type: boolean, default: true }
        values:
          l: { type: array, value: "${list(1, 2)}" }
          o: { type: object, value: "${object(a = 1)}" }
        resources:
          a: { type: test/record, spec: { title: "${variables.n}", code: "${variables.b}", zone: "${base64decode('YQ==')}" } }
          c: { type: test/record, spec: { title: t, count: "${variables.s}" } } # type-mismatch
          d: { type: test/record, spec: { title: t, count: "1${variables.n}" } } # type-mismatch
          e: { type: test/record, spec: { title: t, ratio: "${variables.n}", enabled: "${variables.b}" } }
          f: { type: test/record, spec: { title: t, enabled: "${variables.n}" } } # type-mismatch
          g: { type: test/record, spec: { title: "${values.l}" } } # type-mismatch
          h: { type: test/record, spec: { title: t, ports: "${values.l}", limits: "${values.o}", tags: "${values.l}" } }
          j: { type: test/record, spec: { title: t, ports: ["${variables.s}"] } } # type-mismatch
          k: { type: test/record, spec: { title: t, labels: { a: "${variables.n}" }, limits: { a: "${variables.s}" } } } # type-mismatch
          l: { type: test/record, spec: { title: t, amount: "${variables.s}" } } # no-union-branch
          m: { type: test/record, spec: { title: t, amount: "${variables.n}", target: "${variables.n}" } }
          o: { type: test/record, spec: { title: t, size: "${'huge'}" } } # value-not-allowed
          p: { type: test/record, spec: { title: t, settings: "${object(mode = 'm')}" } }
          q: { type: test/record, spec: { title: "${jsondecode(variables.s)}" } }
        "#,
    );
}

#[test]
fn calls_fit_their_functions() {
    check(
        r#"
        variables:
          n: { type: integer, default: 1 }
          s: { type: string, default: a }
        values:
          h: { type: array, value: "${list('a', 'b')}" }
        resources:
          a: { type: test/data, spec: { input: "${trim()}${trim('a', 'b')}" } } # argument-count argument-count
          b: { type: test/data, spec: { input: "${trim(5)}" } } # argument-type
          c: { type: test/data, spec: { input: "${lt('a', 'b')}" } } # argument-type
          d: { type: test/data, spec: { input: "${list(1, 2.5, true)}" } } # mixed-list
          e: { type: test/data, spec: { input: "${eq(variables.n, variables.s)}" } } # incomparable
          f: { type: test/data, spec: { input: "${eq(values.h, none)}" } }
          g: { type: test/data, spec: { input: "${compare('a', 1)}" } } # argument-type
          h: { type: test/data, spec: { input: "${contains('a', 1)}" } } # argument-type
          j: { type: test/data, spec: { input: "${object(a = 1, a = 2)}" } } # duplicate-key
          k: { type: test/data, spec: { input: "${object(1, variables.x)}" } } # argument-type unknown-variable
          l: { type: test/data, spec: { input: "${and(true, none)}" } }
          m: { type: test/data, spec: { input: "${if(variables.n, 1, len(5))}" } } # argument-type argument-type
          n: { type: test/data, spec: { input: "${trim(variables.x)}-${len(trim(variables.n))}" } } # unknown-variable argument-type
          o: { type: test/data, spec: { input: "${trim(variables.s).a}" } } # wrong-accessor
          p: { type: test/data, spec: { input: "${min(1, 2.5)}" } }
          q: { type: test/data, spec: { input: "${keys(values.h)}" } } # argument-type
          r: { type: test/data, spec: { input: "${if(true, 'a', none)}" } }
        "#,
    );
}

#[test]
fn function_arguments_are_checked() {
    check(
        r#"
        values:
          h: { type: array, value: "${list('a', 'b')}" }
          n: { type: array, value: "${list(1, 2)}" }
        resources:
          a: { type: test/data, spec: { input: "${reduce(values.h, trim, '')}" } } # callback-type
          b: { type: test/data, spec: { input: "${map(values.h, replace)}" } } # callback-type
          c: { type: test/data, spec: { input: "${map(values.n, to_upper)}" } } # argument-type
          d: { type: test/data, spec: { input: "${map(values.h, 'to_upper')}" } } # argument-type
          e: { type: test/data, spec: { input: "${map(values.h, pipe(len, to_upper))}" } } # callback-type
          f: { type: test/data, spec: { input: "${map(values.h, compose(to_upper, trim))}" } }
          g: { type: test/data, spec: { input: "${map(values.h, test_tag)}" } }
          h: { type: test/data, spec: { input: "${reduce(values.n, test_weigh, 0)}" } }
          j: { type: test/data, spec: { input: "${filter(values.n, has_prefix_g('a'))}" } } # argument-type
          k: { type: test/data, spec: { input: "${sort(values.n, compare)}" } }
          l: { type: test/data, spec: { input: "${map(values.h, trimprefix_g('a', 'b'))}" } } # argument-count
          m: { type: test/data, spec: { input: "${reduce(values.n, compose(abs, add), 0)}" } }
          n: { type: test/data, spec: { input: "${map(values.h, values.h)}" } } # argument-type
        "#,
    );
}

#[test]
fn conditions_are_boolean() {
    check(
        r#"
        variables:
          s: { type: string, default: a }
        resources:
          a: { type: test/data, condition: "${variables.s}", spec: { input: 1 } } # type-mismatch
          b: { type: test/data, condition: "${none}", spec: { input: 1 } }
          c:
            type: test/data
            condition:
              and:
                - ${eq(variables.s, "a")}
                - or:
                    - ${len(variables.s)} # type-mismatch
                    - not: ${variables.x} # unknown-variable
            spec: { input: 1 }
        "#,
    );
}

#[test]
fn declared_types_are_enforced() {
    check(
        r#"
        variables:
          n: { type: integer, default: 1 }
        values:
          a: { type: integer, value: "12" }
          b: { type: integer, value: "1${variables.n}" }
          c: { type: boolean, value: "yes" } # unparsable-value
          d: { type: integer, value: "${'x'}" } # unparsable-value
          e: { type: string, value: "${variables.n}" } # type-mismatch
          f: { type: float, value: "${variables.n}" }
          g: { type: array, value: "${'a'}" } # type-mismatch
          h: { type: object, value: "${list(1)}" } # type-mismatch
          j: { type: string, value: "${values.h.x}" }
          k: { type: integer, value: "${2.5}" } # type-mismatch
        exports:
          a: { type: float, field: values.a }
          b: { type: string, field: values.a } # type-mismatch
          c: { type: string, field: r }
          d: { type: string, field: values.nope } # unknown-value
        resources:
          r: { type: test/data, spec: { input: 1 } }
        "#,
    );
}

#[test]
fn defaults_of_variables_are_checked() {
    check(
        r#"
        variables:
          a: { type: string, default: 5 } # type-mismatch
          b: { type: string, default: c, allowedValues: [a, b] } # value-not-allowed
          c: { type: test/size, default: small, allowedValues: [small, large] }
          d: { type: test/size, default: medium, allowedValues: [small, large] } # value-not-allowed
          e: { type: test/size, default: smal } # value-not-allowed
          f: { type: test/sizes, default: small } # unknown-type
          g: { type: nope/size, default: small } # unknown-provider
          h: { type: test/compute/units, default: one }
        resources:
          r: { type: test/record, spec: { title: "${variables.c}", count: "${variables.h}", zone: "${variables.f}${variables.g}" } }
          s: { type: test/record, spec: { title: t, count: "${variables.c}" } } # type-mismatch
        "#,
    );
}

#[test]
fn unknown_types_are_reported() {
    check(
        r#"
        transform: [test-noop]
        datasources:
          d: # missing-field
            type: test/data # unknown-data-source-type
            exports: { name: { type: string } }
        resources:
          a: { type: tset/data, spec: { input: "${variables.x}" } } # unknown-provider unknown-variable
          b: { type: test/dta, spec: { input: 1 } } # unknown-resource-type
          c: { type: test/service, spec: { name: a, quue: true } } # unknown-spec-field
          d: { type: test/data, spec: { input: ["${b.spec.x.y}", "${c.spec.other}", "${c}", "${datasources.d.name}"] } }
        "#,
    );
    check(
        r#"
        resources:
          s: { type: test/service, spec: { name: a } } # abstract-resource-left
        "#,
    );
    check(
        r#"
        transform: celerity # unknown-transform
        resources:
          s: { type: celerity/handler, spec: { name: a } }
        "#,
    );
}

#[test]
fn filters_and_exports_of_data_sources_are_checked() {
    check(
        r#"
        variables:
          n: { type: integer, default: 1 }
        datasources:
          a:
            type: test/network
            filter:
              - { field: "subnetDetails[0].zone", operator: "=", search: z1 }
              - { field: "subnetDetails[].zone", operator: in, search: [z1, "${variables.n}"] } # filter-kind-mismatch
              - { field: size, operator: ">", search: "${variables.n}" }
              - { field: ratio, operator: "=", search: 1 }
              - { field: tags, operator: not has key, search: env }
              - { field: limits, operator: contains, search: 4 }
              - { field: limits, operator: contains, search: a } # filter-kind-mismatch
              - { field: ports, operator: "=", search: [80, 443] }
              - { field: ports, operator: "not contains", search: "80" } # filter-kind-mismatch
              - { field: subnetDetails, operator: contains, search: a } # filter-kind-mismatch
              - { field: isDefault, operator: "!=", search: true }
              - { field: "gateway.hots", operator: "=", search: a } # unsupported-filter-field
            exports:
              vpc: { type: string, aliasFor: vpcId }
              size: { type: float }
              zone: { type: integer } # type-mismatch
              gateway: { type: array } # type-mismatch
              nope: { type: string } # unknown-field
        resources:
          r: { type: test/data, spec: { input: "${datasources.a.vpc}" } }
          s: { type: test/data, spec: { input: "${datasources.a}" } } # reference-needs-field
          t: { type: test/data, spec: { input: "${datasources.a.vpcId}" } } # unknown-field
          u: { type: test/data, spec: { input: "${datasources.a.vpc.x}" } } # wrong-accessor
        "#,
    );
}

#[test]
fn includes_are_known_before_deployment() {
    check(
        r#"
        variables:
          v: { type: string, default: a }
          p: { type: string, default: a, secret: true }
        values:
          id: { type: string, value: "${r.spec.id}" }
          ok: { type: string, value: "${r.spec.input}" }
        include:
          a: { path: "${variables.v}.yaml", variables: { x: "${r.spec.id}" } }
          b: { path: "x-${values.id}.yaml" } # include-path-unknown
          c: { path: "${variables.p}.yaml" } # secret-exposed
          d: { path: a.yaml, metadata: { sourceType: https } } # source-metadata
          e: { path: a.yaml, metadata: { sourceType: https, host: h, bucket: b } } # source-metadata
          f: { path: a.yaml, metadata: { sourceType: ftp, host: h } } # unknown-source-type
          g: { path: a.yaml, metadata: { checksum: "sha256:00" } }
          h: { path: a.yaml, variables: { x: "${list(1)}" } } # type-mismatch
          j: { path: "${children.a.x}.yaml" }
          k: { path: "${values.ok}.yaml" }
        resources:
          r: { type: test/data, spec: { input: 1 } }
          t: { type: test/data, spec: { input: "${children.a.x.y}" } }
          s: { type: test/data, spec: { input: "${children.a}" } } # reference-needs-field
        "#,
    );
}

#[test]
fn exposed_secrets_are_reported() {
    check(
        r#"
        variables:
          p: { type: string, default: a, secret: true }
        values:
          o: { type: object, value: "${object(host = 'h', password = variables.p)}" }
          again: { type: object, value: "${values.o}" }
          l: { type: array, value: "${list(variables.p)}" }
        resources:
          a: { type: test/data, each: "${values.l}", spec: { input: 1 } } # secret-exposed
          b: { type: test/data, metadata: { displayName: "x ${len(variables.p)}" }, spec: { input: 1 } } # secret-exposed
          c: { type: test/data, metadata: { displayName: "${values.again.host}" }, spec: { input: 1 } }
          d: { type: test/data, metadata: { displayName: "${values.again.password}" }, spec: { input: 1 } } # secret-exposed
          e: { type: test/data, metadata: { displayName: "${r.spec.secretKey}" }, spec: { input: 1 } } # secret-exposed
          f: { type: test/data, metadata: { displayName: "${r.spec.title}" }, spec: { input: 1 } } # secret-exposed
          g: { type: test/data, metadata: { displayName: "${r.spec.id}" }, spec: { input: 1 } }
          j: { type: test/data, each: "${split(variables.p, ',')}", spec: { input: 1 } } # secret-exposed
          k: { type: test/data, each: "${variables.p}", spec: { input: 1 } } # each-not-list
          h: { type: test/data, metadata: { displayName: "${join(keys(values.o), '')}" }, spec: { input: 1 } }
          r: { type: test/record, spec: { title: "${variables.p}" } }
        "#,
    );
}

#[test]
fn link_calls_need_a_link() {
    check(
        r#"
        resources:
          fn: { type: test/function, linkSelector: { byLabel: { app: x } }, spec: { name: f } }
          q: { type: test/queue, metadata: { labels: { app: x } }, spec: { name: q } }
          a: { type: test/data, spec: { input: ["${link(fn, q).url}", "${link('fn', 'q')}"] } }
          b: { type: test/data, spec: { input: "${link(q, fn)}" } } # unknown-link
          c: { type: test/data, spec: { input: "${link(fn, 5)}" } } # argument-type
          d: { type: test/data, spec: { input: "${link(fn, 'nope')}" } } # unknown-resource
        "#,
    );
}

#[test]
fn annotations_of_a_type_are_checked() {
    check(
        r#"
        variables:
          n: { type: integer, default: 1 }
        resources:
          a: { type: acme/shop, metadata: { annotations: { acme.shop.size: 5, acme.shop.kind: mall, other.x: 1 } }, spec: { name: a } }
          b: { type: acme/shop, metadata: { annotations: { acme.shop.size: "5" } }, spec: { name: a } } # invalid-annotation
          c: { type: acme/shop, spec: { name: a } } # invalid-annotation
          d: { type: acme/shop, metadata: { annotations: { acme.shop.size: "${variables.n}", acme.shop.kind: tent } }, spec: { name: a } } # invalid-annotation
          e: { type: acme/shop, metadata: { annotations: { acme.shop.size: "${list(1)}" } }, spec: { name: a } } # type-mismatch
        "#,
    );
}

#[test]
fn required_filters_are_reported() {
    check(
        r#"
        datasources:
          a: { type: acme/file, filter: { field: kind, operator: "=", search: x }, exports: { text: { type: string } } } # missing-field
          b: { type: acme/file, filter: { field: path, operator: "=", search: x }, exports: { text: { type: string } } }
        resources:
          r: { type: test/data, spec: { input: "${datasources.a.text}${datasources.b.text}" } }
        "#,
    );
}

#[test]
fn fixes_are_offered_for_a_wrong_type() {
    let help = |spec: &str| {
        words(&format!(
            "resources:\n  r: {{ type: test/record, spec: {{ title: t, {spec} }} }}\n"
        ))
    };
    assert!(help("count: \"5\"").contains("write `5`, without quotes"));
    assert!(help("enabled: yes").contains("\"write `true`\""));
    assert!(help("zone: 5").contains("quote it"));
    assert!(help("tags: a").contains("jsondecode"));
    let dotted = words(
        r#"
        datasources:
          d: { type: test/image, filter: { field: version, operator: "=", search: 3 }, exports: { meta.arch: { type: string } } }
        resources:
          r: { type: test/data, spec: { input: "${datasources.d.meta.arch}" } }
        "#,
    );
    assert!(
        dotted.contains("datasources.d[\\\"meta.arch\\\"]"),
        "{dotted}"
    );
}

#[test]
fn alias_causes_no_second_diagnostic() {
    check(
        r#"
        resources:
          a: { type: test/queue, spec: &s { name: q, nope: 1 } } # unsupported-yaml unknown-spec-field
          b: { type: test/queue, spec: *s } # unsupported-yaml
        "#,
    );
}

#[test]
fn document_with_many_errors_is_checked_quickly() {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    for at in 0..3000 {
        text.push_str(&format!(
            "  r{at}: {{ type: test/dat, spec: {{ input: \"${{q{at}.spec.id}}\" }} }}\n"
        ));
    }
    let found = check_text("case.yaml", &text);
    assert_eq!(
        (found.found.len(), found.diagnostics.dropped()),
        (6000, (0, 0))
    );
}
