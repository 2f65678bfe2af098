use std::sync::Arc;

use super::*;

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

#[derive(Debug, thiserror::Error)]
#[error("i/o")]
struct App(#[from] io::Error);

/// `Uncategorized` is the last kind in the declaration of std, so its place is the number of the other kinds. If std
/// adds a kind, the place changes, even if no error number gives that kind.
#[test]
fn std_has_no_more_kinds_than_have_a_verdict() {
    let numbers = (0..4096).map(|number| io::Error::from_raw_os_error(number).kind());
    // `as u8` is the place of the kind in the declaration of std.
    let last = numbers.max_by_key(|kind| *kind as u8).unwrap();
    assert_eq!(format!("{last:?}"), "Uncategorized");
    assert_eq!(
        last as u8, 41,
        "std has grown a kind: give it a verdict in `io.rs`, and a row in `docs/CLASSIFICATION.md`"
    );
}

#[test]
fn an_io_error_whose_kind_has_no_verdict_has_that_of_its_sources() {
    assert_eq!(io::Error::other("text").verdict(), Verdict::Unknown);
    assert_eq!(io::Error::other(reset()).verdict(), Verdict::Transient);
    assert_eq!(io::Error::other(missing()).verdict(), Verdict::Permanent);
    assert_eq!(
        io::Error::other(Arc::new(reset())).verdict(),
        Verdict::Transient
    );
    assert_eq!(
        io::Error::other(io::Error::other(Box::new(reset()))).verdict(),
        Verdict::Transient
    );
    assert_eq!(
        io::Error::other(App::from(reset())).verdict(),
        Verdict::Transient
    );
    // The innermost verdict is the nearest to the cause.
    let lost = io::Error::new(ErrorKind::UnexpectedEof, App::from(missing()));
    assert_eq!(io::Error::other(lost).verdict(), Verdict::Permanent);
    let unreadable = io::Error::new(ErrorKind::InvalidData, App::from(reset()));
    assert_eq!(io::Error::other(unreadable).verdict(), Verdict::Transient);
    // The verdict of a kind wins over the error inside.
    assert_eq!(
        io::Error::new(ErrorKind::InvalidData, reset()).verdict(),
        Verdict::Permanent
    );
    assert_eq!(
        io::Error::new(ErrorKind::ConnectionReset, missing()).verdict(),
        Verdict::Transient
    );
}

/// The numbers for which std has no kind, from errno(3). The others of this kind are unknown.
#[cfg(target_os = "linux")]
#[test]
fn every_number_without_a_kind_has_its_verdict() {
    const TRANSIENT: &[i32] = &[
        libc::EMFILE,
        libc::ENFILE,
        libc::ENOBUFS,
        libc::ENOLCK,
        libc::ENOSR,
        libc::ETOOMANYREFS,
        libc::EUSERS,
        libc::EHOSTDOWN,
        libc::ENONET,
        libc::ENETRESET,
        libc::ESHUTDOWN,
        libc::ECOMM,
        libc::ENOLINK,
        libc::ETIME,
        libc::ERESTART,
        libc::ENOMSG,
    ];
    const UNKNOWN: &[i32] = &[
        libc::EIO,
        libc::EREMOTEIO,
        libc::EHWPOISON,
        libc::ENXIO,
        libc::EALREADY,
        libc::ECANCELED,
        libc::EPROTO,
        libc::EBADMSG,
        libc::EBADFD,
        libc::EOWNERDEAD,
        libc::ESTRPIPE,
        libc::EREMCHG,
        // From here on, only System V and XENIX used them.
        libc::ECHRNG,
        libc::EL2NSYNC,
        libc::EL3HLT,
        libc::EL3RST,
        libc::ELNRNG,
        libc::EUNATCH,
        libc::ENOCSI,
        libc::EL2HLT,
        libc::EBADE,
        libc::EBADR,
        libc::EXFULL,
        libc::ENOANO,
        libc::EBADRQC,
        libc::EBADSLT,
        libc::EBFONT,
        libc::ENOPKG,
        libc::EREMOTE,
        libc::EADV,
        libc::ESRMNT,
        libc::EMULTIHOP,
        libc::EDOTDOT,
        libc::ENOTNAM,
        libc::ENAVAIL,
        libc::EISNAM,
    ];
    for number in 1..134 {
        let error = io::Error::from_raw_os_error(number);
        let is_in_use = !error.to_string().starts_with("Unknown error");
        if format!("{:?}", error.kind()) != "Uncategorized" || !is_in_use {
            continue;
        }
        let verdict = if TRANSIENT.contains(&number) {
            Verdict::Transient
        } else if UNKNOWN.contains(&number) {
            Verdict::Unknown
        } else {
            Verdict::Permanent
        };
        assert_eq!(error.verdict(), verdict, "{error}");
        assert_eq!(error.alone().assessment.verdict, verdict, "{error}");
    }
    for number in (134..4096).chain([-1, 0, i32::MIN, i32::MAX]) {
        let error = io::Error::from_raw_os_error(number);
        assert_eq!(error.verdict(), Verdict::Unknown, "{error}");
    }
}

/// The system makes the error, and not the test.
#[test]
fn a_datagram_that_is_too_long_is_permanent() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let error = socket.send_to(&vec![0; 70_000], address).unwrap_err();
    assert_eq!(error.verdict(), Verdict::Permanent, "{error:?}");
}

/// A name with an empty label is refused without a name server, so the test needs no network.
#[tokio::test]
async fn a_name_that_is_not_resolved_is_refused_though_std_keeps_only_its_text() {
    let error = tokio::net::lookup_host("a..b:80")
        .await
        .map(drop)
        .unwrap_err();
    if cfg!(unix) {
        assert_eq!(error.raw_os_error(), None, "{error:?}");
    }
    assert_eq!(error.verdict(), Verdict::Refused, "{error:?}");
}
