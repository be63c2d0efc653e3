import { describe, expect, it } from "vitest";
import { episodeName } from "./episode";

describe("name of an episode", () => {
  it("keeps short scenario names in front of titles that may repeat", () => {
    expect(episodeName({ scenario: "scenario_4", title: null, repeat: 1 })).toBe("scenario_4");
    expect(episodeName({ scenario: "scenario_4", title: "Library", repeat: 2 })).toBe("scenario_4 · Library, repeat 2");
    expect(episodeName({ scenario: "scenario_4", title: null, repeat: 0 })).toBe("scenario_4, repeat 0");
    expect(episodeName({ scenario: "theme_d1_w2_code_build", title: "minicc", repeat: 1 })).toBe("minicc");
  });
});
