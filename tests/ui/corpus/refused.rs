//! Shapes of functions in real code, rewritten by us, that their authors have to change. Each has one
//! error, on the line that ends in `//~` and its message.

use std::io;

use reattempt::{retry, run};

fn main() {}

pub mod field_of_self {
    use super::*;

    pub struct Request {
        pub query: String,
    }

    impl Request {
        #[retry]
        pub async fn send(self) -> io::Result<Vec<u8>> {
            Ok(self.query.into_bytes()) //~ cannot move out of `__self.query` which is behind a shared reference
        }
    }
}

pub mod loop_over_a_field {
    use super::*;

    pub struct Batch {
        pub rows: Vec<String>,
    }

    #[retry]
    pub async fn insert(batch: Batch) -> io::Result<usize> {
        let mut size = 0;
        for row in batch.rows { //~ cannot move out of `batch.rows` which is behind a shared reference
            size += row.into_bytes().len();
        }
        Ok(size)
    }
}

pub mod loop_in_a_closure {
    use super::*;

    pub struct Weights(Vec<f64>);

    impl Weights {
        fn inner(self) -> Vec<f64> {
            self.0
        }
    }

    async fn request(make: impl FnOnce() -> Vec<String>) -> io::Result<usize> {
        Ok(make().len())
    }

    #[retry]
    pub async fn union(weights: Weights) -> io::Result<usize> { //~ `Weights` is used up by the first attempt, and it is not `Clone`
        request(move || {
            let mut words = Vec::new();
            for weight in weights.inner() {
                words.push(weight.to_string());
            }
            words
        })
        .await
    }
}

pub mod option_that_is_used_up {
    use super::*;

    pub struct Filter(pub String);

    #[retry]
    pub async fn list(filter: Option<Filter>) -> io::Result<usize> {
        Ok(filter.map_or(0, |filter| filter.0.into_bytes().len())) //~ cannot move out of `*filter` which is behind a shared reference
    }

    #[retry]
    pub async fn convert(filter: Option<impl Into<Filter>>) -> io::Result<usize> { //~ `Option<impl Into<Filter>>` is used up by the first attempt, and it is not `Clone`
        Ok(filter.map(Into::into).map_or(0, |filter| filter.0.len()))
    }
}

pub mod sender_in_an_option {
    use super::*;

    pub struct Sender(Option<u8>);

    impl Sender {
        fn send(&mut self, value: u8) {
            self.0 = Some(value);
        }
    }

    #[retry]
    pub async fn answer(sender: Option<Sender>, early: bool) -> io::Result<()> { //~ `Option<sender_in_an_option::Sender>` is used up by the first attempt, and it is not `Clone`
        if early {
            if let Some(mut sender) = sender {
                sender.send(1);
            }
            return Ok(());
        }
        if let Some(mut sender) = sender {
            sender.send(2);
        }
        Ok(())
    }
}

pub mod bound_that_no_reference_has {
    use super::*;

    pub trait ToSubject {
        fn to_subject(&self) -> String;
    }

    fn name(subject: impl ToSubject) -> String {
        subject.to_subject()
    }

    #[retry]
    pub async fn publish<S: ToSubject>(subject: S) -> io::Result<String> {
        Ok(name(subject)) //~ the trait bound `&S: ToSubject` is not satisfied
    }
}

pub mod closed_type {
    use super::*;

    pub struct Body;
    pub struct Response<B>(pub B);

    fn body<B>(response: Response<B>) -> B {
        response.0
    }

    #[retry]
    pub async fn store(response: Response<Body>) -> io::Result<Body> { //~ `Response<Body>` is used up by the first attempt, and it is not `Clone`
        Ok(body(response))
    }
}

pub mod iterator {
    use super::*;

    #[retry]
    pub async fn insert<I: IntoIterator<Item = u8>>(rows: I) -> io::Result<Vec<u8>> { //~ `I` is used up by the first attempt, and it is not `Clone`
        Ok(rows.into_iter().collect())
    }
}

pub mod conversion {
    use super::*;

    pub struct Draft(pub String);

    #[retry]
    pub async fn send(draft: impl Into<Draft>) -> io::Result<usize> { //~ `impl Into<Draft>` is used up by the first attempt, and it is not `Clone`
        Ok(draft.into().0.len())
    }
}

pub mod function_that_is_kept {
    use super::*;

    fn keep(function: Box<dyn FnMut() + Send>) {
        drop(function);
    }

    #[retry]
    pub async fn subscribe<F: FnMut() + Send + 'static>(heard: F) -> io::Result<()> { //~ `F` is used up by the first attempt, and it is not `Clone`
        keep(Box::new(heard));
        Ok(())
    }
}

pub mod never_lent {
    use super::*;
    use std::borrow::Borrow;

    pub struct Config(pub String);

    #[retry]
    pub async fn create<S>(config: S) -> io::Result<usize> //~ `S` is used up by the first attempt, and it is not `Clone`
    where
        Config: From<S>,
    {
        Ok(Config::from(config).0.len())
    }

    pub trait Deserializer<'de> {
        fn text(self) -> &'de str;
    }

    fn text<'de, D: Deserializer<'de>>(deserializer: D) -> &'de str {
        deserializer.text()
    }

    #[retry]
    pub async fn read<'de, D: Deserializer<'de>>(deserializer: D) -> io::Result<usize> { //~ `D` is used up by the first attempt, and it is not `Clone`
        Ok(text(deserializer).len())
    }

    fn keep<T: Send + Sync + 'static>(value: T) -> Box<dyn Send + Sync> {
        Box::new(value)
    }

    #[retry]
    pub async fn store<T: Send + Sync + 'static>(value: T) -> io::Result<()> { //~ `T` is used up by the first attempt, and it is not `Clone`
        drop(keep(value));
        Ok(())
    }

    fn first<T>(rows: Vec<T>) -> Option<T> {
        rows.into_iter().next()
    }

    #[retry]
    pub async fn insert<T: Sync>(rows: Vec<T>) -> io::Result<bool> { //~ `Vec<T>` is used up by the first attempt, and it is not `Clone`
        Ok(first(rows).is_some())
    }

    fn subject(subject: impl ToString) -> String {
        subject.to_string()
    }

    #[retry]
    pub async fn subscribe<S: ToString + Sync>(name: S) -> io::Result<usize> {
        Ok(subject(name).len()) //~ the trait bound `&S: ToString` is not satisfied
    }

    fn length(key: impl Borrow<str>) -> usize {
        key.borrow().len()
    }

    #[retry]
    pub async fn get<K: Borrow<str> + Sync>(key: K) -> io::Result<usize> {
        Ok(length(key)) //~ the trait bound `&K: Borrow<str>` is not satisfied
    }
}

pub mod made_anew {
    use super::*;

    use tokio::sync::oneshot::Receiver;

    #[retry(when = |_| true)]
    pub async fn answer(receiver: Receiver<u8>) -> io::Result<u8> { //~ `tokio::sync::oneshot::Receiver<u8>` is used up by the first attempt, and it is not `Clone`
        receiver.await.map_err(io::Error::other)
    }
}

pub mod enum_that_is_handed_on {
    use super::*;

    pub enum Reason {
        Normal,
        Code(u16),
    }

    fn close(reason: Reason) -> u16 {
        match reason {
            Reason::Normal => 1000,
            Reason::Code(code) => code,
        }
    }

    #[retry]
    pub async fn end(reason: Option<Reason>) -> io::Result<u16> { //~ `Option<Reason>` is used up by the first attempt, and it is not `Clone`
        if let Some(reason) = reason {
            return Ok(close(reason));
        }
        Ok(0)
    }

    #[retry]
    pub async fn stop(reason: Reason) -> io::Result<u16> { //~ `Reason` is used up by the first attempt, and it is not `Clone`
        let reason = match reason {
            Reason::Code(0) => Reason::Normal,
            reason => reason,
        };
        Ok(close(reason))
    }
}

pub mod lent_and_not_sync {
    use super::*;

    fn show<T: std::fmt::Debug>(value: T) -> String {
        format!("{value:?}")
    }

    #[retry]
    pub async fn log<T: std::fmt::Debug + Send>(value: T) -> io::Result<String> { //~ `T` is lent to each attempt and is not `Sync`, so the future would not be `Send`
        Ok(show(value))
    }
}

pub mod result_that_borrows {
    use super::*;

    pub struct Pool {
        pub connection: Option<String>,
    }

    impl Pool {
        async fn connect(&self) -> io::Result<String> {
            Ok(String::new())
        }

        #[retry]
        pub async fn connection(&mut self) -> io::Result<&mut String> { //~ this result borrows `self` mutably, so after a failed attempt the next one could not borrow it again
            if self.connection.is_none() {
                self.connection = Some(self.connect().await?);
            }
            Ok(self.connection.as_mut().unwrap())
        }
    }

    async fn fill(buffer: &mut [u8]) -> io::Result<usize> {
        Ok(buffer.len())
    }

    #[retry]
    pub async fn read(buffer: &mut [u8]) -> io::Result<&mut [u8]> { //~ this result borrows `buffer` mutably, so after a failed attempt the next one could not borrow it again
        let size = fill(buffer).await?;
        Ok(&mut buffer[..size])
    }

    pub struct Info;
    pub struct Cache {
        pub info: Info,
    }

    impl Cache {
        #[retry]
        pub async fn info(&mut self, fresh: Option<Info>) -> io::Result<&Info> { //~ two closures require unique access to `self.info` at the same time
            match fresh {
                Some(_) => {
                    self.info = Info;
                    Ok(&self.info)
                }
                None => Err(io::ErrorKind::NotFound.into()),
            }
        }
    }
}

/// Only the compiler knows that the method borrows by `&mut`.
pub mod guard_of_self {
    use super::*;

    pub struct Client;
    pub struct Transaction<'a>(pub &'a mut Client);

    impl Client {
        async fn begin(&mut self) -> io::Result<Transaction<'_>> {
            Ok(Transaction(self))
        }

        #[retry]
        pub async fn transaction(&mut self) -> io::Result<Transaction<'_>> { //~ two closures require unique access to `*self` at the same time
            self.begin().await
        }
    }
}

pub mod hedged {
    use super::*;

    pub struct Connection(u32);

    impl Connection {
        #[retry(hedge = "20ms")]
        pub async fn read(&mut self) -> io::Result<u32> { //~ with `hedge` two attempts run at once, and they cannot both borrow `self` mutably
            self.0 += 1;
            Ok(self.0)
        }
    }

    #[retry(hedge = "20ms")]
    pub async fn count(total: &mut u32) -> io::Result<u32> { //~ with `hedge` two attempts run at once, and they cannot both borrow `total` mutably
        *total += 1;
        Ok(*total)
    }

    #[retry(hedge = "20ms")]
    pub async fn optional(total: Option<&mut u32>) -> io::Result<u32> { //~ with `hedge` two attempts run at once, and they cannot both borrow `total` mutably
        Ok(total.map_or(0, |total| *total))
    }

    #[retry(hedge = "20ms")]
    pub async fn called(mut next: impl FnMut() -> u32) -> io::Result<u32> { //~ with `hedge` two attempts run at once, and they cannot both borrow `next` mutably
        Ok(next())
    }
}

/// A reference would compile, and the guard would be held while the body waits for what it guards.
pub mod guard_that_is_released {
    use super::*;
    use std::ops::Deref;

    fn release<G>(guard: G) {
        let _ = (guard,);
    }

    #[retry]
    pub async fn by_trait(guard: impl Send + Sync) -> io::Result<()> { //~ `impl Send + Sync` is used up by the first attempt, and it is not `Clone`
        release(guard);
        Ok(())
    }

    #[retry]
    pub async fn by_name<G>(guard: G) -> io::Result<()> //~ `G` is used up by the first attempt, and it is not `Clone`
    where
        G: Deref + Sync,
    {
        let released = guard;
        release(released);
        Ok(())
    }

    #[retry]
    pub async fn at_the_end_of_a_block<G: Sync>(guard: G) -> io::Result<()> { //~ `G` is used up by the first attempt, and it is not `Clone`
        async move { size_of_val(&guard) }.await;
        Ok(())
    }

    #[retry]
    pub async fn boxed(guard: Box<dyn Send + Sync>) -> io::Result<()> { //~ `Box<dyn Send + Sync>` is used up by the first attempt, and it is not `Clone`
        release(guard);
        Ok(())
    }

    #[retry]
    pub async fn all(guards: Vec<Box<dyn Send + Sync>>) -> io::Result<()> { //~ `Vec<Box<dyn Send + Sync>>` is used up by the first attempt, and it is not `Clone`
        release(guards);
        Ok(())
    }

    pub struct Guard;

    #[retry]
    pub async fn paired(guard: (Guard, u8)) -> io::Result<()> { //~ `(Guard, u8)` is used up by the first attempt, and it is not `Clone`
        release(guard);
        Ok(())
    }

    pub trait Lock {
        type Guard: Sync;
    }

    #[retry]
    pub async fn associated<L: Lock>(guard: L::Guard) -> io::Result<()> { //~ `<L as Lock>::Guard` is used up by the first attempt, and it is not `Clone`
        release(guard);
        Ok(())
    }
}

/// Where the value goes, nothing asks for its type: a reference would compile, and the permit would be held on.
pub mod guard_of_a_concrete_type {
    use super::*;
    use std::sync::{Mutex, MutexGuard};
    use std::pin::Pin;
    use std::{future, thread};
    use tokio::sync::oneshot;

    type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    pub struct Permit(u8);

    impl Permit {
        fn read(&self) -> u8 {
            self.0
        }
    }

    impl Drop for Permit {
        fn drop(&mut self) {
            self.0 = 0;
        }
    }

    pub struct Held<P>(pub P);
    pub struct Job {
        pub id: u8,
        pub permit: Permit,
    }

    async fn step() {}

    async fn step_with(permit: &Permit) {
        let _ = permit.read();
    }

    fn release<P>(permit: P) {
        let _ = (permit,);
    }

    macro_rules! hold {
        ($permit:ident) => {
            let _held = $permit;
        };
    }

    #[retry]
    pub async fn bound(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        {
            let _held = permit;
            step().await;
        }
        Ok(())
    }

    #[retry]
    pub async fn handed_to_a_generic_function(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        release(permit);
        Ok(())
    }

    #[retry]
    pub async fn held_in_a_struct(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        drop(Held(permit));
        Ok(())
    }

    #[retry]
    pub async fn held_in_a_tuple(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        drop((permit, 1));
        Ok(())
    }

    #[retry]
    pub async fn held_in_an_array(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        drop([permit]);
        Ok(())
    }

    #[retry]
    pub async fn held_by_a_macro(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        {
            hold!(permit);
            step().await;
        }
        Ok(())
    }

    #[retry]
    pub async fn value_of_a_block(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        drop({ permit });
        Ok(())
    }

    #[retry]
    pub async fn taken_apart(job: Job) -> io::Result<u8> { //~ `Job` is used up by the first attempt, and it is not `Clone`
        let id = {
            let Job { id, permit: _permit } = job;
            step().await;
            id.clone()
        };
        Ok(id)
    }

    #[retry]
    pub async fn held_if_there_is_one(permit: Option<Permit>) -> io::Result<()> { //~ `Option<guard_of_a_concrete_type::Permit>` is used up by the first attempt, and it is not `Clone`
        if let Some(_permit) = permit {
            step().await;
        }
        Ok(())
    }

    #[retry]
    pub async fn held_in_an_arm(permit: Option<Permit>) -> io::Result<()> { //~ `Option<guard_of_a_concrete_type::Permit>` is used up by the first attempt, and it is not `Clone`
        match permit {
            Some(_permit) => step().await,
            None => {}
        }
        Ok(())
    }

    #[retry]
    pub async fn held_in_the_only_arm(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        match permit {
            held if held.read() == 0 => release(held),
            other => step_with(&other).await,
        }
        Ok(())
    }

    #[retry]
    pub async fn held_by_a_name(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        match permit {
            held => {
                step().await;
                drop(held);
            }
        }
        Ok(())
    }

    #[retry]
    pub async fn held_one_after_the_other(permits: Vec<Permit>) -> io::Result<()> { //~ `Vec<guard_of_a_concrete_type::Permit>` is used up by the first attempt, and it is not `Clone`
        for _permit in permits {
            step().await;
        }
        Ok(())
    }

    #[retry]
    pub async fn moved_into_a_block(permit: Permit) -> io::Result<u8> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        Ok(async move { permit.read() }.await)
    }

    #[retry]
    pub async fn moved_into_a_closure(permit: Permit) -> io::Result<u8> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        let read = move || permit.read();
        Ok(read())
    }

    #[retry]
    pub async fn joined(permit: Permit) -> io::Result<u8> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        let (read, ()) = tokio::join!(async move { permit.read() }, step());
        Ok(read)
    }

    #[retry(when = |_| true)]
    pub async fn selected(permit: Permit) -> io::Result<u8> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        tokio::select! {
            read = async move { permit.read() } => Ok(read),
            () = future::pending() => Ok(0),
        }
    }

    #[retry]
    pub async fn boxed(permit: Permit) -> io::Result<u8> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        Ok(Box::pin(async move { permit.read() }).await)
    }

    #[retry]
    pub async fn in_a_scope_of_threads(permit: Permit) -> io::Result<()> { //~ `guard_of_a_concrete_type::Permit` is used up by the first attempt, and it is not `Clone`
        thread::scope(|scope| {
            scope.spawn(move || permit.read());
        });
        Ok(())
    }

    #[retry(blocking)]
    pub fn lock(guard: MutexGuard<'_, u8>, lock: &Mutex<u8>) -> io::Result<u8> { //~ `std::sync::MutexGuard<'_, u8>` is used up by the first attempt, and it is not `Clone`
        let read = move || *guard;
        let _ = read();
        lock.lock().map(|guard| *guard).map_err(|_| io::ErrorKind::Other.into())
    }

    #[retry]
    pub async fn sender(sender: oneshot::Sender<u8>) -> io::Result<()> { //~ `tokio::sync::oneshot::Sender<u8>` is used up by the first attempt, and it is not `Clone`
        async move { sender.is_closed() }.await;
        Ok(())
    }

    impl Permit {
        #[retry]
        pub async fn use_up(self) -> io::Result<u8> {
            Ok(async move { self.read() }.await) //~ `self` is moved, and each attempt needs it again: `guard_of_a_concrete_type::Permit` is not `Clone`
        }

        #[retry]
        pub async fn pair(self) -> io::Result<()> {
            drop((self, 1)); //~ `self` is moved, and each attempt needs it again: `guard_of_a_concrete_type::Permit` is not `Clone`
            Ok(())
        }
    }

    /// The variable is that of the function, and each attempt gets it.
    #[retry]
    pub fn local(all: &Mutex<Vec<Permit>>) -> BoxFuture<'_, io::Result<u8>> {
        let permit = all.lock().ok().and_then(|mut all| all.pop()); //~ `Option<guard_of_a_concrete_type::Permit>` is used up by the first attempt, and it is not `Clone`
        Box::pin(async move {
            let held = permit;
            Ok(held.map_or(0, |permit| permit.read()))
        })
    }
}

pub mod task_that_owns {
    use super::*;

    pub trait Plugin: Send + Sync {
        fn run(&self) -> u8;
    }

    #[retry(when = |_| true)]
    pub async fn start(plugin: Box<dyn Plugin>) -> io::Result<u8> { //~ `Box<dyn Plugin>` is used up by the first attempt, and it is not `Clone`
        Ok(tokio::spawn(async move { plugin.run() }).await?)
    }

    #[retry(when = |_| true)]
    pub async fn generic<P: Plugin + 'static>(plugin: P) -> io::Result<u8> { //~ `P` is used up by the first attempt, and it is not `Clone`
        Ok(tokio::spawn(async move { plugin.run() }).await?)
    }
}

/// A reference would do, but a box may hold a guard.
pub mod boxed_trait_object {
    use super::*;

    pub trait Named {
        fn name(&self) -> String;
    }

    impl<N: Named + ?Sized> Named for &N {
        fn name(&self) -> String {
            (**self).name()
        }
    }

    impl<N: Named + ?Sized> Named for Box<N> {
        fn name(&self) -> String {
            (**self).name()
        }
    }

    fn length(named: impl Named) -> usize {
        named.name().len()
    }

    #[retry]
    pub async fn find(named: Box<dyn Named + Sync>) -> io::Result<usize> { //~ `Box<dyn boxed_trait_object::Named + Sync>` is used up by the first attempt, and it is not `Clone`
        Ok(length(named))
    }
}

pub mod handler {
    use super::*;

    pub struct Json<T>(pub T);
    pub struct Order(pub String);

    fn insert(order: Order) -> usize {
        order.0.into_bytes().len()
    }

    #[retry]
    pub async fn taken_apart(Json(order): Json<Order>) -> io::Result<usize> { //~ `Order` is used up by the first attempt, and it is not `Clone`
        Ok(insert(order))
    }
}

pub mod loop_over_an_argument {
    use super::*;

    pub struct Row(pub String);

    fn insert(row: Row) -> usize {
        row.0.into_bytes().len()
    }

    #[retry]
    pub async fn store(rows: Vec<Row>) -> io::Result<usize> {
        let mut size = 0;
        for row in rows {
            size += insert(row); //~ mismatched types
        }
        Ok(size)
    }
}

pub mod parameter_of_the_impl {
    use super::*;

    pub struct Client<const RETRIES: u32>;

    impl<const RETRIES: u32> Client<RETRIES> {
        #[retry(attempts = RETRIES)] //~ can't use generic parameters from outer item
        pub async fn ping(&self) -> io::Result<()> {
            Ok(())
        }
    }

    pub async fn ping<const RETRIES: u32>(client: &Client<RETRIES>) -> io::Result<()> {
        run!(attempts = RETRIES, async || client.ping().await).await //~ can't use generic parameters from outer item
    }
}

pub mod loop_in_a_task {
    use super::*;

    pub struct Chore(String);

    #[retry]
    pub async fn run(jobs: Vec<Chore>) -> io::Result<()> { //~ `Vec<Chore>` is used up by the first attempt, and it is not `Clone`
        for job in jobs {
            tokio::spawn(async move { drop(job.0) });
        }
        Ok(())
    }
}

pub mod request_of_tonic {
    use super::*;

    pub trait IntoRequest<T> {
        fn into_request(self) -> T;
    }

    #[retry]
    pub async fn say(request: impl IntoRequest<String>) -> io::Result<usize> { //~ `impl IntoRequest<String>` is used up by the first attempt, and it is not `Clone`
        Ok(request.into_request().len())
    }
}

pub mod conversion_that_may_fail {
    use super::*;

    #[retry]
    pub async fn open(port: impl TryInto<u16>) -> io::Result<u16> { //~ `impl TryInto<u16>` is used up by the first attempt, and it is not `Clone`
        port.try_into().map_err(|_| io::ErrorKind::InvalidInput.into())
    }

    #[retry]
    pub async fn open_any<P: TryInto<u16>>(ports: Vec<u16>, port: P) -> io::Result<u16> { //~ `P` is used up by the first attempt, and it is not `Clone`
        open_plain(ports.len(), port).await
    }

    async fn open_plain<P: TryInto<u16>>(_ports: usize, port: P) -> io::Result<u16> {
        port.try_into().map_err(|_| io::ErrorKind::InvalidInput.into())
    }
}
