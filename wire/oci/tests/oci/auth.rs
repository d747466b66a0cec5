//! Challenges, tokens, files of credentials, helpers, and what registries say when they refuse.

use operon_document::encode_base64;
use operon_oci::{
    AuthFile, Challenge, Credentials, ErrorBody, Found, Reference, Token, helper_program,
    helper_reply,
};
use proptest::prelude::*;

fn bearer(realm: &str, service: Option<&str>, scope: Option<&str>) -> Challenge {
    Challenge::Bearer {
        realm: realm.to_owned(),
        service: service.map(str::to_owned),
        scope: scope.map(str::to_owned),
        error: None,
    }
}

#[test]
fn challenges_are_read_as_registries_write_them() {
    let basic = |realm: Option<&str>| Challenge::Basic { realm: realm.map(str::to_owned) };
    let rows: [(&str, Vec<Challenge>); 11] = [
        (
            r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull""#,
            vec![bearer(
                "https://auth.docker.io/token",
                Some("registry.docker.io"),
                Some("repository:library/nginx:pull"),
            )],
        ),
        (
            r#"bearer realm = "https://a/t" , service=b"#,
            vec![bearer("https://a/t", Some("b"), None)],
        ),
        (r#"Basic realm="Registry Realm""#, vec![basic(Some("Registry Realm"))]),
        ("Basic", vec![basic(None)]),
        (
            r#"Basic realm="a, Bearer realm=b", Bearer realm="https://c""#,
            vec![basic(Some("a, Bearer realm=b")), bearer("https://c", None, None)],
        ),
        (r#"Bearer realm="https://a\"b\\c""#, vec![bearer(r#"https://a"b\c"#, None, None)]),
        (
            r#"Bearer realm="https://a",scope="repository:a:pull,push""#,
            vec![bearer("https://a", None, Some("repository:a:pull,push"))],
        ),
        (r#"Bearer realm="https://a",realm="https://evil""#, vec![bearer("https://a", None, None)]),
        (
            r#"Negotiate, Basic realm="a""#,
            vec![Challenge::Other { scheme: "Negotiate".to_owned() }, basic(Some("a"))],
        ),
        (r#"Bearer service="a""#, vec![]),
        (r#"Bearer realm="https://unfinished"#, vec![bearer("https://unfinished", None, None)]),
    ];
    for (header, expected) in rows {
        assert_eq!(Challenge::parse(header), expected, "{header}");
    }
    assert_eq!(Challenge::parse(&"a ".repeat(20_000)), [], "too long to be meant");
}

#[test]
fn tokens_are_bounded_and_stay_secret() {
    let rows = [
        (r#"{"token":"abc"}"#, Ok(("abc", 60))),
        (
            r#"{"access_token":"abc","expires_in":300,"issued_at":"2026-11-16T05:54:39Z"}"#,
            Ok(("abc", 300)),
        ),
        (r#"{"token":"","access_token":"abc","expires_in":-1}"#, Ok(("abc", 60))),
        (r#"{"token":"abc","expires_in":1e300}"#, Ok(("abc", 60))),
        (r#"{"token":"abc","expires_in":99999999999}"#, Ok(("abc", 86_400))),
        ("{}", Err("has neither `token` nor `access_token`")),
        ("<html>login</html>", Err("is not JSON")),
        (r#"{"token":"a\r\nX-Evil: 1"}"#, Err("characters that no header may have")),
    ];
    for (text, expected) in rows {
        match (Token::parse(text.as_bytes()), expected) {
            (Ok(token), Ok((secret, seconds))) => {
                assert_eq!((token.secret(), token.lifetime.as_secs()), (secret, seconds), "{text}");
                assert!(!format!("{token:?}").contains("abc"), "a token is not shown");
            }
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }
    assert!(Token::parse(&vec![b' '; 2 << 20]).is_err());
}

fn found(file: &str, image: &str) -> String {
    let file = AuthFile::parse(file.as_bytes()).expect(file);
    match file.lookup(&Reference::parse(image).expect(image)) {
        Found::Credentials(Credentials::Basic { user, password }) => format!("{user}:{password}"),
        Found::Credentials(Credentials::IdentityToken { token }) => format!("token {token}"),
        Found::Credentials(Credentials::Anonymous) => "anonymous".to_owned(),
        Found::Helper { name, server } => format!("{name} for {server}"),
        Found::Unusable { key, reason } => format!("{key}: {reason}"),
        Found::None => "none".to_owned(),
    }
}

#[test]
fn the_most_specific_entry_for_an_image_wins() {
    let auth =
        |user: &str| format!(r#"{{"auth":"{}"}}"#, encode_base64(format!("{user}:pw").as_bytes()));
    let file = format!(
        r#"{{"auths":{{
            "https://index.docker.io/v1/":{}, "quay.io":{}, "quay.io/org":{}, "quay.io/org/repo":{},
            "https://Old.io/v2/":{}, "*.azurecr.io":{}, "special.azurecr.io":{}, "localhost:5000":{},
            "plain.io":{{"username":"u","password":"p:w"}},
            "token.io":{{"auth":"dTpw","identitytoken":"secret"}},
            "empty.io":{{}}, "broken.io":{{"auth":"!!"}}, "colon.io":{{"auth":"dXNlcg=="}}
        }},"credHelpers":{{"helped.io":"ecr-login","evil.io":"../../bin/sh"}}}}"#,
        auth("hub"),
        auth("quay"),
        auth("org"),
        auth("repo"),
        auth("old"),
        auth("azure"),
        auth("special"),
        auth("local"),
    );
    let rows = [
        ("nginx", "hub:pw"),
        ("quay.io/other/a", "quay:pw"),
        ("quay.io/org/a", "org:pw"),
        ("quay.io/organisation/a", "quay:pw"),
        ("quay.io/org/repo:v1", "repo:pw"),
        ("QUAY.io/org/repo", "repo:pw"),
        ("old.io/a", "old:pw"),
        ("some.azurecr.io/a", "azure:pw"),
        ("special.azurecr.io/a", "special:pw"),
        ("a.b.azurecr.io/a", "none"),
        ("localhost:5000/a", "local:pw"),
        ("localhost:5001/a", "none"),
        ("plain.io/a", "u:p:w"),
        ("token.io/a", "token secret"),
        ("empty.io/a", "none"),
        ("broken.io/a", "broken.io: its `auth` is not base64"),
        ("colon.io/a", "colon.io: its `auth` has no `:` between name and password"),
        ("helped.io/a", "ecr-login for helped.io"),
        (
            "evil.io/a",
            "evil.io: `../../bin/sh` is no name of a credential helper; letters, digits, `-`, `_` and `.` are allowed",
        ),
        ("unknown.io/a", "none"),
    ];
    for (image, expected) in rows {
        assert_eq!(found(&file, image), expected, "{image}");
    }
    let shown = format!("{:?}", AuthFile::parse(file.as_bytes()).expect("sound"));
    assert!(shown.contains("quay.io/org") && !shown.contains("pw") && !shown.contains("secret"));
}

#[test]
fn files_have_several_forms() {
    let store = r#"{"auths":{"https://index.docker.io/v1/":{}},"credsStore":"desktop"}"#;
    assert_eq!(found(store, "nginx"), "desktop for https://index.docker.io/v1/");
    assert_eq!(found(store, "quay.io/a"), "desktop for quay.io");
    assert_eq!(
        found(r#"{"quay.io":{"auth":"dTpw","email":"a@b"}}"#, "quay.io/a"),
        "u:p",
        "the oldest form"
    );
    assert_eq!(
        found(r#"{"auths":{"quay.io":{"auth":"dTpwAAA="}}}"#, "quay.io/a"),
        "u:p",
        "zero bytes behind"
    );
    assert_eq!(found(r#"{"HttpHeaders":{"User-Agent":"x"}}"#, "quay.io/a"), "none");
    assert_eq!(found("", "quay.io/a"), "none", "an empty file");
    assert_eq!(found(r#"{"auths":null}"#, "quay.io/a"), "none");
    for wrong in ["[]", "{", r#"{"auths":[]}"#, r#"{"credHelpers":"a"}"#] {
        assert!(AuthFile::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn helpers_are_programs_with_one_kind_of_answer() {
    assert_eq!(helper_program("ecr-login").expect("sound"), "docker-credential-ecr-login");
    assert!(helper_program("a/b").is_err() && helper_program("").is_err());
    let basic = Credentials::Basic { user: "u".to_owned(), password: "hush".to_owned() };
    let reply = helper_reply(true, br#"{"ServerURL":"quay.io","Username":"u","Secret":"hush"}"#);
    assert_eq!(reply, Ok(basic.clone()));
    assert_eq!(basic.basic_header().as_deref(), Some("Basic dTpodXNo"));
    assert!(!format!("{basic:?}").contains("hush"));
    let token = Credentials::IdentityToken { token: "hush".to_owned() };
    assert!(!format!("{token:?}").contains("hush"));
    assert_eq!(helper_reply(true, br#"{"Username":"<token>","Secret":"hush"}"#), Ok(token));
    let missing = helper_reply(false, b"credentials not found in native keychain\n");
    assert_eq!(missing, Ok(Credentials::Anonymous));
    let failed = helper_reply(false, b"no session\x1b[2J\n").expect_err("it failed").to_string();
    assert_eq!(failed, "the credential helper failed: no session [2J");
    assert!(helper_reply(true, b"hush").is_err_and(|error| !error.to_string().contains("hush")));
}

#[test]
fn refusals_become_one_line() {
    let rows: [(&[u8], &[&str], &str); 7] = [
        (
            br#"{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown","detail":{"Tag":"v1"}}]}"#,
            &["MANIFEST_UNKNOWN"],
            "manifest unknown (MANIFEST_UNKNOWN)",
        ),
        (
            br#"{"errors":[{"code":"DENIED","message":""},{"code":"X","message":"y","detail":"z"}]}"#,
            &["DENIED", "X"],
            "DENIED; y (X)",
        ),
        (br#"{"message":"rate limited"}"#, &[], "rate limited"),
        (br#"{"a":1}"#, &[], r#"{"a":1}"#),
        (b"<html>\n  <b>502</b>\r\n</html>", &[], "<html> <b>502</b> </html>"),
        (b"\x1b[31mred\xff", &[], "[31mred\u{fffd}"),
        (b"", &[], ""),
    ];
    for (body, codes, line) in rows {
        let body = ErrorBody::parse(body);
        assert_eq!(
            (body.line.as_str(), body.codes.as_slice()),
            (line, codes.iter().map(|code| (*code).to_owned()).collect::<Vec<_>>().as_slice())
        );
    }
    assert!(ErrorBody::parse(&vec![b'x'; 1 << 20]).line.chars().count() <= 201);
}

proptest! {
    #[test]
    fn nothing_that_is_sent_breaks_a_reader(text in ".{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Challenge::parse(&text);
        let _ = Token::parse(&bytes);
        let _ = AuthFile::parse(&bytes);
        let _ = ErrorBody::parse(&bytes);
        let _ = helper_reply(bytes.len() % 2 == 0, &bytes);
    }
}
