// The numbers that are explained. docs/metrics.md has an entry for each, and no other: a test compares them.

export const explainKeys = [
  "episodes", "planned_turns", "events", "censored", "end_reasons", "stamina", "mean_stamina", "mean_stamina_ci", "median_stamina", "survival",
  "score", "dataset_score", "case_score", "perfect", "mt_at_k", "sr", "gap", "comp", "tokens", "cost", "turns_passed", "attempt_limit",
  "pass_rate", "pass_rate_ci", "pass_at_k", "pass_hat_k", "unscored",
  "bootstrap_ci", "cost_per_episode", "cost_per_survived_turn", "rate_per_turn", "turns_played", "agent_time", "steps_survived",
  "difference", "ratio", "logrank", "p_holm", "p_permutation", "p_stratified", "paired", "paired_p", "p_sign_flip", "sensitivity", "early_censored",
  "margin", "best_worst_ratio", "retry_budget", "feedback_gain", "failed_attempts", "described_tests", "failure_share", "failure_share_ci", "failing_tests",
  "failure_history", "repaired", "repair_attempts", "stretches", "flips", "spread",
  "published", "published_retries", "price",
  "turns_done", "episodes_done", "current_turn", "current_attempt", "elapsed", "live_tokens", "live_cost", "last_event", "time_left", "estimate", "pace_cost", "endpoint_faults", "tokens_per_second", "run_tokens_per_second",
  "session_count", "session_imported", "session_compat", "session_corrected", "comprehension", "efficiency", "tool_success", "read_before_write",
  "session_phases", "session_turns", "session_answered", "session_calls", "still_running",
  "source_counts", "source_warnings",
] as const;

export type ExplainKey = (typeof explainKeys)[number];

export const isExplainKey = (text: string | null | undefined): text is ExplainKey => explainKeys.some((key) => key === text);
