//! The secret managers of deployments: the passphrase, and plain base64, which fixtures use.

use data_encoding::BASE64;
use diag::Diagnostic;
use dialect::{FillRandom, NewKey, TextCipher};

use crate::codes::LOCKED_VALUE;
use crate::passphrase::{DecryptError, StackCipher};
use crate::stack_edit::{HOW_TO_GIVE, Passphrase, no_cipher};

/// The kind of the passphrase manager.
const PASSPHRASE: &str = "passphrase";

/// The kind that encrypts nothing.
const BASE64_ONLY: &str = "b64";

/// The cipher of a deployment.
pub(crate) fn unlock(
    kind: &str,
    salt: &str,
    passphrase: Passphrase,
) -> Result<Box<dyn TextCipher>, Box<Diagnostic>> {
    match kind {
        PASSPHRASE => {}
        BASE64_ONLY => return Ok(Box::new(PlainBase64)),
        _ => {
            return Err(Box::new(
                LOCKED_VALUE
                    .new(format!("the secrets are encrypted by the key service `{kind}`"))
                    .help("key services are not available in this version: export again with `pulumi stack export --show-secrets`"),
            ));
        }
    }
    let given = given(passphrase)?;
    StackCipher::unlock(salt, &given)
        .map(|cipher| Box::new(cipher) as Box<dyn TextCipher>)
        .map_err(|error| {
            let why = match error {
                DecryptError::WrongKey => "the passphrase does not fit",
                DecryptError::Malformed => "the key of the secrets has another form",
            };
            Box::new(LOCKED_VALUE.new(why).help(HOW_TO_GIVE))
        })
}

/// A new key of the passphrase manager.
pub(crate) fn create(
    passphrase: Passphrase,
    random: FillRandom<'_>,
) -> Result<NewKey, Box<Diagnostic>> {
    let given = given(passphrase)?;
    let (cipher, data) = StackCipher::create(&given, random).map_err(no_cipher)?;
    Ok(NewKey {
        kind: PASSPHRASE,
        cipher: Box::new(cipher),
        data,
    })
}

fn given(passphrase: Passphrase) -> Result<String, Box<Diagnostic>> {
    match passphrase() {
        Ok(Some(given)) => Ok(given),
        Ok(None) => Err(Box::new(
            LOCKED_VALUE
                .new("the secrets need a passphrase, and none is given")
                .help(HOW_TO_GIVE),
        )),
        Err(why) => Err(Box::new(LOCKED_VALUE.new(why).help(HOW_TO_GIVE))),
    }
}

impl TextCipher for StackCipher {
    fn encrypt(&self, plain: &str, random: FillRandom<'_>) -> Result<String, String> {
        StackCipher::encrypt(self, plain, random)
    }

    fn decrypt(&self, text: &str) -> Result<String, String> {
        let why = |error| match error {
            DecryptError::WrongKey => "was encrypted with another key",
            DecryptError::Malformed => "has another form than an encrypted text",
        };
        StackCipher::decrypt(self, text).map_err(|error| why(error).to_owned())
    }
}

struct PlainBase64;

impl TextCipher for PlainBase64 {
    fn encrypt(&self, plain: &str, _random: FillRandom<'_>) -> Result<String, String> {
        Ok(BASE64.encode(plain.as_bytes()))
    }

    fn decrypt(&self, text: &str) -> Result<String, String> {
        let bytes = BASE64.decode(text.as_bytes()).ok();
        bytes
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .ok_or_else(|| "is no base64 of a text".to_owned())
    }
}
