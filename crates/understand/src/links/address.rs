//! Addresses of links, and of their parts and phases.

use blueprint::{Address, Key, LinkName, Name};

/// The address of a part or phase of a link.
pub fn part_of(link: &Address, part: &Name) -> Address {
    match &link.link {
        Some(name) => link.clone().with_link(LinkName {
            part: Some(part.clone()),
            ..LinkName::clone(name)
        }),
        None => link.clone(),
    }
}

/// The addresses of the two ends of a link, or of a part or phase of one.
pub fn ends_of(address: &Address) -> Option<[Address; 2]> {
    let link = address.link.as_ref()?;
    let end = |name: &Name, key: &Option<Key>| {
        let end = Address::inside(&address.path, name.clone());
        match key {
            Some(key) => end.with_key(key.clone()),
            None => end,
        }
    };
    Some([end(&address.name, &address.key), end(&link.b, &link.b_key)])
}

/// Whether an address names a link as a whole.
pub fn is_link(address: &Address) -> bool {
    address
        .link
        .as_ref()
        .is_some_and(|link| link.part.is_none())
}

/// The link that a part or phase belongs to.
pub fn link_of(address: &Address) -> Option<Address> {
    let link = address.link.as_ref().filter(|link| link.part.is_some())?;
    Some(address.clone().with_link(LinkName {
        part: None,
        ..LinkName::clone(link)
    }))
}

/// The resource's name in the text for an instance: `fns` of `fns[0]`.
pub fn plain_name(text: &str) -> &str {
    match text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once('['))
    {
        Some((name, _)) => name,
        None => text,
    }
}
