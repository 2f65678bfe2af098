
/// Whether a mutant is awake: the tests ask at each place. In a constant, it never is.
#[allow(dead_code, missing_docs, unused, clippy::all, clippy::pedantic, reason = "this is not part of the crate")]
pub(crate) const fn planted(mutant: usize) -> bool {
    const fn never(_: usize) -> bool {
        false
    }
    fn now(mutant: usize) -> bool {
        use ::std::io::Write as _;
        use ::std::sync::atomic::{AtomicBool, Ordering};
        use ::std::sync::{LazyLock, Mutex};

        static AWAKE: LazyLock<usize> = LazyLock::new(|| {
            let number = ::std::env::var("MUTANT");
            number.map_or(0, |number| number.parse().expect("a number"))
        });
        static NOTES: LazyLock<Option<Mutex<::std::fs::File>>> = LazyLock::new(|| {
            let path = ::std::env::var_os("MUTANTS_REACHED")?;
            let file = ::std::fs::File::options().append(true).open(path);
            Some(Mutex::new(file.expect("the file is there")))
        });
        static REACHED: [AtomicBool; 10_000] = [const { AtomicBool::new(false) }; 10_000];
        if let Some(notes) = &*NOTES
            && !REACHED[mutant].swap(true, Ordering::Relaxed)
        {
            let mut notes = notes.lock().expect("no holder panics");
            notes.write_all(::std::format!("{mutant}\n").as_bytes()).expect("it can be written");
        }
        *AWAKE == mutant
    }
    ::core::intrinsics::const_eval_select((mutant,), never, now)
}
