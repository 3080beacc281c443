//! Plausible values for fields without a template, from kind, name, limits and pattern of the
//! field, so that a simulation looks real. All values are derived from the hash of a resource.
//!
//! ````text
//! aws/lambda/function  functionArn   arn:aws:lambda:eu-west-1:123456789012:function:orders
//! shop/rack            rackId        rack-3f2a9c1d
//! ````
//!
//! Not here: values with a template in the catalogue (`values.rs`). There is no code for single
//! providers: the form of an ARN, a URL or a time is derived from names.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine as _;
use blueprint::{Field, IndexMap, Kind, Map, Name, ObjectType, Schema, Type, TypeId, Value};
use provider::{Direction, Fit};

use super::pattern;
use super::seed::Seed;

/// The account and the region of all ARNs.
const ACCOUNT: &str = "123456789012";
const REGION: &str = "eu-west-1";

/// 2023-01-02T15:04:05Z, the earliest creation time.
const MADE: i64 = 1_672_671_845;

/// The depth below which objects have only required fields.
const DEPTH: u32 = 6;

/// The resource that a value is generated for.
#[derive(Clone, Copy)]
pub(super) struct ValueOwner<'a> {
    /// The resource type, such as `aws/lambda/function`.
    pub(super) type_name: &'a TypeId,
    /// The hash that distinguishes the resource from others.
    pub(super) hash: &'a str,
    /// The name of the resource in the document, if it has one.
    pub(super) name: Option<&'a str>,
    /// Checks values against fields.
    pub(super) fit: &'a Fit,
}

/// The name of a resource in the document: its field `name`, or `functionName` of a function, or
/// the first field that ends in `name`.
pub(super) fn own_name<'a>(
    type_name: &TypeId,
    schema: &Schema,
    sent: &'a Value,
) -> Option<&'a str> {
    let last = type_name
        .last_part()
        .replace(['-', '_'], "")
        .to_ascii_lowercase();
    let text = |name: &str| {
        sent.get(name)
            .and_then(Value::as_text)
            .filter(|text| !text.is_empty())
    };
    let names = schema
        .fields
        .iter()
        .filter(|(name, field)| name.to_ascii_lowercase().ends_with("name") && !field.sensitive);
    let rank = |name: &str| match name.to_ascii_lowercase() {
        lower if lower == "name" => 0,
        lower if lower == format!("{last}name") => 1,
        _ => 2,
    };
    names
        .filter_map(|(name, _)| Some((rank(name), text(name)?)))
        .min_by_key(|(rank, _)| *rank)
        .map(|(_, text)| text)
}

impl ValueOwner<'_> {
    /// Generates a value for a field.
    pub(super) fn value(&self, name: &str, field: &Field) -> Value {
        self.at(name, name, field)
    }

    /// Generates a value for a field. `path` distinguishes fields of the same name in a resource.
    pub(super) fn at(&self, path: &str, name: &str, field: &Field) -> Value {
        self.at_depth(path, name, field, 0)
    }

    /// Generates a value of a type, for the result of a function.
    pub(super) fn of_type(&self, name: &str, ty: &Type) -> Value {
        self.value(name, &field_of(ty))
    }

    fn at_depth(&self, path: &str, name: &str, field: &Field, depth: u32) -> Value {
        if let Some(value) = field
            .default
            .as_ref()
            .filter(|value| !value.is_null())
            .or(field.allowed.first())
        {
            return value.clone();
        }
        let mut seed = Seed::new(&format!("{}/{path}", self.hash));
        match &field.kind {
            Kind::Any if words(name).last().is_some_and(|word| word == "json") => {
                Value::Map(Arc::default())
            }
            Kind::Any => Value::text(self.plain(path, name)),
            Kind::String => self.text(path, name, field, &mut seed),
            Kind::Integer => Value::Int(integer(name, field, &mut seed)),
            Kind::Float => {
                let limits = &field.constraint;
                let wanted = seed.below(1000) as f64 / 10.0;
                let wanted = limits.max.map_or(wanted, |most| wanted.min(most));
                Value::Float(limits.min.map_or(wanted, |least| wanted.max(least)))
            }
            Kind::Boolean => Value::Bool(true),
            Kind::Array(item) => {
                let limits = &field.constraint;
                // Limits the memory that a catalogue can require.
                let least = limits.min_items.unwrap_or(0).min(1000);
                let usual = if depth < DEPTH { 2 } else { 0 };
                let count = limits
                    .max_items
                    .map_or(usual, |most| usual.min(most))
                    .max(least);
                let mut items: Vec<Value> = Vec::new();
                for at in 0..count {
                    let item =
                        self.at_depth(&format!("{path}-{at}"), singular(name), item, depth + 1);
                    if !field.set && field.keyed_by.is_none() || !items.contains(&item) {
                        items.push(item);
                    }
                }
                Value::list(items)
            }
            Kind::Map(_) if depth >= DEPTH => Value::Map(Arc::default()),
            Kind::Map(inside) => Value::map([(
                Name::from("key"),
                self.at_depth(&format!("{path}.key"), singular(name), inside, depth + 1),
            )]),
            Kind::Object(schema) => Value::Map(Arc::new(self.object(path, schema, depth))),
            Kind::Union(branches) => branches.first().map_or(Value::Null, |branch| {
                self.at_depth(path, name, branch, depth)
            }),
        }
    }

    fn object(&self, path: &str, schema: &Schema, depth: u32) -> Map {
        let fields = schema
            .fields
            .iter()
            .filter(|(_, field)| depth < DEPTH || field.required || field.computed);
        fields
            .map(|(name, field)| {
                (
                    name.clone(),
                    self.at_depth(&format!("{path}.{name}"), name, field, depth + 1),
                )
            })
            .collect()
    }

    /// Generates a text for a field: by its name, or by its pattern if that text does not match.
    /// The text is within all limits, if such a text can be generated.
    fn text(&self, path: &str, name: &str, field: &Field, seed: &mut Seed) -> Value {
        let fits = |value: &Value| self.fit.field(value, field, Direction::Answered).is_none();
        let by_name = self.by_name(path, name, field.sensitive, seed);
        let limits = &field.constraint;
        let clipped = clip(&by_name, limits.min_length, limits.max_length, seed);
        let first = Value::text(clipped);
        if fits(&first) {
            return first;
        }
        let Some(pattern) = &limits.pattern else {
            return first;
        };
        let more = (0..12).chain([16, 24, 32, 48, 64, 128, 256, 1000]);
        let mut drawn = more
            .filter_map(|more| pattern::text(pattern, more, seed))
            .map(Value::text);
        drawn.find(fits).unwrap_or(first)
    }

    /// Generates a text for a field from the field's name.
    fn by_name(&self, path: &str, name: &str, is_secret: bool, seed: &mut Seed) -> String {
        let words = words(name);
        let last = words.last().map_or("", String::as_str);
        let before = words
            .len()
            .checked_sub(2)
            .and_then(|at| words.get(at))
            .map_or("", String::as_str);
        let is_any = |wanted: &[&str]| wanted.contains(&last);
        match last {
            "arn" => self.arn(&words, seed),
            _ if is_any(&["uuid", "guid"]) => uuid(seed),
            "id" if ["account", "owner"].contains(&before) => ACCOUNT.into(),
            "id" if words.len() == 1 => format!("{}-{}", self.kind(), self.hash),
            "id" => format!("{}-{}", words[..words.len() - 1].join("-"), self.mark(path)),
            "name" if ["domain", "dns", "host"].contains(&before) => self.host(path),
            "name" if words.len() == 1 || self.is_own(&words[..words.len() - 1]) => self.named(),
            "url" if before == "base64" => base64(seed, 16),
            _ if is_any(&["url", "uri", "href", "endpoint", "website"]) => {
                format!("https://{}", self.host(path))
            }
            _ if is_any(&["host", "hostname", "domain", "fqdn", "dns", "address"]) => {
                match before {
                    "ip" => ip(&words, seed),
                    "email" | "mail" => format!("{}@example.com", self.named()),
                    _ => self.host(path),
                }
            }
            _ if is_any(&["ip", "ipv4"]) => ip(&words, seed),
            "ipv6" => format!("2001:db8::{:x}", seed.below(0xffff)),
            _ if words.iter().any(|word| word == "ipv6") => {
                format!("2001:db8:{:x}::/56", seed.below(0xffff))
            }
            _ if is_any(&["cidr"]) || last == "block" && before == "cidr" => {
                format!("10.{}.0.0/16", seed.below(256))
            }
            "email" => format!("{}@example.com", self.named()),
            _ if is_any(&[
                "time",
                "at",
                "timestamp",
                "rfc3339",
                "before",
                "since",
                "created",
                "modified",
                "updated",
            ]) =>
            {
                time(MADE + seed.below(86_400) as i64)
            }
            _ if is_any(&["after", "until", "expires", "expiry", "expiration"]) => {
                time(MADE + 31_536_000 + seed.below(86_400) as i64)
            }
            "date" => time(MADE).split('T').next().unwrap_or_default().into(),
            "region" => REGION.into(),
            "zone" => format!("{REGION}a"),
            "account" => ACCOUNT.into(),
            _ if is_any(&["sha256", "digest", "checksum", "fingerprint"]) => seed.hex(64),
            "sha1" => seed.hex(40),
            _ if is_any(&["md5", "etag"]) => seed.hex(32),
            "hex" => seed.hex(16),
            "decimal" => seed.number().to_string(),
            "base64" => base64(seed, 16),
            "pem" => {
                let label = match words[..words.len() - 1].join(" ").to_uppercase() {
                    empty if empty.is_empty() => "CERTIFICATE".into(),
                    label => label,
                };
                format!(
                    "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
                    base64(seed, 48)
                )
            }
            "openssh" => format!("ssh-ed25519 {}", base64(seed, 48)),
            _ if is_any(&["password", "secret", "token", "passphrase"]) => {
                base64(seed, 18).replace(['+', '/'], "x")
            }
            "json" => "{}".into(),
            "port" => (1024 + seed.below(64_000)).to_string(),
            _ if is_any(&["version", "revision"]) => "1".into(),
            _ if is_any(&["status", "state"]) => "active".into(),
            _ if is_secret => base64(seed, 18).replace(['+', '/'], "x"),
            _ => self.plain(path, name),
        }
    }

    /// The last segment of the resource type.
    fn kind(&self) -> &str {
        self.type_name.last_part()
    }

    /// Whether these words are the last segment of the resource type.
    fn is_own(&self, words: &[String]) -> bool {
        words.concat() == self.kind().replace(['-', '_'], "").to_ascii_lowercase()
    }

    /// The name of the resource, otherwise a name derived from its type.
    fn named(&self) -> String {
        self.name
            .map_or_else(|| format!("{}-{}", self.kind(), self.hash), str::to_owned)
    }

    /// Eight hexadecimal digits that differ between fields.
    fn mark(&self, path: &str) -> String {
        Seed::new(&format!("{}#{path}", self.hash)).hex(8)
    }

    fn plain(&self, path: &str, name: &str) -> String {
        if path == name {
            format!("{name}-{}", self.hash)
        } else {
            format!("{name}-{}", self.mark(path))
        }
    }

    fn host(&self, path: &str) -> String {
        let service: Cow<'_, str> = match self.type_name.name().split('/').nth(1) {
            Some(service) => service.into(),
            None => Cow::Owned(
                TypeId::parse(self.type_name.package_name())
                    .last_part()
                    .to_ascii_lowercase(),
            ),
        };
        let mark = if path.contains(['.', '-']) {
            self.mark(path)
        } else {
            self.hash.to_owned()
        };
        format!("{}-{mark}.{service}.example", self.kind()).replace('_', "-")
    }

    fn arn(&self, words: &[String], seed: &mut Seed) -> String {
        let segments: Vec<&str> = self.type_name.split('/').collect();
        let partition = segments.first().copied().unwrap_or("aws");
        let own = words.len() == 1 || self.is_own(&words[..words.len() - 1]);
        let (service, kind, name) = if own {
            let service = if segments.len() > 2 {
                segments[1]
            } else {
                self.kind()
            };
            (service.to_owned(), self.kind().to_owned(), self.named())
        } else {
            let kind = words[..words.len() - 1].join("-");
            let service = segments.get(1).copied().unwrap_or(partition);
            (service.to_owned(), kind, seed.hex(8))
        };
        // Services whose ARN has a special form.
        let (service, kind) = (service.replace('-', ""), kind.as_str());
        let (service, place, what) = match (service.as_str(), kind) {
            (_, "role" | "user" | "policy" | "group") => (
                "iam".to_owned(),
                format!(":{ACCOUNT}"),
                format!("{kind}/{name}"),
            ),
            ("s3", _) => (service, ":".to_owned(), name),
            ("sns" | "sqs", _) => (service, format!("{REGION}:{ACCOUNT}"), name),
            ("lambda" | "secretsmanager" | "logs" | "rds", _) => (
                service,
                format!("{REGION}:{ACCOUNT}"),
                format!("{kind}:{name}"),
            ),
            ("eventbridge" | "events", _) => (
                "events".to_owned(),
                format!("{REGION}:{ACCOUNT}"),
                format!("{kind}/{name}"),
            ),
            _ => (
                service,
                format!("{REGION}:{ACCOUNT}"),
                format!("{kind}/{name}"),
            ),
        };
        format!("arn:{partition}:{service}:{place}:{what}")
    }
}

/// The words of a name in lower case: `functionArn`, `function_arn` and `FunctionARN` are
/// `function`, `arn`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let characters: Vec<char> = name.chars().collect();
    let mut begins = true;
    for (at, character) in characters.iter().enumerate() {
        if !character.is_alphanumeric() {
            begins = true;
            continue;
        }
        let after_lower = at > 0
            && characters
                .get(at - 1)
                .is_some_and(|before| !before.is_uppercase());
        let before_lower = characters
            .get(at + 1)
            .is_some_and(|after| after.is_lowercase());
        begins |= character.is_uppercase() && (after_lower || before_lower);
        if begins {
            words.push(String::new());
            begins = false;
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words
}

/// The singular of the name of a list.
fn singular(name: &str) -> &str {
    match name.strip_suffix('s') {
        Some(one) if !one.ends_with('s') && one.len() > 1 => one,
        _ => name,
    }
}

fn integer(name: &str, field: &Field, seed: &mut Seed) -> i64 {
    let words = words(name);
    let wanted = match words.last().map_or("", String::as_str) {
        "port" => 1024 + seed.below(64_000) as i64,
        "code" if words.len() > 1 && words.first().is_some_and(|word| word == "exit") => 0,
        "status" | "code" => 200,
        "version" | "revision" => 1,
        "unix" | "timestamp" | "time" | "at" => MADE + seed.below(86_400) as i64,
        _ => 1 + seed.below(1000) as i64,
    };
    let limits = &field.constraint;
    let wanted = limits
        .max
        .map_or(wanted, |most| wanted.min(most.floor() as i64));
    limits
        .min
        .map_or(wanted, |least| wanted.max(least.ceil() as i64))
}

fn ip(words: &[String], seed: &mut Seed) -> String {
    if words.iter().any(|word| word == "public") {
        return format!("203.0.113.{}", 1 + seed.below(254));
    }
    format!(
        "10.{}.{}.{}",
        seed.below(256),
        seed.below(256),
        1 + seed.below(254)
    )
}

fn uuid(seed: &mut Seed) -> String {
    let variant = ["8", "9", "a", "b"]
        .get(seed.below(4) as usize)
        .copied()
        .unwrap_or("8");
    format!(
        "{}-{}-4{}-{variant}{}-{}",
        seed.hex(8),
        seed.hex(4),
        seed.hex(3),
        seed.hex(3),
        seed.hex(12)
    )
}

fn base64(seed: &mut Seed, bytes: usize) -> String {
    let bytes: Vec<u8> = (0..bytes).map(|_| seed.byte()).collect();
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes)
}

fn time(unix: i64) -> String {
    jiff::Timestamp::from_second(unix)
        .map(|time| time.to_string())
        .unwrap_or_default()
}

/// A text within limits of length: shortened, or extended with digits.
fn clip(text: &str, least: Option<u64>, most: Option<u64>, seed: &mut Seed) -> String {
    let most = most.map_or(usize::MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    });
    // The text is shortened at the start, because the end distinguishes resources.
    let length = text.chars().count();
    let mut text: String = text.chars().skip(length.saturating_sub(most)).collect();
    // Limits the length that a catalogue can require.
    let least = least.map_or(0, |least| {
        usize::try_from(least).unwrap_or(usize::MAX).min(100_000)
    });
    let length = length.min(most);
    if length < least {
        text.push_str(&seed.hex(least - length));
    }
    text
}

/// A field of a type.
fn field_of(ty: &Type) -> Field {
    Field::of(match ty {
        Type::Bool => Kind::Boolean,
        Type::Int => Kind::Integer,
        Type::Float => Kind::Float,
        Type::Text | Type::Bytes => Kind::String,
        Type::List(item) => Kind::Array(Arc::new(field_of(item))),
        Type::Map(inside) => Kind::Map(Arc::new(field_of(inside))),
        Type::Object(object) => Kind::Object(Arc::new(schema_of(object))),
        Type::Union(types) => Kind::Union(Arc::new(types.iter().map(field_of).collect())),
        Type::Any | Type::Null | Type::Function | Type::Error => Kind::Any,
    })
}

fn schema_of(object: &ObjectType) -> Schema {
    let fields: IndexMap<Name, Field> = object
        .fields
        .iter()
        .map(|(name, ty)| (name.clone(), field_of(ty)))
        .collect();
    Schema {
        fields,
        open: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(type_name: &str, own: Option<&str>, name: &str) -> String {
        let fit = Fit::new();
        let subject = ValueOwner {
            type_name: &type_name.into(),
            hash: "3f2a9c1d",
            name: own,
            fit: &fit,
        };
        match subject.value(name, &Field::of(Kind::String)) {
            Value::Text(text) => text.to_string(),
            other => other.to_string(),
        }
    }

    #[test]
    fn texts_look_like_what_they_are_called() {
        let function = "aws/lambda/function";
        let arn = "arn:aws:lambda:eu-west-1:123456789012:function:";
        assert_eq!(
            text_of(function, Some("orders"), "functionArn"),
            format!("{arn}orders")
        );
        assert_eq!(
            text_of(function, Some("orders"), "arn"),
            format!("{arn}orders")
        );
        assert_eq!(
            text_of(function, None, "FunctionARN"),
            format!("{arn}function-3f2a9c1d")
        );
        assert!(text_of(function, None, "roleArn").starts_with("arn:aws:iam::123456789012:role/"));
        assert_eq!(
            text_of("aws/s3/bucket", Some("logs"), "arn"),
            "arn:aws:s3:::logs"
        );
        assert_eq!(
            text_of("aws/eventbridge/event-bus", Some("b"), "arn"),
            "arn:aws:events:eu-west-1:123456789012:event-bus/b"
        );
        assert_eq!(
            text_of("aws/dynamodb/table", None, "tableArn"),
            "arn:aws:dynamodb:eu-west-1:123456789012:table/table-3f2a9c1d"
        );
        assert_eq!(text_of("shop/rack", None, "id"), "rack-3f2a9c1d");
        assert!(text_of("shop/rack", None, "rackId").starts_with("rack-"));
        assert_eq!(text_of("shop/rack", None, "ownerAccountId"), ACCOUNT);
        assert_eq!(
            text_of("aws/api-gateway/rest-api", None, "endpoint"),
            "https://rest-api-3f2a9c1d.api-gateway.example"
        );
        assert_eq!(
            text_of("shop/rack", None, "createdAt").len(),
            "2023-01-02T15:04:05Z".len()
        );
        assert!(text_of("shop/rack", None, "notAfter").starts_with("2024-01-"));
        assert!(text_of("shop/rack", None, "publicIp").starts_with("203.0.113."));
        assert_eq!(text_of("shop/rack", None, "uuid").len(), 36);
        assert!(
            text_of("tls/private-key", None, "privateKeyPem")
                .starts_with("-----BEGIN PRIVATE KEY-----\n")
        );
        assert_eq!(text_of("shop/rack", None, "colour"), "colour-3f2a9c1d");
    }

    #[test]
    fn values_keep_to_the_limits_of_their_fields() {
        let fit = Fit::new();
        let limited = |kind: Kind, change: fn(&mut Field)| {
            let mut field = Field::of(kind);
            change(&mut field);
            for hash in ["3f2a9c1d", "00000000", "ffffffff"] {
                let subject = ValueOwner {
                    type_name: &"a/b".into(),
                    hash,
                    name: None,
                    fit: &fit,
                };
                let value = subject.value("someId", &field);
                assert_eq!(
                    fit.field(&value, &field, Direction::Answered),
                    None,
                    "{value}"
                );
                assert_eq!(value, subject.value("someId", &field));
            }
        };
        limited(Kind::String, |field| field.constraint.max_length = Some(3));
        limited(Kind::String, |field| field.constraint.min_length = Some(64));
        limited(Kind::String, |field| {
            field.constraint.pattern = Some("^[A-Z]+$".into());
            field.constraint.min_length = Some(20);
        });
        limited(Kind::String, |field| {
            field.constraint.pattern = Some("^arn:aws(-cn)?:iam::\\d{12}:role/.+$".into())
        });
        limited(Kind::Integer, |field| {
            (field.constraint.min, field.constraint.max) = (Some(5.5), Some(6.5))
        });
        limited(Kind::Integer, |field| field.constraint.max = Some(-3.0));
        limited(Kind::Float, |field| {
            (field.constraint.min, field.constraint.max) = (Some(0.25), Some(0.5))
        });
        limited(Kind::Array(Arc::new(Field::of(Kind::Boolean))), |field| {
            field.constraint.min_items = Some(7)
        });
        limited(Kind::Array(Arc::new(Field::of(Kind::String))), |field| {
            field.constraint.max_items = Some(0)
        });
        limited(
            Kind::Union(Arc::new(vec![
                Field::of(Kind::Boolean),
                Field::of(Kind::String),
            ])),
            |_| {},
        );
    }

    #[test]
    fn words_of_a_name() {
        for (name, parts) in [
            ("functionArn", &["function", "arn"][..]),
            ("FunctionARN", &["function", "arn"]),
            ("DNSName", &["dns", "name"]),
            ("snake_case-id", &["snake", "case", "id"]),
            ("base64Url", &["base64", "url"]),
            ("id", &["id"]),
            ("", &[]),
        ] {
            assert_eq!(words(name), parts, "{name}");
        }
    }
}
