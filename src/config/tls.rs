//! What makes a certificate acceptable.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::environment::NamedRoots;

use super::error::{ConfigError, FileProblem, Warning};
use super::reader::{self, Reader};
use super::variables::{CA_FILE, INSECURE_TLS, TLS_PINS};

/// The most that a file of roots may hold; a whole platform's roots are a quarter of a mebibyte.
const CA_FILE_LIMIT: usize = 4 * 1024 * 1024;

/// What makes a certificate acceptable on the wg-easy connection, and on that connection alone.
#[derive(Default)]
pub struct TlsSettings {
    /// Accept any certificate (with pins: any whose leaf matches a pin).
    pub insecure: bool,
    /// When set, only these roots are trusted; never empty, and each can be used as a root.
    pub roots: Option<Vec<CertificateDer<'static>>>,
    /// Otherwise, where `SSL_CERT_FILE` and `SSL_CERT_DIR` say that the trusted roots are.
    pub named_roots: NamedRoots,
    /// When not empty, a certificate of the verified chain must match one.
    pub pins: Vec<Pin>,
}

/// SHA-256 of a certificate's SubjectPublicKeyInfo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pin(pub [u8; 32]);

/// Reads the three variables, and says which of them have no effect.
pub(super) fn settings(
    reader: &Reader<'_>,
    plain_http: bool,
    warnings: &mut Vec<Warning>,
) -> Result<TlsSettings, ConfigError> {
    for name in [CA_FILE, TLS_PINS] {
        if reader.is_empty(name)? {
            warnings.push(Warning::SetButEmpty(name));
        }
    }
    let roots = match reader.text(CA_FILE)? {
        Some(path) => Some(roots(path).map_err(|problem| ConfigError::File {
            variable: CA_FILE,
            problem,
        })?),
        None => None,
    };
    let pins = match reader.text(TLS_PINS)? {
        Some(text) => pins(text)?,
        None => Vec::new(),
    };
    let insecure = match reader.text(INSECURE_TLS)? {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            warnings.push(Warning::ValidationStaysOn);
            false
        }
    };
    if plain_http && !pins.is_empty() {
        return Err(ConfigError::PinsWithoutTls);
    }
    if roots.is_some() && plain_http {
        warnings.push(Warning::RootsWithoutTls);
    } else if roots.is_some() && insecure {
        warnings.push(Warning::RootsUnused);
    }
    if insecure {
        warnings.push(Warning::ValidationOff {
            pinned: !pins.is_empty(),
        });
    }
    Ok(TlsSettings {
        insecure,
        roots,
        named_roots: reader.named_roots(),
        pins,
    })
}

fn roots(path: &str) -> Result<Vec<CertificateDer<'static>>, FileProblem> {
    let mut pem = Vec::new();
    reader::read_file(path, CA_FILE_LIMIT, &mut pem)?;
    let roots = CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| FileProblem::MalformedPem)?;
    if roots.is_empty() {
        return Err(FileProblem::NoCertificate);
    }
    let mut store = RootCertStore::empty();
    for root in &roots {
        store
            .add(root.clone())
            .map_err(|_| FileProblem::MalformedCertificate)?;
    }
    Ok(roots)
}

/// Empty entries are passed over, as they leave no key in; a list of nothing else is an error, as it
/// would leave every key in.
fn pins(text: &str) -> Result<Vec<Pin>, ConfigError> {
    let mut pins = Vec::new();
    for (index, entry) in text.split(',').map(str::trim).enumerate() {
        if !entry.is_empty() {
            pins.push(Pin::parse(entry).ok_or(ConfigError::Pin { entry: index + 1 })?);
        }
    }
    if pins.is_empty() {
        return Err(ConfigError::Pin { entry: 1 });
    }
    Ok(pins)
}

impl Pin {
    /// Reads `sha256/BASE64`.
    fn parse(entry: &str) -> Option<Self> {
        let digest = STANDARD.decode(entry.strip_prefix("sha256/")?).ok()?;
        digest.try_into().ok().map(Self)
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pin").finish_non_exhaustive()
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSettings").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONES: &str = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    const TWOS: &str = "sha256/AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

    #[test]
    fn pins_are_separated_by_commas_and_blanks() {
        let both = [Pin([1; 32]), Pin([2; 32])];
        assert_eq!(pins(&format!("{ONES},{TWOS}")).unwrap(), both);
        assert_eq!(pins(&format!(" {ONES} , \t{TWOS},")).unwrap(), both);
    }

    #[test]
    fn a_pin_is_32_bytes_of_padded_base64_after_its_algorithm() {
        for wrong in [
            ",",
            " ",
            "sha256/",
            "sha256/AQ==",
            "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
            "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE",
            "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQF=",
            "sha256//AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
            "SHA256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
            "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ==",
            "sha512/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
        ] {
            assert!(pins(wrong).is_err(), "{wrong}");
        }
        let second = pins(&format!("{ONES},{TWOS}x")).unwrap_err();
        assert!(second.to_string().contains("entry 2"), "{second}");
    }

    #[test]
    fn debug_shows_no_value() {
        assert_eq!(format!("{:?}", Pin([1; 32])), "Pin(..)");
        assert_eq!(
            format!("{:?}", TlsSettings::default()),
            "TlsSettings { .. }"
        );
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in any::<String>()) {
            prop_assert!(pins(&text).map_or(true, |pins| !pins.is_empty()));
        }
    }
}
