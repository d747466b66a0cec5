//! The expression tree of a rule, kept in one flat list.
//!
//! Children come before their parents in the list, so dropping and cloning a tree is dropping and
//! cloning a list. Macros are already expanded: a comprehension is a node of its own kind.

use super::function::Function;
use super::limit::{Limit, MAX_NESTING, MAX_PARSE_DEPTH};
use super::literal::Literal;

/// Points to a node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// Holds the nodes of one rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// Holds one expression and where its operator, or first token, stands in the rule.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) expression: Expression,
    pub(super) offset: usize,
    height: usize,
    visits: usize,
}

/// Names a kind of expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// `"certified"`, `1`, `true`.
    Literal(Literal),
    /// `properties`, `p`, `.properties`.
    Identifier(String),
    /// `p.type`.
    Select { operand: NodeId, field: String },
    /// `has(p.value)`.
    Has { operand: NodeId, field: String },
    /// `size(p)`, `p.size()`, `1 + 2`, `l[0]`.
    Call { function: Function, receiver: Option<NodeId>, arguments: Vec<NodeId> },
    /// A call of a function that does not exist, kept for the checker to refuse.
    UnknownCall { name: String },
    /// `a && b && c`.
    And(Vec<NodeId>),
    /// `a || b || c`.
    Or(Vec<NodeId>),
    /// `[a, b]`.
    List(Vec<NodeId>),
    /// `{a: b}`.
    Map(Vec<(NodeId, NodeId)>),
    /// `google.protobuf.Duration{seconds: 1}`.
    Message { name: String, fields: Vec<MessageField> },
    /// `properties.exists(p, …)`.
    Comprehension(Comprehension),
}

/// Holds one field of a message literal.
#[derive(Clone, Debug)]
pub(super) struct MessageField {
    pub(super) name: String,
    pub(super) value: NodeId,
    pub(super) offset: usize,
}

/// Holds an expanded macro over a list or the keys of a map.
#[derive(Clone, Debug)]
pub(super) struct Comprehension {
    pub(super) kind: ComprehensionKind,
    pub(super) range: NodeId,
    pub(super) variable: String,
    /// Decides about an element; absent only in `map(v, transform)`.
    pub(super) condition: Option<NodeId>,
    /// Replaces an element; present only in `map`.
    pub(super) transform: Option<NodeId>,
}

/// Names a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComprehensionKind {
    /// `l.all(v, condition)`.
    All,
    /// `l.exists(v, condition)`.
    Exists,
    /// `l.exists_one(v, condition)`.
    ExistsOne,
    /// `l.map(v, transform)` and `l.map(v, condition, transform)`.
    Map,
    /// `l.filter(v, condition)`.
    Filter,
}

impl NodeId {
    /// Returns the position of the node in its tree.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Tree {
    /// Adds a node whose children are already there.
    pub(super) fn add(&mut self, expression: Expression, offset: usize) -> Result<NodeId, Limit> {
        let mut height = 0;
        let mut visits = 0;
        expression.for_each_child(|child| {
            height = height.max(self.nodes[child.index()].height);
            visits = visits.max(self.nodes[child.index()].visits);
        });
        height += 1;
        visits += usize::from(expression.counts_as_visit());
        if height > MAX_NESTING {
            return Err(Limit::Nesting);
        }
        if visits > MAX_PARSE_DEPTH {
            return Err(Limit::ParseDepth);
        }
        let id = NodeId(u32::try_from(self.nodes.len()).map_err(|_| Limit::RuleBytes)?);
        self.nodes.push(Node { expression, offset, height, visits });
        Ok(id)
    }

    /// Returns a node.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns all nodes with their ids, children before parents.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }
}

impl Expression {
    /// Upstream: its second pass over the parse tree counts only these kinds against the limit.
    fn counts_as_visit(&self) -> bool {
        match self {
            Self::Select { .. } | Self::Has { .. } | Self::Comprehension(_) => true,
            Self::Call { function, receiver, .. } => {
                receiver.is_some() || function.is_operator_between()
            }
            Self::UnknownCall { .. }
            | Self::Literal(_)
            | Self::Identifier(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::List(_)
            | Self::Map(_)
            | Self::Message { .. } => false,
        }
    }

    pub(super) fn for_each_child(&self, mut visit: impl FnMut(NodeId)) {
        match self {
            Self::Literal(_) | Self::Identifier(_) | Self::UnknownCall { .. } => {}
            Self::Select { operand, .. } | Self::Has { operand, .. } => visit(*operand),
            Self::Call { receiver, arguments, .. } => {
                receiver.iter().chain(arguments).copied().for_each(visit);
            }
            Self::And(operands) | Self::Or(operands) | Self::List(operands) => {
                operands.iter().copied().for_each(visit);
            }
            Self::Map(entries) => {
                for (key, value) in entries {
                    visit(*key);
                    visit(*value);
                }
            }
            Self::Message { fields, .. } => {
                fields.iter().map(|field| field.value).for_each(visit);
            }
            Self::Comprehension(comprehension) => {
                visit(comprehension.range);
                comprehension.condition.into_iter().for_each(&mut visit);
                comprehension.transform.into_iter().for_each(visit);
            }
        }
    }
}
