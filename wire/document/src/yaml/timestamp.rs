//! Dates and times, as far as `!!timestamp` has to check them.
//!
//! No instant is ever computed: a timestamp stays the text it is.

/// Tells whether a text is a date, or a date and a time in one of upstream's notations:
/// `2001-12-14`, `2001-12-14T21:59:43.10-05:00` (or `t`, or `Z`), `2001-12-14 21:59:43.10`.
pub(super) fn is_timestamp(text: &str) -> bool {
    let mut rest = text.as_bytes();
    let Some((year, month, day)) = take_date(&mut rest) else {
        return false;
    };
    if month == 0 || month > 12 || day == 0 || day > days_in(year, month) {
        return false;
    }
    match rest.first() {
        None => true,
        Some(b'T' | b't') => {
            rest = &rest[1..];
            take_time(&mut rest) && take_zone(&mut rest) && rest.is_empty()
        }
        Some(b' ') => {
            let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
            rest = &rest[spaces..];
            take_time(&mut rest) && rest.is_empty()
        }
        Some(_) => false,
    }
}

fn take_date(rest: &mut &[u8]) -> Option<(u32, u32, u32)> {
    let (year, after) = rest.split_at_checked(4)?;
    let year =
        std::str::from_utf8(year).ok().filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    *rest = after;
    let month = take_byte(rest, b"-").then(|| take_number(rest)).flatten()?;
    let day = take_byte(rest, b"-").then(|| take_number(rest)).flatten()?;
    Some((year.parse().ok()?, month, day))
}

fn take_time(rest: &mut &[u8]) -> bool {
    let is_clock = take_number(rest).is_some_and(|hour| hour < 24)
        && take_byte(rest, b":")
        && take_number(rest).is_some_and(|minute| minute < 60)
        && take_byte(rest, b":")
        && take_number(rest).is_some_and(|second| second < 60);
    // Upstream: Go takes a comma for the decimal point, and any number of digits behind it.
    if let [b'.' | b',', b'0'..=b'9', ..] = *rest {
        let digits = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        *rest = &rest[1 + digits..];
    }
    is_clock
}

/// Takes `Z` or an offset; upstream lets the offset reach 24 hours and 60 minutes.
fn take_zone(rest: &mut &[u8]) -> bool {
    if take_byte(rest, b"Z") {
        return true;
    }
    let two_digits = |tens: u8, ones: u8| u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
    match *rest {
        [
            b'+' | b'-',
            h1 @ b'0'..=b'9',
            h2 @ b'0'..=b'9',
            b':',
            m1 @ b'0'..=b'9',
            m2 @ b'0'..=b'9',
            after @ ..,
        ] => {
            *rest = after;
            two_digits(*h1, *h2) <= 24 && two_digits(*m1, *m2) <= 60
        }
        _ => false,
    }
}

fn take_byte(rest: &mut &[u8], any_of: &[u8]) -> bool {
    let is_there = rest.first().is_some_and(|byte| any_of.contains(byte));
    if is_there {
        *rest = &rest[1..];
    }
    is_there
}

/// Takes one or two digits.
fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let length = rest.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(length);
    *rest = after;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
