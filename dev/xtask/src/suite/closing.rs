//! The closing lines of `cargo test`, added up.

use std::fmt;

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Adds the counts of a line such as `test result: ok. 12 passed; 0 failed; 0 ignored; …`;
    /// passes over every other line.
    pub(crate) fn add_line(&mut self, line: &str) {
        let Some(result) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        // Behind the verdict and its full stop come the counts.
        let Some((_, counts)) = result.split_once(". ") else {
            return;
        };
        for count in counts.split(';') {
            let mut words = count.split_whitespace();
            let Some(Ok(number)) = words.next().map(str::parse::<u64>) else {
                continue;
            };
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed") => self.failed += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up_and_others_passed_over() {
        let output = "\
running 2 tests
test a ... ok
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 1.20s
a test printed: test result: ok. 100 passed
test result: nonsense
   test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
";
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.add_line(line));
        assert_eq!(tally, Tally { passed: 16, failed: 2 });
        assert_eq!(tally.to_string(), "16 passed, 2 failed");
    }
}
