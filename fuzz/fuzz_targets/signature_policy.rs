//! Signature policies, payloads and Rekor bundles: any bytes give a value or an error that names its place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_oci::{Digest, Policy, Reference, RekorBundle, Requirement, SignaturePayload};

fuzz_target!(|data: &[u8]| {
    let tagged = Reference::parse("Quay.io/org/image:v1").expect("a reference");
    let images = [tagged.with_digest(Digest::of(data)), tagged];
    match Policy::parse(data) {
        Ok(policy) => {
            let local = policy.for_path("oci", "/srv/layout");
            assert!(!local.requirements.is_empty());
            for image in &images {
                let selected = policy.for_image(image);
                assert!(!selected.requirements.is_empty(), "{selected}");
                for requirement in selected.requirements {
                    let Requirement::SigstoreSigned(signed) = requirement else { continue };
                    // A name that is not a name is never accepted.
                    assert!(!signed.identity.accepts(image, "not a name"));
                    let _ = signed.identity.accepts(image, "quay.io/org/image:v1");
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\u{1b}'])),
    }
    if let Ok(payload) = SignaturePayload::parse(data) {
        assert!(!payload.manifest_digest.hex().is_empty());
    }
    if let Ok(text) = std::str::from_utf8(data) {
        if let Ok(bundle) = RekorBundle::parse(text) {
            assert!(std::str::from_utf8(&bundle.signed_bytes).is_ok());
        }
        for image in &images {
            let _ = image.with_tag(text);
        }
    }
});
