//! The text of an error for observers, without what clients write into it that may be secret.

use std::fmt::{self, Display};

/// An error as events, spans and a [`RetryEvent`](crate::RetryEvent) show it.
pub(crate) struct Shown<'w> {
    pub(crate) words: &'w dyn Display,
    pub(crate) sensitive: bool,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.sensitive {
            return f.write_str("(sensitive)");
        }
        f.write_str(&without_secrets(&self.words.to_string()))
    }
}

/// What servers repeat of a statement or a command: where it begins, and what comes after it.
const REPEATED: [(&str, &str); 5] = [
    // PostgreSQL shows the values of the row, which `tokio-postgres` adds to the message.
    ("\nDETAIL: ", "\nHINT: "),
    // Redis shows the arguments of an unknown command. To a server before Redis 6, `HELLO` with the password is one.
    (", with args beginning with: ", "\n"),
    // MySQL and MariaDB show the value: 1062, 1292 and 1366; and the statement: 1064.
    (" entry '", " for key"),
    (" value: '", " for column"),
    (" near '", " at line"),
];

/// Of each URL, leaves scheme, host and path. Removes what servers repeat.
fn without_secrets(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    let behind = |text: &str, slashes: &str| text.find(slashes).map(|at| at + slashes.len());
    // JSON may write a slash as `\/`.
    while let Some(scheme) = [behind(rest, "://"), behind(rest, r":\/\/")]
        .into_iter()
        .flatten()
        .min()
    {
        let (before, url) = rest.split_at(scheme);
        // No URL has these characters. It may have others that a text writes behind it.
        let end = url.find(|char: char| char.is_whitespace() || "\"<>".contains(char));
        let (url, after) = url.split_at(end.unwrap_or(url.len()));
        let url = &url[host_in(before, url)..];
        let (address, cut) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
        let closing = cut.trim_end_matches(|char: char| ")]}>,;:.'`\\".contains(char));
        shown.extend([before, address, &cut[closing.len()..]]);
        rest = after;
    }
    shown.push_str(rest);
    for (begin, end) in REPEATED {
        if let Some(begin) = shown.find(begin) {
            let length = shown[begin..].find(end);
            let end = length.map_or(shown.len(), |length| begin + length);
            shown.replace_range(begin..end, "");
        }
    }
    shown
}

/// Where the host of a URL begins, behind a user and a password. In the URLs of databases, a password often has characters that end a
/// host.
fn host_in(scheme: &str, url: &str) -> usize {
    let scheme = scheme.trim_end_matches(['/', '\\', ':']);
    let authority = &url[..url.find(['/', '\\', '?', '#']).unwrap_or(url.len())];
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let is_cut = !authority.contains(['@', '['])
        && (authority.rsplit_once(':'))
            .is_some_and(|(host, port)| host.is_empty() || !is_port(port));
    let before_host = if is_cut {
        url
    } else if scheme.ends_with("http") || scheme.ends_with("https") {
        authority
    } else {
        &url[..url.find(['?', '#']).unwrap_or(url.len())]
    };
    before_host.rfind('@').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn a_url_is_its_scheme_its_host_and_its_path() {
        for (text, expected) in [
            (
                "error sending request for url (https://me:pa55@api.example:8443/v1/a?api_key=k3y#f): timed out",
                "error sending request for url (https://api.example:8443/v1/a): timed out",
            ),
            ("redis://:pa55@cache", "redis://cache"),
            ("https://host?key=a)b(c'd&e=k3y)", "https://host)"),
            (
                "https://host/@name/a:b?x=1, then",
                "https://host/@name/a:b, then",
            ),
            (
                r#"Error { url: "https://a@b/c?d", next: \"amqp://e:f@g/h#i\" } <http://a@j?k>"#,
                r#"Error { url: "https://b/c", next: \"amqp://g/h\" } <http://j>"#,
            ),
            ("a://b@c://d@e?f g://h@é?ü.", "a://e g://é."),
            (
                r#"{"url":"https:\/\/user:pass@host:8443\/x?key=k"}"#,
                r#"{"url":"https:\/\/host:8443\/x"}"#,
            ),
            ("postgres://me:pa/55@h/db", "postgres://h/db"),
            ("postgres://me:12/55@h:5432/db", "postgres://h:5432/db"),
            ("redis://:pa55#x@h?a=b@c", "redis://c"),
            ("redis://:55#x@h/0", "redis://h/0"),
            ("redis://h:6379/0?password=a@b", "redis://h:6379/0"),
            ("http://[::1]:80/@name", "http://[::1]:80/@name"),
            ("://", "://"),
            ("no url: a@b?c", "no url: a@b?c"),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }

    #[test]
    fn what_a_server_repeats_is_left_out() {
        for (text, expected) in [
            (
                "db error: ERROR: null value\nDETAIL: Failing row contains (1, pa55).\nHINT: none",
                "db error: ERROR: null value\nHINT: none",
            ),
            (
                "ERROR: duplicate key\nDETAIL: Key (a)=(pa55)",
                "ERROR: duplicate key",
            ),
            (
                "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'pa55' ",
                "ERR unknown command 'HELLO'",
            ),
            (
                "1062 (23000): Duplicate entry 'me@a.example' for key 'mail'",
                "1062 (23000): Duplicate for key 'mail'",
            ),
            (
                "1366 (22007): Incorrect integer value: 'pa55' for column `shop`.`a`.`id` at row 1",
                "1366 (22007): Incorrect integer for column `shop`.`a`.`id` at row 1",
            ),
            (
                "1292 (22007): Truncated incorrect DOUBLE value: 'pa55'",
                "1292 (22007): Truncated incorrect DOUBLE",
            ),
            (
                "right syntax to use near 'FORM a WHERE b = 'pa55'' at line 1",
                "right syntax to use at line 1",
            ),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }
}
