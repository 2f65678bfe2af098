//! Items that are wrong, in `refused.txt`: each with its messages in order, and the text that each error points at.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{expand, expand_run};
use crate::derive::derive;

#[test]
fn wrong_items_are_refused_with_the_right_words() {
    let rows = include_str!("refused.txt").split("\n\n").skip(1);
    let mut seen = 0;
    let mut different = String::new();
    for row in rows.map(str::trim_end) {
        let (item, _) = row.split_once("\nerror: ").unwrap_or((row, ""));
        let output = match item.strip_prefix("#[derive(Retryable)]") {
            Some(item) => derive(item.parse().unwrap()),
            None if item.starts_with("run!") => expand_run(item),
            None => expand(item),
        };
        let mut shown = item.to_owned();
        errors(output, &mut shown);
        if shown != row {
            different.extend(["\n\n", &shown]);
        }
        seen += 1;
    }
    assert!(seen > 35, "{seen}");
    assert!(different.is_empty(), "in fact:{different}");
}

/// Adds each `::core::compile_error! { "…" }` as rustc shows it.
fn errors(output: TokenStream, shown: &mut String) {
    let tokens: Vec<TokenTree> = output.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let is_error = index >= 7 && tokens[index - 2].to_string() == "compile_error";
        if !is_error {
            errors(group.stream(), shown);
            continue;
        }
        assert_eq!(group.delimiter(), Delimiter::Brace);
        let text: syn::LitStr = syn::parse2(group.stream()).unwrap();
        // rustc underlines everything from the first colon to the braces.
        let all = tokens[index - 7].span().join(group.span());
        // The place of the whole macro has no text here.
        let at = all.and_then(|all| all.source_text());
        let at = at.filter(|at| !at.is_empty());
        shown.extend(["\nerror: ", &text.value().replace('\n', "\n  ")]);
        shown.extend(at.map(|at| format!("\n  at: {at}")));
    }
}
