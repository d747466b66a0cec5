//! The examples that a bundle carries: a list of objects as JSON inside a JSON string.

use super::{
    names::{ApiName, word},
    random::Random,
};

/// Returns one object per API, together of about this many bytes.
pub(crate) fn example(apis: &[ApiName], bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 256);
    text.push('[');
    for (number, api) in apis.iter().enumerate() {
        let end = bytes * (number + 1) / apis.len();
        if number > 0 {
            text.push_str(", ");
        }
        text.push_str(&format!(
            "{{\n  \"apiVersion\": \"{}/v1\",\n  \"kind\": \"{}\",\n  \"spec\": {{\n    \"size\": {}",
            api.group,
            api.kind,
            random.below(9)
        ));
        while text.len() < end {
            // Numbers keep the keys apart.
            let (key, value, length) = (word(random), word(random), text.len());
            text.push_str(&format!(",\n    \"{key}{length}\": \"{value}\""));
        }
        text.push_str("\n  }\n}");
    }
    text.push(']');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::generate::names::Names;

    #[test]
    fn examples_are_json() {
        let names = Names::new(1);
        let apis: Vec<ApiName> = (0..3).map(|api| names.api(0, api)).collect();
        for count in 0..=3 {
            let text = example(&apis[..count], 4000, &mut Random::new(1, 1));
            let value: Value = serde_json::from_str(&text).expect("it is JSON");
            assert_eq!(value.as_array().map(Vec::len), Some(count));
        }
    }
}
