//! What is legal in a constraint but hardly meant.
//!
//! A warning never changes what a constraint means.

use std::fmt;

/// Limits how many warnings one constraint gives; an author mends the first ones first.
pub const MAX_WARNINGS: usize = 20;

/// Says what an author should look at again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintWarning {
    /// Names the nested constraint, as `all[1].any[0]`; empty for the outermost.
    pub place: String,
    /// Says what is questionable.
    pub kind: WarningKind,
}

/// Names a questionable thing in a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// One object states several kinds, as `gvk` beside `package`; only the first counts.
    SeveralKinds {
        /// Names the kind that counts.
        used: &'static str,
        /// Names the kinds that are ignored.
        ignored: Vec<&'static str>,
    },
    /// The package is named by `name`, as documented; upstream's code wants `packageName`.
    UpstreamRefusesName,
    /// A `not` stands alone: almost any operator fulfils it, also one that is of no use.
    NotAlone,
    /// An `any` without parts is never fulfilled.
    NeverFulfilled,
}

impl fmt::Display for ConstraintWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(formatter, "{}: ", self.place)?;
        }
        match &self.kind {
            WarningKind::SeveralKinds { used, ignored } => {
                let ignored = ignored.join("`, `");
                write!(
                    formatter,
                    "only `{used}` counts, `{ignored}` beside it is ignored: put them in `all`"
                )
            }
            WarningKind::UpstreamRefusesName => formatter.write_str(
                "`package.name` is documented but refused by upstream: write `packageName`",
            ),
            WarningKind::NotAlone => formatter
                .write_str("`not` outside `all` or `any` is fulfilled by any other operator"),
            WarningKind::NeverFulfilled => {
                formatter.write_str("`any` without constraints is never fulfilled")
            }
        }
    }
}
