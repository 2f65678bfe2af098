//! The error numbers of MySQL and MariaDB.

use super::CodeNumber;
use crate::classify::Verdict;

/// Returns the verdict of an error number of MySQL or MariaDB.
///
/// The number is more exact than the SQLSTATE, which is `HY000` for a lock that was not granted in time, for
/// example. If a number is unknown here, look up its [`sqlstate`](super::sqlstate()), as the adapters do.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// // A deadlock, and too many connections.
/// assert_eq!(codes::mysql(1213), Verdict::Conflict);
/// assert_eq!(codes::mysql(1040), Verdict::Refused);
/// ```
#[must_use]
pub fn mysql(number: impl CodeNumber) -> Verdict {
    of(number.code_number())
}

/// Returns the verdict of an error of MySQL with its text.
///
/// It is that of the [number](mysql()). But the numbers 1105, "unknown error", and 1815, "internal error", say nothing: with them,
/// Aurora asks for a retry in the text, and Vitess has a code of its own there. Both are then transient. With 1927 and 2003,
/// `MaxScale` may say that it lost the server, which is unknown.
///
/// # Examples
///
/// ```
/// # use reattempt_runtime as reattempt;
/// use reattempt::{Verdict, codes};
///
/// let text = "The last transaction was aborted due to Seamless Scaling. Please retry.";
/// assert_eq!(codes::mysql_error(1105, text), Verdict::Transient);
/// assert_eq!(codes::mysql_error(1105, "no text that is known"), Verdict::Unknown);
/// assert_eq!(codes::mysql_error(1213, ""), Verdict::Conflict);
/// ```
#[must_use]
pub fn mysql_error(number: impl CodeNumber, text: &str) -> Verdict {
    let number = number.code_number();
    let passes = || {
        let text = text.to_ascii_lowercase();
        PASSES.iter().any(|words| text.contains(words))
    };
    // A proxy's text that is not translated: `MaxScale` (`mariadb_backend.cc`, 0163393c) lost the server, perhaps in its `COMMIT`.
    // Its version 2 has the number 2003 for it.
    let lost =
        || text.starts_with("Lost connection") || text.starts_with("Read from backend failed");
    match number {
        1105 | 1815 if passes() => Verdict::Transient,
        1927 | 2003 if lost() => Verdict::Unknown,
        number => of(number),
    }
}

/// Aurora: "please retry". Vitess: the code `UNAVAILABLE`, as gRPC and as Vitess write it, the errors of that code (VT14001 to
/// VT14005), and the texts by which its own gateway knows that a tablet is being replaced (`vterrors/constants.go` and `buffer.go`).
/// Looked through in November 2026.
const PASSES: &[&str] = &[
    "please retry",
    "code = unavailable",
    "code: unavailable",
    "vt14001:",
    "vt14002:",
    "vt14003:",
    "vt14005:",
    "operation not allowed in state not_serving",
    "operation not allowed in state shutting_down",
    "primary is not serving",
    "current keyspace is being resharded",
    "wrong tablet type",
    "invalid tablet type",
];

/// After the message files of MySQL, up to 4162 (`share/messages_to_clients.txt`), and of MariaDB 10.11
/// (`sql/share/errmsg-utf8.txt`), looked through in November 2026. The numbers from 3584 to 3777 were decided by their names.
///
/// From 4000 on, the two servers use the same numbers for different errors. A number then has the verdict of the error that
/// may pass. The other one is a mistake in a rare statement, such as a trigger's definition, which is then sent in vain.
fn of(number: i32) -> Verdict {
    match number {
        // The server rolled back the transaction, or the statement. Dropping a transaction rolls back what was before.
        // ER_LOCK_DEADLOCK, ER_XA_RBDEADLOCK, ER_XA_RBTIMEOUT and ER_ROLLBACK_ONLY of MyRocks: the server rolled back; run
        // the transaction again.
        1213 | 1613 | 1614 | 4060 => Verdict::Conflict,
        // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: Group Replication found a conflict with another member.
        3101 => Verdict::Conflict,
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_NOWAIT, ER_LOCK_ABORTED and ER_LOCK_REFUSED_BY_ENGINE: another transaction holds the
        // lock. ER_DELAYED_CANT_CHANGE_LOCK: the same for a delayed insert.
        1150 | 1205 | 1689 | 3177 | 3572 => Verdict::Conflict,
        // ER_USER_LOCK_DEADLOCK, ER_LOCKING_SERVICE_DEADLOCK and ER_LOCKING_SERVICE_TIMEOUT: the same for named locks.
        // ER_CANNOT_LOCK_USER_MANAGEMENT_CACHES and two like it: the same for locks on the accounts.
        3058 | 3132 | 3133 | 3547 | 3946 | 3947 => Verdict::Conflict,
        // ER_CHECKREAD, "record has changed since last read": the conflict of MariaDB's snapshot isolation.
        1020 => Verdict::Conflict,
        // ER_TABLE_DEF_CHANGED, "please retry transaction": another session changed the table.
        1412 => Verdict::Conflict,

        // ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS and ER_USER_LIMIT_REACHED (`max_user_connections` of the account;
        // also its limits for an hour): the server refused this connection, or did not run the statement.
        1040 | 1203 | 1226 => Verdict::Refused,
        // ER_CANT_CREATE_THREAD, ER_BAD_HOST_ERROR and ER_HANDSHAKE_ERROR: there is no session.
        1042 | 1043 | 1135 => Verdict::Refused,
        // ER_UNKNOWN_COM_ERROR, which a node of Galera sends until it is "prepared for application use".
        1047 => Verdict::Refused,
        // ER_SERVER_OFFLINE_MODE and ER_SERVER_ISNT_AVAILABLE: it takes no sessions.
        3032 | 3168 => Verdict::Refused,
        // ER_READ_ONLY_MODE and ER_INNODB_READ_ONLY: the whole server is read-only, as a replica is. A new connection may
        // reach the new primary.
        1836 | 1874 => Verdict::Refused,
        // CR_CONNECTION_ERROR and CR_CONN_HOST_ERROR, which are numbers of the client: a proxy did not reach the server (`MySQL` Router,
        // `classic_connect.cc`, 046e63a7; ProxySQL, `lib/MySQL_Session.cpp`, 5cc418bb).
        2002 | 2003 => Verdict::Refused,
        // ER_NEED_REPREPARE: the server dropped the prepared statement, and did not run it.
        1615 => Verdict::Refused,
        // ER_GR_HOLD_* and ER_GRP_TRX_CONSISTENCY_*: Group Replication did not let the statement begin, because a member
        // is being elected, catches up or stops. ER_OPERATION_NOT_ALLOWED_WHILE_PRIMARY_CHANGE_IS_RUNNING is like it.
        3781..=3783 | 3796..=3799 | 4094 => Verdict::Refused,
        // ER_BUFPOOL_RESIZE_INPROGRESS, ER_CLONE_DDL_IN_PROGRESS, ER_CLONE_TOO_MANY_CONCURRENT_CLONES,
        // ER_PAGE_TRACKING_CANNOT_PURGE, ER_CLONE_IN_PROGRESS, ER_CONCURRENT_PROCEDURE_USAGE,
        // ER_CANNOT_PURGE_BINLOG_WITH_BACKUP_LOCK, and ER_CHANGE_SLAVE_PARALLEL_THREADS_ACTIVE of MariaDB: "try again", when
        // another operation has ended.
        1963 | 3166 | 3633 | 3634 | 3804 | 3874 | 4080 | 4085 => Verdict::Refused,

        // ER_TOO_MANY_CONCURRENT_TRXS, ER_MAX_PREPARED_STMT_COUNT_REACHED and ER_TOO_MANY_DELAYED_THREADS: used up by the
        // present load.
        1151 | 1461 | 1637 => Verdict::Throttled,
        // ER_OUTOFMEMORY, ER_OUT_OF_RESOURCES, ER_LOCK_TABLE_FULL, ER_ZLIB_Z_MEM_ERROR, ER_ENGINE_OUT_OF_MEMORY,
        // ER_STD_BAD_ALLOC_ERROR, ER_DA_OOM, ER_MDL_OUT_OF_RESOURCES and ER_DA_GLOBAL_CONN_LIMIT: so is the memory.
        1037 | 1041 | 1206 | 1257 | 3015 | 3044 | 3950 | 3985 | 4081 => Verdict::Throttled,
        // ER_DISK_FULL, ER_DISK_FULL_NOWAIT and ER_NO_SESSION_TEMP: so is the disk, as for PostgreSQL.
        1021 | 3675 | 3884 => Verdict::Throttled,

        // ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_SESSION_WAS_KILLED and ER_CLIENT_INTERACTION_TIMEOUT: the
        // server ended the session.
        1053 | 1927 | 3169 | 4031 => Verdict::Transient,
        // ER_GET_TEMPORARY_ERRMSG: a temporary error of a storage engine, such as NDB.
        1297 => Verdict::Transient,
        // ER_CONNECT_TO_FOREIGN_DATA_SOURCE: the server did not reach another one.
        1429 => Verdict::Transient,
        // ER_BINLOG_PURGE_EMFILE, ER_QUERY_CACHE_IS_DISABLED, ER_XA_RETRY, ER_VARIABLE_NOT_PERSISTED and
        // ER_GRP_RPL_FAILOVER_CHANNEL_STATUS_PROPAGATION: "execute the command again", "repeat this command later", "please
        // retry".
        1587 | 1924 | 3197 | 3549 | 4050 => Verdict::Transient,
        // ER_LOG_IN_USE, ER_TABLE_REFERENCED and ER_RESOURCE_GROUP_BUSY: another connection uses it.
        1378 | 3193 | 3656 => Verdict::Transient,

        // The SQLSTATE would allow a retry of these. ER_NET_PACKET_TOO_LARGE and ER_NET_OK_PACKET_TOO_LARGE: the packet is as
        // large again. ER_NOT_SUPPORTED_AUTH_MODE: the client cannot log in.
        1153 | 1251 | 3068 => Verdict::Permanent,
        // ER_HOST_IS_BLOCKED, ER_HOST_NOT_PRIVILEGED, ER_MUST_CHANGE_PASSWORD, ER_MUST_CHANGE_PASSWORD_LOGIN,
        // ER_ACCOUNT_HAS_BEEN_LOCKED, ER_SECURE_TRANSPORT_REQUIRED, the lock after wrong passwords, and ER_USER_IS_BLOCKED and
        // ER_ACCOUNT_HAS_BEEN_LOCKED of MariaDB: the account cannot log in until someone changes that.
        1129 | 1130 | 1820 | 1862 | 3118 | 3159 | 3955 | 4150 | 4151 => Verdict::Permanent,

        _ if number >= 8000 => of_tidb(number),
        // The SQLSTATE may have a verdict. The number says nothing for sure of these:
        //
        // - Limits that the server keeps (1969 of MariaDB, 3024): the statement is most likely as slow again. Someone cancelled
        //   it (1317).
        // - A proxy lost the server, perhaps in its `COMMIT` (2006, 2013).
        // - The server has become a replica, or the statement needs another option or another transaction (1290, 1792).
        // - The text has the error of a storage engine or a plugin (1030, 1180, 1181, 3100).
        _ => Verdict::Unknown,
    }
}

/// After `TiDB`'s own list (`error-codes.md` of its documentation) and the packets that `ProxySQL` 2 and RDS Proxy write themselves, looked through in
/// November 2026. They share 9001 to 9006. `ProxySQL`'s 9001 and 9002 mean that no server was reached, and so did not run, but `TiDB`'s
/// may have. Its 9003, 9005 and 9006 are mistakes, which are then sent in vain.
fn of_tidb(number: i32) -> Verdict {
    match number {
        // "The application can safely retry the whole transaction", write conflicts, and a lock that is not released in time.
        8002 | 8005 | 8022 | 8028 | 9004 | 9007 => Verdict::Conflict,
        // The prepared statement is of another schema, and no transaction began.
        8113 | 8120 => Verdict::Refused,
        // RDS Proxy had no connection for the session: "Troubleshooting RDS Proxy" of its guide.
        9501 => Verdict::Refused,
        // The resource group, TiKV, its store and TiFlash are busy.
        8252 | 9003 | 9008 | 9013 => Verdict::Throttled,
        // The schema of this server is out of date, the snapshot too old, or another part of the cluster did not answer.
        8027 | 8055 | 9001 | 9002 | 9005 | 9006 | 9010 | 9012 => Verdict::Transient,
        // Limits that the server keeps (8001, 8229), tables that someone locked (8020), and what is wrong with the statement, a plugin
        // or the data.
        _ => Verdict::Unknown,
    }
}
