//! Chooses a cloud and collects its options: from files, variables and settings.
//!
//! ```text
//! profile < clouds.yaml < secure.yaml < OS_REGION_NAME, OS_INTERFACE < region's own < settings
//!                                   or:              variables < settings
//! ```
//!
//! Not here: what the options mean (`access`).

use super::CloudSettings;
use super::environment::CloudEnvironment;
use super::files::{self, CloudFile, FileNode, FileValue};
use super::options::{OPTIONS, Origin, Section, WrittenOptions, option};

/// The options of the chosen cloud.
pub(super) struct ChosenCloud {
    pub(super) options: WrittenOptions,
    /// The cloud as messages name it.
    pub(super) named: String,
}

/// The options of the cloud that settings and environment choose.
///
/// # Errors
/// A message that says what is wrong, where, and what is allowed. It holds no secret.
pub(super) fn chosen(
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<ChosenCloud, String> {
    let by_settings = settings.options.get("auth_url").is_some();
    let by_variables = environment.variable("OS_AUTH_URL").is_some();
    let named = environment.variable("OS_CLOUD");
    let mut chosen = match (settings.cloud.as_deref(), named) {
        (Some(name), _) => cloud_of_files(Some(name), settings, environment)?,
        (None, _) if by_settings => ChosenCloud {
            options: of_variables(environment),
            named: "the cloud of the settings".to_owned(),
        },
        (None, Some(name)) => cloud_of_files(Some(name), settings, environment)?,
        (None, None) if by_variables => ChosenCloud {
            options: of_variables(environment),
            named: "the cloud of the variables `OS_...`".to_owned(),
        },
        (None, None) => cloud_of_files(None, settings, environment)?,
    };
    chosen.options.overlay_settings(settings.options.clone());
    Ok(chosen)
}

/// The options that variables set.
fn of_variables(environment: &CloudEnvironment) -> WrittenOptions {
    let mut options = WrittenOptions::default();
    for (name, value) in &environment.variables {
        let Some(key) = name.strip_prefix("OS_").map(str::to_ascii_lowercase) else {
            continue;
        };
        if option(&key).is_some() || key.ends_with("_endpoint_override") {
            options.set(&key, value, Origin::Variable(name.clone()));
        }
    }
    options
}

/// The files with clouds.
struct CloudFiles {
    clouds: Option<CloudFile>,
    secure: Option<CloudFile>,
    public: Option<CloudFile>,
}

/// Reads the files. The file with secrets and that with profiles stand beside the file with clouds.
fn read_files(
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<CloudFiles, String> {
    let clouds = match &settings.config_file {
        Some(path) => {
            let path = settings.folder.join(environment.expanded(path));
            let missing = || {
                let path = path.display();
                format!("the file {path} does not exist; the setting `config-file` names it")
            };
            Some(files::read(&path)?.ok_or_else(missing)?)
        }
        None => match files::of_variable(environment, "OS_CLIENT_CONFIG_FILE")? {
            Some(file) => Some(file),
            None => files::first_in(&environment.folders, "clouds")?,
        },
    };
    let beside = clouds.as_ref().and_then(|file| file.path.parent());
    let beside: Vec<_> = beside.map(ToOwned::to_owned).into_iter().collect();
    let secure = match files::of_variable(environment, "OS_CLIENT_SECURE_FILE")? {
        Some(file) => Some(file),
        None => files::first_in(&beside, "secure")?,
    };
    let with_profiles: Vec<_> = beside.iter().chain(&environment.folders).cloned().collect();
    let public = files::first_in(&with_profiles, "clouds-public")?;
    Ok(CloudFiles {
        clouds,
        secure,
        public,
    })
}

/// The cloud of the files with a name. Without a name, the only one.
fn cloud_of_files(
    name: Option<&str>,
    settings: &CloudSettings,
    environment: &CloudEnvironment,
) -> Result<ChosenCloud, String> {
    let read = read_files(settings, environment)?;
    let Some(file) = &read.clouds else {
        return Err(without_files(name, environment));
    };
    let clouds = file.clouds("clouds")?;
    let name = match (name, clouds.len()) {
        (Some(name), _) => name,
        (None, 1) => clouds.keys().next().map_or("", String::as_str),
        (None, 0) => return Err(format!("{} describes no cloud", file.name)),
        (None, _) => {
            return Err(format!(
                "{} describes several clouds: {}; choose one with the variable `OS_CLOUD` or the \
                 setting `cloud`",
                file.name,
                listed(clouds.keys().map(String::as_str)),
            ));
        }
    };
    let Some(node) = clouds.get(name) else {
        return Err(format!(
            "{} has no cloud `{name}`; it has {}",
            file.name,
            listed(clouds.keys().map(String::as_str)),
        ));
    };
    let mut options = profile_of(file, node, read.public.as_ref())?;
    options.overlay(options_of(file, node)?);
    if let Some(secure) = &read.secure {
        let secrets = secure.clouds("clouds")?;
        if let Some(node) = secrets.get(name) {
            options.overlay(options_of(secure, node)?);
        }
    }
    overlay_selectors(&mut options, environment);
    choose_region(&mut options, (file, node), settings)?;
    Ok(ChosenCloud {
        options,
        named: format!("the cloud `{name}` of {}", file.name),
    })
}

/// The options of the profile that a cloud names.
fn profile_of(
    file: &CloudFile,
    cloud: &FileNode,
    public: Option<&CloudFile>,
) -> Result<WrittenOptions, String> {
    let entries = cloud.entries();
    // `cloud` is the old key of `profile`.
    let named = entries.and_then(|it| it.get("profile").or_else(|| it.get("cloud")));
    let named = named.and_then(|node| node.text().map(|name| (node, name)));
    let Some((node, name)) = named.filter(|(_, name)| !name.is_empty()) else {
        return Ok(WrittenOptions::default());
    };
    let profiles = public
        .map(|public| public.clouds("public-clouds"))
        .transpose()?;
    let profile = profiles.as_ref().and_then(|profiles| profiles.get(name));
    match public.zip(profile) {
        Some((public, profile)) => options_of(public, profile),
        None => Err(format!(
            "{}: the profile `{name}` is not described; describe it in clouds-public.yaml below \
             `public-clouds`, or write `auth_url` into the cloud",
            file.at(node),
        )),
    }
}

/// The options of a cloud in a file, those of `auth` among them.
fn options_of(file: &CloudFile, cloud: &FileNode) -> Result<WrittenOptions, String> {
    let mut options = WrittenOptions::default();
    let Some(entries) = cloud.entries() else {
        return Err(format!("{}: a cloud is a map of options", file.at(cloud)));
    };
    for (key, node) in entries.iter().filter(|(key, _)| *key != "auth") {
        if let Some(text) = node.text() {
            options.set(key, text, file.at(node));
        } else if option(key).is_some() {
            return Err(format!("{}: `{key}` is a text", file.at(node)));
        }
    }
    let Some(auth) = entries.get("auth") else {
        return Ok(options);
    };
    let Some(auth_entries) = auth.entries() else {
        return Err(format!("{}: `auth` is a map of options", file.at(auth)));
    };
    for (key, node) in auth_entries {
        let known = option(key).is_some_and(|option| option.section == Section::Auth);
        if !known {
            return Err(format!(
                "{}: `{key}` is not allowed in `auth`; allowed are {}",
                file.at(node),
                listed(auth_keys()),
            ));
        }
        let text = node.text();
        let text = text.ok_or_else(|| format!("{}: `{key}` is a text", file.at(node)))?;
        options.set(key, text, file.at(node));
    }
    Ok(options)
}

fn auth_keys() -> impl Iterator<Item = &'static str> {
    let of_auth = OPTIONS
        .iter()
        .filter(|option| option.section == Section::Auth);
    of_auth.map(|option| option.key)
}

/// Writes the variables that count beside a cloud of a file, as for the command `openstack`: they do
/// not say which cloud it is, nor who signs in.
fn overlay_selectors(options: &mut WrittenOptions, environment: &CloudEnvironment) {
    let all = of_variables(environment);
    let above = ["region_name", "interface"].into_iter();
    let below = ["cacert"]
        .into_iter()
        .filter(|key| options.get(key).is_none());
    let keys: Vec<&str> = above.chain(below).collect();
    for key in keys {
        if let Some(written) = all.get(key) {
            options.set(key, written.text.clone(), written.origin.clone());
        }
    }
}

/// Sets the region, and the options that the cloud has for it.
fn choose_region(
    options: &mut WrittenOptions,
    (file, cloud): (&CloudFile, &FileNode),
    settings: &CloudSettings,
) -> Result<(), String> {
    let regions = regions_of(file, cloud)?;
    if regions.is_empty() {
        return Ok(());
    }
    let wanted = settings.options.text("region_name");
    let wanted = wanted.or_else(|| options.text("region_name"));
    let wanted = wanted.or_else(|| regions.first().map(|(name, ..)| name.clone()));
    let wanted = wanted.unwrap_or_default();
    let found = regions.iter().find(|(name, ..)| *name == wanted);
    let Some((name, node, values)) = found else {
        return Err(format!(
            "{}: the cloud has no region `{wanted}`; it has {}",
            file.at(cloud),
            listed(regions.iter().map(|(name, ..)| name.as_str())),
        ));
    };
    options.set("region_name", name, file.at(node));
    if let Some(values) = values {
        options.overlay(options_of(file, values)?);
    }
    Ok(())
}

/// A region of a cloud: its name, its node, its options.
type Region<'a> = (String, &'a FileNode, Option<&'a FileNode>);

/// The list `regions` of a cloud. An item is a name, or a map of `name` and `values`.
fn regions_of<'a>(file: &CloudFile, cloud: &'a FileNode) -> Result<Vec<Region<'a>>, String> {
    let node = cloud.entries().and_then(|entries| entries.get("regions"));
    let Some(node) = node else {
        return Ok(Vec::new());
    };
    let FileValue::List(items) = &node.value else {
        return Err(format!(
            "{}: `regions` is a list of names, or of maps of `name` and `values`",
            file.at(node)
        ));
    };
    let region = |item: &'a FileNode| {
        let entries = item.entries();
        let part = |key: &str| entries.and_then(|entries| entries.get(key));
        let name = item.text().or_else(|| part("name")?.text());
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| format!("{}: a region has a `name`", file.at(item)))?;
        Ok((name.to_owned(), item, part("values")))
    };
    items.iter().map(region).collect()
}

/// The message without a file with clouds.
fn without_files(name: Option<&str>, environment: &CloudEnvironment) -> String {
    let mut folders: Vec<String> = Vec::new();
    for folder in &environment.folders {
        let folder = folder.display().to_string();
        if !folder.is_empty() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let folders = folders.join(", ");
    let what = match name {
        Some(name) => format!("the cloud `{name}` is not described"),
        None => "no cloud is described".to_owned(),
    };
    format!(
        "{what}: there is no clouds.yaml in {folders}; write one, name it with the variable \
         `OS_CLIENT_CONFIG_FILE`, or set `OS_AUTH_URL`, `OS_USERNAME`, `OS_PASSWORD` and \
         `OS_PROJECT_NAME`"
    )
}

/// Names in backticks, for a message.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    }
}
