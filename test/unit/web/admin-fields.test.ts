import { describe, expect, it } from "vitest";
import { idIn, linesOf } from "../../../src/web/views/admin/fields.ts";

const ID = "0198c1f2-7a4e-7c3b-9d5e-2f6a8b1c4d7e";

describe("fields of the administration", () => {
  it("id field: takes the address of a view as well as an id", () => {
    expect(idIn(`https://voice.example/app/#/sessions/${ID}/1200`)).toBe(ID);
    expect(idIn(` ${ID.toUpperCase()} `)).toBe(ID);
    expect(idIn(" nothing like it ")).toBe("nothing like it");
  });

  it("vocabulary field: one a line, without what is empty or there twice", () => {
    expect(linesOf(" Robert \r\n\nNew York\nRobert")).toEqual(["Robert", "New York"]);
    expect(linesOf(" \n ")).toEqual([]);
  });
});
