//! The claims of this room, by what they are about.

mod authorize;
mod deployments;
mod golang;
mod roles;
mod support;
mod webhooks;
