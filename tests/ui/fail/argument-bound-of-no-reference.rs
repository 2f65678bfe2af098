//! expect: `S` is used up by the first attempt, and it is not `Clone`

use std::io;

use reattempt::retry;

trait ToSubject {
    fn to_subject(&self) -> String;
}

fn name(subject: impl ToSubject) -> String {
    subject.to_subject()
}

#[retry]
async fn publish<S: ToSubject>(subject: S) -> io::Result<String> {
    Ok(name(subject))
}

fn main() {}
