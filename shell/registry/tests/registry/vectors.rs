//! Upstream's own answers, asked for through a socket.

use std::{collections::BTreeMap, fs, path::Path};

use operon_document::decode_base64;
use operon_fbc::MemoryFile;
use operon_registry::{Client, Server, api};
use serde_json::{Value, json};

use crate::content::{MemoryContent, any_port, connect};

/// Returns the vectors, or nothing when they do not lie beside the repository.
pub(crate) fn sound_catalogs() -> Vec<(Value, Vec<MemoryFile>)> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/fbc.jsonl");
    let places = [Path::new(beside), Path::new("/work/shared/vectors/fbc.jsonl")];
    let Some(text) = places.iter().find_map(|place| fs::read_to_string(place).ok()) else {
        let reason = format!("{beside} is not present");
        operon_parts::leave_out(operon_parts::Part::Shared, &reason);
        return Vec::new();
    };
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let sound = lines.filter(|line| line["ok"] == json!(true));
    sound.map(|line| (line.clone(), files(&line))).collect()
}

fn files(line: &Value) -> Vec<MemoryFile> {
    let content = |file: &Value| match file["contentB64"].as_str() {
        Some(encoded) => decode_base64(encoded.as_bytes()).unwrap(),
        None => file["content"].as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let files = line["files"].as_array().into_iter().flatten();
    files
        .map(|file| MemoryFile {
            path: file["path"].as_str().unwrap().to_owned(),
            content: content(file),
        })
        .collect()
}

#[test]
fn answers_equal_those_of_upstream() {
    let server = Server::new();
    let listening = server.listen(&any_port()).unwrap();
    let client = connect(&listening);
    for (line, files) in sound_catalogs() {
        server.set_content(MemoryContent::new(files));
        let unservable = line.to_string().contains("apiError");
        let expected = expected(&line["packages"]);
        let got = Value::from_iter(packages(&client));
        // A package that upstream cannot put on the wire is left out here, and nothing else.
        if unservable {
            assert!(got.as_array().unwrap().len() < line["packages"].as_array().unwrap().len());
            continue;
        }
        assert_eq!(got, expected, "{}", line["id"]);
        check_single_bundles(&client, &line);
    }
}

/// Asks for every package, and puts the stream of bundles into the form of the vectors.
fn packages(client: &Client) -> Vec<Value> {
    let mut bundles: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    let mut last = <(String, String, String)>::default();
    for bundle in client.list_bundles().unwrap() {
        let bundle = bundle.unwrap();
        let place =
            (bundle.channel_name.clone(), bundle.package_name.clone(), bundle.csv_name.clone());
        assert!(last <= place, "{last:?} comes before {place:?}");
        last = place;
        let key = (bundle.package_name.clone(), bundle.channel_name.clone());
        bundles.entry(key).or_default().push(bundle_value(&bundle));
    }
    let names = client.list_packages().unwrap().map(|name| name.unwrap().name);
    let package = |name: String| {
        let package = client.get_package(&name).unwrap();
        let channels = package.channels.iter().map(|channel| {
            let bundles = bundles.remove(&(name.clone(), channel.name.clone()));
            let value = json!({"name": channel.name, "head": channel.csv_name, "bundles": bundles});
            with_deprecation(value, channel.deprecation.as_ref())
        });
        let channels: Vec<Value> = channels.collect();
        let value = json!({
            "name": package.name, "defaultChannel": package.default_channel_name, "channels": channels,
        });
        with_deprecation(value, package.deprecation.as_ref())
    };
    names.collect::<Vec<_>>().into_iter().map(package).collect()
}

fn with_deprecation(mut value: Value, deprecation: Option<&api::Deprecation>) -> Value {
    if let Some(deprecation) = deprecation {
        value["deprecation"] = json!(deprecation.message);
    }
    value
}

fn bundle_value(bundle: &api::Bundle) -> Value {
    let apis = |apis: &[api::GroupVersionKind]| -> Value {
        apis.iter()
            .map(|api| json!({"group": api.group, "version": api.version, "kind": api.kind, "plural": api.plural}))
            .collect()
    };
    let mut value = json!({
        "csvName": bundle.csv_name,
        "packageName": bundle.package_name,
        "channelName": bundle.channel_name,
        "bundlePath": bundle.bundle_path,
        "version": bundle.version,
        "replaces": bundle.replaces,
        "skips": bundle.skips,
        "skipRange": bundle.skip_range,
        "providedApis": apis(&bundle.provided_apis),
        "requiredApis": apis(&bundle.required_apis),
        "properties": bundle.properties.iter().map(|p| json!({"type": p.r#type, "value": p.value})).collect::<Value>(),
        "dependencies": bundle.dependencies.iter().map(|d| json!({"type": d.r#type, "value": d.value})).collect::<Value>(),
    });
    if !bundle.csv_json.is_empty() {
        value["csvJson"] = json!(bundle.csv_json);
    }
    if !bundle.object.is_empty() {
        value["object"] = json!(bundle.object);
    }
    with_deprecation(value, bundle.deprecation.as_ref())
}

/// What the stream of bundles says: bodies only where no image has them.
fn expected(packages: &Value) -> Value {
    let mut packages = packages.clone();
    for bundle in bundles_of(&mut packages) {
        if bundle["bundlePath"] != json!("") {
            let fields = bundle.as_object_mut().unwrap();
            fields.remove("csvJson");
            fields.remove("object");
        }
    }
    packages
}

fn bundles_of(packages: &mut Value) -> impl Iterator<Item = &mut Value> {
    let packages = packages.as_array_mut().into_iter().flatten();
    let channels = packages.flat_map(|package| package["channels"].as_array_mut().unwrap());
    channels.flat_map(|channel| channel["bundles"].as_array_mut().unwrap())
}

/// Asks for each bundle alone: with its bodies, without the edges into it.
fn check_single_bundles(client: &Client, line: &Value) {
    let mut packages = line["packages"].clone();
    for expected in bundles_of(&mut packages) {
        let text = |name: &str| expected[name].as_str().unwrap().to_owned();
        let request = api::GetBundleRequest {
            pkg_name: text("packageName"),
            channel_name: text("channelName"),
            csv_name: text("csvName"),
        };
        let got = bundle_value(&client.get_bundle(&request).unwrap());
        expected["replaces"] = json!("");
        expected["skips"] = json!([]);
        assert_eq!(got, *expected, "{} {request:?}", line["id"]);
    }
}
