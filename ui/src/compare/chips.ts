// A member as its chip: known from the address at once, in full once the comparison is there. Pure.
import type { ComparedMember } from "../host/bindings/ComparedMember";
import type { Member } from "../host/bindings/Member";
import type { SeriesStyle } from "../host/bindings/SeriesStyle";
import { memberText } from "./members";
import { memberInWords } from "./compareWords";

export interface Chip {
  readonly key: string;
  readonly member: Member;
  readonly name: string;
  /** Where there is little room: the workbench leaves out what all names begin with. */
  readonly shortName: string;
  readonly fullName: string;
  /** How many runs a group has. */
  readonly quiet: string | undefined;
  readonly swatch: SeriesStyle | undefined;
  readonly reference: boolean;
  readonly simulated: boolean;
  readonly baseline: "oracle" | "nop" | null;
}

export function chipOf(member: Member, known: ComparedMember | undefined, reference: boolean): Chip {
  return {
    key: memberText(member),
    member,
    name: known?.name ?? memberInWords(member),
    shortName: known?.short_name ?? memberInWords(member),
    fullName: known?.full_name ?? memberInWords(member),
    quiet: member.by === "run" || known === undefined ? undefined : `${String(known.runs.length)} run${known.runs.length === 1 ? "" : "s"}`,
    swatch: known?.swatch,
    reference,
    simulated: known?.simulated ?? false,
    baseline: known?.baseline === "oracle" || known?.baseline === "nop" ? known.baseline : null,
  };
}
