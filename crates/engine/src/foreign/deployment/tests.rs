//! A deployment is written as it was read.

use blueprint::Value;
use data_encoding::BASE64;
use diag::Diagnostic;
use dialect::{FillRandom, NewKey, SecretManager, TextCipher};
use serde_json::{Value as Json, json};
use state::{InstanceName, Keeping, Snapshot, StatusOp, StatusWord};

use super::check::magic;
use super::{DeploymentError, DeploymentRequest, read, write};

/// A manager whose cipher is base64.
struct TestManager;

struct TestCipher;

impl SecretManager for TestManager {
    fn unlock(&self, _kind: &str, _data: &str) -> Result<Box<dyn TextCipher>, Box<Diagnostic>> {
        Ok(Box::new(TestCipher))
    }

    fn create(&self, _random: FillRandom<'_>) -> Result<NewKey, Box<Diagnostic>> {
        Ok(NewKey {
            kind: "passphrase",
            cipher: Box::new(TestCipher),
            data: "new".to_owned(),
        })
    }
}

impl TextCipher for TestCipher {
    fn encrypt(&self, plain: &str, _random: FillRandom<'_>) -> Result<String, String> {
        Ok(BASE64.encode(plain.as_bytes()))
    }

    fn decrypt(&self, text: &str) -> Result<String, String> {
        let bytes = BASE64.decode(text.as_bytes());
        let bytes = bytes.map_err(|_| "is no base64".to_owned())?;
        String::from_utf8(bytes).map_err(|_| "is no text".to_owned())
    }
}

const KEY: &str = "4dabf18193072939515e22adb298388d";

fn secret(plain: &Json) -> Json {
    let sealed = BASE64.encode(plain.to_string().as_bytes());
    json!({KEY: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": sealed})
}

fn deployment() -> Json {
    let urn = |rest: &str| format!("urn:pulumi:dev::shop::{rest}");
    let stack = urn("pulumi:pulumi:Stack::shop-dev");
    let default = urn("pulumi:providers:sim::default_1_0_0");
    let east = urn("pulumi:providers:sim::east");
    let web = urn("my:index:Web::web");
    let lamp = urn("my:index:Web$sim:index:Res::lamp");
    let shade = urn("sim:index:Res::shade");
    json!({
        "version": 4,
        "features": ["replaceWith", "taint"],
        "deployment": {
            "manifest": {"time": "2026-11-01T10:00:00Z", "magic": magic("v3.255.0"), "version": "v3.255.0"},
            "secrets_providers": {"type": "passphrase", "state": {"salt": "v1:c2FsdA==:x"}},
            "resources": [
                {"urn": stack, "custom": false, "type": "pulumi:pulumi:Stack", "outputs": {
                    "pin": secret(&json!({"a": [1, "b"]})), "size": 3
                }, "created": "2026-11-01T10:00:00Z"},
                {"urn": default, "custom": true, "id": "6a", "type": "pulumi:providers:sim",
                    "inputs": {"version": "1.0.0"}, "outputs": {"version": "1.0.0"}},
                {"urn": east, "custom": true, "id": "7b", "type": "pulumi:providers:sim",
                    "inputs": {"region": "east", "token": secret(&json!("t"))},
                    "outputs": {"region": "east", "token": secret(&json!("t"))}, "parent": stack},
                {"urn": web, "custom": false, "type": "my:index:Web", "parent": stack,
                    "outputs": {"url": "x"}, "aliases": [urn("my:index:Site::web")]},
                {"urn": lamp, "custom": true, "id": "lamp-2", "type": "sim:index:Res",
                    "inputs": {"size": 1.5, "password": secret(&json!("p")), "none": null,
                        "file": {KEY: "c44067f5952c0a294b673a41bacd8c17", "hash": "00ff", "path": "./a.txt"},
                        "of": {KEY: "5cf8f73096256a8f31e491e813e4eb8e", "urn": east, "id": "7b", "packageVersion": ""}},
                    "outputs": {"arn": "arn:lamp-2", "parts": {KEY: "0def7320c3a5731c473e5ecbe6d01bc7",
                        "hash": "11", "assets": {"a": {KEY: "c44067f5952c0a294b673a41bacd8c17", "text": "hi"}}}},
                    "parent": web, "provider": format!("{east}::7b"), "protect": true,
                    "dependencies": [web], "propertyDependencies": {"size": [web], "password": null},
                    "additionalSecretOutputs": ["password"], "customTimeouts": {"create": 300, "delete": 1.5},
                    "retainOnDelete": true, "created": "2026-11-01T10:00:00Z", "newKey": {"later": [true]},
                    "ignoreChanges": ["label"], "importID": "lamp-0", "taint": true},
                {"urn": shade, "custom": true, "id": "shade-1", "type": "sim:index:Res", "external": true,
                    "inputs": {}, "outputs": {}, "parent": stack, "provider": format!("{default}::6a"),
                    "deletedWith": lamp, "replaceWith": [lamp], "initErrors": ["it does not start"]},
                {"urn": lamp, "custom": true, "delete": true, "id": "lamp-1", "type": "sim:index:Res",
                    "inputs": {"size": 1}, "outputs": {"size": 1}, "parent": web, "provider": format!("{east}::7b"),
                    "propertyDependencies": {"size": []}},
                {"urn": urn("sim:index:Res::gone"), "custom": true, "delete": true, "id": "gone-1",
                    "type": "sim:index:Res", "parent": stack, "provider": format!("{default}::6a")},
                {"urn": urn("sim:index:Res::waits"), "custom": true, "id": "waits-1", "pendingReplacement": true,
                    "type": "sim:index:Res", "inputs": {"size": 2}, "parent": stack, "provider": format!("{default}::6a")}
            ],
            "pending_operations": [
                {"resource": {"urn": urn("sim:index:Res::new"), "custom": true, "type": "sim:index:Res",
                    "inputs": {"size": 4}, "parent": stack, "provider": format!("{default}::6a")}, "type": "creating"},
                {"resource": {"urn": shade, "custom": true, "id": "shade-1", "type": "sim:index:Res"}, "type": "updating"}
            ],
            "metadata": {"integrity_error": null},
            "snippets": [{"id": "1"}]
        }
    })
}

fn written(snapshot: &Snapshot, manager: Option<&dyn SecretManager>) -> Json {
    let instance: InstanceName = "dev".parse().expect("a name");
    let mut random = |bytes: &mut [u8]| {
        bytes.fill(1);
        Ok(())
    };
    let request = DeploymentRequest {
        destroyed: false,
        instance: &instance,
        snapshot,
        project: "shop",
        manager,
    };
    write(&request, &mut random).expect("it can be written")
}

#[test]
fn a_deployment_is_written_as_it_was_read() {
    let before = deployment();
    let own = read(&before, &TestManager).expect("it can be read");
    assert_eq!(&*own.stack, "dev");
    let after = written(&own.snapshot, Some(&TestManager));
    for (at, resource) in before["deployment"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        assert_eq!(&after["deployment"]["resources"][at], resource, "{at}");
    }
    assert_eq!(after, before);
    // The journal keeps records as JSON.
    let text = serde_json::to_string(&own.snapshot.records).unwrap();
    let records = serde_json::from_str(&text).unwrap();
    let again = Snapshot {
        records,
        ..own.snapshot
    };
    assert_eq!(written(&again, Some(&TestManager)), before);
}

#[test]
fn a_text_that_is_passed_as_an_asset_is_written_with_its_digest() {
    let mut snapshot = read(&deployment(), &TestManager)
        .expect("it can be read")
        .snapshot;
    let text = Value::Asset(std::sync::Arc::new(blueprint::Asset::Text("abc".into())));
    snapshot.exports.insert("file".into(), text);
    let written = written(&snapshot, Some(&TestManager));
    let file = &written["deployment"]["resources"][0]["outputs"]["file"];
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(file["hash"], digest, "{file}");
}

#[test]
fn resources_of_a_deployment_become_records() {
    let own = read(&deployment(), &TestManager).expect("it can be read");
    let record = |name: &str| {
        let address: blueprint::Address = name.parse().unwrap();
        own.snapshot.records[&address].clone()
    };
    let lamp = record("lamp");
    assert_eq!(&*lamp.type_name, "pulumi:sim/index:Res");
    assert!(lamp.protect && lamp.retain && lamp.has_secret());
    assert_eq!(lamp.provider.as_ref().map(|of| &*of.id), Some("7b"));
    assert_eq!(lamp.deposed.as_ref().map(|old| &*old.id), Some("lamp-1"));
    let ties = lamp.origin.ties.as_ref().unwrap();
    assert_eq!(ties.parent.as_ref().unwrap().to_string(), "web");
    assert_eq!(ties.timeouts.create.map(|limit| limit.as_secs()), Some(300));
    assert_eq!(&*record("east").type_name, "cyan/provider");
    let keeping = |name: &str| record(name).origin.ties.as_ref().unwrap().keeping;
    for name in ["web", "shop-dev", "default_1_0_0"] {
        assert_eq!(keeping(name), Keeping::Group, "{name}");
    }
    assert_eq!(keeping("shade"), Keeping::Read);
    let gone = record("gone");
    assert!(gone.id.is_empty() && gone.deposed.is_some());
    assert_eq!(record("shade").status.op, StatusOp::Update);
    assert_eq!(record("shade").status.word, StatusWord::Interrupted);
    assert!(record("new").token.is_some());
    assert!(own.snapshot.exports["pin"].has_secret());
}

#[test]
fn secrets_are_written_in_clear_on_request_only() {
    let own = read(&deployment(), &TestManager).expect("it can be read");
    let sealed = written(&own.snapshot, Some(&TestManager)).to_string();
    assert!(sealed.contains("ciphertext") && !sealed.contains("plaintext"));
    let plain = written(&own.snapshot, None);
    let pin = &plain["deployment"]["resources"][0]["outputs"]["pin"];
    assert_eq!(pin["plaintext"], json!("{\"a\":[1,\"b\"]}"));
    let again = read(&plain, &TestManager).expect("it can be read");
    assert_eq!(again.snapshot.exports, own.snapshot.exports);
}

#[test]
fn what_cannot_be_read_says_why() {
    let mut other = deployment();
    other["features"] = json!(["later"]);
    let shape = |tree: &Json| match read(tree, &TestManager) {
        Err(DeploymentError::Shape(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(shape(&other).contains("`later`"));
    assert!(shape(&json!({"version": 2, "deployment": {}})).contains("version 2"));
    assert!(shape(&json!({"version": 3})).contains("no deployment"));
    let mut wrong = deployment();
    wrong["deployment"]["resources"][3]["parent"] = json!("urn:pulumi:dev::shop::a:b:C::d");
    let found = read(&wrong, &TestManager);
    assert!(
        matches!(&found, Err(DeploymentError::Violations(all)) if all[0].resource == Some(3)),
        "{found:?}"
    );
}
