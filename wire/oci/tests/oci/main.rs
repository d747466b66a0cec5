//! What images are made of: tables of claims, round trips, and layers against an independent model.

mod auth;
mod building;
mod documents;
mod hostile;
mod layers;
mod model;
mod policy;
mod reference;
mod registries;
mod support;
