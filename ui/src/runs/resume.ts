// What a resume changes about the budgets, as `key=value`s of the configuration. Pure.
import type { RunBudget } from "../host/bindings/RunBudget";
import { parseNumber } from "./number";

export type BudgetName = "usd" | "tokens" | "minutes";
/** What a budget is of. */
export type BudgetOf = "run" | "episode" | "attempt";
export type BudgetTexts = Readonly<Record<BudgetName, string>>;

export interface BudgetChanges {
  readonly changes: readonly string[];
  readonly problems: ReadonlyMap<BudgetName, string>;
}

/** Empty texts change nothing; a smaller budget than the old one is not what a resume is for, and is said. */
export function budgetChanges(subject: BudgetOf, now: RunBudget, texts: BudgetTexts): BudgetChanges {
  const changes: string[] = [];
  const problems = new Map<BudgetName, string>();
  const old: Readonly<Record<BudgetName, number | null>> = {
    usd: now.usd,
    tokens: now.tokens,
    minutes: now.seconds === null ? null : now.seconds / 60,
  };
  for (const name of ["usd", "tokens", "minutes"] as const) {
    const value = parseNumber(texts[name]);
    if (value === null) continue;
    const before = old[name];
    if (value === undefined || value <= 0) problems.set(name, "must be a number above 0");
    else if (name !== "usd" && !Number.isInteger(value)) problems.set(name, "must be a whole number");
    else if (before !== null && value < before) problems.set(name, "is less than before");
    else changes.push(`limits.${subject}.${name}=${String(value)}`);
  }
  return { changes, problems };
}
