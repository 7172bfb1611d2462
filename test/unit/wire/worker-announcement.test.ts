import { describe, expect, it } from "vitest";
import {
  encodeWorkerAnnouncement,
  isWorkerAddress,
  tryWorkerAnnouncement,
  type WorkerAnnouncement,
} from "../../../src/wire/worker-announcement.ts";

const GOOD: WorkerAnnouncement = {
  worker_id: "host-1",
  address: "127.0.0.1:50051",
  capacity: 8,
  sessions: 3,
  version: "1.0.0",
  engines: ["moonshine-tiny-en"],
  draining: false,
};

function parse(value: unknown): WorkerAnnouncement | undefined {
  return tryWorkerAnnouncement(Buffer.from(JSON.stringify(value)));
}

describe("worker announcement: parsing", () => {
  it("reads what was encoded, and drops fields it does not know", () => {
    expect(tryWorkerAnnouncement(encodeWorkerAnnouncement(GOOD))).toEqual(GOOD);
    expect(parse({ ...GOOD, more: 1 })).toEqual(GOOD);
  });

  const wrong: [string, unknown][] = [
    ["no object", 7],
    ["null", null],
    ["an array", []],
    ["a missing field", { ...GOOD, version: undefined }],
    ["a negative count", { ...GOOD, sessions: -1 }],
    ["a fraction", { ...GOOD, capacity: 1.5 }],
    ["a number as text", { ...GOOD, capacity: "8" }],
    ["an address without port", { ...GOOD, address: "localhost" }],
    ["engines that are no list", { ...GOOD, engines: "moonshine-tiny-en" }],
    ["engines that are no text", { ...GOOD, engines: [1] }],
    ["draining as text", { ...GOOD, draining: "no" }],
    ["an endless id", { ...GOOD, worker_id: "x".repeat(257) }],
  ];
  for (const [name, value] of wrong) {
    it(`refuses ${name}`, () => {
      expect(parse(value)).toBeUndefined();
    });
  }

  it("tells of a language model what makes sense", () => {
    const model = { name: "small", local: true, answers: false, reason: "No.", abilities: [] };
    expect(parse({ ...GOOD, language_model: { ...model, more: 1 } })).toEqual({
      ...GOOD,
      language_model: model,
    });
    const abilities = ["tools", "dance"];
    expect(parse({ ...GOOD, language_model: { ...model, abilities } })?.language_model).toEqual({
      ...model,
      abilities: ["tools"],
    });
    for (const wrong of [7, null, { ...model, name: "" }, { ...model, local: "yes" }, [model]]) {
      expect(parse({ ...GOOD, language_model: wrong })).toEqual(GOOD);
    }
  });

  it("tells by what networks are run, as far as that makes sense", () => {
    const networks = { provider: "cpu", reason: "There is no cuda." };
    expect(parse({ ...GOOD, networks: { ...networks, more: 1 } })).toEqual({ ...GOOD, networks });
    expect(parse({ ...GOOD, networks: { provider: "cpu", reason: 7 } })?.networks).toEqual({
      provider: "cpu",
    });
    for (const wrong of [7, null, {}, { provider: "" }, ["cpu"]]) {
      expect(parse({ ...GOOD, networks: wrong })).toEqual(GOOD);
    }
  });

  it("refuses what is no JSON, or far too long", () => {
    expect(tryWorkerAnnouncement(Buffer.from("{"))).toBeUndefined();
    expect(tryWorkerAnnouncement(Buffer.alloc(1 << 20, 32))).toBeUndefined();
  });

  it("knows an address", () => {
    for (const good of ["a:1", "worker.example:65535", "[::1]:8080", "127.0.0.1:50051"]) {
      expect(isWorkerAddress(good)).toBe(true);
    }
    for (const bad of ["a:0", "a:65536", ":1", "a b:1", "::1:80", "http://a:1", 1, undefined]) {
      expect(isWorkerAddress(bad)).toBe(false);
    }
  });
});
