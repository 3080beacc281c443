//! Numbers and networks (decisions/functions#numbers-and-networks).

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use blueprint::{Type, Value};
use ipnet::IpNet;

use super::define::{function, returns};
use super::logic::number_order;
use super::text::text;
use crate::codes;
use crate::evaluate::{At, Fault, FunctionBody};
use crate::function::{FunctionDef, Returns};

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Int, Text};
    vec![
        function(
            "min",
            "The least of some numbers.",
            Returns::Rule(number_type),
        )
        .variadic("number", Type::number(), 1)
        .not_in_specification()
        .example("min(10, 5, 8, 3)", "3")
        .example("min()", "! argument-count"),
        function(
            "max",
            "The greatest of some numbers.",
            Returns::Rule(number_type),
        )
        .variadic("number", Type::number(), 1)
        .not_in_specification()
        .example("max(1, 1.5)", "1.5"),
        function(
            "abs",
            "The number without its sign.",
            Returns::Rule(number_type),
        )
        .required("number", Type::number())
        .not_in_specification()
        .example("abs(-5)", "5")
        .example("abs(-2.5)", "2.5"),
        function("add", "The sum of two numbers.", Returns::Rule(sum_type))
            .required("a", Type::number())
            .required("b", Type::number())
            .not_in_specification()
            .example("add(1, 2)", "3"),
        function(
            "cidrsubnet",
            "The subnet of that number, when a network is divided by so many more bits.",
            returns(Text),
        )
        .required("network", Text)
        .required("bits", Int)
        .required("number", Int)
        .not_in_specification()
        .example(
            r#"cidrsubnet("192.168.0.0/16", 8, 1)"#,
            r#""192.168.1.0/24""#,
        )
        .example(r#"cidrsubnet("fd00::/48", 16, 1)"#, r#""fd00:0:0:1::/64""#)
        .example(r#"cidrsubnet("10.0.0.0/30", 4, 0)"#, "! argument-range"),
    ]
}

/// The numeric types among the argument types.
fn number_type(arguments: &[Type]) -> Type {
    let numbers: Vec<Type> = arguments
        .iter()
        .flat_map(Type::alternatives)
        .filter(|ty| matches!(ty, Type::Int | Type::Float))
        .cloned()
        .collect();
    let open = arguments.iter().any(Type::is_open);
    if numbers.is_empty() || open {
        Type::number()
    } else {
        Type::union(numbers)
    }
}

fn sum_type(arguments: &[Type]) -> Type {
    if arguments.contains(&Type::Float) {
        Type::Float
    } else if arguments.iter().all(|ty| *ty == Type::Int) {
        Type::Int
    } else {
        Type::number()
    }
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "min" => FunctionBody::Plain(|arguments, _| Ok(chosen(arguments, Ordering::Less))),
        "max" => FunctionBody::Plain(|arguments, _| Ok(chosen(arguments, Ordering::Greater))),
        "abs" => FunctionBody::Plain(abs),
        "add" => FunctionBody::Plain(add),
        "cidrsubnet" => FunctionBody::Plain(cidrsubnet),
        _ => return None,
    })
}

/// The extreme argument in the `wanted` direction; the first one if several are equal.
fn chosen(arguments: &[Value], wanted: Ordering) -> Value {
    let mut arguments = arguments.iter();
    let first = arguments.next().unwrap_or(&Value::Null);
    let best = arguments.fold(first, |best, value| {
        if number_order(value, best) == Some(wanted) {
            value
        } else {
            best
        }
    });
    best.clone()
}

fn abs(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    match arguments.first() {
        Some(Value::Int(value)) => value.checked_abs().map(Value::Int).ok_or_else(|| {
            Fault::new(
                &codes::ARGUMENT_RANGE,
                At::Argument(0),
                "the result is too large for 64 bits",
            )
            .label("the smallest integer")
        }),
        Some(Value::Float(value)) => Ok(Value::Float(value.abs())),
        other => Ok(other.cloned().unwrap_or_default()),
    }
}

fn add(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let sum = match (arguments.first(), arguments.get(1)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => a.checked_add(*b).map(Value::Int),
        (Some(a), Some(b)) => {
            let float = |value: &Value| match value {
                Value::Int(value) => *value as f64,
                Value::Float(value) => *value,
                _ => f64::NAN,
            };
            Some(float(a) + float(b))
                .filter(|sum| sum.is_finite())
                .map(Value::Float)
        }
        _ => None,
    };
    sum.ok_or_else(|| {
        Fault::new(&codes::ARGUMENT_RANGE, At::Call, "the sum is too large").label("beyond 64 bits")
    })
}

/// Parses an address and a prefix length in plain digits.
fn parse_network(text: &str) -> Option<IpNet> {
    let (address, prefix) = text.split_once('/')?;
    let digits = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
    let prefix = prefix.parse().ok().filter(|_| digits)?;
    IpNet::new(address.parse().ok()?, prefix).ok()
}

fn cidrsubnet(arguments: &[Value], _: &mut Vec<Fault>) -> Result<Value, Fault> {
    let network = text(arguments, 0);
    let bits = arguments.get(1).and_then(Value::as_int).unwrap_or(0);
    let number = arguments.get(2).and_then(Value::as_int).unwrap_or(0);
    let network = parse_network(network).ok_or_else(|| {
        Fault::new(
            &codes::ARGUMENT_FORMAT,
            At::Argument(0),
            format!("`{network}` is no network"),
        )
        .label("an address and a prefix length are needed, such as `10.0.0.0/16`")
    })?;
    let range = |at: usize, message: String, label: String| {
        Fault::new(&codes::ARGUMENT_RANGE, At::Argument(at), message).label(label)
    };
    let longest = i64::from(network.max_prefix_len());
    let prefix = i64::from(network.prefix_len()).saturating_add(bits);
    if bits < 0 || prefix > longest {
        let left = longest - i64::from(network.prefix_len());
        return Err(range(
            1,
            format!("{bits} more bits do not fit"),
            format!("from 0 to {left}"),
        ));
    }
    let fits = number >= 0 && (bits >= 63 || number < 1_i64 << bits);
    if !fits {
        return Err(range(
            2,
            format!("there is no subnet {number}"),
            format!("{bits} bits hold numbers from 0, less than 2^{bits}"),
        ));
    }
    let shift = (longest - prefix) as u32;
    let offset = (number as u128).checked_shl(shift).unwrap_or(0);
    let address = match network.trunc().network() {
        IpAddr::V4(start) => IpAddr::V4(Ipv4Addr::from_bits(start.to_bits() | offset as u32)),
        IpAddr::V6(start) => IpAddr::V6(Ipv6Addr::from_bits(start.to_bits() | offset)),
    };
    Ok(format!("{address}/{prefix}").into())
}
