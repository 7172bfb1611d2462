import { describe, expect, it } from "vitest";
import { escapeHtml } from "../../../src/base/html.ts";

describe("HTML", () => {
  it("escapes all that could end a text or an attribute", () => {
    expect(escapeHtml(`<a href="x" title='y'>&amp;`)).toBe(
      "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;",
    );
  });
});
