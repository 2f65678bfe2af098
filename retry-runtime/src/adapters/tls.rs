//! TLS: what the texts of `rustls` and of OpenSSL say. Their types would bring these crates into each build.

use crate::classify::Verdict;

/// Reads the text of an error: an alert, or a certificate that is not valid.
pub(super) fn of_text(text: &str) -> Option<Verdict> {
    let is_transient = if let Some(name) = text.strip_prefix("received fatal alert: ") {
        TRANSIENT.iter().any(|(of, _)| *of == name)
    } else if let Some((_, number)) = text.rsplit_once("SSL alert number ") {
        let number: u8 = number.parse().ok()?;
        TRANSIENT.iter().any(|(_, of)| *of == number)
    } else if text.starts_with("invalid peer certificate: ")
        || text.contains(":certificate verify failed:")
    {
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
