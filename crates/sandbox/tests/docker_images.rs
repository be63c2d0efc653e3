//! Our images, really built and tried. `STAMINA_TEST_IMAGES` names recipes, separated by commas, or `all`; without it
//! only the base is built, because the others take minutes.

#![allow(clippy::unwrap_used, reason = "a test that fails here says where")]

use sandbox::Engine;
use sandbox::images::{BuildNews, BuildSettings, RECIPES, Recipe, WantedImage, default_ca};
use tokio_util::sync::CancellationToken;

/// How each image is asked for its version. The program has its own list, in crate `harness`.
fn probe(name: &str) -> Vec<String> {
    let command: &[&str] = match name {
        "base" => &["sh", "-c", "echo image 1"],
        "mini-swe-agent" => {
            &["/opt/harness/bin/python3", "-c", "import minisweagent; print(minisweagent.__version__)"]
        }
        "opencode" => &["opencode", "--version"],
        "qwen-code" => &["qwen", "--version"],
        "kimi-code" | "kimi-cli" => &["kimi", "--version"],
        "claude-code" => &["claude", "--version"],
        "codex" => &["codex", "--version"],
        "mistral-vibe" => &["vibe", "--version"],
        "openhands" => &["openhands", "--version"],
        other => panic!("no probe for {other}"),
    };
    command.iter().map(|&part| part.to_owned()).collect()
}

fn chosen_recipes() -> Vec<Recipe> {
    let names = std::env::var("STAMINA_TEST_IMAGES").unwrap_or_else(|_| "base".to_owned());
    RECIPES
        .into_iter()
        .filter(|recipe| names == "all" || names.split(',').any(|name| name == recipe.name))
        .collect()
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn images_are_built_and_work() {
    let engine = Engine::connect().await.unwrap();
    let recipes = chosen_recipes();
    assert!(!recipes.is_empty(), "STAMINA_TEST_IMAGES names no recipe");
    for recipe in recipes {
        let (send, mut news) = tokio::sync::mpsc::channel(1000);
        let settings = BuildSettings { ca: default_ca(), fresh: false };
        let heard = tokio::spawn(async move {
            let (mut steps, mut finished) = (0, false);
            while let Some(news) = news.recv().await {
                match news {
                    BuildNews::Step { step, step_count, .. } => {
                        assert!(step <= step_count);
                        steps += 1;
                    }
                    BuildNews::Finished { .. } => finished = true,
                    BuildNews::Started { .. } | BuildNews::Line { .. } => {}
                }
            }
            (steps, finished)
        });
        let built = engine.build(recipe.name, &settings, &send, &CancellationToken::new()).await;
        drop(send);
        let (steps, finished) = heard.await.unwrap();
        built.unwrap_or_else(|error| panic!("{error}"));
        assert!(finished && steps > 2, "{}: {steps} steps", recipe.name);

        let state = engine.images(&[recipe.image]).await.unwrap().remove(0);
        assert!(state.there && state.ours && state.current == Some(true), "{state:?}");
        let version = recipe.image.rsplit(':').next().unwrap();
        let trial = engine
            .try_image(&WantedImage {
                image: recipe.image.to_owned(),
                probe: probe(recipe.name),
                version: Some(version.to_owned()),
            })
            .await
            .unwrap();
        assert!(trial.ok(), "{trial:#?}");
    }
}

#[tokio::test]
#[ignore = "needs a container engine"]
async fn an_image_that_is_not_there_or_does_not_work_says_so() {
    let engine = Engine::connect().await.unwrap();
    let missing = engine.images(&["stamina/none:1"]).await.unwrap().remove(0);
    assert!(!missing.there && !missing.ours && missing.current.is_none());
    // Debian alone has no Flask.
    let trial = engine
        .try_image(&WantedImage {
            image: std::env::var("STAMINA_TEST_IMAGE").unwrap_or_else(|_| "debian:trixie-slim".to_owned()),
            probe: vec!["no-such-program".to_owned()],
            version: Some("1".to_owned()),
        })
        .await
        .unwrap();
    assert!(!trial.ok() && !trial.checks[0].ok && !trial.checks[1].ok, "{trial:#?}");
    assert!(trial.checks[3].ok, "{trial:#?}");
    let (send, _news) = tokio::sync::mpsc::channel(1);
    let error = engine
        .build("stamina/none:1", &BuildSettings::default(), &send, &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no recipe"), "{error}");
}

/// What servers can be written in is found out by trying, where the image is somebody's own.
#[tokio::test]
#[ignore = "needs a container engine"]
async fn the_stacks_of_a_foreign_image_are_tried() {
    let engine = Engine::connect().await.unwrap();
    let plain = std::env::var("STAMINA_TEST_IMAGE").unwrap_or_else(|_| "debian:trixie-slim".to_owned());
    let stacks = engine.stacks(&plain).await.unwrap();
    assert!(!stacks.flask && !stacks.fastapi && !stacks.express, "Debian alone has none of them: {stacks:?}");
    let missing = engine.stacks("example/there-is-none:1").await.unwrap_err();
    assert!(matches!(missing, sandbox::SandboxError::NoImage { .. }), "{missing:?}");
    // Ours are known, also where they are not built yet.
    assert_eq!(engine.stacks("stamina/base:1").await.unwrap(), sandbox::Stacks::OF_RECIPES);
    // The base under a name of somebody else's, where it is built.
    if engine.images(&["stamina/base:1"]).await.unwrap().remove(0).there {
        let docker = bollard::Docker::connect_with_local_defaults().unwrap();
        let (repo, name) = ("example/stamina-foreign", "example/stamina-foreign:1");
        let options = bollard::query_parameters::TagImageOptions {
            repo: Some(repo.to_owned()),
            tag: Some("1".to_owned()),
        };
        docker.tag_image("stamina/base:1", Some(options)).await.unwrap();
        let stacks = engine.stacks(name).await;
        let options: Option<bollard::query_parameters::RemoveImageOptions> = None;
        docker.remove_image(name, options, None).await.unwrap();
        let stacks = stacks.unwrap();
        assert!(stacks.flask && stacks.fastapi && stacks.express, "{stacks:?}");
    }
    let left = engine.leftovers().await.unwrap();
    assert!(!left.iter().any(|left| left.name.contains("trial") && left.in_use), "{left:?}");
}
