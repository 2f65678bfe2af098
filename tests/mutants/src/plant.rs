//! Writes mutants into the text of a file: all of them, each behind a question for its number, or a single one.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Arm, Expr, ExprBinary, ExprMatch, ExprUnary, Pat, PatGuard};

use crate::list::{Genre, Mutant, Place};

pub(crate) type Numbered<'a> = (usize, &'a Mutant);

/// What is written into a file.
#[derive(Debug)]
struct Insertion {
    at: usize,
    /// Where several stand in one place, the lowest is the first.
    order: (u8, usize, u8),
    text: String,
    numbers: Vec<usize>,
}

/// A file with all of its mutants asleep.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) text: String,
    /// Which bytes of the text belong to which mutants: what is written for them, and then what it encloses.
    ranges: Vec<(Range<usize>, Vec<usize>)>,
    /// The mutants that sleep in it.
    pub(crate) numbers: Vec<usize>,
}

impl Planted {
    /// Writes the same before and after all of it.
    pub(crate) fn surround(&mut self, before: &str, after: &str) {
        self.text = format!("{before}{}{after}", self.text);
        for (range, _) in &mut self.ranges {
            *range = range.start + before.len()..range.end + before.len();
        }
    }

    /// The mutants to blame for an error of the compiler at these bytes: those of the smallest range around them.
    pub(crate) fn at(&self, bytes: &Range<usize>) -> &[usize] {
        let ranges = self.ranges.iter();
        ranges
            .filter(|(range, _)| range.start <= bytes.start && bytes.end <= range.end)
            .min_by_key(|(range, _)| range.len())
            .map_or(&[], |(_, numbers)| numbers)
    }
}

/// Writes all mutants that can sleep. Those in constants cannot: a constant is computed once, by the compiler.
pub(crate) fn all(text: &str, mutants: &[Numbered<'_>]) -> syn::Result<Planted> {
    let mut sites = Sites {
        text,
        mutants,
        insertions: Vec::new(),
        wraps: Vec::new(),
    };
    sites.visit_file(&syn::parse_file(text)?);
    let Sites {
        mut insertions,
        wraps,
        ..
    } = sites;
    insertions.sort_by_key(|insertion| (insertion.at, insertion.order));
    let mut planted = Planted {
        text: String::new(),
        ranges: Vec::new(),
        numbers: Vec::new(),
    };
    // Where each byte of the file is now.
    let mut moved = Vec::with_capacity(insertions.len());
    let mut from = 0;
    for insertion in insertions {
        planted.text += &text[from..insertion.at];
        from = insertion.at;
        let start = planted.text.len();
        planted.text += &insertion.text;
        moved.push((insertion.at, insertion.text.len()));
        planted.numbers.extend(&insertion.numbers);
        planted
            .ranges
            .push((start..planted.text.len(), insertion.numbers));
    }
    planted.text += &text[from..];
    let place = |byte: usize, inclusive: bool| {
        let before = moved
            .iter()
            .take_while(|(at, _)| *at < byte || inclusive && *at == byte);
        byte + before.map(|(_, length)| length).sum::<usize>()
    };
    for (range, numbers) in wraps {
        planted
            .ranges
            .push((place(range.start, false)..place(range.end, true), numbers));
    }
    planted.numbers.sort_unstable();
    planted.numbers.dedup();
    Ok(planted)
}

/// Writes one mutant, wide awake.
pub(crate) fn alone(text: &str, mutant: &Mutant) -> String {
    let [start, end] = [mutant.span.start, mutant.span.end].map(|place| place.offset(text));
    let mut rest = &text[end..];
    if matches!(mutant.genre, Genre::MatchArm | Genre::StructField) {
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    format!("{}{}{rest}", &text[..start], mutant.replacement)
}

struct Sites<'a> {
    text: &'a str,
    mutants: &'a [Numbered<'a>],
    insertions: Vec<Insertion>,
    wraps: Vec<(Range<usize>, Vec<usize>)>,
}

impl<'a> Sites<'a> {
    fn at(&self, span: proc_macro2::Span, genre: Genre) -> Vec<Numbered<'a>> {
        let start = span.start();
        let place = Place {
            line: start.line,
            column: start.column + 1,
        };
        let mutants = self.mutants.iter().copied();
        mutants
            .filter(|(_, mutant)| mutant.genre == genre && mutant.span.start == place)
            .collect()
    }

    fn text(&self, syntax: &impl Spanned) -> &'a str {
        &self.text[syntax.span().byte_range()]
    }

    /// Encloses `range` in `opening` and `closing`.
    fn wrap(
        &mut self,
        range: Range<usize>,
        opening: String,
        closing: &str,
        rank: u8,
        found: &[Numbered<'_>],
    ) {
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        self.insertions.push(Insertion {
            at: range.start,
            // The outer one opens first.
            order: (1, usize::MAX - range.end, rank),
            text: opening,
            numbers: numbers.clone(),
        });
        self.insertions.push(Insertion {
            at: range.end,
            // The inner one closes first.
            order: (0, usize::MAX - range.start, u8::MAX - rank),
            text: closing.to_owned(),
            numbers: numbers.clone(),
        });
        self.wraps.push((range, numbers));
    }

    /// `(if planted(1) { other } else { original })`.
    fn choose(
        &mut self,
        range: Range<usize>,
        found: &[Numbered<'_>],
        other: impl Fn(&Mutant) -> String,
    ) {
        if found.is_empty() {
            return;
        }
        let others: Vec<String> = found
            .iter()
            .map(|(number, mutant)| {
                format!("if crate::planted({number}) {{ {} }} else ", other(mutant))
            })
            .collect();
        let others = others.concat();
        self.wrap(range, format!("({others}{{ "), " })", 1, found);
    }

    fn bodies(&mut self, block: &syn::Block) {
        let Some(first) = block.stmts.first() else {
            return;
        };
        let start = first.span();
        let found = self.at(start, Genre::FnValue);
        let text: Vec<String> = found
            .iter()
            .map(|(number, mutant)| {
                let value = &mutant.replacement;
                format!("if crate::planted({number}) {{ return {value}; }} ")
            })
            .collect();
        if !text.is_empty() {
            self.insertions.push(Insertion {
                at: start.byte_range().start,
                order: (1, 0, 0),
                text: text.concat(),
                numbers: found.iter().map(|(number, _)| *number).collect(),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.bodies(&item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.bodies(&item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.bodies(block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let found = self.at(binary.op.span(), Genre::BinaryOperator);
        let operands = [&binary.left, &binary.right];
        // `a || let …` is no Rust.
        if !operands.iter().any(|operand| has_let(operand)) {
            let [left, right] = operands.map(|operand| self.text(operand));
            self.choose(binary.span().byte_range(), &found, |mutant| {
                format!("{left} {} {right}", mutant.replacement)
            });
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        let found = self.at(unary.op.span(), Genre::UnaryOperator);
        let operand = self.text(&unary.expr);
        self.choose(unary.span().byte_range(), &found, |_| operand.to_owned());
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, matching: &'ast ExprMatch) {
        // With one arm asleep, the others may not be enough for the compiler, which then points at the value.
        let arms = matching.arms.iter();
        let deleted = arms.flat_map(|arm| self.at(arm.span(), Genre::MatchArm));
        let numbers: Vec<_> = deleted.map(|(number, _)| number).collect();
        if !numbers.is_empty() {
            self.wraps.push((matching.span().byte_range(), numbers));
        }
        visit::visit_expr_match(self, matching);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let deleted = self.at(arm.span(), Genre::MatchArm);
        let asleep: Vec<String> = deleted
            .iter()
            .map(|(number, _)| format!("!crate::planted({number})"))
            .collect();
        let asleep = asleep.join(" && ");
        if let Pat::Guard(PatGuard { guard, .. }) = &arm.pat {
            let range = guard.span().byte_range();
            if !has_let(guard) {
                if !deleted.is_empty() {
                    self.wrap(range.clone(), format!("{asleep} && ("), ")", 0, &deleted);
                }
                let found = self.at(guard.span(), Genre::MatchArmGuard);
                self.choose(range, &found, |mutant| mutant.replacement.clone());
            }
        } else if !deleted.is_empty() {
            let end = arm.pat.span().byte_range().end;
            self.insertions.push(Insertion {
                at: end,
                order: (0, 0, 0),
                text: format!(" if {asleep}"),
                numbers: deleted.iter().map(|(number, _)| *number).collect(),
            });
        }
        visit::visit_arm(self, arm);
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}
