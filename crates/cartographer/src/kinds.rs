//! The eleven kinds of the group `carto.run` (decisions/cartographer#kinds): one table.
//!
//! Not here: their schemas (`definitions`); what is wrong with an object (`validation`).

use blueprint::Value;

/// The group of all kinds.
pub const GROUP: &str = "carto.run";

/// The only version of all kinds.
pub const VERSION: &str = "v1alpha1";

/// Group and version as an object names them.
pub const API_VERSION: &str = "carto.run/v1alpha1";

/// A kind of Cartographer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CartoKind {
    /// A blueprint for workloads.
    ClusterSupplyChain,
    /// A blueprint for deliverables.
    ClusterDelivery,
    /// A template whose object has a url and a revision.
    ClusterSourceTemplate,
    /// A template whose object has an image.
    ClusterImageTemplate,
    /// A template whose object has a configuration.
    ClusterConfigTemplate,
    /// A template whose object deploys a source and passes it on.
    ClusterDeploymentTemplate,
    /// A template whose object has no output.
    ClusterTemplate,
    /// A template of runnables.
    ClusterRunTemplate,
    /// An owner that supply chains select.
    Workload,
    /// An owner that deliveries select.
    Deliverable,
    /// An object that stamps a run template whenever its inputs change.
    Runnable,
}

/// What the kinds of a family have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KindFamily {
    /// Selects owners and lists resources.
    Blueprint,
    /// Is named by a resource of a blueprint.
    Template,
    /// Is named by a runnable.
    RunTemplate,
    /// Is selected by a blueprint.
    Owner,
    /// Names a run template.
    Runnable,
}

/// The fixed facts about a kind.
struct KindRow {
    kind: CartoKind,
    name: &'static str,
    plural: &'static str,
    short: &'static str,
    family: KindFamily,
}

const fn row(
    kind: CartoKind,
    name: &'static str,
    plural: &'static str,
    short: &'static str,
    family: KindFamily,
) -> KindRow {
    KindRow {
        kind,
        name,
        plural,
        short,
        family,
    }
}

/// One row for each kind, in the order of the variants.
#[rustfmt::skip]
const ROWS: [KindRow; 11] = [
    row(CartoKind::ClusterSupplyChain, "ClusterSupplyChain", "clustersupplychains", "csc", KindFamily::Blueprint),
    row(CartoKind::ClusterDelivery, "ClusterDelivery", "clusterdeliveries", "cd", KindFamily::Blueprint),
    row(CartoKind::ClusterSourceTemplate, "ClusterSourceTemplate", "clustersourcetemplates", "cst", KindFamily::Template),
    row(CartoKind::ClusterImageTemplate, "ClusterImageTemplate", "clusterimagetemplates", "cit", KindFamily::Template),
    row(CartoKind::ClusterConfigTemplate, "ClusterConfigTemplate", "clusterconfigtemplates", "cct", KindFamily::Template),
    row(CartoKind::ClusterDeploymentTemplate, "ClusterDeploymentTemplate", "clusterdeploymenttemplates", "cdt", KindFamily::Template),
    row(CartoKind::ClusterTemplate, "ClusterTemplate", "clustertemplates", "ct", KindFamily::Template),
    row(CartoKind::ClusterRunTemplate, "ClusterRunTemplate", "clusterruntemplates", "crt", KindFamily::RunTemplate),
    row(CartoKind::Workload, "Workload", "workloads", "wld", KindFamily::Owner),
    row(CartoKind::Deliverable, "Deliverable", "deliverables", "dlv", KindFamily::Owner),
    row(CartoKind::Runnable, "Runnable", "runnables", "run", KindFamily::Runnable),
];

impl CartoKind {
    /// All kinds: blueprints, templates, owners, runnables.
    pub const ALL: [CartoKind; 11] = {
        let mut all = [CartoKind::Runnable; 11];
        let mut at = 0;
        while at < all.len() {
            all[at] = ROWS[at].kind;
            at += 1;
        }
        all
    };

    fn row(self) -> &'static KindRow {
        &ROWS[self as usize]
    }

    /// The kind with a name such as `Workload`; `None` if the group has no such kind.
    pub fn of_name(name: &str) -> Option<CartoKind> {
        let row = ROWS.iter().find(|row| row.name == name)?;
        Some(row.kind)
    }

    /// The kind of an object; `None` if it is of another group or version.
    pub fn of(object: &Value) -> Option<CartoKind> {
        let text = |key: &str| object.get(key).and_then(Value::as_text);
        match text("apiVersion") {
            Some(API_VERSION) => CartoKind::of_name(text("kind")?),
            _ => None,
        }
    }

    /// The name, as objects state it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in paths of the API.
    pub fn plural(self) -> &'static str {
        self.row().plural
    }

    /// The name of one object, as commands take it.
    pub fn singular(self) -> String {
        self.name().to_ascii_lowercase()
    }

    /// The short name that commands take.
    pub fn short_name(self) -> &'static str {
        self.row().short
    }

    /// The family.
    pub fn family(self) -> KindFamily {
        self.row().family
    }

    /// Whether its objects are in namespaces.
    pub fn is_namespaced(self) -> bool {
        matches!(self.family(), KindFamily::Owner | KindFamily::Runnable)
    }

    /// Whether its objects have a status, which is a subresource.
    pub fn has_status(self) -> bool {
        !matches!(
            self.family(),
            KindFamily::Template | KindFamily::RunTemplate
        )
    }

    /// Whether it is in the category `all` of commands.
    pub fn is_in_all(self) -> bool {
        self.family() == KindFamily::Owner
    }

    /// The owners that a blueprint selects; `None` for another kind.
    pub fn owner(self) -> Option<CartoKind> {
        match self {
            CartoKind::ClusterSupplyChain => Some(CartoKind::Workload),
            CartoKind::ClusterDelivery => Some(CartoKind::Deliverable),
            _ => None,
        }
    }

    /// The blueprints that select an owner; `None` for another kind.
    pub fn blueprint(self) -> Option<CartoKind> {
        match self {
            CartoKind::Workload => Some(CartoKind::ClusterSupplyChain),
            CartoKind::Deliverable => Some(CartoKind::ClusterDelivery),
            _ => None,
        }
    }

    /// The kinds of templates that resources of a blueprint may name; none for another kind.
    pub fn templates(self) -> &'static [CartoKind] {
        match self {
            CartoKind::ClusterSupplyChain => &[
                CartoKind::ClusterSourceTemplate,
                CartoKind::ClusterImageTemplate,
                CartoKind::ClusterTemplate,
                CartoKind::ClusterConfigTemplate,
            ],
            CartoKind::ClusterDelivery => &[
                CartoKind::ClusterSourceTemplate,
                CartoKind::ClusterDeploymentTemplate,
                CartoKind::ClusterTemplate,
                CartoKind::ClusterConfigTemplate,
            ],
            _ => &[],
        }
    }

    /// The list of a resource that takes the outputs of a template, such as `sources`; `None` for
    /// a kind without such outputs.
    pub fn inputs_field(self) -> Option<&'static str> {
        match self {
            CartoKind::ClusterSourceTemplate => Some("sources"),
            CartoKind::ClusterImageTemplate => Some("images"),
            CartoKind::ClusterConfigTemplate => Some("configs"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, at);
            assert_eq!(CartoKind::of_name(row.kind.name()), Some(row.kind));
        }
    }

    #[test]
    fn an_object_of_another_group_has_no_kind() {
        let object = |version: &str| {
            Value::map([
                ("apiVersion", Value::from(version)),
                ("kind", Value::from("Workload")),
            ])
        };
        assert_eq!(
            CartoKind::of(&object(API_VERSION)),
            Some(CartoKind::Workload)
        );
        assert_eq!(CartoKind::of(&object("apps/v1")), None);
        assert_eq!(CartoKind::of(&Value::Null), None);
    }

    #[test]
    fn blueprints_and_owners_belong_together() {
        for kind in CartoKind::ALL {
            let is_blueprint = kind.family() == KindFamily::Blueprint;
            assert_eq!(kind.owner().is_some(), is_blueprint);
            assert_eq!(!kind.templates().is_empty(), is_blueprint);
            if let Some(owner) = kind.owner() {
                assert_eq!(owner.blueprint(), Some(kind));
            }
        }
    }
}
