//! Which texts may stand without quotation marks.
//!
//! A word that any reader of YAML takes for something else than a text is given quotation marks,
//! even where our own reader would not.

/// Tells whether some reader takes a plain word for a truth value, a number, a time or nothing.
pub(super) fn is_of_another_type(words: &str) -> bool {
    const WORDS: &[&str] =
        &["", "~", "null", "y", "yes", "true", "on", "n", "no", "false", "off", "=", "<<", ".nan"];
    WORDS.iter().any(|word| words.eq_ignore_ascii_case(word))
        || is_infinity(words)
        || is_number(words)
        || is_time(words)
}

/// Tells whether the characters of a text let it stand without quotation marks in a block.
pub(super) fn may_stand_plain(words: &str) -> bool {
    let mut characters = words.chars();
    let Some(first) = characters.next() else { return false };
    let second = characters.next();
    let is_indicator = match first {
        '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => true,
        '-' | '?' | ':' => matches!(second, None | Some(' ')),
        _ => false,
    };
    !is_indicator
        && !words.starts_with("---")
        && !words.starts_with("...")
        && !words.ends_with([' ', ':'])
        && !words.contains(": ")
        && !words.contains(" #")
}

fn is_infinity(words: &str) -> bool {
    unsigned(words).eq_ignore_ascii_case(".inf")
}

fn unsigned(words: &str) -> &str {
    words.strip_prefix(['+', '-']).unwrap_or(words)
}

/// Knows the numbers of YAML 1.1 and 1.2 and of go-yaml: in base 2, 8, 10, 16 and 60, with
/// underscores anywhere.
fn is_number(words: &str) -> bool {
    if !words.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return false;
    }
    let plain = unsigned(words).replace('_', "");
    let in_base = |prefixes: [&str; 2], radix: u32| {
        prefixes.iter().filter_map(|prefix| plain.strip_prefix(prefix)).any(|digits| {
            // Upstream: go-yaml takes a sign behind `0b`.
            digits.chars().all(|digit| digit.is_digit(radix) || matches!(digit, '+' | '-'))
        })
    };
    in_base(["0b", "0B"], 2)
        || in_base(["0o", "0O"], 8)
        || in_base(["0x", "0X"], 16)
        || is_decimal(&plain)
        || is_sexagesimal(&plain)
}

/// Tells whether a text is digits with at most one point, and perhaps an exponent.
fn is_decimal(plain: &str) -> bool {
    let (digits, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && is_digits(unsigned(exponent))
        && !unsigned(exponent).is_empty()
}

/// Tells whether a text is a number in base 60, such as `12:30:45` or `1:30.5`.
fn is_sexagesimal(plain: &str) -> bool {
    let (places, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let mut places = places.split(':');
    let is_place = |place: &str| {
        is_digits(place) && place.parse::<u8>().is_ok_and(|place| place < 60) && place.len() < 3
    };
    places.next().is_some_and(|first| !first.is_empty() && is_digits(first))
        && places.clone().next().is_some()
        && places.all(is_place)
        && is_digits(fraction)
}

/// Tells whether a text begins as a date, and ends there or goes on as a time would.
fn is_time(words: &str) -> bool {
    let mut parts = words.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
    year.len() == 4
        && is_digits(year)
        && (1..3).contains(&month.len())
        && is_digits(month)
        && (1..3).contains(&(rest.len() - day.len()))
        && (day.is_empty() || day.starts_with(['T', 't', ' ']))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{is_of_another_type, may_stand_plain};

    #[test]
    fn words_of_other_types_are_known() {
        for word in [
            "",
            "~",
            "Null",
            "YES",
            "n",
            "Off",
            "true",
            "=",
            "<<",
            "1",
            "-1",
            "+1",
            "0644",
            "08",
            "0o17",
            "0x1F",
            "0x_",
            "0b101",
            "0b-1",
            "1_000",
            "1__",
            "+_0",
            "1.5",
            "1.",
            ".5",
            "-.5",
            "1e3",
            "1.0e+21",
            "1.e5",
            "6.8523015e+5",
            ".inf",
            "-.INF",
            ".NaN",
            "190:20:30",
            "1:30",
            "190:20:30.15",
            "2001-12-14",
            "2001-1-4t21:59:43.10-05:00",
            "2001-12-14 21:59:43.10 -5",
        ] {
            assert!(is_of_another_type(word), "{word}");
        }
        for word in [
            "1.2.3",
            "v1",
            "1.0.0-rc.1",
            "_1",
            "+",
            "-",
            ".",
            "..",
            "1e",
            "e5",
            ".e5",
            "0xg",
            "8080:80",
            "10.0.0.1",
            "1:",
            ":1",
            "2001-12-14-a",
            "2001-12",
            "20011-12-14",
            "nope",
            "infinity",
            "1 000",
            "1m",
            "100Mi",
            "a=b",
        ] {
            assert!(!is_of_another_type(word), "{word}");
        }
    }

    #[test]
    fn indicators_do_not_stand_plain() {
        for words in ["a", "a:b", "a#b", "-a", "a, b [c] {d}", "é 😀"] {
            assert!(may_stand_plain(words), "{words}");
        }
        for words in
            ["- a", "-", "? a", ": a", "a: b", "a:", "a #b", "#a", "[a", "{", ", a", "'a'", "%a"]
        {
            assert!(!may_stand_plain(words), "{words}");
        }
        for words in ["---", "--- a", "...", " a", "a ", "@a", "`a", "*a", "&a", "!a", "|", ">"] {
            assert!(!may_stand_plain(words), "{words}");
        }
    }
}
