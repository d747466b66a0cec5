//! What users of a channel notice, with versions that notice the same told together.

use operon_catalog::diff::{Change, Stranding, UserChange, Users};

use super::text::Page;

/// Marks what someone should look at.
const ATTENTION: char = '!';

/// How many versions a line names; the others are counted.
const MAX_NAMED_VERSIONS: usize = 5;

/// Prints what changes for the users of a channel.
pub(super) fn render(page: &mut Page, users: &Users<'_>) {
    if !users.complete {
        let text = format!("users of channel {}: too large to be worked out", users.channel);
        page.line(1, '!', &text);
        return;
    }
    page.line(1, '~', &format!("for users of channel {}", users.channel));
    let mut groups: Vec<(char, String, Vec<&str>)> = Vec::new();
    for user in &users.changes {
        for (symbol, text) in statements(user) {
            match groups.iter_mut().find(|group| group.1 == text) {
                Some(group) => group.2.push(version(user)),
                None => groups.push((symbol, text, vec![version(user)])),
            }
        }
    }
    groups.sort_by_key(|(symbol, _, _)| *symbol != ATTENTION);
    for (symbol, text, versions) in groups {
        page.line(2, symbol, &format!("on {}: {text}", listed(&versions)));
    }
}

fn version<'c>(user: &UserChange<'c>) -> &'c str {
    let version = user.entry.bundle().map_or("", |bundle| bundle.version_text());
    if version.is_empty() { user.entry.name() } else { version }
}

fn listed(versions: &[&str]) -> String {
    match versions.len().saturating_sub(MAX_NAMED_VERSIONS) {
        0 => versions.join(", "),
        more => format!("{} and {more} more", versions[..MAX_NAMED_VERSIONS].join(", ")),
    }
}

/// Says what the users of one version notice, a sentence for each thing.
fn statements(user: &UserChange<'_>) -> Vec<(char, String)> {
    let mut found = Vec::new();
    match user.stranding {
        Some(Stranding::Stranded) => {
            found.push((ATTENTION, "stranded: updates no longer lead to the head".to_owned()));
        }
        Some(Stranding::Freed) => {
            found.push(('~', "freed: updates now lead to the head".to_owned()));
        }
        None => {}
    }
    if let Some(message) = user.deprecated {
        found.push((ATTENTION, format!("now deprecated: {message}")));
    }
    if user.removed {
        found.push(('-', "no longer in the channel".to_owned()));
    }
    if let Some(Change { before, after }) = user.next {
        found.push(match (before, after) {
            (_, None) => ('-', "no update is offered any more".to_owned()),
            (None, Some(after)) => ('+', format!("next update {after} (before: none)")),
            (Some(before), Some(after)) => ('~', format!("next update {after} (before: {before})")),
        });
    }
    let here = user.entry.name();
    if let Some(Change { before, after }) = user.end
        && after != here
        && user.next.is_none_or(|next| next.before.is_some())
    {
        found.push(('~', format!("updates end at {after} (before: {before})")));
    }
    found
}
