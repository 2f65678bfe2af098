//! `run!`: the keys of the attribute, and then a closure. The closure becomes a function, which is expanded as any other, and its
//! code becomes a future.
//!
//! ```text
//! Input:   run!(attempts = 4, timeout = "1s", async move || -> io::Result<T> { BODY })
//! Output:  async move { CODE }       // of `#[retry(attempts = 4, timeout = "1s")] async fn … -> io::Result<T> { BODY }`
//!
//! Input:   run!(blocking, attempts = 4, || BODY)
//! Output:  (|| { CODE })()
//! ```

mod exits;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, ReturnType, Token, Type};

use crate::errors::{At, Errors, Message, item as wording, typed};
use crate::item::{self, Bars, Function};
use crate::tokens::{bare, generated, has_word, inside, is_punct, is_word, lone_group};
use crate::{attribute, editor, keys};

/// Expands `run!(keys, closure)`.
pub(crate) fn run(input: &TokenStream) -> TokenStream {
    let (args, operation) = split(input.clone());
    let closure = Closure::read.parse2(bare(operation.clone())).ok();
    if editor::is_running() {
        return match &closure {
            Some(Closure {
                asyncness,
                output,
                body,
                ..
            }) => editor::of_closure(&args, output.as_ref(), body, asyncness.is_none()),
            None => editor::of_keys(input, |_| None),
        };
    }
    let expanded = attribute::expanded(args, |blocking, errors| match closure {
        Some(closure) => closure.into_function(blocking, errors),
        None => {
            let message = no_closure(&operation, blocking.is_some());
            errors.push(At::of(&operation), message);
            None
        }
    });
    // An expression that is an error: rustc reports no mistake of what uses its value.
    expanded.unwrap_or_else(|errors| quote!({ #errors }))
}

/// The keys, and what comes after them: from the first argument that begins as a closure, or else a last one that has no key.
fn split(input: TokenStream) -> (TokenStream, TokenStream) {
    let tokens: Vec<_> = input.into_iter().collect();
    let begins = |at: &usize| *at == 0 || is_punct(tokens.get(at - 1), ",");
    let all = || (0..tokens.len()).filter(begins);
    let rest = |at: usize| tokens.get(at..).unwrap_or_default();
    let closure = all().find(|at| begins_closure(rest(*at)));
    let last = || all().next_back().filter(|at| !begins_with_key(rest(*at)));
    let at = closure.or_else(last).unwrap_or(tokens.len());
    let args = tokens.iter().take(at).cloned();
    (args.collect(), rest(at).iter().cloned().collect())
}

/// Whether tokens begin as a closure does, also in the group that a fragment of `macro_rules!` adds.
fn begins_closure(tokens: &[TokenTree]) -> bool {
    match tokens {
        [TokenTree::Group(group), ..] => {
            group.delimiter() == Delimiter::None && begins_closure(&inside(group))
        }
        [head, rest @ ..] if is_word(Some(head), "async move") => begins_closure(rest),
        tokens => is_punct(tokens.first(), "|"),
    }
}

fn begins_with_key(tokens: &[TokenTree]) -> bool {
    let known = |word: &TokenTree| keys::find(&word.to_string()).is_some();
    tokens.first().is_some_and(known) || is_punct(tokens.get(1), "=")
}

/// The message for what stands in place of a closure.
fn no_closure(operation: &TokenStream, blocking: bool) -> Message {
    let (head, awaited) = if blocking {
        ("blocking, ||", "")
    } else {
        ("attempts = 4, async ||", ".await")
    };
    let body = match syn::parse2(operation.clone()) {
        Ok(Expr::Async(block)) => typed(&block.block.to_token_stream()),
        Ok(Expr::Path(path)) => format!("{}(){awaited}", typed(&quote!(#path))),
        Ok(_) if blocking => typed(operation),
        Ok(_) => waiting(operation),
        Err(_) => format!("fetch(){awaited}"),
    };
    let write = format!("{head} {body}");
    if operation.is_empty() {
        wording::no_closure("nothing", &write)
    } else {
        wording::no_closure(&format!("`{}`", typed(operation)), &write)
    }
}

/// A body as typed, which awaits something.
fn waiting(body: &TokenStream) -> String {
    let mut tokens = body.clone().into_iter();
    if tokens.any(|token| is_punct(Some(&token), ";")) {
        typed(&quote!({ #body }))
    } else if has_word(body, "await") {
        typed(body)
    } else {
        format!("{}.await", typed(body))
    }
}

/// A closure as typed.
struct Closure {
    asyncness: Option<Token![async]>,
    bars: Bars,
    inputs: TokenStream,
    output: Option<Type>,
    /// Without the braces of a block.
    body: TokenStream,
    braces: Option<Span>,
    /// What comes after the closure.
    rest: TokenStream,
}

impl Closure {
    fn read(input: ParseStream<'_>) -> syn::Result<Self> {
        let (asyncness, capture) = (input.parse()?, input.parse()?);
        let span = input.span();
        let mut inputs = TokenStream::new();
        if input.parse::<Option<Token![||]>>()?.is_none() {
            input.parse::<Token![|]>()?;
            while !input.peek(Token![|]) {
                inputs.extend([input.parse::<TokenTree>()?]);
            }
            input.parse::<Token![|]>()?;
        }
        let output = match input.parse()? {
            ReturnType::Type(_, ty) => Some(*ty),
            ReturnType::Default => None,
        };
        let body: TokenStream = input.parse()?;
        let mut tokens: Vec<_> = body.into_iter().collect();
        if is_punct(tokens.last(), ",") {
            tokens.pop();
        }
        let has_comma = tokens.iter().any(|token| is_punct(Some(token), ","));
        let body = TokenStream::from_iter(tokens);
        let after = |input: ParseStream<'_>| {
            let _: Expr = input.parse()?;
            let _: Token![,] = input.parse()?;
            input.parse()
        };
        let rest = has_comma.then(|| after.parse2(body.clone()).ok()).flatten();
        let block = lone_group(&body).filter(|block| block.delimiter() == Delimiter::Brace);
        Ok(Self {
            asyncness,
            bars: Bars { capture, span },
            inputs,
            output,
            braces: block.as_ref().map(proc_macro2::Group::span),
            body: block.map_or(body, |block| block.stream()),
            rest: rest.unwrap_or_default(),
        })
    }

    /// The function with this body, or the reasons why it cannot be retried.
    fn into_function(self, blocking: Option<At>, errors: &mut Errors) -> Option<Function> {
        let before = errors.count();
        let head = if self.asyncness.is_some() {
            "async ||"
        } else {
            "||"
        };
        if !self.inputs.is_empty() {
            errors.push(At::of(&self.inputs), wording::closure_with_argument(head));
        }
        match (self.asyncness, blocking) {
            (Some(_), Some(at)) => errors.push(at, wording::blocking_and_async("closures")),
            (None, None) => {
                let message = match syn::parse2(self.body.clone()) {
                    Ok(Expr::Async(block)) => wording::closure_of_block(&block),
                    _ => wording::closure_not_async(&waiting(&self.body)),
                };
                errors.push(self.bars.span, message);
            }
            _ => {}
        }
        if !self.rest.is_empty() {
            errors.push(At::of(&self.rest), wording::after_closure());
        }
        match &self.output {
            Some(output) => item::check_output(output, "closure", errors),
            None => {
                if let Some(at) = exits::untyped_ok(&self.body) {
                    errors.push(at, wording::untyped_ok(head));
                }
            }
        }
        (errors.count() == before).then(|| {
            // An output that is no type of the user.
            let output = || Type::Verbatim(generated!(::core::result::Result<_, _>));
            let asyncness = self.asyncness;
            Function {
                attributes: Vec::new(),
                visibility: syn::Visibility::Inherited,
                defaultness: None,
                signature: syn::parse_quote!(#asyncness fn closure()),
                inner_attributes: Vec::new(),
                braces: self.braces.unwrap_or(self.bars.span),
                body: self.body,
                output: self.output.unwrap_or_else(output),
                handmade: None,
                closure: Some(self.bars),
            }
        })
    }
}
