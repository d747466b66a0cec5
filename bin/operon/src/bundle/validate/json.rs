//! Findings about a bundle for programs, with the members that findings about a catalog have.

use operon_bundle::{BundleFile, BundleFinding};

use crate::output::Json;

/// Returns each finding as a value.
pub(super) fn findings(
    findings: &[BundleFinding],
    bundle: &str,
    files: &[BundleFile],
) -> Vec<Json> {
    findings.iter().map(|finding| one(finding, bundle, files)).collect()
}

fn one(finding: &BundleFinding, bundle: &str, files: &[BundleFile]) -> Json {
    let mut members = vec![
        ("bundle", Json::text(bundle)),
        ("severity", Json::text(finding.severity.name())),
        ("rule", Json::text(finding.rule_id)),
        ("message", Json::text(&finding.message)),
    ];
    if let Some(file) = files.iter().find(|file| file.path == finding.file) {
        let (line, column) = position(&file.content, finding.range.start);
        let directory = bundle.trim_end_matches('/');
        members.push(("file", Json::text(format!("{directory}/{}", finding.file))));
        members.push(("line", Json::number(line)));
        members.push(("column", Json::number(column)));
    }
    members.push(("help", Json::texts(finding.help.clone())));
    Json::Object(members)
}

/// Returns the line and column of an offset, both from one.
fn position(content: &[u8], offset: usize) -> (usize, usize) {
    let before = &content[..offset.min(content.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
}
