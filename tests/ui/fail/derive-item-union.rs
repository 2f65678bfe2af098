//! expect: found a union, expected an enum or a struct

#[derive(reattempt::Retryable)]
#[retryable(transient)]
union Error {
    number: u32,
}

fn main() {}
