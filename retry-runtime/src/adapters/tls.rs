//! TLS: what the texts of `rustls` and of OpenSSL say. Their types would bring these crates into each build.

use crate::classify::Verdict;

/// Reads the text of an alert, or of a certificate that is not valid.
pub(super) fn of_rustls(text: &str) -> Option<Verdict> {
    if text.starts_with("invalid peer certificate: ") {
        return Some(Verdict::Permanent);
    }
    let alert = text.strip_prefix("received fatal alert: ")?;
    Some(of_alert(|(name, _)| *name == alert))
}

pub(super) fn of_alert(is: impl Fn(&&(&str, u8)) -> bool) -> Verdict {
    match TRANSIENT.iter().find(is) {
        Some(_) => Verdict::Transient,
        // Someone has to change a certificate or a configuration.
        None => Verdict::Permanent,
    }
}

/// The alerts of RFC 8446, section 6, that say nothing about the request or the configuration: the server stops, or failed
/// ("such as a memory allocation failure"), or the bytes "were corrupted in the network". As `rustls` writes them, and as numbers.
const TRANSIENT: [(&str, u8); 5] = [
    ("CloseNotify", 0),
    ("BadRecordMac", 20),
    ("DecodeError", 50),
    ("InternalError", 80),
    ("UserCanceled", 90),
];
