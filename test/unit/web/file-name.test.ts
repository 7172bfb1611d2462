import { describe, expect, it } from "vitest";
import { fileName } from "../../../src/web/views/session/export/file-name.ts";

describe("name of an exported file", () => {
  it("file name: what systems do not take is left out, and something always stays", () => {
    expect(fileName("Plan: Q3/Q4 <b>")).toBe("Plan Q3 Q4 b");
    expect(fileName("../../etc/passwd")).toBe("etc passwd");
    expect([fileName(""), fileName("///"), fileName("...")]).toEqual(
      Array.from({ length: 3 }, () => "conversation"),
    );
    expect(fileName("ä".repeat(300))).toHaveLength(80);
  });
});
