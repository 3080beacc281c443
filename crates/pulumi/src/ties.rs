//! The options that tie a resource to other resources and to former identities: `aliases`,
//! `deletedWith`, `replaceWith`, `hideDiffs` (decisions/pulumi#aliases).

use blueprint::{FormerIdentity, FormerParent, Name, Ties};
use syntax::Node;

use crate::lowering::{ProgramLowering, SectionFields};
use crate::read::{is_null, text, value_span, wrong_shape};
use crate::shape;
use dialect::codes::WRONG_SHAPE;

/// The beginning of a URN.
const URN: &str = "urn:";

impl ProgramLowering<'_> {
    /// Reads the ties in the options of a resource; `None` if there are none.
    pub(crate) fn ties(&mut self, fields: &SectionFields<'_>) -> Option<Box<Ties>> {
        let mut ties = Ties::default();
        if let Some(node) = fields.written("aliases") {
            ties.former = self.former_identities(node);
        }
        ties.deleted_with = fields
            .written("deletedWith")
            .and_then(|node| self.named_resource(node, "`deletedWith`"));
        if let Some(node) = fields.written("replaceWith") {
            ties.replaced_with = match node.as_list() {
                Some(_) => self.named_resources(node, "`replaceWith`"),
                None => {
                    wrong_shape(node, "`replaceWith`", "a list", &mut self.found);
                    Vec::new()
                }
            };
        }
        if let Some(node) = fields.written("hideDiffs") {
            let paths = self.fixed_texts(node, "`hideDiffs`");
            ties.hidden = paths.iter().map(|path| Name::from(path.item)).collect();
        }
        (!ties.is_empty()).then(|| Box::new(ties))
    }

    /// The former identities of a resource: URNs, former names, or parts of identities.
    fn former_identities(&mut self, node: &Node) -> Vec<FormerIdentity> {
        let Some(items) = node.as_list() else {
            wrong_shape(node, "`aliases`", "a list", &mut self.found);
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items {
            if let Some(text) = text(item).filter(|text| !text.contains("${")) {
                let (urn, name) = match text.starts_with(URN) {
                    true => (Some(text.into()), None),
                    false => (None, Some(text.into())),
                };
                all.push(FormerIdentity {
                    urn,
                    name,
                    ..FormerIdentity::default()
                });
                continue;
            }
            all.extend(self.former_identity(item));
        }
        all
    }

    fn former_identity(&mut self, node: &Node) -> Option<FormerIdentity> {
        let fields = self.fields(&shape::ALIAS, node, "an alias")?;
        self.unknown_keys(&shape::ALIAS, &fields.others);
        let mut part = |name: &str| {
            let node = fields.written(name)?;
            let written = self.fixed_text(node, &format!("`{name}`"))?;
            Some(Name::from(written.item))
        };
        let mut identity = FormerIdentity {
            urn: part("urn"),
            name: part("name"),
            type_name: part("type"),
            instance: part("stack"),
            project: part("project"),
            parent: FormerParent::Same,
        };
        let no_parent = match fields.written("noParent") {
            Some(node) => self.switch(node, "`noParent`").unwrap_or(false),
            None => false,
        };
        let parent = fields.entry("parent").filter(|entry| !is_null(entry.value));
        if no_parent {
            if let Some(parent) = parent {
                self.found.push(
                    WRONG_SHAPE
                        .new("an alias has `parent` or `noParent`, not both")
                        .label(parent.key.span, "`noParent` is true"),
                );
            }
            identity.parent = FormerParent::None;
            return Some(identity);
        }
        if let Some(parent) = parent {
            identity.parent = match text(parent.value).filter(|text| text.starts_with(URN)) {
                Some(urn) => FormerParent::Urn(urn.into()),
                None => {
                    let named = self.named_resource(parent.value, "`parent`")?;
                    FormerParent::Resource(named)
                }
            };
        }
        if identity == FormerIdentity::default() {
            self.found.push(
                WRONG_SHAPE
                    .new("an alias says in what the former identity differs")
                    .label(value_span(node), "nothing differs")
                    .help("name one of `urn`, `name`, `type`, `parent`, `noParent`, `stack` and `project`"),
            );
        }
        Some(identity)
    }
}
