//! Random worlds from a seed.

use super::{
    ModelBundle, ModelCatalog, ModelChannel, ModelEntry, ModelInstalled, ModelPackage,
    ModelRequest, NAMESPACE, Need, Range, World,
};

/// A small, fast source of numbers that is the same everywhere.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

const PACKAGES: [&str; 4] = ["amber", "birch", "cedar", "delta"];
const CHANNELS: [&str; 3] = ["alpha", "beta", "stable"];

/// Makes a world.
pub(crate) fn world(seed: u64) -> World {
    let mut dice = Dice::new(seed);
    let package_count = 2 + dice.below(3);
    let mut world = World::default();
    for number in 0..1 + dice.below(2) {
        let packages = PACKAGES[..package_count]
            .iter()
            .filter_map(|name| {
                let absent = number > 0 && dice.one_in(2);
                (!absent).then(|| package(&mut dice, name, package_count))
            })
            .collect();
        world.catalogs.push(ModelCatalog {
            name: format!("catalog-{}", ["x", "y"][number]),
            namespace: if dice.one_in(3) { NAMESPACE } else { "olm" }.to_owned(),
            priority: if dice.one_in(4) { 5 } else { 0 },
            packages,
        });
    }
    add_requests(&mut dice, &mut world);
    world
}

fn package(dice: &mut Dice, name: &str, package_count: usize) -> ModelPackage {
    let bundles: Vec<ModelBundle> = (0..1 + dice.below(4))
        .map(|number| bundle(dice, name, (1 + number as u64 / 2, number as u64 % 2), package_count))
        .collect();
    let mut names = CHANNELS;
    dice.shuffle(&mut names);
    let channels: Vec<ModelChannel> = names[..1 + dice.below(2)]
        .iter()
        .map(|channel| self::channel(dice, channel, bundles.len()))
        .collect();
    let default_channel = channels[0].name.clone();
    let listed = |number: usize| {
        channels.iter().any(|channel| channel.entries.iter().any(|entry| entry.bundle == number))
    };
    // A bundle that no channel lists is an error of a catalog; it goes to the first channel.
    let unlisted: Vec<usize> = (0..bundles.len()).filter(|&number| !listed(number)).collect();
    let mut channels = channels;
    for number in unlisted {
        let entry = ModelEntry { bundle: number, skips_previous: false, skip_range: None };
        let place = channels[0].entries.partition_point(|known| known.bundle < number);
        channels[0].entries.insert(place, entry);
    }
    for channel in &mut channels {
        // The two oldest entries have nothing to skip, and what skips is not skipped itself.
        for position in 0..channel.entries.len() {
            if position < 2 || channel.entries[position - 1].skips_previous {
                channel.entries[position].skips_previous = false;
            }
        }
    }
    ModelPackage { name: name.to_owned(), default_channel, channels, bundles }
}

fn channel(dice: &mut Dice, name: &str, bundle_count: usize) -> ModelChannel {
    let mut entries: Vec<ModelEntry> = (0..bundle_count)
        .filter(|_| !dice.one_in(4))
        .map(|bundle| ModelEntry { bundle, skips_previous: false, skip_range: None })
        .collect();
    if entries.is_empty() {
        entries.push(ModelEntry { bundle: 0, skips_previous: false, skip_range: None });
    }
    for entry in entries.iter_mut().skip(1) {
        entry.skips_previous = dice.one_in(6);
        if dice.one_in(4) {
            entry.skip_range = Some("<2.0.0".to_owned());
        }
    }
    ModelChannel { name: name.to_owned(), entries }
}

fn bundle(
    dice: &mut Dice,
    package: &str,
    version: (u64, u64),
    package_count: usize,
) -> ModelBundle {
    let mut apis: Vec<usize> = (0..3).filter(|_| dice.one_in(3)).collect();
    apis.dedup();
    ModelBundle {
        package: package.to_owned(),
        version,
        apis,
        label: dice.one_in(5).then(|| dice.below(2)),
        deprecated: dice.one_in(20),
        needs: (0..dice.below(3)).map(|_| need(dice, package, package_count, 0)).collect(),
    }
}

fn need(dice: &mut Dice, package: &str, package_count: usize, depth: usize) -> Need {
    let leaf = depth >= 2 || !dice.one_in(4);
    if leaf {
        return match dice.below(5) {
            0 | 1 => Need::Api(dice.below(3)),
            2 => Need::Label(dice.below(2)),
            _ => {
                let others: Vec<&str> = PACKAGES[..package_count]
                    .iter()
                    .copied()
                    .filter(|name| *name != package)
                    .collect();
                let bound = (1 + dice.below(2) as u64, dice.below(2) as u64);
                let range =
                    if dice.one_in(2) { Range::AtLeast(bound) } else { Range::Below(bound) };
                Need::Package(others[dice.below(others.len())].to_owned(), range)
            }
        };
    }
    let parts = |dice: &mut Dice| {
        (0..1 + dice.below(2)).map(|_| need(dice, package, package_count, depth + 1)).collect()
    };
    match dice.below(3) {
        0 => Need::All(parts(dice)),
        1 => Need::Any(parts(dice)),
        _ => Need::All(vec![need(dice, package, package_count, depth + 1), Need::Not(parts(dice))]),
    }
}

fn add_requests(dice: &mut Dice, world: &mut World) {
    let mut taken: Vec<String> = Vec::new();
    for number in 0..1 + dice.below(3) {
        let catalog = dice.below(world.catalogs.len());
        let packages = &world.catalogs[catalog].packages;
        if packages.is_empty() {
            continue;
        }
        let package = packages[dice.below(packages.len())].clone();
        let channel = package.channels[dice.below(package.channels.len())].clone();
        let mut request = ModelRequest {
            name: format!("request-{number}"),
            package: package.name.clone(),
            channel: channel.name.clone(),
            catalog,
            starting: String::new(),
            installed: String::new(),
        };
        let entry = &channel.entries[dice.below(channel.entries.len())];
        let bundle = package.bundles[entry.bundle].clone();
        let is_free = !taken.contains(&package.name);
        taken.push(package.name.clone());
        match dice.below(6) {
            0 | 1 if is_free => {
                request.installed = bundle.name();
                world.installed.push(ModelInstalled { bundle });
            }
            2 => request.starting = bundle.name(),
            _ => {}
        }
        world.requests.push(request);
    }
    if dice.one_in(4) {
        let catalog = &world.catalogs[0];
        if let Some(package) = catalog.packages.last()
            && !taken.contains(&package.name)
        {
            let bundle = package.bundles[dice.below(package.bundles.len())].clone();
            world.installed.push(ModelInstalled { bundle });
        }
    }
}
