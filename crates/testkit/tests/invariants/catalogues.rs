//! A field that a catalogue marks sensitive is never shown, at any depth of a type, even if no
//! variable is secret.

use std::fmt::Write as _;
use std::sync::Arc;

use blueprint::{Field, Kind, Schema};
use engine::plan_file;
use provider::{Catalog, Provider as _, TypeRef};
use state::Exported;
use state::seal::Sealer;
use testkit::harness::{Harness, settings};

use crate::{run_with_paused_clock, stage};

/// The number of resources in a document.
const AT_ONCE: usize = 40;

/// All catalogues. Providers that work on the local machine are simulated, too.
fn catalogues() -> Vec<Arc<Catalog>> {
    let own = [
        providers::local::provider().catalog().clone(),
        providers::random::provider().catalog().clone(),
        providers::tls::provider().catalog().clone(),
    ];
    own.into_iter().chain([providers::aws::catalog()]).collect()
}

/// The planted value, which matches most patterns.
fn planted(number: usize) -> String {
    format!(
        "Mk{number:06}Vault{:06}",
        number.wrapping_mul(7919) % 1_000_000
    )
}

/// A value of a field in flow style, with planted values in its sensitive fields.
fn sample(field: &Field, count: &mut usize, deep: usize) -> Option<String> {
    if field.sensitive && matches!(field.kind, Kind::String | Kind::Any) {
        *count += 1;
        return Some(planted(*count));
    }
    if let Some(allowed) = field.allowed.first() {
        return Some(allowed.to_string());
    }
    Some(match &field.kind {
        Kind::Any | Kind::String => {
            let least = usize::try_from(field.constraint.min_length.unwrap_or(1)).ok()?;
            let most = usize::try_from(field.constraint.max_length.unwrap_or(1_000)).ok()?;
            let text = match &field.constraint.pattern {
                Some(pattern) if pattern.contains("arn") => {
                    "arn:aws:iam::123456789012:role/plain".to_owned()
                }
                _ => "plain".to_owned(),
            };
            format!(
                "\"{}\"",
                format!("{text}{}", "n".repeat(least.saturating_sub(text.len())))
                    .get(..most.min(64))
                    .unwrap_or("plain")
            )
        }
        Kind::Integer => format!("{}", field.constraint.min.unwrap_or(1.0) as i64),
        Kind::Float => format!("{:?}", field.constraint.min.unwrap_or(1.0)),
        Kind::Boolean => "true".to_owned(),
        Kind::Array(item) => {
            let items = usize::try_from(field.constraint.min_items.unwrap_or(1))
                .ok()?
                .clamp(1, 3);
            let items: Option<Vec<String>> =
                (0..items).map(|_| sample(item, count, deep + 1)).collect();
            format!("[{}]", items?.join(", "))
        }
        Kind::Map(value) => format!("{{k: {}}}", sample(value, count, deep + 1)?),
        Kind::Object(schema) => object(schema, count, deep + 1)?,
        Kind::Union(branches) => sample(branches.first()?, count, deep + 1)?,
    })
}

/// The required and the sensitive fields of an object.
fn object(schema: &Schema, count: &mut usize, deep: usize) -> Option<String> {
    let mut entries = Vec::new();
    for (name, field) in &schema.fields {
        let settable = !field.computed || field.optional;
        if settable && (field.required || deep < 4 && has_sensitive(field, deep)) {
            entries.push(format!("{name}: {}", sample(field, count, deep)?));
        }
    }
    Some(format!("{{{}}}", entries.join(", ")))
}

fn has_sensitive(field: &Field, deep: usize) -> bool {
    if field.computed && !field.optional || deep > 4 {
        return false;
    }
    field.sensitive
        || match &field.kind {
            Kind::Array(inner) | Kind::Map(inner) => has_sensitive(inner, deep + 1),
            Kind::Object(schema) => schema
                .fields
                .values()
                .any(|field| has_sensitive(field, deep + 1)),
            Kind::Union(branches) => branches
                .first()
                .is_some_and(|branch| has_sensitive(branch, deep + 1)),
            _ => false,
        }
}

/// A resource in YAML of each type with a writable sensitive field.
fn resources(harness: &Harness) -> Vec<(String, String)> {
    let mut count = 0;
    let mut found = Vec::new();
    let names: Vec<String> = harness
        .catalogs
        .resource_type_names()
        .map(str::to_owned)
        .collect();
    for name in names {
        let TypeRef::Known(ty) = harness.catalogs.resource_type(&name.as_str().into()) else {
            continue;
        };
        if !ty
            .schema
            .fields
            .values()
            .any(|field| has_sensitive(field, 1))
        {
            continue;
        }
        // The first of several alternatives is taken.
        if let Some(spec) = object(&ty.schema, &mut count, 1) {
            found.push((name, spec));
        }
    }
    found
}

#[test]
fn sensitive_fields_of_catalogues_show_nowhere() {
    run_with_paused_clock(async {
        let new = || Harness::new(std::path::PathBuf::from("/nowhere"), catalogues());
        let all = resources(&new());
        assert!(
            all.len() > 70,
            "{} types take something sensitive",
            all.len()
        );
        let mut planned = 0;
        for some in all.chunks(AT_ONCE) {
            let mut text = String::from("version: 2025-11-02\nresources:\n");
            let mut kept = 0;
            for (at, (name, spec)) in some.iter().enumerate() {
                let one = format!("  r{at}: {{ type: {name}, spec: {spec} }}\n");
                // Types are left out if the sample values do not fit their limits.
                let alone = stage(&new(), &format!("version: 2025-11-02\nresources:\n{one}")).await;
                if alone.staged.is_some() {
                    let _ = write!(text, "{one}");
                    kept += 1;
                }
            }
            if kept > 0 {
                assert_no_secret_shown(&new(), &text).await;
            }
            planned += kept;
        }
        assert!(
            planned * 2 > all.len(),
            "only {planned} of {} types could be planned",
            all.len()
        );
    });
}

async fn assert_no_secret_shown(harness: &Harness, text: &str) {
    let shows = |place: &str, said: &str| {
        let at = said
            .match_indices("Mk0")
            .find(|(at, _)| said[*at..].get(8..13) == Some("Vault"));
        if let Some((at, _)) = at {
            let around: String = said
                .chars()
                .skip(said[..at].chars().count().saturating_sub(160))
                .take(260)
                .collect();
            panic!("something sensitive shows in {place}: ..{around}..");
        }
    };
    let stage = stage(harness, text).await;
    let staged = stage.staged.expect("each of them could be planned");
    assert!(
        staged.plan.secret,
        "the plan does not know that it holds a secret"
    );
    shows("the steps of a plan", &format!("{:?}", staged.plan.steps));
    shows(
        "a plan file",
        &plan_file::write(&staged.plan, &Sealer::with_key([7; 32])).expect("there is a key"),
    );
    let run = harness
        .run(staged, false, Vec::new(), settings(Some(8), true))
        .await;
    shows(
        "the events",
        &serde_json::to_string(&run.events).expect("events are JSON"),
    );
    for found in run
        .outcome()
        .into_iter()
        .flat_map(|outcome| outcome.diagnostics.iter())
    {
        shows("a diagnostic", &format!("{found:?}"));
    }
    let snapshot = harness.snapshot().await;
    assert!(!snapshot.records.is_empty(), "nothing was made");
    shows("the state", &format!("{snapshot:?}"));
    let exported = Exported::of(&harness.name, &snapshot)
        .write(&Sealer::with_key([7; 32]))
        .expect("there is a key");
    shows("an exported state", &exported);
}
