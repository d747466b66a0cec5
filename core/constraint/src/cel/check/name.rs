//! Finds out what the names of a rule mean.
//!
//! Apart from macro variables there is one variable, `properties`; all other names are types.

use super::{Checked, Checker, Meaning, limited};
use crate::cel::ast::{Expression, NodeId};
use crate::cel::limit::Limit;
use crate::cel::message::Message;
use crate::cel::type_name::TypeName;
use crate::cel::types::Type;

/// The only enum value in the environment of rules.
const NULL_VALUE: &str = "google.protobuf.NullValue.NULL_VALUE";

impl<'a> Checker<'a> {
    pub(super) fn identifier(&mut self, id: NodeId, name: &str) -> Checked<Type> {
        let known = self.variables.iter().rposition(|(variable, _)| *variable == name);
        if let Some(position) = known {
            let found = self.variables[position].1.clone();
            self.meanings[id.index()] = Meaning::Variable(position);
            self.mentioned_variables.push((id, found.clone()));
            return Ok(found);
        }
        if let Some(found) = self.global(id, name)? {
            return Ok(found);
        }
        let offset = self.tree.node(id).offset;
        Err(self.error(offset, format!("there is no variable `{name}`")))
    }

    /// Reads `google.protobuf.Duration` and the like as one name.
    pub(super) fn qualified_name(
        &mut self,
        id: NodeId,
        operand: NodeId,
        field: &str,
    ) -> Checked<Option<Type>> {
        let mut parts = vec![field];
        let mut place = operand;
        loop {
            match &self.tree.node(place).expression {
                Expression::Select { operand, field } => {
                    parts.push(field);
                    place = *operand;
                }
                // All names with dots begin with this one.
                Expression::Identifier(root) if root.trim_start_matches('.') == "google" => {
                    parts.push(root);
                    break;
                }
                Expression::Identifier(_)
                | Expression::Literal(_)
                | Expression::Has { .. }
                | Expression::Call { .. }
                | Expression::UnknownCall { .. }
                | Expression::And(_)
                | Expression::Or(_)
                | Expression::List(_)
                | Expression::Map(_)
                | Expression::Message { .. }
                | Expression::Comprehension(_) => return Ok(None),
            }
        }
        let shadowed = self.variables.iter().any(|(name, _)| *name == "google");
        parts.reverse();
        if shadowed && !parts[0].starts_with('.') {
            return Ok(None);
        }
        self.global(id, &parts.join("."))
    }

    fn global(&mut self, id: NodeId, name: &str) -> Checked<Option<Type>> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let (meaning, found) = if name == "properties" {
            (Meaning::Properties, limited(properties_type())?)
        } else if let Some(type_name) = TypeName::from_name(name) {
            let inner = limited(type_name.static_type())?;
            (Meaning::Type(type_name), limited(Type::type_of(inner))?)
        } else if name == NULL_VALUE {
            (Meaning::Constant(0), Type::INT)
        } else if let Some(message) = Message::from_name(name) {
            self.mentioned_messages.push(id);
            let inner = limited(message.literal_type())?;
            (Meaning::Nothing, limited(Type::type_of(inner))?)
        } else {
            return Ok(None);
        };
        self.meanings[id.index()] = meaning;
        Ok(Some(found))
    }

    /// Refuses messages that are mentioned like types: they have no name at run time.
    pub(super) fn check_type_names(&self) -> Checked<()> {
        match self.mentioned_messages.first() {
            Some(id) => {
                let offset = self.tree.node(*id).offset;
                Err(self.error(offset, "this message can be written with braces only"))
            }
            None => Ok(()),
        }
    }

    /// Upstream: a variable that holds a type is taken for the name of a type, so a rule that
    /// ranges over types is invalid unless the variable happens to be called like one.
    pub(super) fn settle_variables(&mut self) -> Checked<()> {
        let tree = self.tree;
        for (id, found) in std::mem::take(&mut self.mentioned_variables) {
            if !limited(self.bindings.resolve(&found))?.is_type_of() {
                continue;
            }
            let node = tree.node(id);
            let Expression::Identifier(name) = &node.expression else {
                continue;
            };
            let Some(type_name) = TypeName::from_name(name) else {
                let message =
                    format!("variable `{name}` ranges over types, which is not supported");
                return Err(self.error(node.offset, message));
            };
            self.meanings[id.index()] = Meaning::Type(type_name);
        }
        Ok(())
    }
}

fn properties_type() -> Result<Type, Limit> {
    Type::list(Type::map(Type::STRING, Type::Any)?)
}
