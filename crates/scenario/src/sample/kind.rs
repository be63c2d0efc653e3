//! The kinds of change, how often each comes, and which comes next.

use super::size::behind;
use crate::change::Change;
use crate::draw::Draw;
use crate::ir::Schema;

/// The most entities that a scenario grows to.
pub(super) const MOST_ENTITIES: usize = 26;
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

/// How often each kind comes, among 1,200 or so.
pub(super) const KINDS: [(ChangeKind, u32); 58] = [
    (ChangeKind::AddEntity, 46),
    (ChangeKind::RemoveEntity, 14),
    (ChangeKind::RenameEntity, 16),
    (ChangeKind::AddField, 115),
    (ChangeKind::RemoveField, 46),
    (ChangeKind::RenameField, 44),
    (ChangeKind::RetypeField, 22),
    (ChangeKind::AddEnumValue, 32),
    (ChangeKind::RemoveEnumValue, 18),
    (ChangeKind::RenameEnumValue, 18),
    (ChangeKind::AddReference, 30),
    (ChangeKind::RemoveReference, 14),
    (ChangeKind::ChangeDeleteRule, 20),
    (ChangeKind::Nest, 14),
    (ChangeKind::Unnest, 10),
    (ChangeKind::AddAction, 64),
    (ChangeKind::RemoveAction, 16),
    (ChangeKind::RenameAction, 14),
    (ChangeKind::AddGuard, 32),
    (ChangeKind::RemoveGuard, 16),
    (ChangeKind::ChangeGuard, 40),
    (ChangeKind::AddEffect, 26),
    (ChangeKind::RemoveEffect, 14),
    (ChangeKind::ChangeEffect, 40),
    (ChangeKind::AddAnalytic, 56),
    (ChangeKind::RemoveAnalytic, 12),
    (ChangeKind::RenameAnalytic, 12),
    (ChangeKind::ChangeMeasure, 12),
    (ChangeKind::ChangeGrouping, 12),
    (ChangeKind::ChangeRestriction, 14),
    (ChangeKind::ChangeAnalyticFilter, 12),
    (ChangeKind::AddFilter, 42),
    (ChangeKind::RemoveFilter, 18),
    (ChangeKind::AddSort, 18),
    (ChangeKind::RemoveSort, 12),
    (ChangeKind::ChangeDefaultSort, 16),
    (ChangeKind::Tighten, 32),
    (ChangeKind::Loosen, 28),
    (ChangeKind::Require, 20),
    (ChangeKind::MakeOptional, 20),
    (ChangeKind::AllowNull, 16),
    (ChangeKind::ForbidNull, 16),
    (ChangeKind::ChangeDefault, 24),
    (ChangeKind::MakeUnique, 14),
    (ChangeKind::DropUnique, 12),
    (ChangeKind::MakeImmutable, 12),
    (ChangeKind::MakeMutable, 12),
    (ChangeKind::AddComputed, 24),
    (ChangeKind::ChangeComputed, 12),
    (ChangeKind::SetSoftDelete, 14),
    (ChangeKind::ChangeErrorShape, 5),
    (ChangeKind::ChangeErrorCode, 5),
    (ChangeKind::ChangeStatus, 6),
    (ChangeKind::ChangeListShape, 4),
    (ChangeKind::ChangePagination, 8),
    (ChangeKind::ChangeFieldCase, 5),
    (ChangeKind::ChangePrefix, 6),
    (ChangeKind::ChangeUnknownFields, 5),
];

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; KINDS.len()] = {
        let mut all = [Self::AddEntity; KINDS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = KINDS[index].0;
            index += 1;
        }
        all
    };

    /// The kind of a change.
    pub fn from_change(change: &Change) -> Self {
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
    fn weight_in(self, usual: u32, behind: i64, entities: usize) -> u32 {
        let weight = i64::from(usual);
        let weight = match self {
            Self::AddEntity if entities >= MOST_ENTITIES => 0,
            // An entity is some 200 lines: a schema that is as much behind gets one soon.
            Self::AddEntity => (weight + behind / 4).clamp(4, 160),
            Self::RemoveEntity if entities <= FEWEST_ENTITIES => 0,
            Self::RemoveEntity => (weight - behind / 12).clamp(6, 80),
            kind if kind.grows() => weight * (300 + behind).clamp(100, 600) / 300,
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
    let weights =
        KINDS.map(
            |(kind, usual)| {
                if kind.is_sweeping() && !sweeping { 0 } else { kind.weight_in(usual, behind, entities) }
            },
        );
    draw.weighted(&weights).and_then(|at| ChangeKind::ALL.get(at).copied()).unwrap_or(ChangeKind::AddField)
}
