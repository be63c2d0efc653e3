// Members of a comparison in an address: `run-id`, `harness:opencode@staminabench`, `model:…@…`, `cell:HARNESS×MODEL@…`,
// `tag:…@…`, one after the other with `,`. Parts are percent-encoded first, so that any name survives. Pure.
import type { Member } from "../host/bindings/Member";
import type { Query, Route } from "../shell/routes";

const encode = (word: string): string => encodeURIComponent(word).replaceAll("%20", "+");
function decode(word: string): string {
  try {
    return decodeURIComponent(word.replaceAll("+", "%20"));
  } catch {
    return word;
  }
}

/** The text of one member. */
export function memberText(member: Member): string {
  switch (member.by) {
    case "run":
      return encode(member.run);
    case "harness":
      return `harness:${encode(member.harness)}@${encode(member.benchmark)}`;
    case "model":
      return `model:${encode(member.model)}@${encode(member.benchmark)}`;
    case "cell":
      return `cell:${encode(member.harness)}×${encode(member.model)}@${encode(member.benchmark)}`;
    case "tag":
      return `tag:${encode(member.tag)}@${encode(member.benchmark)}`;
  }
}

function readMember(text: string): Member | undefined {
  const group = /^(harness|model|cell|tag):([^@]*)@(.*)$/.exec(text);
  const [, by, name = "", rest = ""] = group ?? [];
  const benchmark = decode(rest);
  if (by === "harness") return { by, harness: decode(name), benchmark };
  if (by === "model") return { by, model: decode(name), benchmark };
  if (by === "cell") {
    const [harness = "", model = ""] = name.split("×");
    return { by, harness: decode(harness), model: decode(model), benchmark };
  }
  if (by === "tag") return { by, tag: decode(name), benchmark };
  const run = decode(text);
  return run === "" ? undefined : { by: "run", run };
}

/** The members that an address names, each once. */
export function readMembers(query: Query): Member[] {
  const texts = (query["members"] ?? "").split(",").filter((text) => text !== "");
  return [...new Set(texts)].map(readMember).filter((member) => member !== undefined);
}

export const membersText = (members: readonly Member[]): string => members.map(memberText).join(",");

/** The page that compares them. */
export const compareRoute = (members: readonly Member[]): Route => ({ page: "compare", query: { members: membersText(members) } });
