//! The tests of this crate in one program: what they need is linked once, not once a file. Each test runs in a process of its own.
//! A file that has no line here is not compiled; `scripts/check/check.test.mjs` looks for such files.

mod app;
mod app_killed;
mod architecture;
mod cli;
mod closed_network;
mod comparisons;
mod copies;
mod docker_clean;
mod docker_hostile_runs;
mod docker_image_jobs;
#[path = "docker_killed/main.rs"]
mod docker_killed;
mod docker_own_images;
mod docker_prices;
mod docker_readme;
mod doubts;
mod embedded_ui;
mod endpoints;
#[path = "explained/main.rs"]
mod explained;
mod exports;
mod failing_tests;
mod folders;
mod harbor_differential;
mod harbor_odd_counts;
#[path = "hostile_kit/main.rs"]
mod hostile_kit;
mod jobs_in_part;
#[path = "../../runner/tests/kept/mod.rs"]
mod kept;
mod kinds;
mod llm;
mod locobench;
mod one_turn;
mod paper;
mod printed_lines;
mod printed_tables;
mod processes_left;
mod python_page;
mod regraded;
mod rerun_list;
#[path = "../../runner/tests/results/mod.rs"]
mod results;
#[path = "run/main.rs"]
mod run;
mod scenarios;
mod search;
mod serve;
mod serve_stopped;
mod simulated;
mod tidy;
mod untrusted_runs;
mod withdrawn;
mod world_unknown;
mod world_unread;
mod world_values;
