//! Shapes of functions in real code, rewritten by us, that compile under the attribute. The others here are
//! called too.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::map_clone,
    clippy::match_wildcard_for_single_variants,
    reason = "real code that is not called"
)]

use std::io;

use reattempt::retry;

/// A field that is moved into a variable whose type ends in `>`.
pub mod field_in_a_generic_type {
    use super::*;

    #[derive(Clone)]
    pub struct Upload {
        pub body: Vec<u8>,
    }

    #[retry]
    pub async fn upload(upload: Upload) -> io::Result<Vec<u8>> {
        let body: Vec<u8> = upload.body;
        Ok(body)
    }
}

/// A response with a body of a known type.
pub mod closed_type {
    use super::*;

    #[derive(Clone)]
    pub struct Response<B>(pub B);

    fn body<B>(response: Response<B>) -> B {
        response.0
    }

    #[retry]
    pub async fn store(response: Response<Vec<u8>>) -> io::Result<usize> {
        Ok(body(response).len())
    }
}

/// Fields that only a macro or a comparison reads.
pub mod fields_that_are_looked_at {
    use super::*;

    pub struct Job {
        pub name: String,
        pub kind: Kind,
    }

    #[derive(PartialEq, Debug)]
    pub enum Kind {
        Small,
        Large(String),
    }

    #[retry]
    pub async fn run(job: Job) -> io::Result<usize> {
        if matches!(job.kind, Kind::Small) || job.name == "none" {
            println!("{} {:?}", job.name, job.kind);
        }
        match job.kind {
            Kind::Small => Ok(0),
            Kind::Large(ref name) => Ok(name.len()),
        }
    }
}

/// A closure whose argument has the name of an argument of the function.
pub mod name_of_a_closure {
    use super::*;

    pub struct Batch(pub Vec<(u32, String)>);

    fn id(id: u32) -> u32 {
        id
    }

    #[retry]
    pub async fn ids(batch: Batch) -> io::Result<Vec<u32>> {
        Ok(batch.0.iter().map(|batch| id(batch.0)).collect())
    }
}

/// A `match` that takes a part of a field: of a `Clone` argument, and where that part is `Copy`.
pub mod field_taken_apart {
    use super::*;

    #[derive(Clone)]
    pub struct Upload {
        pub body: Option<String>,
    }

    #[retry]
    pub async fn upload(upload: Upload) -> io::Result<String> {
        match upload.body {
            Some(body) => Ok(body),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    pub struct Download {
        pub range: Option<(u64, u64)>,
        pub name: String,
    }

    #[retry]
    pub async fn download(download: Download) -> io::Result<u64> {
        if let Some((from, to)) = download.range {
            return Ok(to - from);
        }
        Ok(download.name.len() as u64)
    }

    impl Download {
        #[retry]
        pub async fn run(self) -> io::Result<u64> {
            match self.range {
                Some((from, to)) if !self.name.is_empty() => Ok(to - from),
                _ => Ok(0),
            }
        }
    }
}

/// A result that borrows from another field than the one that the body changes.
pub mod result_beside_a_change {
    use super::*;

    pub struct Reader {
        pub count: u32,
        pub name: String,
        pub names: Vec<String>,
    }

    impl Reader {
        #[retry]
        pub async fn name(&mut self) -> io::Result<&str> {
            self.count += 1;
            self.names = Vec::new();
            Ok(&self.name)
        }

        #[retry]
        pub async fn first(&mut self, sink: &mut Vec<u8>) -> io::Result<&String> {
            sink.push(1);
            Ok(&self.names[0])
        }

        #[retry]
        pub async fn count(&mut self, text: &'static str) -> io::Result<(&str, u32)> {
            self.count += 1;
            let digits = Ok::<_, io::Error>(&self.count).map(|count| *count);
            Ok((text, digits?))
        }
    }
}

/// A result with a lifetime, which borrows nothing from what the body changes.
pub mod result_with_a_lifetime {
    use super::*;

    pub struct Names(pub Vec<String>);

    impl Names {
        #[retry]
        pub async fn next(&mut self) -> io::Result<std::borrow::Cow<'_, str>> {
            Ok(self.0.pop().unwrap_or_default().into())
        }

        #[expect(clippy::elidable_lifetime_names, reason = "the other way to write it")]
        #[retry]
        pub async fn all<'n>(&'n mut self) -> io::Result<impl Iterator<Item = String> + 'n> {
            Ok(std::mem::take(&mut self.0).into_iter())
        }
    }
}

/// An enum that is not `Clone`, and of which the body hands nothing on.
pub mod enum_that_is_matched {
    use super::*;

    #[derive(Debug)]
    pub enum Reason {
        Normal,
        Code(u16),
    }

    #[retry]
    pub async fn close(reason: Reason) -> io::Result<String> {
        match reason {
            Reason::Normal => Ok(String::new()),
            other => Ok(format!("{other:?}")),
        }
    }

    #[retry]
    pub async fn end(reason: Option<Reason>) -> io::Result<bool> {
        if let Some(reason) = reason {
            return Ok(matches!(reason, Reason::Code(0)));
        }
        Ok(false)
    }
}

/// A job that is polled until it is done. The method around it has the same loop by hand in the original.
pub mod job_that_is_polled {
    use super::*;

    pub struct Job {
        pub state: String,
    }

    impl Job {
        fn is_done(&self) -> bool {
            self.state == "done"
        }
    }

    pub struct Client {
        pub jobs: Vec<Job>,
    }

    impl Client {
        #[retry(attempts = "unlimited", base = "1s", backoff = "constant", deadline = "5m", until = |job| job.is_done())]
        pub async fn wait_for(&self, id: usize) -> io::Result<&Job> {
            self.jobs
                .get(id)
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        }

        #[retry(until = Job::is_done, attempts = least)]
        pub async fn take(&mut self, least: u32) -> io::Result<Job> {
            self.jobs
                .pop()
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        }
    }
}

/// A setting that is a parameter of the `impl` around, by the name of an associated constant.
pub mod parameter_of_the_impl {
    use super::*;

    pub struct Client<const RETRIES: u32>;

    impl<const RETRIES: u32> Client<RETRIES> {
        const RETRIES: u32 = RETRIES;

        #[retry(attempts = Self::RETRIES)]
        pub async fn ping(&self) -> io::Result<()> {
            Ok(())
        }
    }

    pub struct Queue<const SAFE: bool>;

    impl<const SAFE: bool> Queue<SAFE> {
        #[retry(idempotent = SAFE)]
        pub async fn push(&self) -> io::Result<()> {
            Ok(())
        }
    }
}

/// An argument that a macro moves into an `async move` block, as `try_stream!` does.
pub mod streamed {
    use super::*;

    macro_rules! try_stream {
        ($($code:tt)*) => { Box::pin(async move { $($code)* }) };
    }

    #[retry]
    pub async fn watch(
        topic: String,
    ) -> io::Result<std::pin::Pin<Box<dyn Future<Output = usize> + Send>>> {
        Ok(try_stream! { topic.clone().len() })
    }
}
