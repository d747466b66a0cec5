//! Policy files: JSON to requirements.

use std::collections::BTreeMap;

use operon_document::json::Tape;

use super::{
    KeySource, MAX_POLICY_BYTES, MAX_POLICY_KEYS, Policy, PolicyError, Requirement, Scopes,
    SignedIdentity, SigstoreSigned,
    identity::{Named, fold_host, prefix},
    scope::check_path,
    strict::{Strict, quoted},
};

/// The transports whose scopes are paths.
const PATH_TRANSPORTS: [&str; 3] = ["dir", "oci", "oci-archive"];

type Members<'a> = BTreeMap<String, Strict<'a>>;

pub(super) fn policy(text: &[u8]) -> Result<Policy, PolicyError> {
    if text.len() > MAX_POLICY_BYTES {
        return Err(PolicyError::TooLarge { bytes: text.len() });
    }
    let mut tape = Tape::new();
    let top = Strict::parse(text, &mut tape)?;
    let members = top.members(&["default", "transports"])?;
    let default = members.get("default").ok_or_else(|| top.missing("default"))?;
    let mut transports = BTreeMap::new();
    if let Some(value) = members.get("transports") {
        for (name, value) in value.entries()? {
            let scopes = scopes(&name, &value)?;
            transports.insert(name, scopes);
        }
    }
    Ok(Policy { default: requirements(default)?, transports })
}

fn scopes(transport: &str, value: &Strict<'_>) -> Result<Scopes, PolicyError> {
    let mut scopes = Scopes::new();
    for (scope, value) in value.entries()? {
        if !scope.is_empty() && PATH_TRANSPORTS.contains(&transport) {
            check_path(&scope).map_err(|problem| value.error(problem))?;
        }
        let scope = if transport == super::DOCKER { fold_host(&scope) } else { scope };
        if scopes.insert(scope, requirements(&value)?).is_some() {
            return Err(value.error("another scope differs from it only in the case of the host"));
        }
    }
    Ok(scopes)
}

fn requirements(value: &Strict<'_>) -> Result<Vec<Requirement>, PolicyError> {
    let elements = value.elements()?;
    if elements.is_empty() {
        let problem = "is empty; use `insecureAcceptAnything` to require nothing";
        return Err(value.error(problem));
    }
    elements.iter().map(requirement).collect()
}

fn requirement(value: &Strict<'_>) -> Result<Requirement, PolicyError> {
    let kind = kind(value)?;
    match kind.string()?.as_ref() {
        "insecureAcceptAnything" => {
            value.exactly(["type"])?;
            Ok(Requirement::AcceptAnything)
        }
        "reject" => {
            value.exactly(["type"])?;
            Ok(Requirement::Reject)
        }
        "sigstoreSigned" => sigstore_signed(value),
        "signedBy" => signed_by(value),
        "signedBaseLayer" => {
            let [_, base] = value.exactly(["type", "baseLayerIdentity"])?;
            identity(&base)?;
            Ok(Requirement::Unsupported { feature: "signedBaseLayer" })
        }
        other => Err(kind.error(format!(
            "unknown requirement {}; expected `insecureAcceptAnything`, `reject`, `signedBy` or \
             `sigstoreSigned`",
            quoted(other)
        ))),
    }
}

fn kind<'a>(value: &Strict<'a>) -> Result<Strict<'a>, PolicyError> {
    value.entries()?.remove("type").ok_or_else(|| value.missing("type"))
}

/// Reads a requirement of OpenPGP signatures, so that mistakes in it are found although it is unsupported.
fn signed_by(value: &Strict<'_>) -> Result<Requirement, PolicyError> {
    const FIELDS: [&str; 6] =
        ["type", "keyType", "keyPath", "keyPaths", "keyData", "signedIdentity"];
    let members = value.members(&FIELDS)?;
    members.get("keyType").ok_or_else(|| value.missing("keyType"))?.string()?;
    if keys(&members, ["keyPath", "keyPaths", "keyData", "keyDatas"])?.is_none() {
        return Err(value.error("one of `keyPath`, `keyPaths` and `keyData` is required"));
    }
    members.get("signedIdentity").map(identity).transpose()?;
    Ok(Requirement::Unsupported { feature: "signedBy" })
}

fn sigstore_signed(value: &Strict<'_>) -> Result<Requirement, PolicyError> {
    const KEYS: [&str; 4] = ["keyPath", "keyPaths", "keyData", "keyDatas"];
    const REKOR_KEYS: [&str; 4] =
        ["rekorPublicKeyPath", "rekorPublicKeyPaths", "rekorPublicKeyData", "rekorPublicKeyDatas"];
    let others = ["type", "fulcio", "pki", "signedIdentity"];
    let members = value.members(&[&KEYS[..], &REKOR_KEYS[..], &others[..]].concat())?;
    let keys = keys(&members, KEYS)?;
    let rekor_keys = self::keys(&members, REKOR_KEYS)?;
    let identity = members.get("signedIdentity").map(identity).transpose()?;
    let identity = identity.unwrap_or(SignedIdentity::MatchRepoDigestOrExact);
    let fulcio = members.get("fulcio");
    let pki = members.get("pki");
    if let Some(fulcio) = fulcio {
        strings(fulcio, &["caPath", "caData", "oidcIssuer", "subjectEmail"])?;
    }
    if let Some(pki) = pki {
        let names = [
            "caRootsPath",
            "caRootsData",
            "caIntermediatesPath",
            "caIntermediatesData",
            "subjectEmail",
            "subjectHostname",
        ];
        strings(pki, &names)?;
    }
    match (keys, fulcio, pki) {
        (Some(keys), None, None) => {
            Ok(Requirement::SigstoreSigned(SigstoreSigned { keys, rekor_keys, identity }))
        }
        (None, Some(_), None) if rekor_keys.is_none() => {
            Err(value.error("`fulcio` needs one of the `rekorPublicKey…` fields"))
        }
        (None, None, Some(pki)) if rekor_keys.is_some() => {
            Err(pki.error("cannot be combined with `rekorPublicKey…` fields"))
        }
        (None, Some(_), None) => Ok(Requirement::Unsupported { feature: "fulcio" }),
        (None, None, Some(_)) => Ok(Requirement::Unsupported { feature: "pki" }),
        _ => Err(value.error(
            "exactly one of `keyPath`, `keyPaths`, `keyData`, `keyDatas`, `fulcio` and `pki` is required",
        )),
    }
}

/// Checks an object whose members are strings.
fn strings(value: &Strict<'_>, names: &[&str]) -> Result<(), PolicyError> {
    value.members(names)?.values().try_for_each(|member| member.string().map(|_| ()))
}

/// Reads the four ways to write keys, of which at most one may be used: a path, paths, data, several data.
fn keys(
    members: &Members<'_>,
    [path, paths, data, datas]: [&str; 4],
) -> Result<Option<KeySource>, PolicyError> {
    let mut found = None;
    let mut take = |value: &Strict<'_>, source: KeySource| match found.replace(source) {
        None => Ok(()),
        Some(_) => Err(value.error("the keys are already given by another field")),
    };
    if let Some(value) = members.get(path) {
        take(value, KeySource::Paths(vec![key_path(value)?]))?;
    }
    if let Some(value) = members.get(paths) {
        let paths = key_list(value)?.iter().map(key_path).collect::<Result<_, _>>()?;
        take(value, KeySource::Paths(paths))?;
    }
    if let Some(value) = members.get(data) {
        take(value, KeySource::Data(vec![value.base64()?]))?;
    }
    if let Some(value) = members.get(datas) {
        let keys = key_list(value)?.iter().map(Strict::base64).collect::<Result<_, _>>()?;
        take(value, KeySource::Data(keys))?;
    }
    Ok(found)
}

fn key_list<'a>(value: &Strict<'a>) -> Result<Vec<Strict<'a>>, PolicyError> {
    let elements = value.elements()?;
    match elements.len() {
        0 => Err(value.error("is empty")),
        1..=MAX_POLICY_KEYS => Ok(elements),
        count => Err(value.error(format!("has {count} keys, more than {MAX_POLICY_KEYS}"))),
    }
}

fn key_path(value: &Strict<'_>) -> Result<String, PolicyError> {
    let path = value.string()?;
    if path.is_empty() {
        return Err(value.error("is empty; expected the path of a file"));
    }
    Ok(path.into_owned())
}

fn identity(value: &Strict<'_>) -> Result<SignedIdentity, PolicyError> {
    let kind = kind(value)?;
    let simple = |identity: SignedIdentity| value.exactly(["type"]).map(|_| identity);
    match kind.string()?.as_ref() {
        "matchExact" => simple(SignedIdentity::MatchExact),
        "matchRepoDigestOrExact" => simple(SignedIdentity::MatchRepoDigestOrExact),
        "matchRepository" => simple(SignedIdentity::MatchRepository),
        "exactReference" => {
            let [_, field] = value.exactly(["type", "dockerReference"])?;
            let named = named(&field)?;
            if named.is_repository() {
                return Err(field.error("has neither a tag nor a digest"));
            }
            Ok(SignedIdentity::ExactReference(named))
        }
        "exactRepository" => {
            let [_, field] = value.exactly(["type", "dockerRepository"])?;
            Ok(SignedIdentity::ExactRepository(named(&field)?))
        }
        "remapIdentity" => {
            let [_, from, to] = value.exactly(["type", "prefix", "signedPrefix"])?;
            let read = |field: &Strict<'_>| {
                let text = field.string()?;
                prefix(&text).ok_or_else(|| {
                    field.error("expected a host, or a namespace or repository with its host")
                })
            };
            let (prefix, signed_prefix) = (read(&from)?, read(&to)?);
            Ok(SignedIdentity::RemapIdentity { prefix, signed_prefix })
        }
        other => Err(kind.error(format!("unknown identity {}", quoted(other)))),
    }
}

fn named(field: &Strict<'_>) -> Result<Named, PolicyError> {
    Named::parse(&field.string()?).map_err(|error| field.error(error.to_string()))
}
