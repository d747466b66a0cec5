//! `registries.conf`: where images are really fetched from.

use operon_oci::{Digest, Reference, RegistriesConf};

const CONF: &str = r#"
unqualified-search-registries = ["docker.io", "quay.io"]
short-name-mode = "permissive"

[[registry]]
prefix = "quay.io"
location = "quay.io"
[[registry.mirror]]
location = "mirror.local:5000/quay"
insecure = true
[[registry.mirror]]
location = "digests.local/quay"
pull-from-mirror = "digest-only"
[[registry.mirror]]
location = "tags.local/quay"
pull-from-mirror = "tag-only"

[[registry]]
prefix = "quay.io/org"
location = "Elsewhere.io/team/"
mirror-by-digest-only = true
[[registry.mirror]]
location = "mirror.io/org"

[[registry]]
prefix = "*.corp"
location = "hub.corp.io"
[[registry]]
prefix = "*.lab.corp"
insecure = true
[[registry]]
location = "bad.io"
blocked = true
[[registry]]
location = "docker.io"
[[registry.mirror]]
location = "hub.local"
"#;

fn candidates(conf: &RegistriesConf, image: &str) -> String {
    match conf.candidates(&Reference::parse(image).expect(image)) {
        Ok(endpoints) => endpoints
            .iter()
            .map(|endpoint| {
                let insecure = if endpoint.insecure { " insecure" } else { "" };
                format!("{}{insecure}", endpoint.reference)
            })
            .collect::<Vec<_>>()
            .join(", "),
        Err(blocked) => blocked.to_string(),
    }
}

#[test]
fn mirrors_come_first_and_the_longest_prefix_wins() {
    let conf = RegistriesConf::parse(CONF).expect("sound");
    let digest = Digest::of(b"");
    let rows = [
        ("other.io/a", "other.io/a:latest".to_owned()),
        (
            "quay.io/a:v1",
            "mirror.local:5000/quay/a:v1 insecure, tags.local/quay/a:v1, quay.io/a:v1".to_owned(),
        ),
        (
            &*format!("quay.io/a@{digest}"),
            format!("mirror.local:5000/quay/a@{digest} insecure, digests.local/quay/a@{digest}, quay.io/a@{digest}"),
        ),
        ("quay.io/org/a:v1", "elsewhere.io/team/a:v1".to_owned()),
        (
            &*format!("quay.io/org/a:v1@{digest}"),
            format!("mirror.io/org/a:v1@{digest}, elsewhere.io/team/a:v1@{digest}"),
        ),
        ("quay.io/organisation/a:v1", "mirror.local:5000/quay/organisation/a:v1 insecure, tags.local/quay/organisation/a:v1, quay.io/organisation/a:v1".to_owned()),
        ("QUAY.io/org/a:v1", "elsewhere.io/team/a:v1".to_owned()),
        ("x.corp/a:v1", "hub.corp.io/a:v1".to_owned()),
        ("x.y.corp:5000/a:v1", "hub.corp.io:5000/a:v1".to_owned()),
        ("x.lab.corp/a:v1", "x.lab.corp/a:v1 insecure".to_owned()),
        ("corp.io/a:v1", "corp.io/a:v1".to_owned()),
        ("bad.io/a", "`bad.io/a:latest` is blocked by the entry `bad.io` of registries.conf".to_owned()),
        ("bad.io:5000/a", "`bad.io:5000/a:latest` is blocked by the entry `bad.io` of registries.conf".to_owned()),
        ("nginx", "hub.local/library/nginx:latest, docker.io/library/nginx:latest".to_owned()),
    ];
    for (image, expected) in rows {
        assert_eq!(candidates(&conf, image), expected, "{image}");
    }
    assert_eq!(conf.unqualified_search_registries(), ["docker.io", "quay.io"]);
}

#[test]
fn a_later_file_wins() {
    let first = RegistriesConf::parse(CONF).expect("sound");
    let later =
        "[[registry]]\nlocation = \"bad.io\"\n[[registry]]\nprefix=\"quay.io\"\nlocation=\"q.io\"";
    let merged = first.clone().merged_with(RegistriesConf::parse(later).expect("sound"));
    assert_eq!(candidates(&merged, "bad.io/a"), "bad.io/a:latest");
    assert_eq!(candidates(&merged, "quay.io/a"), "q.io/a:latest");
    assert_eq!(
        merged.unqualified_search_registries().len(),
        2,
        "what a later file leaves out stays"
    );
    let emptied = RegistriesConf::parse("unqualified-search-registries = []").expect("sound");
    assert!(first.merged_with(emptied).unqualified_search_registries().is_empty());
}

#[test]
fn wrong_files_are_told_by_their_line() {
    let rows = [
        ("[[registry]\n", "is not TOML: line 1"),
        ("a = 1\n\nb = \n", "is not TOML: line 3"),
        ("[registries.search]\nregistries = ['a']", "is of version 1"),
        (
            "\n[[registry]]\ninsecure = true",
            "line 2: a `[[registry]]` needs a `location` or a `prefix`",
        ),
        (
            "[[registry]]\nprefix = 'a.io'",
            "line 1: a `[[registry]]` needs a `location`, unless its `prefix` begins with `*.`",
        ),
        (
            "[[registry]]\nlocation = 7",
            "line 2: `location` should be a text, not of the type integer",
        ),
        (
            "[[registry]]\nlocation = 'a.io'\nblocked = 'yes'",
            "line 3: `blocked` should be `true` or `false`",
        ),
        (
            "[[registry]]\nlocation = 'https://a.io'",
            "`https://a.io` is no location: the image reference `https://a.io` begins with `https://`",
        ),
        (
            "[[registry]]\nlocation = 'name'\n",
            "`name` is no location: it does not begin with a host",
        ),
        ("[registry]\nlocation = 'a.io'", "should be written as `[[registry]]`"),
        (
            "[[registry]]\nlocation='a.io'\n[[registry.mirror]]\ninsecure=true",
            "line 3: a `[[registry.mirror]]` needs a `location`",
        ),
        (
            "[[registry]]\nlocation='a.io'\n[[registry.mirror]]\nlocation='b.io'\npull-from-mirror='x'",
            "not `x`",
        ),
        (
            "[[registry]]\nlocation='a.io'\nmirror-by-digest-only=true\n[[registry.mirror]]\nlocation='b.io'\npull-from-mirror='all'",
            "contradicts",
        ),
    ];
    for (text, expected) in rows {
        let message = RegistriesConf::parse(text).expect_err(text).to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}
