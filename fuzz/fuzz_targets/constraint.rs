//! The constraint reader: any property text is read or refused, in both dialects, and what was read
//! can be printed and tested.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_constraint::{
    Candidate, Dialect, Property, matches, parse_property, upstream_predicate_text,
};

const KINDS: [&str; 4] =
    ["olm.constraint", "olm.gvk.required", "olm.package.required", "olm.label.required"];

fuzz_target!(|data: &[u8]| {
    let properties = [
        Property::from_text("olm.package", r#"{"packageName":"etcd","version":"1.2.3"}"#),
        Property::from_text("olm.gvk", r#"{"group":"g.io","version":"v1","kind":"Foo"}"#),
        Property::from_text("olm.label", data),
    ];
    for kind in KINDS {
        for dialect in [Dialect::Documented, Dialect::Upstream] {
            match parse_property(kind, data, dialect) {
                Ok(Some(parsed)) => {
                    let candidate = Candidate {
                        name: "etcd.v1.2.3",
                        package: "etcd",
                        version: None,
                        properties: &properties,
                    };
                    matches(&parsed.constraint, &candidate);
                    upstream_predicate_text(&parsed.constraint);
                    assert_eq!(parsed.constraint, parsed.constraint.clone());
                }
                Ok(None) => panic!("{kind} states a requirement"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
});
