//! As much of HTTP as the servers of the examples need.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Reads the next request, which has no body. Returns `false` if the client has closed the connection.
///
/// # Errors
///
/// - The connection is broken.
pub async fn next_request(stream: &mut TcpStream) -> io::Result<bool> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Answers without a body. The status is a code and its words.
///
/// # Errors
///
/// - The connection is broken.
pub async fn answer(stream: &mut TcpStream, status: &str) -> io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).await
}
