import { describe, expect, it } from "vitest";
import { snippetParts } from "../../../src/web/views/search/hit-list.tsx";

describe("search snippet", () => {
  it("snippet: matches stand apart, and escapes become what they stand for", () => {
    expect(snippetParts("the <mark>final</mark> report &amp; &lt;b&gt;")).toEqual([
      { text: "the ", isMatch: false },
      { text: "final", isMatch: true },
      { text: " report & <b>", isMatch: false },
    ]);
  });

  it("snippet: an escape that was escaped stays as it was said", () => {
    expect(snippetParts("&amp;lt;mark&amp;gt;")).toEqual([
      { text: "&lt;mark&gt;", isMatch: false },
    ]);
  });

  it("snippet: nothing gives nothing", () => {
    expect(snippetParts("")).toEqual([]);
  });
});
