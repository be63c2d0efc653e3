//! A schema, looked up once: positions instead of keys, names in their case, routes by path segment.
//!
//! A [`ServerPlan`] never changes; a [`super::World`] answers every request from it. Parts of a schema that name something
//! that is not there are left out (a valid schema has none).

use std::collections::HashMap;

use serde_json::Value;

use crate::ir::{
    Action, Analytic, Comparison, Computed, Condition, Conventions, Effect, Entity, Field, FilterOp, Kind,
    Measure, OnDelete, Operand, Schema,
};

/// The compiled schema. Entities and fields are named by their position.
#[derive(Debug)]
pub(super) struct ServerPlan {
    pub(super) conventions: Conventions,
    /// Path segment → entity.
    pub(super) collections: HashMap<String, usize>,
    pub(super) entities: Vec<EntityPlan>,
    /// Path segment → analytic.
    pub(super) analytics: HashMap<String, AnalyticPlan>,
    /// Query parameters in the case of fields.
    pub(super) params: Params,
}

/// Query parameters that every list has.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) sort: String,
    /// `page` or `offset`.
    pub(super) start: String,
    /// `page_size` or `limit`.
    pub(super) size: String,
    pub(super) include_deleted: String,
}

#[derive(Debug)]
pub(super) struct EntityPlan {
    /// For messages.
    pub(super) name: String,
    pub(super) soft_delete: bool,
    pub(super) fields: Vec<FieldPlan>,
    /// JSON name → field.
    pub(super) by_name: HashMap<String, usize>,
    pub(super) filters: Vec<FilterPlan>,
    /// JSON name → field.
    pub(super) sorts: HashMap<String, usize>,
    /// Field, descending.
    pub(super) default_sort: Option<(usize, bool)>,
    /// Path segment → action.
    pub(super) actions: HashMap<String, ActionPlan>,
    /// Path segment → the children's entity and their reference field.
    pub(super) nested: HashMap<String, Link>,
    /// Who refers to records of this entity.
    pub(super) referrers: Vec<(Link, OnDelete)>,
}

/// A reference field of an entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) entity: usize,
    pub(super) field: usize,
}

/// A field, or a parameter of an action (required, never null).
#[derive(Debug)]
pub(super) struct FieldPlan {
    /// JSON name.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Entity that a reference points to.
    pub(super) target: Option<usize>,
    pub(super) required: bool,
    pub(super) nullable: bool,
    pub(super) default: Option<Value>,
    pub(super) unique: bool,
    pub(super) immutable: bool,
    /// Whether it is computed, and how (nothing if the schema names what is not there).
    pub(super) read_only: bool,
    pub(super) computed: Option<ComputedPlan>,
}

#[derive(Debug)]
pub(super) enum ComputedPlan {
    Joined { first: usize, second: usize, separator: String },
    Product { left: usize, right: usize },
    Sum { left: usize, right: usize },
    AtLeast { field: usize, value: Value },
    CountOf(Link),
    TotalOf { link: Link, field: usize },
}

#[derive(Debug)]
pub(super) struct FilterPlan {
    pub(super) param: String,
    pub(super) field: usize,
    pub(super) op: FilterOp,
}

#[derive(Debug)]
pub(super) struct ActionPlan {
    pub(super) params: Vec<FieldPlan>,
    pub(super) guards: Vec<GuardPlan>,
    pub(super) effects: Vec<EffectPlan>,
}

#[derive(Debug)]
pub(super) enum GuardPlan {
    Field { field: usize, is: Comparison },
    Related { reference: usize, target: usize, field: usize, is: Comparison },
    HasAtLeast { link: Link, count: usize },
    HasNone(Link),
}

#[derive(Debug)]
pub(super) enum EffectPlan {
    Set { field: usize, to: OperandPlan },
    Increment { field: usize, by: OperandPlan },
    Create { link: Link, values: Vec<(usize, OperandPlan)> },
}

#[derive(Debug)]
pub(super) enum OperandPlan {
    Value(Value),
    Param(usize),
    Own(usize),
}

#[derive(Debug)]
pub(super) struct AnalyticPlan {
    pub(super) entity: usize,
    pub(super) measure: MeasurePlan,
    pub(super) group_by: Option<usize>,
    pub(super) restriction: Option<RestrictionPlan>,
    /// Query parameter and reference field.
    pub(super) reference: Option<(String, usize)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum MeasurePlan {
    Count,
    Sum(usize),
    Average(usize),
    Min(usize),
    Max(usize),
}

#[derive(Debug)]
pub(super) struct RestrictionPlan {
    /// Reference field and the entity that it points to.
    pub(super) through: Option<(usize, usize)>,
    pub(super) field: usize,
    pub(super) equals: Value,
}

/// Where entities and fields are in their lists.
struct Positions<'a> {
    schema: &'a Schema,
    entities: HashMap<&'a str, usize>,
}

impl Positions<'_> {
    fn entity(&self, key: &str) -> Option<usize> {
        self.entities.get(key).copied()
    }

    fn link(&self, entity: &str, reference: &str) -> Option<Link> {
        let entity = self.entity(entity)?;
        let field = position(self.schema.entities.get(entity)?, reference)?;
        Some(Link { entity, field })
    }

    /// The field of the entity that a reference points to: (reference, target, field).
    fn referenced_field(
        &self,
        owner: &Entity,
        reference: &str,
        field: &str,
    ) -> Option<(usize, usize, usize)> {
        let index = position(owner, reference)?;
        let target = self.entity(owner.fields.get(index)?.target()?)?;
        Some((index, target, position(self.schema.entities.get(target)?, field)?))
    }
}

fn position(entity: &Entity, key: &str) -> Option<usize> {
    entity.fields.iter().position(|field| field.key == key)
}

impl ServerPlan {
    pub(super) fn new(schema: &Schema) -> Self {
        let positions = Positions {
            schema,
            entities: schema
                .entities
                .iter()
                .enumerate()
                .map(|(index, entity)| (entity.key.as_str(), index))
                .collect(),
        };
        let (start_param, size) = schema.conventions.pagination.style.params();
        let mut entities: Vec<EntityPlan> =
            schema.entities.iter().map(|entity| EntityPlan::new(&positions, entity)).collect();
        for (index, entity) in schema.entities.iter().enumerate() {
            for (field, plan) in entity.fields.iter().enumerate() {
                let Kind::Reference { entity: target, on_delete, nested } = &plan.kind else { continue };
                let Some(parent) = positions.entity(target).and_then(|target| entities.get_mut(target))
                else {
                    continue;
                };
                let link = Link { entity: index, field };
                parent.referrers.push((link, *on_delete));
                if *nested {
                    parent.nested.insert(schema.path_name(&entity.plural), link);
                }
            }
        }
        Self {
            conventions: schema.conventions.clone(),
            collections: schema
                .entities
                .iter()
                .enumerate()
                .map(|(index, entity)| (schema.path_name(&entity.plural), index))
                .collect(),
            entities,
            analytics: schema
                .analytics
                .iter()
                .filter_map(|analytic| {
                    Some((schema.path_name(&analytic.name), AnalyticPlan::new(&positions, analytic)?))
                })
                .collect(),
            params: Params {
                sort: schema.json_name("sort"),
                start: schema.json_name(start_param),
                size: schema.json_name(size),
                include_deleted: schema.json_name("include_deleted"),
            },
        }
    }
}

impl EntityPlan {
    fn new(positions: &Positions<'_>, entity: &Entity) -> Self {
        let schema = positions.schema;
        let fields: Vec<FieldPlan> =
            entity.fields.iter().map(|field| FieldPlan::new(positions, entity, field)).collect();
        Self {
            name: crate::ir::words(&entity.name),
            soft_delete: entity.soft_delete,
            by_name: fields.iter().enumerate().map(|(index, field)| (field.name.clone(), index)).collect(),
            filters: entity
                .filters
                .iter()
                .filter_map(|filter| {
                    Some(FilterPlan {
                        param: schema.filter_param(entity, filter)?,
                        field: position(entity, &filter.field)?,
                        op: filter.op,
                    })
                })
                .collect(),
            sorts: entity
                .sorts
                .iter()
                .filter_map(|key| {
                    let index = position(entity, key)?;
                    Some((fields.get(index)?.name.clone(), index))
                })
                .collect(),
            default_sort: entity
                .default_sort
                .as_ref()
                .and_then(|sort| Some((position(entity, &sort.field)?, sort.descending))),
            actions: entity
                .actions
                .iter()
                .map(|action| (schema.path_name(&action.name), ActionPlan::new(positions, entity, action)))
                .collect(),
            nested: HashMap::new(),
            referrers: Vec::new(),
            fields,
        }
    }
}

impl FieldPlan {
    fn new(positions: &Positions<'_>, entity: &Entity, field: &Field) -> Self {
        Self {
            name: positions.schema.json_name(&field.name),
            target: field.target().and_then(|target| positions.entity(target)),
            kind: field.kind.clone(),
            required: field.required,
            nullable: field.nullable,
            default: field.default.clone(),
            unique: field.unique,
            immutable: field.immutable,
            read_only: field.computed.is_some(),
            computed: field
                .computed
                .as_ref()
                .and_then(|computed| ComputedPlan::new(positions, entity, computed)),
        }
    }
}

impl ComputedPlan {
    fn new(positions: &Positions<'_>, entity: &Entity, computed: &Computed) -> Option<Self> {
        Some(match computed {
            Computed::Joined { first, second, separator } => Self::Joined {
                first: position(entity, first)?,
                second: position(entity, second)?,
                separator: separator.clone(),
            },
            Computed::Product { left, right } => {
                Self::Product { left: position(entity, left)?, right: position(entity, right)? }
            }
            Computed::Sum { left, right } => {
                Self::Sum { left: position(entity, left)?, right: position(entity, right)? }
            }
            Computed::AtLeast { field, value } => {
                Self::AtLeast { field: position(entity, field)?, value: value.clone() }
            }
            Computed::CountOf { entity, reference } => Self::CountOf(positions.link(entity, reference)?),
            Computed::TotalOf { entity, reference, field } => {
                let link = positions.link(entity, reference)?;
                Self::TotalOf { link, field: position(positions.schema.entities.get(link.entity)?, field)? }
            }
        })
    }
}

impl ActionPlan {
    fn new(positions: &Positions<'_>, entity: &Entity, action: &Action) -> Self {
        let operand = |operand: &Operand| {
            Some(match operand {
                Operand::Value(value) => OperandPlan::Value(value.clone()),
                Operand::Param(key) => {
                    OperandPlan::Param(action.params.iter().position(|param| param.key == *key)?)
                }
                Operand::Own(key) => OperandPlan::Own(position(entity, key)?),
            })
        };
        let effect = |effect: &Effect| {
            Some(match effect {
                Effect::Set { field, to } => {
                    EffectPlan::Set { field: position(entity, field)?, to: operand(to)? }
                }
                Effect::Increment { field, by } => {
                    EffectPlan::Increment { field: position(entity, field)?, by: operand(by)? }
                }
                Effect::Create { entity: other, reference, values } => {
                    let link = positions.link(other, reference)?;
                    let other = positions.schema.entities.get(link.entity)?;
                    let values = values
                        .iter()
                        .filter_map(|value| Some((position(other, &value.field)?, operand(&value.from)?)))
                        .collect();
                    EffectPlan::Create { link, values }
                }
            })
        };
        Self {
            params: action
                .params
                .iter()
                .map(|param| FieldPlan {
                    name: positions.schema.json_name(&param.name),
                    kind: param.kind.clone(),
                    target: None,
                    required: true,
                    nullable: false,
                    default: None,
                    unique: false,
                    immutable: false,
                    read_only: false,
                    computed: None,
                })
                .collect(),
            guards: action
                .guards
                .iter()
                .filter_map(|guard| GuardPlan::new(positions, entity, &guard.condition))
                .collect(),
            effects: action.effects.iter().filter_map(effect).collect(),
        }
    }
}

impl GuardPlan {
    fn new(positions: &Positions<'_>, entity: &Entity, condition: &Condition) -> Option<Self> {
        Some(match condition {
            Condition::Field { field, is } => Self::Field { field: position(entity, field)?, is: is.clone() },
            Condition::Related { reference, field, is } => {
                let (reference, target, field) = positions.referenced_field(entity, reference, field)?;
                Self::Related { reference, target, field, is: is.clone() }
            }
            Condition::HasAtLeast { entity, reference, count } => {
                Self::HasAtLeast { link: positions.link(entity, reference)?, count: *count as usize }
            }
            Condition::HasNone { entity, reference } => Self::HasNone(positions.link(entity, reference)?),
        })
    }
}

impl AnalyticPlan {
    fn new(positions: &Positions<'_>, analytic: &Analytic) -> Option<Self> {
        let index = positions.entity(&analytic.entity)?;
        let entity = positions.schema.entities.get(index)?;
        let measure = match &analytic.measure {
            Measure::Count => MeasurePlan::Count,
            Measure::Sum(field) => MeasurePlan::Sum(position(entity, field)?),
            Measure::Average(field) => MeasurePlan::Average(position(entity, field)?),
            Measure::Min(field) => MeasurePlan::Min(position(entity, field)?),
            Measure::Max(field) => MeasurePlan::Max(position(entity, field)?),
        };
        let restriction = match &analytic.only {
            None => None,
            Some(only) => Some(match &only.through {
                None => RestrictionPlan {
                    through: None,
                    field: position(entity, &only.field)?,
                    equals: only.equals.clone(),
                },
                Some(through) => {
                    let (reference, target, field) =
                        positions.referenced_field(entity, through, &only.field)?;
                    RestrictionPlan { through: Some((reference, target)), field, equals: only.equals.clone() }
                }
            }),
        };
        Some(Self {
            entity: index,
            measure,
            group_by: match &analytic.group_by {
                None => None,
                Some(key) => Some(position(entity, key)?),
            },
            restriction,
            reference: match &analytic.by {
                None => None,
                Some(key) => {
                    let field = position(entity, key)?;
                    Some((positions.schema.json_name(&entity.fields.get(field)?.name), field))
                }
            },
        })
    }
}
