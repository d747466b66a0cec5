//! Names that are close to a name that does not exist.

/// Returns the name that is closest to the wanted one, if any is close enough to be meant.
pub fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wanted.chars().count() / 3).clamp(1, MAX_TYPOS);
    names
        .filter_map(|name| {
            let contains = !wanted.is_empty()
                && wanted.len() >= MIN_PART
                && (name.contains(wanted) || (name.len() >= MIN_PART && wanted.contains(name)));
            let distance = distance(wanted, name, limit);
            match (distance, contains) {
                (Some(distance), _) => Some((distance, name)),
                (None, true) => Some((limit + 1, name)),
                (None, false) => None,
            }
        })
        .min()
        .map(|(_, name)| name)
}

/// More letters than this may not be wrong.
const MAX_TYPOS: usize = 3;

/// A name that contains the wanted one is meant only if that is at least so long.
const MIN_PART: usize = 4;

/// Names longer than this are not compared letter by letter.
const MAX_COMPARED: usize = 128;

/// Counts the letters to change, add or leave out, up to a limit.
fn distance(left: &str, right: &str, limit: usize) -> Option<usize> {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    if left.len().abs_diff(right.len()) > limit || left.len().max(right.len()) > MAX_COMPARED {
        return None;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (position, letter) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (other, other_letter) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other_letter);
            diagonal = row[other + 1];
            row[other + 1] = changed.min(row[other] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_closest_name_is_found_and_far_ones_are_not() {
        let names = ["etcd", "prometheus", "prometheus-exporter", "strimzi-kafka-operator"];
        let near = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(near("etdc"), None);
        assert_eq!(near("ectd-operator"), None);
        assert_eq!(near("etc"), Some("etcd"));
        assert_eq!(near("promethus"), Some("prometheus"));
        assert_eq!(near("strimzi-kafka"), Some("strimzi-kafka-operator"));
        assert_eq!(near("postgres"), None);
    }
}
