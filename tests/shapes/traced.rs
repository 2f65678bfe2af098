//! `#[tracing::instrument]` above and below.

use std::io;

use reattempt::retry;
use tracing::instrument;

use crate::{cases, Calls};

struct Client<'c>(&'c Calls, u32);

#[instrument(skip_all)]
#[retry]
async fn above(calls: &Calls, text: String) -> io::Result<usize> {
    calls.fail::<()>()?;
    Ok(text.len())
}

#[retry(timeout = "1s")]
#[instrument(skip_all)]
async fn below(calls: &Calls, text: String) -> io::Result<usize> {
    calls.fail::<()>()?;
    Ok(text.len())
}

impl Client<'_> {
    #[instrument(skip_all, err)]
    #[retry(timeout = "1s")]
    async fn above_method(&mut self, text: String) -> io::Result<usize> {
        self.1 += 1;
        self.0.fail::<()>()?;
        Ok(text.len())
    }

    #[retry]
    #[instrument(skip(self))]
    async fn below_method(&mut self, text: String) -> io::Result<usize> {
        self.1 += 1;
        self.0.fail::<()>()?;
        Ok(text.len())
    }

    #[instrument(skip_all)]
    #[retry]
    async fn above_by_value(self) -> io::Result<u32> {
        self.0.fail::<()>()?;
        Ok(self.1)
    }

    #[instrument(skip_all)]
    #[retry]
    async fn above_shared(&self, mut list: Vec<u8>) -> io::Result<usize> {
        list.push(1);
        assert_eq!(list.len(), 1);
        self.0.fail::<()>()?;
        Ok(list.len())
    }
}

cases! {
    above: |calls| above(calls, String::new());
    below: |calls| below(calls, String::new());
    above_method: |calls| Client(calls, 0).above_method(String::new());
    below_method: |calls| Client(calls, 0).below_method(String::new());
    above_by_value: |calls| Client(calls, 0).above_by_value();
    above_shared: |calls| Client(calls, 0).above_shared(Vec::new());
}
