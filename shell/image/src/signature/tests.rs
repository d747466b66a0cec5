//! Verification with keys of every kind, and with promises of transparency logs.

use std::{collections::BTreeMap, path::Path};

use aws_lc_rs::{
    encoding::AsDer,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P521_SHA256_ASN1_SIGNING, EcdsaKeyPair,
        EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use operon_document::encode_base64;
use operon_oci::{Descriptor, Digest, Policy, Reference};

use super::{BUNDLE_ANNOTATION, Demand, PAYLOAD_TYPE, SIGNATURE_ANNOTATION, Signature};

const NAME: &str = "quay.io/team/app:v1";

/// A key on P-384 and its signature of [`payload`], made by OpenSSL: `dgst -sha256 -sign`.
const P384_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE7Oy2kqfgA+emVPdXiMkEWdRJSPMVbQJB
eT5/aGcia8FFvu836z1HMFA5ygmqVhSoTaBqSRLlosiO1yIXiR/s3QlUcRvZfrmc
xBiJhSqs2pYCdry81tQ5X4gptKFvA7SK
-----END PUBLIC KEY-----
";
const P384_SIGNATURE: &str = "MGQCMH682PktgF61hu3YiIx7vr3vOxxttiel3ifpF4iIhgByDU4xa4HZOTGylvxEaxW4PAIwRjjhJrmtm4Ukof0uGf\
    eOEFtCPxyKlsxEQoljH1CBU94pMK/K8eVLhsV5pbUnFPZE";

/// Returns the signature of a payload.
type Sign = dyn Fn(&[u8]) -> Vec<u8>;

/// A signer, and its public key as a policy holds it.
struct Signer {
    sign: Box<Sign>,
    pem: String,
}

fn pem(tag: &str, der: &[u8]) -> String {
    pem::encode(&pem::Pem::new(tag, der))
}

fn ecdsa(algorithm: &'static EcdsaSigningAlgorithm) -> Signer {
    let key = EcdsaKeyPair::generate(algorithm).unwrap();
    let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(key.public_key()).unwrap();
    let pem = pem("PUBLIC KEY", der.as_ref());
    let random = SystemRandom::new();
    Signer { sign: Box::new(move |bytes| key.sign(&random, bytes).unwrap().as_ref().to_vec()), pem }
}

fn ed25519() -> Signer {
    let key = Ed25519KeyPair::generate().unwrap();
    let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(key.public_key()).unwrap();
    let pem = pem("PUBLIC KEY", der.as_ref());
    Signer { sign: Box::new(move |bytes| key.sign(bytes).as_ref().to_vec()), pem }
}

fn rsa(tag: &str) -> Signer {
    let key = RsaKeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = AsDer::<aws_lc_rs::encoding::PublicKeyX509Der<'_>>::as_der(key.public_key()).unwrap();
    // `AsRef` gives the older form, PKCS#1.
    let is_older = tag == "RSA PUBLIC KEY";
    let pem = pem(tag, if is_older { key.public_key().as_ref() } else { der.as_ref() });
    let sign = move |bytes: &[u8]| {
        let mut signature = vec![0; key.public_modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), bytes, &mut signature).unwrap();
        signature
    };
    Signer { sign: Box::new(sign), pem }
}

fn image() -> (Reference, Digest) {
    (Reference::parse(NAME).unwrap(), Digest::of(b"manifest"))
}

fn payload() -> Vec<u8> {
    let (name, digest) = image();
    format!(
        r#"{{"critical":{{"identity":{{"docker-reference":"{name}"}},"image":{{"docker-manifest-digest":"{digest}"}},"type":"cosign container image signature"}},"optional":null}}"#
    )
    .into_bytes()
}

fn demand(fields: &str) -> Result<Demand, String> {
    let text = format!(r#"{{"default": [{{"type": "sigstoreSigned", {fields}}}]}}"#);
    let policy = Policy::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    let demand = Demand::of_image(Path::new("policy.json"), &policy, &image().0);
    Ok(demand.map_err(|error| error.to_string())?.expect("a signature is required"))
}

fn data(signer: &Signer) -> String {
    encode_base64(signer.pem.as_bytes())
}

fn signature(payload: &[u8], value: &[u8], bundle: Option<String>) -> Signature {
    let mut annotations = BTreeMap::from([(SIGNATURE_ANNOTATION.to_owned(), encode_base64(value))]);
    annotations.extend(bundle.map(|bundle| (BUNDLE_ANNOTATION.to_owned(), bundle)));
    let descriptor = Descriptor { annotations, ..Descriptor::of(PAYLOAD_TYPE, payload) };
    Signature::new(&descriptor, payload.to_vec())
}

fn check(demand: &Demand, signatures: &[Signature]) -> Result<(), String> {
    demand.check(&image().1, signatures)
}

#[test]
fn keys_of_every_kind_verify_their_signatures_alone() {
    let signers = [
        ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING),
        ecdsa(&ECDSA_P521_SHA256_ASN1_SIGNING),
        ed25519(),
        rsa("PUBLIC KEY"),
        rsa("RSA PUBLIC KEY"),
    ];
    let payload = payload();
    for (number, signer) in signers.iter().enumerate() {
        let demand = demand(&format!(r#""keyData": "{}""#, data(signer))).unwrap();
        for (other, by) in signers.iter().enumerate() {
            let signed = signature(&payload, &(by.sign)(&payload), None);
            assert_eq!(check(&demand, &[signed]).is_ok(), number == other, "{number} {other}");
        }
        let mut value = (signer.sign)(&payload);
        let last = value.len() - 1;
        value[last] ^= 1;
        assert!(check(&demand, &[signature(&payload, &value, None)]).is_err(), "{number}");
        assert!(check(&demand, &[signature(&payload, b"", None)]).is_err(), "{number}");
    }
}

#[test]
fn signatures_of_openssl_are_verified() {
    let demand =
        demand(&format!(r#""keyData": "{}""#, encode_base64(P384_KEY.as_bytes()))).unwrap();
    let value = operon_document::decode_base64(P384_SIGNATURE.as_bytes()).unwrap();
    assert_eq!(check(&demand, &[signature(&payload(), &value, None)]), Ok(()));
    let mut other = payload();
    other.push(b' ');
    assert!(check(&demand, &[signature(&other, &value, None)]).is_err());
}

#[test]
fn one_of_several_keys_and_signatures_is_enough() {
    let (first, second) = (ed25519(), ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING));
    let payload = payload();
    let keys = format!(r#""keyDatas": ["{}", "{}"]"#, data(&first), data(&second));
    let demand = demand(&keys).unwrap();
    let good = || signature(&payload, &(second.sign)(&payload), None);
    let bad = || signature(&payload, b"bad", None);
    assert_eq!(check(&demand, &[bad(), good()]), Ok(()));
    let error = check(&demand, &[bad()]).unwrap_err();
    assert_eq!(error, "no trusted key has made the signature");
    assert!(check(&demand, &[]).unwrap_err().contains("has no signature"));
    // The digest and the name are compared after the signature.
    let other = Digest::of(b"other");
    let error = demand.check(&other, &[good()]).unwrap_err();
    assert!(error.contains("not for"), "{error}");
    let unnamed = String::from_utf8(payload.clone()).unwrap().replace(":v1", ":v2").into_bytes();
    let renamed = signature(&unnamed, &(second.sign)(&unnamed), None);
    let error = check(&demand, &[renamed]).unwrap_err();
    assert!(error.contains("`quay.io/team/app:v2`"), "{error}");
}

#[test]
fn unusable_keys_fail_the_policy() {
    let good = ed25519();
    let private = pem("PRIVATE KEY", b"secret");
    let garbage = pem("PUBLIC KEY", b"garbage");
    for bad in [private.as_str(), &garbage, "", "not PEM"] {
        let bad = encode_base64(bad.as_bytes());
        let error = demand(&format!(r#""keyDatas": ["{}", "{bad}"]"#, data(&good))).unwrap_err();
        assert!(error.contains("policy.json") && error.contains("key 2 in the policy"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}

/// What a transparency log answers for a signature, and cosign attaches.
fn bundle(log: &Signer, key: &Signer, payload: &[u8], value: &[u8]) -> String {
    let body = format!(
        r#"{{"apiVersion":"0.0.1","kind":"hashedrekord","spec":{{"data":{{"hash":{{"algorithm":"sha256","value":"{}"}}}},"signature":{{"content":"{}","publicKey":{{"content":"{}"}}}}}}}}"#,
        Digest::of(payload).hex(),
        encode_base64(value),
        data(key)
    );
    let entry = format!(
        r#"{{"body":"{}","integratedTime":1700000000,"logID":"c0d2","logIndex":7}}"#,
        encode_base64(body.as_bytes())
    );
    let promise = encode_base64(&(log.sign)(entry.as_bytes()));
    format!(r#"{{"SignedEntryTimestamp":"{promise}","Payload":{entry}}}"#)
}

#[test]
fn required_logs_must_have_recorded_the_signature() {
    let signer = ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING);
    let (log, other) = (ecdsa(&ECDSA_P256_SHA256_ASN1_SIGNING), ed25519());
    let payload = payload();
    let value = (signer.sign)(&payload);
    let again = (signer.sign)(&payload);
    let fields =
        format!(r#""keyData": "{}", "rekorPublicKeyData": "{}""#, data(&signer), data(&log));
    let demand = demand(&fields).unwrap();
    let claims = [
        (Some(bundle(&log, &signer, &payload, &value)), ""),
        (None, "has no Rekor bundle"),
        (Some("{}".to_owned()), "Rekor bundle"),
        (Some(bundle(&other, &signer, &payload, &value)), "no trusted transparency log"),
        (Some(bundle(&log, &other, &payload, &value)), "is for another signature"),
        (Some(bundle(&log, &signer, b"other", &value)), "is for another signature"),
        (Some(bundle(&log, &signer, &payload, &again)), "is for another signature"),
    ];
    for (bundle, expected) in claims {
        let shown = format!("{bundle:?}");
        let checked = check(&demand, &[signature(&payload, &value, bundle)]);
        match expected {
            "" => assert_eq!(checked, Ok(()), "{shown}"),
            expected => assert!(checked.clone().unwrap_err().contains(expected), "{checked:?}"),
        }
    }
    // Logs sign with ECDSA; a key of another kind cannot be theirs.
    let fields =
        format!(r#""keyData": "{}", "rekorPublicKeyData": "{}""#, data(&signer), data(&other));
    assert!(super::tests::demand(&fields).unwrap_err().contains("ECDSA"));
}
