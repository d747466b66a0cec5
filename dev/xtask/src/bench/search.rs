//! `cargo xtask bench --search [WORD…]`: how long the solver takes on problems of known shapes.
//!
//! Words of the shapes' names measure only those. Nothing is checked here.

use std::time::Instant;

use operon_sat::{Answer, Budget, Literal, Problem, Solver, Variable, minimise};

const STEPS: u64 = 20_000_000_000;

/// Measures the shapes whose names contain one of the words, or all.
pub(crate) fn run(words: &[String]) {
    measure("pigeons 9/8", words, || pigeons(9, 8));
    measure("pigeons 20/19", words, || pigeons(20, 19));
    measure("pigeons 40/40", words, || pigeons(40, 40));
    measure("chain 40x40", words, || chain(40, 40));
    measure("chain 400x100", words, || chain(400, 100));
    let shapes = [("10k", 500, 20, 20), ("100k", 5000, 20, 50), ("1M", 50_000, 20, 50)];
    for (size, families, alternatives, roots) in shapes {
        for (kind, narrowness, is_planted, is_aligned) in [
            ("aligned", 3, false, true),
            ("wide", 2, true, false),
            ("middle", 3, true, false),
            ("narrow", 8, true, false),
            ("unsatisfiable", 8, false, false),
        ] {
            for seed in 1..=2 {
                let wants = 3;
                let shape = Families {
                    families,
                    size: alternatives,
                    roots,
                    wants,
                    narrowness,
                    is_planted,
                    is_aligned,
                    seed,
                };
                measure(&format!("{size} {kind} {seed}"), words, || shape.build());
            }
        }
    }
}

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Families of alternatives, of which one may be true; each alternative wants alternatives of other families.
struct Families {
    families: usize,
    size: usize,
    roots: usize,
    /// The most other families one family wants something of.
    wants: usize,
    /// A wish covers one part in so many of the other family; 1 is the whole of it.
    narrowness: usize,
    /// Whether some alternative of each family fits with all others.
    is_planted: bool,
    /// Whether early alternatives want early ones, as versions do, or anything.
    is_aligned: bool,
    seed: u64,
}

impl Families {
    fn build(&self) -> (Problem, Vec<Literal>) {
        let mut numbers = Numbers(self.seed);
        let mut problem = Problem::new();
        let mut families = Vec::with_capacity(self.families);
        for _ in 0..self.families {
            let members: Vec<Variable> = (0..self.size).map(|_| problem.variable()).collect();
            problem.at_most_one(&members, None);
            families.push(members);
        }
        let planted: Vec<usize> = families.iter().map(|_| numbers.below(self.size)).collect();
        for (family, members) in families.iter().enumerate() {
            let targets: Vec<usize> = (0..numbers.below(self.wants + 1))
                .map(|_| numbers.below(self.families))
                .filter(|target| *target != family)
                .collect();
            for (place, member) in members.iter().enumerate() {
                for target in &targets {
                    let width = (self.size / self.narrowness).max(1) + numbers.below(3);
                    let mut first = numbers.below(self.size);
                    if self.is_aligned {
                        first = (place + numbers.below(width)).saturating_sub(width * 3 / 4);
                    }
                    if self.is_planted && place == planted[family] {
                        first = planted[*target].saturating_sub(numbers.below(width));
                    }
                    let end = (first + width).min(self.size);
                    problem.choice(Some(*member), &families[*target][first..end], None);
                }
            }
        }
        let mut assumptions = Vec::new();
        for _ in 0..self.roots {
            let guard = problem.variable();
            let family = numbers.below(self.families);
            problem.choice(None, &families[family], Some(guard));
            assumptions.push(guard.positive());
        }
        (problem, assumptions)
    }
}

/// More wishes than places: everyone wants one of the places, and a place takes one.
fn pigeons(pigeons: usize, holes: usize) -> (Problem, Vec<Literal>) {
    let mut problem = Problem::new();
    let mut by_hole = vec![Vec::new(); holes];
    let mut assumptions = Vec::new();
    for _ in 0..pigeons {
        let guard = problem.variable();
        let candidates: Vec<Variable> = (0..holes).map(|_| problem.variable()).collect();
        for (hole, candidate) in candidates.iter().enumerate() {
            by_hole[hole].push(*candidate);
        }
        problem.choice(None, &candidates, Some(guard));
        assumptions.push(guard.positive());
    }
    for hole in by_hole {
        problem.at_most_one(&hole, None);
    }
    (problem, assumptions)
}

/// A long chain: each family wants the same or an earlier place of the next, and the last has only one.
fn chain(families: usize, size: usize) -> (Problem, Vec<Literal>) {
    let mut problem = Problem::new();
    let all: Vec<Vec<Variable>> =
        (0..families).map(|_| (0..size).map(|_| problem.variable()).collect()).collect();
    for members in &all {
        problem.at_most_one(members, None);
    }
    for pair in all.windows(2) {
        for (place, member) in pair[0].iter().enumerate() {
            problem.choice(Some(*member), &pair[1][..=place], None);
        }
    }
    for member in &all[families - 1][..size - 1] {
        problem.clause(&[member.negative()]);
    }
    let guard = problem.variable();
    problem.choice(None, &all[0], Some(guard));
    (problem, vec![guard.positive()])
}

fn measure(name: &str, words: &[String], build: impl Fn() -> (Problem, Vec<Literal>)) {
    if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
        return;
    }
    let (problem, assumptions) = build();
    let start = Instant::now();
    let mut solver = Solver::new(&problem);
    let made = start.elapsed();
    let mut budget = Budget::new(STEPS);
    let start = Instant::now();
    let answer = solver.prefer(&assumptions, &mut budget);
    let preferred = start.elapsed();
    let verdict = match &answer {
        Answer::Satisfiable(solution) => format!("{} chosen", solution.chosen.len()),
        Answer::Unsatisfiable(core) => format!("no, {} blamed", core.len()),
        Answer::Spent => "spent".to_owned(),
    };
    println!(
        "{name:<24} {:>8} variables  new {made:>9.1?}  prefer {preferred:>9.1?}  {verdict}; {} steps",
        problem.variable_count(),
        budget.spent()
    );
    println!("{:>24} {:?}", "", solver.statistics());
    if let Answer::Unsatisfiable(core) = answer {
        let start = Instant::now();
        let result = minimise(&mut solver, core, &mut budget);
        let elapsed = start.elapsed();
        println!("{:>24} minimise {elapsed:.1?} to {}", "", result.literals.len());
    }
    let mut free = Solver::new(&problem);
    let start = Instant::now();
    let answer = free.satisfy(&assumptions, &mut Budget::new(STEPS));
    let verdict = match &answer {
        Answer::Satisfiable(_) => "yes",
        Answer::Unsatisfiable(_) => "no",
        Answer::Spent => "spent",
    };
    println!(
        "{:>24} satisfy {:.1?} {verdict}, {} conflicts",
        "",
        start.elapsed(),
        free.statistics().conflicts
    );
}
