//! A copy of the repository, with mutants in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use measure::write;

use crate::list::{Genre, Mutant};
use crate::plant;
use crate::programs::{self, Built, Fate, Program};

/// The question, at the end of each crate. In a constant, the answer is no.
const QUESTION: &str = include_str!("question.rs");
const FEATURES: &str = "#![feature(const_eval_select, core_intrinsics)]\n";

pub(crate) struct Copy {
    root: PathBuf,
    folder: PathBuf,
}

/// A copy in which all mutants are asleep that can be.
pub(crate) struct Asleep {
    pub(crate) programs: Vec<Program>,
    pub(crate) numbers: BTreeSet<usize>,
    /// The compiler refuses them: no test has to.
    pub(crate) refused: BTreeSet<usize>,
}

impl Copy {
    /// Copies the repository to `target/mutants`.
    pub(crate) fn new(root: &Path, name: &str) -> Result<Self> {
        let folder = root.join("target/mutants/copies").join(name);
        measure::copy(root, &folder)?;
        Ok(Self {
            root: root.to_owned(),
            folder,
        })
    }

    /// Writes all mutants into the copy, less those that cannot sleep, and builds its tests. The question goes into `library`.
    pub(crate) fn plant_all(
        &self,
        mutants: &[Mutant],
        library: &str,
        tests: &[&str],
    ) -> Result<Asleep> {
        let mut blamed = BTreeSet::<usize>::new();
        loop {
            let mut files: BTreeMap<String, Vec<_>> = BTreeMap::new();
            files.insert(library.to_owned(), Vec::new());
            for (number, mutant) in (1..).zip(mutants) {
                let file = files.entry(mutant.file.clone()).or_default();
                if !blamed.contains(&number) {
                    file.push((number, mutant));
                }
            }
            let mut planted = BTreeMap::new();
            for (file, mutants) in files {
                let text = fs::read_to_string(self.root.join(&file))?;
                let mut written = plant::all(&text, &mutants).with_context(|| file.clone())?;
                if file == library {
                    written.surround(FEATURES, QUESTION);
                }
                write(&self.folder.join(&file), written.text.as_bytes())?;
                planted.insert(file, written);
            }
            match programs::build(&self.folder, tests)? {
                Built::Programs(programs) => {
                    let numbers = planted.values().flat_map(|file| &file.numbers);
                    let numbers = numbers.copied().collect();
                    // An arm that sleeps is no arm for the compiler, which may then miss one. Without sleep, it may not.
                    let refused = |number: &usize| mutants[number - 1].genre != Genre::MatchArm;
                    blamed.retain(refused);
                    return Ok(Asleep {
                        programs,
                        numbers,
                        refused: blamed,
                    });
                }
                Built::Refused(places, text) => {
                    let before = blamed.len();
                    for (file, bytes) in places {
                        if let Some(file) = planted.get(&*file) {
                            blamed.extend(file.at(&bytes));
                        }
                    }
                    if blamed.len() == before {
                        bail!("no mutant is to blame:\n{text}");
                    }
                }
            }
        }
    }

    /// Writes a single mutant into the copy, and runs its tests.
    pub(crate) fn fate_of(&self, mutant: &Mutant, tests: &[&str]) -> Result<Fate> {
        let text = fs::read_to_string(self.root.join(&mutant.file))?;
        self.fate_with(&mutant.file, &plant::alone(&text, mutant), tests)
    }

    /// Writes this text of a file into the copy, and runs its tests.
    pub(crate) fn fate_with(&self, file: &str, changed: &str, tests: &[&str]) -> Result<Fate> {
        let file = self.folder.join(file);
        let text = fs::read_to_string(&file)?;
        write(&file, changed.as_bytes())?;
        let fate = self.fate(tests);
        write(&file, text.as_bytes())?;
        fate
    }

    /// Runs the tests against the copy as it is.
    pub(crate) fn fate(&self, tests: &[&str]) -> Result<Fate> {
        for arguments in tests {
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            let fate = match programs::build(&self.folder, &arguments)? {
                Built::Programs(programs) => programs::run_all(&programs)?,
                Built::Refused(..) => Fate::Refused,
            };
            if fate != Fate::Missed {
                return Ok(fate);
            }
        }
        Ok(Fate::Missed)
    }
}
