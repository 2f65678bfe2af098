//! expect: queries overflow the depth limit!

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

const SIZE: usize = size(t);

fn main() {
    let _ = SIZE;
}
