//! The arguments of `stamina images`.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ImagesCommand {
    /// List the images, and whether they are built
    List,
    /// Build images; all if none is named
    #[command(after_help = "Example: stamina images build mini-swe-agent opencode")]
    Build {
        /// Names as `stamina images list` prints them
        names: Vec<String>,
        /// Certificates that the build trusts, for machines behind a proxy that inspects TLS; by default those that
        /// `STAMINA_CA` names, else `SSL_CERT_FILE`
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,
    },
    /// Test images: each harness prints its version, and the server stacks exist; all built images if none is named
    #[command(after_help = "Example: stamina images test registry.example/my-agent:2 --harness OPENCODE")]
    Test {
        /// Names as `stamina images list` prints them; with --harness images of your own
        names: Vec<String>,
        /// The harness to run in an image of your own: its name, or the path of its file
        #[arg(long)]
        harness: Option<String>,
    },
}
