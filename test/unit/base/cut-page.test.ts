import { describe, expect, it } from "vitest";
import { cutPage } from "../../../src/rest/page.ts";

describe("cutting a page", () => {
  it("drops the row beyond the limit and names the last one that stays", () => {
    expect(cutPage([1, 2, 3], 2)).toEqual({ page: [1, 2], last: 2 });
  });

  it("names none when there is no next page", () => {
    expect(cutPage([1, 2], 2)).toEqual({ page: [1, 2], last: undefined });
    expect(cutPage([], 2)).toEqual({ page: [], last: undefined });
  });
});
