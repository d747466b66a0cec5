//! Lines answered on all cores and printed in their order, with bounded memory.
//!
//! Each worker holds one line; answers that are ready before their turn are held back up to a
//! limit. What a line means is not known here.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, Read},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

use operon_document::json::MAX_DOCUMENT_BYTES;

/// The most threads that work: beyond this, memory bandwidth is the limit.
const MAX_WORKERS: usize = 16;

/// How many answers may wait for an earlier one, for each worker.
const WAITING_PER_WORKER: usize = 64;

/// The longest line that is kept, one byte more than the longest document, so that a longer one is
/// refused where documents are read.
const MAX_LINE_BYTES: u64 = MAX_DOCUMENT_BYTES as u64 + 1;

/// What the workers share.
struct Lines<R> {
    reader: R,
    /// The number of the line that was read last, blank ones included.
    number: usize,
    /// How many lines were handed out.
    taken: usize,
    /// How many answers were printed.
    printed: usize,
    /// Whether nothing more is to be handed out.
    ended: bool,
    /// Why reading ended early.
    error: Option<io::Error>,
}

/// Answers every line that is not blank: `work` gets its number and text. Answers are printed in
/// the order of lines; where `work` panics, which would be a defect, `failed` answers instead.
pub(crate) fn run<R: BufRead + Send, A: Send>(
    reader: R,
    work: impl Fn(usize, &[u8]) -> A + Sync,
    failed: impl Fn(usize) -> A + Sync,
    mut print: impl FnMut(A) -> io::Result<()>,
) -> io::Result<()> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
    let most_waiting = workers * WAITING_PER_WORKER;
    let lines = Lines { reader, number: 0, taken: 0, printed: 0, ended: false, error: None };
    let lines = Mutex::new(lines);
    let moved = Condvar::new();
    let (send, receive) = mpsc::channel();
    let serve = |send: &mpsc::Sender<(usize, A)>| {
        while let Some((place, number, text)) = next_line(&lines, &moved, most_waiting) {
            let answer = catch_unwind(AssertUnwindSafe(|| work(number, &text)))
                .unwrap_or_else(|_| failed(number));
            if send.send((place, answer)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            let send = send.clone();
            scope.spawn(move || serve(&send));
        }
        // When the last worker ends, nothing more can be received.
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        for (place, answer) in receive {
            waiting.insert(place, answer);
            while let Some(answer) = waiting.remove(&turn) {
                turn += 1;
                let result = print(answer);
                let mut shared = lock(&lines);
                shared.printed = turn;
                shared.ended |= result.is_err();
                drop(shared);
                moved.notify_all();
                result?;
            }
        }
        lock(&lines).error.take().map_or(Ok(()), Err)
    })
}

/// Takes the next line that is not blank: its place among the answers, its number, its text.
fn next_line<R: BufRead>(
    lines: &Mutex<Lines<R>>,
    moved: &Condvar,
    most_waiting: usize,
) -> Option<(usize, usize, Vec<u8>)> {
    let mut shared = lock(lines);
    while !shared.ended && shared.taken - shared.printed >= most_waiting {
        shared = moved.wait(shared).unwrap_or_else(PoisonError::into_inner);
    }
    let mut text = Vec::new();
    while !shared.ended {
        text.clear();
        match read_line(&mut shared.reader, &mut text) {
            Ok(false) => shared.ended = true,
            Err(error) => {
                shared.ended = true;
                shared.error = Some(error);
            }
            Ok(true) => {
                shared.number += 1;
                if !text.trim_ascii().is_empty() {
                    shared.taken += 1;
                    return Some((shared.taken - 1, shared.number, text));
                }
            }
        }
    }
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a line; what is beyond the longest line is passed over. Returns whether there was one.
fn read_line(reader: &mut impl BufRead, text: &mut Vec<u8>) -> io::Result<bool> {
    if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', text)? == 0 {
        return Ok(false);
    }
    if text.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(text: &str, work: impl Fn(usize, &[u8]) -> String + Sync) -> Vec<String> {
        let mut printed = Vec::new();
        let failed = |number| format!("{number} failed");
        let print = |answer| {
            printed.push(answer);
            Ok(())
        };
        run(text.as_bytes(), work, failed, print).unwrap();
        printed
    }

    #[test]
    fn answers_keep_line_order_and_skip_blanks() {
        let text: String = (1..=3000).map(|number| format!("{number}\n")).collect();
        let work = |number: usize, line: &[u8]| {
            // The first lines take longest, so that others overtake them.
            let rounds = if number < 20 { 100_000 } else { 10 };
            let sum = (0..rounds).fold(0_u64, |sum, round| sum.wrapping_add(round));
            format!("{} {number} {}", String::from_utf8_lossy(line).trim(), sum.min(1))
        };
        let expected: Vec<String> =
            (1..=3000).map(|number| format!("{number} {number} 1")).collect();
        assert_eq!(answers(&text, work), expected);
        let echo = |number: usize, line: &[u8]| {
            format!("{number}{}", String::from_utf8_lossy(line).trim())
        };
        assert_eq!(answers("a\n\n  \nb", echo), ["1a", "4b"]);
        assert_eq!(answers("", echo), Vec::<String>::new());
    }

    #[test]
    fn panics_fail_their_own_line_only() {
        let work = |number: usize, _: &[u8]| {
            assert_ne!(number, 2, "the line that shows the defect");
            number.to_string()
        };
        assert_eq!(answers("a\nb\nc\n", work), ["1", "2 failed", "3"]);
    }

    #[test]
    fn write_errors_end_the_run() {
        let text = "x\n".repeat(10_000);
        let mut printed = 0;
        let print = |()| {
            printed += 1;
            if printed == 5 { Err(io::Error::from(io::ErrorKind::BrokenPipe)) } else { Ok(()) }
        };
        let result = run(text.as_bytes(), |_, _| (), |_| (), print);
        assert_eq!(result.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(printed, 5);
    }
}
