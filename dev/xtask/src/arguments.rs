//! What was typed behind a verb: words, switches and options with a value.
//!
//! Deliberately small: no abbreviations, no combined short options, no help pages per verb.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use anyhow::{anyhow, bail};

/// The options a verb knows.
pub(crate) struct Known<'k> {
    /// Options without a value, such as `--quick`.
    pub(crate) switches: &'k [&'k str],
    /// Options with a value, such as `--seed`.
    pub(crate) valued: &'k [&'k str],
}

/// The words and options behind a verb.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// Everything that is not an option, in order.
    pub(crate) words: Vec<String>,
    options: BTreeMap<String, Option<String>>,
}

impl Arguments {
    /// Reads arguments; refuses options that the verb does not know.
    pub(crate) fn parse(arguments: &[String], known: &Known<'_>) -> anyhow::Result<Self> {
        let mut words = Vec::new();
        let mut options = BTreeMap::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if !argument.starts_with('-') {
                words.push(argument.clone());
                continue;
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            if known.valued.contains(&name) {
                let value = value.or_else(|| rest.next().cloned());
                let value = value.ok_or_else(|| anyhow!("`{name}` needs a value"))?;
                options.insert(name.to_owned(), Some(value));
            } else if known.switches.contains(&name) && value.is_none() {
                options.insert(name.to_owned(), None);
            } else {
                let choices = [known.switches, known.valued].concat().join("`, `");
                bail!("unknown option `{argument}`; known here: `{choices}`");
            }
        }
        Ok(Self { words, options })
    }

    /// Tells whether a switch was given.
    pub(crate) fn has(&self, switch: &str) -> bool {
        self.options.contains_key(switch)
    }

    /// Returns the value of an option, as text.
    pub(crate) fn text(&self, option: &str) -> Option<&str> {
        self.options.get(option)?.as_deref()
    }

    /// Returns the value of an option, or `default` when it was not given.
    pub(crate) fn value<T>(&self, option: &str, default: T) -> anyhow::Result<T>
    where
        T: FromStr<Err: Display>,
    {
        let Some(text) = self.text(option) else {
            return Ok(default);
        };
        text.parse().map_err(|error| anyhow!("`{option} {text}`: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Known<'static> = Known { switches: &["--quick"], valued: &["--seed"] };

    fn parse(text: &str) -> anyhow::Result<Arguments> {
        let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&arguments, &KNOWN)
    }

    #[test]
    fn words_switches_and_values_are_told_apart() {
        let arguments = parse("catalog --seed 7 --quick more").expect("all known");
        assert_eq!(arguments.words, ["catalog", "more"]);
        assert!(arguments.has("--quick"));
        assert_eq!(arguments.value("--seed", 1_u64).expect("a number"), 7);
        let arguments = parse("--seed=8").expect("all known");
        assert_eq!(arguments.value("--seed", 1_u64).expect("a number"), 8);
        assert!(!arguments.has("--quick"));
        let nothing = parse("").expect("nothing to refuse");
        assert_eq!(nothing.value("--seed", 1_u64).expect("the default"), 1);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_reason() {
        let cases = [
            ("--slow", "unknown option `--slow`; known here: `--quick`, `--seed`"),
            ("--quick=yes", "unknown option `--quick=yes`; known here: `--quick`, `--seed`"),
            ("--seed", "`--seed` needs a value"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text).expect_err(text).to_string(), message);
        }
        let arguments = parse("--seed many").expect("known");
        let error = arguments.value("--seed", 1_u64).expect_err("not a number").to_string();
        assert_eq!(error, "`--seed many`: invalid digit found in string");
    }
}
