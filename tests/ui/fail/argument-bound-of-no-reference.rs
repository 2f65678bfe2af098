//! expect: the trait bound `&S: ToSubject` is not satisfied

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
