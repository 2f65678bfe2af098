//! Inputs as text, one a line: `\n`, `\r`, `\t` and `\\` as in Rust, `\x` with two digits for each other byte that ASCII cannot
//! print. The `printf %b` of bash reads the same.

/// An input as a line.
#[must_use]
pub fn line(input: &[u8]) -> String {
    use std::fmt::Write as _;

    let mut line = String::new();
    for byte in input {
        match byte {
            b'\\' => line.push_str(r"\\"),
            b'\n' => line.push_str(r"\n"),
            b'\r' => line.push_str(r"\r"),
            b'\t' => line.push_str(r"\t"),
            b' '..=b'~' => line.push(char::from(*byte)),
            byte => write!(line, r"\x{byte:02x}").expect("a String takes any text"),
        }
    }
    line
}

/// The input of a line.
///
/// # Panics
///
/// If `line` could not have written it.
#[must_use]
pub fn input(line: &str) -> Vec<u8> {
    let mut bytes = line.bytes();
    let mut input = Vec::with_capacity(line.len());
    while let Some(byte) = bytes.next() {
        input.push(match byte {
            b'\\' => escaped(&mut bytes).unwrap_or_else(|| panic!("no such escape: {line}")),
            byte => byte,
        });
    }
    input
}

fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match bytes.next()? {
        b'\\' => b'\\',
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'x' => {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        }
        _ => return None,
    })
}
