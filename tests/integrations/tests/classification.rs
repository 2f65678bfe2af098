//! Compares `docs/CLASSIFICATION.md` with the code, which classifies each error of its table.
//!
//! A wrong row, an error without a row, and a row without an error all fail the test.

mod made;
mod table;
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use h2::Reason;
use http::StatusCode;
use made::Made;
use reattempt::{Retryable, Verdict, codes};
use redis::{ErrorKind, RedisError, ServerErrorKind};
use table::Table;
use tokio_postgres::error::SqlState;
use tonic::{Code, Status};

/// The verdicts of all errors of one source, by their names in the table.
type Errors = BTreeMap<String, Verdict>;

macro_rules! numbers {
    ($($name:ident)+) => { &[$((stringify!($name), libc::$name)),+] };
}

/// The numbers of errors that have no kind in std.
const NUMBERS: &[(&str, i32)] = numbers![
    EMFILE ENFILE ENOBUFS ENOLCK ENOSR ETOOMANYREFS EUSERS EHOSTDOWN
    ENONET ENETRESET ESHUTDOWN ECOMM ENOLINK ETIME ERESTART ENOMSG
    EBADF EFAULT ENOTTY EDOM ERANGE EILSEQ EOVERFLOW ENOTBLK
    ENOSTR ENOTUNIQ ENOTSOCK EDESTADDRREQ EMSGSIZE EISCONN EPROTOTYPE ENOPROTOOPT
    EPROTONOSUPPORT ESOCKTNOSUPPORT EPFNOSUPPORT EAFNOSUPPORT ESRCH ECHILD ENODEV ENODATA
    EIDRM ENOEXEC ELIBACC ELIBBAD ELIBSCN ELIBMAX ELIBEXEC ENOKEY
    EKEYEXPIRED EKEYREVOKED EKEYREJECTED ENOMEDIUM EMEDIUMTYPE ERFKILL EUCLEAN ENOTRECOVERABLE
    EIO EREMOTEIO EHWPOISON ENXIO EALREADY ECANCELED EPROTO EBADMSG
    EBADFD EOWNERDEAD ESTRPIPE
];

fn io_kinds() -> Errors {
    let made_by_std = [
        io::ErrorKind::Other,
        io::ErrorKind::WriteZero,
        io::ErrorKind::UnexpectedEof,
        io::ErrorKind::Unsupported,
        io::ErrorKind::InvalidData,
    ];
    // Kinds without a stable name come from error numbers of the system.
    let of_system = (0..4096).map(|number| io::Error::from_raw_os_error(number).kind());
    let kinds = of_system.chain(made_by_std);
    let by_number = NUMBERS.iter().map(|(name, number)| {
        let error = io::Error::from_raw_os_error(*number);
        ((*name).to_owned(), error.verdict())
    });
    kinds
        .map(|kind| (format!("{kind:?}"), io::Error::from(kind).verdict()))
        .chain(by_number)
        .collect()
}

fn statuses() -> Errors {
    (100..1000)
        .map(|number| (number, StatusCode::from_u16(number).unwrap()))
        .inspect(|(number, status)| assert_eq!(status.verdict(), codes::http_status(*number)))
        .map(|(number, status)| (number.to_string(), status.verdict()))
        .collect()
}

fn reasons() -> Errors {
    (0..32)
        .map(Reason::from)
        .map(|reason| (format!("{reason:?}"), h2::Error::from(reason).verdict()))
        .collect()
}

fn of_grpc() -> Errors {
    (0..=16)
        .map(|number| (number, Code::from_i32(number)))
        .inspect(|(number, code)| assert_eq!(code.verdict(), codes::grpc(*number)))
        .inspect(|(_, code)| assert_eq!(code.verdict(), Status::new(*code, "").verdict()))
        .map(|(_, code)| (format!("{code:?}"), code.verdict()))
        .collect()
}

fn of_mysql() -> Errors {
    (1000..10_000)
        .map(|number| (number.to_string(), codes::mysql(number)))
        .collect()
}

fn of_sqlite() -> Errors {
    (0..256)
        .map(|code| (code.to_string(), codes::sqlite(code)))
        .collect()
}

fn of_kafka() -> Errors {
    (0..=106)
        .chain([-184])
        .map(|code| (code.to_string(), codes::kafka(code)))
        .collect()
}

fn of_mongodb() -> Errors {
    let retried = [
        "TransientTransactionError",
        "RetryableWriteError",
        "RetryableError",
        "ResumableChangeStreamError",
    ];
    let others = ["UnknownTransactionCommitResult", "SystemOverloadedError"];
    let mut errors: Errors = (0..14_000)
        .map(|code| (code.to_string(), codes::mongodb(code)))
        .collect();
    for label in retried
        .into_iter()
        .chain(others)
        .chain(["NoWritesPerformed"])
    {
        errors.insert(label.to_owned(), codes::mongodb_labels([label]));
    }
    for other in others {
        let verdicts = retried.map(|label| {
            let verdict = codes::mongodb_labels([label, other, "NoWritesPerformed"]);
            assert_eq!(
                codes::mongodb_labels(vec![other.to_owned(), label.to_owned()]),
                verdict
            );
            verdict
        });
        assert_eq!(verdicts, [verdicts[0]; 4], "{other}");
        errors.insert(format!("{other} and another of these"), verdicts[0]);
    }
    let all = retried.into_iter().chain(others);
    assert_eq!(
        codes::mongodb_labels(all),
        Verdict::Unknown,
        "the commit is in doubt"
    );
    errors
}

fn of_jetstream() -> Errors {
    (10_000..10_200)
        .map(|code| (code.to_string(), codes::jetstream(code)))
        .collect()
}

fn of_aws() -> Errors {
    const CODES: &str = "
        BandwidthLimitExceeded ConditionalRequestConflict EC2ThrottledException IDPCommunicationError InternalError
        InternalFailure InternalServerError InternalServerException KMSThrottlingException KmsThrottled LimitExceededException
        OperationAborted PriorRequestNotComplete ProvisionedThroughputExceeded ProvisionedThroughputExceededException
        ReplicatedWriteConflictException RequestLimitExceeded RequestThrottled RequestThrottledException RequestTimeout
        RequestTimeoutException ServiceUnavailable ServiceUnavailableException SlowDown ThrottledException Throttling
        ThrottlingError ThrottlingException TooManyRequestsException TransactionConflict TransactionConflictException
        TransactionInProgressException ValidationException
    ";
    let codes = CODES.split_whitespace();
    codes
        .map(|code| (code.to_owned(), codes::aws(code)))
        .collect()
}

/// Every possible class of SQLSTATE, with the codes that are in use in any class.
fn sqlstates() -> Errors {
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').collect();
    let subclasses = [
        "000", "001", "002", "003", "004", "005", "006", "007", "00N", "012", "014", "030", "100",
        "200", "300", "400", "505", "P01", "P02", "P03", "P04", "P05", "S01",
    ];
    let mut errors = Errors::new();
    for first in &digits {
        for second in &digits {
            for subclass in subclasses {
                let code = format!("{first}{second}{subclass}");
                let verdict = codes::sqlstate(&code);
                assert_eq!(SqlState::from_code(&code).verdict(), verdict, "{code}");
                errors.insert(code, verdict);
            }
        }
    }
    errors
}

macro_rules! kinds {
    ($kinds:ident: $($kind:ident)*) => { [$($kinds::$kind),*] };
}

/// The codes of the server, and the kinds of the client.
fn redis_kinds() -> Errors {
    let named = kinds! { ServerErrorKind:
        ResponseError ExecAbort BusyLoading NoScript Moved Ask TryAgain ClusterDown CrossSlot MasterDown ReadOnly
        NotBusy NoSub NoPerm
    };
    let named = named.map(|kind| RedisError::from((ErrorKind::Server(kind), "in a test")));
    let unnamed = "
        BUSY BUSYGROUP BUSYKEY DENIED INPROG INVALIDOBJ IOERR MISCONF NOAUTH NOGOODSLAVE NOGROUP NOMASTERLINK NOPROTO
        NOQUORUM NOREPLICAS OOM REDIRECT UNBLOCKED UNKILLABLE WRONGPASS WRONGTYPE
    ";
    let unnamed = unnamed.split_whitespace();
    let unnamed = unnamed.map(|code| redis::make_extension_error(code.to_owned(), None));
    let said = named.into_iter().chain(unnamed).map(|error| {
        let code = error.code().unwrap().to_owned();
        assert_eq!(error.verdict(), codes::redis(&code), "{code}");
        (code, error.verdict())
    });
    let own = kinds! { ErrorKind:
        Parse AuthenticationFailed UnexpectedReturnType InvalidClientConfig Client MasterNameNotFoundBySentinel
        NoValidReplicasFoundBySentinel EmptySentinelList ClusterConnectionNotFound RESP3NotSupported
    };
    let own = own.map(|kind| {
        let error = RedisError::from((kind, "in a test"));
        (format!("{kind:?}"), error.verdict())
    });
    said.chain(own).collect()
}

/// The verdicts of the code, source by source.
async fn of_the_code() -> Vec<(&'static str, Errors)> {
    let mut sources = vec![
        ("io", io_kinds()),
        ("http", statuses()),
        ("h2", reasons()),
        ("grpc", of_grpc()),
        ("sqlstate", sqlstates()),
        ("mysql", of_mysql()),
        ("sqlite", of_sqlite()),
        ("aws", of_aws()),
        ("kafka", of_kafka()),
        ("mongodb", of_mongodb()),
        ("jetstream", of_jetstream()),
        ("redis", redis_kinds()),
        ("tls", tls::alerts().await),
    ];
    let by_name = "
        tonic tokio-postgres tokio reattempt std hyper reqwest reqwest-middleware sqlx sea-orm deadpool tower
    ";
    sources.extend(by_name.split_whitespace().map(|of| (of, Errors::new())));
    for Made { of, error, verdict } in made::all().await {
        let (_, errors) = sources.iter_mut().find(|(name, _)| *name == of).unwrap();
        assert_eq!(errors.insert(error.to_owned(), verdict), None, "{error}");
    }
    for Made { of, error, verdict } in made::of_other_versions().await {
        let (_, errors) = sources.iter().find(|(name, _)| *name == of).unwrap();
        assert_eq!(errors.get(error), Some(&verdict), "{of}: {error}");
    }
    sources
}

#[tokio::test]
async fn the_table_has_the_verdicts_of_the_code() {
    let table = Table::parse(include_str!("../../../docs/CLASSIFICATION.md"));
    let code = of_the_code().await;
    let mistakes = table.compare(&code);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let known = code.iter().map(|(of, _)| *of).collect();
    assert_eq!(table.sources(), known);
}

/// Each version of a client has errors, which `known.rs` finds inside others.
#[tokio::test]
async fn each_feature_has_errors() {
    let names = |made: Vec<Made>| made.into_iter().map(|made| made.of).collect::<Vec<_>>();
    let versions = [
        names(made::all().await),
        names(made::of_other_versions().await),
    ];
    let mut known = BTreeSet::new();
    let manifest = include_str!("../../../retry-runtime/Cargo.toml");
    let (features, _) = manifest.split_once("[dependencies]").unwrap();
    for feature in features
        .lines()
        .filter_map(|line| Some(line.split_once(" = [")?.0))
    {
        let versioned = feature
            .rsplit_once('-')
            .filter(|(_, version)| version.starts_with(|first: char| first.is_ascii_digit()));
        if let Some((name, _)) = versioned {
            let is_newest = known.insert(name);
            let versions = &versions[usize::from(!is_newest)];
            assert!(versions.contains(&name), "no error of {feature}");
        }
    }
    assert!(known.len() > 10, "{known:?}");
}

/// The comparison finds each single change to the table.
#[tokio::test]
async fn every_row_of_the_table_is_checked() {
    let text = include_str!("../../../docs/CLASSIFICATION.md");
    let code = of_the_code().await;
    let mut rows = 0;
    for line in text.lines().filter(|line| table::is_row(line)) {
        rows += 1;
        let [of, error, verdict, why] = table::cells(line);
        // Comparing the other sources too would take long, because there are 27,000 codes.
        let names = table::names(of);
        let sources = code
            .iter()
            .filter(|(name, _)| names.iter().any(|of| of == name));
        let sources: Vec<_> = sources.cloned().collect();
        let mistakes = |rows: &str| Table::parse(&text.replace(line, rows)).compare(&sources);
        assert_ne!(mistakes(""), [""; 0], "without {line}");
        let other = if verdict == "permanent" {
            "transient"
        } else {
            "permanent"
        };
        let wrong = format!("| {of} | {error} | {other} | {why} |");
        assert_ne!(mistakes(&wrong), [""; 0], "{wrong}");
        let left_over = format!("{line}\n| {of} | `Nothing` | {verdict} | {why} |");
        assert_eq!(mistakes(&left_over).len(), names.len(), "{left_over}");
    }
    assert!(rows > 80, "{rows} rows");
}
