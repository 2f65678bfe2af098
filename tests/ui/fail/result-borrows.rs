//! What rustc says of a result that borrows from a `&mut` through a lifetime. The macro cannot refuse it: by its tokens, such a
//! result may borrow nothing, as in `tests/shapes/compiles.rs`.

use std::io;

type Rows<'r> = Box<dyn Iterator<Item = u8> + Send + 'r>;

struct Connection(Vec<u8>);

struct Guard<'c>(&'c mut Connection);

impl Connection {
    async fn query(&mut self) -> io::Result<Rows<'_>> {
        self.0.push(1);
        Ok(Box::new(self.0.iter().copied()))
    }
}

mod elided {
    //! expect: two closures require unique access to `*self` at the same time

    use super::*;

    impl Connection {
        #[reattempt::retry]
        async fn elided(&mut self) -> io::Result<Rows<'_>> {
            self.query().await
        }
    }
}

mod named {
    //! expect: two closures require unique access to `*connection` at the same time

    use super::*;

    #[reattempt::retry]
    async fn named<'c>(connection: &'c mut Connection) -> io::Result<Rows<'c>> {
        connection.query().await
    }
}

mod opaque {
    //! expect: two closures require unique access to `*self` at the same time

    use super::*;

    impl Connection {
        #[reattempt::retry]
        async fn opaque<'c>(&'c mut self) -> io::Result<impl Iterator<Item = u8> + 'c> {
            self.query().await
        }
    }
}

mod handed_over {
    //! expect: two closures require unique access to `*self` at the same time

    use super::*;

    impl Connection {
        #[reattempt::retry]
        async fn begin<'c>(&'c mut self) -> io::Result<Guard<'c>> {
            Ok(Guard(self))
        }
    }
}

fn main() {}
