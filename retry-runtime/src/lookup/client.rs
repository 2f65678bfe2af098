//! The errors of clients whose adapter has an error type that can hold a [`Stopped`]. If a limit can stop their function, the
//! message names that type.
//!
//! ```text
//! error.kept()  keeps it as `Carried<E>`, if `error` is a `&Failed<E>`, and `E` is a `reqwest::Error`
//! Carried<E>: LastError<Cut, E, By<Foreign>>         so the error must be made `By<Foreign>`
//! reqwest::Error: FromStopped<By<Foreign>>           if it is `Advised<Foreign>`
//! reqwest::Error: Advised<Foreign>                   if `Foreign: HoldsRequest`, which rustc reports
//! ```

use crate::result::FromStopped;
use crate::stopped::Stopped;

/// What a call keeps of an error of a client: the error, with which a call with limits ends only in an [`Error`](crate::Error). No type can
/// hold a [`Stopped`] in the place of such an error.
#[derive(Debug)]
pub struct Carried<E>(pub(crate) E);

/// What would make such an error hold a [`Stopped`]. Nothing does.
#[derive(Debug)]
pub enum Foreign {}

/// The way in which the error of a client would hold a [`Stopped`].
#[derive(Debug)]
pub struct By<A>(A);

/// An error of a client. rustc lists the types of a trait in its messages, so `FromStopped` itself has none.
pub trait Advised<A> {}

impl<E: Advised<A>, A> FromStopped<By<A>> for E {
    fn from_stopped(_stopped: Stopped) -> Self {
        unreachable!("no `A` has the bound that makes an error `Advised`")
    }
}

macro_rules! client {
    ($feature:literal $Error:ty, $Holds:ident, $line:literal; [$first:literal $($note:literal)*]) => {
        /// What can make an error of this client. Nothing can.
        #[cfg(feature = $feature)]
        #[diagnostic::on_unimplemented(
            message = "`{E}` cannot say that a call was stopped by `timeout`, `deadline`, `cancel` or `until`",
            label = "this error type cannot be made from `reattempt::Stopped`",
            note = $first,
            note = $line,
            $(note = $note),*
        )]
        pub trait $Holds<E> {}

        #[cfg(feature = $feature)]
        impl<A: $Holds<Self>> Advised<A> for $Error {}

        #[cfg(feature = $feature)]
        impl super::Failed<'_, $Error> {
            /// Chooses what is kept of the error.
            pub fn kept(&self) -> super::Keeps<$Error, Carried<$Error>> {
                |error| Some(Carried(error))
            }
        }
    };
}

/// The messages of some clients. `$line` is what to paste.
macro_rules! clients {
    ($notes:tt $($feature:literal $Error:ty, $Holds:ident, $line:literal;)+) => {
        $(client! { $feature $Error, $Holds, $line; $notes })+
    };
}

clients! {
    [
        "return `Result<_, RequestError>`, which `?` makes from `{E}` too, and write these lines:"
        "`check` keeps the `Retry-After` of a failed response, which `error_for_status` loses"
        "for an error type of your own, add a variant: `Stopped(#[from] reattempt::Stopped)`"
    ]
    "reqwest-0_13" reqwest::Error, HoldsRequest,
        "`use reattempt::reqwest_0_13::{{RequestError, ResponseExt as _}};`\n`let response = client.get(url).send().await?.check()?;`";
    "reqwest-0_12" reqwest_0_12::Error, HoldsOldRequest,
        "`use reattempt::reqwest_0_12::{{RequestError, ResponseExt as _}};`\n`let response = client.get(url).send().await?.check()?;`";
}
clients! {
    [
        "in a function that commits a transaction, return `Result<_, TransactionError<{E}>>` and write this line:"
        "`.commit()` stays as it is: an attempt whose commit may have taken effect is not repeated"
        "in a function without a transaction, return `Result<_, reattempt::Error<{E}>>`"
    ]
    "sqlx-0_9" sqlx_core::Error, HoldsSqlx,
        "`use reattempt::sqlx_0_9::TransactionError;`";
    "sqlx-0_8" sqlx_core_0_8::Error, HoldsOldSqlx,
        "`use reattempt::sqlx_0_8::TransactionError;`";
    "sea-orm-2" sea_orm::DbErr, HoldsDbErr,
        "`use reattempt::sea_orm_2::TransactionError;`";
    "sea-orm-1" sea_orm_1::DbErr, HoldsOldDbErr,
        "`use reattempt::sea_orm_1::TransactionError;`";
    "tokio-postgres-0_7" tokio_postgres::Error, HoldsPostgres,
        "`use reattempt::tokio_postgres_0_7::TransactionError;`";
}
