import { expect, test } from "vitest";
import { hrefOf, parseRoute, withQuery, type Route } from "../shell/routes";
import { filterChange, isFiltered, readFilter, toRequest } from "./filter";

const start: Route = { page: "library", query: {} };

test("a filter survives the way through the address bar", () => {
  const wanted = {
    text: "opus 4.8 & co",
    source: 3,
    view: "warnings",
    tag: "paper, table 2",
    benchmarks: ["harbor:a,b", "evocode-bench"],
    harnesses: ["", "terminus-2"],
    models: ["ünïcode/模型"],
    minEpisodes: 5,
    sort: "score",
    ascending: true,
    group: "harness",
  } as const;
  const address = hrefOf(withQuery(start, filterChange(readFilter({}), wanted)));
  expect(readFilter(parseRoute(address)?.query ?? {})).toEqual(wanted);
});

test("what is default does not stand in the address", () => {
  const back = filterChange(readFilter({ q: "x", sort: "model", group: "source", harness: ".a" }), {
    text: "",
    sort: "stamina",
    ascending: false,
    group: "benchmark",
    harnesses: [],
  });
  expect(hrefOf(withQuery({ page: "library", query: { q: "x", sort: "model", group: "source", harness: ".a" } }, back))).toBe("#/library");
});

test("names rise and numbers fall unless said otherwise", () => {
  expect(readFilter({ sort: "model" }).ascending).toBe(true);
  expect(readFilter({ sort: "cost" }).ascending).toBe(false);
  expect(readFilter({ sort: "cost.asc" }).ascending).toBe(true);
});

test("a broken address is the default, not an error", () => {
  const filter = readFilter({ sort: "color.up", source: "-1", episodes: "many", benchmark: ".%E0%A4%A,.%zz", view: "?" });
  expect(filter).toEqual(readFilter({}));
  expect(isFiltered(filter)).toBe(false);
});

test("one value may be written plainly", () => {
  expect(readFilter({ benchmark: "harbor:a,b" }).benchmarks).toEqual(["harbor:a,b"]);
});

test("unknown harness is asked for as the empty word", () => {
  expect(toRequest(readFilter({ harness: "." }), 200, 100)).toMatchObject({ harnesses: [""], offset: 200, limit: 100 });
});
