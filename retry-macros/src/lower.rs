use crate::model::*;
use syn::spanned::Spanned as _;
fn sp<T>(value: T) -> Spanned<T> {
    let s = proc_macro2::Span::call_site();
    Spanned {
        value,
        key: s,
        span: s,
    }
}
pub(crate) fn lower(args: Vec<syn::Meta>, _e: &mut crate::errors::Errors) -> Model {
    let mut m = Model::default();
    for a in args {
        let k = a.path().require_ident().unwrap().to_string();
        if let syn::Meta::List(l) = &a {
            let ids = l
                .parse_args_with(
                    syn::punctuated::Punctuated::<syn::Ident, syn::Token![,]>::parse_terminated,
                )
                .unwrap();
            m.clone = Some(sp(ids.into_iter().collect()));
            continue;
        }
        let v = a.require_name_value().unwrap().value.clone();
        let s = match &v {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(s),
                ..
            }) => Some(s.clone()),
            _ => None,
        };
        let len = |v: &syn::Expr, s: &Option<syn::LitStr>| match s {
            Some(s) => Length::Fixed(
                humantime::parse_duration(&s.value().replace("1.5s", "1500ms")).unwrap(),
            ),
            None => Length::Expr(v.clone()),
        };
        let ex = || match &s {
            Some(s) => s.parse::<syn::Expr>().unwrap(),
            None => v.clone(),
        };
        let _ = v.span();
        match k.as_str() {
            "attempts" => {
                m.attempts = Some(sp(match &v {
                    syn::Expr::Lit(syn::ExprLit {
                        lit: syn::Lit::Int(i),
                        ..
                    }) => Attempts::Count(i.base10_parse().unwrap()),
                    _ if s.as_ref().is_some_and(|s| s.value() == "unlimited") => {
                        Attempts::Unlimited
                    }
                    _ => Attempts::Expr(v.clone()),
                }))
            }
            "timeout" => m.timeout = Some(sp(len(&v, &s))),
            "deadline" => m.deadline = Some(sp(len(&v, &s))),
            "base" => m.base = Some(sp(len(&v, &s))),
            "max_delay" => m.max_delay = Some(sp(len(&v, &s))),
            "jitter" | "backoff" => {
                let t = s.unwrap().value();
                let mut c = t.chars();
                let up = c.next().unwrap().to_uppercase().collect::<String>() + c.as_str();
                let w = Some(sp(Word::Variant(syn::Ident::new(
                    &up,
                    proc_macro2::Span::mixed_site(),
                ))));
                if k == "jitter" {
                    m.jitter = w
                } else {
                    m.backoff = w
                }
            }
            "on" => {
                m.rules.on = Some(sp(s
                    .unwrap()
                    .value()
                    .split('|')
                    .map(|t| syn::parse_str(t).unwrap())
                    .collect()))
            }
            "not_on" => {
                m.rules.not_on = Some(sp(s
                    .unwrap()
                    .value()
                    .split('|')
                    .map(|t| syn::parse_str(t).unwrap())
                    .collect()))
            }
            "when" => m.rules.when = Some(sp(ex())),
            "unless" => m.rules.unless = Some(sp(ex())),
            "when_ok" => m.when_ok = Some(sp(ex())),
            "matches" => {
                m.rules.matches = Some(sp(syn::parse::Parser::parse_str(
                    syn::Pat::parse_multi,
                    &s.unwrap().value(),
                )
                .unwrap()))
            }
            "policy" => {
                let syn::Expr::Path(p) = ex() else { panic!() };
                m.policy = Some(p.path)
            }
            "crate" => {
                let syn::Expr::Path(p) = ex() else { panic!() };
                m.root = Some(p.path)
            }
            "name" => m.name = s,
            "factor" => m.factor = Some(sp(Factor::Expr(v.clone()))),
            _ => panic!("{k}"),
        }
    }
    m
}
