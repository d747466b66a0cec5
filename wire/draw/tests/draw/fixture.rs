//! Graphs for the tests, written in a small notation: one version per line, newest first.

use operon_draw::{Lane, Node, PackageGraph, Role, SkipRange};

/// Reads lines such as
/// `chain 1.2.0 replaces=1.1.0 skips=1.1.1,1.1.2 range=">=1.0.0 <1.2.0" covers=1.0.0 deprecated="CVE"`.
pub(crate) fn lane(channel: &str, versions: &str) -> Lane {
    let lines: Vec<Vec<String>> =
        versions.lines().map(words).filter(|words| !words.is_empty()).collect();
    let position = |label: &str| {
        lines
            .iter()
            .position(|words| words[1] == label)
            .expect("the fixture names a version it has")
    };
    let positions = |labels: &str| labels.split(',').map(position).collect::<Vec<_>>();
    let nodes = lines
        .iter()
        .map(|words| {
            let value = |key: &str| {
                words[2..].iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
            };
            Node {
                name: format!("demo.v{}", words[1]),
                label: words[1].clone(),
                role: role(&words[0]),
                deprecation: value("deprecated").map(str::to_owned),
                replaces: value("replaces").map(position),
                skips: value("skips").map(positions).unwrap_or_default(),
                skip_range: value("range").map(|text| SkipRange {
                    text: text.to_owned(),
                    covers: value("covers").map(positions).unwrap_or_default(),
                }),
            }
        })
        .collect();
    Lane { channel: channel.to_owned(), is_default: false, deprecation: None, nodes, problem: None }
}

pub(crate) fn package(mut lanes: Vec<Lane>) -> PackageGraph {
    lanes[0].is_default = true;
    PackageGraph { package: "demo".to_owned(), deprecation: None, lanes }
}

/// A straight line that ends at a name without content.
pub(crate) fn plain_chain() -> PackageGraph {
    package(vec![lane(
        "stable",
        "head 0.9.4 replaces=0.9.2
         chain 0.9.2 replaces=0.9.0
         chain 0.9.0 replaces=0.6.1
         virtual 0.6.1",
    )])
}

/// Skips beside the chain, one of them deprecated, and a version stranded behind a skipped one.
pub(crate) fn skips() -> PackageGraph {
    package(vec![lane(
        "stable",
        "head 0.10.0 replaces=0.9.1 skips=0.9.3,0.9.2
         skipped 0.9.3 replaces=0.9.2
         skipped 0.9.2 replaces=0.8.0 deprecated=\"CVE-2025-1234\"
         chain 0.9.1 replaces=0.9.0 skips=0.9.2
         virtual 0.9.0
         stranded 0.8.0 replaces=0.7.0
         stranded 0.7.0",
    )])
}

/// Ranges: a wide one, a narrow one, and one that covers nothing here.
pub(crate) fn skip_ranges() -> PackageGraph {
    package(vec![lane(
        "stable",
        "head 1.4.0 replaces=1.3.0 range=\">=1.0.0 <1.4.0\" covers=1.3.0,1.2.0,1.1.0,1.0.0
         chain 1.3.0 replaces=1.2.0 range=\"1.2.x\" covers=1.2.0
         chain 1.2.0 replaces=1.1.0
         chain 1.1.0 replaces=1.0.0 range=\"<0.5.0\"
         chain 1.0.0",
    )])
}

/// Everything at once: channels, deprecations on each level, a problem, virtual and stranded.
pub(crate) fn everything() -> PackageGraph {
    let stable = lane(
        "stable",
        "head 2.1.0 replaces=2.0.0 skips=2.0.1 range=\">=1.8.0 <2.1.0\" covers=2.0.1,2.0.0,1.9.0,1.8.0
         skipped 2.0.1 replaces=2.0.0 deprecated=\"loses data, see CVE-2025-1234\"
         chain 2.0.0 replaces=1.9.0 deprecated=\"end of life\"
         virtual 1.9.0
         stranded 1.8.0",
    );
    let mut candidate = lane(
        "candidate",
        "head 2.2.0-rc1 replaces=2.1.0
         chain 2.1.0 replaces=2.0.1
         chain 2.0.1 replaces=2.0.0
         chain 2.0.0",
    );
    candidate.deprecation = Some("use stable".to_owned());
    let mut legacy = lane("legacy", "head 1.8.0\nhead 1.7.0");
    legacy.problem = Some("two heads: 1.8.0, 1.7.0".to_owned());
    let mut package = package(vec![stable, candidate, legacy]);
    package.deprecation = Some("moved to demo-operator".to_owned());
    package
}

/// A lane in which the head skips `skipped` versions and replaces a chain of `chained`.
pub(crate) fn long(skipped: usize, chained: usize) -> PackageGraph {
    let node = |label: String, role: Role| Node {
        name: format!("demo.v{label}"),
        label,
        role,
        deprecation: None,
        replaces: None,
        skips: Vec::new(),
        skip_range: None,
    };
    let mut nodes = vec![node("3.0.0".to_owned(), Role::Head)];
    nodes.extend((0..skipped).rev().map(|patch| node(format!("2.0.{patch}"), Role::Skipped)));
    nodes.extend((0..chained).rev().map(|patch| node(format!("1.0.{patch}"), Role::Chain)));
    let count = nodes.len();
    nodes[0].skips = (1..=skipped).collect();
    nodes[0].replaces = (chained > 0).then_some(skipped + 1);
    for (index, node) in nodes.iter_mut().enumerate().skip(1) {
        node.replaces = Some(index + 1).filter(|&below| below < count);
        // Ranges on some versions only: covering everything from everywhere grows with the square.
        if index % 50 == 1 {
            let covers = (index + 1..count).collect();
            node.skip_range = Some(SkipRange { text: "<3.0.0".to_owned(), covers });
        }
    }
    let lane = Lane {
        channel: "stable".to_owned(),
        is_default: true,
        deprecation: None,
        nodes,
        problem: None,
    };
    package(vec![lane])
}

fn role(word: &str) -> Role {
    let roles = [
        ("head", Role::Head),
        ("chain", Role::Chain),
        ("skipped", Role::Skipped),
        ("virtual", Role::Virtual),
        ("stranded", Role::Stranded),
    ];
    let role = roles.into_iter().find(|(name, _)| *name == word);
    role.expect("the fixture names a role").1
}

/// Splits at spaces, except between quotation marks, which are dropped.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().expect("there is always a last word").push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
