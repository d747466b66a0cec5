//! What the head of a program says: for which processor it is, and whether it can stand alone.
//!
//! Only programs of Linux are read, and only as far as that.

use anyhow::{Context, bail, ensure};

/// The length of the head of a file.
const HEAD: usize = 64;
/// The length of the head of a part of the program.
const PART: usize = 56;
/// The kind of part that names the program which loads shared libraries.
const INTERPRETER: u32 = 3;
/// The processors that Operon is built for, and what images call them.
const MACHINES: [(u16, &str); 2] = [(62, "amd64"), (183, "arm64")];

/// What is said about a file that is no program at all.
const NO_PROGRAM: &str = "it is no program of Linux for a processor with 64 bits";

/// Returns the architecture of a program, as images call it, if it needs no shared library.
pub(crate) fn architecture_of_static(program: &[u8]) -> anyhow::Result<&'static str> {
    let head = program.get(..HEAD).context(NO_PROGRAM)?;
    // Magic bytes, 64 bits, the low byte first.
    ensure!(head.starts_with(b"\x7fELF\x02\x01"), NO_PROGRAM);
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let machine = half(18);
    let Some((_, architecture)) = MACHINES.iter().find(|(number, _)| *number == machine) else {
        bail!("it is for a processor with the number {machine}, which is neither amd64 nor arm64");
    };
    let begin: [u8; 8] = head[32..40].try_into().context(NO_PROGRAM)?;
    let begin = usize::try_from(u64::from_le_bytes(begin)).context(NO_PROGRAM)?;
    let (length, count) = (usize::from(half(54)), usize::from(half(56)));
    ensure!(length == PART && count > 0, NO_PROGRAM);
    let end = begin.checked_add(length * count).context(NO_PROGRAM)?;
    let parts = program.get(begin..end).context(NO_PROGRAM)?;
    let is_interpreter = |part: &[u8]| part.starts_with(&INTERPRETER.to_le_bytes());
    ensure!(
        !parts.chunks(length).any(is_interpreter),
        "it needs shared libraries, which an image of its own does not have"
    );
    Ok(architecture)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    fn own() -> Vec<u8> {
        fs::read(env::current_exe().expect("a file")).expect("readable")
    }

    fn refusal(program: &[u8]) -> String {
        architecture_of_static(program).expect_err("refused").to_string()
    }

    #[test]
    fn only_what_stands_alone_is_taken() {
        // Tests are linked as usual.
        let mut program = own();
        assert!(refusal(&program).contains("shared libraries"));
        let begin = usize::from(program[32]);
        let count = usize::from(program[56]);
        for part in program[begin..begin + count * PART].chunks_mut(PART) {
            if part.starts_with(&INTERPRETER.to_le_bytes()) {
                part[0] = 0;
            }
        }
        assert!(architecture_of_static(&program).is_ok());
        program[18] = 8;
        assert!(refusal(&program).contains("the number 8"));
    }

    #[test]
    fn damaged_files_are_refused() {
        let mut program = own();
        for length in [0, 4, HEAD - 1, HEAD, 200] {
            assert_eq!(refusal(&program[..length]), NO_PROGRAM, "{length} bytes");
        }
        program[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(refusal(&program), NO_PROGRAM);
        assert_eq!(refusal(&b"#!/bin/sh\n".repeat(20)), NO_PROGRAM);
    }
}
