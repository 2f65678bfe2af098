//! What rust-analyzer gets instead of the code of a function. Whatever depends on rust-analyzer is in this file.
//!
//! It gets the function as it was typed, so the body looks as it does without the attribute. A block in front of the body
//! mentions each key and each value, so that they can be completed, explained and renamed. The block is the same with
//! and without mistakes, because rust-analyzer completes only what is at the same place before and after the letters that it
//! adds.
//!
//! ```text
//! Input:   #[retry(attem, when = |error| error.)] async fn f() -> io::Result<()> { BODY }
//! Output:  async fn f() -> io::Result<()> {
//!              {
//!                  ::reattempt::__editor::keys::attem;
//!                  ::reattempt::__editor::keys::when;
//!                  ::reattempt::__editor::Values::<io::Result<()>>::NEW.when(|error| error.);
//!              }
//!              BODY
//!          }
//!          #[cfg(not(rust_analyzer))]
//!          CODE                                // what rustc gets, for "Expand macro"
//! ```

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, LitStr, Type};

use crate::errors::Errors;
use crate::keys::{Grammar, KEYS, Key};
use crate::syntax::{self, RawArg, Vocabulary};
use crate::tokens::{any_word, generated, grouped, is_among, is_punct, lone_group};
use crate::{item, lower};

/// Whether rust-analyzer expands the macro, and not rustc.
pub(crate) fn is_running() -> bool {
    let program = env::current_exe().unwrap_or_default();
    let name = program.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("rust-analyzer")
}

/// The function as it was typed, behind the mentions of its arguments.
pub(crate) fn typed(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let output = item::output(item).map(|output| item::without_impl(&output));
    let mentions = of_keys(args, |root| {
        let output = output.as_ref()?;
        Some(generated!(#root::__editor::Values::<#output>::NEW))
    });
    let mut tokens: Vec<_> = item.clone().into_iter().collect();
    match tokens.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            let behind = |input: ParseStream<'_>| -> syn::Result<TokenStream> {
                let attributes = input.call(Attribute::parse_inner)?;
                let rest: TokenStream = input.parse()?;
                Ok(quote!(#(#attributes)* #mentions #rest))
            };
            let inner = behind.parse2(body.stream()).unwrap_or(body.stream());
            tokens.push(grouped(Delimiter::Brace, inner, body.span()));
        }
        last => tokens.extend(last),
    }
    tokens.into_iter().collect()
}

/// The closure of a `run!` as it was typed, in front of the mentions of its keys, which know its result by then.
pub(crate) fn of_closure(
    args: &TokenStream,
    output: Option<&Type>,
    body: &TokenStream,
    blocking: bool,
) -> TokenStream {
    let typed =
        output.map(|ty| generated!(if false { let __typed: #ty = loop {}; return __typed; }));
    let (head, of, last) = if blocking {
        (generated!(||), generated!(of_blocking), generated!(()))
    } else {
        (generated!(async), generated!(of), generated!(.await))
    };
    let mentions = of_keys(args, |_| Some(generated!(__values)));
    let code = generated!({
        let __body = #head { #typed #body };
        let __values = ::reattempt::__editor::#of(&__body);
        #mentions
        __body #last
    });
    if blocking {
        code
    } else {
        generated!(async #code)
    }
}

/// The mentions of the keys of a function or a closure. `values` is what knows its result.
pub(crate) fn of_keys(
    args: &TokenStream,
    values: impl Fn(&TokenStream) -> Option<TokenStream>,
) -> TokenStream {
    let mention = |root: &TokenStream, key: &Key, value: TokenStream| {
        let is_types = match key.grammar {
            Grammar::Rule => !syntax::asks_function(value.clone()),
            grammar => grammar == Grammar::Types,
        };
        let is_closure = value
            .clone()
            .into_iter()
            .any(|token| is_punct(Some(&token), "|"));
        let asks = is_function(key) || key.name == "before_retry" && is_closure;
        match (key.grammar, values(root)) {
            _ if is_types => {
                let types = syntax::types.parse2(value.clone()).map(Vec::from_iter);
                let types = types.map_or(value, |types| quote!(#(#types),*));
                generated!(let _: (#types,);)
            }
            // The elements of a list may be texts and expressions, so it becomes a tuple.
            (Grammar::List, _) => {
                let list = lone_group(&value).map_or(value, |list| list.stream());
                generated!((#list,);)
            }
            (_, Some(values)) if asks => {
                let function = Ident::new(key.name, Span::mixed_site());
                // Two pairs, so that an argument is there before it is written.
                generated!(#values.#function((#value));)
            }
            _ if syn::parse2(value.clone()).is_ok_and(|word| is_among(&word, WORDS)) => {
                TokenStream::new()
            }
            _ => generated!((#value);),
        }
    };
    mentions(args, &lower::VOCABULARY, ("keys", "attempts"), &mention)
}

/// Puts the code that rustc gets beside the function as it was typed. No word in it counts as one of the user's.
///
/// While the function is being written, it is left out: it would make completion a third slower. rust-analyzer then adds words
/// of its own to what is not complete.
pub(crate) fn beside(typed: &TokenStream, code: TokenStream) -> TokenStream {
    let is_added = |word: &Ident| {
        let word = word.to_string();
        word.ends_with("intellijRulezz") || word.starts_with("__ra_fixup")
    };
    if any_word(typed, &is_added) {
        return typed.clone();
    }
    let code = nowhere(code);
    generated!(#typed #[cfg(not(rust_analyzer))] #code)
}

/// Gives all tokens the place of generated code.
fn nowhere(code: TokenStream) -> TokenStream {
    let span = Span::mixed_site();
    let moved = code.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = token {
            let inner = nowhere(group.stream());
            return grouped(group.delimiter(), inner, span);
        }
        token.set_span(span);
        token
    });
    moved.collect()
}

/// A block that mentions the arguments of an attribute: a path for each key, and what `mention` makes from the root of the
/// crate, the key and its value. `any` is a key of the table.
pub(crate) fn mentions(
    args: &TokenStream,
    vocabulary: &Vocabulary,
    (table, any): (&str, &str),
    mention: &dyn Fn(&TokenStream, &Key, TokenStream) -> TokenStream,
) -> TokenStream {
    let parsed = syntax::parse(args.clone(), vocabulary, &mut Errors::default());
    let root = parsed.iter().find(|arg| arg.name == "crate");
    let root = root.and_then(|arg| code(arg, true));
    let root = root.unwrap_or_else(|| generated!(::reattempt));
    let table = Ident::new(table, Span::mixed_site());
    let table = generated!(#root::__editor::#table);
    let mentions = parsed.iter().filter(|arg| arg.name != "crate");
    let mentions = mentions.filter_map(|arg| {
        let name = syn::parse_str::<Ident>(&arg.name).ok()?;
        let name = Ident::new(&name.to_string(), arg.at.start);
        let value = (vocabulary.find)(&arg.name).and_then(|key| {
            let value = code(arg, is_code(key))?;
            Some(mention(&root, key, value))
        });
        Some(generated!(#table::#name; #value))
    });
    // Where the next key can be written, rust-analyzer finds a path that ends in a key.
    let last = args.clone().into_iter().last();
    let next = last.is_none_or(|last| is_punct(Some(&last), ","));
    let any = Ident::new(any, Span::mixed_site());
    let next = next.then(|| generated!(#table::#any;));
    generated!({ #(#mentions)* #next })
}

/// The value of an argument, which is empty behind a `=`. In a text that is code, the last word of each path is at the
/// place of the text. Any other text is left out.
fn code(arg: &RawArg, text_is_code: bool) -> Option<TokenStream> {
    let tokens = arg.value.tokens()?.clone();
    let Ok(text) = syn::parse2::<LitStr>(tokens.clone()) else {
        return Some(tokens);
    };
    let tokens = nowhere(text.parse().ok().filter(|_| text_is_code)?);
    let mut tokens: Vec<_> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        let is_last = !is_punct(tokens.get(at + 1), ":");
        if let Some(TokenTree::Ident(word)) = tokens.get_mut(at).filter(|_| is_last) {
            word.set_span(text.span());
        }
    }
    Some(tokens.into_iter().collect())
}

/// Words that are no names of the user.
const WORDS: &str = "none full equal decorrelated exponential constant linear fibonacci add multiply outermost unlimited";

fn is_code(key: &Key) -> bool {
    key.grammar == Grammar::Types || is_function(key) || key.name == "with"
}

fn is_function(key: &Key) -> bool {
    matches!(key.grammar, Grammar::Function | Grammar::Rule)
}

/// The items that the mentions name. The facade has them where rust-analyzer reads it.
///
/// The text of a key is its row in the table of the reference, which is in the folder of the facade.
pub(crate) fn items(words: &[&Key]) -> TokenStream {
    let keys = table("retry.md", KEYS);
    let words = table("retryable.md", words);
    quote! {
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        pub mod __editor {
            pub mod keys { #keys }
            pub mod words { #words }

            pub struct Values<R>(std::marker::PhantomData<fn() -> R>);

            pub fn of<F: Future<Output: crate::__private::ResultLike>>(_: &F) -> Values<F::Output> {
                Values::NEW
            }
            pub fn of_blocking<R: crate::__private::ResultLike>(_: &impl FnOnce() -> R) -> Values<R> {
                Values::NEW
            }

            impl<R: crate::__private::ResultLike> Values<R> {
                pub const NEW: Self = Self(std::marker::PhantomData);
                pub fn when(&self, _: impl Fn(&R::Error) -> bool) {}
                pub fn verdict<A>(&self, _: impl Fn(&R::Error) -> A) {}
                pub fn unless(&self, _: impl Fn(&R::Error) -> bool) {}
                pub fn retry_after(&self, _: impl Fn(&R::Error) -> Option<std::time::Duration>) {}
                pub fn before_retry<A>(&self, _: impl FnOnce(Option<&R::Error>) -> A) {}
                pub fn when_ok<A: crate::__private::OkAnswer>(&self, _: impl Fn(&R::Value) -> A) {}
                pub fn until<A: crate::__private::OkAnswer>(&self, _: impl Fn(&R::Value) -> A) {}
                pub fn on_retry(&self, _: impl Fn(&crate::RetryEvent<'_, R::Error>)) {}
                pub fn on_end(&self, _: impl Fn(&crate::Report)) {}
            }
        }
    }
}

const REFERENCE: &str = "](https://docs.rs/reattempt/latest/reattempt/attr.retry.html#";

/// A constant for each key: its example, with the text of its row in the table of keys or words of a page.
fn table(page: &str, keys: &[&Key]) -> TokenStream {
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let page = fs::read_to_string(Path::new(&folder).join("src").join(page)).unwrap_or_default();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let rows = rows.map(|row| row.trim_matches(['|', ' ']));
    let is_heading = |row: &&str| row.starts_with("key |") || row.starts_with("word |");
    let rows: Vec<_> = rows.skip_while(|row| !is_heading(row)).collect();
    let heading = rows.first().copied().unwrap_or_default();
    let mut constants = TokenStream::new();
    for key in keys.iter().filter(|key| key.name != "crate") {
        let name = |row: &str| row.split(['`', ' ']).nth(1) == Some(key.name);
        let row = rows.iter().find(|row| name(row)).copied();
        let cells = row.unwrap_or_default().split(" | ");
        let lines = heading.split(" | ").zip(cells).skip(1);
        let text: Vec<_> = lines
            .map(|(title, cell)| format!("- {title}: {cell}"))
            .collect();
        let text = text.join("\n");
        // A link to another heading of the page leads nowhere from here.
        let text = text.replace("](#", REFERENCE);
        let text = text.replace("\\|", "|");
        let (name, example) = (Ident::new(key.name, Span::call_site()), key.example);
        constants.extend(quote!(#[doc = #text] pub const #name: &str = #example;));
    }
    constants
}
