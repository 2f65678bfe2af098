//! Enums that have a word for each variant.

/// Gives an enum `as_str`, with this documentation, and shows it as its word, or in another way where it has a value.
macro_rules! words {
    (
        $Enum:ident, $doc:literal, $($variant:pat => $word:literal,)+
        $(; $valued:pat => $shown:literal)?
    ) => {
        impl $Enum {
            #[doc = $doc]
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($valued => f.pad(&format!($shown)),)?
                    word => f.pad(word.as_str()),
                }
            }
        }
    };
}

pub(crate) use words;
