//! The options of a cloud: what `clouds.yaml`, variables and settings can say about it.
//!
//! One table describes them all. The variable of an option is `OS_` and its key in capitals; its
//! setting is its key with hyphens. Facts: openstacksdk's loader of configurations.
//!
//! Not here: files (`files`), what the options mean (`access`).

use std::collections::BTreeMap;
use std::fmt;

/// The place of an option in `clouds.yaml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The map `auth` of a cloud.
    Auth,
    /// The cloud itself.
    Cloud,
}

/// An option of a cloud.
pub(super) struct CloudOption {
    /// Its key in `clouds.yaml`.
    pub(super) key: &'static str,
    /// Its older keys.
    pub(super) former: &'static [&'static str],
    pub(super) section: Section,
    /// The key of the option that says the same in another way, such as an id in place of a name.
    pub(super) twin: Option<&'static str>,
    pub(super) is_secret: bool,
    /// What its setting means. `None` if it is no setting.
    pub(super) docs: Option<&'static str>,
}

impl CloudOption {
    const fn auth(key: &'static str, docs: &'static str) -> CloudOption {
        CloudOption {
            key,
            former: &[],
            section: Section::Auth,
            twin: None,
            is_secret: false,
            docs: Some(docs),
        }
    }

    const fn cloud(key: &'static str, docs: &'static str) -> CloudOption {
        CloudOption {
            section: Section::Cloud,
            ..CloudOption::auth(key, docs)
        }
    }

    const fn twin(self, key: &'static str) -> CloudOption {
        CloudOption {
            twin: Some(key),
            ..self
        }
    }

    const fn former(self, keys: &'static [&'static str]) -> CloudOption {
        CloudOption {
            former: keys,
            ..self
        }
    }

    const fn secret(self) -> CloudOption {
        CloudOption {
            is_secret: true,
            ..self
        }
    }

    const fn no_setting(self) -> CloudOption {
        CloudOption { docs: None, ..self }
    }

    /// The name of its setting.
    pub(super) fn setting(&self) -> String {
        match self.key {
            "region_name" => "region".to_owned(),
            key => key.replace('_', "-"),
        }
    }
}

/// All options, in display order.
pub(super) const OPTIONS: &[CloudOption] = &[
    CloudOption::cloud(
        "region_name",
        "The region. The default is `OS_REGION_NAME`, then that of the cloud.",
    ),
    CloudOption::auth(
        "auth_url",
        "The address of Keystone, with or without `/v3`.",
    ),
    CloudOption::auth("username", "The name of the user.")
        .former(&["user_name"])
        .twin("user_id"),
    CloudOption::auth("user_id", "The id of the user.").twin("username"),
    CloudOption::auth("password", "The password of the user.").secret(),
    CloudOption::auth("user_domain_name", "The name of the domain of the user.")
        .twin("user_domain_id"),
    CloudOption::auth(
        "user_domain_id",
        "The id of the domain of the user. The default is `default`.",
    )
    .twin("user_domain_name"),
    CloudOption::auth("project_name", "The name of the project.")
        .former(&["tenant_name"])
        .twin("project_id"),
    CloudOption::auth("project_id", "The id of the project.")
        .former(&["tenant_id"])
        .twin("project_name"),
    CloudOption::auth(
        "project_domain_name",
        "The name of the domain of the project.",
    )
    .twin("project_domain_id"),
    CloudOption::auth(
        "project_domain_id",
        "The id of the domain of the project. The default is `default`.",
    )
    .twin("project_domain_name"),
    CloudOption::auth(
        "domain_name",
        "The name of the domain of user and project; without a project, of the domain to work in.",
    )
    .twin("domain_id"),
    CloudOption::auth(
        "domain_id",
        "The id of the domain of user and project; without a project, of the domain to work in.",
    )
    .twin("domain_name"),
    CloudOption::auth("default_domain_name", "")
        .no_setting()
        .twin("default_domain_id"),
    CloudOption::auth("default_domain_id", "")
        .former(&["default_domain"])
        .no_setting()
        .twin("default_domain_name"),
    CloudOption::auth(
        "system_scope",
        "`all` to work on the whole system, in place of a project.",
    ),
    CloudOption::auth(
        "trust_id",
        "The id of a trust to act for, in place of a project.",
    ),
    CloudOption::auth(
        "application_credential_id",
        "The id of an application credential.",
    )
    .twin("application_credential_name"),
    CloudOption::auth(
        "application_credential_name",
        "The name of an application credential of the user.",
    )
    .twin("application_credential_id"),
    CloudOption::auth(
        "application_credential_secret",
        "The secret of the application credential.",
    )
    .secret(),
    CloudOption::auth(
        "token",
        "A token, in place of a password. It cannot be renewed.",
    )
    .former(&["auth_token"])
    .secret(),
    CloudOption::cloud(
        "auth_type",
        "The way to sign in: `password`, `v3applicationcredential` or `v3token`. The default follows from the other settings.",
    ),
    CloudOption::cloud(
        "interface",
        "The endpoints to use: `public` (the default), `internal` or `admin`.",
    )
    .former(&["endpoint_type"]),
    CloudOption::cloud(
        "cacert",
        "A file with the only certificate authorities to trust, in PEM form, or their text.",
    ),
    CloudOption::cloud("verify", "").no_setting(),
    CloudOption::cloud("insecure", "").no_setting(),
    CloudOption::cloud("cert", "").no_setting(),
    CloudOption::cloud("key", "").no_setting(),
];

/// The option with a key of `clouds.yaml`, in its present or a former spelling. Hyphens count as
/// underscores.
pub(super) fn option(key: &str) -> Option<&'static CloudOption> {
    let key = key.replace('-', "_");
    OPTIONS
        .iter()
        .find(|option| option.key == key || option.former.contains(&key.as_str()))
}

/// Where the value of an option is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A setting of the configuration, by its name.
    Setting(String),
    /// A variable of the environment.
    Variable(String),
    /// A line of a file, counted from 1.
    File {
        /// The file as messages name it.
        file: String,
        line: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Setting(name) => write!(f, "the setting `{name}`"),
            Origin::Variable(name) => write!(f, "the variable `{name}`"),
            Origin::File { file, line } => write!(f, "{file}:{line}"),
        }
    }
}

/// A written value. It may be a secret, so it has no `Debug` that shows it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct WrittenOption {
    pub(super) text: String,
    pub(super) origin: Origin,
}

/// The written options of a cloud, by the keys of `clouds.yaml`, those of `auth` among them. Keys
/// that are no options are kept: addresses of services are read by their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct WrittenOptions {
    values: BTreeMap<String, WrittenOption>,
}

impl WrittenOptions {
    /// Sets an option. An empty text sets nothing.
    pub(super) fn set(&mut self, key: &str, text: impl Into<String>, origin: Origin) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        let key = option(key).map_or_else(|| key.replace('-', "_"), |option| option.key.to_owned());
        self.values.insert(key, WrittenOption { text, origin });
    }

    /// The value of an option.
    pub(super) fn get(&self, key: &str) -> Option<&WrittenOption> {
        self.values.get(key)
    }

    /// The text of an option.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).map(|written| written.text.clone())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &WrittenOption)> {
        self.values
            .iter()
            .map(|(key, written)| (key.as_str(), written))
    }

    /// Writes other options over these. An id takes the place of a name below it, and the reverse.
    pub(super) fn overlay(&mut self, above: WrittenOptions) {
        for key in above.values.keys() {
            if let Some(twin) = option(key).and_then(|option| option.twin) {
                self.values.remove(twin);
            }
        }
        self.values.extend(above.values);
    }

    /// Writes settings over these options. A secret among the settings decides how to sign in, so
    /// the other ways are removed.
    pub(super) fn overlay_settings(&mut self, settings: WrittenOptions) {
        const WAYS: [&str; 3] = ["password", "application_credential_secret", "token"];
        if WAYS.iter().any(|way| settings.get(way).is_some()) {
            for key in WAYS.iter().chain(&["auth_type"]) {
                self.values.remove(*key);
            }
        }
        self.overlay(settings);
    }

    /// The values that must not be shown.
    pub(super) fn secrets(&self) -> Vec<String> {
        let secret = OPTIONS.iter().filter(|option| option.is_secret);
        secret.filter_map(|option| self.text(option.key)).collect()
    }
}
