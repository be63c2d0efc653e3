//! The kinds of change, how often each comes, and which comes next.

use super::size::behind;
use crate::change::Change;
use crate::draw::Draw;
use crate::ir::Schema;

/// The most entities that a scenario grows to.
pub(super) const MOST_ENTITIES: usize = 28;
/// The fewest entities that a scenario shrinks to.
pub(super) const FEWEST_ENTITIES: usize = 4;

/// A kind of [`Change`], without what is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants of Change")]
pub enum ChangeKind {
    AddEntity,
    RemoveEntity,
    RenameEntity,
    AddField,
    RemoveField,
    RenameField,
    RetypeField,
    AddEnumValue,
    RemoveEnumValue,
    RenameEnumValue,
    AddReference,
    RemoveReference,
    ChangeDeleteRule,
    Nest,
    Unnest,
    AddAction,
    RemoveAction,
    RenameAction,
    AddGuard,
    RemoveGuard,
    ChangeGuard,
    AddEffect,
    RemoveEffect,
    ChangeEffect,
    AddAnalytic,
    RemoveAnalytic,
    RenameAnalytic,
    ChangeMeasure,
    ChangeGrouping,
    ChangeRestriction,
    ChangeAnalyticFilter,
    AddFilter,
    RemoveFilter,
    AddSort,
    RemoveSort,
    ChangeDefaultSort,
    Tighten,
    Loosen,
    Require,
    MakeOptional,
    AllowNull,
    ForbidNull,
    ChangeDefault,
    MakeUnique,
    DropUnique,
    MakeImmutable,
    MakeMutable,
    AddComputed,
    ChangeComputed,
    SetSoftDelete,
    ChangeErrorShape,
    ChangeErrorCode,
    ChangeStatus,
    ChangeListShape,
    ChangePagination,
    ChangeFieldCase,
    ChangePrefix,
    ChangeUnknownFields,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; 58] = [
        Self::AddEntity,
        Self::RemoveEntity,
        Self::RenameEntity,
        Self::AddField,
        Self::RemoveField,
        Self::RenameField,
        Self::RetypeField,
        Self::AddEnumValue,
        Self::RemoveEnumValue,
        Self::RenameEnumValue,
        Self::AddReference,
        Self::RemoveReference,
        Self::ChangeDeleteRule,
        Self::Nest,
        Self::Unnest,
        Self::AddAction,
        Self::RemoveAction,
        Self::RenameAction,
        Self::AddGuard,
        Self::RemoveGuard,
        Self::ChangeGuard,
        Self::AddEffect,
        Self::RemoveEffect,
        Self::ChangeEffect,
        Self::AddAnalytic,
        Self::RemoveAnalytic,
        Self::RenameAnalytic,
        Self::ChangeMeasure,
        Self::ChangeGrouping,
        Self::ChangeRestriction,
        Self::ChangeAnalyticFilter,
        Self::AddFilter,
        Self::RemoveFilter,
        Self::AddSort,
        Self::RemoveSort,
        Self::ChangeDefaultSort,
        Self::Tighten,
        Self::Loosen,
        Self::Require,
        Self::MakeOptional,
        Self::AllowNull,
        Self::ForbidNull,
        Self::ChangeDefault,
        Self::MakeUnique,
        Self::DropUnique,
        Self::MakeImmutable,
        Self::MakeMutable,
        Self::AddComputed,
        Self::ChangeComputed,
        Self::SetSoftDelete,
        Self::ChangeErrorShape,
        Self::ChangeErrorCode,
        Self::ChangeStatus,
        Self::ChangeListShape,
        Self::ChangePagination,
        Self::ChangeFieldCase,
        Self::ChangePrefix,
        Self::ChangeUnknownFields,
    ];

    /// The kind of a change.
    pub fn of(change: &Change) -> Self {
        match change {
            Change::AddEntity { .. } => Self::AddEntity,
            Change::RemoveEntity { .. } => Self::RemoveEntity,
            Change::RenameEntity { .. } => Self::RenameEntity,
            Change::AddField { .. } => Self::AddField,
            Change::RemoveField { .. } => Self::RemoveField,
            Change::RenameField { .. } => Self::RenameField,
            Change::RetypeField { .. } => Self::RetypeField,
            Change::AddEnumValue { .. } => Self::AddEnumValue,
            Change::RemoveEnumValue { .. } => Self::RemoveEnumValue,
            Change::RenameEnumValue { .. } => Self::RenameEnumValue,
            Change::AddReference { .. } => Self::AddReference,
            Change::RemoveReference { .. } => Self::RemoveReference,
            Change::ChangeDeleteRule { .. } => Self::ChangeDeleteRule,
            Change::Nest { .. } => Self::Nest,
            Change::Unnest { .. } => Self::Unnest,
            Change::AddAction { .. } => Self::AddAction,
            Change::RemoveAction { .. } => Self::RemoveAction,
            Change::RenameAction { .. } => Self::RenameAction,
            Change::AddGuard { .. } => Self::AddGuard,
            Change::RemoveGuard { .. } => Self::RemoveGuard,
            Change::ChangeGuard { .. } => Self::ChangeGuard,
            Change::AddEffect { .. } => Self::AddEffect,
            Change::RemoveEffect { .. } => Self::RemoveEffect,
            Change::ChangeEffect { .. } => Self::ChangeEffect,
            Change::AddAnalytic { .. } => Self::AddAnalytic,
            Change::RemoveAnalytic { .. } => Self::RemoveAnalytic,
            Change::RenameAnalytic { .. } => Self::RenameAnalytic,
            Change::ChangeMeasure { .. } => Self::ChangeMeasure,
            Change::ChangeGrouping { .. } => Self::ChangeGrouping,
            Change::ChangeRestriction { .. } => Self::ChangeRestriction,
            Change::ChangeAnalyticFilter { .. } => Self::ChangeAnalyticFilter,
            Change::AddFilter { .. } => Self::AddFilter,
            Change::RemoveFilter { .. } => Self::RemoveFilter,
            Change::AddSort { .. } => Self::AddSort,
            Change::RemoveSort { .. } => Self::RemoveSort,
            Change::ChangeDefaultSort { .. } => Self::ChangeDefaultSort,
            Change::Tighten { .. } => Self::Tighten,
            Change::Loosen { .. } => Self::Loosen,
            Change::Require { .. } => Self::Require,
            Change::MakeOptional { .. } => Self::MakeOptional,
            Change::AllowNull { .. } => Self::AllowNull,
            Change::ForbidNull { .. } => Self::ForbidNull,
            Change::ChangeDefault { .. } => Self::ChangeDefault,
            Change::MakeUnique { .. } => Self::MakeUnique,
            Change::DropUnique { .. } => Self::DropUnique,
            Change::MakeImmutable { .. } => Self::MakeImmutable,
            Change::MakeMutable { .. } => Self::MakeMutable,
            Change::AddComputed { .. } => Self::AddComputed,
            Change::ChangeComputed { .. } => Self::ChangeComputed,
            Change::SetSoftDelete { .. } => Self::SetSoftDelete,
            Change::ChangeErrorShape { .. } => Self::ChangeErrorShape,
            Change::ChangeErrorCode { .. } => Self::ChangeErrorCode,
            Change::ChangeStatus { .. } => Self::ChangeStatus,
            Change::ChangeListShape { .. } => Self::ChangeListShape,
            Change::ChangePagination { .. } => Self::ChangePagination,
            Change::ChangeFieldCase { .. } => Self::ChangeFieldCase,
            Change::ChangePrefix { .. } => Self::ChangePrefix,
            Change::ChangeUnknownFields { .. } => Self::ChangeUnknownFields,
        }
    }

    /// How often it comes among 1,000 or so.
    fn weight(self) -> u32 {
        match self {
            Self::AddEntity => 60,
            Self::RemoveEntity => 14,
            Self::RenameEntity => 16,
            Self::AddField => 80,
            Self::RemoveField => 46,
            Self::RenameField => 44,
            Self::RetypeField => 22,
            Self::AddEnumValue => 32,
            Self::RemoveEnumValue => 18,
            Self::RenameEnumValue => 18,
            Self::AddReference => 26,
            Self::RemoveReference => 14,
            Self::ChangeDeleteRule => 20,
            Self::Nest => 14,
            Self::Unnest => 10,
            Self::AddAction => 44,
            Self::RemoveAction => 16,
            Self::RenameAction => 14,
            Self::AddGuard => 28,
            Self::RemoveGuard => 16,
            Self::ChangeGuard => 16,
            Self::AddEffect => 22,
            Self::RemoveEffect => 14,
            Self::ChangeEffect => 14,
            Self::AddAnalytic => 32,
            Self::RemoveAnalytic => 12,
            Self::RenameAnalytic => 12,
            Self::ChangeMeasure => 12,
            Self::ChangeGrouping => 12,
            Self::ChangeRestriction => 14,
            Self::ChangeAnalyticFilter => 12,
            Self::AddFilter => 28,
            Self::RemoveFilter => 18,
            Self::AddSort => 18,
            Self::RemoveSort => 12,
            Self::ChangeDefaultSort => 16,
            Self::Tighten => 32,
            Self::Loosen => 28,
            Self::Require => 20,
            Self::MakeOptional => 20,
            Self::AllowNull => 16,
            Self::ForbidNull => 16,
            Self::ChangeDefault => 24,
            Self::MakeUnique => 14,
            Self::DropUnique => 12,
            Self::MakeImmutable => 12,
            Self::MakeMutable => 12,
            Self::AddComputed => 20,
            Self::ChangeComputed => 12,
            Self::SetSoftDelete => 14,
            Self::ChangeErrorShape => 5,
            Self::ChangeErrorCode => 5,
            Self::ChangeStatus => 6,
            Self::ChangeListShape => 4,
            Self::ChangePagination => 8,
            Self::ChangeFieldCase => 5,
            Self::ChangePrefix => 6,
            Self::ChangeUnknownFields => 5,
        }
    }

    /// Whether it changes what holds for all routes: rarely, and once a turn.
    pub fn is_sweeping(self) -> bool {
        matches!(
            self,
            Self::ChangeErrorShape
                | Self::ChangeErrorCode
                | Self::ChangeStatus
                | Self::ChangeListShape
                | Self::ChangePagination
                | Self::ChangeFieldCase
                | Self::ChangePrefix
                | Self::ChangeUnknownFields
        )
    }

    /// Whether it makes a schema larger, by more than a line or two.
    fn grows(self) -> bool {
        matches!(
            self,
            Self::AddField
                | Self::AddReference
                | Self::AddAction
                | Self::AddEffect
                | Self::AddGuard
                | Self::AddAnalytic
                | Self::AddFilter
                | Self::AddComputed
                | Self::Nest
        )
    }

    /// Whether it makes a schema smaller.
    fn shrinks(self) -> bool {
        matches!(
            self,
            Self::RemoveField
                | Self::RemoveReference
                | Self::RemoveAction
                | Self::RemoveEffect
                | Self::RemoveGuard
                | Self::RemoveAnalytic
                | Self::RemoveFilter
                | Self::Unnest
        )
    }

    /// How often it comes in a schema: what is behind its schedule grows, what is ahead of it shrinks.
    fn weight_in(self, behind: i64, entities: usize) -> u32 {
        let weight = i64::from(self.weight());
        let weight = match self {
            Self::AddEntity if entities >= MOST_ENTITIES => 0,
            // An entity is some 200 lines: a schema that is as much behind gets one soon.
            Self::AddEntity => (weight + behind / 3).clamp(4, 260),
            Self::RemoveEntity if entities <= FEWEST_ENTITIES => 0,
            Self::RemoveEntity => (weight - behind / 12).clamp(6, 80),
            kind if kind.grows() => weight * (400 + behind).clamp(150, 700) / 400,
            kind if kind.shrinks() => weight * (400 - behind).clamp(200, 800) / 400,
            _ => weight,
        };
        u32::try_from(weight).unwrap_or(0)
    }
}

/// Which kind of change comes next for a schema. It need not fit: draw again if no change of the kind can be made.
///
/// `sweeping`: whether a change of what holds for all routes may come (at most one a turn should).
pub fn draw_kind(draw: &mut Draw, schema: &Schema, sweeping: bool) -> ChangeKind {
    let (behind, entities) = (behind(schema), schema.entities.len());
    let weights = ChangeKind::ALL
        .map(|kind| if kind.is_sweeping() && !sweeping { 0 } else { kind.weight_in(behind, entities) });
    draw.weighted(&weights).and_then(|at| ChangeKind::ALL.get(at).copied()).unwrap_or(ChangeKind::AddField)
}
