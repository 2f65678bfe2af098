//! What rust-analyzer shows about functions with `#[retry]`, and about errors with `#[derive(Retryable)]`.
//!
//! The tests ask the rust-analyzer of the toolchain.

mod questions;
mod server;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Trial};

/// The tests, each ignored where rust-analyzer is not installed. With the variable `CI` set they fail there.
macro_rules! trials {
    ($($module:ident::$test:ident,)*) => {{
        let missing = server::missing();
        vec![$(Trial::ignorable_test(stringify!($test), move || match missing {
            None => {
                $module::$test();
                Ok(Completion::Completed)
            }
            Some(missing) if std::env::var_os("CI").is_some() => Err(missing.into()),
            Some(missing) => Ok(Completion::ignored_with(missing)),
        })),*]
    }};
}

fn main() -> ExitCode {
    let trials = trials![
        questions::keys_and_values_are_completed,
        questions::keys_and_types_of_a_closure_are_completed,
        questions::the_list_of_keys_has_nothing_else_and_no_key_is_offered_elsewhere,
        questions::words_of_the_derive_are_completed,
        questions::a_body_is_completed_while_it_is_written,
        questions::a_closure_of_a_run_knows_its_argument,
        questions::each_key_is_explained_by_its_row_of_the_reference,
        questions::what_the_attribute_names_is_found_and_renamed,
        questions::the_words_of_a_function_are_those_of_the_plain_one,
        questions::a_function_without_mistakes_has_no_diagnostic,
        questions::a_body_with_mistakes_has_the_diagnostics_of_the_plain_one,
        questions::a_mistake_in_the_attribute_is_one_error_on_its_line,
        questions::the_expansion_is_what_the_compiler_gets,
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
