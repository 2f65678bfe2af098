//! Twenty functions around each other are too many for rustc, unless the crate raises its limit.

use std::io;

use reattempt::retry;

async fn innermost() -> io::Result<()> {
    std::future::ready(()).await;
    Ok(())
}

/// Each function calls the one before it.
macro_rules! layers {
    ($inner:ident $outer:ident $($rest:ident)*) => {
        #[retry]
        async fn $outer() -> io::Result<()> {
            $inner().await
        }
        layers!($outer $($rest)*);
    };
    ($outermost:ident) => {};
}

layers!(innermost a b c d e f g h i j k l m n o p q r s t);

const fn size<F>(_: fn() -> F) -> usize {
    size_of::<F>()
}

#[tokio::test]
async fn twenty_functions_compile_if_the_crate_raises_its_limit() {
    const { assert!(size(t) > 0) };
    tokio::spawn(t()).await.unwrap().unwrap();
}
