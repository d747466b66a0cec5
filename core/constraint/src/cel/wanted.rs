//! What a bundle must have for a rule to hold, as far as it can be seen without evaluating.
//!
//! Rules are mostly of the form `properties.exists(p, p.type == "…" && p.value.x == "…" && …)`. Who
//! searches many bundles can pass over those without such a property; whether the rule holds for
//! the rest is still to be evaluated.

use super::ast::{Comprehension, ComprehensionKind, Expression, NodeId, Tree};
use super::function::Function;
use super::literal::Literal;

/// Names a property that every bundle has for which a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedProperty {
    /// Holds the type of the property, as `olm.package`.
    pub property_type: String,
    /// Holds texts that its value has, by the name of the field, as `packageName`.
    pub fields: Vec<(String, String)>,
}

/// Returns a property that a rule cannot do without, if one is plain to see.
pub(super) fn wanted_property(tree: &Tree, root: NodeId) -> Option<WantedProperty> {
    conjuncts(tree, root).into_iter().find_map(|part| match &tree.node(part).expression {
        Expression::Comprehension(comprehension) => wanted_by(tree, comprehension),
        _ => None,
    })
}

fn wanted_by(tree: &Tree, comprehension: &Comprehension) -> Option<WantedProperty> {
    let Comprehension { kind, range, variable, condition, .. } = comprehension;
    let over_properties = matches!(
        &tree.node(*range).expression,
        Expression::Identifier(name) if name == "properties" || name == ".properties"
    );
    // Of exactly one there is one; of all there may be none.
    let wants_one = matches!(kind, ComprehensionKind::Exists | ComprehensionKind::ExistsOne);
    if !over_properties || !wants_one {
        return None;
    }
    let mut property_type = None;
    let mut fields = Vec::new();
    for part in conjuncts(tree, (*condition)?) {
        let Some((path, text)) = equality(tree, part) else { continue };
        match path.as_slice() {
            [name, field] if name == variable && field == "type" => property_type = Some(text),
            [name, value, field] if name == variable && value == "value" => {
                fields.push((field.clone(), text));
            }
            _ => {}
        }
    }
    Some(WantedProperty { property_type: property_type?, fields })
}

/// Returns the expressions that must all be true for this one to be.
fn conjuncts(tree: &Tree, root: NodeId) -> Vec<NodeId> {
    let mut open = vec![root];
    let mut parts = Vec::new();
    while let Some(id) = open.pop() {
        match &tree.node(id).expression {
            Expression::And(operands) => open.extend(operands.iter().rev()),
            _ => parts.push(id),
        }
    }
    parts
}

/// Reads `path == "text"`, either way round.
fn equality(tree: &Tree, id: NodeId) -> Option<(Vec<String>, String)> {
    let Expression::Call { function: Function::Equals, arguments, .. } = &tree.node(id).expression
    else {
        return None;
    };
    let [left, right] = arguments.as_slice() else { return None };
    let read = |path: NodeId, text: NodeId| match &tree.node(text).expression {
        Expression::Literal(Literal::String(text)) => {
            Some((self::path(tree, path)?, text.to_string()))
        }
        _ => None,
    };
    read(*left, *right).or_else(|| read(*right, *left))
}

/// Reads `p.value.packageName` as its names.
fn path(tree: &Tree, mut id: NodeId) -> Option<Vec<String>> {
    let mut names = Vec::new();
    loop {
        match &tree.node(id).expression {
            Expression::Identifier(name) => {
                names.push(name.clone());
                names.reverse();
                return Some(names);
            }
            Expression::Select { operand, field } => {
                names.push(field.clone());
                id = *operand;
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CelRule;

    #[test]
    fn what_every_match_must_have_is_read_from_plain_rules() {
        let wanted = |rule: &str| {
            let program = CelRule::compile(rule).expect("the rules are well formed");
            program.wanted_property().map(|wanted| {
                let fields = wanted.fields.iter().map(|(name, text)| format!(" {name}={text}"));
                format!("{}{}", wanted.property_type, fields.collect::<String>())
            })
        };
        let table = [
            (r#"properties.exists(p, p.type == "certified")"#, Some("certified")),
            (
                r#"properties.exists(p, "olm.package" == p.type && p.value.packageName == "etcd" && p.value.version > "1")"#,
                Some("olm.package packageName=etcd"),
            ),
            (
                r#"1 < 2 && properties.exists_one(x, x.value.kind == "K" && x.type == "olm.gvk")"#,
                Some("olm.gvk kind=K"),
            ),
            (r#"properties.all(p, p.type == "a")"#, None),
            (r#"!properties.exists(p, p.type == "a")"#, None),
            (r#"properties.exists(p, p.type == "a" || p.type == "b")"#, None),
            (r#"properties.exists(p, p.type == "a") || true"#, None),
            (r#"[{"type": "a"}].exists(p, p.type == "a")"#, None),
            (r#"properties.exists(p, p.value.label == "a")"#, None),
        ];
        for (rule, expected) in table {
            assert_eq!(wanted(rule).as_deref(), expected, "{rule}");
        }
    }
}
