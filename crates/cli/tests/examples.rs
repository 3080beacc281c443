//! Runs the examples of the repository as their pages describe: stage, deploy, deploy again without
//! changes, change, edit by hand, destroy. Each example runs in a copy of its folder, with only the
//! binary.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A copy of an example, with its own home folder.
struct Example {
    place: TempDir,
    folder: PathBuf,
    /// The contents of the folder before the first command.
    begun_with: BTreeSet<String>,
}

/// The output of a run.
struct CommandOutput {
    exit: i32,
    stdout: String,
    stderr: String,
}

impl CommandOutput {
    /// Returns the last line on stdout. Fails if the run has another exit code.
    #[track_caller]
    fn last(&self, exit: i32) -> &str {
        assert_eq!(
            self.exit, exit,
            "stdout:\n{}\nstderr:\n{}",
            self.stdout, self.stderr
        );
        self.stdout.lines().next_back().unwrap_or_default()
    }
}

impl Example {
    fn new(name: &str) -> Example {
        let place = TempDir::new().expect("there is a place for temporary files");
        let folder = place.path().join(name);
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples")
            .join(name);
        copy(&from, &folder);
        let begun_with = listing(&folder);
        let example = Example {
            place,
            folder,
            begun_with,
        };
        let said = example.cyan("key new");
        assert_eq!(said.exit, 0, "{}{}", said.stdout, said.stderr);
        example
    }

    /// Runs `cyan` with these arguments in the folder, in a pipe, with its own home folder.
    fn cyan(&self, arguments: &str) -> CommandOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cyan"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CYAN_"))
        {
            command.env_remove(name);
        }
        let output = command
            .current_dir(&self.folder)
            .env("XDG_CONFIG_HOME", self.place.path().join("home"))
            .args(arguments.split(' '))
            .output()
            .expect("the binary starts");
        CommandOutput {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
        }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn has(&self, path: &str) -> bool {
        self.folder.join(path).symlink_metadata().is_ok()
    }

    /// Checks that a stage reports these counts, that a deploy reports the same, and that no change
    /// remains.
    #[track_caller]
    fn deploys(&self, inputs: &str, created: u32, updated: u32, deleted: u32, replaced: u32) {
        let inputs = if inputs.is_empty() {
            String::new()
        } else {
            format!(" {inputs}")
        };
        let counts = |words: [&str; 3], replace: &str| {
            let mut line = format!(
                "{created} {}, {updated} {}, {deleted} {}",
                words[0], words[1], words[2]
            );
            if replaced > 0 {
                line.push_str(&format!(", {replaced} {replace}"));
            }
            line
        };
        let staged = self.cyan(&format!("stage{inputs}"));
        assert_eq!(
            staged.last(0),
            counts(["to create", "to update", "to delete"], "to replace"),
            "{}",
            staged.stdout
        );
        let deployed = self.cyan(&format!("deploy --yes{inputs}"));
        assert_eq!(
            deployed.last(0),
            counts(["created", "updated", "deleted"], "replaced"),
            "{}",
            deployed.stdout
        );
        let again = self.cyan(&format!("stage{inputs}"));
        assert_eq!(
            again.last(0),
            "0 to create, 0 to update, 0 to delete",
            "{}",
            again.stdout
        );
        let drift = self.cyan("drift --exit-code");
        assert_eq!(drift.last(0), "0 drifted, 0 vanished", "{}", drift.stdout);
    }

    /// Checks that a destroy removes the created files, and no others.
    #[track_caller]
    fn destroys(&self, deleted: u32) {
        let said = self.cyan("destroy --yes");
        assert_eq!(
            said.last(0),
            format!("0 created, 0 updated, {deleted} deleted"),
            "{}",
            said.stdout
        );
        assert_eq!(listing(&self.folder), self.begun_with);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("the folder can be read").path();
        let name = entry.file_name().expect("it is in a folder");
        // Leave out files that a user made in the example itself.
        if [
            "public",
            "private",
            "dev",
            "release",
            "services",
            ".cyan",
            "site.tar.gz",
        ]
        .iter()
        .any(|made| name == *made)
        {
            continue;
        }
        if entry.is_dir() {
            copy(&entry, &to.join(name));
        } else {
            fs::copy(&entry, to.join(name)).expect("the file can be copied");
        }
    }
}

/// Returns all files and folders below a folder, except the state.
fn listing(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("the folder can be read") {
            let entry = entry.expect("the folder can be read").path();
            let name = entry
                .strip_prefix(folder)
                .expect("it lies below")
                .to_string_lossy()
                .into_owned();
            if name == ".cyan" || name.ends_with("/.cyan") {
                continue;
            }
            if entry.is_dir() && !entry.is_symlink() {
                folders.push(entry);
            }
            found.insert(name);
        }
    }
    found
}

#[test]
fn a_static_site() {
    let site = Example::new("static-site");
    assert_eq!(site.cyan("validate").exit, 0);
    site.deploys("", 19, 0, 0, 0);
    assert!(
        site.read("public/index.html")
            .contains("<h1>Blue Prints</h1>")
    );
    assert!(
        site.read("public/feed.xml")
            .contains("<link>https://localhost/#white-lines</link>")
    );
    assert!(
        site.read("private/certificate.pem")
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
    assert!(
        site.read("private/server.conf")
            .contains("server_name localhost;")
    );

    // A change of the title affects pages and archive. Key, certificate and password stay.
    let certificate = site.read("private/certificate.pem");
    let passwords = site.read("private/passwords");
    site.deploys("--var title=Sun", 0, 7, 0, 0);
    assert!(site.read("public/index.html").contains("<h1>Sun</h1>"));
    assert_eq!(
        (
            site.read("private/certificate.pem"),
            site.read("private/passwords")
        ),
        (certificate, passwords)
    );

    site.destroys(19);
}

#[test]
fn services_with_certificates() {
    let services = Example::new("certified-services");
    let valid = services.cyan("validate");
    assert_eq!(valid.exit, 0, "{}", valid.stderr);
    services.deploys("", 16, 0, 0, 0);
    assert!(
        services
            .read("services/orders/certificate.pem")
            .starts_with("-----BEGIN CERTIFICATE-----")
    );
    assert_eq!(
        services.read("services/api/service.conf").lines().next(),
        Some("listen 8443;")
    );
    assert_eq!(
        services.read("services/orders/service.conf").lines().next(),
        Some("listen 9443;")
    );
    assert_eq!(
        services.cyan("exports api").last(0),
        "https://api.shop.internal:8443"
    );
    let shown = services.cyan("show orders/certificate");
    assert!(
        shown.stdout.contains("tls/signed-certificate"),
        "{}",
        shown.stdout
    );
    let staged = services.cyan("stage --json");
    assert!(!staged.stdout.contains("PRIVATE KEY"), "{}", staged.stdout);

    // Both children read a file from the folder of their document.
    let conf = services.folder.join("parts/service.conf");
    fs::write(&conf, "listen PORT;\n").expect("it can be written");
    services.deploys("", 0, 2, 0, 0);
    fs::write(
        &conf,
        fs::read(original("certified-services/parts/service.conf")).expect("it is there"),
    )
    .expect("it can be");
    services.deploys("", 0, 2, 0, 0);

    // Removing an include deletes exactly the resources of the child.
    let document = services.folder.join("services.blueprint.yaml");
    let whole = fs::read_to_string(&document).expect("it is text");
    let begin = whole.find("  orders:\n    path").expect("it is included");
    let end = whole.find("resources:\n").expect("it has resources");
    let without = format!("{}\n{}", &whole[..begin], &whole[end..])
        .replace(
            "list(children.api.endpoint, children.orders.endpoint)",
            "list(children.api.endpoint)",
        )
        .replace(
            "  orders: {type: string, field: children.orders.endpoint}\n",
            "",
        );
    fs::write(&document, without).expect("it can be written");
    services.deploys("", 0, 1, 6, 0);
    assert!(!services.has("services/orders/key.pem") && services.has("services/api/key.pem"));
    let gone = services.cyan("destroy --yes");
    assert_eq!(
        gone.last(0),
        "0 created, 0 updated, 10 deleted",
        "{}",
        gone.stdout
    );
    assert!(!services.has("services/api/key.pem") && !services.has("services/endpoints.json"));
}

fn original(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(path)
}

#[test]
fn services_that_a_transform_makes_files_of() {
    let services = Example::new("services");
    assert_eq!(services.cyan("validate").exit, 0);
    let staged = services.cyan("stage");
    assert!(
        staged.stdout.contains("notes expands to\n"),
        "{}",
        staged.stdout
    );
    services.deploys("", 5, 0, 0, 0);
    // A file that is created again from the state alone is still a resource of the service.
    fs::remove_file(services.folder.join("services/notes.service")).expect("it was made");
    assert_eq!(
        services.cyan("reconcile --yes").last(0),
        "1 created, 0 updated, 0 deleted"
    );
    let shown = services.cyan("show notes_unit").stdout;
    assert!(
        shown.contains("made from: notes, by a transform"),
        "{shown}"
    );
    let unit = services.read("services/notes.service");
    assert!(
        unit.contains("ExecStart=/usr/bin/python3 -m http.server 8080\n"),
        "{unit}"
    );
    assert!(unit.contains("Environment=\"NOTES_PORT=8080\"\n"), "{unit}");
    assert!(unit.contains("notes.data\n"), "{unit}");
    assert!(
        services
            .read("services/mirror-south.service")
            .contains("--to south")
    );
    let shown = services.cyan("show notes_unit");
    assert!(
        shown.stdout.contains("made from: notes"),
        "{}",
        shown.stdout
    );
    let graph = services.cyan("graph");
    assert!(
        graph.stdout.contains("made from mirror"),
        "{}",
        graph.stdout
    );
    services.deploys("--var port=99", 0, 2, 0, 0);
    // The folder was created along with a file, so it is no resource.
    let said = services.cyan("destroy --yes");
    assert_eq!(
        said.last(0),
        "0 created, 0 updated, 5 deleted",
        "{}",
        said.stdout
    );
    assert_eq!(
        listing(&services.folder.join("services")),
        Default::default()
    );
}

#[test]
fn invalid_service_is_reported_at_its_declaration() {
    let services = Example::new("services");
    let path = services.folder.join("services.blueprint.yaml");
    let text = services.read("services.blueprint.yaml");
    fs::write(
        path,
        text.replace(
            "    each: ${values.mirrors}\n",
            "    each: ${values.mirrors}\n    description: many\n",
        )
        .replace("--to ${elem}\n", "--to ${elem}\n      data: true\n"),
    )
    .expect("the file can be written");
    for command in ["validate", "stage", "graph"] {
        let said = services.cyan(command);
        assert_eq!(said.exit, 1, "{command}: {}{}", said.stdout, said.stderr);
        assert!(
            said.stderr.contains("transform-failed") && said.stderr.contains("mirror:"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn secrets_of_the_site_appear_only_in_requested_files() {
    let site = Example::new("static-site");
    let staged = site.cyan("stage");
    let deployed = site.cyan("deploy --yes");
    assert_eq!(deployed.exit, 0, "{}", deployed.stderr);

    let hidden = site.cyan("exports password");
    assert!(!hidden.stdout.contains("-----"), "{}", hidden.stdout);
    let shown = site.cyan("exports password --reveal");
    let password = shown.last(0).to_owned();
    assert_eq!(password.chars().count(), 24);
    let hash = site.read("private/passwords");
    let hash = hash
        .strip_prefix("editor:")
        .expect("the file is for this user")
        .trim_end();
    assert!(hash.starts_with("$2"), "a bcrypt hash: {hash}");
    let key = site.read("private/key.pem");
    let key = key.lines().nth(1).expect("a key has lines").to_owned();

    let shown = site.cyan("show");
    let json = site.cyan("show --json");
    let mut texts = vec![hidden.stdout];
    for said in [staged, deployed, shown, json, site.cyan("history")] {
        texts.extend([said.stdout, said.stderr]);
    }
    for name in fs::read_dir(site.folder.join(".cyan")).expect("there is a state") {
        let bytes =
            fs::read(name.expect("the folder can be read").path()).expect("the state can be read");
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    for text in &texts {
        for secret in [password.as_str(), hash, &key] {
            assert!(!text.contains(secret), "a secret lies open in:\n{text}");
        }
    }
}

#[test]
fn the_same_site_gives_the_same_archive() {
    let (one, other) = (Example::new("static-site"), Example::new("static-site"));
    for site in [&one, &other] {
        assert_eq!(site.cyan("deploy --yes").exit, 0);
    }
    let read =
        |site: &Example| fs::read(site.folder.join("site.tar.gz")).expect("the archive is there");
    assert_eq!(read(&one), read(&other));
}

#[test]
fn edited_page_is_reported_and_rewritten() {
    let site = Example::new("static-site");
    assert_eq!(site.cyan("deploy --yes").exit, 0);
    let page = site.read("public/about.html");
    fs::write(
        site.folder.join("public/about.html"),
        format!("{page}<!-- mine -->\n"),
    )
    .expect("the page can be written");
    let drift = site.cyan("drift --exit-code");
    let last = drift.last(3);
    assert!(
        last.ends_with("drifted, 0 vanished") && !last.starts_with('0'),
        "{}",
        drift.stdout
    );
    assert!(drift.stdout.contains("aboutPageFile"), "{}", drift.stdout);
    assert_eq!(site.cyan("deploy --yes").exit, 0);
    assert_eq!(site.read("public/about.html"), page);
    assert_eq!(
        site.cyan("drift --exit-code").last(0),
        "0 drifted, 0 vanished"
    );
}

/// Edits each file of an example once. One deploy applies each edit, and no change remains.
#[track_caller]
fn converges_after_any_edit(example: &Example, inputs: &str) {
    let inputs = if inputs.is_empty() {
        String::new()
    } else {
        format!(" {inputs}")
    };
    assert_eq!(example.cyan(&format!("deploy --yes{inputs}")).exit, 0);
    let files = example
        .begun_with
        .iter()
        .filter(|name| !name.ends_with(".md") && example.folder.join(name).is_file());
    for name in files {
        let before = example.read(name);
        let edited = match name.rsplit('.').next() {
            Some("json") => before.replacen("\"title\": \"", "\"title\": \"New ", 1),
            Some("jsonc") => format!("{before}// edited\n"),
            _ => format!("{before}# edited\n"),
        };
        assert_ne!(edited, before, "{name}");
        fs::write(example.folder.join(name), edited).expect("it can be written");
        let drift = example.cyan("drift --exit-code");
        assert_eq!(
            drift.last(0),
            "0 drifted, 0 vanished",
            "{name}: {}",
            drift.stdout
        );
        let deployed = example.cyan(&format!("deploy --yes{inputs} --drift refuse"));
        assert_eq!(
            deployed.exit, 0,
            "{name}: {}{}",
            deployed.stdout, deployed.stderr
        );
        let again = example.cyan(&format!("stage{inputs} --exit-code"));
        assert_eq!(
            again.last(0),
            "0 to create, 0 to update, 0 to delete",
            "{name}: {}",
            again.stdout
        );
    }
}

#[test]
fn examples_converge_in_one_deploy_after_any_edit() {
    for (name, inputs) in [
        ("static-site", ""),
        ("certified-services", ""),
        ("services", ""),
        ("dev-environment", ""),
        ("json-with-comments", ""),
        ("web-cluster", "-e environments/base.yaml"),
        ("service-catalogue", "-e environments/site.yaml"),
    ] {
        converges_after_any_edit(&Example::new(name), inputs);
    }
}

#[test]
fn edited_source_is_a_change_that_names_the_source() {
    let site = Example::new("static-site");
    assert_eq!(site.cyan("deploy --yes").exit, 0);
    fs::write(site.folder.join("static/style.css"), "body {}\n").expect("it can be written");
    let staged = site.cyan("stage");
    assert_eq!(
        staged.last(0),
        "0 to create, 2 to update, 0 to delete",
        "{}",
        staged.stdout
    );
    for line in [
        "~ assets[0] local/file update: changed",
        "the content of `static/style.css` has changed",
        "~ bundle local/archive update: changed",
        "the content of `public` is changed by this plan",
    ] {
        assert!(
            staged.stdout.contains(line),
            "no `{line}` in {}",
            staged.stdout
        );
    }
    // No drift policy prevents the change.
    for (text, policy) in [
        ("a {}", "refuse"),
        ("b {}", "ignore"),
        ("c {}", "accept"),
        ("d {}", "revert"),
    ] {
        fs::write(site.folder.join("static/style.css"), text).expect("it can be written");
        let deployed = site.cyan(&format!("deploy --yes --drift {policy}"));
        assert_eq!(
            deployed.last(0),
            "0 created, 2 updated, 0 deleted",
            "{policy}: {}",
            deployed.stdout
        );
        assert_eq!(site.read("public/style.css"), text);
    }
}

#[test]
fn a_development_environment() {
    let dev = Example::new("dev-environment");
    dev.deploys("", 12, 0, 0, 0);
    assert!(
        dev.read("dev/basket/service.env")
            .contains("LISTEN=127.0.0.1:7002\n")
    );
    assert_eq!(dev.read("dev/data/customers.csv").lines().count(), 26);
    assert_eq!(dev.cyan("exports rows").last(0), "25");
    assert!(!dev.has("dev/tracing.conf"));

    dev.deploys("--var tracing=true", 1, 3, 0, 0);
    assert!(dev.has("dev/tracing.conf") && !dev.has("dev/NOTICE"));
    dev.deploys("--var tracing=true --var mode=shared", 1, 3, 0, 0);
    assert!(dev.has("dev/NOTICE"));
    assert!(
        dev.read("dev/basket/service.env")
            .contains("LISTEN=0.0.0.0:7002\n")
    );
    dev.deploys("", 0, 3, 2, 0);

    dev.deploys("--var customers=100", 0, 0, 0, 1);
    assert_eq!(dev.cyan("exports rows").last(0), "100");

    fs::remove_file(dev.folder.join("dev/data/customers.csv")).expect("it was there");
    assert_eq!(
        dev.cyan("drift --exit-code").last(3),
        "0 drifted, 1 vanished"
    );
    assert_eq!(
        dev.cyan("deploy --yes --var customers=100").last(0),
        "1 created, 0 updated, 0 deleted"
    );
    assert_eq!(dev.read("dev/data/customers.csv").lines().count(), 101);

    let refused = dev.cyan("deploy --yes --var mode=elsewhere");
    assert_eq!(refused.exit, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("value-not-allowed"),
        "{}",
        refused.stderr
    );

    dev.destroys(12);
}

#[test]
fn json_with_comments() {
    let release = Example::new("json-with-comments");
    assert_eq!(release.cyan("validate --strict").exit, 0);
    release.deploys("", 6, 0, 0, 0);
    let nickname = release.cyan("exports nickname").last(0).to_owned();
    assert!(
        release
            .read("release/manifest.json")
            .contains(&format!("\"nickname\":\"{nickname}\""))
    );
    assert_eq!(
        fs::read_link(release.folder.join("release/current.json")).unwrap(),
        Path::new("manifest.json")
    );

    release.deploys("--var release=1.5.0", 0, 2, 0, 2);
    release.deploys("--var release=1.5.0 --var channel=preview", 0, 1, 1, 0);
    assert!(!release.has("release/current.json"));
    assert!(
        release
            .read("release/NOTES.txt")
            .ends_with("Copies no longer fade in the first year.\n")
    );

    release.destroys(5);
}

#[test]
fn a_web_cluster_of_heat_templates() {
    let cluster = Example::new("web-cluster");
    let base = "-e environments/base.yaml";
    assert_eq!(cluster.cyan(&format!("validate {base}")).exit, 0);
    cluster.deploys(base, 11, 0, 0, 0);
    assert_eq!(
        cluster.cyan("exports names").last(0),
        r#"["web-0", "web-1"]"#
    );
    assert_eq!(
        cluster.cyan("exports address").last(0),
        "https://shop.example/"
    );
    assert_eq!(
        cluster.cyan("exports first").last(0),
        "web-0 (member) listens on 8443"
    );
    assert_eq!(cluster.cyan("exports agent").last(0), "null");
    assert!(
        cluster
            .cyan("exports balancer")
            .stdout
            .contains("    server web-1.shop.example:8443;\n")
    );

    // The properties of the members contain a secret, and the back room has a hidden parameter.
    let exports = cluster.cyan("exports").stdout;
    assert!(
        exports.contains("back_room = (secret)\n") && !exports.contains("set $cookie_secret"),
        "{exports}"
    );
    let given = cluster.cyan("exports user_data --reveal").stdout;
    for part in [
        "fqdn: web-1.shop.example",
        "- name: ada\\n  shell: /bin/bash",
        "filename=\\\"site.conf\\\"",
        "listen 8443;",
    ] {
        assert!(given.contains(part), "no `{part}` in {given}");
    }
    assert!(!given.contains("agent.sh"), "{given}");
    let cookie = |given: &str| {
        given
            .split("cookie_secret")
            .nth(1)
            .map(|rest| rest[..44].to_owned())
    };
    assert!(cookie(&given).is_some());

    // The group grows, and each member gets an additional part.
    let busy = "-e environments/base.yaml -e environments/busy.yaml";
    cluster.deploys(busy, 9, 1, 0, 2);
    assert_eq!(
        cluster.cyan("exports names").last(0),
        r#"["web-0", "web-1", "web-2", "web-3"]"#
    );
    let now = cluster.cyan("exports user_data --reveal").stdout;
    assert!(now.contains("agent.sh"), "{now}");
    assert_eq!(cookie(&now), cookie(&given));
    assert!(cluster.cyan("list").last(0).starts_with("web-cluster  "));

    // A member is removed together with its name.
    let retired = format!("{busy} --var retired=1");
    cluster.deploys(&retired, 4, 1, 4, 0);
    assert_eq!(
        cluster.cyan("exports names").last(0),
        r#"["web-0", "web-2", "web-3", "web-4"]"#
    );
    cluster.deploys("-e environments/base.yaml", 0, 1, 9, 2);
    assert_eq!(
        cluster.cyan("exports names").last(0),
        r#"["web-0", "web-2"]"#
    );

    let refused = cluster.cyan(&format!("stage {base} --var members=21"));
    assert_eq!(refused.exit, 1, "{}", refused.stdout);
    assert!(
        refused.stderr.contains("value-constraint"),
        "{}",
        refused.stderr
    );
    cluster.destroys(11);
}

#[test]
fn a_service_catalogue_of_heat_templates() {
    let site = Example::new("service-catalogue");
    let plain = "-e environments/site.yaml";
    assert_eq!(site.cyan(&format!("validate {plain}")).exit, 0);
    site.deploys(plain, 14, 0, 0, 0);
    let exports = |name: &str| site.cyan(&format!("exports {name}")).last(0).to_owned();
    assert_eq!(
        exports("services"),
        r#"{"control": ["database", "queue", "api"], "worker": ["worker"]}"#
    );
    assert_eq!(
        exports("firewall"),
        r#"{"control": [443, 5432, 5672, 15672], "worker": []}"#
    );
    assert!(
        site.cyan("exports")
            .stdout
            .contains("credentials = (secret)\n")
    );
    let settings = exports("control_settings");
    for setting in [
        r#""database::connections": 200"#,
        r#""database::log_file": "/var/log/database.log""#,
        r#""queue::listen": "amqp://control.site.internal:5672""#,
        r#""api::region::south": "https://south.example/api""#,
        r#""api::log_level": "debug""#,
    ] {
        assert!(settings.contains(setting), "no {setting} in {settings}");
    }

    site.deploys(&format!("{plain} -e environments/large.yaml"), 4, 2, 0, 3);
    assert!(exports("control_settings").contains(r#""database::connections": 800"#));
    assert!(exports("hosts").ends_with(r#""worker-2.site.internal", "worker-3.site.internal"]"#));

    // A service is enabled for all hosts, and the site is small again.
    site.deploys(
        &format!("{plain} -e environments/telemetry.yaml"),
        0,
        4,
        6,
        3,
    );
    assert_eq!(
        exports("firewall"),
        r#"{"control": [443, 5432, 5672, 9100, 15672], "worker": [443, 9100]}"#
    );

    // A role with all its contents is removed by its condition.
    site.deploys(&format!("{plain} --var worker_hosts=0"), 1, 2, 4, 1);
    assert_eq!(exports("worker_settings"), "null");
    assert_eq!(exports("hosts"), r#"["control-0.site.internal"]"#);

    let refused = site.cyan(&format!("stage {plain} --var control_hosts=2"));
    assert_eq!(refused.exit, 1, "{}", refused.stdout);
    assert!(
        refused
            .stderr
            .contains("there must be an odd number of them"),
        "{}",
        refused.stderr
    );
    site.destroys(9);
}

/// Every example can be rehearsed: no file is written and no command runs, and a later real deploy
/// is unaffected.
#[test]
fn every_example_can_be_rehearsed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut rehearsed = 0;
    for entry in fs::read_dir(&folder).expect("there are examples") {
        let entry = entry.expect("the folder can be read");
        if !entry.path().is_dir() {
            continue;
        }
        let example = Example::new(&entry.file_name().to_string_lossy());
        let documents: Vec<String> = example
            .begun_with
            .iter()
            .filter(|name| name.contains(".blueprint.") && !name.contains('/'))
            .cloned()
            .collect();
        for document in documents {
            rehearse(&example, &document);
            rehearsed += 1;
        }
    }
    assert!(rehearsed >= 8, "{rehearsed} were found");
}

#[track_caller]
fn rehearse(example: &Example, document: &str) {
    // Inputs without a default must be given.
    let inputs = if document.starts_with("save-order") {
        " --var databasePassword=hush"
    } else {
        ""
    };
    let run = |command: &str| example.cyan(&format!("{command} --simulate {document}"));
    let staged = run(&format!("stage{inputs}")).last(0).to_owned();
    let deployed = run(&format!("deploy --yes{inputs}"));
    let made = deployed.last(0).to_owned();
    let done = |line: &str| {
        let line = line
            .replace(" to create", " created")
            .replace(" to update", " updated");
        line.replace(" to delete", " deleted")
    };
    assert_eq!(made, done(&staged), "{document}");
    assert!(!made.starts_with('0'), "{document}: {made}");
    let again = run(&format!("stage{inputs}"));
    assert_eq!(
        again.last(0),
        "0 to create, 0 to update, 0 to delete",
        "{document}: {}",
        again.stdout
    );
    assert_eq!(
        run("drift --exit-code").last(0),
        "0 drifted, 0 vanished",
        "{document}"
    );
    assert_eq!(
        example.cyan("list").last(0),
        "",
        "{document}: nothing real is there"
    );
    let instance = document.split(".blueprint.").next().unwrap_or_default();
    example
        .cyan(&format!("exports --simulate --instance {instance}"))
        .last(0);
    run("destroy --yes").last(0);
    assert_eq!(listing(&example.folder), example.begun_with, "{document}");
}

#[test]
fn stacks_of_pulumi() {
    let example = Example::new("pulumi-stacks");
    let deployed = example.cyan("-C network deploy --yes -i dev");
    assert_eq!(deployed.last(0), "1 created, 0 updated, 0 deleted");
    let missing = example.cyan("-C shop stage Pulumi.yaml -i live");
    assert_eq!(missing.exit, 1, "{}", missing.stderr);
    assert!(
        missing
            .stderr
            .contains("there is no instance `live` of the project `network`"),
        "{}",
        missing.stderr
    );
    let site = example.cyan("-C shop deploy site.blueprint.yaml --yes -i dev");
    assert_eq!(site.last(0), "1 created, 0 updated, 0 deleted");
    assert!(example.read("shop/settings.env").contains("north-1"));
    let again = example.cyan("-C shop stage site.blueprint.yaml -i dev");
    assert_eq!(again.last(0), "0 to create, 0 to update, 0 to delete");
    // Another network, whose zone is kept.
    let changed =
        example.cyan("-C network deploy --yes -i dev --var cidr=10.1.0.0/16 --var zone=south-2");
    assert_eq!(changed.last(0), "0 created, 1 updated, 0 deleted");
    let site = example.cyan("-C shop deploy site.blueprint.yaml --yes -i dev");
    assert_eq!(site.last(0), "0 created, 1 updated, 0 deleted");
    let settings = example.read("shop/settings.env");
    assert!(settings.contains("north-1") && settings.contains("10.1.0.0/24"));
    example.cyan("-C shop destroy --yes -i dev").last(0);
    example.cyan("-C network destroy --yes -i dev").last(0);
    assert_eq!(listing(&example.folder), example.begun_with);
}

#[test]
fn every_example_is_in_house_style() {
    fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("examples can be listed") {
            let path = entry.expect("examples can be listed").path();
            let ending = path
                .extension()
                .and_then(|ending| ending.to_str())
                .unwrap_or_default();
            if path.is_dir() && !path.ends_with(".cyan") {
                documents(&path, found);
            } else if ["yaml", "jsonc"].contains(&ending) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    documents(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"),
        &mut found,
    );
    assert!(found.len() > 10);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cyan"));
    let output = command
        .args(["fmt", "--check"])
        .args(&found)
        .output()
        .expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "`cyan fmt` changes\n{said}");
}
