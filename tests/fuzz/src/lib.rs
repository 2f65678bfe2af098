//! Everything that reads what a stranger wrote, or walks what a stranger built. Each target takes any bytes, and panics if a
//! promise is broken.

mod chains;
pub mod corpus;
mod headers;
mod settings;
mod tokens;

/// What is fuzzed.
#[derive(Debug)]
pub struct Target {
    /// Its name, and that of the file with its corpus.
    pub name: &'static str,
    /// Runs it once.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    target("attribute", |bytes| text(bytes, tokens::attribute)),
    target("derive", |bytes| text(bytes, tokens::derive)),
    target("durations", |bytes| text(bytes, tokens::duration)),
    target("retry_after", headers::retry_after),
    target("grpc_timeout", |bytes| text(bytes, headers::grpc_timeout)),
    target("toml", |bytes| text(bytes, settings::toml)),
    target("json", |bytes| text(bytes, settings::json)),
    target("chains", chains::walk),
];

const fn target(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, run }
}

/// Finds a target.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

fn text(bytes: &[u8], run: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        run(text);
    }
}
