//! TLS: what the texts of `rustls` and of OpenSSL say. Their types would bring these crates into each build.

use crate::classify::Verdict;

/// Reads the text of an error: an alert, or a certificate that is not valid.
pub(super) fn of_text(text: &str) -> Option<Verdict> {
    let is_transient = if let Some(name) = text.strip_prefix("received fatal alert: ") {
        TRANSIENT.iter().any(|(of, _)| *of == name)
    } else if let Some((_, number)) = text.rsplit_once("SSL alert number ") {
        let number: u8 = number.parse().ok()?;
        TRANSIENT.iter().any(|(_, of)| *of == number)
    } else if is_not_valid_yet(text) {
        // Nothing was sent, and time alone mends it: a clock is behind, as on a device that boots.
        return Some(Verdict::Refused);
    } else if text.starts_with(INVALID) || text.contains(UNVERIFIED) {
        false
    } else {
        return None;
    };
    // Unless it passes, someone has to change a certificate or a configuration.
    Some(if is_transient {
        Verdict::Transient
    } else {
        Verdict::Permanent
    })
}

/// How `rustls` and OpenSSL write that they do not accept a certificate.
const INVALID: &str = "invalid peer certificate: ";
const UNVERIFIED: &str = ":certificate verify failed:";

/// Whether a certificate begins to be valid later. The second text is that of `rustls` before 0.23.24.
fn is_not_valid_yet(text: &str) -> bool {
    let of_rustls = text.strip_prefix(INVALID).is_some_and(|why| {
        why.starts_with("certificate not valid yet") || why.starts_with("NotValidYet")
    });
    of_rustls || text.contains(UNVERIFIED) && text.contains("certificate is not yet valid")
}

/// The alerts of RFC 8446, section 6, that say nothing about the request or the configuration: the server stops, or failed
/// ("such as a memory allocation failure"), or "messages were corrupted in the network". As `rustls` writes them, and as
/// numbers.
const TRANSIENT: [(&str, u8); 6] = [
    ("CloseNotify", 0),
    ("BadRecordMac", 20),
    ("RecordOverflow", 22),
    ("DecodeError", 50),
    ("InternalError", 80),
    ("UserCanceled", 90),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Before 0.23.24, `rustls` wrote the name.
    #[test]
    fn only_a_certificate_that_is_not_valid_yet_is_waited_for() {
        for (why, verdict) in [
            ("NotValidYet", Verdict::Refused),
            ("Expired", Verdict::Permanent),
            ("Other(NotValidYet)", Verdict::Permanent),
        ] {
            let text = format!("invalid peer certificate: {why}");
            assert_eq!(of_text(&text), Some(verdict), "{text}");
        }
    }

    #[test]
    fn a_text_that_only_looks_like_an_alert_says_nothing() {
        for text in [
            "",
            "SSL alert number ",
            "SSL alert number 1000",
            "unexpected EOF",
            "unexpected EOF in JSON",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
