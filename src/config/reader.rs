//! Reading one variable: the forms that several of them share.

use std::fs::File;
use std::io::{ErrorKind, Read};

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::environment::{Environment, NamedRoots, Unreadable};

use super::error::{ConfigError, FileProblem};

/// The most that a file with a user name, a password or a secret may hold.
const SECRET_FILE_LIMIT: usize = 64 * 1024;

/// Reads variables, of which an empty one is not set.
pub(super) struct Reader<'a> {
    environment: &'a Environment,
}

impl<'a> Reader<'a> {
    pub(super) fn new(environment: &'a Environment) -> Self {
        Self { environment }
    }

    /// The text of a variable that is set.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&'a str>, ConfigError> {
        Ok(self.raw(name)?.filter(|text| !text.is_empty()))
    }

    /// Whether a variable is there and holds nothing.
    pub(super) fn is_empty(&self, name: &'static str) -> Result<bool, ConfigError> {
        Ok(self.raw(name)?.is_some_and(str::is_empty))
    }

    /// A switch that restricts: what cannot be understood is an error, never off.
    pub(super) fn restriction(&self, name: &'static str) -> Result<bool, ConfigError> {
        let text = self.text(name)?.unwrap_or_default();
        match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => Ok(true),
            "0" | "false" | "no" | "" => Ok(false),
            _ => Err(ConfigError::NotASwitch(name)),
        }
    }

    /// One of a few words, spelled exactly; the default of its type when not set.
    pub(super) fn word<T: Copy + Default>(
        &self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<T, ConfigError> {
        let Some(text) = self.text(name)? else {
            return Ok(T::default());
        };
        words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| *value)
            .ok_or_else(|| ConfigError::NotAWord {
                variable: name,
                words: words.iter().map(|(word, _)| *word).collect(),
            })
    }

    /// A value that may stand in a variable or in a file that another variable names.
    pub(super) fn secret(
        &self,
        name: &'static str,
        file: &'static str,
    ) -> Result<Option<SecretString>, ConfigError> {
        match (self.text(name)?, self.text(file)?) {
            (Some(_), Some(_)) => Err(ConfigError::BothForms {
                variable: name,
                file,
            }),
            (Some(text), None) => Ok(Some(text.into())),
            (None, Some(path)) => {
                secret_from(path)
                    .map(Some)
                    .map_err(|problem| ConfigError::File {
                        variable: file,
                        problem,
                    })
            }
            (None, None) => Ok(None),
        }
    }

    /// Where the trusted roots are to be looked for.
    pub(super) fn named_roots(&self) -> NamedRoots {
        self.environment.named_roots().clone()
    }

    fn raw(&self, name: &'static str) -> Result<Option<&'a str>, ConfigError> {
        match self.environment.value(name) {
            Ok(value) => Ok(value.map(ExposeSecret::expose_secret)),
            Err(Unreadable::NotUnicode) => Err(ConfigError::NotUnicode(name)),
            Err(Unreadable::Contradictory) => Err(ConfigError::Contradictory(name)),
        }
    }
}

/// Appends what is in a file to `bytes`, unless it is more than `limit`.
pub(super) fn read_file(path: &str, limit: usize, bytes: &mut Vec<u8>) -> Result<(), FileProblem> {
    // The size is not asked for first: it says nothing of a pipe, and a file may grow meanwhile.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)
        .and_then(|file| file.take(most).read_to_end(bytes))
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => FileProblem::NotFound,
            ErrorKind::PermissionDenied => FileProblem::NotPermitted,
            _ => FileProblem::Unreadable,
        })?;
    if bytes.len() > limit {
        return Err(FileProblem::TooLarge { limit });
    }
    Ok(())
}

fn secret_from(path: &str) -> Result<SecretString, FileProblem> {
    // All the room at once: a vector that grows leaves copies of the secret behind. Reading to the end
    // makes sure of 32 bytes more.
    let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET_FILE_LIMIT + 64));
    read_file(path, SECRET_FILE_LIMIT, &mut bytes)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| FileProblem::NotUnicode)?;
    let text = match text.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => text,
    };
    if text.is_empty() {
        return Err(FileProblem::Empty);
    }
    Ok(text.into())
}
