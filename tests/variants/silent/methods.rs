//! Methods: every receiver, traits, `#[async_trait]`, `#[instrument]`, handmade futures.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

async fn send(text: &str) -> io::Result<usize> {
    tokio::task::yield_now().await;
    Ok(text.len())
}

#[derive(Debug, Default, Clone)]
pub struct Client {
    pub name: String,
    pub sent: usize,
    pub timeout: Duration,
}

async fn name(client: Client) -> io::Result<String> {
    let _ = send(&client.name).await?;
    Ok(client.name)
}

impl Client {
    #[reattempt::retry(timeout = "1s")]
    pub async fn handed_over(self) -> io::Result<String> {
        let sent = send(&self.name).await?;
        let name = name(self).await?;
        Ok(format!("{sent} {name}"))
    }

    #[reattempt::retry]
    pub async fn changed(mut self) -> io::Result<usize> {
        self.sent = send(&self.name).await?;
        Ok(self.sent)
    }

    #[reattempt::retry]
    pub async fn changed_and_shown(mut self) -> io::Result<String> {
        self.sent = send(&self.name).await?;
        Ok(format!("{self:?} of {}", self.sent))
    }

    #[reattempt::retry]
    pub async fn in_parts(self) -> io::Result<(Vec<u8>, usize)> {
        let sent = send(&self.name).await?;
        Ok((self.name.into_bytes(), sent))
    }

    #[reattempt::retry]
    pub async fn by_reference(&self) -> io::Result<usize> {
        send(&self.name).await
    }

    #[reattempt::retry(timeout = "1s")]
    pub async fn by_mut_reference(&mut self, text: String) -> io::Result<usize> {
        self.sent += send(&text).await?;
        Ok(self.sent)
    }

    #[reattempt::retry]
    pub async fn by_value(self) -> io::Result<usize> {
        send(&self.name).await
    }

    #[reattempt::retry]
    pub async fn by_arc(self: Arc<Self>) -> io::Result<usize> {
        send(&self.name).await
    }

    #[reattempt::retry]
    pub async fn by_pin(self: Pin<&mut Self>) -> io::Result<usize> {
        send(&self.name).await
    }

    #[reattempt::retry(timeout = self.timeout, deadline = limit, base = self.timeout / 10)]
    pub async fn limits(&self, limit: Duration) -> io::Result<Duration> {
        send(&self.name).await?;
        Ok(limit)
    }

    #[reattempt::retry]
    pub async fn borrows(&self, _other: &str) -> io::Result<&str> {
        send(&self.name).await?;
        Ok(&self.name)
    }

    #[reattempt::retry]
    pub async fn associated(name: String) -> io::Result<Self> {
        send(&name).await?;
        Ok(Self {
            name,
            ..Self::default()
        })
    }

    #[tracing::instrument(skip(self))]
    #[reattempt::retry(timeout = "1s")]
    pub async fn traced_above(&self, text: &str) -> io::Result<usize> {
        send(text).await
    }

    #[reattempt::retry(timeout = "1s")]
    #[tracing::instrument(skip(self), err)]
    pub async fn traced_below(&self, text: &str) -> io::Result<usize> {
        send(text).await
    }

    #[reattempt::retry]
    pub fn opaque(&self) -> impl Future<Output = io::Result<usize>> + Send + '_ {
        let text = self.name.as_str();
        async move { send(text).await }
    }

    #[reattempt::retry]
    #[must_use]
    pub fn boxed<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + 'a>> {
        Box::pin(async move { Ok(send(text).await? + self.sent) })
    }

    #[reattempt::retry]
    #[must_use]
    pub fn handmade<'a>(
        &'a self,
        text: &'a str,
    ) -> Pin<Box<dyn Future<Output = io::Result<usize>> + Send + 'a>> {
        if text.is_empty() {
            return Box::pin(send(&self.name));
        }
        Box::pin(send(text))
    }
}

pub trait Fetch: Sync {
    fn fetch(&self) -> impl Future<Output = io::Result<usize>> + Send;

    #[reattempt::retry]
    fn by_default(&self) -> impl Future<Output = io::Result<usize>> + Send {
        async move { Ok(self.fetch().await? + 1) }
    }
}

impl Fetch for Client {
    #[reattempt::retry(timeout = "1s")]
    async fn fetch(&self) -> io::Result<usize> {
        send(&self.name).await
    }
}

#[async_trait::async_trait]
pub trait Store {
    async fn put(&self, text: String) -> io::Result<usize>;

    #[reattempt::retry]
    async fn twice(&self, text: String) -> io::Result<usize>
    where
        Self: Sync,
    {
        Ok(self.put(text.clone()).await? + self.put(text).await?)
    }
}

#[async_trait::async_trait]
impl Store for Client {
    #[reattempt::retry(timeout = "1s", on = "io::Error")]
    async fn put(&self, text: String) -> io::Result<usize> {
        Ok(send(&text).await? + self.sent)
    }
}
