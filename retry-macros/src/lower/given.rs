//! One argument whose key is known, with its value still as typed.

use proc_macro2::{Span, TokenStream};
use syn::parse::Parser;
use syn::{Expr, Lit, LitStr};

use crate::errors::{At, Errors, Fault, key as wording, quoted, typed, value};
use crate::keys::Key;
use crate::model::Spanned;
use crate::syntax::{RawArg, RawValue};

pub(super) struct Given {
    pub(super) key: &'static Key,
    /// The value, as errors point at it.
    pub(super) at: At,
    pub(super) form: Form,
    span: Span,
    position: usize,
}

/// A value in one of its forms: both are legal for every key.
#[derive(Clone)]
pub(super) enum Form {
    /// In quotes.
    Text(LitStr),
    /// Plain Rust.
    Rust(TokenStream),
    /// In parentheses behind the key, which takes a list.
    List(TokenStream),
}

impl Form {
    pub(super) fn of(tokens: TokenStream) -> Self {
        match syn::parse2(tokens.clone()) {
            Ok(Lit::Str(text)) if text.suffix().is_empty() => Self::Text(text),
            _ => Self::Rust(tokens),
        }
    }

    /// Parses all of it; what comes out of quotes carries the span of the quotes.
    pub(super) fn parse<P: Parser>(&self, parser: P) -> syn::Result<P::Output> {
        match self {
            Self::Text(text) => text.parse_with(parser),
            Self::Rust(tokens) | Self::List(tokens) => parser.parse2(tokens.clone()),
        }
    }

    /// How it was typed.
    pub(super) fn typed(&self) -> String {
        match self {
            Self::Text(text) => quoted(&text.value()),
            Self::Rust(tokens) | Self::List(tokens) => typed(tokens),
        }
    }
}

impl Given {
    /// Looks at the punctuation; `None` where there is no value.
    pub(super) fn new(key: &'static Key, arg: RawArg, errors: &mut Errors) -> Option<Self> {
        let (form, at) = match arg.value {
            RawValue::Missing => {
                errors.push(arg.span, wording::missing_value(key));
                return None;
            }
            RawValue::Assigned(tokens) => {
                let at = At::of(&tokens);
                (Form::of(tokens), at)
            }
            RawValue::List { tokens, at } if key.shape.is_list() => (Form::List(tokens), at),
            RawValue::List { tokens, at } => {
                errors.push(at, wording::not_a_list(key, &tokens));
                if tokens.is_empty() {
                    return None;
                }
                // The value may hold a mistake of its own.
                (Form::of(tokens), at)
            }
        };
        Some(Self {
            key,
            at,
            form,
            span: arg.span,
            position: arg.position,
        })
    }

    pub(super) fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned {
            value,
            key: self.span,
            span: self.at.start,
            position: self.position,
        }
    }

    /// The text in quotes, without blanks around it.
    pub(super) fn text(&self) -> Option<String> {
        match &self.form {
            Form::Text(text) => Some(text.value().trim().to_owned()),
            Form::Rust(_) | Form::List(_) => None,
        }
    }

    pub(super) fn expr(&self) -> Result<Expr, Fault> {
        self.form
            .parse(<Expr as syn::parse::Parse>::parse)
            .map_err(|_| self.wrong())
    }

    pub(super) fn typed(&self) -> String {
        self.form.typed()
    }

    /// A value of another kind than the key takes.
    pub(super) fn wrong(&self) -> Fault {
        Fault::new(self.at, value::wrong(self.key, &self.typed()))
    }

    pub(super) fn fault(&self, message: crate::errors::Message) -> Fault {
        Fault::new(self.at, message)
    }
}
