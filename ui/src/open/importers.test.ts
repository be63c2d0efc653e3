import { expect, test } from "vitest";
import type { ImporterInfo } from "../host/bindings/ImporterInfo";
import { argumentOf, chosenOf, commandOf, keyOf, placeOf, problemOf } from "./importers";

const importer = (path: string, more: Partial<ImporterInfo> = {}): ImporterInfo => ({
  name: path.split("/").at(-1) ?? path,
  path,
  in_settings: true,
  state: "ready",
  ...more,
});

test("an importer that cannot be run says why, and is not chosen", () => {
  const lost = importer("/opt/lost", { state: "missing" });
  const text = importer("/opt/text", { state: "not_executable" });
  const alpha = importer("/usr/bin/stamina-import-alpha", { in_settings: false });
  expect([lost, text, alpha].map(problemOf)).toEqual(["missing", "not an executable file", undefined]);
  expect([lost, alpha].map(placeOf)).toEqual(["in the settings", "on the PATH"]);
  expect(chosenOf([lost, text], undefined)).toBeUndefined();
  expect(chosenOf([lost, text], lost.path)).toBeUndefined();
  expect(chosenOf([lost, alpha, text], undefined)).toBe(alpha);
});

test("of several importers none is chosen unasked", () => {
  const [alpha, beta] = [importer("/opt/alpha"), importer("/opt/beta")];
  expect(chosenOf([alpha, beta], undefined)).toBeUndefined();
  expect(chosenOf([alpha, beta], "/opt/beta")).toBe(beta);
  // One that was removed meanwhile is not chosen any more.
  expect(chosenOf([alpha], "/opt/beta")).toBe(alpha);
});

test("of a path that is a link the argument is where it leads", () => {
  const known = { asked: "/data/latest", real: "/data/2026-11" };
  expect(argumentOf("/data/latest", known)).toBe("/data/2026-11");
  // What is known of another path says nothing of this one, and of a path where nothing is nothing is known.
  expect(argumentOf("/data/late", known)).toBe("/data/late");
  expect(argumentOf("/data/late", undefined)).toBe("/data/late");
  expect(argumentOf("/data/none", { asked: "/data/none", real: null })).toBe("/data/none");
});

test("two names of one program are two importers", () => {
  const keys = [importer("/opt/alpha"), importer("/opt/alpha", { name: "beta" }), importer("/opt/beta")].map(keyOf);
  expect(new Set(keys).size).toBe(3);
});

test("the command is shown as a shell reads it", () => {
  expect(commandOf(importer("/opt/alpha"), "/data/results")).toBe("/opt/alpha /data/results");
  expect(commandOf(importer("/opt/my tools/a"), "/data/it's")).toBe(String.raw`'/opt/my tools/a' '/data/it'\''s'`);
  expect(commandOf(importer("/opt/alpha"), "")).toBe("/opt/alpha FOLDER");
});
