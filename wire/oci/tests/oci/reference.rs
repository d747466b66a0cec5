//! References: Docker's normalisation as a table, wrong ones with their words, and round trips.

use operon_oci::{Digest, Reference};
use proptest::prelude::*;

const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn names_are_normalised_as_docker_does() {
    let digested = format!("quay.io/a/b:v1@sha256:{HEX}");
    let digest_only = format!("quay.io/a/b@sha256:{HEX}");
    let rows = [
        ("nginx", "docker.io/library/nginx:latest", "nginx"),
        ("nginx:1.27", "docker.io/library/nginx:1.27", "nginx:1.27"),
        ("bitnami/redis", "docker.io/bitnami/redis:latest", "bitnami/redis"),
        ("docker.io/nginx", "docker.io/library/nginx:latest", "nginx"),
        ("index.docker.io/library/nginx", "docker.io/library/nginx:latest", "nginx"),
        ("docker.io/localhost/a", "docker.io/localhost/a:latest", "docker.io/localhost/a"),
        ("localhost/a", "localhost/a:latest", "localhost/a"),
        ("localhost:5000/a", "localhost:5000/a:latest", "localhost:5000/a"),
        ("Registry.Example/a", "Registry.Example/a:latest", "Registry.Example/a"),
        ("UPPER/a", "UPPER/a:latest", "UPPER/a"),
        ("[::1]:5000/a:v1", "[::1]:5000/a:v1", "[::1]:5000/a:v1"),
        ("[fd00::1]/a", "[fd00::1]/a:latest", "[fd00::1]/a"),
        ("a__b/c--d.e", "docker.io/a__b/c--d.e:latest", "a__b/c--d.e"),
        (&digested, &digested, &digested),
        (&digest_only, &digest_only, &digest_only),
    ];
    for (text, full, familiar) in rows {
        let reference = Reference::parse(text).expect(text);
        assert_eq!(reference.to_string(), full);
        assert_eq!(reference.familiar(), familiar);
        assert_eq!(Reference::parse(full).expect(full), reference, "the full form means the same");
        assert_eq!(Reference::parse(familiar).expect(familiar), reference, "and so the familiar");
    }
    let hub = Reference::parse("nginx").expect("sound");
    assert_eq!((hub.registry(), hub.registry_host()), ("docker.io", "registry-1.docker.io"));
    let digest = Digest::of(b"");
    let pinned = hub.with_digest(digest.clone());
    assert_eq!(pinned.to_string(), format!("docker.io/library/nginx:latest@{digest}"));
    assert_eq!(pinned.manifest_name(), digest.to_string(), "the digest wins");
    assert_eq!(pinned.without_tag().tag(), None);
    assert_eq!(pinned.with_tag("v2").expect("sound").to_string(), "docker.io/library/nginx:v2");
    assert_eq!(hub.without_tag(), hub, "without a digest the tag is needed");
}

#[test]
fn wrong_references_are_told_by_their_part() {
    let long_tag = format!("a:{}", "x".repeat(129));
    let long_name = format!("a/{}", "x".repeat(300));
    let rows = [
        ("", "is empty"),
        (
            "Nginx",
            "the repository `library/Nginx` of an image reference must not have capital letters; write `library/nginx`",
        ),
        ("quay.io/Org/a", "capital letters; write `org/a`"),
        ("https://quay.io/a", "begins with `https://`"),
        ("docker://quay.io/a", "begins with `docker://`"),
        ("quay.io/", "the repository `quay.io/` of an image reference is missing"),
        ("quay.io/a//b", "empty part"),
        ("/a", "empty part"),
        ("a:", "the tag `` of an image reference is empty"),
        ("a:-x", "must begin with"),
        ("a:b c", "the tag `b c` of an image reference may have"),
        ("a b", "may have small letters"),
        ("quay.io:port/a", "has a port that is no number"),
        ("quay.io:99999/a", "has a port that is no number"),
        ("quay..io/a", "is no host"),
        ("-quay.io/a", "is no host"),
        ("[::1/a", "the registry"),
        ("[::zz]:1/a", "no IPv6 address"),
        ("a/../b", "begins or ends with"),
        ("a/b.-c", "separators in a row"),
        ("a@sha256:12", "a sha256 digest has 64 digits, this one has 2"),
        ("a@md5:12", "the digest algorithm `md5` is not known"),
        ("a@latest", "has no `:`"),
        (HEX, "is the id of an image"),
        (&long_tag, "the tag of an image reference has 129 characters, more than 128"),
        (&long_name, "the repository of an image reference has 302 characters, more than 255"),
        ("a/b\u{1b}[2J", "the repository `a/b [2J`"),
    ];
    for (text, expected) in rows {
        let message = Reference::parse(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{text:?}: {message}");
    }
}

#[test]
fn digests_are_those_of_their_content() {
    assert_eq!(Digest::of(b"").to_string(), format!("sha256:{HEX}"));
    let mut verifier = operon_oci::Verifier::new(Digest::of(b"abc"));
    verifier.update(b"a");
    verifier.update(b"bc");
    assert_eq!((verifier.length(), verifier.finish()), (3, Ok(Digest::of(b"abc"))));
    let mut verifier = operon_oci::Verifier::new(Digest::of(b"abc"));
    verifier.update(b"abd");
    assert_eq!(verifier.finish(), Err(Digest::of(b"abd")));
    let sha512 = format!(
        "sha512:{}",
        "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    );
    let empty = operon_oci::Verifier::new(Digest::parse(&sha512).expect("sound"));
    assert_eq!(empty.finish().expect("the digest of nothing").to_string(), sha512);
    for wrong in ["", "sha256", "sha256:", "SHA256:00", &format!("sha256:{}", HEX.to_uppercase())] {
        assert!(Digest::parse(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_written_and_read_again(text in "([a-zA-Z0-9.:-]{1,12}/)?[a-z0-9._/-]{1,20}(:[a-zA-Z0-9._-]{1,8})?") {
        if let Ok(reference) = Reference::parse(&text) {
            prop_assert_eq!(&Reference::parse(&reference.to_string()).expect("its own words"), &reference);
            prop_assert_eq!(&Reference::parse(&reference.familiar()).expect("its own words"), &reference);
        }
    }

    #[test]
    fn any_text_is_a_reference_or_an_error(text in ".{0,80}") {
        let _ = Reference::parse(&text);
        let _ = Digest::parse(&text);
    }
}
