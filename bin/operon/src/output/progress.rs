//! A progress bar on standard error, of our own words only.

use indicatif::{ProgressBar, ProgressStyle};

use super::clean;

/// A bar that is drawn until it is finished.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Draws a bar as the template says; `None` if the template is not valid.
    pub(crate) fn new(template: &'static str, total: u64) -> Option<Self> {
        let style = ProgressStyle::with_template(template).ok()?;
        Some(Self(ProgressBar::new(total).with_style(style)))
    }

    pub(crate) fn set_total(&self, total: u64) {
        self.0.set_length(total);
    }

    pub(crate) fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }

    /// Shows a message where the template has `{msg}`.
    pub(crate) fn set_message(&self, message: &str) {
        self.0.set_message(clean(message));
    }

    /// Clears the bar away.
    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
    }
}
