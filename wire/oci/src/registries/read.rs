//! TOML to entries, with the line of what is wrong.
//!
//! Names that are not known are passed over: the format has settings for other tools. That two settings
//! contradict each other is refused where the format says so.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    MAX_REGISTRIES_BYTES, Mirror, RegistriesConf, RegistriesError, Registry, Usage, lower_host,
};
use crate::{Reference, printable::excerpt};

pub(super) fn parse(text: &str) -> Result<RegistriesConf, RegistriesError> {
    if text.len() > MAX_REGISTRIES_BYTES {
        return Err(RegistriesError::TooLarge { bytes: text.len() });
    }
    let table = DeTable::parse(text).map_err(|error| RegistriesError::NotToml {
        line: line(text, error.span().map_or(0, |span| span.start)),
        message: excerpt(error.message(), 200),
    })?;
    let at = Section { text, table: table.get_ref(), start: 0 };
    if at.table.contains_key("registries") {
        return Err(RegistriesError::Version1);
    }
    let mut conf = RegistriesConf {
        unqualified_search: at.texts("unqualified-search-registries")?,
        ..RegistriesConf::default()
    };
    for section in at.sections("registry")? {
        conf.insert(registry(&section)?);
    }
    Ok(conf)
}

fn registry(section: &Section<'_>) -> Result<Registry, RegistriesError> {
    let location = section.location("location")?;
    let prefix = section.text("prefix")?.unwrap_or_default();
    let prefix = match prefix.strip_prefix("*.") {
        Some(domain) => {
            check_name(section, &format!("any.{domain}"))?;
            if domain.contains('/') {
                return Err(section.wrong("a `prefix` with `*` must not have a path"));
            }
            lower_host(prefix)
        }
        None if prefix.is_empty() => location.clone(),
        None => {
            check_name(section, prefix)?;
            lower_host(prefix)
        }
    };
    if prefix.is_empty() {
        return Err(section.wrong("a `[[registry]]` needs a `location` or a `prefix`"));
    }
    if location.is_empty() && !prefix.starts_with('*') {
        return Err(section
            .wrong("a `[[registry]]` needs a `location`, unless its `prefix` begins with `*.`"));
    }
    let is_by_digest = section.flag("mirror-by-digest-only")?;
    let mirrors = section.sections("mirror")?;
    let mirrors = mirrors.iter().map(|mirror| read_mirror(mirror, is_by_digest));
    Ok(Registry {
        prefix,
        location,
        is_insecure: section.flag("insecure")?,
        is_blocked: section.flag("blocked")?,
        mirrors: mirrors.collect::<Result<_, _>>()?,
    })
}

fn read_mirror(section: &Section<'_>, is_by_digest: bool) -> Result<Mirror, RegistriesError> {
    let location = section.location("location")?;
    if location.is_empty() {
        return Err(section.wrong("a `[[registry.mirror]]` needs a `location`"));
    }
    let usage = match section.text("pull-from-mirror")? {
        Some(_) if is_by_digest => {
            return Err(section.wrong(
                "`pull-from-mirror` of a mirror contradicts `mirror-by-digest-only` of its registry; keep one",
            ));
        }
        None if is_by_digest => Usage::DigestOnly,
        None | Some("" | "all") => Usage::All,
        Some("digest-only") => Usage::DigestOnly,
        Some("tag-only") => Usage::TagOnly,
        Some(other) => {
            return Err(section.wrong(&format!(
                "`pull-from-mirror` should be `all`, `digest-only` or `tag-only`, not `{}`",
                excerpt(other, 40)
            )));
        }
    };
    Ok(Mirror { location, is_insecure: section.flag("insecure")?, usage })
}

/// A name that an image's name can begin with: a host alone, or a whole reference.
fn check_name(section: &Section<'_>, name: &str) -> Result<(), RegistriesError> {
    let probe = if name.contains('/') { name.to_owned() } else { format!("{name}/a") };
    let problem = match Reference::parse(&probe) {
        Ok(reference)
            if name.split('/').next().is_some_and(|host| {
                host.eq_ignore_ascii_case(reference.registry())
                    || host.eq_ignore_ascii_case("index.docker.io")
            }) =>
        {
            return Ok(());
        }
        Ok(_) => "it does not begin with a host".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(section.wrong(&format!("`{}` is no location: {problem}", excerpt(name, 100))))
}

/// A table and where it begins.
struct Section<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
    start: usize,
}

impl<'a> Section<'a> {
    fn wrong(&self, problem: &str) -> RegistriesError {
        RegistriesError::Wrong { line: line(self.text, self.start), problem: problem.to_owned() }
    }

    fn wrong_type(
        &self,
        value: &Spanned<DeValue<'_>>,
        name: &str,
        expected: &str,
    ) -> RegistriesError {
        let found = value.get_ref().type_str();
        let problem = format!("`{name}` should be {expected}, not of the type {found}");
        RegistriesError::Wrong { line: line(self.text, value.span().start), problem }
    }

    fn text(&self, name: &str) -> Result<Option<&'a str>, RegistriesError> {
        let Some(value) = self.table.get(name) else {
            return Ok(None);
        };
        value.get_ref().as_str().map(Some).ok_or_else(|| self.wrong_type(value, name, "a text"))
    }

    /// Returns a location without the `/` at its end; empty where there is none.
    fn location(&self, name: &str) -> Result<String, RegistriesError> {
        let location = self.text(name)?.unwrap_or_default().trim_end_matches('/');
        if !location.is_empty() {
            check_name(self, location)?;
        }
        Ok(lower_host(location))
    }

    fn flag(&self, name: &str) -> Result<bool, RegistriesError> {
        let Some(value) = self.table.get(name) else {
            return Ok(false);
        };
        value.get_ref().as_bool().ok_or_else(|| self.wrong_type(value, name, "`true` or `false`"))
    }

    fn texts(&self, name: &str) -> Result<Option<Vec<String>>, RegistriesError> {
        let Some(value) = self.table.get(name) else {
            return Ok(None);
        };
        let wrong = || self.wrong_type(value, name, "a list of texts");
        let elements = value.get_ref().as_array().ok_or_else(wrong)?.iter();
        let text = |element: &Spanned<DeValue<'_>>| {
            element.get_ref().as_str().map(str::to_owned).ok_or_else(wrong)
        };
        elements.map(text).collect::<Result<_, _>>().map(Some)
    }

    fn sections(&self, name: &str) -> Result<Vec<Section<'a>>, RegistriesError> {
        let Some(value) = self.table.get(name) else {
            return Ok(Vec::new());
        };
        let wrong = || self.wrong_type(value, name, &format!("written as `[[{name}]]`"));
        let elements = value.get_ref().as_array().ok_or_else(wrong)?.iter();
        let section = |element: &'a Spanned<DeValue<'a>>| {
            let table = element.get_ref().as_table().ok_or_else(wrong)?;
            Ok(Section { text: self.text, table, start: element.span().start })
        };
        elements.map(section).collect()
    }
}

fn line(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}
