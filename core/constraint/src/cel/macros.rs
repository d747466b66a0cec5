//! The macros: calls that are rewritten while parsing.
//!
//! A name with another number of arguments, such as `exists(p)`, is no macro and stays a call.

use super::ast::{Comprehension, ComprehensionKind, Expression, NodeId};
use super::parser::{Parsed, Parser};

/// Rewrites `has(operand.field)`.
pub(super) fn expand_has(
    parser: &mut Parser<'_>,
    argument: NodeId,
    offset: usize,
) -> Parsed<NodeId> {
    let node = parser.tree.node(argument);
    if let Expression::Select { operand, field } = &node.expression {
        let (operand, field) = (*operand, field.clone());
        return parser.add(Expression::Has { operand, field }, offset);
    }
    let place = node.offset;
    Err(parser.error(place, "has() takes a field selection such as `has(p.value)`"))
}

/// Rewrites `range.exists(v, …)` and its relatives, or returns nothing if the call is no macro.
pub(super) fn expand_receiver(
    parser: &mut Parser<'_>,
    range: NodeId,
    name: &str,
    arguments: &[NodeId],
    offset: usize,
) -> Parsed<Option<NodeId>> {
    let (kind, variable, condition, transform) = match (name, arguments) {
        ("all", &[variable, condition]) => {
            (ComprehensionKind::All, variable, Some(condition), None)
        }
        ("exists", &[variable, condition]) => {
            (ComprehensionKind::Exists, variable, Some(condition), None)
        }
        ("exists_one", &[variable, condition]) => {
            (ComprehensionKind::ExistsOne, variable, Some(condition), None)
        }
        ("filter", &[variable, condition]) => {
            (ComprehensionKind::Filter, variable, Some(condition), None)
        }
        ("map", &[variable, transform]) => {
            (ComprehensionKind::Map, variable, None, Some(transform))
        }
        ("map", &[variable, condition, transform]) => {
            let condition = Some(condition);
            (ComprehensionKind::Map, variable, condition, Some(transform))
        }
        _ => return Ok(None),
    };
    let variable = variable_name(parser, variable)?;
    let comprehension = Comprehension { kind, range, variable, condition, transform };
    parser.add(Expression::Comprehension(comprehension), offset).map(Some)
}

fn variable_name(parser: &Parser<'_>, argument: NodeId) -> Parsed<String> {
    let node = parser.tree.node(argument);
    match &node.expression {
        // Upstream: the old name of the hidden result variable stays forbidden.
        Expression::Identifier(name) if name == "__result__" => {
            Err(parser.error(node.offset, "`__result__` cannot be the variable of a macro"))
        }
        Expression::Identifier(name) => Ok(name.clone()),
        Expression::Literal(_)
        | Expression::Select { .. }
        | Expression::Has { .. }
        | Expression::Call { .. }
        | Expression::UnknownCall { .. }
        | Expression::And(_)
        | Expression::Or(_)
        | Expression::List(_)
        | Expression::Map(_)
        | Expression::Message { .. }
        | Expression::Comprehension(_) => {
            Err(parser
                .error(node.offset, "the first argument of a macro is the name of its variable"))
        }
    }
}
