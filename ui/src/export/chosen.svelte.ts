// What was chosen last: a paper has one venue.
const KEY = "stamina-export";

interface Chosen {
  preset: string;
  grey: boolean;
}

function storedChoice(): Chosen {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof value === "object" && value !== null && "preset" in value && typeof value.preset === "string")
      return { preset: value.preset, grey: false };
  } catch {
    // What is kept there is not ours, or storage is off.
  }
  return { preset: "icml", grey: false };
}

export const chosen = $state<Chosen>(storedChoice());

/** Keeps the venue for the next time. */
export function keepChosen(): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ preset: chosen.preset }));
  } catch {
    // Without storage it is asked again.
  }
}
