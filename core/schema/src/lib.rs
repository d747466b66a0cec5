//! What CRDs say.
