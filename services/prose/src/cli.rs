//! The command line as people type it.

use std::{net::SocketAddr, path::PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// Keep standing truths current from contracts, and pay only for surprise.
///
/// A project is a folder with a `prose.toml` and contracts (`*.prose.md`). `prose up` compiles
/// them, takes in events, renders what has to change, and writes a receipt for every decision.
#[derive(Debug, Parser)]
#[command(name = "prose", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  prose init demo                                          a small project that works at once
  prose up demo --feed demo/feed.jsonl --exit-when-quiet   run it over its example events
  prose -C demo show shopping-list                         what a node has published
  prose -C demo receipts verify                            prove that nothing was changed

Exit codes: 0 fine; 1 the work failed (a contract has errors, a node's last receipt is a failure, \
verification found something); 2 usage, environment or bad input.";

/// Understood by every command.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The project folder, instead of the one the working folder belongs to
    #[arg(short = 'C', long, global = true, value_name = "DIR", env = "PROSE_PROJECT")]
    pub project: Option<PathBuf>,
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Say more of what goes on, on standard error; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// A coordinator to talk to instead of the project's own, as http://host:port
    #[arg(long, global = true, value_name = "URL", env = "PROSE_ENDPOINT")]
    pub endpoint: Option<String>,
    /// The reactor, where it is not the project's
    #[arg(long, global = true, value_name = "NAME", env = "PROSE_REACTOR")]
    pub reactor: Option<String>,
}

/// When to do something that only makes sense on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// In any case
    Always,
    /// Not at all
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a small project that works at once
    #[command(after_help = "Examples:\n  prose init demo\n  \
        prose up demo --feed demo/feed.jsonl --exit-when-quiet")]
    Init(Folder),
    /// Compile the contracts into dist/
    #[command(after_help = "Examples:\n  prose compile\n  prose compile demo --json\n\n\
        Exits with 1 while a contract has errors; dist/ then stays as it was.")]
    Compile(Folder),
    /// Run a project: coordinator and workers in one process
    #[command(after_help = UP_EXAMPLES)]
    Up(Up),
    /// Send one event to a gateway
    #[command(
        after_help = "Examples:\n  prose trigger pantry '{\"stock\": {\"milk\": 1}, \"counted_by\": \"Ada\"}'\n  \
        prose trigger pantry @event.json --key delivery-17\n  \
        curl -s example.org/latest | prose trigger pantry -\n\n\
        The same key again changes nothing. Without a key every call is a new event."
    )]
    Trigger(Trigger),
    /// Show what each node is doing
    #[command(after_help = "Examples:\n  prose status\n  prose status demo --json")]
    Status(Folder),
    /// Show the graph of the contracts
    #[command(after_help = "Examples:\n  prose topology\n  \
        prose topology --format mermaid > graph.mmd\n  \
        prose topology --format dot | dot -Tsvg > graph.svg\n  \
        prose topology --mounted --json")]
    Topology(Topology),
    /// Show a node: its truth, facets, fingerprints and last receipts
    #[command(
        after_help = "Examples:\n  prose show shopping-list\n  prose show shopping-list --json | jq .truth"
    )]
    Show(Node),
    /// Tell why a node last rendered, skipped or failed, and what it waits for
    #[command(
        after_help = "Examples:\n  prose explain shopping-list\n  prose explain shopping-list --json"
    )]
    Explain(Node),
    /// Read, prove and export the ledger
    #[command(
        subcommand,
        after_help = "Examples:\n  prose receipts list\n  \
        prose receipts verify\n  prose receipts cost --json"
    )]
    Receipts(Receipts),
    /// Follow receipts as they are written
    #[command(after_help = "Examples:\n  prose watch\n  \
        prose watch --after 120 --json        go on after the receipt at position 120")]
    Watch(Watch),
    /// Render a node again after a failure
    #[command(after_help = "Examples:\n  prose retry shopping-list")]
    Retry(Node),
    /// Render a node even though nothing moved
    #[command(after_help = "Examples:\n  prose render shopping-list --force")]
    Render(Render),
    /// Stop a node's running render, or its wait for another attempt
    #[command(after_help = "Examples:\n  prose cancel shopping-list")]
    Cancel(Node),
    /// Check the project, its harnesses, keys and state
    #[command(after_help = "Examples:\n  prose doctor\n  prose doctor demo --json")]
    Doctor(Folder),
    /// Print completions for a shell
    #[command(after_help = "Examples:\n  source <(prose completions bash)\n  \
        prose completions zsh > ~/.zfunc/_prose")]
    Completions(Completions),
    /// What this program runs as in the task folders of its own harnesses
    #[command(hide = true, subcommand)]
    Session(Session),
}

const UP_EXAMPLES: &str = "\
Examples:
  prose up demo                                            serve until Ctrl-C
  prose up demo --feed demo/feed.jsonl --exit-when-quiet   take in a file, wait, sum up, exit
  tail -f events.jsonl | prose up demo --feed -            take in events as they come

A feed has one event a line: {\"gateway\": \"pantry\", \"event\": {\"stock\": {}, \"counted_by\": \"Ada\"}, \"key\": \"17\"}
A line without a key is keyed by its file and line number, so the same feed again renders nothing; \
on standard input the key is the line number and a hash of the event. Lines may be up to 1 MiB. A \
bad line ends the feed: what stands before it is taken in, and the exit code is 2.";

/// A project folder.
#[derive(Debug, Args)]
pub(crate) struct Folder {
    /// The project folder
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    #[command(flatten)]
    pub folder: Folder,
    /// Take in the events of this file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub feed: Option<PathBuf>,
    /// Exit with a summary once nothing is left to do
    #[arg(long)]
    pub exit_when_quiet: bool,
    /// Let everything settle after each N events, instead of at the end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub settle_every: Option<u64>,
    /// Serve the API on this address too; who reaches it may do everything
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// Renders at the same time, instead of `run.concurrency`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub workers: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct Trigger {
    /// The gateway
    pub node: String,
    /// The event as JSON, `@FILE`, or `-` for standard input
    pub event: String,
    /// Identifies this delivery: the same key again changes nothing
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub key: Option<String>,
}

/// A node of the project.
#[derive(Debug, Args)]
pub(crate) struct Node {
    /// The node
    pub node: String,
}

#[derive(Debug, Args)]
pub(crate) struct Topology {
    #[command(flatten)]
    pub folder: Folder,
    /// How to draw it
    #[arg(long, default_value = "text")]
    pub format: GraphFormat,
    /// The graph that is mounted, instead of the one the contracts say now
    #[arg(long)]
    pub mounted: bool,
}

/// Ways to draw a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For the terminal
    Text,
    /// A Mermaid flowchart
    Mermaid,
    /// Graphviz
    Dot,
    /// As in the manifest
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Render {
    /// The node
    pub node: String,
    /// Required: says that tokens may be spent though nothing moved
    #[arg(long, required = true)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub folder: Folder,
    /// Begin after this position of the ledger, instead of now; 0 begins at its start
    #[arg(long, value_name = "POSITION")]
    pub after: Option<u64>,
    /// Stop after this many receipts
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Receipts {
    /// List receipts, newest first
    #[command(after_help = "Examples:\n  prose receipts list --node shopping-list --limit 50")]
    List(ReceiptsList),
    /// Show one receipt
    #[command(after_help = "Examples:\n  prose receipts show 4f1c09")]
    Show(ReceiptsShow),
    /// Prove that no receipt and no truth was changed, cut off or slipped in
    #[command(after_help = "Examples:\n  prose receipts verify\n  \
        prose receipts verify --export audit\n  \
        prose receipts verify --export audit --key ed25519:1f...\n\n\
        Exits with 1 if anything is found. An export brings its own list of keys; who does not \
        trust its origin names the key that is to be believed.")]
    Verify(ReceiptsVerify),
    /// What was spent, by node and by the change that caused it
    #[command(after_help = "Examples:\n  prose receipts cost\n  prose receipts cost --json")]
    Cost,
    /// Write the ledger with everything that verifying it takes into a folder
    #[command(after_help = "Examples:\n  prose receipts export audit\n  \
        prose receipts verify --export audit")]
    Export(ReceiptsExport),
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptsList {
    /// Only those of this node
    #[arg(long)]
    pub node: Option<String>,
    /// At most this many
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only those before this position
    #[arg(long, value_name = "POSITION")]
    pub before: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptsShow {
    /// Its address, or the first digits of it
    pub address: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptsVerify {
    /// A folder written by `receipts export`; needs no project
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Believe this key only, given as ed25519:HEX; may be repeated
    #[arg(long, value_name = "KEY")]
    pub key: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptsExport {
    /// A folder that is not there yet, or empty
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Run a jq program over the task folder that is the working folder
    Jq {
        /// The program
        program: PathBuf,
    },
}
