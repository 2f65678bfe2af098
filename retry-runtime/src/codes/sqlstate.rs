//! SQLSTATE, the codes of SQL databases.

use crate::classify::Verdict;

/// Returns the verdict of an error of PostgreSQL with its text.
///
/// It is that of the [code](sqlstate()), but for some texts, which no server translates:
///
/// - A pooler has one code for many of its own errors. If it has no connection for the session, or none to the server, then nothing
///   ran, so the error is refused. If it lost the server in the middle, the error is unknown.
/// - "cached plan must not change result type" is refused: a migration has changed the table of a prepared statement, which did
///   not run. In another language, this is permanent.
/// - A unique violation of an index of the catalog is a conflict: two sessions created the same object at once, which `IF NOT EXISTS`
///   does not prevent. So are internal errors that another session caused, such as "tuple concurrently updated".
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// assert_eq!(codes::sqlstate_error("08P01", "query_wait_timeout"), Verdict::Refused);
/// assert_eq!(codes::sqlstate_error("08P01", "no such user"), Verdict::Unknown);
/// assert_eq!(codes::sqlstate_error("XX000", "tuple concurrently updated"), Verdict::Conflict);
/// assert_eq!(codes::sqlstate_error("40001", ""), Verdict::Conflict);
/// ```
#[must_use]
pub fn sqlstate_error(code: &str, text: &str) -> Verdict {
    let begins = |start| text.starts_with(start);
    let mut rows = TEXTS.iter().filter(|(of, ..)| *of == code);
    match rows.find(|(.., starts)| starts.split('|').any(begins)) {
        Some((_, verdict, _)) => *verdict,
        None if code == "23505" && is_of_catalog(text) => Verdict::Conflict,
        None => sqlstate(code),
    }
}

/// Whether a text in any language names an index of `pg_catalog`, such as `pg_type_typname_nsp_index`.
fn is_of_catalog(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| word.starts_with("pg_") && word.ends_with("_index"))
}

/// How texts begin that say more than their code, split at `|`.
#[rustfmt::skip]
const TEXTS: &[(&str, Verdict, &str)] = &[
    ("0A000", Verdict::Refused, "cached plan must not change result type"),
    // pgbouncer turns a session away, or ends one that waits for a server; it cannot reach the server, or log in; it stops, and
    // lets no session begin. All its texts of 1.25 and 1.18 were looked through, in July 2026.
    ("08P01", Verdict::Refused, "query_wait_timeout|no more connections allowed|client connections exceeded|\
     server login has been failing|client_login_timeout|pgbouncer cannot connect to server|server shutting down|\
     pooler is shutting down"),
    // Supavisor 2.9 (`lib/supavisor/errors`, 03e5cc56), and before it (`client_handler/error.ex` before 71eb86b7): no connection, pool
    // or process is free, or the database cannot be reached. Not its block after wrong passwords.
    ("XX000", Verdict::Refused, "(EMAXCONN|(EMAXCLIENTSESSION)|EMAXCLIENTSESSION|(EMAXPOOLSREACHED)|(ECHECKOUTTIMEOUT)|\
     (ECHECKOUTRETRIES)|(EPOOLCHECKOUT)|(ESUBSCRIBERETRIES)|(EWORKERNOTFOUND)|(EPOOLRANCHNOTFOUND)|(EPROXY|\
     (ECIRCUITBREAKER) too many failed attempts to connect|(ECIRCUITBREAKER) failed to retrieve database credentials|\
     Max client connections reached|Max pools count reached|MaxClientsInSessionMode|Unable to check out process from the pool|\
     Unable to check out connection from the pool|Proxy supervisor unavailable"),
    // PgCat (`src/client.rs`, 5b038813): no server is free, all are down, or it stops between transactions.
    ("58000", Verdict::Refused, "could not get connection from the pool|checkout failure limit reached|Pool down for database|\
     terminating connection due to administrator command"),
    // It lost the server, or hung up on it, perhaps in its `COMMIT`.
    ("58000", Verdict::Unknown, "error receiving data from server|pool statement timeout"),
    // Odyssey (`sources/frontend.c`, 89c48ea2): no server can be reached, or it stops between transactions. The last is Supavisor's.
    ("08006", Verdict::Refused, "failed to get remote server connection|failed to connect to remote server|\
     can't find suitable host|replication lag too big|Odyssey is gracefully shutting down|Failed to connect to database"),
    // Odyssey lost the server, perhaps in its `COMMIT`.
    ("08006", Verdict::Unknown, "remote server "),
    // RDS Proxy: "Troubleshooting RDS Proxy" of its guide.
    ("08000", Verdict::Refused, "Timed-out waiting to acquire database connection"),
    // Another session changed or dropped the object meanwhile, and the statement was rolled back (`elog` in the sources of PostgreSQL
    // 15). Redshift: "Serializable isolation violation" has only its number.
    ("XX000", Verdict::Conflict, "tuple concurrently updated|tuple concurrently deleted|could not open relation with OID |\
     cache lookup failed for |1023|could not complete because of conflict with concurrent transaction"),
];

/// Returns the verdict of a SQLSTATE.
///
/// It follows Appendix A of the Postgres manual, unless a comment names another source. Every code of version 15 was looked
/// through, in November 2026. MySQL and MariaDB send `HY000` for many errors. For their own number, call
/// [`mysql`](super::mysql()).
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// // A serialization failure, and a unique violation.
/// assert_eq!(codes::sqlstate("40001"), Verdict::Conflict);
/// assert_eq!(codes::sqlstate("23505"), Verdict::Permanent);
/// ```
#[must_use]
pub fn sqlstate(code: &str) -> Verdict {
    match code {
        // A serialization failure, a deadlock, and a lock that is not available. Postgres aborts the transaction, and a
        // `COMMIT` after the error rolls it back: "Transaction Isolation", and `COMMIT` in the reference.
        "40001" | "40P01" | "55P03" => Verdict::Conflict,
        // "Transaction rollback", without a cause. MySQL sends it for a conflict of Group Replication.
        "40000" => Verdict::Conflict,
        // The statement or the transaction may or may not have taken effect. Npgsql calls 08007 transient,
        // which can run a transaction twice.
        "40003" | "08007" => Verdict::Unknown,

        // There is no connection.
        "08001" | "08003" | "08004" => Verdict::Refused,
        // A foreign-data wrapper got no connection.
        "HV00N" => Verdict::Refused,
        // The connection was lost. 08S01 is the code of ODBC and MySQL.
        "08000" | "08006" | "08S01" => Verdict::Transient,
        // A protocol violation. Connection poolers use this code for many other errors.
        "08P01" => Verdict::Unknown,

        // Too many connections: the server refused this one.
        "53300" => Verdict::Refused,
        // Memory, disk or a configured limit is used up by the present load.
        "53000" | "53100" | "53200" | "53400" | "HV001" => Verdict::Throttled,

        // Another session uses the object, such as the template of a new database. Npgsql retries it too.
        "55006" => Verdict::Transient,

        // Starting, shutting down or recovering: the server refused the connection.
        "57P03" => Verdict::Refused,
        // An administrator, a crash or an idle timeout ended the session.
        "25P03" | "57P01" | "57P02" | "57P05" => Verdict::Transient,
        // Limits that the server keeps, `statement_timeout` and `transaction_timeout`: the statements are most likely as slow
        // again. 57014 is also what a user cancelled, and 57000 does not say what an operator did.
        "25P04" | "57000" | "57014" => Verdict::Unknown,
        // The snapshot is too old. Another transaction has a new one.
        "72000" => Verdict::Transient,

        // The server is a standby, perhaps after a failover, or the transaction was begun as read-only.
        "25006" => Verdict::Unknown,
        // No such prepared statement, or one with this name: a pooler may have switched the session.
        "26000" | "42P05" => Verdict::Unknown,

        // The operating system of the server failed: "errors external to PostgreSQL itself". This is like status 500 of
        // HTTP: the failure may pass, and the server says that the statement failed. Npgsql retries both too.
        "58000" | "58030" => Verdict::Transient,

        // Npgsql retries 55000, and we do not. Postgres sends it for `currval` before `nextval`, and for an insert into
        // a view. Both fail again.
        _ if is_permanent_class(code) => Verdict::Permanent,
        // Other system errors (58), internal errors (XX), `HY000`, and unregistered codes.
        _ => Verdict::Unknown,
    }
}

/// Whether the class of the code blames the statement, which is the same in another attempt.
fn is_permanent_class(code: &str) -> bool {
    const PERMANENT: [&str; 36] = [
        "03", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "10", "20", "21", "22", "23", "24", "25",
        "26", "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D", "3F", "40", "42", "44",
        "54", "55", "57", "72", "F0", "P0",
    ];
    code.len() == 5
        && code
            .get(..2)
            .is_some_and(|class| PERMANENT.contains(&class))
}
