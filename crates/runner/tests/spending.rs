//! What an attempt spends is shown while it runs; without containers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use runner::Finish;
use runner::control::{self, ControlRequest};
use runner::live::{self, Phase};
use runner::settings::EndpointSettings;

use crate::common;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_cost_of_an_attempt_are_shown_before_it_ends() {
    let room = tempfile::tempdir().unwrap();
    let folder = room.path().join("run");
    let mut settings = common::settings(&folder, &[]);
    // An agent without a container may ask only the simulated model; this one does nothing but what this test answers.
    let (base_url, _) = common::falls_silent();
    settings.endpoint = EndpointSettings::Gateway { base_url, key: gateway::keys::KeySource::None };
    settings.model = Some("m".to_owned());
    settings.price = Some(gateway::Price { input: 1000.0, output: 10_000.0, ..gateway::Price::default() });
    let playing = tokio::spawn(runner::run(settings, Arc::new(|_| {})));
    let deadline = Instant::now() + Duration::from_mins(2);
    let run = loop {
        assert!(Instant::now() < deadline, "what was spent is shown while the attempt runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let Ok(run) = live::read(&folder) else { continue };
        if run.spent.requests > 0 && run.episodes[0].spent.requests > 0 {
            break run;
        }
    };
    let episode = &run.episodes[0];
    assert_eq!((episode.phase, episode.turn, episode.attempt), (Phase::Agent, 1, 1));
    for spent in [run.spent, episode.spent] {
        assert_eq!((spent.tokens.input, spent.tokens.output), (Some(1200), Some(30)));
        assert!((spent.cost_usd.unwrap() - 1.5).abs() < 1e-9, "{spent:?}");
    }
    control::write(&folder, &ControlRequest { stop: true, ..ControlRequest::default() }).unwrap();
    assert_eq!(playing.await.unwrap().unwrap(), Finish::Stopped);
}
