import { describe, expect, it } from "vitest";
import { LeaseRecords } from "../../../src/bus/lease-records.ts";
import { encodeJson } from "../../../src/wire/envelope.ts";

function record(key: string, value: object, revision: number, operation = "PUT") {
  return { key, value: encodeJson(value), revision, operation };
}

describe("lease records", () => {
  it("show hosts and partitions, and none that was deleted", () => {
    const records = new LeaseRecords();
    records.begin("one");
    records.hear(record("host.a.b", { counter: 3, leaving: true, run: "r" }, 1));
    records.hear(record("host.c", { counter: 1, leaving: false }, 2));
    records.hear(record("partition.12", { holder: "a.b" }, 3));
    records.hear(record("host.c", {}, 4, "PURGE"));
    expect(records.view()).toEqual({
      hosts: new Map([["a.b", { counter: 3, leaving: true }]]),
      partitions: new Map([[12, { holder: "a.b", revision: 3 }]]),
    });
  });

  it("take nothing back when a watch begins anew at a server that lags behind", () => {
    const records = new LeaseRecords();
    records.begin("one");
    records.wrote("partition.1", encodeJson({ holder: "me" }), 9, 0);
    records.begin("one");
    records.hear(record("partition.1", { holder: "other" }, 5));
    expect(records.view().partitions.get(1)).toEqual({ holder: "me", revision: 9 });
    records.hear(record("partition.1", { holder: "other" }, 10));
    expect(records.view().partitions.get(1)).toEqual({ holder: "other", revision: 10 });
  });

  it("begin afresh with another bucket, whose revisions are low again", () => {
    const records = new LeaseRecords();
    records.begin("one");
    records.wrote("partition.1", encodeJson({ holder: "me" }), 900, 0);
    records.begin("two");
    expect(records.view().partitions.size).toBe(0);
    expect(records.deafFor(1_000)).toBe(0);
    records.hear(record("partition.1", { holder: "other" }, 2));
    expect(records.view().partitions.get(1)?.holder).toBe("other");
  });

  it("are deaf from the first own write that does not come back, until one does", () => {
    const records = new LeaseRecords();
    records.begin("one");
    const beat = (revision: number, at: number) =>
      records.wrote("host.me", encodeJson({ counter: revision }), revision, at);
    beat(1, 100);
    beat(2, 350);
    expect(records.deafFor(600)).toBe(500);
    // A new watch is given its time.
    records.listenAgain(600);
    expect(records.deafFor(700)).toBe(100);
    records.hear(record("partition.4", { holder: "other" }, 2));
    expect(records.deafFor(800)).toBe(0);
    // Heard before its answer was.
    records.hear(record("host.me", { counter: 3 }, 3));
    beat(3, 900);
    expect(records.deafFor(2_000)).toBe(0);
  });
});
