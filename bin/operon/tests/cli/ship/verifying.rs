//! `--signature-policy`, through the program itself; the rules are tested in `shell/image`.

use super::dock::{Dock, said};

#[test]
fn signature_policy_applies_to_every_pulling_command() {
    let dock = Dock::new();
    dock.example("catalog", "one");
    dock.operon(&["catalog", "build", "one", "-t", "oci:layout:v1"]).done();
    dock.write("accept.json", r#"{"default": [{"type": "insecureAcceptAnything"}]}"#);
    dock.write("reject.json", r#"{"default": [{"type": "reject"}]}"#);
    dock.write("broken.json", "{\n  \"default\": [{\"type\": \"rejected\"}]\n}");
    let list = |policy: &str| {
        let arguments = ["catalog", "list", "packages", "oci:layout:v1"];
        dock.operon(&[&arguments[..], &["--signature-policy", policy]].concat())
    };
    let expected = list("accept.json").done();
    let rejected = list("reject.json").refused();
    let reason = "`oci:layout:v1` is rejected by the global default in the signature policy \
                  `reject.json`: the entry is `reject`";
    assert!(rejected.contains(reason), "{rejected}");
    let broken = list("broken.json").refused();
    let reason = "cannot use the signature policy `broken.json`: line 2: `default[0].type`: unknown \
                  requirement `rejected`";
    assert!(broken.contains(reason), "{broken}");
    assert!(list("missing.json").refused().contains("missing.json"));

    // A directory of documents is not an image, and the environment does what the option does.
    let with_variable = |arguments: &[&str]| {
        said(dock.command(arguments).env("OPERON_SIGNATURE_POLICY", "reject.json"))
    };
    assert_eq!(with_variable(&["catalog", "list", "packages", "one"]).done(), expected);
    for command in [
        &["catalog", "list", "packages", "oci:layout:v1"][..],
        &["catalog", "check", "oci:layout:v1"],
        &["bundle", "show", "oci:layout:v1"],
    ] {
        let rejected = with_variable(command).refused();
        assert!(rejected.contains("the entry is `reject`"), "{command:?}: {rejected}");
    }
}
