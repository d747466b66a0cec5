//! The small part of JSONPath that columns are written in.
//!
//! Fields, indices, `[*]`, and `[?(@.type=="Ready")]`; searching at any depth and slices are left
//! out, because no published CustomResourceDefinition uses them in a column.

use operon_object::Value;

/// A path that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// `.name` or `['name']`
    Field(String),
    /// `[0]`, or `[-1]` for the last one
    Index(i64),
    /// `[*]`
    All,
    /// `[?(@.type=="Ready")]`, or `!=`, or neither: then the field must be there.
    Where { path: JsonPath, is_equal: bool, wanted: Option<String> },
}

impl JsonPath {
    /// Reads a path such as `.spec.names[0]`; none for what is beyond this file.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (step, behind) = match rest.strip_prefix('[') {
                Some(inner) => parse_bracket(inner)?,
                None => parse_field(rest.strip_prefix('.')?),
            };
            steps.extend(step);
            rest = behind;
        }
        Some(Self { steps })
    }

    /// Returns the first value that the path leads to.
    pub(super) fn first<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        let mut found = vec![root];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.take(value)).collect();
        }
        found.into_iter().next()
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Self::Field(name) => {
                let map = value.as_map().filter(|map| map.contains(name));
                map.map(|map| map.get(name)).into_iter().collect()
            }
            Self::Index(index) => {
                let elements = value.elements();
                let index = if *index < 0 {
                    usize::try_from(index.unsigned_abs())
                        .ok()
                        .and_then(|back| elements.len().checked_sub(back))
                } else {
                    usize::try_from(*index).ok()
                };
                index.and_then(|index| elements.get(index)).into_iter().collect()
            }
            Self::All => value.elements().iter().chain(value.entries().map(|(_, it)| it)).collect(),
            Self::Where { path, is_equal, wanted } => {
                let is_meant = |element: &&Value| match (path.first(element), wanted) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(value), Some(wanted)) => {
                        let shown =
                            value.as_text().map_or_else(|| value.to_string(), str::to_owned);
                        (shown == *wanted) == *is_equal
                    }
                };
                value.elements().iter().filter(is_meant).collect()
            }
        }
    }
}

/// Reads a name up to the next dot or bracket; a backslash takes the meaning from the next character.
fn parse_field(text: &str) -> (Option<Step>, &str) {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            '.' | '[' => return (named(name), &text[at..]),
            other => name.push(other),
        }
    }
    (named(name), "")
}

fn named(name: String) -> Option<Step> {
    match name.as_str() {
        "" => None,
        "*" => Some(Step::All),
        _ => Some(Step::Field(name)),
    }
}

fn parse_bracket(inner: &str) -> Option<(Option<Step>, &str)> {
    if let Some(condition) = inner.strip_prefix("?(") {
        let (condition, behind) = condition.split_once(")]")?;
        return Some((Some(parse_condition(condition)?), behind));
    }
    if let Some(quoted) = inner.strip_prefix('\'') {
        let (name, behind) = quoted.split_once("']")?;
        return Some((Some(Step::Field(name.replace('\\', ""))), behind));
    }
    let (index, behind) = inner.split_once(']')?;
    let step = if index == "*" { Step::All } else { Step::Index(index.parse().ok()?) };
    Some((Some(step), behind))
}

fn parse_condition(condition: &str) -> Option<Step> {
    let parts = [("==", true), ("!=", false)].into_iter().find_map(|(sign, is_equal)| {
        condition.split_once(sign).map(|(left, right)| (left, Some(right), is_equal))
    });
    let (left, right, is_equal) = parts.unwrap_or((condition, None, true));
    let path = JsonPath::parse(left.trim().strip_prefix('@')?)?;
    let wanted = right.map(|right| right.trim().trim_matches(['"', '\'']).to_owned());
    Some(Step::Where { path, is_equal, wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_published_columns_lead_where_they_say() {
        let root = Value::parse_json(
            r#"{"spec":{"names":["a","b"],"n":3,"empty":[]},"metadata":{"labels":{"strimzi.io/c":"x"}},
                "status":{"conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True","n":1}]}}"#,
        )
        .unwrap();
        for (path, expected) in [
            (".spec.names[0]", Some(r#""a""#)),
            (".spec.names[-1]", Some(r#""b""#)),
            (".spec.names[2]", None),
            (".spec.names[-3]", None),
            (".spec.names[*]", Some(r#""a""#)),
            (".spec.names", Some(r#"["a","b"]"#)),
            (".spec.n", Some("3")),
            (".spec.missing.deeper", None),
            (".spec.empty[*].x", None),
            (r".metadata.labels.strimzi\.io/c", Some(r#""x""#)),
            (r".metadata.labels['strimzi\.io/c']", Some(r#""x""#)),
            (r#".status.conditions[?(@.type=="Ready")].status"#, Some(r#""True""#)),
            (".status.conditions[?(@.type == 'Ready')].status", Some(r#""True""#)),
            (".status.conditions[?(@.type!='Ready')].status", Some(r#""False""#)),
            (".status.conditions[?(@.n==1)].type", Some(r#""Ready""#)),
            (".status.conditions[?(@.n)].type", Some(r#""Ready""#)),
            (".status.conditions[?(@.type=='Gone')].status", None),
        ] {
            let parsed = JsonPath::parse(path).expect(path);
            assert_eq!(parsed.first(&root).map(Value::to_string).as_deref(), expected, "{path}");
        }
        for path in ["spec", ".a[", ".a[x]", ".a[?(@.b", ".a[?(b)]", ".a['b"] {
            assert_eq!(JsonPath::parse(path), None, "{path}");
        }
    }
}
