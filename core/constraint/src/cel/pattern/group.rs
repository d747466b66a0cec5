//! Groups of patterns and the flags they set.
//!
//! Names of groups are checked but not kept: nothing is captured.

use super::{Flags, Group, Level, Translated, Translator};

impl<'a> Translator<'a> {
    /// Reads `(`, `(?:`, `(?i)` or `(?P<name>`.
    pub(super) fn open(&mut self) -> Translated<'a, ()> {
        let before = self.flags;
        let Some(rest) = self.rest().strip_prefix("(?") else {
            self.position += 1;
            self.begin_group(before);
            return Ok(());
        };
        if rest.starts_with("P<") || rest.starts_with('<') {
            return self.named_group();
        }
        let start = self.position;
        self.position += 2;
        let mut flags = self.flags;
        let mut setting = true;
        let mut any = true;
        while let Some(letter) = self.rest().chars().next() {
            self.position += letter.len_utf8();
            match letter {
                'i' => flags.ignore_case = setting,
                'm' => flags.multi_line = setting,
                's' => flags.dot_matches_newline = setting,
                'U' => {}
                '-' if setting => {
                    setting = false;
                    any = false;
                    continue;
                }
                ':' | ')' if any => {
                    if letter == ':' {
                        self.begin_group(before);
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => break,
            }
            any = true;
        }
        Err(self.fault("invalid or unsupported Perl syntax", start))
    }

    fn named_group(&mut self) -> Translated<'a, ()> {
        let start = self.position;
        let text = self.rest();
        let name_start = text.find('<').map_or(0, |at| at + 1);
        let Some(end) = text.find('>') else {
            self.position = self.pattern.len();
            return Err(self.fault("invalid named capture", start));
        };
        self.position += end + 1;
        let name = text.get(name_start..end).unwrap_or("");
        let good = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        if name.is_empty() || !name.bytes().all(good) {
            return Err(self.fault("invalid named capture", start));
        }
        self.begin_group(self.flags);
        Ok(())
    }

    fn begin_group(&mut self, flags_after: Flags) {
        self.groups.push(Group {
            flags: flags_after,
            level: self.current,
            start: self.output.len(),
        });
        self.output.push_str("(?:");
        self.current = Level::default();
    }

    /// Reads `)`, which also ends the flags that were set inside.
    pub(super) fn close(&mut self) -> Translated<'a, ()> {
        self.position += 1;
        let Some(group) = self.groups.pop() else {
            let start = self.position - 1;
            return Err(self.fault("unexpected )", start));
        };
        self.end_atom();
        let weight = self.current.greatest_weight.max(1);
        self.output.push(')');
        self.flags = group.flags;
        self.current = group.level;
        self.begin_atom(group.start, weight);
        Ok(())
    }
}
