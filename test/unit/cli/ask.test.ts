import { describe, expect, it } from "vitest";
import { sessionBefore } from "../../../src/cli/commands/ask.ts";

const ID = "01a217f6-1059-7000-8000-000000000000";

describe("voice ask", () => {
  it("ask: a session may stand before the question, as with other commands", () => {
    expect(sessionBefore(["last", "When will we be ready?"])).toBe("last");
    expect(sessionBefore([ID, "When", "will", "we", "be", "ready?"])).toBe(ID);
    expect(sessionBefore([ID.toUpperCase(), "Who?"])).toBe(ID.toUpperCase());
  });

  it("ask: what begins a question is no session", () => {
    for (const words of [
      ["last week, who spoke?"],
      ["last", "week"],
      ["last", "week", "who spoke?"],
    ]) {
      expect(sessionBefore(words)).toBeUndefined();
    }
    expect(sessionBefore([ID])).toBeUndefined();
    expect(sessionBefore([])).toBeUndefined();
  });
});
