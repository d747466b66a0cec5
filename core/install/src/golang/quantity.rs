//! Quantities such as `500Mi`, in the form Kubernetes writes them after reading them.
//!
//! Nothing is computed with quantities here; only their text is settled.

/// Limits the digits of a quantity. A 128-bit number holds 38 of them; the largest amount anyone
/// can own, in billionths, has 28.
pub const MAX_QUANTITY_DIGITS: usize = 36;

/// The finest part that is kept: billionths.
const FINEST_EXPONENT: i32 = -9;

/// Upstream: the decimal digits that surely fit 64 bits, which decides between two ways of reading.
const SHORT_DIGITS: usize = 18;

/// How the suffix of a quantity is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// `12M`.
    Decimal,
    /// `12e6`.
    Exponent,
    /// `12Mi`.
    Binary,
}

/// An amount: `mantissa` times ten to the power of `exponent`.
#[derive(Clone, Copy)]
struct Amount {
    is_negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// The parts of a written quantity.
struct Written<'a> {
    is_negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

/// Returns the text that Kubernetes writes for a quantity it reads; nothing for what is no quantity.
pub fn canonical_quantity(text: &str) -> Option<String> {
    let text = text.trim();
    if text == "0" {
        return Some(text.to_owned());
    }
    let written = split(text)?;
    let (base, power, notation) = interpret(written.suffix)?;
    if let Some(answer) = read_short(text, &written, power, notation) {
        return Some(answer);
    }
    let digits = format!("{}{}", written.whole, written.fraction);
    let number = text.strip_suffix(written.suffix)?;
    let has_digits = number.contains(|letter: char| letter.is_ascii_digit());
    if !has_digits || digits.len() > MAX_QUANTITY_DIGITS {
        return None;
    }
    let mut amount = Amount {
        is_negative: written.is_negative,
        mantissa: digits.parse().ok()?,
        exponent: -i32::try_from(written.fraction.len()).ok()?,
    };
    match base {
        // What overflows here is far beyond the cap.
        2 => amount.mantissa = amount.mantissa.saturating_mul(1 << power),
        _ => amount.exponent = amount.exponent.checked_add(power)?,
    }
    let amount = round_up(amount)?;
    if notation == Notation::Binary {
        return canonical_capped_binary(amount);
    }
    canonical(amount, notation)
}

/// Upstream: short numbers keep the text they were written with where that looks canonical, so
/// `1.500` stays as it is while `1.5` becomes `1500m`.
fn read_short(text: &str, written: &Written<'_>, power: i32, notation: Notation) -> Option<String> {
    let digits = format!("{}{}", written.whole, written.fraction);
    let exponent = match notation {
        Notation::Decimal | Notation::Exponent if digits.len() <= SHORT_DIGITS => {
            power.checked_sub(i32::try_from(written.fraction.len()).ok()?)?
        }
        Notation::Binary if written.fraction.is_empty() => {
            let spare = 14 - i32::try_from(written.whole.len()).ok()? - power * 3 / 10;
            (spare >= 0).then_some(0)?
        }
        Notation::Decimal | Notation::Exponent | Notation::Binary => return None,
    };
    if exponent < FINEST_EXPONENT {
        return None;
    }
    let value: i64 = digits.parse().ok()?;
    let looks_canonical = match notation {
        Notation::Binary => value % 8 != 0,
        Notation::Decimal | Notation::Exponent => {
            exponent % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
        }
    };
    let product = match notation {
        Notation::Binary => value.checked_mul(1 << power)?,
        Notation::Decimal | Notation::Exponent => value,
    };
    if looks_canonical {
        return Some(text.to_owned());
    }
    let mantissa = u128::try_from(product).ok()?;
    canonical(Amount { is_negative: written.is_negative, mantissa, exponent }, notation)
}

/// Splits into sign, digits and suffix; leading zeros are dropped.
fn split(text: &str) -> Option<Written<'_>> {
    if text.is_empty() {
        return None;
    }
    let (is_negative, rest) = match text.as_bytes()[0] {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let rest = rest.trim_start_matches('0');
    let (whole, rest) = split_digits(rest);
    let whole = if whole.is_empty() { "0" } else { whole };
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    let letters = suffix.trim_start_matches(|letter: char| "eEinumkKMGTP".contains(letter));
    let power = letters.strip_prefix(['-', '+']).unwrap_or(letters);
    power.bytes().all(|digit| digit.is_ascii_digit()).then_some(Written {
        is_negative,
        whole,
        fraction,
        suffix,
    })
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns base, power and notation of a suffix.
fn interpret(suffix: &str) -> Option<(u32, i32, Notation)> {
    let decimal = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(index) = decimal.iter().position(|known| *known == suffix) {
        return Some((10, 3 * i32::try_from(index).ok()? - 9, Notation::Decimal));
    }
    if let Some(index) = binary.iter().position(|known| *known == suffix) {
        return Some((2, 10 * (i32::try_from(index).ok()? + 1), Notation::Binary));
    }
    let power = suffix.strip_prefix(['e', 'E'])?;
    Some((10, power.parse().ok()?, Notation::Exponent))
}

/// Rounds away from zero to billionths.
fn round_up(amount: Amount) -> Option<Amount> {
    let surplus = FINEST_EXPONENT.checked_sub(amount.exponent)?;
    if amount.mantissa == 0 || surplus <= 0 {
        return Some(amount);
    }
    // What is finer than the divisor can express is less than one billionth.
    let divisor = u32::try_from(surplus).ok().and_then(|power| 10_u128.checked_pow(power));
    let mantissa = divisor.map_or(1, |divisor| amount.mantissa.div_ceil(divisor));
    Some(Amount { mantissa, exponent: FINEST_EXPONENT, ..amount })
}

/// Upstream: binary amounts are capped at 2^63-1.
fn canonical_capped_binary(amount: Amount) -> Option<String> {
    let unit = 10_u128.checked_pow(u32::try_from(-amount.exponent).ok()?)?;
    let limit = u128::from(i64::MAX.unsigned_abs());
    if amount.mantissa / unit >= limit {
        return canonical(Amount { mantissa: limit, exponent: 0, ..amount }, Notation::Binary);
    }
    canonical(amount, Notation::Binary)
}

/// Writes an amount with the largest suffix that needs no fraction.
fn canonical(amount: Amount, notation: Notation) -> Option<String> {
    if amount.mantissa == 0 {
        return Some("0".to_owned());
    }
    let sign = if amount.is_negative { "-" } else { "" };
    if notation == Notation::Binary {
        // Small amounts and those with a fraction are written as decimals, so that nothing is lost.
        if let Some(whole) = whole_number(amount).filter(|whole| *whole >= 1024) {
            return Some(format!("{sign}{}", binary_text(whole)));
        }
    }
    let Amount { mut mantissa, mut exponent, .. } = amount;
    while mantissa.is_multiple_of(10) {
        mantissa /= 10;
        exponent = exponent.checked_add(1)?;
    }
    let missing = exponent.rem_euclid(3);
    mantissa = mantissa.checked_mul(10_u128.pow(missing.unsigned_abs()))?;
    exponent -= missing;
    let suffix = match (notation, exponent) {
        (Notation::Exponent, 0) => String::new(),
        (Notation::Exponent, _) => format!("e{exponent}"),
        // Upstream: what is beyond the largest suffix loses it.
        (Notation::Decimal | Notation::Binary, _) => decimal_suffix(exponent).to_owned(),
    };
    Some(format!("{sign}{mantissa}{suffix}"))
}

fn whole_number(amount: Amount) -> Option<u128> {
    let unit = 10_u128.checked_pow(amount.exponent.unsigned_abs())?;
    if amount.exponent >= 0 {
        return amount.mantissa.checked_mul(unit);
    }
    amount.mantissa.is_multiple_of(unit).then_some(amount.mantissa / unit)
}

fn binary_text(mut whole: u128) -> String {
    let mut suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].into_iter();
    let mut suffix = suffixes.next().unwrap_or_default();
    while whole.is_multiple_of(1024) {
        let Some(larger) = suffixes.next() else { break };
        (whole, suffix) = (whole / 1024, larger);
    }
    format!("{whole}{suffix}")
}

fn decimal_suffix(exponent: i32) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}
