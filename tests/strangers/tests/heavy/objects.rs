//! An object store that breaks off a body, and one that loses the answer to the end of an upload, as the pages on progress and on
//! idempotency say.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use integrations::loopback::answer_by;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, BackoffConfig, Error, GetOptions, ObjectStore, ObjectStoreExt as _,
    Result, RetryConfig,
};
use reattempt::{retry, with_report};

/// The attribute is around the whole object.
#[retry(attempts = 3, base = "10ms", when = |error| matches!(error, Error::Generic { .. }))]
async fn read(store: &AmazonS3, path: &Path) -> Result<Bytes> {
    store.get(path).await?.bytes().await
}

/// Uploads under a number of ours, by which the object is known again. The client itself repeats its requests.
async fn upload(store: &AmazonS3, path: &Path, part: Bytes, number: &'static str) -> Result<()> {
    let key = Attribute::Metadata("upload".into());
    let attributes = Attributes::from_iter([(key.clone(), number)]);
    let mut upload = store.put_multipart_opts(path, attributes.into()).await?;
    upload.put_part(part.into()).await?;
    let Err(gone @ Error::NotFound { .. }) = upload.complete().await.map(drop) else {
        return Ok(());
    };
    // Its first request may have ended it.
    let head = GetOptions {
        head: true,
        ..GetOptions::default()
    };
    let found = store.get_opts(path, head).await?;
    let is_mine = found.attributes.get(&key).is_some_and(|of| **of == *number);
    if is_mine { Ok(()) } else { Err(gone) }
}

/// A bucket with one object.
#[derive(Default)]
struct Bucket {
    /// The number of the upload that has begun, and that of the one that made the object.
    begun: Option<String>,
    object: Option<String>,
    /// An upload is gone before its end.
    aborts: bool,
    /// How many of the next bodies break off, and how many ends of an upload are not answered.
    broken: usize,
    /// Whether the object has an `ETag`.
    tagged: bool,
    requests: usize,
}

impl Bucket {
    fn breaks(&mut self) -> bool {
        let left = self.broken.checked_sub(1);
        self.broken = left.unwrap_or_default();
        left.is_some()
    }

    /// Status, headers and text.
    fn answer(&mut self, head: &str) -> Option<(u16, String, String)> {
        let header = |name| head.lines().find_map(|line| line.strip_prefix(name));
        let tag = || "etag: \"1\"\r\n".to_owned();
        self.requests += 1;
        Some(match head.split([' ', '?', '=']).next().unwrap() {
            "post" if head.contains("?uploads") => {
                self.begun = header("x-amz-meta-upload: ").map(str::to_owned);
                (200, String::new(), "<R><UploadId>7</UploadId></R>".into())
            }
            "put" => (200, tag(), String::new()),
            "post" => {
                let Some(begun) = self.begun.take().filter(|_| !self.aborts) else {
                    let gone = "<Error><Code>NoSuchUpload</Code></Error>";
                    return Some((404, String::new(), gone.into()));
                };
                self.object = Some(begun);
                if self.breaks() {
                    return None;
                }
                (200, String::new(), "<R><ETag>1</ETag></R>".into())
            }
            "head" => match &self.object {
                Some(of) => (
                    200,
                    tag() + &format!("x-amz-meta-upload: {of}\r\n"),
                    String::new(),
                ),
                None => (404, String::new(), String::new()),
            },
            _ => {
                let tag = if self.tagged { tag() } else { String::new() };
                let range = header("range: bytes=").and_then(|range| range.split('-').next());
                let from = range.map_or(0, |from| from.parse().unwrap());
                let rest = "an object"[from..].to_owned();
                match range {
                    Some(_) => (
                        206,
                        tag + &format!("content-range: bytes {from}-8/9\r\n"),
                        rest,
                    ),
                    None => (200, tag, rest),
                }
            }
        })
    }

    fn response(&mut self, head: &str) -> Option<String> {
        let (status, headers, mut text) = self.answer(head)?;
        let length = text.len();
        if head.starts_with("get ") && self.breaks() {
            text.truncate(length / 2);
        }
        Some(format!(
            "HTTP/1.1 {status} -\r\n{headers}last-modified: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{text}"
        ))
    }
}

/// A client of this bucket.
async fn store(bucket: Bucket, max_retries: usize) -> (AmazonS3, Arc<Mutex<Bucket>>) {
    let bucket = Arc::new(Mutex::new(bucket));
    let shared = Arc::clone(&bucket);
    let address = answer_by(move |head, _| shared.lock().unwrap().response(head)).await;
    let init_backoff = Duration::from_millis(10);
    let backoff = BackoffConfig {
        init_backoff,
        ..BackoffConfig::default()
    };
    let retry = RetryConfig {
        max_retries,
        backoff,
        ..RetryConfig::default()
    };
    let store = AmazonS3Builder::new()
        .with_bucket_name("shop")
        .with_skip_signature(true);
    let store = store
        .with_endpoint(format!("http://{address}"))
        .with_allow_http(true);
    (store.with_retry(retry).build().unwrap(), bucket)
}

#[tokio::test]
async fn a_body_that_breaks_off_is_read_again_by_a_client_that_retries_and_else_by_the_call() {
    for (max_retries, tagged, attempts) in [(10, true, 1), (0, true, 3), (10, false, 3)] {
        let (store, bucket) = store(
            Bucket {
                tagged,
                broken: 2,
                ..Bucket::default()
            },
            max_retries,
        )
        .await;
        let (bytes, report) = with_report(read(&store, &Path::from("object"))).await;
        assert_eq!(bytes.unwrap(), "an object");
        assert_eq!(
            report.unwrap().attempts(),
            attempts,
            "{max_retries} {tagged}"
        );
        assert_eq!(bucket.lock().unwrap().requests, 3);
    }
}

#[tokio::test]
async fn an_upload_that_is_gone_is_done_if_its_object_is_there() {
    for (of_another, aborts, broken, is_done, requests) in [
        (false, false, 0, true, 3),
        // The client repeats the end itself, and finds no upload.
        (false, false, 1, true, 5),
        (false, true, 0, false, 4),
        (true, true, 0, false, 4),
    ] {
        let object = of_another.then(|| "5".to_owned());
        let (store, bucket) = store(
            Bucket {
                object,
                aborts,
                broken,
                ..Bucket::default()
            },
            10,
        )
        .await;
        let done = upload(
            &store,
            &Path::from("object"),
            Bytes::from_static(b"part"),
            "7",
        )
        .await;
        assert_eq!(
            done.is_ok(),
            is_done,
            "{of_another} {aborts} {broken}: {done:?}"
        );
        assert_eq!(bucket.lock().unwrap().requests, requests);
    }
}
