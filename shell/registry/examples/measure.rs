//! Measures a server over a large catalog: memory, time to the first answer, bundles per second.
//!
//! `measure CATALOG_FOLDER` builds the catalog, starts itself again as a server that has nothing else in
//! memory, and reads all bundles with two clients at once. It is a tool for one's own machine: nothing is asserted.

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{self, BufRead, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Instant,
};

use operon_catalog::{Catalog, Declarations, FileId, Place, SourceFile, build};
use operon_fbc::FileReader;
use operon_registry::{Address, Client, ClientOptions, Content, Server};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [folder] => measure(Path::new(folder)),
        ["serve", folder, image] => serve(Path::new(folder), Path::new(image)),
        _ => Err("usage: measure CATALOG_FOLDER".into()),
    }
}

fn sorted_files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder)? {
        files.push(file?.path());
    }
    files.sort();
    Ok(files)
}

fn build_image(folder: &Path, image: &Path) -> Outcome<()> {
    let mut sources = Vec::new();
    let mut declarations = Declarations::default();
    for (number, path) in sorted_files(folder)?.into_iter().enumerate() {
        let content = fs::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sources.push(SourceFile { path: name, size: content.len() as u64 });
        let mut reader = FileReader::new(FileId(u32::try_from(number)?));
        reader.read_piece(&content, 0);
        declarations.append(reader.finish());
    }
    let catalog = build(&sources, declarations);
    println!("catalog: {:?}, image {} KiB", catalog.counts(), catalog.image_bytes().len() >> 10);
    fs::write(image, catalog.image_bytes())?;
    Ok(())
}

/// A catalog of JSON files, whose image is held in memory.
struct Folder {
    catalog: Catalog,
    files: Vec<PathBuf>,
}

impl Content for Folder {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn document(&self, place: Place) -> Result<String, String> {
        let read = || -> io::Result<String> {
            let mut file = File::open(&self.files[place.file.0 as usize])?;
            file.seek(SeekFrom::Start(u64::from(place.start)))?;
            let mut text = String::new();
            file.take(place.range().len() as u64).read_to_string(&mut text)?;
            Ok(text)
        };
        read().map_err(|error| error.to_string())
    }
}

fn serve(folder: &Path, image: &Path) -> Outcome<()> {
    let begun = Instant::now();
    let catalog = Catalog::open(Arc::new(fs::read(image)?)).map_err(|error| error.to_string())?;
    let server = Server::new();
    let listening = server.listen(&Address::parse("127.0.0.1:0")?)?;
    server.set_content(Arc::new(Folder { catalog, files: sorted_files(folder)? }));
    println!("{}", listening.address());
    eprintln!("serving after {:?}", begun.elapsed());
    io::stdout().flush()?;
    // The parent closes its end when it is done.
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn memory(process: u32) -> Outcome<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let lines =
        status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    Ok(lines.collect::<Vec<_>>().join(", "))
}

fn measure(folder: &Path) -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let image = directory.path().join("catalog.image");
    build_image(folder, &image)?;
    let mut server = Command::new(env::current_exe()?)
        .arg("serve")
        .args([folder, &image])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = server.stdout.take().ok_or("no output")?;
    io::BufReader::new(output).read_line(&mut line)?;
    let address = Address::parse(line.trim())?;
    println!("before: {}", memory(server.id())?);
    let readers: Vec<_> = (0..2)
        .map(|number| {
            let address = address.clone();
            thread::spawn(move || read_all(number, &address))
        })
        .collect();
    for reader in readers {
        reader.join().map_err(|_| "a reader failed")??;
    }
    println!("after two whole lists: {}", memory(server.id())?);
    let client = Client::connect(&address, ClientOptions::default())?;
    let begun = Instant::now();
    let fetched = client.fetch_catalog(&mut io::sink())?;
    println!("fetched {fetched:?} in {:?}", begun.elapsed());
    println!("after fetching: {}", memory(server.id())?);
    println!("this client: {}", memory(std::process::id())?);
    drop(server.stdin.take());
    server.wait()?;
    Ok(())
}

fn read_all(number: usize, address: &Address) -> Outcome<()> {
    let begun = Instant::now();
    let client = Client::connect(address, ClientOptions::default())?;
    let mut first = None;
    let mut bundles = 0_u32;
    for bundle in client.list_bundles()? {
        bundle?;
        first.get_or_insert_with(|| begun.elapsed());
        bundles += 1;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "reader {number}: first after {first:?}, {bundles} bundles in {seconds:.3} s, {:.0} per second",
        f64::from(bundles) / seconds
    );
    Ok(())
}
