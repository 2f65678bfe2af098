//! Where tables and pictures go.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The folder for pictures, and the page with its tables and pictures if it is to be written.
pub(crate) struct Output {
    pictures: PathBuf,
    page: Option<Page>,
}

struct Page {
    path: PathBuf,
    text: String,
}

impl Output {
    /// Finds the folder, and with `write` the page.
    pub(crate) fn new(write: bool) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let pictures = root.join("target/storm");
        fs::create_dir_all(&pictures)?;
        let page = if write {
            let path = root.join("docs/LOAD.md");
            let text = fs::read_to_string(&path)?;
            Some(Page { path, text })
        } else {
            None
        };
        Ok(Self { pictures, page })
    }

    /// The path of a picture: beside the page, if the page shows it.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        let file = format!("load/{name}.svg");
        match &self.page {
            Some(page) if page.text.contains(&format!("]({file})")) => {
                page.path.with_file_name(file)
            }
            _ => self.pictures.join(name).with_extension("svg"),
        }
    }

    /// Prints a table, and writes it between its marks if the page has them.
    pub(crate) fn table(&mut self, name: &str, table: &str) -> Result<()> {
        println!("\n{name}\n\n{table}");
        let mark = format!("<!-- storm: {name} -->\n");
        if let Some(page) = &mut self.page
            && let Some((before, rest)) = page.text.split_once(&mark)
        {
            let (_, after) = rest
                .split_once("<!-- /storm -->")
                .context("a table has an end")?;
            page.text = format!("{before}{mark}{table}\n<!-- /storm -->{after}");
        }
        Ok(())
    }

    /// Writes the page.
    pub(crate) fn finish(self) -> Result<()> {
        if let Some(page) = self.page {
            fs::write(page.path, page.text)?;
        }
        Ok(())
    }
}
