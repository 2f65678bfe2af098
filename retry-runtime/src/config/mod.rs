//! Retry settings from files and environment variables, read at the start and while the program runs.
//!
//! A [`Source`] names the [`Preset`]s that may be configured, and the files and variables with their settings.
//! [`Source::apply`] reads all of them and sets the presets.
//!
//! ```
//! # use retry_runtime as reattempt;
//! use reattempt::{Policy, Preset, config};
//!
//! static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
//! static SEARCH: Preset = Preset::new("search", Policy::new());
//!
//! # fn main() -> Result<(), config::ConfigError> {
//! let source = config::Source::new([&PAYMENTS, &SEARCH])
//!     .with_toml_text("retry.toml", "[payments]\nattempts = 2\ntimeout = '1.5s'")
//!     .with_env("RETRY")?;
//! source.apply()?;
//! assert_eq!(PAYMENTS.policy().attempts(), Some(2));
//! assert_eq!(SEARCH.policy(), Policy::new());
//! # Ok(()) }
//! ```
//!
//! Files override the preset in the code, and later files override earlier files. Environment variables override
//! files, and keys of the attribute override all of these. [`docs/CONFIGURATION.md`] lists precedence, keys, and every
//! message.
//!
//! [`docs/CONFIGURATION.md`]: https://github.com/reattempt/reattempt/blob/main/docs/CONFIGURATION.md
//!
//! # Files
//!
//! A file is TOML, in UTF-8, of at most [`MAX_FILE_BYTES`] bytes. It has one table for each preset, with the keys that
//! the table below lists. A preset named `db.read` is `[db.read]` or `["db.read"]`.
//!
//! ```toml
//! enabled = true
//!
//! [payments]
//! attempts = 3
//! timeout = "1.5s"
//! ```
//!
//! # Environment
//!
//! The name of a variable is the prefix, the preset and the key in capitals, joined with `_`:
//! `RETRY_PAYMENTS_MAX_DELAY=5s`. In the preset's name, `-` and `.` become `_`. Two presets must not have the same
//! name in this form. A variable that could be of two presets is of the one with the longer name.
//!
//! # Keys
//!
#![doc = include_str!("../setting/keys.md")]
//!
//! The keys mean the same as in the attribute. A limit can be changed but not removed: there is no word for "no
//! timeout". `delays` and `nested` cannot be configured.
//!
//! # Budgets
//!
//! All functions with a preset share the budget that `budget` sets. The table of a budget is `[payments.budget]`, and a
//! variable is `RETRY_PAYMENTS_BUDGET_CAPACITY=50`, or `RETRY_PAYMENTS_BUDGET=aws` for a word.
//!
#![doc = include_str!("../setting/budget_keys.md")]
//!
//! A word, `kind` or `ratio` sets all numbers. Each other key changes one number of the budget in the code and in the
//! sources before. If these have none, it changes one of [`Budget::new`](crate::Budget::new).
//!
//! When the numbers change at a reload, the tokens that are missing stay missing. With a smaller capacity, a budget may be
//! empty until some of them have come back.
//!
//! Above the tables, `enabled = false` turns retries off in the whole process, as
//! [`set_enabled(false)`](crate::set_enabled) does. So does `RETRY_ENABLED=false`.
//!
//! # Errors
//!
//! If there is any mistake, no preset changes. The [`ConfigError`] has the first 20 mistakes, one on each line, with its
//! file and line or its variable, and counts the others:
//!
//! ```
//! # use retry_runtime as reattempt;
//! use reattempt::{Policy, Preset, config};
//!
//! static PAYMENTS: Preset = Preset::new("payments", Policy::new().with_attempts(4));
//!
//! let text = "[payments]\ntimeout = '1.5'\n[paymnts]\nattempts = 2";
//! let source = config::Source::new([&PAYMENTS]).with_toml_text("retry.toml", text);
//! let error = source.apply().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "retry.toml:2: payments.timeout: duration \"1.5\" has no unit; write \"1.5s\" or \"1.5ms\"\n\
//!      retry.toml:3: unknown preset `paymnts`; did you mean `payments`? the presets are `payments`",
//! );
//! assert_eq!(PAYMENTS.policy().attempts(), Some(4));
//! ```

mod apply;
mod env;
mod error;
mod file;
mod found;
mod lines;
mod toml;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use self::error::{ConfigError, Problem};
pub use self::file::MAX_FILE_BYTES;
use crate::listen::test_scope_around;
use crate::preset::Preset;
use crate::test_scope::TestScope;

/// Where the settings of presets come from.
///
/// See the [module](self) for precedence, keys and an example. Keep the source to reload the settings: each
/// [`apply`](Self::apply) reads the files and the environment again.
#[derive(Debug, Clone)]
pub struct Source {
    presets: Vec<&'static Preset>,
    files: Vec<File>,
    environments: Vec<Environment>,
    /// The test scope in which the source was made.
    scope: Option<TestScope>,
}

#[derive(Debug, Clone)]
struct File {
    /// The name in messages.
    name: String,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    Path(PathBuf),
    Text(String),
}

#[derive(Debug, Clone)]
struct Environment {
    prefix: String,
    /// `None` stands for the environment of the process.
    variables: Option<Vec<(OsString, OsString)>>,
}

impl Source {
    /// Makes a source for the presets that may be configured. Settings of any other preset are refused.
    #[must_use]
    pub fn new(presets: impl IntoIterator<Item = &'static Preset>) -> Self {
        Self {
            presets: presets.into_iter().collect(),
            files: Vec::new(),
            environments: Vec::new(),
            scope: test_scope_around(),
        }
    }

    /// Adds a TOML file, which overrides the files added before it.
    ///
    /// A relative path is resolved against the present working directory. Each [`apply`](Self::apply) reads the file
    /// again.
    ///
    /// # Errors
    ///
    /// - The file cannot be read: it does not exist, is a folder, is not UTF-8, or is larger than [`MAX_FILE_BYTES`].
    ///   [`apply`](Self::apply) checks its content.
    pub fn with_toml_file(mut self, path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        file::read(&name, &path)?;
        let content = Content::Path(path);
        self.files.push(File { name, content });
        Ok(self)
    }

    /// Adds a text in TOML, which overrides the files and texts added before it. `name` stands for the file in
    /// messages.
    #[must_use]
    pub fn with_toml_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.files.push(File {
            name: name.into(),
            content: Content::Text(text.into()),
        });
        self
    }

    /// Adds the environment variables of the process whose names begin with this prefix and `_`. They override all
    /// files.
    ///
    /// A variable with the prefix that is not a setting is refused, so choose a prefix that nothing else uses.
    ///
    /// # Errors
    ///
    /// - The prefix is empty, ends with `_`, or has other characters than `A` to `Z`, digits and `_`.
    pub fn with_env(self, prefix: impl Into<String>) -> Result<Self, ConfigError> {
        self.environment(prefix.into(), None)
    }

    /// Adds variables from a list, in place of the environment of the process. Use it in tests, and for settings that
    /// come from elsewhere.
    ///
    /// # Errors
    ///
    /// - The errors of [`with_env`](Self::with_env).
    pub fn with_env_from<N, V>(
        self,
        prefix: impl Into<String>,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, ConfigError>
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        self.environment(prefix.into(), Some(variables.collect()))
    }

    fn environment(
        mut self,
        prefix: String,
        variables: Option<Vec<(OsString, OsString)>>,
    ) -> Result<Self, ConfigError> {
        env::check(&prefix)?;
        self.environments.push(Environment { prefix, variables });
        Ok(self)
    }

    /// Reads the files and the variables, and sets each preset of this source. If there is a mistake, no preset
    /// changes.
    ///
    /// Call it once at the start, and again to reload, from any thread. It reads files, so in an async program call it
    /// in `tokio::task::spawn_blocking`.
    ///
    /// - Calls that begin afterwards use the new policies, and running calls keep theirs. A call reads its policy once,
    ///   when it begins, and never sees half of a reload. No later call on the same thread goes back to older settings.
    /// - Presets are set one after the other. During a reload, calls with one preset may already use the new settings
    ///   while calls with another preset use the old ones.
    /// - A key that is no longer set anywhere returns to the value in the code.
    /// - `enabled` affects the whole process, running calls included. If a reload no longer finds `enabled = false`,
    ///   retries are on again. If `enabled` was never set, the switch stays as the program set it with
    ///   [`set_enabled`](crate::set_enabled).
    /// - In a test scope, or if the source was made in one, it sets the presets and the switch of the scope alone.
    ///
    /// # Errors
    ///
    /// - Mistakes in files and variables, and files that cannot be read. The settings do not change.
    pub fn apply(&self) -> Result<(), ConfigError> {
        apply::apply(self)
    }
}
