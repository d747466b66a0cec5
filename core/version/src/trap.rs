//! What a trap in a range is and how it is put to the author.
//!
//! Finding traps is not done here; this is the vocabulary, with stable identifiers.

/// Points at a piece of a range that does not mean what its author probably thinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeTrap {
    /// Names the misunderstanding.
    pub kind: RangeTrapKind,
    /// Holds the offset of the first byte of the piece.
    pub start: usize,
    /// Holds the offset after the last byte of the piece.
    pub end: usize,
    /// Holds what to write instead of the piece, where that can be told.
    pub suggestion: Option<String>,
}

/// Names a misunderstanding between an author and the range grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RangeTrapKind {
    /// No version satisfies all terms: `>=2.0.0 <1.0.0`.
    MatchesNothing,
    /// A wildcard is excluded, which matches nothing: `!=1.2.x`.
    ExcludedWildcard,
    /// A wildcard is not alone in the last place: `1.x.x` means `1.0.x`.
    MisplacedWildcard,
    /// A wildcard is written in another dialect: `1.2.*` or `1.2.X`.
    ForeignWildcard,
    /// A single character is dropped: `! 1.2.3` means `1.2.3`.
    IgnoredCharacter,
    /// A hyphen range is two contradicting equalities: `1.0.0 - 1.2.3`.
    HyphenRange,
    /// An `x` in a pre-release is taken for a wildcard: `1.0.0-fix`.
    WildcardInPrerelease,
    /// Build metadata is not compared: `>=1.2.3+build`.
    BuildMetadata,
    /// An operator is of another dialect: `~1.2.3`, `^1.2.3` or `=<1.2.3`.
    UnknownOperator,
    /// A version has a letter before it: `v1.2.3`.
    VersionPrefix,
    /// A version has fewer than three numbers: `>=1.2`.
    PartialVersion,
    /// Terms are joined by a comma or `&&`: `>=1.0.0,<2.0.0`.
    ForeignAnd,
    /// Alternatives are joined without blanks: `<1.0.0||>2.0.0`.
    OrWithoutBlanks,
    /// An alternative has no terms: `|| 1.0.0`, or the range is blank.
    EmptyAlternative,
    /// White space other than a blank is inside a term: a tab or a line break.
    OtherWhiteSpace,
    /// An upper bound admits the pre-releases of its own version: `<2.0.0`.
    AdmitsPrerelease,
}

impl RangeTrap {
    /// Returns what is wrong, in one sentence.
    pub fn message(&self) -> &'static str {
        self.kind.texts().1
    }

    /// Returns what to do, with the right spelling where that can be told.
    pub fn help(&self) -> String {
        let help = self.kind.texts().2;
        match &self.suggestion {
            Some(suggestion) => format!("{help}: `{suggestion}`"),
            None => help.to_owned(),
        }
    }
}

impl RangeTrapKind {
    /// Returns the stable identifier, as `range-matches-nothing`.
    pub fn id(self) -> &'static str {
        self.texts().0
    }

    /// Tells whether this is a remark about a range that may well be meant as written.
    pub fn is_advice(self) -> bool {
        self == Self::AdmitsPrerelease
    }

    /// Returns identifier, message and help.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::MatchesNothing => (
                "range-matches-nothing",
                "no version satisfies all of these terms",
                "correct the bounds, or separate alternatives with ` || `",
            ),
            Self::ExcludedWildcard => (
                "range-excluded-wildcard",
                "excluding a wildcard matches no version at all",
                "write the two sides as alternatives",
            ),
            Self::MisplacedWildcard => (
                "range-misplaced-wildcard",
                "a wildcard counts only once and as the last part: `1.x.x` means `1.0.x`",
                "write a single `x` at the end",
            ),
            Self::ForeignWildcard => (
                "range-foreign-wildcard",
                "the only wildcard is a lower-case `x` after at least one number",
                "write the wildcard as `x`, or `>=0.0.0-0` for every version",
            ),
            Self::IgnoredCharacter => (
                "range-ignored-character",
                "a single character between blanks is ignored",
                "remove it or join it with its version",
            ),
            Self::HyphenRange => (
                "range-hyphen",
                "there are no hyphen ranges: this demands both versions at once",
                "write both bounds",
            ),
            Self::WildcardInPrerelease => (
                "range-wildcard-in-prerelease",
                "an `x` in a pre-release is taken for a wildcard",
                "use `>=` or `<` with a pre-release that contains no `.x`",
            ),
            Self::BuildMetadata => {
                ("range-build-metadata", "build metadata is ignored in comparisons", "leave it out")
            }
            Self::UnknownOperator => (
                "range-unknown-operator",
                "this operator is not known here: it is refused, or ignored before a wildcard",
                "use `=`, `!=`, `<`, `<=`, `>` or `>=`",
            ),
            Self::VersionPrefix => (
                "range-version-prefix",
                "a version in a range has no letter before it",
                "write the version without it",
            ),
            Self::PartialVersion => (
                "range-partial-version",
                "a version in a range has three numbers",
                "complete it with zeroes or a wildcard",
            ),
            Self::ForeignAnd => (
                "range-foreign-and",
                "terms that must all hold are separated by blanks only",
                "write a blank between the terms",
            ),
            Self::OrWithoutBlanks => (
                "range-or-without-blanks",
                "alternatives are separated by `||` with a blank on each side",
                "write the blanks",
            ),
            Self::EmptyAlternative => (
                "range-empty-alternative",
                "an alternative has no terms",
                "remove the `||`, or write `>=0.0.0-0` for every version",
            ),
            Self::OtherWhiteSpace => (
                "range-other-white-space",
                "only blanks separate terms: tabs and line breaks become part of the version",
                "write blanks and no line break at the end",
            ),
            Self::AdmitsPrerelease => (
                "range-admits-prerelease",
                "this upper bound admits the pre-releases of its own version",
                "if they are not wanted, end before the lowest of them",
            ),
        }
    }
}
