//! Helpers of the tests of the checks: from a text to diagnostics, with the catalogue of the
//! conformance pack.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use diag::{Diagnostics, Files};
use expr::FunctionTable;
use provider::{Catalog, Catalogs};
use understand::check;

/// The folder of the conformance pack.
pub(crate) fn conformance() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/blueprint")
}

/// The catalogue of the pack, and the catalogues below.
pub(crate) fn catalogs() -> &'static (Catalogs, FunctionTable) {
    static CATALOGS: OnceLock<(Catalogs, FunctionTable)> = OnceLock::new();
    CATALOGS.get_or_init(|| {
        let text = std::fs::read_to_string(conformance().join("catalog.json"))
            .expect("the pack has a catalogue");
        let catalog: Arc<Catalog> =
            Arc::new(provider::read_catalog(&text).expect("the catalogue of the pack is sound"));
        let acme = provider::read_catalog(ACME).expect("the catalogue below is sound");
        let cyan = provider::read_catalog(CYAN).expect("the catalogue below is sound");
        let (catalogs, functions, wrong) =
            provider::combine([catalog, Arc::new(acme), Arc::new(cyan)]);
        assert!(wrong.is_empty(), "{wrong:?}");
        (catalogs, functions)
    })
}

/// Types that the catalogue of the pack does not have.
const ACME: &str = r#"{
    "format": 1,
    "namespace": "acme",
    "resourceTypes": {
        "acme/shop": {
            "idField": "id",
            "annotations": [
                { "key": "acme.shop.size", "type": "integer", "required": true },
                { "key": "acme.shop.kind", "type": "string", "allowed": ["corner", "mall"] }
            ],
            "fields": {
                "name": { "kind": "string" },
                "id": { "kind": "string", "computed": true, "value": "{hash}" }
            }
        }
    },
    "dataSourceTypes": {
        "acme/file": {
            "filter": { "path": { "type": "string" }, "kind": { "type": "string" } },
            "required": ["path"],
            "fields": { "text": { "kind": "string" } }
        }
    },
    "functions": {
        "acme_find": {
            "named": true,
            "parameters": [
                { "name": "name", "type": "string" },
                { "name": "most", "type": "integer", "optional": true }
            ],
            "fields": {
                "size": { "kind": "integer" },
                "key": { "kind": "string", "sensitive": true }
            }
        },
        "acme_sum": {
            "parameters": [{ "name": "text", "type": "string" }, { "name": "number", "type": "integer" }],
            "returns": "integer"
        }
    }
}"#;

/// The type of configurations of providers, which the checks know by name.
const CYAN: &str = r#"{
    "format": 1,
    "namespace": "cyan",
    "resourceTypes": {
        "cyan/provider": {
            "idField": "id",
            "fields": {
                "namespace": { "kind": "string", "required": true },
                "settings": { "kind": "map", "values": { "kind": "any" } },
                "id": { "kind": "string", "computed": true }
            }
        }
    }
}"#;

/// The kinds of sources in the language reference.
static KINDS: [source::SourceKind; 4] = [
    kind("https", &[key("host")]),
    kind("aws/s3", &[key("bucket"), key("region")]),
    kind("googlecloud/storage", &[key("bucket")]),
    kind("azure/blob", &[key("container")]),
];

const fn kind(name: &'static str, keys: &'static [source::SourceKey]) -> source::SourceKind {
    source::SourceKind {
        name,
        about: "",
        schemes: &[],
        keys,
    }
}

const fn key(name: &'static str) -> source::SourceKey {
    source::SourceKey {
        name,
        required: true,
        about: "",
    }
}

/// A checked document.
pub(crate) struct Checked {
    /// `code SEVERITY line:column` of each diagnostic.
    pub(crate) found: Vec<String>,
    /// The diagnostics.
    pub(crate) diagnostics: Diagnostics,
    /// The result of the check.
    pub(crate) checked: understand::check::Checked,
    /// The texts.
    pub(crate) files: Files,
}

/// Reads, lowers and checks a document.
pub(crate) fn check_text(name: &str, text: &str) -> Checked {
    check_including(Files::new(), name, text, &[])
}

/// Like [`check_text`], for a document with its children, by position. The text becomes the last of
/// the files.
pub(crate) fn check_including(
    mut files: Files,
    name: &str,
    text: &str,
    children: &[Option<check::Included>],
) -> Checked {
    let (catalogs, functions) = catalogs();
    let file = files.add(name, text);
    let (tree, mut diagnostics) = syntax::parse(file, text, syntax::Format::of_name(name));
    let context = dialect::LoadContext::NONE;
    let document = dialect::Document::new(file, name, text, std::slice::from_ref(&tree), &context);
    let dialects = testkit::dialects();
    let dialect = dialects
        .detect(&document)
        .or_else(|| dialects.get("blueprint"))
        .expect("it is installed");
    let lowered = dialect.lower(&document, functions, catalogs.packages());
    diagnostics.append(lowered.diagnostics);
    let kinds: Vec<&'static source::SourceKind> = KINDS.iter().collect();
    let blueprint = Arc::new(lowered.blueprint);
    let context = check::CheckContext {
        kinds: Some(&kinds),
        ..check::CheckContext::new(catalogs, functions, dialect.rules())
    };
    let checked = check::check_with(blueprint, children, &context, &mut diagnostics);
    let found = diagnostics
        .iter()
        .map(|diagnostic| {
            let severity = &diagnostic.severity.word()[..1].to_uppercase();
            let span = diagnostic.span();
            let position = files.get(span.file).map(|file| file.position(span.start));
            let position =
                position.map_or(String::new(), |at| format!(" {}:{}", at.line, at.column));
            format!("{} {severity}{position}", diagnostic.code.name)
        })
        .collect();
    Checked {
        found,
        diagnostics,
        checked,
        files,
    }
}
