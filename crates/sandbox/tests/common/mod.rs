//! What the tests with a container engine share.
#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use sandbox::{
    AgentContainer, ContainerEnd, Containers, Engine, ExtraArgs, GatewayPlace, Limits, NetworkAccess, Owner,
    ServerContainer, Volumes,
};
use tokio_util::sync::CancellationToken;

/// A small image that every machine with these tests has; `STAMINA_TEST_IMAGE` names another one.
pub(crate) fn image() -> String {
    std::env::var("STAMINA_TEST_IMAGE").unwrap_or_else(|_| "debian:trixie-slim".to_owned())
}

/// An engine, a run of its own and two folders; cleared by [`TestPlace::clear`].
pub(crate) struct TestPlace {
    pub(crate) engine: Engine,
    pub(crate) containers: Containers,
    pub(crate) owner: Owner,
    pub(crate) volumes: Volumes,
    pub(crate) dir: tempfile::TempDir,
}

impl TestPlace {
    pub(crate) async fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let engine = Engine::connect().await.expect("these tests need a container engine");
        let dir = tempfile::tempdir().unwrap();
        // The container's user has to get through to the folders.
        open(dir.path());
        let volumes = Volumes { workspace: dir.path().join("workspace"), home: dir.path().join("home") };
        std::fs::create_dir(&volumes.workspace).unwrap();
        std::fs::create_dir(&volumes.home).unwrap();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            containers: Containers::Engine(engine.clone()),
            engine,
            owner: Owner {
                run: format!("{:04x}{count:04x}", std::process::id() & 0xffff),
                episode: "scenario_0".to_owned(),
            },
            volumes,
            dir,
        }
    }

    pub(crate) fn limits() -> Limits {
        Limits {
            cpus: 1.0,
            memory: 256 << 20,
            pids: 64,
            disk: 64 << 20,
            files: 256,
            // What ends by itself does so in seconds; a busy machine may need minutes.
            seconds: 240,
            output: 64 << 10,
        }
    }

    pub(crate) fn shell(&self, script: &str) -> AgentContainer {
        AgentContainer {
            owner: self.owner.clone(),
            image: image(),
            argv: vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()],
            env: vec![("STAMINA_TEST".to_owned(), "yes".to_owned())],
            volumes: self.volumes.clone(),
            limits: Self::limits(),
            reach: NetworkAccess::Gateway,
            extra: ExtraArgs::default(),
        }
    }

    pub(crate) fn server(&self, script: &str) -> ServerContainer {
        std::fs::write(self.volumes.workspace.join("run.sh"), script).unwrap();
        ServerContainer {
            owner: self.owner.clone(),
            image: image(),
            volumes: self.volumes.clone(),
            limits: Self::limits(),
        }
    }

    /// Makes what the run needs before its first container, as a run does.
    pub(crate) async fn prepare(&self) -> GatewayPlace {
        self.prepare_by(&self.containers).await
    }

    /// The same by another engine.
    pub(crate) async fn prepare_by(&self, containers: &Containers) -> GatewayPlace {
        containers
            .prepare(&self.owner.run, NetworkAccess::Gateway, &self.dir.path().join("gateway"))
            .await
            .unwrap()
    }

    pub(crate) async fn run(&self, agent: &AgentContainer) -> ContainerEnd {
        self.containers.agent(agent, CancellationToken::new(), None).await.unwrap()
    }

    /// Takes the run's things away and checks that nothing of it is left in the engine.
    pub(crate) async fn clear(self) {
        self.containers.clear(&self.owner.run).await.unwrap();
        let left = self.engine.leftovers().await.unwrap();
        assert!(left.iter().all(|left| left.run != self.owner.run), "{left:?}");
    }
}

fn open(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
