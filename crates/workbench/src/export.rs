//! Figures, tables and reports, on the screen and as files.

use crate::Workbench;
use crate::api::{ApiError, DrawFigure, DrawnFigure, ExportRequest, Exported, Nothing, PresetList};

impl Workbench {
    /// A figure on the screen.
    pub fn draw_figure(&self, _: DrawFigure) -> Result<DrawnFigure, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }

    /// The venues that figures are made for.
    pub fn list_presets(&self, _: Nothing) -> Result<PresetList, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }

    /// Makes a file.
    pub fn export(&self, _: ExportRequest) -> Result<Exported, ApiError> {
        Err(ApiError::new("command.not_built", "Not built yet"))
    }
}
