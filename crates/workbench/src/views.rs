//! Saved views: an address of the app under a name.

use crate::Workbench;
use crate::api::{ApiError, Nothing, SavedView, ViewRef};

/// Most letters of a name.
const LONGEST_NAME: usize = 80;
/// Most bytes of an address: eight runs with long names, and what is shown of them, need less.
const LONGEST_ADDRESS: usize = 8192;

impl Workbench {
    /// Keeps an address of the app under a name, in place of what had the name before.
    pub fn save_view(&self, request: SavedView) -> Result<Nothing, ApiError> {
        let name = request.name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_NAME {
            return Err(ApiError::new("view.name", "This is no name for a view.")
                .hint(format!("Give it a name of 1 to {LONGEST_NAME} letters.")));
        }
        if request.address.len() > LONGEST_ADDRESS {
            return Err(ApiError::new("view.address", "The address of this view is too long to be kept.")
                .hint("Compare groups of runs instead of single ones."));
        }
        self.store.save_view(name, &request.address)?;
        self.changes.add([], []);
        Ok(Nothing {})
    }

    /// Forgets a saved view; the runs that it shows stay.
    pub fn remove_view(&self, request: ViewRef) -> Result<Nothing, ApiError> {
        self.store.remove_view(&request.name)?;
        self.changes.add([], []);
        Ok(Nothing {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_needs_a_name_and_an_address_that_can_be_kept() {
        let folder = tempfile::tempdir().unwrap();
        let workbench = crate::Workbench::open(crate::Options {
            db: Some(folder.path().join("library.sqlite")),
            ..crate::Options::default()
        })
        .unwrap();
        let view = |name: &str, address: &str| SavedView { name: name.into(), address: address.into() };
        workbench.save_view(view("  two models ", "compare?members=a,b")).unwrap();
        assert_eq!(
            workbench.app_state(Nothing {}).unwrap().views,
            [view("two models", "compare?members=a,b")]
        );
        assert_eq!(workbench.save_view(view(" ", "library")).unwrap_err().code, "view.name");
        assert_eq!(
            workbench.save_view(view("long", &"x".repeat(LONGEST_ADDRESS + 1))).unwrap_err().code,
            "view.address"
        );
        workbench.remove_view(ViewRef { name: "two models".into() }).unwrap();
        assert!(workbench.app_state(Nothing {}).unwrap().views.is_empty());
    }
}
