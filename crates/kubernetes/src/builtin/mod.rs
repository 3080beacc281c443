//! The kinds that every server has, and their schemas, for checks without a server.
//!
//! `SCHEMAS.md` in this folder describes the form of `schemas.bin`. Opening it reads only its
//! index; the schemas of a group and version are unpacked when one of them is used.

use std::io::Read as _;
use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name};
use flate2::read::DeflateDecoder;
use serde::Deserialize;

use crate::schema::{ObjectSchema, SchemaDocument};
use crate::{ApiVersion, GroupKind, KindInfo};

static SCHEMAS: &[u8] = include_bytes!("schemas.bin");

/// The first bytes of the file.
const MARK: &[u8] = b"cyank8s1";

/// The largest unpacked part that is read, in bytes.
const LARGEST: u64 = 1 << 24;

/// The kinds that every server has.
#[derive(Debug)]
pub struct Builtin {
    kubernetes: Name,
    kinds: IndexMap<GroupKind, KindInfo>,
    blocks: IndexMap<ApiVersion, SchemaBlock>,
}

/// The packed schemas of a group and version, and the document after unpacking.
#[derive(Debug)]
struct SchemaBlock {
    packed: &'static [u8],
    document: OnceLock<Option<SchemaDocument>>,
}

/// The index of the file.
#[derive(Deserialize)]
struct BlockIndex {
    kubernetes: Name,
    kinds: Vec<KindInfo>,
    /// Group, version, number of packed bytes.
    blocks: Vec<(Name, Name, usize)>,
}

/// The kinds that every server has. Nothing is unpacked until it is used.
pub fn builtin() -> &'static Builtin {
    static BUILTIN: OnceLock<Builtin> = OnceLock::new();
    BUILTIN.get_or_init(|| Builtin::open(SCHEMAS).expect("a test opens the file of this program"))
}

impl Builtin {
    /// Reads the index of a file. `None` if the file has another form.
    fn open(bytes: &'static [u8]) -> Option<Builtin> {
        let (length, bytes) = bytes.strip_prefix(MARK)?.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (index, mut rest) = bytes.split_at_checked(length)?;
        let index: BlockIndex = serde_json::from_str(&unpacked(index)?).ok()?;
        let mut blocks = IndexMap::default();
        for (group, version, length) in index.blocks {
            let (packed, after) = rest.split_at_checked(length)?;
            rest = after;
            let block = SchemaBlock {
                packed,
                document: OnceLock::new(),
            };
            blocks.insert(ApiVersion { group, version }, block);
        }
        let kinds = index
            .kinds
            .into_iter()
            .map(|info| (info.kind.clone(), info));
        rest.is_empty().then(|| Builtin {
            kubernetes: index.kubernetes,
            kinds: kinds.collect(),
            blocks,
        })
    }

    /// The version of Kubernetes that has these kinds, such as `v1.35.4`.
    pub fn kubernetes(&self) -> &str {
        &self.kubernetes
    }

    /// All kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &KindInfo> {
        self.kinds.values()
    }

    /// A kind; `None` if not every server has it.
    pub fn kind(&self, kind: &GroupKind) -> Option<&KindInfo> {
        self.kinds.get(kind)
    }

    /// The type of a kind in a version, or in the preferred one. `None` if not every server has it.
    /// Each call makes the type anew.
    pub fn object_schema(&self, kind: &GroupKind, version: Option<&str>) -> Option<ObjectSchema> {
        let info = self.kind(kind)?;
        let version = match version {
            Some(version) => info.versions.iter().find(|own| ***own == *version)?,
            None => info.versions.first()?,
        };
        let document = self.document(&ApiVersion {
            group: kind.group.clone(),
            version: version.clone(),
        })?;
        let mut schema = document.object_schema(kind, version)?;
        if !info.is_managed() {
            Arc::make_mut(&mut schema.resource_type)
                .capabilities
                .described_only = true;
        }
        Some(schema)
    }

    /// The schemas of a group and version, as an OpenAPI document has them: names and texts in JSON.
    /// Nothing if not every server has the version. The schemas of `metadata` and of quantities are
    /// referred to and not among them.
    pub fn schema_texts(&self, version: &ApiVersion) -> impl Iterator<Item = (&str, &str)> {
        let document = self.document(version).into_iter();
        document.flat_map(SchemaDocument::schema_texts)
    }

    /// The schemas of a group and version. `None` if not every server has it.
    fn document(&self, version: &ApiVersion) -> Option<&SchemaDocument> {
        let block = self.blocks.get(version)?;
        let document = block
            .document
            .get_or_init(|| SchemaDocument::parse(&unpacked(block.packed)?).ok());
        document.as_ref()
    }
}

fn unpacked(packed: &[u8]) -> Option<String> {
    let mut text = String::new();
    let mut reader = DeflateDecoder::new(packed).take(LARGEST);
    reader.read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use blueprint::Kind;

    use super::*;
    use crate::schema::ListForm;

    fn kind(text: &str) -> GroupKind {
        text.parse().unwrap()
    }

    fn schema(text: &str) -> ObjectSchema {
        builtin().object_schema(&kind(text), None).unwrap()
    }

    #[test]
    fn the_file_is_whole_and_every_managed_kind_has_a_type() {
        let builtin = builtin();
        assert!(builtin.kubernetes().starts_with("v1."));
        let mut managed = 0;
        for info in builtin.kinds().filter(|info| info.is_managed()) {
            for version in &info.versions {
                let schema = builtin.object_schema(&info.kind, Some(version));
                let ty = schema
                    .unwrap_or_else(|| panic!("{}", info.kind))
                    .resource_type;
                assert_eq!(ty.name.to_string(), *info.kind.type_name());
                assert!(!ty.schema.open && !ty.capabilities.described_only);
                managed += 1;
            }
        }
        assert!(managed > 40, "{managed}");
    }

    #[test]
    fn kinds_are_found_without_a_server() {
        let info = builtin().kind(&kind("apps/Deployment")).unwrap();
        assert_eq!(
            (
                &*info.plural,
                info.is_namespaced,
                info.api_version().to_string()
            ),
            ("deployments", true, "apps/v1".to_owned())
        );
        let space = builtin().kind(&kind("core/Namespace")).unwrap();
        assert!(!space.is_namespaced && space.can("patch"));
        let scaler = builtin()
            .kind(&kind("autoscaling/HorizontalPodAutoscaler"))
            .unwrap();
        assert_eq!(scaler.versions, ["v2".into(), "v1".into()]);
        assert!(builtin().kind(&kind("shop.io/Till")).is_none());
        assert!(
            builtin()
                .object_schema(&kind("apps/Deployment"), Some("v9"))
                .is_none()
        );
        let review = kind("authorization.k8s.io/SubjectAccessReview");
        let review = builtin().object_schema(&review, None).unwrap();
        assert!(review.resource_type.capabilities.described_only);
    }

    #[test]
    fn secrets_are_sensitive() {
        let ty = schema("core/Secret").resource_type;
        assert!(ty.field("data").unwrap().sensitive && ty.field("stringData").unwrap().sensitive);
        assert!(!ty.field("type").unwrap().sensitive);
        assert!(
            !schema("core/ConfigMap")
                .resource_type
                .field("data")
                .unwrap()
                .sensitive
        );
    }

    #[test]
    fn nested_fields_have_kinds_and_forms() {
        let deployment = schema("apps/Deployment");
        let mut field = deployment.resource_type.field("spec").unwrap();
        for name in ["template", "spec", "containers"] {
            let Kind::Object(schema) = &field.kind else {
                panic!("`{name}` is in an object")
            };
            field = schema.fields.get(name).unwrap();
        }
        assert!(field.required);
        assert_eq!(field.keyed_by.as_deref(), Some("name"));
        let forms = |path: &str| deployment.forms.at(&path.into());
        let list = |path: &str| forms(path).and_then(|forms| forms.list.clone());
        let containers = "spec.template.spec.containers";
        assert_eq!(list(containers), Some(ListForm::Map(vec!["name".into()])));
        assert_eq!(
            list(&format!("{containers}[0].ports")),
            Some(ListForm::Map(vec![
                "containerPort".into(),
                "protocol".into()
            ]))
        );
        assert_eq!(
            list(&format!("{containers}[0].args")),
            Some(ListForm::Atomic)
        );
        let limit = format!(r#"{containers}[0].resources.limits["cpu"]"#);
        assert!(forms(&limit).unwrap().is_quantity);
        // A schema that contains itself ends.
        let definition = schema("apiextensions.k8s.io/CustomResourceDefinition");
        assert!(definition.resource_type.field("spec").unwrap().required);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        assert!(Builtin::open(b"cyank8s1").is_none());
        assert!(Builtin::open(b"other").is_none());
        assert!(Builtin::open(&SCHEMAS[..SCHEMAS.len() - 1]).is_none());
    }
}
