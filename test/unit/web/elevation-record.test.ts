import { describe, expect, it } from "vitest";
import { activeOf, covers, type ElevationScope } from "../../../src/web/api/elevation-record.ts";

const elevation = (place: ElevationScope, until = 1_000) => ({
  id: JSON.stringify([place, until]),
  reason: "Complaint 4711",
  until,
  place,
});

describe("elevation record", () => {
  it("elevation record: opens what its reason was given for, and no more", () => {
    const session = elevation({ session_id: "s" });
    expect(covers(session, { session_id: "s", workspace_id: "w" })).toBe(true);
    expect(covers(session, { session_id: "t", workspace_id: "w" })).toBe(false);
    expect(covers(session, { workspace_id: "w" })).toBe(false);
    const workspace = elevation({ workspace_id: "w" });
    expect(covers(workspace, { session_id: "s", workspace_id: "w" })).toBe(true);
    expect(covers(workspace, { session_id: "s" })).toBe(false);
    expect(covers(elevation({}), { workspace_id: "w" })).toBe(true);
  });

  it("elevation record: those that are over are out, the one that ends first is in front", () => {
    const all = [elevation({}, 300), elevation({}, 100), elevation({}, 200)];
    expect(activeOf(all, 100).map(({ until }) => until)).toEqual([200, 300]);
    expect(activeOf(all, 300)).toEqual([]);
  });
});
