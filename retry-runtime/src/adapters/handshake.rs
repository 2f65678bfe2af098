//! A TLS handshake that failed, by what the texts in the chain of its error say.

use std::error::Error;

#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
use super::known;
use super::tls;
use crate::classify::{Links, Verdict};

/// Returns the verdict of a handshake that failed, or `None` if the error does not say.
#[cfg(any(feature = "sqlx", feature = "sqlx-0_8", feature = "tokio-postgres"))]
pub(super) fn verdict(error: &(dyn Error + 'static)) -> Option<Verdict> {
    of_texts(error).or_else(|| known::inside(error).map(|said| said.verdict))
}

/// Looks in the chain of an error without a connection for the text of an error of TLS.
pub(super) fn of_texts(error: &(dyn Error + 'static)) -> Option<Verdict> {
    Links::of(error).find_map(|link| of_text(&link.to_string()))
}

fn of_text(text: &str) -> Option<Verdict> {
    if let Some(verdict) = tls::of_rustls(text) {
        return Some(verdict);
    }
    if let Some((_, number)) = text.rsplit_once("SSL alert number ") {
        let number: u8 = number.parse().ok()?;
        return Some(tls::of_alert(|(_, of)| *of == number));
    }
    if text.contains(":certificate verify failed:") {
        return Some(Verdict::Permanent);
    }
    // OpenSSL: the server hung up in the handshake.
    (text == "unexpected EOF").then_some(Verdict::Transient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_alert_has_its_verdict() {
        // Of `rustls` 0.23, and of OpenSSL 3.
        for (text, verdict) in [
            ("received fatal alert: InternalError", Verdict::Transient),
            ("received fatal alert: UserCanceled", Verdict::Transient),
            ("received fatal alert: HandshakeFailure", Verdict::Permanent),
            (
                "received fatal alert: CertificateRequired",
                Verdict::Permanent,
            ),
            ("received fatal alert: Unknown(0x63)", Verdict::Permanent),
            (
                "invalid peer certificate: UnknownIssuer",
                Verdict::Permanent,
            ),
            ("unexpected EOF", Verdict::Transient),
        ] {
            assert_eq!(of_text(text), Some(verdict), "{text}");
        }
        for number in 0..=u8::MAX {
            let text = format!(
                "error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal \
                error:../ssl/record/rec_layer_s3.c:1605:SSL alert number {number}"
            );
            let verdict = match number {
                0 | 20 | 50 | 80 | 90 => Verdict::Transient,
                _ => Verdict::Permanent,
            };
            assert_eq!(of_text(&text), Some(verdict), "{number}");
        }
        for text in [
            "",
            "SSL alert number ",
            "SSL alert number 1000",
            "unexpected EOF in JSON",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
    }
}
