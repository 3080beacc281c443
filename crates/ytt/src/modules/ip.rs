//! The module `ip`.

use std::net::IpAddr;

use blueprint::IndexMap;

use crate::halt::{Evaluated, fail};
use crate::heap::Heap;
use crate::native_call::NativeCall;
use crate::value::{StarValue, StructKind};

const ADDRESS: StructKind = StructKind::Opaque(
    "@ytt:ip.addr",
    "does not automatically encode (hint: use .string())",
);

const NETWORK: StructKind = StructKind::Opaque(
    "@ytt:ip.net",
    "does not automatically encode (hint: use .string())",
);

/// Calls a function.
///
/// # Errors
/// If the text is no address or network.
pub(super) fn call(heap: &Heap, function: &str, call: &NativeCall) -> Evaluated<StarValue> {
    match function {
        "parse_addr" => {
            call.exactly(1)?;
            let text = call.text(0)?;
            match parsed(text) {
                Some(address) => self::address(heap, address),
                None => fail(format!("invalid IP address: {text}")),
            }
        }
        "parse_cidr" => {
            call.exactly(1)?;
            let text = call.text(0)?;
            let Some((address, bits)) = network(text) else {
                return fail(format!("invalid CIDR address: {text}"));
            };
            let masked = masked(address, bits);
            let mut fields = IndexMap::default();
            let bound = vec![address_text(heap, masked)?];
            fields.insert("addr".into(), heap.native("ip.net_addr", bound)?);
            let bound = vec![heap.text(format!("{masked}/{bits}"))?];
            fields.insert("string".into(), heap.native("ip.bound_text", bound)?);
            let network = heap.structure(NETWORK, fields)?;
            heap.tuple(vec![self::address(heap, address)?, network])
        }
        "net_addr" => {
            call.exactly(0)?;
            let text = call.receiver().as_text();
            match text.and_then(|text| parsed(text)) {
                Some(address) => self::address(heap, address),
                None => fail("invalid IP address"),
            }
        }
        // The result was computed before.
        _ => {
            call.exactly(0)?;
            Ok(call.receiver().clone())
        }
    }
}

fn parsed(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

fn network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address = parsed(address)?;
    let is_plain = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let bits: u8 = bits.parse().ok().filter(|_| is_plain)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

/// An address; one of version 4 inside version 6 counts as version 4.
fn is_version_4(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address.to_ipv4_mapped().is_some(),
    }
}

fn address_text(heap: &Heap, address: IpAddr) -> Evaluated<StarValue> {
    match address {
        IpAddr::V6(inner) if is_version_4(address) => heap.text(inner.to_canonical().to_string()),
        address => heap.text(address.to_string()),
    }
}

fn address(heap: &Heap, address: IpAddr) -> Evaluated<StarValue> {
    let is_4 = is_version_4(address);
    let mut fields = IndexMap::default();
    for (name, value) in [
        ("is_ipv4", StarValue::Bool(is_4)),
        ("is_ipv6", StarValue::Bool(!is_4)),
        ("string", address_text(heap, address)?),
    ] {
        fields.insert(name.into(), heap.native("ip.bound_value", vec![value])?);
    }
    heap.structure(ADDRESS, fields)
}
