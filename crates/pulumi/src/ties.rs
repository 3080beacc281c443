//! The options that tie a resource to other resources and to former identities: `aliases`,
//! `deletedWith`, `replaceWith`, `hideDiffs` (decisions/pulumi#aliases).

use blueprint::{FormerIdentity, FormerParent, Name, Ties};
use diag::Severity;
use syntax::Node;

use crate::access::has_access;
use crate::computed::{ComputedSettings, FormerPart, Setting, URN};
use crate::lowering::{NamedKind, ProgramLowering, SectionFields};
use crate::read::{is_null, text, value_span, wrong_shape};
use crate::shape;
use dialect::codes::WRONG_SHAPE;

impl ProgramLowering<'_> {
    /// Reads the ties in the options of a resource; `None` if there are none.
    pub(crate) fn ties(
        &mut self,
        fields: &SectionFields<'_>,
        computed: &mut ComputedSettings,
    ) -> Option<Box<Ties>> {
        let mut ties = Ties::default();
        if let Some(node) = fields.written("aliases") {
            ties.former = self.former_identities(node, computed);
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
    fn former_identities(
        &mut self,
        node: &Node,
        computed: &mut ComputedSettings,
    ) -> Vec<FormerIdentity> {
        let Some(items) = node.as_list() else {
            wrong_shape(node, "`aliases`", "a list", &mut self.found);
            return Vec::new();
        };
        let mut all = Vec::new();
        for item in items.iter().filter(|item| !is_null(item)) {
            let at = all.len();
            match text(item) {
                Some(written) if has_access(written) => {
                    if self.is_declared_urn(item, written) {
                        continue;
                    }
                    let identity = self.expr(item);
                    computed.push((Setting::Former(at, FormerPart::Any), identity));
                    all.push(FormerIdentity::default());
                }
                Some(written) => {
                    let mut identity = FormerIdentity::default();
                    FormerPart::Any.set(&mut identity, written);
                    all.push(identity);
                }
                None => all.extend(self.former_identity(item, at, computed)),
            }
        }
        all
    }

    /// Whether an alias is the URN of a resource of the program, which is reported: it is no former
    /// URN of another one.
    fn is_declared_urn(&mut self, item: &Node, written: &str) -> bool {
        let access = written
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix(".urn}"));
        let kind = access.and_then(|name| self.names.get(name));
        let is_declared = kind
            .is_some_and(|named| matches!(named.kind, NamedKind::Resource | NamedKind::Provider));
        if is_declared {
            self.found.push(
                WRONG_SHAPE
                    .new("an alias is the URN of a resource that the program declares")
                    .label(
                        value_span(item),
                        "has no effect: the resource keeps its object",
                    )
                    .with_severity(Severity::Warning),
            );
        }
        is_declared
    }

    fn former_identity(
        &mut self,
        node: &Node,
        at: usize,
        computed: &mut ComputedSettings,
    ) -> Option<FormerIdentity> {
        let fields = self.fields(&shape::ALIAS, node, "an alias")?;
        self.unknown_keys(&shape::ALIAS, &fields.others);
        let mut identity = FormerIdentity::default();
        let mut is_computed = false;
        for part in FormerPart::NAMED {
            let Some(node) = fields.written(part.key()) else {
                continue;
            };
            if text(node).is_some_and(has_access) {
                is_computed = true;
                let value = self.expr(node);
                computed.push((Setting::Former(at, part), value));
            } else if let Some(written) = self.fixed_text(node, &format!("`{}`", part.key())) {
                part.set(&mut identity, written.item);
            }
        }
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
        if identity == FormerIdentity::default() && !is_computed {
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
