//! The scenarios that cannot run on a cluster as they are, and why.

/// The scenarios that are left out, each with its reason.
pub const LEFT_OUT: &[(&str, &str)] = &[
    (
        "kube-version-too-old",
        "its words name the version of the simulated API server; the rule is the same everywhere",
    ),
    (
        "api-service-of-others",
        "its operators serve no API, so a cluster says of itself that the APIService is not available",
    ),
    (
        "conversion-of-others",
        "certificates are simulated, and a cluster refuses a conversion whose CA bundle is none; the trial \
         `webhooks` has real ones",
    ),
];
