//! The key that seals secrets. It is the value of the environment variable `CYAN_KEY`, else the
//! content of the file that the variable `CYAN_KEY_FILE` names, else that of `cyan/key` in the
//! user's configuration folder.
//!
//! Not here: whether a new key is made without being asked for (the front end decides).

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use state::seal::{Sealer, format_key, parse_key};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::paths::refuse_tilde;
use crate::text::read_text;

/// Returns a sealer with the configured key. If no key is configured and the default file does not
/// exist, the sealer cannot seal.
///
/// # Errors
/// If the key is malformed, or its file cannot be read or, with `CYAN_KEY_FILE`, does not exist.
pub fn sealer() -> Result<Sealer, Error> {
    if let Some(text) = std::env::var_os("CYAN_KEY").filter(|text| !text.is_empty()) {
        // A value that is not UTF-8 is as malformed as an empty one.
        let text = Zeroizing::new(text.into_string().unwrap_or_default());
        return Ok(Sealer::with_key(parse(&text, "`CYAN_KEY`")?));
    }
    if let Some(file) = std::env::var_os("CYAN_KEY_FILE").filter(|file| !file.is_empty()) {
        let file = PathBuf::from(file);
        refuse_tilde(&file)?;
        return match read(&file)? {
            Some(key) => Ok(Sealer::with_key(key)),
            None => Err(Error::NoKeyFile { file }),
        };
    }
    let key = default_key_file()
        .map(|file| read(&file))
        .transpose()?
        .flatten();
    Ok(key.map_or_else(Sealer::none, Sealer::with_key))
}

/// Writes a new key into the default file. Returns `None` if an environment variable configures a
/// key, if the file exists, or if there is no default file.
pub fn make_default_key() -> Result<Option<(Sealer, PathBuf)>, Error> {
    let is_configured = ["CYAN_KEY", "CYAN_KEY_FILE"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let Some(file) = default_key_file().filter(|_| !is_configured) else {
        return Ok(None);
    };
    Ok(write_new(&file)?.map(|key| (Sealer::with_key(key), file)))
}

/// The default file of the key; `None` if neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path.
pub fn default_key_file() -> Option<PathBuf> {
    let folder = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute())
    };
    let config = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(config.join("cyan").join("key"))
}

/// Returns the key in a file, and whether it is new. Writes a new key if the file does not exist.
pub fn read_or_write_new(file: &Path) -> Result<([u8; 32], bool), Error> {
    if let Some(key) = read(file)? {
        return Ok((key, false));
    }
    match write_new(file)? {
        Some(key) => Ok((key, true)),
        None => Err(Error::usage(format!(
            "`{}` exists, but it is not a readable file",
            file.display()
        ))),
    }
}

/// Reads the key in a file. Returns `None` if the file does not exist.
pub fn read(file: &Path) -> Result<Option<[u8; 32]>, Error> {
    match read_text(file).map(Zeroizing::new) {
        Ok(text) => parse(&text, &format!("`{}`", file.display())).map(Some),
        Err(Error::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn parse(text: &str, place: &str) -> Result<[u8; 32], Error> {
    parse_key(text).map_err(|source| Error::Key {
        place: place.to_owned(),
        source,
    })
}

/// Fills a buffer with random bytes.
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), String> {
    rand::TryRng::try_fill_bytes(&mut rand::rngs::SysRng, bytes)
        .map_err(|error| format!("the system has no random bytes: {error}"))
}

/// Writes a new key into a new file, which only its owner can read on Unix. Returns `None` if the
/// file exists already, and leaves it as it is.
pub fn write_new(file: &Path) -> Result<Option<[u8; 32]>, Error> {
    let unwritable = |source| Error::Unwritable {
        name: file.display().to_string(),
        source,
    };
    let mut key = [0; 32];
    fill_random(&mut key).map_err(|why| Error::Machine {
        what: "no random key can be made",
        source: io::Error::other(why),
    })?;
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder).map_err(unwritable)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut opened = match options.open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(unwritable(error)),
    };
    let text = Zeroizing::new(format!("{}\n", format_key(&key)));
    opened
        .write_all(text.as_bytes())
        .and_then(|()| opened.sync_all())
        .map_err(unwritable)?;
    Ok(Some(key))
}
