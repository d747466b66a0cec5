//! The formats of texts that an API server checks, such as `date-time` or `ipv4`.
//!
//! A format that is not listed here is no rule at all: an API server ignores it.

mod email;
mod mark;
mod name;
mod network;
mod time;

/// Says what a format asks of a text.
pub(crate) type FormatRule = fn(&str) -> bool;

/// Returns the rule of a format; dashes in its name do not count.
pub(crate) fn format_rule(format: &str) -> Option<FormatRule> {
    let rule: FormatRule = match format.replace('-', "").as_str() {
        "bsonobjectid" => mark::is_object_identifier,
        "byte" => mark::is_base64,
        "cidr" => network::is_address_range,
        "creditcard" => mark::is_credit_card,
        "date" => time::is_date,
        "datetime" => time::is_date_time,
        "duration" => time::is_duration,
        "email" => email::is_email,
        "hexcolor" => mark::is_hexadecimal_color,
        "hostname" => name::is_host_name,
        "ipv4" => network::is_ipv4,
        "ipv6" => network::is_ipv6,
        "isbn" => |text| mark::is_isbn10(text) || mark::is_isbn13(text),
        "isbn10" => mark::is_isbn10,
        "isbn13" => mark::is_isbn13,
        "k8slongname" => name::is_long_name,
        "k8sshortname" => name::is_short_name,
        "mac" => network::is_hardware_address,
        "password" => |_| true,
        "rgbcolor" => mark::is_rgb_color,
        "ssn" => mark::is_social_security_number,
        "uri" => network::is_request_uri,
        "uuid" => |text| mark::is_uuid(text, None, false),
        "uuid3" => |text| mark::is_uuid(text, Some('3'), false),
        "uuid4" => |text| mark::is_uuid(text, Some('4'), true),
        "uuid5" => |text| mark::is_uuid(text, Some('5'), true),
        _ => return None,
    };
    Some(rule)
}

/// Upstream: white space is ASCII, without the vertical tabulator.
fn is_blank(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\u{c}' | '\r' | ' ')
}

#[cfg(test)]
mod tests {
    use super::format_rule;

    /// A format, texts that have it, and texts that have not. Each claim was checked with the registry of
    /// kube-openapi.
    const CLAIMS: &[(&str, &[&str], &[&str])] = &[
        ("bson-object-id", &["507f1f77bcf86cd799439011"], &["507f1f77bcf86cd79943901", ""]),
        ("byte", &["YWJj", "YWI=", "YQ=="], &["", "YWJ", "YW-j", "YQ="]),
        ("cidr", &["10.0.0.0/8", "010.0.0.1/32", "::/0"], &["10.0.0.0", "10.0.0.0/33", "/8"]),
        ("creditcard", &["4220 8554 2622 2389", "374953669708156"], &["4220855426213389", ""]),
        ("date", &["2024-02-29", "0000-01-01"], &["2023-02-29", "2024-2-1", "24-01-01"]),
        (
            "date-time",
            &["2024-01-01T00:00:00Z", "2024-01-01t23:59:59.5+02:00", "2024-01-01T00:00:00,1z"],
            &[
                "2024-01-01",
                "2024-01-01T24:00:00Z",
                "2024-01-01T00:00:00",
                "nope",
                "2024-13-01T00:00:00Z",
            ],
        ),
        (
            "duration",
            &["1h", "0", "-1.5h", "3 days", "1.s", "2 Weeks", "5minutes"],
            &["", "1", "x", "1 x"],
        ),
        (
            "email",
            &["a@b", "A B <a@b.c>", "\"a b\"@c", "a@[127.0.0.1]", "a@b (c)"],
            &["a", "@b", "a@", ".a@b", "a..b@c", "a@b c", "a@[x]", "<a@b"],
        ),
        ("hexcolor", &["#fff", "00AAff"], &["#ff", "#ggg"]),
        (
            "hostname",
            &["a", "a-b.com", "localhost", "日本.jp", "1.com"],
            &["", "-a", "a.b", "a.c1", "a_b.com"],
        ),
        (
            "ipv4",
            &["10.0.0.1", "010.000.0.1", "::ffff:1.2.3.4"],
            &["x", "10.0.0", "256.0.0.1", "::1"],
        ),
        (
            "ipv6",
            &["::1", "2001:db8::68", "::ffff:1.2.3.4"],
            &["10.0.0.1", "::g", "fe80::1%eth0", "::ffff:01.2.3.4"],
        ),
        ("isbn", &["3836221195", "3 401 01319 X", "978-4-87311-368-5"], &["3836221196", "foo"]),
        ("k8s-short-name", &["a", "a-1"], &["", "A", "-a", "a.b"]),
        ("k8s-long-name", &["a.b", "a"], &["a..b", "a.", "A.b"]),
        (
            "mac",
            &["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "0123456789ab"],
            &["01:23", "01:23-45:67:89:ab", "x"],
        ),
        ("password", &["", "anything"], &[]),
        (
            "rgbcolor",
            &["rgb(0,31,255)", "rgb(0,  31, 255)"],
            &["rgb(1,349,275)", "rgb(01,31,255)", "rgb(1,2)"],
        ),
        ("ssn", &["111-22-3333", "111 22 3333"], &["111223333", "111-22-333"]),
        (
            "uri",
            &[
                "http://a.b/c?d#e",
                "/abs",
                "mailto:x@y",
                "http://[::1]:80/",
                "*",
                "http://u:p@h/",
                "x:y",
            ],
            &[
                "",
                "a.b",
                "./a",
                ":x",
                "http://a b/",
                "http://[::1",
                "http://h:x/",
                "/%zz",
                "http://[1.2.3.4]/",
                "http://a:b:1/",
            ],
        ),
        (
            "uuid",
            &["123e4567-e89b-12d3-a456-426614174000", "123E4567e89b12d3a456426614174000"],
            &["123e4567", ""],
        ),
        (
            "uuid4",
            &["123e4567-e89b-42d3-a456-426614174000"],
            &["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-42d3-c456-426614174000"],
        ),
    ];

    #[test]
    fn formats_accept_what_an_api_server_accepts() {
        for (format, good, bad) in CLAIMS {
            let rule = format_rule(format).expect("a format of the table");
            for text in *good {
                assert!(rule(text), "{format}: {text:?} is good");
            }
            for text in *bad {
                assert!(!rule(text), "{format}: {text:?} is bad");
            }
        }
        assert!(format_rule("cron").is_none());
    }
}
