//! The name that a misspelt one most likely means.
//!
//! Nothing is guessed with it: a near name is suggested to people, never taken.

/// A name longer than this is no misspelling of a Kubernetes name, which has at most 253 characters.
const MAX_NAME_LENGTH: usize = 300;

/// How many letters may be wrong in a long name; with more, another name is meant.
const MAX_MISSPELT: usize = 3;

/// Returns the candidate that the name is most likely a misspelling of; of equals, the first.
pub fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let folded: Vec<char> = name.to_lowercase().chars().collect();
    if folded.len() > MAX_NAME_LENGTH || folded.is_empty() {
        return None;
    }
    let text: String = folded.iter().collect();
    let tolerated = (folded.len() / 4).clamp(1, MAX_MISSPELT);
    let judge = |(position, candidate): (usize, &'n str)| {
        let other = candidate.to_lowercase();
        let characters: Vec<char> = other.chars().take(MAX_NAME_LENGTH).collect();
        let distance = distance(&folded, &characters);
        let is_part = folded.len() >= 3 && other.contains(&text);
        let is_near = distance <= tolerated;
        (is_near || is_part).then_some((!is_near, distance, position, candidate))
    };
    candidates.enumerate().filter_map(judge).min().map(|(.., candidate)| candidate)
}

/// Counts the insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, from) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(from != to);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && *from == right[column - 1] && left[row - 1] == *to {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_misspelling_or_holds_the_word() {
        let names = ["cert-manager", "etcd", "grafana-operator", "kiali", "prometheus"];
        let claims = [
            ("ectd", Some("etcd")),
            ("Kiali", Some("kiali")),
            ("grafana", Some("grafana-operator")),
            ("certmanager", Some("cert-manager")),
            ("promethues", Some("prometheus")),
            ("grafana-operators", Some("grafana-operator")),
            ("galaxy-operator", None),
            ("zzz", None),
            ("", None),
        ];
        for (typed, expected) in claims {
            assert_eq!(nearest(typed, names.into_iter()), expected, "{typed}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), names.into_iter()), None);
    }
}
