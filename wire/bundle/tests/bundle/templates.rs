//! Templates, with bundles that are nothing but a name and a version.

use operon_bundle::{
    Icon, RenderedBundle,
    template::{TemplateKind, basic, detect, expand, semver, substitutes},
};

/// Renders `example.com/op:1.2.3` as a bundle `op.v1.2.3` of the package before the colon.
fn render(image: &str) -> Result<RenderedBundle, String> {
    let (repository, version) =
        image.rsplit_once(':').ok_or_else(|| "the registry does not answer".to_owned())?;
    let package = repository.rsplit('/').next().unwrap_or_default().to_owned();
    let version = version.replace('_', "+");
    Ok(RenderedBundle {
        name: format!("{package}.v{version}"),
        json: format!(
            r#"{{"image":"{image}","name":"{package}.v{version}","schema":"olm.bundle"}}"#
        ),
        description: format!("All about {version}"),
        icon: Some(Icon { data: b"GIF89a".to_vec(), media_type: "image/gif".to_owned() }),
        display_name: String::new(),
        release: String::new(),
        image: image.to_owned(),
        related_images: Vec::new(),
        channels: Vec::new(),
        default_channel: String::new(),
        replaces: String::new(),
        skips: Vec::new(),
        skip_range: String::new(),
        substitutes_for: String::new(),
        package,
        version,
    })
}

/// Writes a semver template; lists are versions between blanks.
fn semver_template(head: &str, lists: &[(&str, &str)]) -> String {
    let mut text = format!("schema: olm.semver\n{head}");
    for (archetype, versions) in lists {
        text.push_str(&format!("{archetype}:\n  bundles:\n"));
        for version in versions.split_whitespace() {
            text.push_str(&format!("  - image: example.com/op:{version}\n"));
        }
    }
    text
}

fn channels(head: &str, lists: &[(&str, &str)]) -> String {
    let documents = semver(semver_template(head, lists).as_bytes(), &mut render)
        .expect("bug: the example can be expanded");
    let short = |document: &String| {
        document
            .replace("\"schema\":\"olm.channel\"", "")
            .replace("\"package\":\"op\"", "")
            .replace(['"', '{', '}'], "")
    };
    let wanted = documents.iter().filter(|document| !document.contains("olm.bundle"));
    wanted.map(short).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_semver_template_makes_a_package_its_channels_and_its_bundles() {
    let text = semver_template("", &[("stable", "1.0.1 1.0.0")]);
    let documents = semver(text.as_bytes(), &mut render).unwrap();
    insta::assert_snapshot!(documents.join("\n"), @r#"
    {"defaultChannel":"stable-v1.0","description":"All about 1.0.1","icon":{"base64data":"R0lGODlh","mediatype":"image/gif"},"name":"op","schema":"olm.package"}
    {"entries":[{"name":"op.v1.0.0"},{"name":"op.v1.0.1","skips":["op.v1.0.0"]}],"name":"stable-v1.0","package":"op","schema":"olm.channel"}
    {"image":"example.com/op:1.0.0","name":"op.v1.0.0","schema":"olm.bundle"}
    {"image":"example.com/op:1.0.1","name":"op.v1.0.1","schema":"olm.bundle"}
    "#);
}

#[test]
fn major_channels_are_linked_by_minor() {
    let lists = [("stable", "1.2.1 1.1.0 1.1.1 1.2.0 2.0.0")];
    insta::assert_snapshot!(channels("generateMajorChannels: true\n", &lists), @"
    defaultChannel:stable-v2,description:All about 2.0.0,icon:base64data:R0lGODlh,mediatype:image/gif,name:op,schema:olm.package
    entries:[name:op.v1.1.0,name:op.v1.1.1,skips:[op.v1.1.0],name:op.v1.2.0,name:op.v1.2.1,replaces:op.v1.1.1,skips:[op.v1.1.0,op.v1.2.0]],name:stable-v1,,
    entries:[name:op.v2.0.0],name:stable-v2,,
    ");
}

#[test]
fn minor_channels_reach_back_to_the_minor_before() {
    let lists = [("Candidate", "1.1.0 1.1.1 1.2.0 1.2.1 1.3.0-rc.1"), ("fast", "1.1.0 1.2.1")];
    insta::assert_snapshot!(channels("GenerateMinorChannels: true\n", &lists), @"
    defaultChannel:fast-v1.2,description:All about 1.2.1,icon:base64data:R0lGODlh,mediatype:image/gif,name:op,schema:olm.package
    entries:[name:op.v1.1.0,name:op.v1.1.1,skips:[op.v1.1.0]],name:candidate-v1.1,,
    entries:[name:op.v1.2.0,name:op.v1.2.1,replaces:op.v1.1.1,skips:[op.v1.1.0,op.v1.2.0]],name:candidate-v1.2,,
    entries:[name:op.v1.3.0-rc.1,replaces:op.v1.2.1,skips:[op.v1.1.0,op.v1.1.1,op.v1.2.0]],name:candidate-v1.3,,
    entries:[name:op.v1.1.0],name:fast-v1.1,,
    entries:[name:op.v1.2.1,replaces:op.v1.1.0],name:fast-v1.2,,
    ");
}

#[test]
fn the_default_channel_follows_the_preference() {
    let both = "generateMajorChannels: true\ngenerateMinorChannels: true\n";
    let default = |head: &str| {
        channels(head, &[("candidate", "2.0.0"), ("fast", "1.0.0")])
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert!(default(both).starts_with("defaultChannel:fast-v1.0,"));
    let major = format!("{both}defaultChannelTypePreference: major\n");
    assert!(default(&major).starts_with("defaultChannel:fast-v1,"));
}

#[test]
fn a_basic_template_exchanges_its_bundles() {
    let text = "\
Schema: olm.template.basic
Entries:
- {schema: olm.package, name: op, defaultChannel: a}
- {schema: olm.channel, package: op, name: a, entries: [{name: op.v1.0.0}]}
- {Schema: olm.bundle, name: op.v1.0.0, Image: 'example.com/op:1.0.0'}
- {schema: custom, z: 1, a: <x>}
";
    let documents = basic(text.as_bytes(), &mut render).unwrap();
    insta::assert_snapshot!(documents.join("\n"), @r#"
    {"defaultChannel":"a","name":"op","schema":"olm.package"}
    {"entries":[{"name":"op.v1.0.0"}],"name":"a","package":"op","schema":"olm.channel"}
    {"image":"example.com/op:1.0.0","name":"op.v1.0.0","schema":"olm.bundle"}
    {"a":"<x>","schema":"custom","z":1}
    "#);
    assert_eq!(expand(text.as_bytes(), &mut render), Ok(documents));
}

#[test]
fn a_substitute_takes_over_the_edges_of_its_base() {
    let bundle = |version: &str| {
        format!(
            "- {{schema: olm.bundle, name: op.v{version}, package: op, image: i, properties: [{{type: olm.package, value: {{packageName: op, version: {version}}}}}]}}\n"
        )
    };
    let bundles = ["1.0.0", "1.1.0", "1.2.0"].map(bundle).concat();
    let text = format!(
        "schema: olm.template.substitutes\nentries:\n- schema: olm.channel\n  package: op\n  name: a\n  entries:\n  - {{name: op.v1.0.0}}\n  - {{name: op.v1.1.0, replaces: op.v1.0.0, skipRange: <1.1.0}}\n  - {{name: op.v1.2.0, replaces: op.v1.1.0}}\n{bundles}substitutions:\n- {{name: 'example.com/op:1.1.1', base: op.v1.1.0}}\n"
    );
    let documents = substitutes(text.as_bytes(), &mut render).unwrap();
    insta::assert_snapshot!(documents[0], @r#"{"entries":[{"name":"op.v1.0.0"},{"name":"op.v1.1.0"},{"name":"op.v1.2.0","replaces":"op.v1.1.1","skips":["op.v1.1.0"]},{"name":"op.v1.1.1","replaces":"op.v1.0.0","skipRange":"<1.1.0","skips":["op.v1.1.0"]}],"name":"a","package":"op","schema":"olm.channel"}"#);
    assert_eq!(documents.len(), 5);
    let lower = text.replace("op:1.1.1", "op:1.0.9");
    let unknown = text.replace("base: op.v1.1.0", "base: op.v3.0.0");
    let errors = [lower, unknown]
        .map(|text| substitutes(text.as_bytes(), &mut render).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @"
    line 14, column 3: the base `op.v1.1.0` has the version `1.1.0`, which is not lower than `1.0.9` of `op.v1.0.9`
    line 14, column 3: the base `op.v3.0.0` is not a bundle of this template
    ");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let stable = |versions: &str| semver_template("", &[("stable", versions)]);
    let cases = [
        String::new(),
        "schema: [".to_owned(),
        "- a".to_owned(),
        "schema: olm.semver\nstabel: {}\n".to_owned(),
        "schema: olm.semver\nstable: {}\nStable: {}\n".to_owned(),
        "schema: olm.semver\nstable: {}\nfast: {}\nstable: {}\n".to_owned(),
        "{\"schema\": \"olm.semver\", \"fast\": {}, \"fast\": {}}".to_owned(),
        "schema: olm.semver\nstable: {bundles: [{image: 7}]}\n".to_owned(),
        "schema: olm.semver\nstable: {bundles: [{}]}\n".to_owned(),
        "schema: olm.semver\n---\nschema: olm.semver\n".to_owned(),
        "schema: olm.semver\n".to_owned(),
        semver_template("generateMajorChannels: true\ndefaultChannelTypePreference: minor\n", &[]),
        semver_template("defaultChannelTypePreference: patch\n", &[]),
        "schema: olm.semver\nfast: {bundles: [{image: unknown}]}\n".to_owned(),
        stable("1.0.0 1.0.0"),
        stable("1.0.0_a 1.0.0_b"),
        stable("1.0"),
        format!("{}  - image: example.com/other:1.0.0\n", stable("1.0.0")),
        "schema: olm.template.basic\nentries: [{schema: olm.bundle, image: a, package: b}]\n"
            .to_owned(),
        "schema: olm.template.basic\nentries: [{schema: olm.bundle}]\n".to_owned(),
        "schema: olm.template.basic\nentries: [{name: x}]\n".to_owned(),
        "schema: olm.template.substitutes\nsubstitutions: [{name: a}]\n".to_owned(),
        "schema: olm.package\n".to_owned(),
    ];
    let messages = cases.map(|text| match detect(text.as_bytes()) {
        Some(TemplateKind::Basic) => basic(text.as_bytes(), &mut render),
        Some(TemplateKind::Substitutes) => substitutes(text.as_bytes(), &mut render),
        Some(TemplateKind::Semver) | None => semver(text.as_bytes(), &mut render),
    });
    let messages = messages.map(|result| result.unwrap_err().to_string());
    insta::assert_snapshot!(messages.join("\n"), @"
    the template is empty
    line 1, column 10: the template cannot be read: did not find expected node content while parsing a flow node
    line 1, column 1: a template must be an object, not array
    line 2, column 1: unknown field `stabel`; known are `schema`, `generateMajorChannels`, `generateMinorChannels`, `defaultChannelTypePreference`, `candidate`, `fast`, `stable`
    line 3, column 1: `stable` is given twice
    line 4, column 1: `stable` is given twice
    line 1, column 38: `fast` is given twice
    line 2, column 28: `image` must be a string, not number
    line 2, column 20: a bundle must have an `image`
    line 3, column 1: a template is one document, but here a second one begins
    the template names no bundle; list images under `candidate`, `fast` or `stable`
    line 3, column 31: `defaultChannelTypePreference` is `minor`, but no minor channels are generated
    line 2, column 31: `defaultChannelTypePreference` is `patch`, but must be `minor` or `major`
    line 2, column 26: cannot render `unknown`: the registry does not answer
    line 5, column 12: the bundle `op.v1.0.0` is listed twice under `stable`
    line 5, column 12: the versions `1.0.0+a` of `op.v1.0.0+a` and `1.0.0+b` of `op.v1.0.0+b` differ by build metadata at most, so they have no order
    line 4, column 12: the bundle `op.v1.0` has the version `1.0`: No Major.Minor.Patch elements found
    line 5, column 12: `example.com/other:1.0.0` belongs to the package `other`, but `example.com/op:1.0.0` to `op`; a template is about one package
    line 2, column 51: a bundle of a basic template has only `schema` and `image`; `package` comes from the image
    line 2, column 11: a bundle of a basic template must have an `image`
    line 2, column 11: an entry must say what it is in its `schema`
    line 2, column 17: a substitution must have a `name`, which is an image, and a `base`, which is a bundle
    line 1, column 9: the schema of this template is `olm.package`, but must be `olm.semver`
    ");
    assert!(
        expand(b"schema: olm.package", &mut render)
            .unwrap_err()
            .message
            .contains("olm.template.basic")
    );
}
