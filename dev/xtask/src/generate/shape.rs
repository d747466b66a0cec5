//! The shape of the community catalog: how many packages of which size.
//!
//! The table was fitted to OperatorHub's catalog as it is published. Its sums are exactly those of
//! the original: 443 packages, 691 channels, 10,998 channel entries, 7,561 bundles.

/// The size of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) bundles: usize,
    pub(crate) channels: usize,
    /// Entries over all channels: at least one per bundle and per channel.
    pub(crate) entries: usize,
    /// The average size of a bundle's document.
    pub(crate) bundle_bytes: usize,
    /// How many APIs each bundle provides.
    pub(crate) apis: usize,
}

/// How many packages, and their shape: bundles, channels, entries, bytes per bundle, APIs.
type Row = (usize, [usize; 5]);

const ROWS: &[Row] = &[
    (1, [62, 3, 154, 1_217_900, 14]),
    (1, [237, 3, 581, 25_600, 13]),
    (1, [220, 6, 290, 18_700, 20]),
    (1, [202, 17, 205, 12_200, 1]),
    (1, [176, 2, 352, 10_700, 1]),
    (1, [120, 3, 120, 7_100, 3]),
    (1, [111, 1, 111, 14_000, 3]),
    (1, [104, 1, 104, 15_900, 15]),
    (1, [97, 1, 97, 23_900, 1]),
    (1, [91, 3, 142, 7_300, 2]),
    (1, [83, 2, 91, 11_600, 2]),
    (1, [75, 2, 150, 11_100, 1]),
    (1, [74, 14, 75, 12_900, 4]),
    (1, [65, 2, 118, 31_500, 13]),
    (23, [64, 1, 64, 13_000, 5]),
    (1, [62, 2, 118, 57_000, 10]),
    (1, [60, 38, 1146, 54_000, 15]),
    (1, [57, 13, 470, 12_300, 8]),
    (1, [56, 3, 63, 18_800, 11]),
    (1, [54, 1, 54, 88_900, 3]),
    (1, [53, 3, 159, 23_000, 14]),
    (1, [47, 6, 54, 24_600, 3]),
    (4, [46, 2, 69, 16_000, 7]),
    (1, [45, 10, 129, 18_000, 5]),
    (26, [40, 1, 40, 10_900, 4]),
    (1, [39, 4, 77, 48_400, 12]),
    (1, [36, 3, 54, 91_500, 4]),
    (1, [35, 1, 35, 91_500, 6]),
    (1, [30, 1, 30, 77_400, 7]),
    (25, [25, 1, 25, 11_500, 4]),
    (3, [24, 5, 40, 18_000, 5]),
    (1, [23, 13, 229, 18_400, 2]),
    (1, [23, 1, 23, 92_600, 2]),
    (1, [21, 1, 21, 241_700, 7]),
    (9, [21, 2, 27, 36_000, 7]),
    (1, [20, 7, 109, 5_100, 1]),
    (2, [16, 1, 16, 110_000, 5]),
    (1, [15, 8, 28, 58_600, 38]),
    (1, [15, 1, 15, 88_200, 7]),
    (24, [15, 1, 15, 12_000, 3]),
    (7, [12, 4, 26, 9_500, 2]),
    (8, [12, 2, 15, 17_500, 5]),
    (26, [10, 1, 10, 15_400, 4]),
    (9, [8, 2, 11, 11_700, 1]),
    (25, [7, 1, 7, 12_500, 4]),
    (1, [7, 1, 7, 531_800, 14]),
    (1, [6, 1, 6, 212_000, 21]),
    (12, [5, 3, 11, 9_500, 2]),
    (9, [4, 2, 6, 24_000, 6]),
    (27, [4, 1, 4, 12_500, 4]),
    (1, [3, 1, 3, 681_800, 1]),
    (28, [3, 1, 3, 13_000, 4]),
    (8, [2, 2, 3, 13_800, 3]),
    (39, [2, 1, 2, 12_000, 2]),
    (94, [1, 1, 1, 12_500, 3]),
];

/// Returns the shape of every package at a scale; at scale 1 those of the table.
///
/// Fractions are carried from row to row, so that a small scale still meets every size of package.
pub(crate) fn shapes(scale: f64) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut packages = 0;
    for &(count, [bundles, channels, entries, bundle_bytes, apis]) in ROWS {
        packages += count;
        // A little more than the product, because 443 * 0.1 must not end a hair below 44.3.
        let wanted = (packages as f64 * scale + 1e-6) as usize;
        let shape = Shape { bundles, channels, entries, bundle_bytes, apis };
        shapes.resize(wanted.max(shapes.len()), shape);
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(scale: f64) -> [usize; 4] {
        let shapes = shapes(scale);
        let sum = |field: fn(&Shape) -> usize| shapes.iter().map(field).sum();
        let entries = sum(|shape| shape.entries);
        [shapes.len(), sum(|shape| shape.channels), entries, sum(|shape| shape.bundles)]
    }

    #[test]
    fn the_sums_are_those_of_the_community_catalog() {
        let original = [443, 691, 10_998, 7_561];
        assert_eq!(sums(1.0), original);
        assert_eq!(sums(10.0), original.map(|sum| sum * 10));
        assert_eq!(shapes(0.1).len(), 44);
        assert_eq!(shapes(0.001).len(), 0);
        let bytes: usize = shapes(1.0).iter().map(|shape| shape.bundles * shape.bundle_bytes).sum();
        assert!((210_000_000..225_000_000).contains(&bytes), "{bytes}");
        let apis: usize = shapes(1.0).iter().map(|shape| shape.bundles * shape.apis).sum();
        assert!((38_000..44_000).contains(&apis), "{apis}");
    }
}
