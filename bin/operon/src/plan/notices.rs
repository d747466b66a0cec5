//! What people should know about a plan although it stops nothing.

use operon_resolve::NoticeKind;

use super::{situation::Question, view::Row};

/// Something that people should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlanNotice {
    /// The request it concerns; empty when it concerns the namespace.
    pub(crate) request: String,
    /// What kind of thing it is, for programs.
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// Returns the notices of a resolution, and those that catalogs have about what is added.
pub(super) fn notices(question: &Question<'_>, rows: &[Row]) -> Vec<PlanNotice> {
    let mut notices: Vec<PlanNotice> = question
        .resolution
        .notices
        .iter()
        .map(|notice| PlanNotice {
            request: notice.request.clone(),
            kind: kind_name(notice.kind),
            text: notice.text.clone(),
        })
        .collect();
    for row in rows {
        for text in deprecations(question, row) {
            notices.push(PlanNotice { request: String::new(), kind: "deprecated", text });
        }
    }
    notices
}

fn kind_name(kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Vanished => "vanished",
        NoticeKind::SourceUnavailable => "catalog-unavailable",
        NoticeKind::Malformed => "malformed",
        NoticeKind::Adopted => "adopted",
        NoticeKind::BeingReplaced => "being-replaced",
        NoticeKind::Unreadable => "unreadable",
    }
}

/// Says what the catalog advises against: the package, the channel or the bundle of a row.
fn deprecations(question: &Question<'_>, row: &Row) -> Vec<String> {
    let catalog = row.source.as_ref().and_then(|source| question.catalog(source));
    let Some(package) = catalog.and_then(|catalog| catalog.package(&row.package)) else {
        return Vec::new();
    };
    let channel = package.channel(&row.channel).and_then(|channel| channel.deprecation());
    let bundle = package.bundle(&row.name).and_then(|bundle| bundle.deprecation());
    let told = [
        (package.deprecation(), format!("package {} is deprecated", row.package)),
        (channel, format!("channel {} of {} is deprecated", row.channel, row.package)),
        (bundle, format!("{} {} is deprecated", row.package, row.version)),
    ];
    told.into_iter()
        .filter_map(|(message, what)| message.map(|message| format!("{what}: {message}")))
        .collect()
}
