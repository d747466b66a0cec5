//! Whether a controller verifies the signatures of images, as its Deployment says.

use operon_object::Object;

use crate::fetching::SIGNATURE_POLICY_VARIABLE;

/// The option that names the signature policy.
const OPTION: &str = "--signature-policy";

/// Whether signatures of images are verified.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Signatures {
    /// It depends on a process that cannot be inspected from here.
    #[default]
    Unknown,
    /// No policy is configured.
    NotVerified,
    /// No policy is configured for all processes of an embedded cluster; each may have one.
    LeftToProcess,
    /// By the policy in this file.
    VerifiedBy(String),
}

impl Signatures {
    /// Reads the option and the environment variable of the first container; the option wins.
    pub(super) fn of_deployment(deployment: &Object) -> Self {
        let containers = deployment.at(&["spec", "template", "spec", "containers"]).elements();
        let Some(container) = containers.first() else { return Self::Unknown };
        let arguments: Vec<&str> = container.get("args").iter_texts().collect();
        let written = arguments.iter().find_map(|argument| {
            argument.strip_prefix(OPTION).and_then(|rest| rest.strip_prefix('='))
        });
        let separate = arguments.windows(2).find(|pair| pair[0] == OPTION).map(|pair| pair[1]);
        let environment = container.get("env").elements().iter().find_map(|variable| {
            let is_it = variable.get("name").str() == SIGNATURE_POLICY_VARIABLE;
            is_it.then(|| variable.get("value").str()).filter(|value| !value.is_empty())
        });
        written
            .or(separate)
            .or(environment)
            .map_or(Self::NotVerified, |file| Self::VerifiedBy(file.to_owned()))
    }

    /// Reads the environment, which decides for the processes of an embedded cluster.
    pub(super) fn of_environment() -> Self {
        match std::env::var_os(SIGNATURE_POLICY_VARIABLE).filter(|file| !file.is_empty()) {
            Some(file) => Self::VerifiedBy(file.to_string_lossy().into_owned()),
            None => Self::LeftToProcess,
        }
    }

    /// Returns the line of the report; nothing if it is unknown.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Unknown => None,
            Self::NotVerified => {
                Some(format!("not verified: the controller runs without `{OPTION}`"))
            }
            Self::LeftToProcess => {
                Some(format!("not verified, unless `operon up` is started with `{OPTION}`"))
            }
            Self::VerifiedBy(file) => Some(format!("verified by the policy {file}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use operon_object::Value;

    use super::*;

    #[test]
    fn policy_comes_from_option_or_environment() {
        let verified = |file: &str| Signatures::VerifiedBy(file.to_owned());
        let claims = [
            (r#"[]"#, Signatures::Unknown),
            (r#"[{"args": ["controller"]}]"#, Signatures::NotVerified),
            (r#"[{"args": ["controller", "--signature-policy=/p"]}]"#, verified("/p")),
            (r#"[{"args": ["controller", "--signature-policy", "/p"]}]"#, verified("/p")),
            (
                r#"[{"args": ["--signature-policies=/p"], "env": [{"name": "OPERON_SIGNATURE_POLICY", "value": "/e"}]}]"#,
                verified("/e"),
            ),
            (
                r#"[{"args": ["--signature-policy=/p"], "env": [{"name": "OPERON_SIGNATURE_POLICY", "value": "/e"}]}]"#,
                verified("/p"),
            ),
            (r#"[{"env": [{"name": "OPERON_SIGNATURE_POLICY"}]}]"#, Signatures::NotVerified),
        ];
        for (containers, expected) in claims {
            let mut deployment = Object::new("apps/v1", "Deployment", "olm", "operon-controller");
            let containers = Value::parse_json(containers.as_bytes()).expect("JSON");
            deployment.set(&["spec", "template", "spec", "containers"], containers);
            assert_eq!(Signatures::of_deployment(&deployment), expected);
        }
    }
}
