//! Reads constraints as Go's decoder would fill its structures.
//!
//! Upstream: a key that occurs twice does not replace what the first one gave, it adds to it; a
//! second list is laid over the first, element by element.

use super::{CompoundKind, ConstraintDocument, WrittenConstraint};
use crate::constraint::MAX_CONSTRAINT_NESTING;
use crate::dialect::Dialect;
use crate::error::{ConstraintFault, WrongType};
use crate::fields::{kind_of, names_field};
use crate::json::{JsonEvent, JsonReader, TrailingText};

/// Reads a value; text after it is left unread.
pub(super) fn decode(text: &[u8], dialect: Dialect) -> Result<ConstraintDocument, ConstraintFault> {
    let limit = dialect.max_constraint_bytes();
    if text.len() > limit {
        return Err(ConstraintFault::TooLarge { limit });
    }
    // The whole value is checked first: its form matters more than its content.
    let mut check = JsonReader::new(text, TrailingText::Ignore);
    while check.next_event().map_err(ConstraintFault::Json)?.is_some() {}
    let mut decoder = Decoder {
        constraints: vec![WrittenConstraint::default()],
        dialect,
        open: Vec::new(),
        path: Vec::new(),
        target: Some(Target::Constraint(0)),
        nesting: 0,
    };
    let mut reader = JsonReader::new(text, TrailingText::Ignore);
    while let Some(event) = reader.next_event().map_err(ConstraintFault::Json)? {
        decoder.accept(&event)?;
    }
    Ok(ConstraintDocument { constraints: decoder.constraints })
}

struct Decoder {
    constraints: Vec<WrittenConstraint>,
    dialect: Dialect,
    open: Vec<Open>,
    /// Holds, for each field being read, the structure it belongs to and its name.
    path: Vec<(&'static str, &'static str)>,
    /// Says where the next value goes; nothing if a key or an end must come first.
    target: Option<Target>,
    nesting: usize,
}

/// Names an object or list that is being read.
#[derive(Clone, Copy)]
enum Open {
    Object(Structure, usize),
    /// The list of a compound, and how many elements it has so far.
    Elements(CompoundKind, usize, usize),
}

/// Names a kind of object; the number beside it is the constraint it belongs to.
#[derive(Clone, Copy)]
enum Structure {
    Constraint,
    Cel,
    Package,
    Gvk,
    Compound(CompoundKind),
}

/// Names a place for a value.
#[derive(Clone, Copy)]
enum Target {
    Constraint(usize),
    Object(Structure, usize),
    Elements(CompoundKind, usize),
    Text(TextField, usize),
}

#[derive(Clone, Copy)]
enum TextField {
    FailureMessage,
    Rule,
    PackageName,
    DocumentedPackageName,
    VersionRange,
    Group,
    Kind,
    Version,
}

impl Decoder {
    fn accept(&mut self, event: &JsonEvent<'_>) -> Result<(), ConstraintFault> {
        match (event, self.open.last().copied()) {
            (JsonEvent::Key(key), Some(Open::Object(structure, constraint))) => {
                self.begin_field(key, structure, constraint)
            }
            (JsonEvent::EndObject, _) => {
                if let Some(Open::Object(Structure::Constraint, _)) = self.open.pop() {
                    self.nesting -= 1;
                }
                self.end_value();
                Ok(())
            }
            (JsonEvent::EndArray, Some(Open::Elements(kind, constraint, count))) => {
                self.end_elements(kind, constraint, count);
                Ok(())
            }
            (_, Some(Open::Elements(kind, constraint, count))) => {
                let element = self.element(kind, constraint, count);
                self.value(event, Target::Constraint(element))
            }
            (_, Some(Open::Object(..)) | None) => match self.target.take() {
                Some(target) => self.value(event, target),
                None => Ok(()),
            },
        }
    }

    fn begin_field(
        &mut self,
        key: &str,
        structure: Structure,
        constraint: usize,
    ) -> Result<(), ConstraintFault> {
        let field = structure.fields(self.dialect).find(|(name, _)| names_field(key, name));
        let Some((name, place)) = field else {
            return Err(ConstraintFault::UnknownField(key.to_owned()));
        };
        self.path.push((structure.go_name(), name));
        self.target = Some(match place {
            Place::Text(field) => Target::Text(field, constraint),
            Place::Object(structure) => Target::Object(structure, constraint),
            Place::Elements(kind) => Target::Elements(kind, constraint),
        });
        Ok(())
    }

    fn value(&mut self, event: &JsonEvent<'_>, target: Target) -> Result<(), ConstraintFault> {
        match (target, event) {
            (Target::Constraint(constraint), JsonEvent::BeginObject) => {
                self.nesting += 1;
                if self.nesting > MAX_CONSTRAINT_NESTING {
                    return Err(ConstraintFault::TooDeep);
                }
                self.open.push(Open::Object(Structure::Constraint, constraint));
                return Ok(());
            }
            (Target::Object(structure, constraint), JsonEvent::BeginObject) => {
                self.ensure(structure, constraint);
                self.open.push(Open::Object(structure, constraint));
                return Ok(());
            }
            (Target::Elements(kind, constraint), JsonEvent::BeginArray) => {
                self.open.push(Open::Elements(kind, constraint, 0));
                return Ok(());
            }
            (Target::Text(field, constraint), JsonEvent::String(text)) => {
                self.set_text(field, constraint, text);
            }
            (Target::Object(structure, constraint), JsonEvent::Null) => {
                self.clear(structure, constraint);
            }
            (Target::Elements(kind, constraint), JsonEvent::Null) => {
                if let Some(compound) = &mut self.constraints[constraint].compounds[kind.position()]
                {
                    compound.slots.clear();
                    compound.length = None;
                }
            }
            (Target::Text(..) | Target::Constraint(_), JsonEvent::Null) => {}
            (target, event) => return Err(self.wrong_type(target, event)),
        }
        self.end_value();
        Ok(())
    }

    /// Leaves the field whose value has ended; elements of a list are no fields.
    fn end_value(&mut self) {
        match self.open.last_mut() {
            Some(Open::Elements(_, _, count)) => *count += 1,
            Some(Open::Object(..)) => {
                self.path.pop();
            }
            None => {}
        }
    }

    fn end_elements(&mut self, kind: CompoundKind, constraint: usize, count: usize) {
        if let Some(compound) = &mut self.constraints[constraint].compounds[kind.position()] {
            compound.length = Some(count);
            if count == 0 {
                compound.slots.clear();
            }
        }
        self.open.pop();
        self.end_value();
    }

    /// Returns the constraint for the next element: the one of an earlier list, or a new one.
    fn element(&mut self, kind: CompoundKind, constraint: usize, index: usize) -> usize {
        let next = self.constraints.len();
        let Some(compound) = &mut self.constraints[constraint].compounds[kind.position()] else {
            return constraint;
        };
        if let Some(slot) = compound.slots.get(index) {
            return *slot;
        }
        compound.slots.push(next);
        self.constraints.push(WrittenConstraint::default());
        next
    }

    fn ensure(&mut self, structure: Structure, constraint: usize) {
        let written = &mut self.constraints[constraint];
        match structure {
            Structure::Constraint => {}
            Structure::Cel => {
                written.cel.get_or_insert_default();
            }
            Structure::Package => {
                written.package.get_or_insert_default();
            }
            Structure::Gvk => {
                written.gvk.get_or_insert_default();
            }
            Structure::Compound(kind) => {
                written.compounds[kind.position()].get_or_insert_default();
            }
        }
    }

    fn clear(&mut self, structure: Structure, constraint: usize) {
        let written = &mut self.constraints[constraint];
        match structure {
            Structure::Constraint => {}
            Structure::Cel => written.cel = None,
            Structure::Package => written.package = None,
            Structure::Gvk => written.gvk = None,
            Structure::Compound(kind) => written.compounds[kind.position()] = None,
        }
    }

    fn set_text(&mut self, field: TextField, constraint: usize, text: &str) {
        let written = &mut self.constraints[constraint];
        let text = text.to_owned();
        match field {
            TextField::FailureMessage => written.failure_message = text,
            TextField::Rule => written.cel = Some(text),
            TextField::PackageName | TextField::DocumentedPackageName => {
                let package = written.package.get_or_insert_default();
                package.name = text;
                package.documented_name = matches!(field, TextField::DocumentedPackageName);
            }
            TextField::VersionRange => written.package.get_or_insert_default().range = text,
            TextField::Group => written.gvk.get_or_insert_default().group = text,
            TextField::Kind => written.gvk.get_or_insert_default().kind = text,
            TextField::Version => written.gvk.get_or_insert_default().version = text,
        }
    }

    fn wrong_type(&self, target: Target, event: &JsonEvent<'_>) -> ConstraintFault {
        let names: Vec<&str> = self.path.iter().map(|(_, field)| *field).collect();
        ConstraintFault::WrongType(WrongType {
            found: kind_of(event),
            wanted: match target {
                Target::Constraint(_) => "constraints.Constraint",
                Target::Object(structure, _) => structure.go_type(),
                Target::Elements(..) => "[]constraints.Constraint",
                Target::Text(..) => "string",
            },
            place: self.path.last().map(|(structure, _)| (*structure, names.join("."))),
        })
    }
}

/// Names what a field holds.
#[derive(Clone, Copy)]
enum Place {
    Text(TextField),
    Object(Structure),
    Elements(CompoundKind),
}

impl Structure {
    /// Lists the fields of the structure by their keys.
    fn fields(self, dialect: Dialect) -> impl Iterator<Item = (&'static str, Place)> {
        let fields = match self {
            Self::Constraint => vec![
                ("failureMessage", Place::Text(TextField::FailureMessage)),
                ("cel", Place::Object(Self::Cel)),
                ("package", Place::Object(Self::Package)),
                ("gvk", Place::Object(Self::Gvk)),
                ("all", Place::Object(Self::Compound(CompoundKind::All))),
                ("any", Place::Object(Self::Compound(CompoundKind::Any))),
                ("not", Place::Object(Self::Compound(CompoundKind::Not))),
            ],
            Self::Cel => vec![("rule", Place::Text(TextField::Rule))],
            Self::Package => vec![
                ("packageName", Place::Text(TextField::PackageName)),
                ("versionRange", Place::Text(TextField::VersionRange)),
                ("name", Place::Text(TextField::DocumentedPackageName)),
            ],
            Self::Gvk => vec![
                ("group", Place::Text(TextField::Group)),
                ("kind", Place::Text(TextField::Kind)),
                ("version", Place::Text(TextField::Version)),
            ],
            Self::Compound(kind) => vec![("constraints", Place::Elements(kind))],
        };
        fields.into_iter().filter(move |(_, place)| match place {
            Place::Text(TextField::DocumentedPackageName) => dialect == Dialect::Documented,
            Place::Text(_) | Place::Object(_) | Place::Elements(_) => true,
        })
    }

    /// Returns the name of upstream's structure.
    fn go_name(self) -> &'static str {
        let name = self.go_type();
        name.strip_prefix("constraints.").unwrap_or(name)
    }

    fn go_type(self) -> &'static str {
        match self {
            Self::Constraint => "constraints.Constraint",
            Self::Cel => "constraints.Cel",
            Self::Package => "constraints.PackageConstraint",
            Self::Gvk => "constraints.GVKConstraint",
            Self::Compound(_) => "constraints.CompoundConstraint",
        }
    }
}
