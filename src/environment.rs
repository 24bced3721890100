//! The environment: read once, wiped, and gone before anything else happens.
//!
//! A process shows the block of memory that its environment was started in to everybody who may
//! read `/proc/<pid>/environ`, for as long as it lives. Removing a variable only changes a pointer;
//! so the values are overwritten where they are.

// The block belongs to the C library and is reached through a raw pointer; there is no safe way to
// write to it. This is the only file that may.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CStr, OsStr, OsString, c_char};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::{ExposeSecret, SecretString};
use zeroize::{Zeroize, Zeroizing};

use crate::config::VARIABLES;

/// What every variable of this program begins with, save those that are listed.
const PREFIX: &str = "WG_EASY_";

/// The variables that are meant for this program, taken out of the process.
///
/// `Debug` shows names and no values.
#[derive(Default)]
pub struct Environment {
    variables: BTreeMap<String, Value>,
    roots: NamedRoots,
}

/// Where `SSL_CERT_FILE` and `SSL_CERT_DIR` say that the trusted roots are. These two are everybody's:
/// they are neither wiped nor removed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct NamedRoots {
    /// The file.
    pub file: Option<PathBuf>,
    /// The directories, of which there may be several.
    pub directories: Vec<PathBuf>,
}

enum Value {
    Text(SecretString),
    Unreadable(Unreadable),
}

/// Why a variable that is set has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// The bytes are not UTF-8.
    NotUnicode,
    /// The environment holds the name twice, with different values. Taking either could take the
    /// one that lifts a restriction.
    Contradictory,
}

// Both the C libraries that this program is linked with define it; the `libc` crate declares it for
// one of them only.
unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

impl Environment {
    /// Takes every variable of ours out of the process: the values are copied, overwritten in the
    /// block that `/proc/<pid>/environ` shows, and the variables removed.
    ///
    /// To be called once, as the first act of `main`, while the process has a single thread: another
    /// thread that reads the environment at the same time would read memory that is being written.
    /// A second call finds nothing.
    pub fn take() -> Self {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Self::default();
        }
        // SAFETY: `environ` is null or the C library's null-terminated array of pointers to
        // NUL-terminated strings, in memory that the process may write to (its initial stack). There
        // is no other thread that could use them meanwhile, and no reference into them is held.
        let variables = unsafe { wipe(environ, is_ours) };
        let mut environment = Self::collect(variables);
        environment.roots = NamedRoots::read(|name| std::env::var_os(name));
        for name in environment.names() {
            // SAFETY: there is no other thread. The name is not empty, and holds no `=` and no NUL,
            // as it was cut from the block at the first `=`.
            unsafe { std::env::remove_var(name) };
        }
        environment
    }

    /// An environment made of `pairs`, for tests. Names that are not ours are left out.
    pub fn from_pairs<N: AsRef<OsStr>, V: AsRef<OsStr>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let bytes = |text: &OsStr| text.as_bytes().to_vec();
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(name, value)| (bytes(name.as_ref()), Zeroizing::new(bytes(value.as_ref()))))
            .collect();
        let roots = NamedRoots::read(|wanted| {
            let (_, value) = pairs.iter().find(|(name, _)| name == wanted.as_bytes())?;
            Some(OsStr::from_bytes(value).to_owned())
        });
        let ours = pairs.into_iter().filter(|(name, _)| is_ours(name));
        Self {
            roots,
            ..Self::collect(ours)
        }
    }

    /// The value of a variable, `None` when it is not set.
    pub fn value(&self, name: &str) -> Result<Option<&SecretString>, Unreadable> {
        match self.variables.get(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Unreadable(why)) => Err(*why),
        }
    }

    /// The names of the variables that are set, in alphabetical order. A name that nobody asked for
    /// may hold anything; what is not UTF-8 in it is replaced.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Where the trusted roots are to be looked for, if that was said.
    pub fn named_roots(&self) -> &NamedRoots {
        &self.roots
    }

    fn collect(variables: impl IntoIterator<Item = (Vec<u8>, Zeroizing<Vec<u8>>)>) -> Self {
        let mut environment = Self::default();
        for (name, value) in variables {
            let name = String::from_utf8_lossy(&name).into_owned();
            let value = Value::new(&value);
            match environment.variables.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(mut entry) => {
                    if !entry.get().is_same(&value) {
                        entry.insert(Value::Unreadable(Unreadable::Contradictory));
                    }
                }
            }
        }
        environment
    }
}

impl NamedRoots {
    /// Whether one of the variables says anything. An empty one is not set.
    pub fn are_named(&self) -> bool {
        self.file.is_some() || !self.directories.is_empty()
    }

    fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let value = |name| variable(name).filter(|value| !value.is_empty());
        Self {
            file: value("SSL_CERT_FILE").map(PathBuf::from),
            directories: value("SSL_CERT_DIR").map_or_else(Vec::new, |directories| {
                std::env::split_paths(&directories)
                    .filter(|directory| !directory.as_os_str().is_empty())
                    .collect()
            }),
        }
    }
}

impl Value {
    fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Unreadable(Unreadable::NotUnicode),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.expose_secret() == other.expose_secret(),
            _ => false,
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

fn is_ours(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
        || VARIABLES
            .iter()
            .any(|variable| variable.name.as_bytes() == name)
}

/// Copies the variables that are `wanted` out of an environment block and overwrites their values in
/// place with zeros. A name that occurs twice is wiped twice.
///
/// # Safety
///
/// `entry` must be null or point to an array that ends in a null pointer, whose other elements point
/// to NUL-terminated strings that nobody else uses during the call and that may be written to.
unsafe fn wipe(
    mut entry: *const *mut c_char,
    wanted: impl Fn(&[u8]) -> bool,
) -> Vec<(Vec<u8>, Zeroizing<Vec<u8>>)> {
    let mut found = Vec::new();
    if entry.is_null() {
        return found;
    }
    loop {
        // SAFETY: `entry` has not moved past the null pointer that ends the array.
        let text = unsafe { *entry };
        if text.is_null() {
            return found;
        }
        // SAFETY: an element that is not null is a NUL-terminated string.
        let length = unsafe { CStr::from_ptr(text) }.count_bytes();
        // SAFETY: those bytes were just counted; they may be written to, and nobody else uses them.
        let bytes = unsafe { std::slice::from_raw_parts_mut(text.cast::<u8>(), length) };
        if let Some(end) = bytes.iter().position(|&byte| byte == b'=') {
            let (name, rest) = bytes.split_at_mut(end);
            if let Some(value) = rest.get_mut(1..)
                && wanted(name)
            {
                found.push((name.to_vec(), Zeroizing::new(value.to_vec())));
                // A plain write to memory that is not read again may be left out by the compiler.
                value.zeroize();
            }
        }
        // SAFETY: this element was not the last one.
        entry = unsafe { entry.add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CString, OsString};
    use std::os::unix::ffi::OsStringExt;

    /// Wipes a block made of `lines`: what was taken, and what is left of the block.
    fn wiped(lines: &[&str]) -> (Environment, Vec<Vec<u8>>) {
        let strings: Vec<*mut c_char> = lines
            .iter()
            .map(|line| CString::new(*line).unwrap().into_raw())
            .collect();
        let mut block = strings.clone();
        block.push(std::ptr::null_mut());
        // SAFETY: the block is ours alone, ends in a null pointer and holds strings.
        let taken = unsafe { wipe(block.as_ptr(), is_ours) };
        let left = strings
            .into_iter()
            .zip(lines)
            .map(|(text, line)| {
                // SAFETY: the string is as long as the line that it was made from.
                let bytes =
                    unsafe { std::slice::from_raw_parts(text.cast::<u8>(), line.len()) }.to_vec();
                // SAFETY: a NUL may now come earlier, so the length is given back as it was.
                drop(unsafe {
                    Vec::from_raw_parts(text.cast::<u8>(), line.len() + 1, line.len() + 1)
                });
                bytes
            })
            .collect();
        (Environment::collect(taken), left)
    }

    fn text<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
        environment
            .value(name)
            .unwrap()
            .map(ExposeSecret::expose_secret)
    }

    #[test]
    fn values_of_ours_are_zeros_afterwards_and_others_are_untouched() {
        let (environment, left) = wiped(&[
            "PATH=/bin",
            "WG_EASY_PASSWORD=a=b",
            "no equals sign",
            "=C:=odd",
            "WG_EASY_MISTYPED=x",
            "WG_EASY_URL=",
            "ELICITATION=true",
            "ELICITATIONS=true",
        ]);
        assert_eq!(
            left,
            [
                b"PATH=/bin".to_vec(),
                b"WG_EASY_PASSWORD=\0\0\0".to_vec(),
                b"no equals sign".to_vec(),
                b"=C:=odd".to_vec(),
                b"WG_EASY_MISTYPED=\0".to_vec(),
                b"WG_EASY_URL=".to_vec(),
                b"ELICITATION=\0\0\0\0".to_vec(),
                b"ELICITATIONS=true".to_vec(),
            ]
        );
        assert_eq!(text(&environment, "WG_EASY_PASSWORD"), Some("a=b"));
        assert_eq!(text(&environment, "WG_EASY_URL"), Some(""));
        assert_eq!(text(&environment, "WG_EASY_USERNAME"), None);
        assert_eq!(text(&environment, "PATH"), None);
    }

    #[test]
    fn a_name_that_occurs_twice_is_wiped_twice_and_refused_when_the_values_differ() {
        let (environment, left) = wiped(&[
            "WG_EASY_READ_ONLY=0",
            "WG_EASY_READ_ONLY=1",
            "WG_EASY_USERNAME=a",
            "WG_EASY_USERNAME=a",
        ]);
        assert!(left.iter().all(|line| line.ends_with(b"=\0")));
        assert_eq!(
            environment.value("WG_EASY_READ_ONLY").unwrap_err(),
            Unreadable::Contradictory
        );
        assert_eq!(text(&environment, "WG_EASY_USERNAME"), Some("a"));
    }

    #[test]
    fn a_block_that_is_not_there_is_empty() {
        // SAFETY: null is allowed.
        assert!(unsafe { wipe(std::ptr::null(), is_ours) }.is_empty());
    }

    #[test]
    fn what_is_not_unicode_is_told_apart_from_what_is_not_set() {
        let environment = Environment::from_pairs([
            ("WG_EASY_PASSWORD", OsString::from_vec(vec![0xff, b'x'])),
            ("WG_EASY_URL", "u".into()),
        ]);
        assert_eq!(
            environment.value("WG_EASY_PASSWORD").unwrap_err(),
            Unreadable::NotUnicode
        );
        assert!(environment.value("WG_EASY_USERNAME").unwrap().is_none());
    }

    #[test]
    fn debug_shows_names_alone() {
        let environment = Environment::from_pairs([("WG_EASY_PASSWORD", "hunter2"), ("HOME", "/")]);
        assert_eq!(format!("{environment:?}"), r#"{"WG_EASY_PASSWORD"}"#);
    }
}
