//! Sums of which a part is unknown.

use workbench::api::Pairs;

use crate::comparisons::near;
use crate::library::Library;

/// Sums of a part of the episodes say of how many, each for itself.
#[test]
fn sums_of_tokens_and_time_say_for_how_many_episodes_they_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out\n\
         one,h,m,a,1,1,true,100,10\none,h,m,b,1,1,true,,20\none,h,m,c,1,1,false,300,\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows[0].id.clone();
    let comparison = library.compare(&[&run], Pairs::All);
    let spent = &comparison.members[0].spent;
    assert_eq!((spent.input_tokens, spent.input_tokens_known), (Some(400), 2));
    assert_eq!((spent.output_tokens, spent.output_tokens_known), (Some(30), 2));
    assert_eq!((spent.agent_seconds, spent.agent_seconds_known), (None, 0));
}

/// An episode that says a number for a part of its turns is in the sum, and none of those of which it is known.
#[test]
fn an_episode_that_says_a_number_for_some_turns_is_none_of_which_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("attempts.csv");
    std::fs::write(
        &path,
        "run,harness,model,scenario,turn,attempt,passed,tokens_in,tokens_out,agent_seconds\n\
         one,h,m,a,1,1,true,100,10,5\none,h,m,a,2,1,true,,20,\none,h,m,b,1,1,false,300,30,7\n",
    )
    .unwrap();
    let library = Library::new(&[path]);
    let run = library.workbench.list_runs(workbench::api::ListRuns::default()).unwrap().rows[0].id.clone();
    let comparison = library.compare(&[&run], Pairs::All);
    let spent = &comparison.members[0].spent;
    assert_eq!((spent.input_tokens, spent.input_tokens_known), (Some(400), 1));
    assert_eq!((spent.output_tokens, spent.output_tokens_known), (Some(60), 2), "known at both turns of a");
    near(spent.agent_seconds, 12.0);
    assert_eq!(spent.agent_seconds_known, 1);
}
