use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

use super::super::client::error::ErrorKind;
use super::*;
use crate::adapters::transaction::CommitError;

/// An error as a driver makes it: its text and its code.
#[derive(Debug)]
struct Assessment(&'static str, Option<&'static str>);

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl StdError for Assessment {}

impl DatabaseError for Assessment {
    fn message(&self) -> &str {
        self.0
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        self.1.map(Cow::Borrowed)
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

fn said(text: &'static str, code: impl Into<Option<&'static str>>) -> Error {
    Error::from(Assessment(text, code.into()))
}

fn io_error(kind: io::ErrorKind) -> Error {
    Error::Io(kind.into())
}

/// Each error, by its text and its code, has one verdict in the transaction and one in the commit.
#[track_caller]
fn have(
    verdict: Verdict,
    in_commit: Verdict,
    errors: &[(&'static str, impl Into<Option<&'static str>> + Copy)],
) {
    for (text, code) in errors {
        let error = || said(text, *code);
        assert_eq!(error().verdict(), verdict, "{text}");
        let before = TransactionError::from(error());
        assert_eq!(before.verdict(), verdict, "{text}");
        let during = TransactionError::Commit(CommitError(error()));
        assert_eq!(during.verdict(), in_commit, "{text}");
    }
}

#[test]
fn an_error_of_the_database_is_by_its_code_in_the_transaction_and_in_the_commit() {
    let conflicts = [
        ("could not serialize", "40001"),
        ("1213 (40001): Deadlock found", "40001"),
        ("1205 (HY000): Lock wait", "HY000"),
        ("(code: 5) database is locked", "5"),
        ("(code: 517) database is locked", "517"),
    ];
    have(Verdict::Conflict, Verdict::Conflict, &conflicts);
    let permanent = [
        ("duplicate key", "23505"),
        ("1062 (23000): Duplicate", "23000"),
        ("1205 (HY000): Lock wait", "P0001"),
        ("(code: 2067) UNIQUE", "2067"),
    ];
    have(Verdict::Permanent, Verdict::Permanent, &permanent);
    let lost = [
        ("terminating", "57P01"),
        ("1053 (08S01): Shutdown", "08S01"),
    ];
    have(Verdict::Transient, Verdict::Unknown, &lost);
    let full = [("1040: Too many connections", None)];
    have(Verdict::Refused, Verdict::Unknown, &full);
    let unknown = [
        // The message does not begin with a number.
        ("said 1205 (HY000): Lock wait", Some("HY000")),
        ("nothing", None),
    ];
    have(Verdict::Unknown, Verdict::Unknown, &unknown);
}

/// The SQLSTATEs are those of a lost connection, of a wrong statement, and of a rollback without a cause.
#[test]
fn a_number_of_mysql_says_more_than_its_sqlstate() {
    let too_big = "1153 (08S01): Got a packet bigger than 'max_allowed_packet' bytes";
    have(
        Verdict::Permanent,
        Verdict::Permanent,
        &[(too_big, "08S01")],
    );
    let too_many = "1226 (42000): User 'one' has exceeded the 'max_user_connections' resource";
    have(Verdict::Refused, Verdict::Unknown, &[(too_many, "42000")]);
    let rolled_back =
        "3101 (40000): Plugin instructed the server to rollback the current transaction.";
    have(
        Verdict::Conflict,
        Verdict::Conflict,
        &[(rolled_back, "40000")],
    );
}

#[test]
fn a_lost_connection_is_transient_before_the_commit_and_unknown_in_it() {
    for kind in [
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::UnexpectedEof,
        // A firewall refuses the packets of a connection that was open.
        io::ErrorKind::ConnectionRefused,
    ] {
        assert_eq!(io_error(kind).verdict(), Verdict::Unknown, "{kind:?}");
        let before = TransactionError::Statement(io_error(kind));
        assert_eq!(before.verdict(), Verdict::Transient, "{kind:?}");
        assert!(!before.may_have_run(), "{kind:?}");
        let during = TransactionError::Commit(CommitError(io_error(kind)));
        assert_eq!(during.verdict(), Verdict::Unknown, "{kind:?}");
        assert!(during.may_have_run(), "{kind:?}");
    }
    let no_socket = io_error(io::ErrorKind::NotFound);
    assert_eq!(no_socket.verdict(), Verdict::Refused);
    for (text, code) in [
        (
            "2013 (HY000): Lost connection to server during query",
            "HY000",
        ),
        ("2006 (HY000): Server has gone away", "HY000"),
        ("remote server read/write error s01: Broken pipe", "08006"),
    ] {
        assert_eq!(said(text, code).verdict(), Verdict::Unknown, "{text}");
        let before = TransactionError::Statement(said(text, code));
        assert_eq!(before.verdict(), Verdict::Transient, "{text}");
        let during = TransactionError::Commit(CommitError(said(text, code)));
        assert_eq!(during.verdict(), Verdict::Unknown, "{text}");
    }
}

#[test]
fn other_errors_are_by_their_kind() {
    let text = || Box::from("a text");
    for (error, verdict) in [
        (Error::PoolTimedOut, Verdict::Refused),
        (Error::PoolClosed, Verdict::Permanent),
        (Error::WorkerCrashed, Verdict::Unknown),
        (Error::Protocol("junk".into()), Verdict::Unknown),
        (Error::RowNotFound, Verdict::Permanent),
        (Error::BeginFailed, Verdict::Permanent),
        (Error::Configuration(text()), Verdict::Permanent),
        (Error::Encode(text()), Verdict::Permanent),
        (Error::Decode(text()), Verdict::Permanent),
        (Error::Tls(text()), Verdict::Permanent),
        (
            Error::Tls(Box::new(io::Error::from(io::ErrorKind::ConnectionReset))),
            Verdict::Refused,
        ),
        (Error::ColumnNotFound("id".into()), Verdict::Permanent),
    ] {
        assert_eq!(error.verdict(), verdict, "{error:?}");
    }
}

#[test]
fn a_handshake_is_tried_again_only_if_its_connection_was_lost() {
    let handshake = |kind: io::ErrorKind| Error::Tls(io::Error::from(kind).into()).verdict();
    assert_eq!(handshake(io::ErrorKind::ConnectionReset), Verdict::Refused);
    assert_eq!(handshake(io::ErrorKind::NotFound), Verdict::Permanent);
}
