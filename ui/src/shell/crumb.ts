import type { Route } from "./routes";

/** One part of the breadcrumb. */
export interface Crumb {
  readonly text: string;
  /** Where it leads; the last crumb has none. */
  readonly to?: Route;
  /** Quieter words behind the last crumb: ` · terminus-2`. */
  readonly quiet?: string | undefined;
}
