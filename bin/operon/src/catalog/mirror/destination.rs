//! Where a mirror lies, and where each image lies in it.
//!
//! The path of an image stays what it was; only the host is replaced. Images of one path from two
//! hosts share a repository, which is harmless as long as their tags differ.

use std::{fmt, path::PathBuf, str::FromStr};

use operon_image::{Choice, CopyTarget, Location};
use operon_oci::{Reference, ReferenceError};

/// Where a mirror lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// `HOST[:PORT][/PREFIX]`.
    Registry(String),
    /// An image layout.
    Layout(PathBuf),
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORMS: &str = "write `HOST[:PORT][/PREFIX]` or `oci:DIR`";
        if text.starts_with("oci:") {
            return match Location::parse(text).map_err(|error| error.to_string())? {
                Location::Layout { directory, image: Choice::Only } => Ok(Self::Layout(directory)),
                _ => Err(format!("`{text}` names one image, but a mirror has many; {FORMS}")),
            };
        }
        let base = text.strip_prefix("docker://").unwrap_or(text).trim_end_matches('/');
        // A name without a host would mean Docker Hub, which nobody mirrors to by accident.
        let probe = format!("{base}/probe");
        match Reference::parse(&probe) {
            Ok(reference) if reference.name() == probe => Ok(Self::Registry(base.to_owned())),
            Ok(_) => Err(format!("`{text}` names no registry; {FORMS}")),
            Err(error) => Err(format!("{error}; {FORMS}")),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(base) => write!(formatter, "{base}"),
            Self::Layout(directory) => write!(formatter, "oci:{}", directory.display()),
        }
    }
}

impl Destination {
    /// Returns where an image is copied to.
    pub(super) fn target(&self, image: &Reference) -> Result<CopyTarget, ReferenceError> {
        Ok(match self {
            Self::Registry(base) => {
                let tag = image.tag().map(|tag| format!(":{tag}")).unwrap_or_default();
                let digest = image.digest().map(|digest| format!("@{digest}")).unwrap_or_default();
                let repository = image.repository();
                let text = format!("{base}/{repository}{tag}{digest}");
                CopyTarget::Registry(Reference::parse(&text)?)
            }
            Self::Layout(directory) => {
                CopyTarget::Layout { directory: directory.clone(), tag: image.to_string() }
            }
        })
    }

    /// Returns the host of the registry.
    pub(super) fn host(&self) -> Option<&str> {
        match self {
            Self::Registry(base) => base.split('/').next(),
            Self::Layout(_) => None,
        }
    }
}

/// Shows where an image goes.
pub(super) fn shown(target: &CopyTarget) -> String {
    match target {
        CopyTarget::Registry(reference) => reference.to_string(),
        CopyTarget::Layout { directory, tag } => format!("oci:{}:{tag}", directory.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_keep_their_paths() {
        let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for (to, image, expected) in [
            ("r.local:5000", "quay.io/a/b:v1", "r.local:5000/a/b:v1".to_owned()),
            ("r.local:5000/m/n/", "quay.io/a/b:v1", "r.local:5000/m/n/a/b:v1".to_owned()),
            ("docker://localhost/m", "nginx", "localhost/m/library/nginx:latest".to_owned()),
            ("r.local/m", &format!("quay.io/a/b@{digest}"), format!("r.local/m/a/b@{digest}")),
            ("oci:./d", "quay.io/a/b:v1", "oci:./d:quay.io/a/b:v1".to_owned()),
        ] {
            let destination: Destination = to.parse().expect("a destination");
            let image = Reference::parse(image).expect("an image");
            assert_eq!(shown(&destination.target(&image).expect("a target")), expected);
        }
        for (to, problem) in [
            ("mirror", "names no registry"),
            ("mirror/path", "names no registry"),
            ("r.local/Mirror", "capital letters"),
            ("oci:./d:v1", "a mirror has many"),
            ("", "write `HOST"),
        ] {
            let error = to.parse::<Destination>().expect_err(to);
            assert!(error.contains(problem), "{to}: {error}");
        }
    }
}
