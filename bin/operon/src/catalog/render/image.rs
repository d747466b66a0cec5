//! Image references for bundles that are only directories, made from a pattern.
//!
//! A pattern is not an expression: names in braces are replaced and everything else stays. Whether
//! the result is a reference that a registry accepts is for `operon catalog validate` to say.

use std::str::FromStr;

use operon_bundle::RenderedBundle;

/// A pattern such as `quay.io/example/{package}-bundle:v{version}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImagePattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Package,
    Name,
    Version,
}

impl ImagePattern {
    /// Returns the image reference of a bundle.
    pub(crate) fn fill(&self, bundle: &RenderedBundle) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Package => &bundle.package,
            Part::Name => &bundle.name,
            Part::Version => &bundle.version,
        });
        parts.collect()
    }
}

impl FromStr for ImagePattern {
    type Err = String;

    /// Reads `{package}`, `{name}` and `{version}`, and the spelling of opm: `{{.Package}}`.
    fn from_str(pattern: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = pattern;
        while let Some(start) = rest.find('{') {
            parts.push(Part::Text(rest[..start].to_owned()));
            let (open, close) =
                if rest[start..].starts_with("{{") { ("{{", "}}") } else { ("{", "}") };
            let inside = &rest[start + open.len()..];
            let Some(end) = inside.find(close) else {
                return Err(format!("`{}` is not closed by `{close}`", &rest[start..]));
            };
            parts.push(match (open, inside[..end].trim()) {
                ("{", "package") | ("{{", ".Package") => Part::Package,
                ("{", "name") | ("{{", ".Name") => Part::Name,
                ("{", "version") | ("{{", ".Version") => Part::Version,
                (_, unknown) => {
                    return Err(format!(
                        "`{open}{unknown}{close}` is not known; there are `{{package}}`, `{{name}}` and `{{version}}`"
                    ));
                }
            });
            rest = &inside[end + close.len()..];
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }
}

#[cfg(test)]
mod tests {
    use operon_bundle::{BundleFile, Migration, RenderOptions, read_bundle, render};

    use super::ImagePattern;

    #[test]
    fn patterns_are_filled_or_refused() {
        let file = |path: &str, content: &str| BundleFile {
            path: path.to_owned(),
            content: content.as_bytes().to_vec(),
        };
        let reading = read_bundle(&[
            file(
                "manifests/csv.yaml",
                "{kind: ClusterServiceVersion, metadata: {name: etcd.v0.9.4}, spec: {version: 0.9.4}}",
            ),
            file(
                "metadata/annotations.yaml",
                "annotations: {operators.operatorframework.io.bundle.package.v1: etcd}",
            ),
        ]);
        let options = RenderOptions { image: String::new(), migrate: Migration::None };
        let bundle = render(&reading.bundle.unwrap(), &options).unwrap();
        let fill =
            |pattern: &str| pattern.parse::<ImagePattern>().map(|parsed| parsed.fill(&bundle));
        for (pattern, expected) in [
            ("quay.io/x/{package}:v{version}", Ok("quay.io/x/etcd:v0.9.4")),
            ("q/{{.Package}}:{{ .Version }}-{name}", Ok("q/etcd:0.9.4-etcd.v0.9.4")),
            ("q/{{.Name}}}", Ok("q/etcd.v0.9.4}")),
            ("no placeholder", Ok("no placeholder")),
            ("", Ok("")),
            (
                "q/{Package}",
                Err("`{Package}` is not known; there are `{package}`, `{name}` and `{version}`"),
            ),
            (
                "q/{{.Image}}",
                Err("`{{.Image}}` is not known; there are `{package}`, `{name}` and `{version}`"),
            ),
            ("q/{version", Err("`{version` is not closed by `}`")),
            ("q/{{.Version}", Err("`{{.Version}` is not closed by `}}`")),
        ] {
            assert_eq!(fill(pattern), expected.map(str::to_owned).map_err(str::to_owned));
        }
    }
}
