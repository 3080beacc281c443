//! Converts the interfaces of Heat's types to types of a catalogue, and these to the compact form.
//!
//! `CATALOG.md` beside the catalogue describes the conversion. Not here: reading the compact form
//! (`openstack::packed`).

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Map, Value as Json, json};

/// A type: its name and its catalogue entry.
pub(crate) type Type = (String, Json);

/// Types whose objects are identified by another field than an id.
const ID_FIELDS: &[(&str, &str)] = &[("OS::Nova::KeyPair", "name")];

/// Old names of properties: the type, the path of the old property (through lists), and the current
/// property beside it. Heat moves the value to the current property before all checks.
const OLD_NAMES: &[(&str, &str, &str)] = &[
    ("OS::Cinder::Volume", "imageRef", "image"),
    ("OS::Designate::Zone", "primaries", "masters"),
    (
        "OS::Neutron::FloatingIP",
        "floating_network_id",
        "floating_network",
    ),
    (
        "OS::Neutron::NetworkGateway",
        "connections.network_id",
        "network",
    ),
    ("OS::Neutron::Port", "fixed_ips.subnet_id", "subnet"),
    ("OS::Neutron::Port", "network_id", "network"),
    ("OS::Neutron::RouterGateway", "network_id", "network"),
    ("OS::Neutron::RouterInterface", "port_id", "port"),
    ("OS::Neutron::RouterInterface", "router_id", "router"),
    ("OS::Neutron::RouterInterface", "subnet_id", "subnet"),
    ("OS::Neutron::Subnet", "network_id", "network"),
    ("OS::Neutron::VPNService", "router_id", "router"),
    ("OS::Neutron::VPNService", "subnet_id", "subnet"),
    (
        "OS::Nova::Server",
        "block_device_mapping_v2.image_id",
        "image",
    ),
    ("OS::Nova::Server", "networks.uuid", "network"),
];

/// The fields by which a port names its subnets.
const OF_PORT: &[&str] = &["fixed_ips[].subnet", "fixed_ips[].subnet_id"];

/// Dependencies in addition to references: a type, the type that it waits for, its own fields, the
/// fields of the other type, and whether the own fields name a port with the subnets to compare
/// (decisions/heat#types-of-a-cloud).
type WaitRule = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    bool,
);
const WAITS: &[WaitRule] = &[
    (
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::EC2::RouteTable",
        &["VpcId"],
        &["VpcId"],
        false,
    ),
    (
        "OS::Neutron::ExtraRoute",
        "OS::Neutron::RouterGateway",
        &["router_id"],
        &["router_id"],
        false,
    ),
    (
        "OS::Neutron::ExtraRoute",
        "OS::Neutron::RouterInterface",
        &["router_id"],
        &["router", "router_id"],
        false,
    ),
    (
        "OS::Neutron::ExtraRouteSet",
        "OS::Neutron::RouterInterface",
        &["router"],
        &["router", "router_id"],
        false,
    ),
    (
        "OS::Neutron::FloatingIP",
        "OS::Neutron::Router",
        &["floating_network", "floating_network_id"],
        &["external_gateway_info.network"],
        false,
    ),
    (
        "OS::Neutron::FloatingIP",
        "OS::Neutron::RouterGateway",
        &["floating_network", "floating_network_id"],
        &["network", "network_id"],
        false,
    ),
    (
        "OS::Neutron::FloatingIP",
        "OS::Neutron::RouterInterface",
        &["port_id"],
        &["subnet", "subnet_id"],
        true,
    ),
    (
        "OS::Neutron::FloatingIPAssociation",
        "OS::Neutron::RouterInterface",
        &["port_id"],
        &["subnet", "subnet_id"],
        true,
    ),
    (
        "OS::Neutron::FloatingIPPortForward",
        "OS::Neutron::RouterInterface",
        &["internal_port"],
        &["subnet", "subnet_id"],
        true,
    ),
    (
        "OS::Neutron::Port",
        "OS::Neutron::Subnet",
        &["network", "network_id"],
        &["network", "network_id"],
        false,
    ),
    (
        "OS::Neutron::Router",
        "OS::Neutron::Subnet",
        &["external_gateway_info.network"],
        &["network", "network_id"],
        false,
    ),
    (
        "OS::Neutron::RouterGateway",
        "OS::Neutron::RouterInterface",
        &["router_id"],
        &["router", "router_id"],
        false,
    ),
    (
        "OS::Neutron::RouterGateway",
        "OS::Neutron::Subnet",
        &["network", "network_id"],
        &["network", "network_id"],
        false,
    ),
    (
        "OS::Nova::Server",
        "OS::Neutron::Subnet",
        &["networks[].network", "networks[].uuid"],
        &["network", "network_id"],
        false,
    ),
];

/// Types of which a snapshot can be taken before they are deleted.
const SNAPSHOTS: &[&str] = &["AWS::EC2::Volume", "OS::Cinder::Volume", "OS::Nova::Server"];

/// The types that a text of facts describes, in the order of their names.
///
/// # Errors
/// If the text is not in the form that decisions/heat#types-of-a-cloud describes.
pub(crate) fn types(facts: &str) -> Result<Vec<Type>, String> {
    let facts: Map<String, Json> =
        serde_json::from_str(facts).map_err(|error| error.to_string())?;
    let mut types = Vec::with_capacity(facts.len());
    for (name, fact) in &facts {
        types.push((
            name.clone(),
            one(name, fact).map_err(|error| format!("{name}: {error}"))?,
        ));
    }
    types.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(types)
}

fn one(name: &str, fact: &Json) -> Result<Json, String> {
    let mut fields = Map::new();
    for (property, schema) in object(fact, "properties")? {
        let mut field = field(schema).map_err(|error| format!("{property}: {error}"))?;
        mark_secret(property, &mut field);
        match () {
            () if flag(schema, "immutable") => field.insert("immutable".into(), json!(true)),
            () if flag(schema, "update_allowed") => None,
            () => field.insert("mustRecreate".into(), json!(true)),
        };
        fields.insert(property.clone(), Json::Object(field));
    }
    for (_, path, meant) in OLD_NAMES.iter().filter(|(of, ..)| *of == name) {
        let (list, old) = path
            .split_once('.')
            .map_or((None, *path), |(list, old)| (Some(list), old));
        let beside = match list {
            None => Some(&mut fields),
            Some(list) => fields
                .get_mut(list)
                .and_then(|list| list["items"]["fields"].as_object_mut()),
        };
        let beside = beside.filter(|beside| beside.contains_key(*meant));
        let field = beside.and_then(|beside| beside.get_mut(old)?.as_object_mut());
        field
            .ok_or(format!("there is no `{path}`"))?
            .insert("standsFor".into(), json!({"field": meant}));
    }
    let short = match name {
        "OS::Neutron::Router" => Some(("l3_agent_id", "l3_agent_ids", json!(["{value}"]))),
        "OS::Heat::RandomString" => Some((
            "sequence",
            "character_classes",
            json!([{"class": "{value}", "min": 1}]),
        )),
        _ => None,
    };
    if let Some((old, meant, value)) = short {
        fields[old]["standsFor"] = json!({"field": meant, "value": value});
    }
    if let Some(Json::Object(payload)) = fields
        .get_mut("payload")
        .filter(|_| name == "OS::Barbican::Secret")
    {
        payload.insert("sensitive".into(), json!(true));
    }
    let mut attributes = Map::new();
    for (attribute, kind) in object(fact, "attributes")? {
        let kind = kind.as_str().ok_or("the kind of an attribute is text")?;
        let holder = attribute_field(attribute, kind, &mut fields)?;
        attributes.insert(attribute.clone(), json!(holder));
    }
    attributes.insert("show".into(), json!("show"));
    fields.entry("show").or_insert_with(
        || json!({"kind": "any", "computed": true, "nullable": true, "value": null}),
    );
    let called_by = ID_FIELDS
        .iter()
        .find(|(of, _)| *of == name)
        .map_or("id", |(_, field)| *field);
    match fields.get_mut(called_by) {
        Some(Json::Object(field)) => mark_readable(field),
        _ => {
            fields.insert(
                called_by.into(),
                json!({"kind": "string", "computed": true}),
            );
        }
    }
    let mut ty = Map::new();
    let service = fact["client"].as_str();
    let last = name.rsplit("::").next().unwrap_or(name);
    ty.insert("docs".into(), json!(docs(last, service)));
    ty.insert("fields".into(), Json::Object(fields));
    ty.insert("attributes".into(), Json::Object(attributes));
    ty.insert("idField".into(), json!(called_by));
    ty.insert("replaceOrder".into(), json!("create-first"));
    if let Some(service) = service {
        ty.insert("service".into(), json!(service));
    }
    if let Some(status) = support_status(&fact["support"])? {
        ty.insert("supportStatus".into(), json!(status));
    }
    let waits: Vec<Json> = WAITS
        .iter()
        .filter(|(of, ..)| *of == name)
        .map(|(_, other, own, its, by_port)| {
            let mut wait = json!({"for": other, "own": own, "its": its});
            if *by_port {
                wait["through"] = json!({"type": "OS::Neutron::Port", "fields": OF_PORT});
            }
            wait
        })
        .collect();
    if !waits.is_empty() {
        ty.insert("waits".into(), waits.into());
    }
    if fact.get("update_policy").is_some() {
        let mut policy = Map::new();
        for (name, schema) in object(fact, "update_policy")? {
            policy.insert(name.clone(), Json::Object(field(schema)?));
        }
        ty.insert("updatePolicy".into(), Json::Object(policy));
    }
    let mut capabilities = Map::new();
    if SNAPSHOTS.contains(&name) {
        capabilities.insert("snapshots".into(), json!(true));
    }
    if name == "OS::Nova::Server" {
        capabilities.insert("plans".into(), json!(true));
        let rules = ["flavor", "image", "user_data"]
            .map(|field| json!({"field": field, "policy": format!("{field}_update_policy"), "value": "REPLACE"}));
        ty.insert("replacesWhere".into(), json!(rules));
    }
    // The handler of a managed type says otherwise.
    capabilities.insert("describedOnly".into(), json!(true));
    ty.insert("capabilities".into(), Json::Object(capabilities));
    Ok(Json::Object(ty))
}

fn docs(last: &str, service: Option<&str>) -> String {
    match service {
        Some(service) => {
            format!("A `{last}` of the service `{service}`, as OpenStack Heat describes it.")
        }
        None => format!("A `{last}`, as OpenStack Heat describes it."),
    }
}

/// Adds the field that holds an attribute, and returns its name. A property of the same name is
/// another field: the attribute is what the service answers, not what the template wrote.
fn attribute_field(
    name: &str,
    kind: &str,
    fields: &mut Map<String, Json>,
) -> Result<String, String> {
    let kind = match kind {
        "string" | "boolean" | "integer" | "any" | "map" => kind,
        "list" => "array",
        other => return Err(format!("`{other}` is no kind of an attribute")),
    };
    let mut computed =
        json!({"kind": kind, "computed": true, "nullable": true, "changesOnUpdate": true});
    for (of, inside) in [("array", "items"), ("map", "values")] {
        if kind == of {
            computed[inside] = json!({"kind": "any", "nullable": true});
        }
    }
    if let Json::Object(computed) = &mut computed {
        mark_secret(name, computed);
    }
    let holder = match fields.contains_key(name) {
        true => format!("attribute_{name}"),
        false => name.to_owned(),
    };
    fields.insert(holder.clone(), computed);
    Ok(holder)
}

/// Marks a property as readable, whether it is written or not.
fn mark_readable(field: &mut Map<String, Json>) {
    let is_given = field.contains_key("required") || field.contains_key("default");
    if !is_given && !field.contains_key("computed") {
        field.insert("computed".into(), json!(true));
        field.insert("optional".into(), json!(true));
        field.insert("nullable".into(), json!(true));
    }
}

fn object<'f>(
    fact: &'f Json,
    key: &str,
) -> Result<impl Iterator<Item = (&'f String, &'f Json)>, String> {
    fact.get(key)
        .and_then(Json::as_object)
        .map(Map::iter)
        .ok_or_else(|| format!("`{key}` is no object"))
}

fn flag(schema: &Json, key: &str) -> bool {
    schema.get(key) == Some(&json!(true))
}

fn support_status(word: &Json) -> Result<Option<&'static str>, String> {
    match word.as_str() {
        None | Some("SUPPORTED") => Ok(None),
        Some("HIDDEN") => Ok(Some("hidden")),
        Some("DEPRECATED") => Ok(Some("deprecated")),
        Some("UNSUPPORTED") => Ok(Some("unsupported")),
        Some(other) => Err(format!("`{other}` is no status")),
    }
}

/// Marks a text field as secret if its name says so.
fn mark_secret(name: &str, field: &mut Map<String, Json>) {
    let plain = name.to_ascii_lowercase().replace('_', "");
    let ends = [
        "password",
        "passphrase",
        "adminpass",
        "privatekey",
        "psk",
        "secretkey",
        "secretaccesskey",
    ];
    if field.get("kind") == Some(&json!("string")) && ends.iter().any(|end| plain.ends_with(end)) {
        field.insert("sensitive".into(), json!(true));
    }
}

/// Converts the schema of a property to a field.
fn field(schema: &Json) -> Result<Map<String, Json>, String> {
    let mut field = Map::new();
    let anything = || json!({"kind": "any", "nullable": true});
    let inner = schema
        .get("schema")
        .and_then(Json::as_object)
        .filter(|inner| !inner.is_empty());
    let kind = match schema["type"].as_str().ok_or("a schema has a type")? {
        "list" => {
            let item = inner
                .and_then(|inner| inner.get("*"))
                .map(self::field)
                .transpose()?;
            field.insert("items".into(), item.map_or_else(anything, Json::Object));
            "array"
        }
        "map" => match inner {
            Some(inner) => {
                let mut fields = Map::new();
                for (name, schema) in inner {
                    let mut inside =
                        self::field(schema).map_err(|error| format!("{name}: {error}"))?;
                    mark_secret(name, &mut inside);
                    fields.insert(name.clone(), Json::Object(inside));
                }
                field.insert("fields".into(), Json::Object(fields));
                "object"
            }
            None => {
                field.insert("values".into(), anything());
                "map"
            }
        },
        "number" => "float",
        kind @ ("string" | "integer" | "boolean" | "any") => kind,
        other => return Err(format!("`{other}` is no type")),
    };
    field.insert("kind".into(), json!(kind));
    if flag(schema, "required") {
        field.insert("required".into(), json!(true));
    } else if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let default = fitted(default, &Json::Object(field.clone()));
        field.insert("default".into(), default);
    }
    for constraint in schema
        .get("constraints")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
    {
        let parts = constraint.as_object().ok_or("a constraint is an object")?;
        for (word, limits) in parts {
            limited(&mut field, kind, word, limits)?;
        }
    }
    let status = match schema.get("implemented") {
        Some(Json::Bool(false)) => Some("not-implemented"),
        _ => support_status(schema.get("status").unwrap_or(&Json::Null))?,
    };
    if let Some(status) = status {
        field.insert("supportStatus".into(), json!(status));
    }
    Ok(field)
}

fn limited(
    field: &mut Map<String, Json>,
    kind: &str,
    word: &str,
    limits: &Json,
) -> Result<(), String> {
    match (word, kind) {
        ("range", "integer" | "float") => put(field, limits, ["min", "max"]),
        ("length", "string") => put(field, limits, ["minLength", "maxLength"]),
        ("length", "array" | "map") => put(field, limits, ["minItems", "maxItems"]),
        ("modulo", "integer") => {
            field.insert("modulo".into(), json!([limits["step"], limits["offset"]]));
        }
        ("allowed_values", "array") => {
            field["items"]["allowed"] = limits.clone();
        }
        ("allowed_values", _) => {
            let values = limits
                .as_array()
                .into_iter()
                .flatten()
                .map(|value| of_kind(value, kind));
            field.insert("allowed".into(), values.collect());
        }
        ("allowed_pattern", "string") => {
            field.insert("pattern".into(), limits.clone());
            field.insert("whole".into(), json!(true));
        }
        ("custom_constraint", _) => {
            let names = field.entry("custom").or_insert_with(|| json!([]));
            names
                .as_array_mut()
                .ok_or("names are a list")?
                .push(limits.clone());
        }
        _ => return Err(format!("`{word}` limits nothing of kind `{kind}`")),
    }
    Ok(())
}

/// Inserts the minimum and the maximum, if given.
fn put(field: &mut Map<String, Json>, limits: &Json, names: [&str; 2]) {
    for (key, name) in ["min", "max"].into_iter().zip(names) {
        if let Some(limit) = limits.get(key).filter(|limit| !limit.is_null()) {
            field.insert(name.into(), limit.clone());
        }
    }
}

/// Converts a default or an allowed value to a kind. Heat converts such values only when it uses
/// them.
fn of_kind(value: &Json, kind: &str) -> Json {
    match (kind, value) {
        ("float", Json::Number(number)) => json!(number.as_f64()),
        ("boolean", Json::String(text)) => json!(text.eq_ignore_ascii_case("true")),
        ("array", Json::Object(entries)) if entries.is_empty() => json!([]),
        ("integer", Json::String(text)) => text
            .parse::<i64>()
            .map_or_else(|_| value.clone(), |number| json!(number)),
        ("string", Json::Number(_) | Json::Bool(_)) => json!(value.to_string()),
        _ => value.clone(),
    }
}

/// Converts a default to the kind of its field, at any depth.
fn fitted(value: &Json, field: &Json) -> Json {
    let kind = field["kind"].as_str().unwrap_or_default();
    match (kind, of_kind(value, kind)) {
        ("array", Json::Array(items)) => items
            .iter()
            .map(|item| fitted(item, &field["items"]))
            .collect(),
        ("object", Json::Object(entries)) => {
            let one = |(name, value): (&String, &Json)| {
                (name.clone(), fitted(value, &field["fields"][name]))
            };
            Json::Object(entries.iter().map(one).collect())
        }
        (_, value) => value,
    }
}

/// The output files with their types: the types of `OS::Heat`, which have a provider, and all
/// others.
pub(crate) fn files(types: Vec<Type>) -> [(&'static str, Vec<Type>); 2] {
    let (heat, others) = types
        .into_iter()
        .partition(|(name, _)| name.starts_with("OS::Heat::"));
    [
        ("heat/described.bin", heat),
        ("catalog/catalog.bin", others),
    ]
}

/// The types in compact form.
pub(crate) fn pack(types: &[Type]) -> Vec<u8> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut index = String::new();
    for (name, ty) in types {
        let namespace = name
            .rsplit_once("::")
            .map_or(name.as_str(), |(namespace, _)| namespace);
        let known = blocks.iter().position(|(known, _)| known == namespace);
        let number = known.unwrap_or_else(|| {
            blocks.push((namespace.to_owned(), String::new()));
            blocks.len() - 1
        });
        let text = ty.to_string();
        let (_, block) = &mut blocks[number];
        index.push_str(&format!("{name} {number} {} {}\n", block.len(), text.len()));
        block.push_str(&text);
    }
    let mut out = b"cyanost1".to_vec();
    let number = |out: &mut Vec<u8>, number: usize| {
        out.extend(
            u32::try_from(number)
                .expect("a catalogue is smaller than 4 GiB")
                .to_le_bytes(),
        );
    };
    number(&mut out, index.len());
    number(&mut out, blocks.len());
    out.extend(index.as_bytes());
    for (_, text) in blocks {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder
            .write_all(text.as_bytes())
            .expect("memory takes whatever is written");
        let packed = encoder.finish().expect("memory takes whatever is written");
        number(&mut out, packed.len());
        number(&mut out, text.len());
        out.extend(packed);
    }
    out
}
