//! The notation of the type tables: what a Go struct looks like to `encoding/json`.
//!
//! A line such as `NAME { key = string, values: [string] }` reads: `=` is always written, `:` is left
//! out when empty, `~` is left out when zero; `*x` may be nil, `[x]` is a slice, `{x}` a map from
//! strings. Embedded structs are written out, because that is what their JSON shows.

/// One Go struct: its JSON fields in the order of the struct.
#[derive(Debug)]
pub(super) struct GoStruct {
    pub(super) fields: &'static [GoField],
}

/// One field of a Go struct.
#[derive(Debug)]
pub(super) struct GoField {
    pub(super) name: &'static str,
    pub(super) presence: Presence,
    pub(super) form: GoForm,
}

/// When a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// Always, with `null` or a zero if need be.
    Always,
    /// Unless empty (`omitempty`); structs are never empty, so they are written as `{}`.
    UnlessEmpty,
    /// Unless zero (`omitzero`).
    UnlessZero,
}

/// What a Go type takes and writes.
#[derive(Debug)]
pub(super) enum GoForm {
    /// `string` and types made of it.
    Text,
    /// `bool`.
    Bool,
    /// `int32`.
    Int32,
    /// `int64`.
    Int64,
    /// `resource.Quantity`, such as `500Mi`.
    Quantity,
    /// `intstr.IntOrString`, such as `8080` or `"https"`.
    IntOrString,
    /// `metav1.Time`.
    Time,
    /// `version.OperatorVersion`.
    Version,
    /// `release.OperatorRelease`.
    Release,
    /// `json.RawMessage`: anything.
    Raw,
    /// `*T`.
    Pointer(&'static GoForm),
    /// `[]T`.
    List(&'static GoForm),
    /// `map[string]T`.
    Map(&'static GoForm),
    /// A struct.
    Struct(&'static GoStruct),
}

/// Writes tables in the notation above.
macro_rules! go_structs {
    ($($name:ident { $($fields:tt)* })*) => {
        $(pub(super) static $name: $crate::golang::table::GoStruct =
            $crate::golang::table::GoStruct {
                fields: $crate::golang::table::go_fields!([] $($fields)*),
            };)*
    };
}

macro_rules! go_fields {
    ([$($done:tt)*]) => { &[$($done)*] };
    ([$($done:tt)*] $name:tt $mark:tt * $form:tt $(, $($rest:tt)*)?) => {
        $crate::golang::table::go_fields!([
            $($done)*
            $crate::golang::table::GoField {
                name: $crate::golang::table::json_name!($name),
                presence: $crate::golang::table::presence!($mark),
                form: $crate::golang::table::GoForm::Pointer(
                    &$crate::golang::table::go_form!($form),
                ),
            },
        ] $($($rest)*)?)
    };
    ([$($done:tt)*] $name:tt $mark:tt $form:tt $(, $($rest:tt)*)?) => {
        $crate::golang::table::go_fields!([
            $($done)*
            $crate::golang::table::GoField {
                name: $crate::golang::table::json_name!($name),
                presence: $crate::golang::table::presence!($mark),
                form: $crate::golang::table::go_form!($form),
            },
        ] $($($rest)*)?)
    };
}

macro_rules! go_form {
    (string) => {
        $crate::golang::table::GoForm::Text
    };
    (bool) => {
        $crate::golang::table::GoForm::Bool
    };
    (int32) => {
        $crate::golang::table::GoForm::Int32
    };
    (int64) => {
        $crate::golang::table::GoForm::Int64
    };
    (quantity) => {
        $crate::golang::table::GoForm::Quantity
    };
    (port) => {
        $crate::golang::table::GoForm::IntOrString
    };
    (time) => {
        $crate::golang::table::GoForm::Time
    };
    (version) => {
        $crate::golang::table::GoForm::Version
    };
    (release) => {
        $crate::golang::table::GoForm::Release
    };
    (raw) => {
        $crate::golang::table::GoForm::Raw
    };
    ([$form:tt]) => {
        $crate::golang::table::GoForm::List(&$crate::golang::table::go_form!($form))
    };
    ({$form:tt}) => {
        $crate::golang::table::GoForm::Map(&$crate::golang::table::go_form!($form))
    };
    ($name:ident) => {
        $crate::golang::table::GoForm::Struct(&$name)
    };
}

macro_rules! presence {
    (=) => {
        $crate::golang::table::Presence::Always
    };
    (:) => {
        $crate::golang::table::Presence::UnlessEmpty
    };
    (~) => {
        $crate::golang::table::Presence::UnlessZero
    };
}

macro_rules! json_name {
    ($name:literal) => {
        $name
    };
    ($name:ident) => {
        stringify!($name)
    };
}

pub(super) use {go_fields, go_form, go_structs, json_name, presence};
