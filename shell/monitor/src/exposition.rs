//! Metrics as Prometheus reads them.

use std::fmt::Write;

use operon_lifecycle::views::{Sample, Series};

/// Writes series in the text format of Prometheus.
pub fn exposition(all: &[Series]) -> String {
    let mut text = String::new();
    for Series { name, help, is_counter, samples } in all {
        let kind = if *is_counter { "counter" } else { "gauge" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for Sample { labels, value } in samples {
            text.push_str(name);
            for (index, (label, about)) in labels.iter().enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                let _ = write!(text, "{label}=\"{}\"", escaped(about));
            }
            if !labels.is_empty() {
                text.push('}');
            }
            let _ = writeln!(text, " {value}");
        }
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_write_stays_within_its_quotes() {
        let strange = "a\"b\\c\nd";
        let all = [
            Series::gauge("csv_count", "How many.").only(2.0),
            Series::counter("seen_total", "How often.").about([("name", strange), ("n", "x")], 0.5),
        ];
        let expected = "\
# HELP csv_count How many.
# TYPE csv_count gauge
csv_count 2
# HELP seen_total How often.
# TYPE seen_total counter
seen_total{name=\"a\\\"b\\\\c\\nd\",n=\"x\"} 0.5
";
        assert_eq!(exposition(&all), expected);
    }
}
