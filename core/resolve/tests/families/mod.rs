//! Catalogs that are hard on purpose, in families that grow: what a hostile author would publish.
//!
//! A family is plain data and knows no crate of the workspace, so that tests build it in memory
//! and benchmarks write it to a directory.

use std::fmt::Write as _;

/// A catalog, and the package that one Subscription asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Family {
    pub(crate) packages: Vec<Package>,
    pub(crate) root: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The bundles, the oldest first; each replaces the one before.
    pub(crate) bundles: Vec<Bundle>,
    /// How many channels list all of the bundles.
    pub(crate) channels: usize,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Bundle {
    pub(crate) version: String,
    /// Kinds of APIs of one group.
    pub(crate) provides: Vec<String>,
    pub(crate) needs: Vec<Need>,
    /// Types of properties that mean nothing.
    pub(crate) marks: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Need {
    Api(String),
    Package { name: String, range: String },
    Rule(String),
}

/// The group of all APIs.
pub(crate) const GROUP: &str = "example.com";

/// The version of all APIs.
pub(crate) const VERSION: &str = "v1";

impl Package {
    fn new(name: String, bundles: Vec<Bundle>) -> Self {
        Self { name, bundles, channels: 1 }
    }

    /// Returns the name of a bundle.
    pub(crate) fn bundle_name(&self, bundle: &Bundle) -> String {
        format!("{}.v{}", self.name, bundle.version)
    }

    /// Returns the properties of a bundle: types and JSON texts.
    pub(crate) fn properties(&self, bundle: &Bundle) -> Vec<(String, String)> {
        let api = |kind: &String| {
            format!(r#"{{"group":"{GROUP}","kind":"{kind}","version":"{VERSION}"}}"#)
        };
        let package =
            format!(r#"{{"packageName":"{}","version":"{}"}}"#, self.name, bundle.version);
        let mut properties = vec![("olm.package".to_owned(), package)];
        properties.extend(bundle.provides.iter().map(|kind| ("olm.gvk".to_owned(), api(kind))));
        properties.extend(bundle.needs.iter().map(|need| match need {
            Need::Api(kind) => ("olm.gvk.required".to_owned(), api(kind)),
            Need::Package { name, range } => {
                let value = format!(r#"{{"packageName":"{name}","versionRange":"{range}"}}"#);
                ("olm.package.required".to_owned(), value)
            }
            Need::Rule(rule) => {
                ("olm.constraint".to_owned(), format!(r#"{{"cel":{{"rule":"{rule}"}}}}"#))
            }
        }));
        properties.extend(bundle.marks.iter().map(|kind| (kind.clone(), "{}".to_owned())));
        properties
    }
}

impl Family {
    /// Returns the catalog as JSON documents.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for package in &self.packages {
            let name = &package.name;
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                r#"{{"schema":"olm.package","name":"{name}","defaultChannel":"c0"}}"#
            );
            let mut entries = Vec::new();
            let mut previous = String::new();
            for bundle in &package.bundles {
                let bundle_name = package.bundle_name(bundle);
                entries.push(match previous.as_str() {
                    "" => format!(r#"{{"name":"{bundle_name}"}}"#),
                    _ => format!(r#"{{"name":"{bundle_name}","replaces":"{previous}"}}"#),
                });
                let properties = package.properties(bundle);
                let properties: Vec<String> = properties
                    .iter()
                    .map(|(kind, value)| format!(r#"{{"type":"{kind}","value":{value}}}"#))
                    .collect();
                let _ = writeln!(
                    text,
                    r#"{{"schema":"olm.bundle","name":"{bundle_name}","package":"{name}","image":"example.com/{name}:{}","properties":[{}]}}"#,
                    bundle.version,
                    properties.join(",")
                );
                previous = bundle_name;
            }
            let entries = entries.join(",");
            for channel in 0..package.channels {
                let _ = writeln!(
                    text,
                    r#"{{"schema":"olm.channel","name":"c{channel}","package":"{name}","entries":[{entries}]}}"#
                );
            }
        }
        text
    }

    fn of(root: Bundle, packages: Vec<Package>) -> Self {
        let mut all = vec![Package::new("root".to_owned(), vec![root])];
        all.extend(packages);
        Self { packages: all, root: "root".to_owned() }
    }
}

fn bundle(version: usize, provides: Vec<String>, needs: Vec<Need>) -> Bundle {
    Bundle { version: format!("{version}.0.0"), provides, needs, marks: Vec::new() }
}

fn package(name: String, range: String) -> Need {
    Need::Package { name, range }
}

/// Numbers that look random and are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Colours a graph: packages are vertices, three versions of each are colours, and the ends of an
/// edge provide the same API in the same colour.
pub(crate) fn colouring(vertices: usize, seed: u64) -> Family {
    let mut numbers = Numbers(seed);
    let mut provided = vec![[const { Vec::new() }; 3]; vertices];
    // Half as many edges again as twice the vertices: about as many graphs can be coloured as not.
    for edge in 0..vertices * 47 / 20 {
        let (one, other) = (numbers.below(vertices), numbers.below(vertices));
        if one == other {
            continue;
        }
        for colour in 0..3 {
            let kind = format!("Edge{edge}Colour{colour}");
            for vertex in [one, other] {
                let colours = &mut provided[vertex];
                colours[colour].push(kind.clone());
            }
        }
    }
    let name = |vertex: usize| format!("vertex-{vertex}");
    let needs = (0..vertices).map(|vertex| package(name(vertex), ">=1.0.0".to_owned()));
    let root = bundle(1, Vec::new(), needs.collect());
    let packages = provided.into_iter().enumerate().map(|(vertex, colours)| {
        let bundles = colours.into_iter().enumerate();
        let bundles = bundles.map(|(colour, provides)| bundle(colour + 1, provides, Vec::new()));
        Package::new(name(vertex), bundles.collect())
    });
    Family::of(root, packages.collect())
}

/// One rule that compares all properties with all properties, nine deep, beside many bundles.
pub(crate) fn nested_rule(bundles: usize) -> Family {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let mut rule = String::new();
    for name in names {
        let _ = write!(rule, "properties.all({name}, ");
    }
    let sum: Vec<String> = names.iter().map(|name| format!("{name}.type")).collect();
    let _ = write!(rule, "{} != 'zz'{}", sum.join("+"), ")".repeat(names.len()));
    rule.push_str(" && properties.exists(p, p.type.startsWith('no'))");
    let root = bundle(1, Vec::new(), vec![Need::Rule(rule)]);
    let marks: Vec<String> = (0..7).map(|mark| format!("example.mark-{mark}")).collect();
    let packages = (0..bundles).map(|number| {
        let plain = bundle(1, vec![format!("Kind{number}")], Vec::new());
        Package::new(format!("plain-{number}"), vec![Bundle { marks: marks.clone(), ..plain }])
    });
    Family::of(root, packages.collect())
}

/// Each package needs the next; the last of a broken chain needs what nothing provides.
pub(crate) fn chain(length: usize, is_broken: bool) -> Family {
    let name = |link: usize| format!("link-{link}");
    let packages = (0..length).map(|link| {
        let needs = match (link + 1 < length, is_broken) {
            (true, _) => vec![package(name(link + 1), ">=1.0.0".to_owned())],
            (false, true) => vec![Need::Api("Missing".to_owned())],
            (false, false) => Vec::new(),
        };
        Package::new(name(link), vec![bundle(1, Vec::new(), needs)])
    });
    let root = bundle(1, Vec::new(), vec![package(name(0), ">=1.0.0".to_owned())]);
    Family::of(root, packages.collect())
}

/// Many packages provide what is needed, and each needs something else that nothing provides.
pub(crate) fn failing_providers(count: usize) -> Family {
    let packages = (0..count).map(|number| {
        let needs = vec![Need::Api(format!("Missing{number}"))];
        let provider = bundle(1, vec!["Wanted".to_owned()], needs);
        Package::new(format!("provider-{number}"), vec![provider])
    });
    let root = bundle(1, Vec::new(), vec![Need::Api("Wanted".to_owned())]);
    Family::of(root, packages.collect())
}

/// Each package provides an API and needs those of many others.
pub(crate) fn dense_apis(packages: usize, needs: usize) -> Family {
    let kind = |number: usize| format!("Kind{}", number % packages);
    let all = (0..packages).map(|number| {
        let needs = (1..=needs).map(|distance| Need::Api(kind(number + distance)));
        let dense = bundle(1, vec![kind(number)], needs.collect());
        Package::new(format!("dense-{number}"), vec![dense])
    });
    let root = bundle(1, Vec::new(), vec![Need::Api(kind(0))]);
    Family::of(root, all.collect())
}

/// One package with many channels, all of which list the same versions.
pub(crate) fn channels(count: usize) -> Family {
    let bundles = (1..=2).map(|version| bundle(version, Vec::new(), Vec::new()));
    let mut wide = Package::new("wide".to_owned(), bundles.collect());
    wide.channels = count;
    Family { packages: vec![wide], root: "wide".to_owned() }
}

/// Packages in a circle: each version needs one of the next package, shifted so that going round
/// once leads to another version of the first.
pub(crate) fn cycle(packages: usize) -> Family {
    let name = |number: usize| format!("cycle-{}", number % packages);
    let all = (0..packages).map(|number| {
        let bundles = (1..=3).map(|version| {
            let range = format!("{}.0.0", version % 3 + 1);
            bundle(version, Vec::new(), vec![package(name(number + 1), range)])
        });
        Package::new(name(number), bundles.collect())
    });
    let root = bundle(1, Vec::new(), vec![package(name(0), ">=1.0.0".to_owned())]);
    Family::of(root, all.collect())
}

/// Random clauses of three literals, as many as make the question hardest.
pub(crate) fn three_sat(variables: usize, seed: u64) -> Family {
    let mut numbers = Numbers(seed);
    let variable = |number: usize| format!("variable-{number}");
    let mut packages: Vec<Package> = (0..variables)
        .map(|number| {
            let values = (1..=2).map(|version| bundle(version, Vec::new(), Vec::new()));
            Package::new(variable(number), values.collect())
        })
        .collect();
    let clauses = variables * 426 / 100;
    for clause in 0..clauses {
        let literals = (1..=3).map(|version| {
            let range = format!("{}.0.0", 1 + numbers.below(2));
            let name = variable(numbers.below(variables));
            bundle(version, Vec::new(), vec![package(name, range)])
        });
        packages.push(Package::new(format!("clause-{clause}"), literals.collect()));
    }
    let needs =
        (0..clauses).map(|clause| package(format!("clause-{clause}"), ">=1.0.0".to_owned()));
    Family::of(bundle(1, Vec::new(), needs.collect()), packages)
}

/// Bundles that need a package in a range of 64 KB, each alternative of which is questionable.
pub(crate) fn long_ranges(count: usize) -> Family {
    let mut range = String::new();
    for major in 0.. {
        let next = format!(">={major}.0.0 <{major}.0.1");
        if range.len() + next.len() > 64_000 {
            break;
        }
        let joint = if range.is_empty() { "" } else { " || " };
        let _ = write!(range, "{joint}{next}");
    }
    let packages = (0..count).map(|number| {
        let needs = vec![package("wanted".to_owned(), range.clone())];
        Package::new(format!("ranged-{number}"), vec![bundle(1, Vec::new(), needs)])
    });
    let wanted = Package::new("wanted".to_owned(), vec![bundle(1, Vec::new(), Vec::new())]);
    let root = bundle(1, Vec::new(), vec![package("ranged-0".to_owned(), ">=1.0.0".to_owned())]);
    Family::of(root, packages.chain([wanted]).collect())
}
