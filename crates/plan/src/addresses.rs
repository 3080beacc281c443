//! The addresses that a user names: which resources they cover, and whether these resources exist.

use blueprint::{Address, IndexMap, LinkName, Name};
use diag::{Diagnostic, Diagnostics};
use state::Snapshot;
use understand::documents::Documents;

use crate::codes;
use crate::draft::Draft;
use crate::model::AddressSet;
use crate::options::{Options, StateEdit};

/// The addresses that a user named. A template covers all its members, a child document everything
/// in it, a link all its parts.
pub struct SelectedAddresses {
    all: AddressSet,
}

impl SelectedAddresses {
    /// Creates the selection from the addresses that a user gave.
    pub fn new(addresses: &[Address]) -> SelectedAddresses {
        SelectedAddresses {
            all: addresses.iter().cloned().collect(),
        }
    }

    /// Whether no address is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the address, or an element that contains it, is named.
    pub fn covers(&self, address: &Address) -> bool {
        if self.all.is_empty() {
            return false;
        }
        ancestors(address).any(|one| self.all.contains(&one))
    }

    /// Reports `unknown-address` for each named address that is neither in the document nor in the
    /// state.
    pub(crate) fn refuse_unknown(
        &self,
        draft: &Draft,
        snapshot: &Snapshot,
        documents: Option<&Documents>,
        more: &[Name],
        found: &mut Diagnostics,
    ) {
        if self.all.is_empty() {
            return;
        }
        let mut known = AddressSet::default();
        let decided = draft.decisions.iter().map(|decision| &decision.address);
        for address in decided.chain(&draft.absent).chain(snapshot.records.keys()) {
            known.extend(ancestors(address));
        }
        for unit in documents.into_iter().flat_map(Documents::units) {
            let blueprint = unit.blueprint();
            known.extend(
                blueprint
                    .resources
                    .keys()
                    .chain(blueprint.children.keys())
                    .map(|name| unit.address(name)),
            );
        }
        known.extend(more.iter().cloned().map(Address::root));
        for address in self.all.iter().filter(|address| !known.contains(*address)) {
            let shown = address.to_string();
            let names: Vec<String> = known.iter().map(ToString::to_string).collect();
            found.push(
                codes::UNKNOWN_ADDRESS
                    .new(format!(
                        "there is no `{shown}`, neither in the document nor in the state"
                    ))
                    .help(help_for_address(&shown, &names)),
            );
        }
    }
}

/// Reports `import-failed` for each of these addresses that is declared, but whose condition, or
/// the condition of a child document around it, is false.
pub(crate) fn refuse_absent(
    importing: &[Address],
    draft: &Draft,
    documents: Option<&Documents>,
    found: &mut Diagnostics,
) {
    let off = |address: &Address| draft.absent.contains(address);
    for address in importing
        .iter()
        .filter(|address| ancestors(address).any(|one| off(&one)))
    {
        let span = documents.and_then(|documents| {
            let unit = documents
                .units()
                .iter()
                .find(|unit| unit.path[..] == address.path[..])?;
            Some(
                unit.blueprint()
                    .resources
                    .get(&address.name)?
                    .condition
                    .as_ref()?
                    .span,
            )
        });
        let diagnostic = codes::IMPORT_FAILED.new(format!(
            "`{address}` cannot be imported: its condition is false"
        ));
        let diagnostic = span.map_or(diagnostic.clone(), |span| {
            diagnostic.label(span, "false with the inputs of the instance")
        });
        found.push(diagnostic.help("change the inputs or the condition first, then import it"));
    }
}

/// Replaces names for plugins, which a user may write instead of addresses, by the addresses of the
/// records or of the declared resources that have them. A name that nothing has stays, and is then
/// reported as an unknown address.
pub(crate) fn resolve_urns(
    options: &mut Options,
    snapshot: &Snapshot,
    documents: Option<&Documents>,
    instance: &str,
) {
    let Options {
        targets,
        excluded,
        replace,
        renew,
        undone,
        forgotten,
        adopted,
        until,
        state_edit,
        ..
    } = options;
    let adopted = adopted.iter_mut().map(|adoption| &mut adoption.address);
    let edited: Vec<&mut Address> = match state_edit {
        Some(StateEdit::Move(pairs)) => pairs.iter_mut().map(|(from, _)| from).collect(),
        Some(StateEdit::Remove(named) | StateEdit::Unprotect(named)) => named.iter_mut().collect(),
        _ => Vec::new(),
    };
    let lists = [targets, excluded, replace, renew, undone, forgotten];
    let named = lists.into_iter().flatten().chain(adopted).chain(edited);
    let mut named: Vec<&mut Address> = named
        .chain(until)
        .filter(|address| address.as_urn().is_some())
        .collect();
    if named.is_empty() {
        return;
    }
    let recorded = snapshot.records.iter();
    let mut by_urn: IndexMap<Name, Address> = recorded
        .map(|(address, record)| (record.origin.urn.clone(), address.clone()))
        .collect();
    for unit in documents.into_iter().flat_map(Documents::units) {
        for (name, resource) in &unit.blueprint().resources {
            let urn = documents.map(|all| all.urn_of(unit, name, resource, instance));
            if let Some(urn) = urn {
                by_urn.entry(urn).or_insert_with(|| unit.address(name));
            }
        }
    }
    for address in &mut named {
        if let Some(found) = address.as_urn().and_then(|urn| by_urn.get(urn)) {
            **address = found.clone();
        }
    }
}

/// The address itself and the addresses that contain it, from the inside out.
fn ancestors(address: &Address) -> impl Iterator<Item = Address> + use<> {
    let mut all = vec![address.clone()];
    match &address.link {
        Some(link) if link.part.is_some() => all.push(address.clone().with_link(LinkName {
            part: None,
            ..(**link).clone()
        })),
        None if address.key.is_some() => all.push(element_of(address)),
        _ => {}
    }
    let children = (0..address.path.len()).rev();
    all.extend(
        children.map(|depth| Address::inside(&address.path[..depth], address.path[depth].clone())),
    );
    all.into_iter()
}

/// The declared element that the resource at an address belongs to.
pub(crate) fn element_of(address: &Address) -> Address {
    Address::inside(&address.path, address.name.clone())
}

/// The diagnostic `unknown-address` for an address that is not in the state.
pub(crate) fn unknown_in_state(address: &Address, snapshot: &Snapshot) -> Diagnostic {
    let shown = address.to_string();
    let names: Vec<String> = snapshot.records.keys().map(ToString::to_string).collect();
    codes::UNKNOWN_ADDRESS
        .new(format!("there is no `{shown}` in the state"))
        .help(help_for_address(&shown, &names))
}

/// The advice for an unknown address, from those that exist. An address has no section in front,
/// unlike a reference in a document: `resources.NAME`.
pub fn help_for_address(shown: &str, existing: &[String]) -> String {
    let exists = |name: &str| existing.iter().any(|existing| existing == name);
    let name = shown.rsplit_once('.').map(|(_, name)| name);
    if let Some(name) = name.filter(|name| exists(name)) {
        return format!("write `{name}`");
    }
    let existing: Vec<&str> = existing.iter().map(String::as_str).collect();
    diag::help_for_unknown(shown, &existing, "`cyan show` lists the resources")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_child_and_link_cover_their_contents() {
        let covers = |named: &str, address: &str| {
            SelectedAddresses::new(&[named.parse().unwrap()])
                .covers(&address.parse::<Address>().unwrap())
        };
        assert!(covers("r", "r") && covers("r", "r[1]") && covers("r[1]", "r[1]"));
        assert!(!covers("r[1]", "r[0]") && !covers("r[1]", "r") && !covers("r", "rr"));
        assert!(
            covers("core", "core/r[0]")
                && covers("core/deep", "core/deep/r")
                && !covers("core/deep", "core/r")
        );
        assert!(covers("a::b", "a::b/grant") && !covers("a", "a::b/grant"));
    }
}
