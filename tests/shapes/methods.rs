//! Methods: every receiver, trait implementations, default methods.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reattempt::retry;

use crate::{cases, Calls};

struct Client<'c> {
    calls: &'c Calls,
    sent: u32,
    timeout: Duration,
}

impl<'c> Client<'c> {
    const ATTEMPTS: u32 = 3;

    fn new(calls: &'c Calls) -> Self {
        Self {
            calls,
            sent: 0,
            timeout: Duration::from_secs(1),
        }
    }

    #[retry]
    async fn by_reference(&self) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_mut_reference(&mut self) -> io::Result<u32> {
        self.sent += 1;
        assert_eq!(
            self.sent,
            self.calls.count() + 1,
            "`&mut self` keeps its changes"
        );
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn mut_reference_in_move_block(&mut self) -> io::Result<u32> {
        let inner = async move {
            self.sent += 1;
            self.calls.fail::<()>()?;
            Ok(self.sent)
        };
        inner.await
    }

    #[retry]
    async fn by_value(self) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_arc(self: Arc<Self>) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_mut_arc(mut self: Arc<Self>) -> io::Result<u32> {
        assert_eq!(self.sent, 0, "an attempt sees what the caller passed");
        self = Arc::new(Client {
            sent: 1,
            ..Client::new(self.calls)
        });
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_changed_arc(mut self: Arc<Self>) -> io::Result<u32> {
        if let Some(own) = Arc::get_mut(&mut self) {
            own.sent += 1;
        }
        assert_eq!(self.sent, 0, "the `Arc` has other owners");
        self.calls.fail()
    }

    #[retry]
    async fn by_box(self: Box<Self>) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_pin(self: Pin<&mut Self>) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn by_mut_pin(mut self: Pin<&mut Self>) -> io::Result<u32> {
        self.as_mut().get_mut().sent += 1;
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry(timeout = self.timeout, deadline = self.timeout * 10, attempts = Self::ATTEMPTS)]
    async fn limits_from_self(&self) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry(timeout = limit, base = limit / 20)]
    async fn limits_from_arguments(&self, limit: Duration) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry(when = |error| error.kind() == io::ErrorKind::ConnectionReset && self.sent == 0)]
    async fn rule_uses_self(&self) -> io::Result<u32> {
        self.calls.fail::<()>()?;
        Ok(self.sent)
    }

    #[retry]
    async fn borrows_its_result(&self, _other: &str) -> io::Result<&Calls> {
        self.calls.fail::<()>()?;
        Ok(self.calls)
    }

    #[retry]
    #[expect(
        clippy::ptr_arg,
        reason = "a coercion in the result is the point of the case"
    )]
    async fn borrows_an_argument<'a>(&self, text: &'a String) -> io::Result<&'a str> {
        self.calls.fail::<()>()?;
        Ok(text)
    }

    #[retry]
    async fn associated(calls: &Calls) -> io::Result<Self> {
        calls.fail()
    }
}

trait Fetch: Sync {
    async fn fetch(&self) -> io::Result<u32>;

    fn calls(&self) -> &Calls;

    #[retry]
    async fn by_default(&self) -> io::Result<u32> {
        self.calls().fail()
    }
}

impl Fetch for Client<'_> {
    #[retry]
    async fn fetch(&self) -> io::Result<u32> {
        self.calls.fail()
    }

    fn calls(&self) -> &Calls {
        self.calls
    }
}

/// A trait whose method promises a `Send` future.
#[allow(
    unused_qualifications,
    reason = "`Future` is not in the prelude of every edition that compiles this"
)]
trait Service {
    type Error;
    fn call(
        &self,
        request: String,
    ) -> impl std::future::Future<Output = Result<String, Self::Error>> + Send;
}

impl Service for Client<'_> {
    type Error = io::Error;

    #[retry(timeout = "1s")]
    async fn call(&self, request: String) -> Result<String, Self::Error> {
        self.calls.fail::<()>()?;
        Ok(request)
    }
}

cases! {
    by_reference: |calls| Client::new(calls).by_reference();
    by_mut_reference: |calls| Client::new(calls).by_mut_reference();
    mut_reference_in_move_block: |calls| Client::new(calls).mut_reference_in_move_block();
    by_value: |calls| Client::new(calls).by_value();
    by_arc: |calls| Arc::new(Client::new(calls)).by_arc();
    by_mut_arc: |calls| Arc::new(Client::new(calls)).by_mut_arc();
    by_changed_arc: |calls| Arc::new(Client::new(calls)).by_changed_arc();
    by_box: |calls| Box::new(Client::new(calls)).by_box();
    by_pin: |calls| Pin::new(&mut Client::new(calls)).by_pin();
    by_mut_pin: |calls| Pin::new(&mut Client::new(calls)).by_mut_pin();
    limits_from_self: |calls| Client::new(calls).limits_from_self();
    limits_from_arguments: |calls| Client::new(calls).limits_from_arguments(Duration::from_secs(1));
    rule_uses_self: |calls| Client::new(calls).rule_uses_self();
    borrows_its_result: |calls| Client::new(calls).borrows_its_result("");
    borrows_an_argument: |calls| Client::new(calls).borrows_an_argument(&String::new());
    associated: |calls| Client::associated(calls);
    native_trait: |calls| Client::new(calls).fetch();
    default_method: |calls| Client::new(calls).by_default();
    promised_send: |calls| Client::new(calls).call(String::new());
}
