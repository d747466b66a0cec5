//! A reader of markup just good enough to prove a picture well-formed and its texts apart.

use std::collections::BTreeMap;

/// One visible text of a picture.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) size: f64,
    pub(crate) content: String,
}

/// Returns the visible texts, or where the markup is broken.
pub(crate) fn read(document: &str) -> Result<Vec<Text>, String> {
    let mut open: Vec<String> = Vec::new();
    let mut texts = Vec::new();
    let mut current: Option<BTreeMap<String, String>> = None;
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let content = decoded(&rest[..start])?;
        if let Some(attributes) = current.take() {
            texts.push(text(&attributes, content)?);
        }
        let end = rest.find('>').ok_or("a tag without an end")?;
        let tag = rest.get(start + 1..end).ok_or("an end without a tag")?;
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let alone = tag.ends_with('/');
        let attributes = self::attributes(attributes.trim_end_matches('/'))?;
        if name == "text" {
            current = Some(attributes);
        }
        if !alone {
            open.push(name.to_owned());
        }
    }
    match (open.pop(), decoded(rest)?.trim()) {
        (None, "") => Ok(texts),
        (left, behind) => Err(format!("left open {left:?}, behind the end {behind:?}")),
    }
}

fn text(attributes: &BTreeMap<String, String>, content: String) -> Result<Text, String> {
    let number = |key: &str| attributes[key].parse::<f64>().map_err(|error| error.to_string());
    let size = match attributes["class"].as_str() {
        "title" => 20.0,
        "heading" => 15.0,
        "label" | "label quiet" => 13.0,
        "small" | "warning" => 11.0,
        class => return Err(format!("a text of unknown class {class}")),
    };
    Ok(Text { x: number("x")?, y: number("y")?, size, content })
}

fn attributes(mut rest: &str) -> Result<BTreeMap<String, String>, String> {
    let mut attributes = BTreeMap::new();
    while !rest.trim().is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or(format!("no value in {rest:?}"))?;
        let (value, behind) = value.split_once('"').ok_or(format!("no quote in {rest:?}"))?;
        let name = name.trim();
        if !name.chars().all(|character| character.is_ascii_alphanumeric() || character == '-') {
            return Err(format!("a strange attribute {name:?}"));
        }
        if attributes.insert(name.to_owned(), decoded(value)?).is_some() {
            return Err(format!("{name} twice"));
        }
        rest = behind;
    }
    Ok(attributes)
}

fn decoded(text: &str) -> Result<String, String> {
    let mut decoded = String::new();
    let mut parts = text.split('&');
    decoded.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (entity, behind) = part.split_once(';').ok_or(format!("a bare & before {part:?}"))?;
        decoded.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => return Err(format!("unknown entity {entity:?}")),
        });
        decoded.push_str(behind);
    }
    match decoded.chars().find(|&character| character.is_control() && character != '\n') {
        Some(control) => Err(format!("control character {control:?}")),
        None => Ok(decoded),
    }
}

#[test]
fn the_reader_refuses_what_is_broken() {
    assert!(read("<a><b x=\"1\"/></a>").is_ok());
    for broken in
        ["<a>", "<a></b>", "<a>&</a>", "<a>&nbsp;</a>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>"]
    {
        assert!(read(broken).is_err(), "{broken}");
    }
}
