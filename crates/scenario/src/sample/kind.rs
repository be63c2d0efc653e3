//! The kinds of change, how often each comes, and which comes next.

use super::size::lines_behind;
use crate::change::ChangeKind::{self, Action, Analytic, Constraint, Convention, Entity, Field, List};
use crate::change::{
    ActionKind, AnalyticKind, ConstraintKind, ConventionKind, EntityKind, FieldKind, ListKind,
};
use crate::draw::Draw;
use crate::ir::Schema;

/// The most entities that a scenario grows to.
pub(super) const MOST_ENTITIES: usize = 26;
/// The fewest entities that a scenario shrinks to.
pub(super) const FEWEST_ENTITIES: usize = 4;

/// How often each kind comes, among 1,200 or so.
pub(super) const KINDS: [(ChangeKind, u32); 58] = [
    (Entity(EntityKind::AddEntity), 46),
    (Entity(EntityKind::RemoveEntity), 14),
    (Entity(EntityKind::RenameEntity), 16),
    (Field(FieldKind::AddField), 115),
    (Field(FieldKind::RemoveField), 46),
    (Field(FieldKind::RenameField), 44),
    (Field(FieldKind::RetypeField), 22),
    (Field(FieldKind::AddEnumValue), 32),
    (Field(FieldKind::RemoveEnumValue), 18),
    (Field(FieldKind::RenameEnumValue), 18),
    (Field(FieldKind::AddReference), 30),
    (Field(FieldKind::RemoveReference), 14),
    (Field(FieldKind::ChangeDeleteRule), 20),
    (Field(FieldKind::Nest), 14),
    (Field(FieldKind::Unnest), 10),
    (Action(ActionKind::AddAction), 64),
    (Action(ActionKind::RemoveAction), 16),
    (Action(ActionKind::RenameAction), 14),
    (Action(ActionKind::AddGuard), 32),
    (Action(ActionKind::RemoveGuard), 16),
    (Action(ActionKind::ChangeGuard), 40),
    (Action(ActionKind::AddEffect), 26),
    (Action(ActionKind::RemoveEffect), 14),
    (Action(ActionKind::ChangeEffect), 40),
    (Analytic(AnalyticKind::AddAnalytic), 56),
    (Analytic(AnalyticKind::RemoveAnalytic), 12),
    (Analytic(AnalyticKind::RenameAnalytic), 12),
    (Analytic(AnalyticKind::ChangeMeasure), 12),
    (Analytic(AnalyticKind::ChangeGrouping), 12),
    (Analytic(AnalyticKind::ChangeRestriction), 14),
    (Analytic(AnalyticKind::ChangeAnalyticFilter), 12),
    (List(ListKind::AddFilter), 42),
    (List(ListKind::RemoveFilter), 18),
    (List(ListKind::AddSort), 18),
    (List(ListKind::RemoveSort), 12),
    (List(ListKind::ChangeDefaultSort), 16),
    (Constraint(ConstraintKind::Tighten), 32),
    (Constraint(ConstraintKind::Loosen), 28),
    (Constraint(ConstraintKind::Require), 20),
    (Constraint(ConstraintKind::MakeOptional), 20),
    (Constraint(ConstraintKind::AllowNull), 16),
    (Constraint(ConstraintKind::ForbidNull), 16),
    (Constraint(ConstraintKind::ChangeDefault), 24),
    (Constraint(ConstraintKind::MakeUnique), 14),
    (Constraint(ConstraintKind::DropUnique), 12),
    (Constraint(ConstraintKind::MakeImmutable), 12),
    (Constraint(ConstraintKind::MakeMutable), 12),
    (Field(FieldKind::AddComputed), 24),
    (Field(FieldKind::ChangeComputed), 12),
    (Entity(EntityKind::SetSoftDelete), 14),
    (Convention(ConventionKind::ChangeErrorShape), 5),
    (Convention(ConventionKind::ChangeErrorCode), 5),
    (Convention(ConventionKind::ChangeStatus), 6),
    (Convention(ConventionKind::ChangeListShape), 4),
    (Convention(ConventionKind::ChangePagination), 8),
    (Convention(ConventionKind::ChangeFieldCase), 5),
    (Convention(ConventionKind::ChangePrefix), 6),
    (Convention(ConventionKind::ChangeUnknownFields), 5),
];

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; KINDS.len()] = {
        let mut all = [Entity(EntityKind::AddEntity); KINDS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = KINDS[index].0;
            index += 1;
        }
        all
    };

    /// Whether it changes what holds for all routes: rarely, and once a turn.
    pub fn is_sweeping(self) -> bool {
        matches!(self, Convention(_))
    }

    /// Whether it makes a schema larger, by more than a line or two.
    fn grows(self) -> bool {
        use ActionKind::{AddAction, AddEffect, AddGuard};
        use FieldKind::{AddComputed, AddField, AddReference, Nest};
        matches!(
            self,
            Field(AddField | AddReference | AddComputed | Nest)
                | Action(AddAction | AddEffect | AddGuard)
                | Analytic(AnalyticKind::AddAnalytic)
                | List(ListKind::AddFilter)
        )
    }

    /// Whether it makes a schema smaller.
    fn shrinks(self) -> bool {
        use ActionKind::{RemoveAction, RemoveEffect, RemoveGuard};
        use FieldKind::{RemoveField, RemoveReference, Unnest};
        matches!(
            self,
            Field(RemoveField | RemoveReference | Unnest)
                | Action(RemoveAction | RemoveEffect | RemoveGuard)
                | Analytic(AnalyticKind::RemoveAnalytic)
                | List(ListKind::RemoveFilter)
        )
    }

    /// How often it comes in a schema: what is behind its schedule grows, what is ahead of it shrinks.
    fn weight_in(self, usual: u32, behind: i64, entities: usize) -> u32 {
        let weight = i64::from(usual);
        let weight = match self {
            Entity(EntityKind::AddEntity) if entities >= MOST_ENTITIES => 0,
            // An entity is some 200 lines: a schema that is as much behind gets one soon.
            Entity(EntityKind::AddEntity) => (weight + behind / 4).clamp(4, 160),
            Entity(EntityKind::RemoveEntity) if entities <= FEWEST_ENTITIES => 0,
            Entity(EntityKind::RemoveEntity) => (weight - behind / 12).clamp(6, 80),
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
    let (behind, entities) = (lines_behind(schema), schema.entities.len());
    let weights =
        KINDS.map(
            |(kind, usual)| {
                if kind.is_sweeping() && !sweeping { 0 } else { kind.weight_in(usual, behind, entities) }
            },
        );
    draw.weighted_index(&weights)
        .and_then(|index| ChangeKind::ALL.get(index).copied())
        .unwrap_or(Field(FieldKind::AddField))
}
