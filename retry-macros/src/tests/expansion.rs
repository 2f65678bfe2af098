//! The expansion of each kind of function, and of each key.
//!
//! `INSTA_UPDATE=always cargo test -p reattempt-macros expansion` writes the snapshots again. Read the difference.

use quote::quote;

use super::{expand, expand_run};

/// Takes functions, and compares each with its snapshot, which has the function and its expansion.
macro_rules! expansions {
    ($($name:ident: $annotated:literal)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(stringify!($name), shown($annotated));
            });
        }
    )*};
}

/// The function as typed and, below it, its expansion.
fn shown(annotated: &str) -> String {
    let expanded = if annotated.trim_start().starts_with("run!") {
        let code = expand_run(annotated);
        quote!(fn caller() { let future = #code; })
    } else {
        expand(annotated)
    };
    let method = annotated.contains("self");
    let file = if method {
        quote!(impl Client { #expanded })
    } else {
        expanded
    };
    let file = syn::parse2(file).unwrap();
    let typed: Vec<_> = annotated.trim().lines().map(str::trim_end).collect();
    format!(
        "{}\n\n// expands to\n\n{}",
        typed.join("\n"),
        prettyplease::unparse(&file)
    )
}

expansions! {
    bare_function: r"
#[retry]
async fn fetch() -> io::Result<u8> {
    send().await
}"

    limits_that_are_constant: r#"
#[retry(attempts = 4, timeout = "1.5s", jitter = "full", on = "io::Error", deadline = "5s")]
/// Documented.
#[must_use]
pub(crate) async fn fetch(addr: SocketAddr) -> io::Result<String> {
    let mut reply = String::new();
    TcpStream::connect(addr).await?.read_to_string(&mut reply).await?;
    Ok(reply)
}"#

    limits_that_each_call_works_out: r"
#[retry(timeout = self.timeout, max_delay = max, attempts = ATTEMPTS, factor = growth)]
async fn fetch(&self, max: Duration, growth: f64) -> io::Result<u8> {
    self.send().await
}"

    policy_that_is_constant: r#"
#[retry(policy = PAYMENTS, jitter = "none", name = "pay")]
async fn pay() -> Result<u8, Failure> {
    send().await
}"#

    policy_of_the_call: r"
#[retry(policy = self.policy, attempts = 2)]
async fn pay(&self) -> Result<u8, Failure> {
    send().await
}"

    arguments: r"
#[retry]
async fn send(borrowed: Vec<u8>, handed_over: String, generic: T, mut own: u8, list: &mut Vec<u8>, text: &str, _: u8) -> io::Result<()> {
    own += borrowed.len();
    list.push(own);
    put(handed_over, generic, text).await
}"

    argument_that_is_converted: r"
#[retry]
async fn send(name: impl Into<String>) -> io::Result<()> {
    put(name.into()).await
}"

    arguments_that_are_patterns: r"
#[retry]
async fn send((left, right): (String, Vec<u8>), Job { size }: Job) -> io::Result<usize> {
    put(left).await?;
    Ok(size + right.len())
}"

    method_by_mut_reference: r"
#[retry]
async fn send(&mut self) -> io::Result<u8> {
    let work = async move { self.put().await };
    work.await
}"

    method_by_value: r"
#[retry]
default async fn send(self, request: Request) -> Self::Result {
    self.put(&request).await
}"

    method_by_value_that_hands_itself_over: r"
#[retry]
async fn send(self) -> io::Result<()> {
    put(self).await
}"

    method_by_value_that_hands_a_field_over: r"
#[retry]
async fn send(self) -> io::Result<()> {
    put(self.body).await
}"

    generic_with_an_error_that_borrows: r"
#[retry(when = |_| true)]
async fn read<'a, R: Read + 'a>(input: &'a R) -> Result<impl Iterator<Item = u8>, Failure<'a>>
where
    R: Sync,
{
    #![allow(dead_code)]
    input.bytes()
}"

    method_that_async_trait_has_rewritten: r"
#[retry]
fn put<'life0, 'async_trait>(
    &'life0 self,
    text: String,
) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = io::Result<usize>> + Send + 'async_trait>>
where
    'life0: 'async_trait,
    Self: 'async_trait,
{
    Box::pin(async move {
        if let Some(__ret) = None::<io::Result<usize>> {
            #[allow(unreachable_code)]
            return __ret;
        }
        let __self = self;
        let text = text;
        let __ret: io::Result<usize> = { __self.send(text).await };
        #[allow(unreachable_code)]
        __ret
    })
}"

    boxed_future_made_by_hand: r"
#[retry]
fn fetch(quick: bool) -> BoxFuture<'static, io::Result<u8>> {
    if quick {
        return Box::pin(ready(Ok(1)));
    }
    slow().boxed()
}"

    opaque_future: r"
#[retry]
fn fetch(text: String) -> impl Future<Output = io::Result<u8>> + Send {
    let text = text.trim().to_owned();
    async move { send(&text).await }
}"

    settings_from_the_caller: r#"
#[retry(delays = &self.delays, attempts = 5, budget = self.budgets.of(host), idempotent = host.is_safe(), max_retry_after = "5m", on_end = |report| self.hear(report))]
async fn fetch(&self, host: &Host) -> io::Result<u8> {
    self.send(host).await
}"#

    rules: r#"
#[retry(unless = Failure::is_fatal, on = "io::Error | hyper::Error", when = |error| error.is_soft())]
async fn fetch() -> Result<u8, Failure> {
    send().await
}"#

    rules_of_types_and_patterns: r"
#[retry(unless(Denied, fmt::Error), when = |error| matches!(error, Failure::Http(500..=599) | Failure::Closed))]
async fn fetch() -> Result<u8, Failure> {
    send().await
}"

    hooks: r"
#[retry(when_ok = |status| *status >= 500, on_retry = told, before_retry = async || self.reconnect().await)]
async fn fetch(&self) -> io::Result<u16> {
    self.send().await
}"

    bounds: r#"
#[retry(budget = PAYMENTS, nested = "outermost", cancel = self.shutdown.cancelled(), idempotent = false, timeout = "1s", crate = "crate::again")]
async fn pay(&self) -> io::Result<u8> {
    self.send().await
}"#

    blocking: r#"
#[retry(blocking, deadline = "5s", before_retry = self.reconnect())]
fn fetch(&mut self, key: String) -> io::Result<impl Iterator<Item = u8>> {
    self.send(key)
}"#

    refused: r#"
#[retry(retries = 3, timeout = 5, jitter = "ful")]
async fn fetch() -> io::Result<u8> {
    send().await
}"#

    closure: r"
run!(policy = POLICY, unless = is_fatal, on_retry = hook, async move || client.get(url).await)"

    closure_that_is_hedged: r#"
run!(attempts = 2, hedge = "20ms", async || client.get(url).await)"#
}
