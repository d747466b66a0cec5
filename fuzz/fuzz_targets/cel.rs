//! The guard around rules: any text is refused or evaluated within its budgets.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_constraint::{CelRule, Property};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let properties = [
        Property::from_text("olm.package", r#"{"packageName":"etcd","version":"1.2.3"}"#),
        Property::from_text("certified", r#""true""#),
        Property::from_text("number", "3"),
        Property::from_text("list", r#"[1, "a", null, {"b": 1.5}]"#),
        Property::from_text("broken", "{"),
    ];
    match CelRule::compile(text) {
        Ok(program) => {
            let first = program.evaluate(&properties);
            let second = program.evaluate(&properties);
            assert_eq!(first.is_ok(), second.is_ok(), "the answer depends on the rule alone");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
