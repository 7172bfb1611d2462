import { describe, expect, it } from "vitest";
import {
  chipsOf,
  filterQueryOf,
  filtersOf,
  NO_FILTERS,
  routeOf,
  type SearchFilters,
} from "../../../src/web/views/search/search-filters.ts";

const ALL: SearchFilters = {
  words: '"price limit" or 50 % -café',
  speaker: "Ada & Grace/Hopper?",
  from: "2026-01-31",
  to: "2026-02-01",
  tags: ["board", "a=b&c#%41"],
  status: "completed",
  deviceId: "device-1",
  workspaceId: "workspace-1",
};

/** What the router makes of an address: the part behind `/search/`. */
function routed(route: string): string {
  const [, , part = "", ...more] = decodeURI(route).split("/");
  expect(more).toEqual([]);
  return part;
}

describe("filters of the search over sessions", () => {
  it("come back from the address as they were, whatever stands in them", () => {
    expect(filtersOf(routed(routeOf(ALL)))).toEqual(ALL);
    expect(routeOf(NO_FILTERS)).toBe("/search");
    expect(filtersOf("")).toEqual(NO_FILTERS);
    for (const words of ["%", "%41", "a/b", "?", "#", "x=y", "tag=z", "ä"]) {
      const filters = { ...NO_FILTERS, words };
      expect(filtersOf(routed(routeOf(filters)))).toEqual(filters);
    }
  });

  it("take plain words in the address, and ask for nothing where it makes no sense", () => {
    expect(filtersOf("report wednesday").words).toBe("report wednesday");
    expect(filtersOf("report%20wednesday").words).toBe("report wednesday");
    expect(filtersOf("status=odd&from=yesterday&to=2026-1-1&tag=&tag=a&tag=a")).toEqual({
      ...NO_FILTERS,
      tags: ["a"],
    });
  });

  it("become what the service is asked: whole days of here, and nothing that is empty", () => {
    expect(filterQueryOf(NO_FILTERS)).toEqual({});
    const { from, to, ...rest } = filterQueryOf(ALL);
    expect([from, to]).toEqual([
      new Date(2026, 0, 31).toISOString(),
      new Date(2026, 1, 2).toISOString(),
    ]);
    expect(rest).toEqual({
      speaker: ALL.speaker,
      tag: ALL.tags,
      status: "completed",
      device_id: "device-1",
      workspace_id: "workspace-1",
    });
  });

  it("are shown one by one, each to be taken away alone", () => {
    const names = new Map([["workspace-1", "Team"]]);
    const chips = chipsOf(ALL, names);
    expect(chips.map(({ label }) => label)).toEqual([
      "Speaker: Ada & Grace/Hopper?",
      "From 2026-01-31",
      "Until 2026-02-01",
      "Tag: board",
      "Tag: a=b&c#%41",
      "State: Completed",
      "Device: one that you do not see",
      "Workspace: Team",
    ]);
    expect(chips[3]?.rest).toEqual({ ...ALL, tags: ["a=b&c#%41"] });
    for (const { rest } of chips) expect(chipsOf(rest, names)).toHaveLength(chips.length - 1);
    expect(chipsOf({ ...NO_FILTERS, words: "word" }, names)).toEqual([]);
  });
});
