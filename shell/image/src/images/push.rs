//! Copying images.
