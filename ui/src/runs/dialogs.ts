// The dialogs that the form of a new run and the page of a live one open.

export type FormDialog =
  | "load"
  | "yaml"
  | "leftovers"
  | "images"
  | "prices"
  /** Stores a key under a name. */
  | { readonly key: string }
  /** Model endpoints of this machine, or the models of the one that the form names. */
  | { readonly endpoints: "machine" | "named" };

/** `retry` names the episode. */
export type LiveDialog = "stop" | "resume" | { readonly retry: string };
