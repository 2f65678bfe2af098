/// An argument that an attempt owns, while another attempt runs beside it.
///
/// It is never `Copy`, so the code of an attempt, which is no `move` block, takes it along by value.
#[derive(Debug)]
pub struct Handed<T>(T);

impl<T> Handed<T> {
    /// Wraps the argument.
    pub const fn new(argument: T) -> Self {
        Self(argument)
    }

    /// Returns the argument.
    pub fn take(self) -> T {
        self.0
    }
}
