// Numbers as people type them. Pure.

/** `null` = nothing was typed, `undefined` = not a number. Commas and blanks may group digits: `1,000`, `10 000`. */
export function parseNumber(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === "") return null;
  const joined = /^\d{1,3}([,\s\u202f]\d{3})+(\.\d+)?$/.test(plain) ? plain.replace(/[,\s\u202f]/g, "") : plain;
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(joined)) return undefined;
  const value = Number(joined);
  return Number.isFinite(value) ? value : undefined;
}

/** As it stands in a field: plain digits, no exponent for what people type. */
export function numberText(value: number | null): string {
  return value === null ? "" : String(value);
}
