//! What a bundle requires, each thing with what meets it in this catalog.
//!
//! A constraint made of several is answered part by part; whether some set of operators meets the
//! whole is for a resolver to say.

use operon_catalog::{Bundle, Catalog};

use super::{
    PageOptions,
    page::Page,
    relation::{Group, Matches, matches},
    requirement::{Need, Requirement, requirements},
};
use crate::{catalog::cells::shorten, output::Json};

/// How many packages that meet a requirement are listed, unless all are asked for.
const LISTED_PACKAGES: usize = 5;

/// How many columns of a requirement are shown, unless all is asked for; a rule may be a program.
const SENTENCE_COLUMNS: usize = 300;

/// A requirement and what meets it; the parts of a compound one are answered one by one.
pub(super) struct Answer<'a> {
    requirement: Requirement,
    matches: Matches<'a>,
    parts: Vec<Answer<'a>>,
}

/// Looks up everything a bundle requires.
pub(super) fn answers<'a>(catalog: &'a Catalog, bundle: Bundle<'a>) -> Vec<Answer<'a>> {
    requirements(bundle).into_iter().map(|requirement| Answer::find(catalog, requirement)).collect()
}

/// Writes the section about what is required.
pub(super) fn write_answers(page: &mut Page, answers: &[Answer<'_>], options: PageOptions) {
    if answers.is_empty() {
        return;
    }
    page.section("Requires");
    for answer in answers {
        answer.write(page, 0, options);
    }
}

/// Returns the members that say what is required, for programs.
pub(super) fn need_members(need: &Need) -> Vec<(&'static str, Json)> {
    match need {
        Need::Api { group, version, kind } => vec![
            ("type", Json::text("api")),
            ("group", Json::text(group)),
            ("version", Json::text(version)),
            ("kind", Json::text(kind)),
        ],
        Need::Package { name, range } => vec![
            ("type", Json::text("package")),
            ("package", Json::text(name)),
            ("versionRange", Json::text(range)),
        ],
        Need::Cel(rule) => vec![("type", Json::text("cel")), ("rule", Json::text(rule))],
        Need::All(_) => vec![("type", Json::text("all"))],
        Need::Any(_) => vec![("type", Json::text("any"))],
        Need::Not(_) => vec![("type", Json::text("not"))],
        Need::Unreadable(json) => {
            vec![("type", Json::text("unknown")), ("value", Json::Raw(json.clone()))]
        }
    }
}

impl<'a> Answer<'a> {
    fn find(catalog: &'a Catalog, requirement: Requirement) -> Self {
        let parts = match &requirement.need {
            Need::All(parts) | Need::Any(parts) | Need::Not(parts) => parts.clone(),
            Need::Api { .. } | Need::Package { .. } | Need::Cel(_) | Need::Unreadable(_) => {
                Vec::new()
            }
        };
        Self {
            matches: matches(catalog, &requirement.need),
            parts: parts.into_iter().map(|part| Answer::find(catalog, part)).collect(),
            requirement,
        }
    }

    fn write(&self, page: &mut Page, steps: usize, options: PageOptions) {
        let message = &self.requirement.message;
        let sentence = self.requirement.need.sentence();
        let sentence = if options.full { sentence } else { shorten(&sentence, SENTENCE_COLUMNS) };
        page.item(
            steps,
            &if message.is_empty() { sentence } else { format!("{sentence} (\"{message}\")") },
        );
        match &self.matches {
            Matches::NotAsked => {}
            Matches::BadRange(error) => page.item(steps + 1, &format!("met by nothing: {error}")),
            Matches::Bundles(groups) if groups.is_empty() => {
                page.item(steps + 1, "met by nothing in this catalog");
            }
            Matches::Bundles(groups) => {
                let shown =
                    if options.full { groups.len() } else { LISTED_PACKAGES.min(groups.len()) };
                for group in &groups[..shown] {
                    page.item(steps + 1, &format!("met by {}", group.sentence()));
                }
                if shown < groups.len() {
                    page.item(steps + 1, &format!("and by {} more packages", groups.len() - shown));
                }
            }
        }
        for part in &self.parts {
            part.write(page, steps + 1, options);
        }
    }

    pub(super) fn value(&self) -> Json {
        let mut members = need_members(&self.requirement.need);
        if !self.requirement.message.is_empty() {
            members.push(("failureMessage", Json::text(&self.requirement.message)));
        }
        members.push(("isConstraint", Json::Bool(self.requirement.is_constraint)));
        match &self.matches {
            Matches::Bundles(groups) => {
                members.push(("metBy", Json::list(groups.iter().map(Group::value))));
            }
            Matches::BadRange(error) => {
                members.push(("metBy", Json::List(Vec::new())));
                members.push(("error", Json::text(error)));
            }
            Matches::NotAsked => {}
        }
        if !self.parts.is_empty() {
            members.push(("constraints", Json::list(self.parts.iter().map(Answer::value))));
        }
        Json::Object(members)
    }
}
