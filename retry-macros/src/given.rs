//! An argument with a known key, and its value as typed.
//!
//! A value has its place, so that an error can point at it or at a part of it.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse as _, Parser};
use syn::{Expr, Lit, LitStr};

use crate::errors::{At, Errors, Message, Mistake, quoted, typed, value};
use crate::keys::{self, Grammar, Key};
use crate::model::Spanned;
use crate::syntax::{self, RawArg, RawValue};

pub(crate) struct Given {
    pub(crate) key: &'static Key,
    /// The value, as errors point at it.
    pub(crate) at: At,
    pub(crate) form: Form,
    /// The key, as errors point at it.
    pub(crate) name: At,
}

/// A value as it was written. Every key accepts quotes and plain Rust.
pub(crate) enum Form {
    /// In quotes.
    Text(LitStr),
    /// Plain Rust.
    Rust(TokenStream),
    /// In parentheses after the key, which takes a list.
    List(TokenStream),
}

impl Form {
    pub(crate) fn of(tokens: TokenStream) -> Self {
        match syn::parse2(tokens.clone()) {
            Ok(Lit::Str(text)) if text.suffix().is_empty() => Self::Text(text),
            _ => Self::Rust(tokens),
        }
    }

    /// The value as Rust. Tokens from a value in quotes carry the span of the quotes.
    pub(crate) fn tokens(&self) -> syn::Result<TokenStream> {
        match self {
            Self::Text(text) => text.parse(),
            Self::Rust(tokens) | Self::List(tokens) => Ok(tokens.clone()),
        }
    }

    /// Parses the whole value.
    pub(crate) fn parse<P: Parser>(&self, parser: P) -> syn::Result<P::Output> {
        parser.parse2(self.tokens()?)
    }
}

impl Given {
    /// Checks the punctuation. `None` if there is no value.
    pub(crate) fn new(key: &'static Key, arg: RawArg, errors: &mut Errors) -> Option<Self> {
        let name = arg.at;
        let mut refuse = |at, message| {
            errors.push(at, message);
            None
        };
        let of = |tokens: &TokenStream| At::of(tokens).within(name.position);
        let (form, at) = match (arg.value, key.grammar) {
            (RawValue::Alone, Grammar::Flag) => (Form::Rust(TokenStream::new()), name),
            (RawValue::Assigned(tokens), Grammar::Flag) if tokens.is_empty() => {
                return refuse(name, value::wrong(key, "="));
            }
            (RawValue::Assigned(tokens), Grammar::Flag) => {
                return refuse(of(&tokens), value::wrong(key, &typed(&tokens)));
            }
            (RawValue::List { tokens, at }, Grammar::Flag) => {
                return refuse(at, value::wrong(key, &format!("({})", typed(&tokens))));
            }
            (RawValue::Assigned(tokens), _) if !tokens.is_empty() => {
                let at = of(&tokens);
                (Form::of(tokens), at)
            }
            (RawValue::Alone | RawValue::Assigned(_), _) => {
                return refuse(name, value::missing_value(key));
            }
            (RawValue::List { tokens, at }, grammar) if grammar.is_list() => {
                (Form::List(tokens), at)
            }
            (RawValue::List { tokens, at }, _) => {
                let tokens = syntax::unless_settings(tokens);
                let refused = refuse(at, value::not_equals(key, "(", &tokens));
                if tokens.is_empty() {
                    return refused;
                }
                // The value may hold a mistake of its own.
                (Form::of(tokens), at)
            }
        };
        Some(Self {
            key,
            at,
            form,
            name,
        })
    }

    pub(crate) fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned {
            value,
            span: self.at.start,
            position: self.at.position,
        }
    }

    /// The text in quotes, without blanks around it.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.form {
            Form::Text(text) => Some(text.value().trim().to_owned()),
            Form::Rust(_) | Form::List(_) => None,
        }
    }

    /// Parses the whole value. If that fails, it is of the wrong kind.
    pub(crate) fn parse<P: Parser>(&self, parser: P) -> Result<P::Output, Mistake> {
        self.form.parse(parser).map_err(|_| self.wrong())
    }

    pub(crate) fn expr(&self) -> Result<Expr, Mistake> {
        self.parse(Expr::parse)
    }

    pub(crate) fn typed(&self) -> String {
        match &self.form {
            Form::Text(text) => quoted(&text.value()),
            Form::Rust(tokens) | Form::List(tokens) => typed(tokens),
        }
    }

    /// The place of a part of the value. For an empty part, the place of the value.
    pub(crate) fn at_part(&self, part: &dyn ToTokens) -> At {
        if part.to_token_stream().is_empty() {
            return self.at;
        }
        At::of(part).within(self.at.position)
    }

    /// The elements of a list, as values of the same key.
    pub(crate) fn elements(&self, list: TokenStream) -> Vec<Self> {
        let elements = syntax::elements(list, self.key.grammar, keys::find).into_iter();
        let elements = elements.map(|element| Self {
            at: self.at_part(&element),
            form: Form::of(element),
            ..*self
        });
        elements.collect()
    }

    /// The error for a value of the wrong kind.
    pub(crate) fn wrong(&self) -> Mistake {
        self.mistake(value::wrong(self.key, &self.typed()))
    }

    /// The same, with a better suggestion than the example of the key.
    pub(crate) fn wrong_but(&self, write: &str) -> Mistake {
        self.mistake(value::wrong_but(self.key, &self.typed(), write))
    }

    pub(crate) fn mistake(&self, message: Message) -> Mistake {
        Mistake {
            at: self.at,
            message,
        }
    }
}
