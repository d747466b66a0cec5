//! What a bundle requires, each thing with what meets it in this catalog.
//!
//! A constraint made of several is answered part by part; whether some set of operators meets the
//! whole is for a resolver to say.

use operon_catalog::{Bundle, Catalog};
use operon_constraint::{Constraint, Requirement, StatedRequirement};

use super::{
    PageOptions,
    page::Page,
    relation::{Group, Matches, compile_budget, matches, requirements_of},
};
use crate::{catalog::cells::shorten, output::Json};

/// How many packages that meet a requirement are listed, unless all are asked for.
const LISTED_PACKAGES: usize = 5;

/// How many columns of a requirement are shown, unless all is asked for; a rule may be a program.
const SENTENCE_COLUMNS: usize = 300;

/// Parts that are nested deeper than this are not answered one by one; real constraints have two or three
/// levels.
const MAX_ANSWERED_DEPTH: usize = 32;

/// A requirement and what meets it; the parts of a compound one are answered one by one.
pub(super) struct Answer<'a> {
    heading: String,
    /// What the author wants to be said when it is not met; may be empty.
    message: String,
    members: Vec<(&'static str, Json)>,
    is_constraint: bool,
    matches: Matches<'a>,
    parts: Vec<Answer<'a>>,
}

/// Looks up everything a bundle requires.
pub(super) fn answers<'a>(catalog: &'a Catalog, bundle: Bundle<'a>) -> Vec<Answer<'a>> {
    let required = requirements_of(bundle, &mut compile_budget());
    required.iter().map(|stated| Answer::of(catalog, stated)).collect()
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
pub(super) fn need_members(requirement: &Requirement) -> Vec<(&'static str, Json)> {
    let kind = |kind: &str| ("type", Json::text(kind));
    match requirement {
        Requirement::Gvk(api) => vec![
            kind("api"),
            ("group", Json::text(&api.group)),
            ("version", Json::text(&api.version)),
            ("kind", Json::text(&api.kind)),
        ],
        Requirement::Package { name, range } => vec![
            kind("package"),
            ("package", Json::text(name)),
            ("versionRange", Json::text(range.to_string())),
        ],
        Requirement::Label(label) => vec![kind("label"), ("label", Json::text(label))],
        Requirement::Cel(rule) => vec![kind("cel"), ("rule", Json::text(rule.text()))],
        Requirement::All(_) => vec![kind("all")],
        Requirement::Any(_) => vec![kind("any")],
        Requirement::Not(_) => vec![kind("not")],
    }
}

impl<'a> Answer<'a> {
    fn of(catalog: &'a Catalog, stated: &StatedRequirement) -> Self {
        let is_constraint = stated.property_type == "olm.constraint";
        match &stated.constraint {
            Ok(constraint) => Self::find(catalog, constraint, is_constraint, MAX_ANSWERED_DEPTH),
            Err(error) => Self {
                heading: stated.heading(),
                message: String::new(),
                members: vec![
                    ("type", Json::text("unknown")),
                    ("value", Json::Raw(stated.value.clone())),
                ],
                is_constraint,
                matches: Matches::Malformed(error.to_string()),
                parts: Vec::new(),
            },
        }
    }

    /// The recursion is bounded by `depth`.
    fn find(
        catalog: &'a Catalog,
        constraint: &Constraint,
        is_constraint: bool,
        depth: usize,
    ) -> Self {
        let requirement = &constraint.requirement;
        let parts = requirement.parts().filter(|_| depth > 0);
        let is_cut = depth == 0 && requirement.parts().is_some();
        Self {
            heading: if is_cut { constraint.to_string() } else { requirement.heading() },
            message: constraint.failure_message.clone().unwrap_or_default(),
            members: need_members(requirement),
            is_constraint,
            matches: matches(catalog, requirement),
            parts: parts
                .into_iter()
                .flat_map(|parts| parts.iter())
                .map(|part| Self::find(catalog, part, is_constraint, depth - 1))
                .collect(),
        }
    }

    fn write(&self, page: &mut Page, steps: usize, options: PageOptions) {
        let (message, heading) = (&self.message, &self.heading);
        let sentence =
            if options.full { heading.clone() } else { shorten(heading, SENTENCE_COLUMNS) };
        page.item(
            steps,
            &if message.is_empty() { sentence } else { format!("{sentence} (\"{message}\")") },
        );
        match &self.matches {
            Matches::NotAsked => {}
            Matches::Malformed(error) => page.item(steps + 1, &format!("met by nothing: {error}")),
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
        let mut members = self.members.clone();
        if !self.message.is_empty() {
            members.push(("failureMessage", Json::text(&self.message)));
        }
        members.push(("isConstraint", Json::Bool(self.is_constraint)));
        match &self.matches {
            Matches::Bundles(groups) => {
                members.push(("metBy", Json::list(groups.iter().map(Group::value))));
            }
            Matches::Malformed(error) => {
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
