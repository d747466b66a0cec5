//! Inputs for a fuzzer to start from: those of the reference vectors, of the repository, and made-up ones.

mod archive;
mod kubeconfig;
mod registry;
mod worlds;

use std::path::Path;

use anyhow::Context;
use operon_document::decode_base64;
use serde_json::Value;

/// The fields that hold an input; bytes that are not UTF-8 are in the same field with `B64` behind.
const INPUT_FIELDS: &[&str] = &["yaml", "range", "in", "rule", "value"];

/// Returns the vector file whose inputs a target reads.
pub(super) fn vector_file(target: &str) -> Option<&'static str> {
    match target {
        "fbc" => Some("fbc.jsonl"),
        "yaml" => Some("yaml.jsonl"),
        "range" => Some("semver.jsonl"),
        "constraint" => Some("constraints.jsonl"),
        "cel" => Some("cel.jsonl"),
        _ => None,
    }
}

/// Returns the inputs of a target that starts from generated ones, or `None` for another target. `root` is the
/// repository, whose examples and scenarios some of them use.
pub(super) fn generated(target: &str, root: &Path) -> anyhow::Result<Option<Vec<Vec<u8>>>> {
    let texts =
        |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
    Ok(Some(match target {
        "archive" => archive::inputs(root)?,
        "generations" => worlds::inputs(root)?,
        "kubeconfig" => kubeconfig::inputs(),
        "oci_manifest" => texts(MANIFESTS),
        "oci_layer" => layers(),
        "signature_policy" => texts(POLICIES),
        "registry_answers" => registry::answers(),
        "registry_connection" => registry::connections(),
        "registry_requests" => registry::requests(),
        _ => return Ok(None),
    }))
}

const POLICIES: &[&str] = &[
    r#"{"default":[{"type":"reject"}],"transports":{"docker":{"quay.io/org":[{"type":"sigstoreSigned","keyPath":"/k","signedIdentity":{"type":"matchRepository"}}],"*.io":[{"type":"insecureAcceptAnything"}],"":[{"type":"signedBy","keyType":"GPGKeys","keyData":"a2V5"}]},"oci":{"/srv":[{"type":"reject"}]}}}"#,
    r#"{"default":[{"type":"sigstoreSigned","keyDatas":["a2V5"],"rekorPublicKeyPaths":["/r"],"signedIdentity":{"type":"remapIdentity","prefix":"quay.io","signedPrefix":"a.io/b"}},{"type":"sigstoreSigned","fulcio":{"caPath":"/c","oidcIssuer":"i","subjectEmail":"e"},"rekorPublicKeyData":"a2V5","signedIdentity":{"type":"exactReference","dockerReference":"a/b:c"}}]}"#,
    r#"{"default":[{"type":"sigstoreSigned","keyPath":"/k","signedIdentity":{"type":"exactRepository","dockerRepository":"a/b"}},{"type":"signedBaseLayer","baseLayerIdentity":{"type":"matchExact"}}]}"#,
    r#"{"critical":{"identity":{"docker-reference":"q.io/a"},"image":{"docker-manifest-digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"type":"cosign container image signature"},"optional":{"creator":"a","timestamp":1}}"#,
    r#"{"SignedEntryTimestamp":"bG9n","Payload":{"body":"eyJhcGlWZXJzaW9uIjoiMC4wLjEiLCJraW5kIjoiaGFzaGVkcmVrb3JkIiwic3BlYyI6eyJkYXRhIjp7Imhhc2giOnsiYWxnb3JpdGhtIjoic2hhMjU2IiwidmFsdWUiOiJhYiJ9fSwic2lnbmF0dXJlIjp7ImNvbnRlbnQiOiJjMmxuIiwicHVibGljS2V5Ijp7ImNvbnRlbnQiOiJhMlY1In19fX0=","integratedTime":1,"logIndex":2,"logID":"ab"}}"#,
];

const MANIFESTS: &[&str] = &[
    r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":7},"layers":[],"annotations":{"a":"b"}}"#,
    r#"{"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":7,"platform":{"os":"linux","architecture":"arm","variant":"v7"}}]}"#,
    r#"{"os":"linux","architecture":"amd64","config":{"Labels":{"a":"b"},"Cmd":["a"]},"rootfs":{"type":"layers","diff_ids":[]}}"#,
    r#"[{"Config":"c.json","RepoTags":["a:b"],"Layers":["l.tar"]}]"#,
    r#"{"auths":{"quay.io/a":{"auth":"dTpw"}},"credHelpers":{"a.io":"b"},"credsStore":"c"}"#,
    r#"{"token":"abc","expires_in":300,"issued_at":"2026-11-16T05:54:39Z"}"#,
    r#"{"errors":[{"code":"DENIED","message":"no","detail":"d"}]}"#,
    r#"Bearer realm="https://a/t",service="b",scope="repository:c:pull", Basic realm="d""#,
    "unqualified-search-registries=['a.io']\n[[registry]]\nprefix='*.a.io'\nlocation='b.io'\n[[registry.mirror]]\nlocation='c.io'\npull-from-mirror='tag-only'",
    "quay.io/a/b:c@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
];

/// An input is a byte that says how the layers are packed, and layers between lines of `%%%`.
fn layers() -> Vec<Vec<u8>> {
    let names = [
        "a/b",
        "a/.wh.b",
        ".wh..wh..opq",
        "a/b/c",
        "configs/x",
        "configs/.wh..wh..opq",
        "./a",
        "l/x",
    ];
    let mut inputs = Vec::new();
    for kind in [b'0', b'1', b'2', b'5', b'x', b'L', b'S', 0] {
        let mut layer = vec![3];
        for (number, name) in names.iter().enumerate() {
            let mut block = [0; 512];
            block[..name.len()].copy_from_slice(name.as_bytes());
            block[124..135].copy_from_slice(b"00000000000");
            block[156] = if number % 3 == 0 { b'0' } else { kind };
            block[157..160].copy_from_slice(b"a/b");
            block[257..265].copy_from_slice(b"ustar\x0000");
            layer.extend(block);
            if number == 3 {
                layer.extend(b"\n%%%\n");
            }
        }
        inputs.push(layer);
    }
    inputs
}

/// Returns the distinct inputs of a vector file, sorted.
pub(super) fn inputs(vectors: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    for (index, line) in vectors.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let value: Value =
            serde_json::from_str(line).with_context(|| format!("line {} is no JSON", index + 1))?;
        for field in INPUT_FIELDS {
            inputs.extend(input(&value, field));
        }
        let files = value["files"].as_array().map_or(&[][..], Vec::as_slice);
        inputs.extend(files.iter().filter_map(|file| input(file, "content")));
    }
    inputs.sort();
    inputs.dedup();
    Ok(inputs)
}

fn input(value: &Value, field: &str) -> Option<Vec<u8>> {
    if let Some(text) = value[field].as_str() {
        return Some(text.as_bytes().to_vec());
    }
    decode_base64(value[format!("{field}B64")].as_str()?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_input_is_found_once() {
        let vectors = r#"
{"yaml":"a: 1","json":"{\"a\":1}"}
{"yaml":"a: 1"}
{"yamlB64":"/w=="}
{"kind":"range","range":">=1.0.0","versions":["1.0.0"]}
{"kind":"parse","in":"1.2.3"}
{"kind":"compare","a":"1.0.0","b":"2.0.0"}
{"files":[{"path":"a.json","content":"{}"},{"path":"b","contentB64":"/g=="}]}
"#;
        let expected: [&[u8]; 6] = [b"1.2.3", b">=1.0.0", b"a: 1", b"{}", b"\xfe", b"\xff"];
        assert_eq!(inputs(vectors).expect("well formed"), expected);
        inputs("{").expect_err("not JSON");
    }
}
