//! IP addresses and networks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use blueprint::Value;

use super::arguments::{FunctionError, StdCode, form, integer_at, list_at, range, text_at};

pub(super) fn body(name: &str) -> Option<StdCode> {
    Some(match name {
        "cidrhost" => host,
        "cidrnetmask" => netmask,
        "cidrsubnet" => subnet,
        "cidrsubnets" => subnets,
        _ => return None,
    })
}

/// A network: its first address as a number, the length of its prefix, and the length of its
/// addresses, in bits.
#[derive(Clone, Copy)]
struct Network {
    bits: u128,
    prefix: u32,
    width: u32,
}

impl Network {
    fn of(text: &str) -> Result<Network, FunctionError> {
        let parsed = text.split_once('/').and_then(|(address, prefix)| {
            let (bits, width) = match address.parse().ok()? {
                IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
                IpAddr::V6(address) => (address.to_bits(), 128),
            };
            let prefix = prefix
                .parse::<u32>()
                .ok()
                .filter(|prefix| *prefix <= width)?;
            let host = width - prefix;
            let kept = bits
                .checked_shr(host)
                .unwrap_or(0)
                .checked_shl(host)
                .unwrap_or(0);
            Some(Network {
                bits: kept,
                prefix,
                width,
            })
        });
        parsed.ok_or_else(|| form(0, format!("`{text}` is no network such as `10.0.0.0/16`")))
    }

    fn address(&self, offset: u128) -> String {
        let bits = self.bits | offset;
        match self.width {
            32 => Ipv4Addr::from_bits(bits as u32).to_string(),
            _ => Ipv6Addr::from_bits(bits).to_string(),
        }
    }

    fn text(&self) -> String {
        format!("{}/{}", self.address(0), self.prefix)
    }

    /// The number of addresses in the network, saturated.
    fn size(&self) -> u128 {
        1u128
            .checked_shl(self.width - self.prefix)
            .unwrap_or(u128::MAX)
    }
}

/// The address with a number in a network. A negative number counts from the end.
fn host(arguments: &[Value]) -> Result<Value, FunctionError> {
    let network = Network::of(text_at(arguments, 0))?;
    let number = integer_at(arguments, 1)?;
    let size = network.size();
    let offset = if number < 0 {
        size.checked_sub(u128::from(number.unsigned_abs()))
    } else {
        Some(number as u128)
    };
    match offset.filter(|offset| *offset < size) {
        Some(offset) => Ok(network.address(offset).into()),
        None => Err(range(
            1,
            format!(
                "prefix of {} does not accommodate a host numbered {number}",
                network.prefix
            ),
        )),
    }
}

fn netmask(arguments: &[Value]) -> Result<Value, FunctionError> {
    let text = text_at(arguments, 0);
    let network = Network::of(text)?;
    if network.width != 32 {
        return Err(form(
            0,
            format!("IPv6 addresses cannot have a netmask: {text}"),
        ));
    }
    let mask = u32::MAX.checked_shl(32 - network.prefix).unwrap_or(0);
    Ok(Ipv4Addr::from_bits(mask).to_string().into())
}

fn subnet(arguments: &[Value]) -> Result<Value, FunctionError> {
    let network = Network::of(text_at(arguments, 0))?;
    let (more, number) = (integer_at(arguments, 1)?, integer_at(arguments, 2)?);
    let prefix = extended(&network, more)?;
    let count = 1u128
        .checked_shl(prefix - network.prefix)
        .unwrap_or(u128::MAX);
    let Some(number) = u128::try_from(number).ok().filter(|number| *number < count) else {
        return Err(range(
            2,
            format!("prefix extension of {more} does not accommodate a subnet numbered {number}"),
        ));
    };
    let offset = number.checked_shl(network.width - prefix).unwrap_or(0);
    Ok(Network {
        bits: network.bits | offset,
        prefix,
        width: network.width,
    }
    .text()
    .into())
}

fn extended(network: &Network, more: i64) -> Result<u32, FunctionError> {
    let prefix = i64::from(network.prefix).saturating_add(more);
    u32::try_from(prefix)
        .ok()
        .filter(|prefix| more >= 0 && *prefix <= network.width)
        .ok_or_else(|| {
            range(
                1,
                format!(
                    "insufficient address space to extend prefix of {} by {more}",
                    network.prefix
                ),
            )
        })
}

/// Consecutive networks of the given prefix lengths.
fn subnets(arguments: &[Value]) -> Result<Value, FunctionError> {
    let network = Network::of(text_at(arguments, 0))?;
    let mut next = 0u128;
    let mut out = Vec::new();
    for at in 0..list_at(arguments, 1).len() {
        let more = integer_at(list_at(arguments, 1), at).map_err(|wrong| FunctionError {
            argument: Some(1),
            ..wrong
        })?;
        let prefix = extended(&network, more)?;
        let size = 1u128
            .checked_shl(network.width - prefix)
            .unwrap_or(u128::MAX);
        let start = next.div_ceil(size).saturating_mul(size);
        if start.saturating_add(size) > network.size() {
            return Err(range(
                1,
                "not enough remaining address space for all subnets",
            ));
        }
        out.push(
            Network {
                bits: network.bits | start,
                prefix,
                width: network.width,
            }
            .text()
            .into(),
        );
        next = start + size;
    }
    Ok(Value::list(out))
}
