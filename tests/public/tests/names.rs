//! No two types of the workspace's crates have the same name, and no other type has a word of the glossary as its
//! name.
//!
//! Tests and examples do not count, because their `Client` or `Server` is a local name. Several versions of a client
//! share one source file (`adapters/reqwest/version.rs`), so their types count once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

const CRATES: [&str; 3] = ["retry-macros/src", "retry-runtime/src", "src"];

/// The names in the sources, without their tests.
#[derive(Default)]
struct Sources {
    /// The file that is being read.
    file: PathBuf,
    /// The type of the `impl` that is being read.
    itself: Option<String>,
    /// The files that define a type of this name.
    types: BTreeMap<String, Vec<PathBuf>>,
    /// The variants of public enums.
    variants: BTreeSet<(String, String)>,
    /// The variants that expressions name: `Verdict::Refused`.
    made: BTreeSet<(String, String)>,
    test_modules: BTreeSet<String>,
}

impl Sources {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = Vec::new();
        for folder in CRATES {
            collect(&root.join(folder), &mut files);
        }
        let parsed: Vec<_> = files
            .into_iter()
            .map(|path| {
                let text = fs::read_to_string(&path).unwrap();
                let file = syn::parse_file(&text).unwrap();
                (path.strip_prefix(&root).unwrap().to_owned(), file)
            })
            .collect();
        let mut modules = TestModules::default();
        for (_, file) in &parsed {
            modules.visit_file(file);
        }
        let mut sources = Self {
            test_modules: modules.0,
            ..Self::default()
        };
        for (path, file) in &parsed {
            let mut parts = path.with_extension("");
            while let Some(name) = parts.file_name().and_then(|name| name.to_str()) {
                if sources.test_modules.contains(name) {
                    break;
                }
                parts.pop();
            }
            if parts.file_name().is_none() {
                sources.file.clone_from(path);
                sources.visit_file(file);
            }
        }
        sources
    }

    fn define(&mut self, name: &impl ToString) {
        // It stands for another file without a feature, and has the names of that.
        if self.file.ends_with("off.rs") {
            return;
        }
        let files = self.types.entry(name.to_string()).or_default();
        files.push(self.file.clone());
    }

    /// Finds the types that a macro defines or contains, such as `pin_project!`.
    fn define_in(&mut self, tokens: TokenStream) {
        let mut keyword = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.define_in(group.stream()),
                TokenTree::Ident(name) if keyword => {
                    keyword = false;
                    self.define(&name);
                }
                // `type` does not count, because in a macro it is an associated type.
                TokenTree::Ident(word) => {
                    keyword = ["struct", "enum", "trait"]
                        .iter()
                        .any(|known| word == known);
                }
                _ => keyword = false,
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| {
        let cfg = attribute.path().is_ident("cfg").then_some(&attribute.meta);
        let Some(syn::Meta::List(list)) = cfg else {
            return attribute.path().is_ident("test");
        };
        list.tokens.to_string().contains("test")
            && !list.tokens.to_string().contains("feature = \"testing\"")
            && !list.tokens.to_string().contains("doctest")
    };
    attributes.iter().any(is_test)
}

/// The names of modules with a file of their own that only tests have.
#[derive(Default)]
struct TestModules(BTreeSet<String>);

impl<'s> Visit<'s> for TestModules {
    fn visit_item_mod(&mut self, module: &'s syn::ItemMod) {
        if module.content.is_none() && is_test(&module.attrs) {
            self.0.insert(module.ident.to_string());
        }
        visit::visit_item_mod(self, module);
    }
}

impl<'s> Visit<'s> for Sources {
    fn visit_item_mod(&mut self, module: &'s syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'s syn::ItemStruct) {
        self.define(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'s syn::ItemEnum) {
        self.define(&item.ident);
        if matches!(item.vis, syn::Visibility::Public(_)) {
            let names = item
                .variants
                .iter()
                .map(|variant| variant.ident.to_string());
            let variants = names.map(|name| (item.ident.to_string(), name));
            self.variants.extend(variants);
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'s syn::ItemUnion) {
        self.define(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'s syn::ItemTrait) {
        self.define(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'s syn::ItemType) {
        self.define(&item.ident);
    }

    fn visit_item_macro(&mut self, item: &'s syn::ItemMacro) {
        self.define_in(item.mac.tokens.clone());
    }

    fn visit_item_impl(&mut self, item: &'s syn::ItemImpl) {
        let itself = match &*item.self_ty {
            syn::Type::Path(ty) => ty.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let around = std::mem::replace(&mut self.itself, itself);
        visit::visit_item_impl(self, item);
        self.itself = around;
    }

    fn visit_pat(&mut self, pattern: &'s syn::Pat) {
        // A pattern that is a path does not make a variant.
        if !matches!(pattern, syn::Pat::Path(_)) {
            visit::visit_pat(self, pattern);
        }
    }

    fn visit_expr_binary(&mut self, expression: &'s syn::ExprBinary) {
        // A comparison does not make a variant either.
        if !matches!(expression.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            visit::visit_expr_binary(self, expression);
        }
    }

    fn visit_expr_path(&mut self, expression: &'s syn::ExprPath) {
        self.name(&expression.path);
    }

    fn visit_expr_struct(&mut self, expression: &'s syn::ExprStruct) {
        self.name(&expression.path);
        visit::visit_expr_struct(self, expression);
    }
}

impl Sources {
    fn name(&mut self, path: &syn::Path) {
        let mut segments = path
            .segments
            .iter()
            .rev()
            .map(|segment| segment.ident.to_string());
        let (variant, ty) = (segments.next(), segments.next());
        let ty = ty.and_then(|ty| {
            if ty == "Self" {
                self.itself.clone()
            } else {
                Some(ty)
            }
        });
        self.made.extend(ty.zip(variant));
    }
}

#[test]
fn no_two_types_have_the_same_name() {
    let sources = Sources::read();
    assert!(sources.types.len() > 200, "the sources were read");
    let twice: Vec<_> = sources
        .types
        .iter()
        .filter(|(_, files)| files.len() > 1)
        // The module of the middleware has the names of the client that it wraps.
        .filter(|(name, _)| !["RequestError", "RequestExt"].contains(&name.as_str()))
        .collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

/// The rows of the glossary in CONTRIBUTING.md: each word, and the name and file of its type.
fn glossary() -> Vec<(String, Option<(String, PathBuf)>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rows) = page
        .split_once("| word | meaning | type |\n|---|---|---|\n")
        .unwrap();
    rows.lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [_, word, _, ty, _] = cells[..] else {
                panic!("a row of three cells: {line}")
            };
            let ty = ty.split_once(" (").map(|(name, file)| {
                let file = file.trim_matches(['`', ')']);
                (name.trim_matches('`').to_owned(), PathBuf::from(file))
            });
            (word.to_owned(), ty)
        })
        .collect()
}

#[test]
fn a_word_of_the_glossary_names_the_type_in_its_row_and_no_other() {
    let sources = Sources::read();
    let glossary = glossary();
    assert_eq!(glossary.len(), 17);
    for (word, ty) in glossary {
        let mut name = word.clone();
        name[..1].make_ascii_uppercase();
        let files = sources.types.get(&name).cloned().unwrap_or_default();
        let row = ty.map(|(ty, file)| {
            assert_eq!(ty, name);
            file
        });
        assert_eq!(files, Vec::from_iter(row), "{word}");
    }
}

/// Macros make these variants, from words of the attribute and from the rows of the table of keys, and so does serde, from
/// settings. Others are made within a macro, or by the alias of their type.
const MADE_ELSEWHERE: [(&str, &str); 18] = [
    ("AsksDelay", "NextDelay"),
    ("Backoff", "Constant"),
    ("Backoff", "Fibonacci"),
    ("Backoff", "Linear"),
    ("Cut", "Cancelled"),
    ("Cut", "Deadline"),
    ("Cut", "Timeout"),
    ("FailedRequest", "Request"),
    ("Grammar", "Flag"),
    ("Grammar", "List"),
    ("Grammar", "Names"),
    ("Grammar", "Pattern"),
    ("Grammar", "Types"),
    ("Jitter", "Decorrelated"),
    ("Jitter", "Equal"),
    ("Nested", "Multiply"),
    ("Nested", "Outermost"),
    ("TransactionError", "Statement"),
];

#[test]
fn every_variant_of_a_public_enum_is_made_somewhere() {
    let sources = Sources::read();
    assert!(sources.variants.len() > 30, "the sources were read");
    let never: Vec<_> = sources
        .variants
        .difference(&sources.made)
        .filter(|(ty, variant)| !MADE_ELSEWHERE.contains(&(ty, variant)))
        .collect();
    assert!(never.is_empty(), "{never:#?}");
}
