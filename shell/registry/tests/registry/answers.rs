//! What each call answers, as a table of claims over one small catalog.

use operon_registry::{Client, ClientError, api};

use crate::content::{HARBOUR, MemoryContent, connect, serve};

fn provider(kind: &str) -> api::GetAllProvidersRequest {
    let [group, version, plural] = ["crane.example.com", "v1", "ignored"].map(str::to_owned);
    api::GetAllProvidersRequest { group, version, kind: kind.to_owned(), plural }
}

fn latest(kind: &str) -> api::GetLatestProvidersRequest {
    let api::GetAllProvidersRequest { group, version, kind, plural } = provider(kind);
    api::GetLatestProvidersRequest { group, version, kind, plural }
}

fn default_of(kind: &str) -> api::GetDefaultProviderRequest {
    let api::GetAllProvidersRequest { group, version, kind, plural } = provider(kind);
    api::GetDefaultProviderRequest { group, version, kind, plural }
}

fn replacement(csv: &str, package: &str, channel: &str) -> api::GetReplacementRequest {
    let [csv_name, pkg_name, channel_name] = [csv, package, channel].map(str::to_owned);
    api::GetReplacementRequest { csv_name, pkg_name, channel_name }
}

fn bundle(package: &str, channel: &str, csv: &str) -> api::GetBundleRequest {
    let [pkg_name, channel_name, csv_name] = [package, channel, csv].map(str::to_owned);
    api::GetBundleRequest { pkg_name, channel_name, csv_name }
}

fn head(package: &str, channel: &str) -> api::GetBundleInChannelRequest {
    let [pkg_name, channel_name] = [package, channel].map(str::to_owned);
    api::GetBundleInChannelRequest { pkg_name, channel_name }
}

/// One line for a bundle: its channel, its name and what a single bundle must not say.
fn shown(bundle: Result<api::Bundle, ClientError>) -> String {
    match bundle {
        Ok(bundle) => {
            assert_eq!((bundle.replaces.as_str(), bundle.skips.len()), ("", 0));
            format!("{}/{}", bundle.channel_name, bundle.csv_name)
        }
        Err(error) => refusal(&error),
    }
}

fn refusal(error: &ClientError) -> String {
    match error {
        ClientError::Refused { code, message, .. } => format!("{code}: {message}"),
        other => other.to_string(),
    }
}

/// One line for entries: `channel/bundle<replaced`, joined.
fn listed<I>(entries: Result<I, ClientError>) -> String
where
    I: Iterator<Item = Result<api::ChannelEntry, ClientError>>,
{
    let entries: Result<Vec<api::ChannelEntry>, ClientError> = entries.and_then(Iterator::collect);
    match entries {
        Ok(entries) => {
            let line = |e: &api::ChannelEntry| {
                format!("{}/{}<{}", e.channel_name, e.bundle_name, e.replaces)
            };
            entries.iter().map(line).collect::<Vec<_>>().join(" ")
        }
        Err(error) => refusal(&error),
    }
}

#[test]
fn each_call_answers_in_the_order_of_names_and_refuses_in_upstreams_words() {
    let (_server, listening) = serve(MemoryContent::of_text(HARBOUR));
    let client: Client = connect(&listening);
    let names: Vec<String> =
        client.list_packages().unwrap().map(|name| name.unwrap().name).collect();
    assert_eq!(names, ["crane"], "a package without a head is left out");
    let package = client.get_package("crane").unwrap();
    assert_eq!(package.deprecation.unwrap().message, "cranes are old");
    assert_eq!(package.default_channel_name, "stable");
    let channels: Vec<(&str, &str)> =
        package.channels.iter().map(|c| (c.name.as_str(), c.csv_name.as_str())).collect();
    assert_eq!(channels, [("beta", "crane.v2"), ("stable", "crane.v2")]);

    let none = "Unknown: no channel entries found that provide \
                group:\"crane.example.com\" version:\"v1\" kind:\"Whale\"";
    let all = "beta/crane.v2< beta/crane.v2<crane.v1 stable/crane.v1< stable/crane.v2<crane.v1 \
               stable/crane.v2<crane.v1a stable/crane.v2<crane.v0";
    let heads = "beta/crane.v2< stable/crane.v2<crane.v1 stable/crane.v2<crane.v1a";
    let claims = [
        (shown(client.get_bundle(&bundle("crane", "stable", "crane.v1"))), "stable/crane.v1"),
        (
            shown(client.get_bundle(&bundle("ship", "stable", "crane.v1"))),
            "Unknown: package \"ship\" not found",
        ),
        (
            shown(client.get_bundle(&bundle("crane", "rope", "crane.v1"))),
            "Unknown: package \"crane\", channel \"rope\" not found",
        ),
        (
            shown(client.get_bundle(&bundle("crane", "stable", "x"))),
            "Unknown: package \"crane\", channel \"stable\", bundle \"x\" not found",
        ),
        (shown(client.get_bundle_for_channel(&head("crane", "stable"))), "stable/crane.v2"),
        (
            shown(client.get_bundle_for_channel(&head("crane", "rope"))),
            "Unknown: package \"crane\", channel \"rope\" not found",
        ),
        (
            shown(client.get_bundle_that_replaces(&replacement("crane.v1", "crane", "stable"))),
            "stable/crane.v2",
        ),
        (
            shown(client.get_bundle_that_replaces(&replacement("crane.v9", "crane", "stable"))),
            "Unknown: no entry found for package \"crane\", channel \"stable\"",
        ),
        (
            shown(client.get_bundle_that_replaces(&replacement("crane.v1", "ship", "stable"))),
            "Unknown: package ship not found",
        ),
        (
            listed(client.get_channel_entries_that_replace("crane.v1")),
            "beta/crane.v2< stable/crane.v1a<crane.v1 stable/crane.v2<crane.v1",
        ),
        (
            listed(client.get_channel_entries_that_replace("x")),
            "Unknown: no channel entries found that replace x",
        ),
        (listed(client.get_channel_entries_that_provide(&provider("Crane"))), all),
        (listed(client.get_channel_entries_that_provide(&provider("Whale"))), none),
        (listed(client.get_latest_channel_entries_that_provide(&latest("Crane"))), heads),
        (listed(client.get_latest_channel_entries_that_provide(&latest("Whale"))), none),
        (shown(client.get_default_bundle_that_provides(&default_of("Crane"))), "stable/crane.v2"),
        (shown(client.get_default_bundle_that_provides(&default_of("Whale"))), none),
    ];
    for (position, (got, expected)) in claims.into_iter().enumerate() {
        assert_eq!(got, expected, "claim {position}");
    }
    let left_out = refusal(&client.get_package("wreck").unwrap_err());
    assert!(left_out.starts_with("Unknown: package \"wreck\" not found: it is left out because "));
}

#[test]
fn bodies_come_with_single_bundles_and_where_no_image_has_them() {
    let (_server, listening) = serve(MemoryContent::of_text(HARBOUR));
    let client = connect(&listening);
    let inlined = client.get_bundle(&bundle("crane", "stable", "crane.v1")).unwrap();
    assert!(inlined.csv_json.contains("\"crane.v1\""));
    assert_eq!(inlined.object.len(), 2);
    let made = client.get_bundle(&bundle("crane", "stable", "crane.v2")).unwrap();
    assert!(made.csv_json.contains("\"displayName\":\"Crane\""), "{}", made.csv_json);
    assert!(made.csv_json.contains("\"description\":\"Lifts things.\""), "{}", made.csv_json);
    assert!(made.csv_json.contains("aGk="), "the package lends its icon");
    assert_eq!(made.object, [made.csv_json.as_str()]);
    let kinds: Vec<(&str, &str)> =
        made.dependencies.iter().map(|d| (d.r#type.as_str(), d.value.as_str())).collect();
    assert_eq!(
        kinds,
        [
            ("olm.gvk", r#"{"group":"tide.example.com","kind":"Tide","version":"v1"}"#),
            ("olm.package", r#"{"packageName":"tide","version":">=1.0.0"}"#),
        ]
    );
    for listed in client.list_bundles().unwrap() {
        let listed = listed.unwrap();
        assert_eq!(listed.bundle_path.is_empty(), !listed.csv_json.is_empty(), "{listed:?}");
    }
}

#[test]
fn documents_of_other_schemas_are_listed_for_those_who_ask_for_them_knowingly() {
    let (_server, listening) = serve(MemoryContent::of_text(HARBOUR));
    let client = connect(&listening);
    let of = |schema: &str, package: &str| -> Result<Vec<String>, String> {
        let documents = client.list_custom_schemas(schema, package);
        let documents = documents.and_then(Iterator::collect::<Result<Vec<_>, _>>);
        documents
            .map(|found| found.iter().map(|document| format!("{document:?}")).collect())
            .map_err(|error| refusal(&error))
    };
    let found = of("example.lifecycle", "crane").unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("12.5") && found[0].contains("NullValue"), "{found:?}");
    assert!(of("example.lifecycle", "").unwrap()[0].contains("of no package"));
    assert_eq!(of("example.other", "").unwrap(), Vec::<String>::new());
    assert!(of("", "").unwrap_err().starts_with("InvalidArgument: "));
    assert!(of("../secret", "").unwrap_err().starts_with("InvalidArgument: "));
}
