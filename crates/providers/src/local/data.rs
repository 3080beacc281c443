//! The data sources: a file, the names in a folder, an environment variable, the output of a
//! command.
//!
//! The filters of these data sources are arguments: each takes the operator `=`. The result is one
//! candidate, or an error that names the missing object.

use std::fs;
use std::path::Path;

use blueprint::{Name, Value};
use provider::{
    Call, Candidate, ErrorKind, FetchRequest, Fetched, ProviderDiagnostic, ProviderError, Scrubber,
};

use super::archive_list::{globs, not_utf8};
use super::command::{DEFAULT_TIMEOUT, SECRET_IN_COMMAND_LINE, failure, printed};
use super::place::{PathContext, failed, folder_of_commands, run_blocking};
use super::process::{self, ProgramRun};
use super::whole_file;
use crate::regular_file;

/// Words in the name of a variable that mark its value as secret.
const SECRET_WORDS: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
/// The characters that make a path a pattern.
const PATTERN: [char; 4] = ['*', '?', '[', '{'];

/// Fetches the single candidate.
pub(super) async fn fetch(
    call: &Call,
    request: FetchRequest<'_>,
) -> Result<Fetched, ProviderError> {
    for (field, operator, _) in request.filters {
        if operator.as_ref() != "=" {
            return Err(refused(
                field,
                format!("`{field}` accepts only the operator `=`"),
            ));
        }
    }
    call.files.refuse_remote("")?;
    let argument = |name: &str| {
        request
            .filters
            .iter()
            .find(|(field, _, _)| field.as_ref() == name)
            .map(|(_, _, value)| value)
    };
    let text = |name: &str| argument(name).and_then(Value::as_text).map(str::to_owned);
    let needed = |name: &str| {
        text(name).ok_or_else(|| refused(name, format!("a filter on `{name}` is missing")))
    };
    let secret = request
        .filters
        .iter()
        .any(|(_, _, value)| value.has_secret());
    let fields = match request.type_name {
        "local/file" => {
            let path = needed("path")?;
            run_blocking(call, move |place| file(place, &path)).await?
        }
        "local/directory" => {
            let (path, glob) = (needed("path")?, text("glob"));
            run_blocking(call, move |place| directory(place, &path, glob.as_deref())).await?
        }
        "local/environment" => environment(&needed("name")?)?,
        "local/command" => {
            command(
                call,
                &request,
                needed("command")?,
                text("workingDir"),
                text("stdin"),
            )
            .await?
        }
        other => {
            return Err(ProviderError::new(
                ErrorKind::Document,
                format!("there is no data source `{other}` here"),
            ));
        }
    };
    let filter_fields = Value::map(
        request
            .filters
            .iter()
            .map(|(field, _, value)| (field.clone(), value.clone())),
    );
    let applied = (0..request.filters.len()).collect();
    let fields = if secret {
        Value::map(
            fields
                .into_iter()
                .map(|(name, value)| (name, value.secret())),
        )
    } else {
        Value::map(fields)
    };
    let shown = request
        .filters
        .iter()
        .filter(|(field, _, value)| field.as_ref() == "command" && value.has_secret());
    let warning = |field: &Name| {
        ProviderDiagnostic::warning(
            field.clone(),
            SECRET_IN_COMMAND_LINE.replace(" or `environment`", ""),
        )
    };
    let diagnostics = shown.map(|(field, ..)| warning(field)).collect();
    Ok(Fetched {
        candidates: vec![Candidate {
            filter_fields,
            fields,
        }],
        applied,
        diagnostics,
    })
}

type DataFields = Vec<(&'static str, Value)>;

fn refused(field: &str, text: String) -> ProviderError {
    ProviderError::new(ErrorKind::Document, text).at(field)
}

fn file(place: &PathContext, path: &str) -> Result<DataFields, ProviderError> {
    let path = place.source(path)?;
    let bytes = regular_file::read(&path, place.files.most_bytes)
        .map_err(|error| failed("read", &path, &error).at("path"))?;
    let sha256 = whole_file::digest(&bytes);
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let content = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        refused(
            "path",
            format!(
                "`{}` is not UTF-8 text (byte {at}); the function `file` reads any file",
                path.display()
            ),
        )
    })?;
    Ok(vec![
        ("content", content.into()),
        ("sha256", sha256.into()),
        ("size", size.into()),
    ])
}

/// Lists a folder. Without a pattern, all names directly in the folder; with one, the matching
/// files, at any depth if the pattern contains `**`.
fn directory(
    place: &PathContext,
    path: &str,
    glob: Option<&str>,
) -> Result<DataFields, ProviderError> {
    let (base, pattern) = match path.find(PATTERN) {
        Some(at) if glob.is_some() => {
            let sign = path
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .unwrap_or('*');
            return Err(refused(
                "glob",
                format!("`path` is a pattern already (it has a `{sign}`): write one of the two"),
            ));
        }
        Some(at) => match path.get(..at).and_then(|head| head.rfind('/')) {
            Some(slash) => (path.get(..slash).unwrap_or_default(), path.get(slash + 1..)),
            None => ("", Some(path)),
        },
        None => (path.trim_end_matches('/'), glob),
    };
    let base = if base.is_empty() && path.starts_with('/') {
        "/"
    } else {
        base
    };
    let folder = place.source(base)?;
    if !folder.is_dir() {
        return Err(ProviderError::new(
            ErrorKind::NotFound,
            format!("there is no folder `{}`", folder.display()),
        )
        .at("path"));
    }
    let mut names = Vec::new();
    match pattern {
        None => {
            for entry in fs::read_dir(&folder).map_err(|error| failed("list", &folder, &error))? {
                let entry = entry.map_err(|error| failed("list", &folder, &error))?;
                let file_name = entry.file_name();
                let name = file_name.to_str().ok_or_else(|| not_utf8(&entry.path()))?;
                names.push(name.to_owned());
            }
        }
        Some(pattern) => {
            let set = globs(&[pattern], if glob.is_some() { "glob" } else { "path" })?;
            let deep = pattern.contains("**");
            let depth = if deep {
                usize::MAX
            } else {
                pattern.matches('/').count()
            };
            list(place, &folder, "", depth, &set, &mut names)?;
        }
    }
    names.sort_unstable();
    let below = |name: &String| match base {
        "" | "." => name.clone(),
        "/" => format!("/{name}"),
        base => format!("{base}/{name}"),
    };
    let paths = Value::list(names.iter().map(|name| Value::from(below(name))));
    Ok(vec![
        ("names", Value::list(names.into_iter().map(Value::from))),
        ("paths", paths),
    ])
}

fn list(
    place: &PathContext,
    folder: &Path,
    prefix: &str,
    depth: usize,
    set: &globset::GlobSet,
    names: &mut Vec<String>,
) -> Result<(), ProviderError> {
    place.check_cancelled()?;
    for entry in fs::read_dir(folder).map_err(|error| failed("list", folder, &error))? {
        let entry = entry.map_err(|error| failed("list", folder, &error))?;
        let file_name = entry.file_name();
        let Some(file_name) = file_name.to_str() else {
            if entry.path().is_file() && set.is_match(file_name.to_string_lossy().as_ref()) {
                return Err(not_utf8(&entry.path()));
            }
            continue;
        };
        let name = if prefix.is_empty() {
            file_name.to_owned()
        } else {
            format!("{prefix}/{file_name}")
        };
        let kind = entry
            .file_type()
            .map_err(|error| failed("look at", &entry.path(), &error))?;
        if kind.is_dir() {
            if depth > 0 {
                list(place, &entry.path(), &name, depth - 1, set, names)?;
            }
        } else if set.is_match(&name) && entry.path().is_file() {
            names.push(name);
        }
    }
    Ok(())
}

fn environment(name: &str) -> Result<DataFields, ProviderError> {
    if process::is_own_variable(name.as_ref()) {
        let text = format!(
            "`{name}` is for `cyan` alone and is passed to no document; declare a variable and give it a value"
        );
        return Err(refused("name", text));
    }
    let value = match std::env::var(name) {
        Ok(value) => value,
        Err(std::env::VarError::NotUnicode(_)) => {
            return Err(ProviderError::new(
                ErrorKind::Permanent,
                format!("the environment variable `{name}` is not UTF-8 text"),
            )
            .at("name"));
        }
        Err(std::env::VarError::NotPresent) => {
            return Err(ProviderError::new(
                ErrorKind::NotFound,
                format!("the environment variable `{name}` is not set"),
            )
            .at("name"));
        }
    };
    Ok(vec![(
        "value",
        Value::from(value).tainted(names_a_secret(name)),
    )])
}

fn names_a_secret(name: &str) -> bool {
    let upper = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word))
}

async fn command(
    call: &Call,
    request: &FetchRequest<'_>,
    command: String,
    folder: Option<String>,
    stdin: Option<String>,
) -> Result<DataFields, ProviderError> {
    let base = folder_of_commands(call);
    let folder = folder.map_or_else(|| base.clone(), |folder| base.join(folder).into());
    let values: Vec<&Value> = request
        .filters
        .iter()
        .map(|(_, _, value)| value)
        .chain([&call.settings])
        .collect();
    let scrub = Scrubber::of(values);
    let environment = vec![
        ("CYAN_ACTION".into(), "read".into()),
        ("CYAN_ADDRESS".into(), call.address.to_string()),
        ("CYAN_TOKEN".into(), call.token.to_string()),
    ];
    let run = ProgramRun {
        words: vec!["sh".into(), "-c".into(), command],
        folder,
        environment,
        stdin,
        limit: DEFAULT_TIMEOUT,
        limited_by: "command",
        scrub: scrub.clone(),
    };
    let ended = process::run(call, run).await?;
    if ended.code != Some(0) {
        return Err(failure("the command", &ended, &scrub).at("command"));
    }
    if ended.cut {
        let text = format!(
            "the command printed more than {} KiB",
            process::MOST_KEPT >> 10
        );
        return Err(ProviderError::new(ErrorKind::Permanent, text).at("command"));
    }
    Ok(vec![("stdout", printed(&ended.stdout).into())])
}

#[cfg(test)]
mod tests {
    use super::names_a_secret;

    #[test]
    fn names_with_secret_words_are_recognised() {
        for (name, secret) in [
            ("API_KEY", true),
            ("github_token", true),
            ("Db_Password", true),
            ("CLIENTSECRET", true),
            ("PATH", false),
        ] {
            assert_eq!(names_a_secret(name), secret, "{name}");
        }
    }
}
