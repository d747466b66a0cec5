//! The Common Expression Language, as far as constraint rules use it.
//!
//! A rule is parsed, type checked and then evaluated against the properties of one bundle at a
//! time. There are no extensions: no optional values, no two-variable macros, no string library.

mod ast;
mod budget;
mod check;
mod compile_budget;
mod error;
mod eval;
mod function;
mod lexer;
mod limit;
mod literal;
mod macros;
mod message;
mod number;
mod parser;
mod pattern;
mod signature;
mod time;
mod type_name;
mod types;
mod unify;
mod value;
mod wanted;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use regex::Regex;

use ast::{Comprehension, Expression, NodeId, Tree};
use check::Meaning;
use function::Function;
use literal::Literal;
use pattern::PatternError;

pub use wanted::WantedProperty;

pub use compile_budget::{CompileBudget, Exhausted};
pub use error::{CelError, InvalidRule, MAX_EXCERPT_CHARACTERS};
pub use limit::{
    Limit, MAX_CHECK_STEPS, MAX_EVALUATION_BYTES, MAX_EVALUATION_STEPS, MAX_NESTING,
    MAX_PARSE_DEPTH, MAX_PATTERN_BYTES, MAX_PREPARED_PATTERNS, MAX_RULE_BYTES, MAX_RULE_CHARACTERS,
    MAX_TYPE_NESTING, MAX_VALUE_NESTING,
};

use crate::property::Property;

/// Holds a rule and the program it compiles to.
#[derive(Clone, Debug)]
pub struct CelRule {
    text: Arc<str>,
    program: CelProgram,
}

impl CelRule {
    /// Compiles a rule and keeps its text.
    pub fn new(text: &str) -> Result<Self, CelError> {
        Self::new_within(text, &mut CompileBudget::unlimited())
    }

    /// Compiles a rule within a budget and keeps its text.
    pub(crate) fn new_within(text: &str, budget: &mut CompileBudget) -> Result<Self, CelError> {
        Ok(Self { text: text.into(), program: Self::compile_within(text, budget)? })
    }

    /// Compiles a rule.
    pub fn compile(text: &str) -> Result<CelProgram, CelError> {
        Self::compile_within(text, &mut CompileBudget::unlimited())
    }

    fn compile_within(text: &str, budget: &mut CompileBudget) -> Result<CelProgram, CelError> {
        let (tree, root) = parser::parse(text)?;
        let meanings = check::check(text, &tree, root, budget)?;
        let patterns = prepare_patterns(&tree, budget)?;
        Ok(CelProgram { parts: Arc::new(Parts { tree, root, meanings, patterns }) })
    }

    /// Returns the rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the program.
    pub fn program(&self) -> &CelProgram {
        &self.program
    }
}

impl PartialEq for CelRule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Holds a compiled rule, ready to be asked about any number of bundles.
#[derive(Clone)]
pub struct CelProgram {
    parts: Arc<Parts>,
}

struct Parts {
    tree: Tree,
    root: NodeId,
    meanings: Vec<Meaning>,
    /// Holds the patterns that are constants of the rule, by the call that uses them.
    patterns: BTreeMap<NodeId, Result<Regex, PatternError>>,
}

impl CelProgram {
    /// Answers the rule for the properties of one bundle.
    pub fn evaluate(&self, properties: &[Property]) -> Result<bool, CelError> {
        self.evaluate_within(properties, MAX_EVALUATION_STEPS).0
    }

    /// Answers the rule for the properties of one bundle within a number of steps, and returns how
    /// many it took.
    ///
    /// No evaluation takes more than [`MAX_EVALUATION_STEPS`], whatever the caller allows. An answer
    /// [`Limit::EvaluationSteps`] below that number says only that the caller's steps were too few.
    pub fn evaluate_within(
        &self,
        properties: &[Property],
        max_steps: usize,
    ) -> (Result<bool, CelError>, usize) {
        let plan = eval::Plan {
            tree: &self.parts.tree,
            root: self.parts.root,
            meanings: &self.parts.meanings,
            patterns: &self.parts.patterns,
        };
        eval::evaluate(plan, properties, max_steps)
    }

    /// Returns how many macros over lists are nested at most: the steps of an evaluation grow with
    /// the number of properties to this power.
    pub fn loop_nesting(&self) -> usize {
        let mut nesting: Vec<usize> = Vec::with_capacity(self.parts.tree.len());
        for (_, node) in self.parts.tree.iter() {
            let mut inner = 0;
            node.expression.for_each_child(|child| inner = inner.max(nesting[child.index()]));
            let own = match &node.expression {
                // What a macro ranges over is evaluated once.
                Expression::Comprehension(Comprehension {
                    range, condition, transform, ..
                }) => {
                    let body = condition.iter().chain(transform);
                    let body = body.map(|part| nesting[part.index()]).max().unwrap_or_default();
                    nesting[range.index()].max(body + 1)
                }
                _ => inner,
            };
            nesting.push(own);
        }
        nesting.get(self.parts.root.index()).copied().unwrap_or_default()
    }

    /// Returns a property that every bundle has for which the rule holds, if one is plain to see.
    pub fn wanted_property(&self) -> Option<WantedProperty> {
        wanted::wanted_property(&self.parts.tree, self.parts.root)
    }
}

impl fmt::Debug for CelProgram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.parts.tree.len();
        write!(formatter, "CelProgram({nodes} nodes)")
    }
}

/// Compiles constant patterns once. A bad one is no error of the rule: upstream notices only when
/// it is used.
fn prepare_patterns(
    tree: &Tree,
    budget: &mut CompileBudget,
) -> Result<BTreeMap<NodeId, Result<Regex, PatternError>>, CelError> {
    let constant = |(id, node): (NodeId, &ast::Node)| match &node.expression {
        Expression::Call { function: Function::Matches, arguments, .. } => {
            match &tree.node(*arguments.last()?).expression {
                Expression::Literal(Literal::String(text)) => Some((id, Arc::clone(text))),
                _ => None,
            }
        }
        _ => None,
    };
    let mut patterns = BTreeMap::new();
    for (id, text) in tree.iter().filter_map(constant).take(MAX_PREPARED_PATTERNS) {
        let charge = |bytes: usize| budget.spend(bytes as u64 / PATTERN_BYTES_PER_STEP);
        let (compiled, bytes) = pattern::compile_at_cost(&text, charge)?;
        if !budget.occupy(bytes as u64) {
            break;
        }
        patterns.insert(id, compiled);
    }
    Ok(patterns)
}

/// How many bytes of a compiled pattern one step fills.
const PATTERN_BYTES_PER_STEP: u64 = 64;
