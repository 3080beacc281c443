//! Custom constraints: rules by name (decisions/heat#parameters, decisions/heat#types-of-a-cloud).
//!
//! Most refer to objects of a cloud and are not checked here; a few concern the text alone.

use std::net::{IpAddr, Ipv4Addr};

use blueprint::Value;

use super::moments;

/// A custom constraint that Heat knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Custom {
    /// An IPv4 or IPv6 address.
    IpAddress,
    /// A network such as `10.0.0.0/8`.
    Network,
    /// An IP address or a network.
    AddressOrNetwork,
    /// A hardware address.
    MacAddress,
    /// A DNS name.
    DnsName,
    /// A DNS name that ends with a dot.
    DnsDomain,
    /// A DNS name that does not end with a dot, and leaves room for a domain.
    RelativeDnsName,
    /// A JSON text.
    Json,
    /// A cron schedule such as `0 * * * *`.
    Cron,
    /// The name of a time zone.
    TimeZone,
    /// A date, optionally with a time.
    Date,
    /// A date in the future. Checking this needs a clock.
    Expiration,
    /// A constraint that only a cloud can check.
    CloudOnly,
}

/// Names of constraints on objects of the cloud.
const CLOUD_CONSTRAINTS: [&str; 58] = [
    "barbican.container",
    "barbican.secret",
    "blazar.reservation",
    "cinder.backup",
    "cinder.qos_specs",
    "cinder.snapshot",
    "cinder.volume",
    "cinder.vtype",
    "designate.zone",
    "glance.image",
    "ironic.node",
    "ironic.portgroup",
    "keystone.domain",
    "keystone.group",
    "keystone.project",
    "keystone.region",
    "keystone.role",
    "keystone.service",
    "keystone.user",
    "magnum.cluster_template",
    "manila.share_network",
    "manila.share_snapshot",
    "manila.share_type",
    "mistral.workflow",
    "neutron.address_scope",
    "neutron.flow_classifier",
    "neutron.lbaas.listener",
    "neutron.lbaas.loadbalancer",
    "neutron.lbaas.pool",
    "neutron.lbaas.provider",
    "neutron.network",
    "neutron.port",
    "neutron.port_pair",
    "neutron.port_pair_group",
    "neutron.qos_policy",
    "neutron.router",
    "neutron.security_group",
    "neutron.segment",
    "neutron.subnet",
    "neutron.subnetpool",
    "neutron.taas.tap_flow",
    "neutron.taas.tap_service",
    "nova.flavor",
    "nova.host",
    "nova.keypair",
    "nova.network",
    "nova.server",
    "octavia.availabilityzone",
    "octavia.availabilityzoneprofile",
    "octavia.flavor",
    "octavia.flavorprofile",
    "octavia.l7policy",
    "octavia.listener",
    "octavia.loadbalancer",
    "octavia.pool",
    "test_constr",
    "trove.flavor",
    "zaqar.queue",
];

impl Custom {
    /// The constraint with a name.
    pub fn of(name: &str) -> Option<Custom> {
        Some(match name {
            "ip_addr" => Custom::IpAddress,
            "net_cidr" => Custom::Network,
            "ip_or_cidr" => Custom::AddressOrNetwork,
            "mac_addr" => Custom::MacAddress,
            "dns_name" => Custom::DnsName,
            "dns_domain" => Custom::DnsDomain,
            "rel_dns_name" => Custom::RelativeDnsName,
            "json_string" => Custom::Json,
            "cron_expression" => Custom::Cron,
            "timezone" => Custom::TimeZone,
            "iso_8601" => Custom::Date,
            "expiration" => Custom::Expiration,
            _ if CLOUD_CONSTRAINTS.contains(&name) => Custom::CloudOnly,
            _ => return None,
        })
    }

    /// Checks a value. The error is Heat's message; `None` if the check needs the cloud or a clock.
    pub fn check(self, value: &Value) -> Option<Result<(), String>> {
        if self == Custom::CloudOnly {
            return None;
        }
        let shown = pycompat::text(value);
        let Value::Text(text) = value.unmarked() else {
            return Some(Err(format!("Error validating value '{shown}'")));
        };
        let result = match self {
            Custom::IpAddress => address(text).map_err(|()| "Invalid IP address".to_owned()),
            Custom::Network => network(text, true),
            Custom::AddressOrNetwork if text.contains('/') => network(text, false),
            Custom::AddressOrNetwork => {
                address(text).map_err(|()| format!("'{text}' is not a valid IP address"))
            }
            Custom::MacAddress => hardware(text).ok_or_else(|| "Invalid MAC address.".to_owned()),
            Custom::DnsName => dns(text),
            Custom::DnsDomain => match dns(text) {
                Ok(()) if !text.is_empty() && !text.ends_with('.') => {
                    Err(format!("'{text}' must end with '.'."))
                }
                result => result,
            },
            Custom::RelativeDnsName => relative(text),
            Custom::Json if text.is_empty() => Ok(()),
            Custom::Json => pycompat::parse_json(text)
                .map(|_| ())
                .map_err(|error| format!("JSON string {text} is invalid: {error}")),
            Custom::Cron => cron(text).map_err(|error| format!("Invalid CRON expression: {error}")),
            Custom::TimeZone => moments::timezone(text),
            Custom::Date => moments::date(text).map_err(|_| String::new()),
            Custom::Expiration if text.is_empty() => Ok(()),
            Custom::Expiration => match moments::date(pycompat::trim(text)) {
                Ok(()) => return None,
                Err(error) => Err(format!("Expiration {text} is invalid: {error}")),
            },
            Custom::CloudOnly => return None,
        };
        let reason = |words: String| {
            if words.is_empty() {
                words
            } else {
                format!(": {words}")
            }
        };
        Some(result.map_err(|words| format!("Error validating value '{shown}'{}", reason(words))))
    }
}

fn address(text: &str) -> Result<(), ()> {
    text.parse::<IpAddr>().map(|_| ()).map_err(|_| ())
}

/// Checks an address with the length of its prefix. An address of version 4 must have its canonical
/// form.
fn network(text: &str, abbreviated: bool) -> Result<(), String> {
    let wrong = || format!("Invalid net cidr invalid IPNetwork {text} ");
    let Some((address, length)) = text.split_once('/') else {
        let full = if abbreviated {
            text.parse::<IpAddr>().is_ok()
        } else {
            false
        };
        let shown = if full {
            format!("{text}/32")
        } else {
            return Err(wrong());
        };
        return Err(format!(
            "'{text}' isn't a recognized IP subnet cidr, '{shown}' is recommended"
        ));
    };
    let digits =
        !length.is_empty() && length.len() <= 3 && length.bytes().all(|byte| byte.is_ascii_digit());
    let length: Option<u8> = length
        .parse()
        .ok()
        .filter(|_| digits && (length == "0" || !length.starts_with('0')));
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(Ipv4Addr { .. })) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return Err(wrong()),
    };
    if length.is_some_and(|length| length <= most) {
        Ok(())
    } else {
        Err(wrong())
    }
}

/// Checks six bytes in hexadecimal digits: separated by `:` or `-`, in three or two groups, or in
/// one group.
fn hardware(text: &str) -> Option<()> {
    let group = |group: &str, least: usize, most: usize| {
        (least..=most).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let groups = |mark: char, count: usize, least: usize, most: usize| {
        text.split(mark).count() == count && text.split(mark).all(|one| group(one, least, most))
    };
    let good = groups(':', 6, 1, 2)
        || groups('-', 6, 1, 2)
        || groups(':', 3, 1, 4)
        || groups('-', 3, 1, 4)
        || groups('.', 3, 1, 4)
        || groups(':', 2, 5, 6)
        || groups('-', 2, 5, 6)
        || group(text, 11, 12);
    good.then_some(())
}

/// The maximum number of characters of a whole name.
const LONGEST_NAME: usize = 255;

fn dns(text: &str) -> Result<(), String> {
    let reason = |reason: String| format!("'{text}' not in valid format. Reason: {reason}");
    if text.is_empty() {
        return Ok(());
    }
    let trimmed = text.strip_suffix('.').unwrap_or(text);
    if trimmed.chars().count() > LONGEST_NAME {
        return Err(reason(format!(
            "'{trimmed}' exceeds the {LONGEST_NAME} character FQDN limit"
        )));
    }
    for name in trimmed.split('.') {
        if name.is_empty() {
            return Err(reason("Encountered an empty component.".into()));
        }
        if name.starts_with('-') || name.ends_with('-') {
            return Err(reason(format!(
                "Name '{name}' must not start or end with a hyphen."
            )));
        }
        let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.len() > 63 || !name.bytes().all(good) {
            return Err(reason(format!(
                "Name '{name}' must be 1-63 characters long, each of which can only be alphanumeric or a hyphen."
            )));
        }
    }
    match trimmed.rsplit_once('.') {
        Some((_, last))
            if text.ends_with('.') && last.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            Err(reason(format!("TLD '{last}' must not be all numeric.")))
        }
        _ => Ok(()),
    }
}

fn relative(text: &str) -> Result<(), String> {
    if text.ends_with('.') {
        return Err(format!(
            "'{text}' is a FQDN. It should be a relative domain name."
        ));
    }
    let length = text.chars().count();
    if length > LONGEST_NAME - 3 {
        return Err(format!(
            "'{text}' contains '{length}' characters. Adding a domain name will cause it to exceed the maximum length of a FQDN of '{LONGEST_NAME}'."
        ));
    }
    dns(text)
}

/// The minimum and maximum of each field of a cron schedule, and the names that stand for numbers.
const FIELDS: [(u32, u32, &[&str]); 7] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &["l"]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 7, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
    (0, 59, &[]),
    (1970, 2099, &[]),
];

fn cron(text: &str) -> Result<(), String> {
    let lowered = text.to_lowercase();
    let fields: Vec<&str> = pycompat::split_at_spaces(&lowered).collect();
    let named = [
        "@midnight",
        "@hourly",
        "@daily",
        "@weekly",
        "@monthly",
        "@yearly",
        "@annually",
    ];
    if text.is_empty() || (fields.len() == 1 && named.contains(&fields[0])) {
        return Ok(());
    }
    if !matches!(fields.len(), 5..=7) {
        return Err(
            "Exactly 5, 6 or 7 columns has to be specified for iterator expression.".into(),
        );
    }
    for (field, (least, most, names)) in fields.iter().zip(FIELDS) {
        for part in field.split(',') {
            if !cron_part(part, least, most, names) {
                return Err(format!("[{text}] is not acceptable, out of range"));
            }
        }
    }
    Ok(())
}

/// Whether a part of a cron field is `*`, a value or a range of values, optionally with a step.
fn cron_part(part: &str, least: u32, most: u32, names: &[&str]) -> bool {
    let (range, step) = part
        .split_once('/')
        .map_or((part, None), |(range, step)| (range, Some(step)));
    if step.is_some_and(|step| !step.parse::<u32>().is_ok_and(|step| step > 0)) {
        return false;
    }
    let range = if most == 7 {
        range.split_once('#').map_or(range, |(day, _)| day)
    } else {
        range
    };
    let value = |text: &str| {
        names.contains(&text)
            || text
                .parse::<u32>()
                .is_ok_and(|value| (least..=most).contains(&value))
    };
    match range.split_once('-') {
        _ if matches!(range, "*" | "?") => true,
        Some((from, to)) => value(from) && value(to),
        None => value(range),
    }
}
