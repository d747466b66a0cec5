//! Addresses of networks and resources.
//!
//! Nothing is resolved or dialled. Addresses with zeros in front are good where they have always
//! been good in Kubernetes.

use core::net::{IpAddr, Ipv6Addr};

/// Tells whether a text is an address written with dots.
///
/// Upstream: an IPv6 address that ends in an IPv4 one has dots too.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && is_sloppy_address(text)
}

/// Tells whether a text is an address written with colons.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<IpAddr>().is_ok()
}

/// Tells whether a text is a range of addresses such as `10.0.0.0/8`.
pub(super) fn is_address_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = if is_sloppy_ipv4(address) {
        32
    } else if is_sloppy_ipv6(address) {
        128
    } else {
        return false;
    };
    !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
        && length.parse::<u32>().is_ok_and(|length| length <= most)
}

/// Tells whether a text is a MAC address of 6, 8 or 20 bytes.
pub(super) fn is_hardware_address(text: &str) -> bool {
    let (separator, digits) = match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => (':', 2),
        (Some(b'-'), _) => ('-', 2),
        (_, Some(b'.')) => ('.', 4),
        _ => ('\0', text.len()),
    };
    let is_group =
        |group: &str| group.len() == digits && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    let size = text.split(separator).map(str::len).sum::<usize>();
    matches!(size, 12 | 16 | 40) && text.split(separator).all(is_group)
}

/// Tells whether a text is a URI or a path as the first line of an HTTP request has it.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else { return false };
    let rest = rest.split_once('?').map_or(rest, |(rest, _query)| rest);
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let path = match rest.strip_prefix("//") {
        Some(authority) if !scheme.is_empty() => {
            let (authority, path) =
                authority.split_at(authority.find('/').unwrap_or(authority.len()));
            if !is_authority(scheme, authority) {
                return false;
            }
            path
        }
        _ => rest,
    };
    is_escaped_well(path, |_| true)
}

fn is_sloppy_address(text: &str) -> bool {
    match text.find(['.', ':']).map(|index| text.as_bytes()[index]) {
        Some(b'.') => is_sloppy_ipv4(text),
        Some(_) => is_sloppy_ipv6(text),
        None => false,
    }
}

fn is_sloppy_ipv4(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u64>().is_ok_and(|part| part <= 255)
    };
    text.split('.').count() == 4 && text.split('.').all(is_part)
}

fn is_sloppy_ipv6(text: &str) -> bool {
    let Some((start, last)) = text.rsplit_once(':') else { return false };
    if last.contains('.') {
        return is_sloppy_ipv4(last) && format!("{start}:0.0.0.0").parse::<Ipv6Addr>().is_ok();
    }
    text.parse::<Ipv6Addr>().is_ok()
}

/// Splits `http:` off; the scheme is empty where there is none.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => (),
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => (),
            b':' if index == 0 => return None,
            b':' => return Some((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user, host),
        None => ("", authority),
    };
    let is_user_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    user.bytes().all(is_user_byte) && is_escaped_well(user, |_| true) && is_host(scheme, host)
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => is_bracketed_host(&host[1..]),
        Some(_) => false,
        None => {
            // Upstream: databases list hosts with ports here, so only the web is strict.
            let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
            let colon = if is_web { host.find(':') } else { host.rfind(':') };
            let port = colon.map_or("", |colon| &host[colon..]);
            is_port(port) && is_escaped_host(host)
        }
    }
}

fn is_bracketed_host(host: &str) -> bool {
    let Some((address, port)) = host.rsplit_once(']') else { return false };
    let (address, zone) = match address.split_once("%25") {
        Some((address, zone)) => (address, Some(zone)),
        None => (address, None),
    };
    is_port(port) && address.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(is_zone)
}

/// Upstream: in a zone only what could stand there as it is may be escaped, and the blank.
fn is_zone(zone: &str) -> bool {
    let may_escape = |escape: &[u8]| {
        let digits = std::str::from_utf8(escape).unwrap_or_default();
        let byte = u8::from_str_radix(digits, 16).unwrap_or_default();
        byte == b' ' || byte.is_ascii() && is_host_byte(byte)
    };
    !zone.is_empty() && zone.bytes().all(is_host_byte) && is_escaped_well(zone, may_escape)
}

fn is_port(port: &str) -> bool {
    match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => port.is_empty(),
    }
}

/// Upstream: in a host only bytes outside ASCII may be escaped, and the percent sign.
fn is_escaped_host(host: &str) -> bool {
    let may_escape = |escape: &[u8]| {
        escape == b"25" || matches!(escape, [b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', _])
    };
    host.bytes().all(is_host_byte) && is_escaped_well(host, may_escape)
}

fn is_host_byte(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte)
}

fn is_escaped_well(text: &str, may_escape: impl Fn(&[u8]) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(index, _)| {
        bytes
            .get(index + 1..index + 3)
            .is_some_and(|escape| escape.iter().all(u8::is_ascii_hexdigit) && may_escape(escape))
    })
}
