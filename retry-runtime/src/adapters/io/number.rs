//! The numbers of system errors for which std has no kind.
//!
//! All numbers of these lists were looked through on 2026-11-25: errno(3) of the Linux man-pages 6.03, `sys/errno.h` of
//! macOS (xnu), and those of `windows-sys` for sockets and, of the system, 0 to 259 and 1101 to 1329. A number that is not
//! below is unknown: it says too little, or no system uses it any more.
//!
//! - `EIO` and `EREMOTEIO`: a disk or a server of files failed. After an `fsync` that failed, the next one succeeds, although
//!   the data is lost.
//! - `ENXIO`: a FIFO that no process reads yet, or a device that is not there.
//! - `EALREADY`: like `EINPROGRESS`. `ECANCELED`: it was cancelled.
//! - `EPROTO`, `EBADMSG`: one side violates the protocol, or the data is damaged.
//! - Names that Windows does not resolve (11001 to 11004): they are refused, as on Unix, before the number is asked.

use crate::classify::Verdict;

#[cold]
pub(super) fn of(number: i32) -> Verdict {
    const TABLES: &[fn(i32) -> Verdict] = &[
        #[cfg(any(target_os = "linux", target_os = "android"))]
        of_linux,
        #[cfg(target_vendor = "apple")]
        of_apple,
        #[cfg(windows)]
        of_windows,
        #[cfg(unix)]
        of_unix,
    ];
    let mut verdicts = TABLES.iter().map(|of| of(number));
    let known = verdicts.find(|verdict| *verdict != Verdict::Unknown);
    known.unwrap_or(Verdict::Unknown)
}

/// The numbers that all Unix systems have.
#[cfg(unix)]
fn of_unix(number: i32) -> Verdict {
    match number {
        // File descriptors, network buffers or locks are used up at present. This is like `AddrNotAvailable`.
        libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOLCK => Verdict::Transient,
        // Like `HostUnreachable` and `ConnectionReset`.
        libc::EHOSTDOWN | libc::ENETRESET => Verdict::Transient,

        // The call is wrong: its descriptor, its address, its value.
        libc::EBADF | libc::EFAULT | libc::ENOTTY | libc::EDOM | libc::ERANGE => Verdict::Permanent,
        libc::EILSEQ | libc::EOVERFLOW | libc::ENOEXEC => Verdict::Permanent,
        libc::ENOTSOCK | libc::EDESTADDRREQ | libc::EMSGSIZE | libc::EISCONN => Verdict::Permanent,
        // The system has no such protocol, option or address family.
        libc::EPROTOTYPE | libc::ENOPROTOOPT | libc::EPROTONOSUPPORT => Verdict::Permanent,
        libc::EPFNOSUPPORT | libc::EAFNOSUPPORT => Verdict::Permanent,
        // Like `NotFound`.
        libc::ESRCH | libc::ECHILD | libc::ENODEV => Verdict::Permanent,

        _ => Verdict::Unknown,
    }
}

/// The further numbers of Linux. They differ between processors.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn of_linux(number: i32) -> Verdict {
    match number {
        // Used up at present: descriptors on their way over sockets, users of a quota, buffers of streams.
        libc::ETOOMANYREFS | libc::EUSERS | libc::ENOSR => Verdict::Transient,
        // Like `NetworkDown`, `BrokenPipe` and `ConnectionReset`.
        libc::ENONET | libc::ESHUTDOWN | libc::ECOMM | libc::ENOLINK => Verdict::Transient,
        // Like `TimedOut`, `Interrupted` and `WouldBlock`.
        libc::ETIME | libc::ERESTART | libc::ENOMSG => Verdict::Transient,

        // Like `Unsupported` and `InvalidInput`.
        libc::ESOCKTNOSUPPORT | libc::ENOTBLK | libc::ENOSTR | libc::ENOTUNIQ => Verdict::Permanent,
        // Like `NotFound`: a queue that was removed, an attribute that a file has not.
        libc::EIDRM | libc::ENODATA => Verdict::Permanent,
        // The same program does not start.
        libc::ELIBACC | libc::ELIBBAD | libc::ELIBSCN | libc::ELIBMAX | libc::ELIBEXEC => {
            Verdict::Permanent
        }
        // Like `PermissionDenied`: a key is missing, or not accepted.
        libc::ENOKEY | libc::EKEYEXPIRED | libc::EKEYREVOKED | libc::EKEYREJECTED => {
            Verdict::Permanent
        }
        // Someone has to change a medium, to switch on the radio, or to repair a file system or a lock.
        libc::ENOMEDIUM | libc::EMEDIUMTYPE | libc::EUCLEAN | libc::ENOTRECOVERABLE => {
            Verdict::Permanent
        }
        // `libc` has no name for it on Android.
        #[cfg(target_os = "linux")]
        libc::ERFKILL => Verdict::Permanent,

        _ => Verdict::Unknown,
    }
}

/// The further numbers of macOS and its relatives.
#[cfg(any(target_vendor = "apple", test))]
fn of_apple(number: i32) -> Verdict {
    match number {
        // EPROTOTYPE: a socket that the peer closes gives this for a moment, and then `EPIPE`.
        41 => Verdict::Transient,
        // ESHUTDOWN: like `BrokenPipe`.
        58 => Verdict::Transient,
        // ETOOMANYREFS, EPROCLIM, EUSERS, ENOSR, EQFULL: used up at present.
        59 | 67 | 68 | 98 | 106 => Verdict::Transient,
        // ENOMSG, ETIME: like `WouldBlock` and `TimedOut`.
        91 | 101 => Verdict::Transient,

        // ENOTBLK, ESOCKTNOSUPPORT, ENOTSUP: like `Unsupported`.
        15 | 44 | 45 => Verdict::Permanent,
        // ERPCMISMATCH, EPROGMISMATCH, EPROCUNAVAIL: the server has another version.
        73 | 75 | 76 => Verdict::Permanent,
        // EFTYPE, EAUTH, ENEEDAUTH: like `InvalidData` and `PermissionDenied`.
        79..=81 => Verdict::Permanent,
        // EBADEXEC, EBADARCH, ESHLIBVERS, EBADMACHO: the same program does not start.
        85..=88 => Verdict::Permanent,
        // EIDRM, ENOATTR, ENOPOLICY: like `NotFound`.
        90 | 93 | 103 => Verdict::Permanent,
        // ENOTRECOVERABLE: the lock has to be made again.
        104 => Verdict::Permanent,

        _ => Verdict::Unknown,
    }
}

#[cfg(any(windows, test))]
fn of_windows(number: i32) -> Verdict {
    match number {
        // CONNECTION_REFUSED, PORT_UNREACHABLE: no server listened.
        1225 | 1234 => Verdict::Refused,
        // SHARING_PAUSED, REQ_NOT_ACCEP, PIPE_BUSY, REMOTE_SESSION_LIMIT_EXCEEDED, CONNECTION_COUNT_LIMIT: the server
        // takes no further connection at present.
        70 | 71 | 231 | 1220 | 1238 => Verdict::Refused,

        // TOO_MANY_OPEN_FILES, SHARING_BUFFER_EXCEEDED, TOO_MANY_CMDS, TOO_MANY_SESS, NO_PROC_SLOTS,
        // NO_MORE_SEARCH_HANDLES, MAX_THRDS_REACHED, NO_SYSTEM_RESOURCES: used up at present. So are WSAEMFILE,
        // WSAENOBUFS, WSAETOOMANYREFS, WSAEPROCLIM and WSAEUSERS.
        4 | 36 | 56 | 69 | 89 | 113 | 164 | 1450 => Verdict::Transient,
        10024 | 10055 | 10059 | 10067 | 10068 => Verdict::Transient,
        // SHARING_VIOLATION, LOCK_VIOLATION, DRIVE_LOCKED, BUSY_DRIVE, PATH_BUSY, LOCK_FAILED, DELETE_PENDING,
        // USER_MAPPED_FILE: another process has the file.
        32 | 33 | 108 | 142 | 148 | 167 | 303 | 1224 => Verdict::Transient,
        // HANDLE_EOF, UNEXP_NET_ERR, NETNAME_DELETED, PIPE_NOT_CONNECTED, VC_DISCONNECTED, GRACEFUL_DISCONNECT,
        // CONNECTION_INVALID, CONNECTION_ABORTED, SERVER_SHUTDOWN_IN_PROGRESS: the connection was lost. So is that of
        // WSAENETRESET, WSAESHUTDOWN and WSAEDISCON.
        38 | 59 | 64 | 233 | 240 | 1226 | 1229 | 1236 | 1255 => Verdict::Transient,
        10052 | 10058 | 10101 => Verdict::Transient,
        // NETWORK_BUSY, NO_NETWORK, HOST_DOWN, WSAEHOSTDOWN, WSASYSNOTREADY: the network failed.
        54 | 1222 | 1256 | 10064 | 10091 => Verdict::Transient,
        // REQUEST_ABORTED, RETRY, WSAEINTR: like `Interrupted`. WSAESTALE: like `StaleNetworkFileHandle`.
        1235 | 1237 | 10004 | 10070 => Verdict::Transient,

        // INVALID_FUNCTION, INVALID_HANDLE, BAD_FORMAT, INVALID_ACCESS, INVALID_DATA, BAD_LENGTH, NEGATIVE_SEEK,
        // BAD_EXE_FORMAT, EXE_MACHINE_TYPE_MISMATCH, NOACCESS, CONNECTION_ACTIVE: the call is wrong.
        1 | 6 | 11 | 12 | 13 | 24 | 131 | 193 | 216 | 998 | 1230 => Verdict::Permanent,
        // WSAEBADF, WSAEFAULT, WSAENOTSOCK, WSAEDESTADDRREQ, WSAEMSGSIZE, WSAEISCONN, WSAELOOP, WSAENAMETOOLONG,
        // WSAENOTEMPTY, WSANOTINITIALISED.
        10009 | 10014 | 10038..=10040 | 10056 | 10062 | 10063 | 10066 | 10093 => Verdict::Permanent,
        // NOT_SUPPORTED, PROTOCOL_UNREACHABLE, from WSAEPROTOTYPE to WSAEAFNOSUPPORT, WSAVERNOTSUPPORTED,
        // WSAEINVALIDPROCTABLE, WSAEINVALIDPROVIDER: one of the systems has no such protocol or option.
        50 | 1233 | 10041..=10047 | 10092 | 10104 | 10105 => Verdict::Permanent,
        // NETWORK_ACCESS_DENIED, INVALID_PASSWORD, VIRUS_INFECTED, ELEVATION_REQUIRED, PRIVILEGE_NOT_HELD,
        // LOGON_FAILURE: like `PermissionDenied`.
        65 | 86 | 225 | 740 | 1314 | 1326 => Verdict::Permanent,
        // DEV_NOT_EXIST, MOD_NOT_FOUND, PROC_NOT_FOUND, NOT_FOUND, WSASERVICE_NOT_FOUND, WSATYPE_NOT_FOUND: like
        // `NotFound`.
        55 | 126 | 127 | 1168 | 10108 | 10109 => Verdict::Permanent,

        _ => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests;
