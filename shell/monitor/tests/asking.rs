//! What somebody who asks over HTTP is told.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use operon_monitor::{Board, Monitor, Readiness};

fn ask(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_board_is_told_as_it_is() {
    let board = Arc::new(Board::new(Duration::from_millis(50)));
    let monitor = Monitor::listen("127.0.0.1:0".parse().unwrap(), Arc::clone(&board)).unwrap();
    let told = |path: &str, status: &str, text: &str| {
        let answer = ask(monitor.address(), path);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
        assert!(answer.contains(text), "{path}: {answer}");
    };
    told("/readyz", "503", "it has only begun");
    board.show_readiness(Readiness::Ready("it works".to_owned()));
    told("/readyz", "200", "it works");
    board.show_metrics("csv_count 2\n".to_owned());
    told("/metrics", "200", "csv_count 2");
    told("/elsewhere", "404", "");
    // Whoever says nothing for long is stuck, until it goes on.
    while !ask(monitor.address(), "/healthz").contains("503") {
        thread::sleep(Duration::from_millis(10));
    }
    told("/healthz", "503", "nothing was done");
    let taken = Monitor::listen(monitor.address(), Arc::clone(&board)).unwrap_err().to_string();
    assert!(taken.contains("cannot listen at"), "{taken}");
    let address = monitor.address();
    drop(monitor);
    assert!(TcpStream::connect(address).is_err());
}
