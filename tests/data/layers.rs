// Annotated functions around each other. Programs with different limits of rustc include this.

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

const fn size<F>(_: fn() -> F) -> usize {
    size_of::<F>()
}
