//! Which cloud is used, and what files, variables and settings say about it.

use std::path::{Path, PathBuf};

use provider::SettingsChange;
use serde_json::{Value as Json, json};

use super::super::Service;
use super::super::access::{self, Access};
use super::super::environment::CloudEnvironment;
use super::super::interface::Interface;
use super::{settings, variables};

/// A folder with files.
struct Files(tempfile::TempDir);

impl Files {
    fn with(files: &[(&str, &str)]) -> Files {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Files(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The access of settings and variables, with this folder to search.
    fn access(
        &self,
        of_settings: &[(&str, &str)],
        of_variables: &[(&str, &str)],
    ) -> Result<Access, String> {
        let environment = CloudEnvironment {
            folders: vec![PathBuf::from("/nowhere"), self.0.path().to_owned()],
            ..variables(of_variables)
        };
        access::access(&settings(of_settings), &environment).map_err(|error| error.message)
    }

    /// The error, with the name of the folder removed.
    #[track_caller]
    fn refused(&self, of_settings: &[(&str, &str)], of_variables: &[(&str, &str)]) -> String {
        let error = self
            .access(of_settings, of_variables)
            .err()
            .expect("it must be refused");
        assert!(!error.contains("hunter22"), "{error}");
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn user(access: &Access) -> Json {
    access.identity.json()["password"]["user"].clone()
}

fn project(access: &Access) -> Json {
    access
        .scope
        .json()
        .map(|scope| scope["project"].clone())
        .unwrap_or_default()
}

const ONE: &str = "\
clouds:
  shop:
    region_name: RegionOne
    auth:
      auth_url: https://keystone.example.com:5000/v3
      username: demo
      password: hunter22
      project_name: shop
      user_domain_id: default
      project_domain_name: Default
";

#[test]
fn the_only_cloud_of_a_file_is_used() {
    let files = Files::with(&[("clouds.yaml", ONE)]);
    let access = files.access(&[], &[]).unwrap();
    assert_eq!(
        access.endpoints.keystone.as_str(),
        "https://keystone.example.com:5000/"
    );
    assert_eq!(access.endpoints.region.as_deref(), Some("RegionOne"));
    assert_eq!(access.endpoints.interface, Interface::Public);
    let expected = json!({"name": "demo", "domain": {"id": "default"}, "password": "hunter22"});
    assert_eq!(user(&access), expected);
    assert_eq!(
        project(&access),
        json!({"name": "shop", "domain": {"name": "Default"}})
    );
    assert_eq!(access.secrets, ["hunter22"]);
}

#[test]
fn one_of_several_clouds_must_be_chosen() {
    let files = Files::with(&[(
        "clouds.yaml",
        "x: &base {auth_url: 'http://k', username: u, password: p, project_id: p1}\n\
         clouds:\n  a: {auth: {<<: *base, username: a}}\n  b: {auth: *base}\n",
    )]);
    let expected = "clouds.yaml describes several clouds: `a`, `b`; choose one with the variable \
                    `OS_CLOUD` or the setting `cloud`";
    assert_eq!(files.refused(&[], &[]), expected);
    let access = files.access(&[], &[("OS_CLOUD", "a")]).unwrap();
    assert_eq!(user(&access)["name"], "a");
    let access = files
        .access(&[("cloud", "b")], &[("OS_CLOUD", "a")])
        .unwrap();
    assert_eq!(user(&access)["name"], "u");
    assert_eq!(
        files.refused(&[("cloud", "c")], &[]),
        "clouds.yaml has no cloud `c`; it has `a`, `b`"
    );
}

#[test]
fn files_are_searched_in_order() {
    let first = Files::with(&[("clouds.yml", &ONE.replace("demo", "first"))]);
    let second = Files::with(&[("clouds.yaml", &ONE.replace("demo", "second"))]);
    let folders = vec![first.0.path().to_owned(), second.0.path().to_owned()];
    let user_with = |of_settings: &[(&str, &str)], of_variables: &[(&str, &str)]| {
        let environment = CloudEnvironment {
            folders: folders.clone(),
            ..variables(of_variables)
        };
        let access = access::access(&settings(of_settings), &environment);
        access
            .map(|access| user(&access)["name"].clone())
            .map_err(|error| error.message)
    };
    assert_eq!(user_with(&[], &[]), Ok(json!("first")));
    let path = second.path("clouds.yaml");
    let path = path.to_str().unwrap();
    assert_eq!(
        user_with(&[], &[("OS_CLIENT_CONFIG_FILE", path)]),
        Ok(json!("second"))
    );
    assert_eq!(
        user_with(&[("config-file", path)], &[]),
        Ok(json!("second"))
    );
    let error = user_with(&[], &[("OS_CLIENT_CONFIG_FILE", "/nowhere/c.yaml")]).unwrap_err();
    let expected =
        "the file /nowhere/c.yaml does not exist; the variable `OS_CLIENT_CONFIG_FILE` names it";
    assert_eq!(error, expected);
}

#[test]
fn secrets_may_stand_in_a_file_of_their_own() {
    let open = ONE.replace("      password: hunter22\n", "");
    let secure = "clouds: {shop: {auth: {password: hunter23}}}\n";
    let files = Files::with(&[("clouds.yaml", &open), ("secure.yaml", secure)]);
    let access = files.access(&[], &[]).unwrap();
    assert_eq!(user(&access)["password"], "hunter23");
    let alone = Files::with(&[("clouds.yaml", &open)]);
    assert_eq!(
        alone.refused(&[], &[]),
        "the cloud `shop` of clouds.yaml has no `password`"
    );
    let access = alone.access(&[("password", "hunter24")], &[]).unwrap();
    assert_eq!(user(&access)["password"], "hunter24");
}

#[test]
fn a_profile_gives_the_options_below_the_cloud() {
    let cloud = "clouds: {shop: {profile: acme, auth: {username: u, password: p, project_id: x}}}";
    let public = "public-clouds: {acme: {region_name: north, auth: {auth_url: 'https://acme', username: v}}}";
    let files = Files::with(&[("clouds.yaml", cloud), ("clouds-public.yaml", public)]);
    let access = files.access(&[], &[]).unwrap();
    assert_eq!(
        (
            access.endpoints.keystone.as_str(),
            access.endpoints.region.as_deref()
        ),
        ("https://acme/", Some("north"))
    );
    assert_eq!(user(&access)["name"], "u");
    let error = Files::with(&[("clouds.yaml", cloud)]).refused(&[], &[]);
    assert!(
        error.starts_with("clouds.yaml:1: the profile `acme` is not described"),
        "{error}"
    );
}

#[test]
fn a_region_of_a_cloud_has_its_own_options() {
    let text = ONE.replace(
        "    region_name: RegionOne\n",
        "    regions:\n      - north\n      - name: south\n        values: {interface: internal}\n",
    );
    let files = Files::with(&[("clouds.yaml", &text)]);
    let access = files.access(&[], &[]).unwrap();
    assert_eq!(
        (
            access.endpoints.region.as_deref(),
            access.endpoints.interface
        ),
        (Some("north"), Interface::Public)
    );
    for (of_settings, of_variables) in [
        (
            &[("region", "south")][..],
            &[("OS_REGION_NAME", "north")][..],
        ),
        (&[], &[("OS_REGION_NAME", "south")]),
    ] {
        let access = files.access(of_settings, of_variables).unwrap();
        assert_eq!(
            (
                access.endpoints.region.as_deref(),
                access.endpoints.interface
            ),
            (Some("south"), Interface::Internal)
        );
    }
    let error = files.refused(&[("region", "west")], &[]);
    assert_eq!(
        error,
        "clouds.yaml:3: the cloud has no region `west`; it has `north`, `south`"
    );
}

#[test]
fn variables_describe_a_cloud_without_a_file() {
    let files = Files::with(&[]);
    let of_variables = [
        ("OS_AUTH_URL", "http://k:5000/identity"),
        ("OS_USERNAME", "demo"),
        ("OS_PASSWORD", "hunter22"),
        ("OS_TENANT_NAME", "shop"),
        ("OS_USER_DOMAIN_NAME", "staff"),
        ("OS_PROJECT_DOMAIN_ID", "d1"),
        ("OS_REGION_NAME", "north"),
        ("OS_ENDPOINT_TYPE", "adminURL"),
        ("OS_VOLUMEV3_ENDPOINT_OVERRIDE", "http://v/v3"),
        ("OS_IDENTITY_API_VERSION", "3"),
    ];
    let access = files.access(&[], &of_variables).unwrap();
    assert_eq!(access.endpoints.keystone.as_str(), "http://k:5000/identity");
    assert_eq!(access.endpoints.interface, Interface::Admin);
    assert_eq!(user(&access)["domain"], json!({"name": "staff"}));
    assert_eq!(
        project(&access),
        json!({"name": "shop", "domain": {"id": "d1"}})
    );
    assert_eq!(
        access.endpoints.overrides,
        [(Service::Volume, "http://v/v3".to_owned())]
    );
    let access = files
        .access(&[("project-id", "p2")], &of_variables)
        .unwrap();
    assert_eq!(project(&access), json!({"id": "p2"}));
    // An address of the settings counts more than a cloud of the variables.
    let both = [&of_variables[1..], &[("OS_CLOUD", "shop")]].concat();
    let access = files
        .access(&[("auth-url", "http://other")], &both)
        .unwrap();
    assert_eq!(access.endpoints.keystone.as_str(), "http://other/");
    // The variables do not mix with a cloud of a file.
    let files = Files::with(&[("clouds.yaml", ONE)]);
    let of_file = [
        ("OS_CLOUD", "shop"),
        ("OS_USERNAME", "other"),
        ("OS_PROJECT_ID", "p3"),
    ];
    let access = files.access(&[], &of_file).unwrap();
    assert_eq!(user(&access)["name"], "demo");
    assert_eq!(project(&access)["name"], "shop");
    let chosen = [
        ("OS_CLOUD", "shop"),
        ("OS_INTERFACE", "internal"),
        ("OS_REGION_NAME", "west"),
    ];
    let access = files.access(&[], &chosen).unwrap();
    assert_eq!(access.endpoints.interface, Interface::Internal);
    assert_eq!(access.endpoints.region.as_deref(), Some("west"));
    let error = files.refused(
        &[],
        &[("OS_CLOUD", "shop"), ("OS_CACERT", "/nowhere/ca.pem")],
    );
    assert!(
        error.starts_with("the variable `OS_CACERT`: `cacert`: /nowhere/ca.pem"),
        "{error}"
    );
}

#[test]
fn a_token_signs_in() {
    let files = Files::with(&[]);
    let all = [
        ("OS_AUTH_URL", "http://k"),
        ("OS_TOKEN", "t1234567"),
        ("OS_PROJECT_ID", "p1"),
    ];
    let access = files.access(&[], &all).unwrap();
    assert_eq!(
        access.identity.json(),
        json!({"methods": ["token"], "token": {"id": "t1234567"}})
    );
    assert_eq!(access.secrets, ["t1234567"]);
}

#[test]
fn a_secret_of_the_settings_decides_how_to_sign_in() {
    let files = Files::with(&[("clouds.yaml", ONE)]);
    let credential = [
        ("application-credential-id", "c1"),
        ("application-credential-secret", "sesame12"),
    ];
    let access = files.access(&credential, &[]).unwrap();
    assert_eq!(
        access.identity.json()["methods"],
        json!(["application_credential"])
    );
    assert!(access.scope.json().is_none());
}

#[test]
fn mistakes_in_a_file_have_a_place() {
    for (from, to, expected) in [
        (
            "password: hunter22",
            "pasword: hunter22",
            "clouds.yaml:7: `pasword` is not allowed in `auth`; allowed are `auth_url`",
        ),
        (
            "username: demo",
            "username: [demo]",
            "clouds.yaml:6: `username` is a text",
        ),
        (
            "    auth:\n",
            "    auth: hunter22\n    x:\n",
            "clouds.yaml:4: `auth` is a map of options",
        ),
        (
            "https://keystone",
            "keystone",
            "clouds.yaml:5: `auth_url` is an address such as",
        ),
        (
            "region_name: RegionOne",
            "verify: false",
            "clouds.yaml:3: connections without verified certificates are not supported",
        ),
        (
            "region_name: RegionOne",
            "cert: x.pem",
            "clouds.yaml:3: client certificates are not supported",
        ),
        (
            "region_name: RegionOne",
            "interface: outside",
            "clouds.yaml:3: `interface` is `public`, `internal` or `admin`, not `outside`",
        ),
        (
            "region_name: RegionOne",
            "auth_type: v3totp",
            "clouds.yaml:3: `auth_type: v3totp` is not supported; supported are `password`",
        ),
        (
            "region_name: RegionOne",
            "cacert: /nowhere/ca.pem",
            "clouds.yaml:3: `cacert`: /nowhere/ca.pem cannot be read",
        ),
        (
            "region_name: RegionOne",
            "regions: north",
            "clouds.yaml:3: `regions` is a list",
        ),
        (
            "      username: demo\n",
            "",
            "the cloud `shop` of clouds.yaml has no `username`",
        ),
        (
            "auth_url: https",
            "auth_url2: https",
            "clouds.yaml:5: `auth_url2` is not allowed",
        ),
        (
            "clouds:\n",
            "cloud:\n",
            "clouds.yaml:1: there is no key `clouds`",
        ),
        (
            "password: hunter22",
            "password: 'hunter22",
            "clouds.yaml:7: the file is not valid YAML",
        ),
        (
            "password: hunter22",
            "password: hunter22: x",
            "clouds.yaml:7: the file is not valid YAML",
        ),
    ] {
        assert!(ONE.contains(from), "{from}");
        let files = Files::with(&[("clouds.yaml", &ONE.replace(from, to))]);
        let error = files.refused(&[], &[]);
        assert!(error.starts_with(expected), "{to}: {error}");
    }
}

#[test]
fn without_any_cloud_the_message_says_where_it_was_looked_for() {
    let error = Files::with(&[]).refused(&[], &[]);
    assert!(
        error.starts_with("no cloud is described: there is no clouds.yaml in /nowhere, "),
        "{error}"
    );
    assert!(error.contains("`OS_AUTH_URL`"), "{error}");
    let error = Files::with(&[]).refused(&[], &[("OS_CLOUD", "shop")]);
    assert!(
        error.starts_with("the cloud `shop` is not described"),
        "{error}"
    );
}

#[test]
fn any_text_is_read_without_a_panic() {
    for text in [
        "",
        "~",
        "[]",
        "clouds:",
        "clouds: [a]",
        "clouds: {a: b}",
        "\u{feff}clouds: {}",
        "a: &x {<<: *x}",
        "<<: [[[{}]]]",
        "clouds: {a: {auth: {auth_url: }}}",
        "%",
    ] {
        let files = Files::with(&[("clouds.yaml", text)]);
        assert!(files.access(&[], &[]).is_err(), "{text}");
    }
}

#[test]
fn another_project_has_other_objects_and_another_password_the_same() {
    let change =
        |before: &[(&str, &str)], now: &[(&str, &str)]| settings(before).change_to(&settings(now));
    assert_eq!(
        change(&[("cloud", "a")], &[("cloud", "a"), ("password", "x")]),
        SettingsChange::Same
    );
    assert_eq!(
        change(&[("region", "one")], &[("region", "two"), ("cloud", "a")]),
        SettingsChange::Replace(vec!["cloud".into(), "region".into()])
    );
}

#[test]
fn settings_do_not_show_their_values() {
    let shown = format!(
        "{:?}",
        settings(&[("password", "hunter22"), ("cloud", "shop")])
    );
    assert!(
        shown.contains("password") && !shown.contains("hunter22"),
        "{shown}"
    );
}

#[test]
fn an_interface_of_the_settings_is_checked() {
    let entries =
        [("interface", "outside")].map(|(name, value)| (name, blueprint::Value::text(value)));
    let error = super::super::CloudSettings::read(&blueprint::Value::map(entries), Path::new("."));
    assert_eq!(
        error.unwrap_err().message,
        "`interface` is `public`, `internal` or `admin`"
    );
}
