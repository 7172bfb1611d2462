import { describe, expect, it } from "vitest";
import {
  batteryOf,
  codeIn,
  kindOf,
  ownerOf,
  statusOf,
  waitingOn,
} from "../../../src/web/views/devices/device-facts.ts";

describe("devices on the page", () => {
  const paired = { status: "paired", suspended: false, presence: "offline" } as const;
  const seen = { last_seen_at: "2026-03-01T10:00:00.000Z" };

  it("device: there, away, never heard of, suspended and unpaired are told apart", () => {
    const labels = [
      { ...paired, ...seen, presence: "online" },
      { ...paired, ...seen },
      paired,
      { ...paired, ...seen, presence: "online", suspended: true },
      { ...paired, status: "revoked", suspended: true },
      { ...paired, status: "pairing" },
    ] as const;
    expect(labels.map((each) => statusOf(each).label)).toEqual([
      "Online",
      "Offline",
      "Not heard of yet",
      "Suspended",
      "Unpaired",
      "Shows its code",
    ]);
  });

  it("device: only the service's own serial numbers make it a program or a browser", () => {
    const of = (model: string, device_serial: string) => kindOf({ model, device_serial });
    expect(of("browser", "virtual-1")).toBe("browser");
    expect(of("robot", "virtual-1")).toBe("program");
    expect(of("browser", "SN-virtual-1")).toBe("hardware");
  });

  it("battery: what is no percentage is no battery", () => {
    const of = (battery_percent: unknown) => batteryOf({ battery_percent });
    expect(of(19.4)).toEqual({ percent: 19, level: "low" });
    expect(of(20)).toEqual({ percent: 20, level: "medium" });
    expect(of(100)).toEqual({ percent: 100, level: "full" });
    for (const odd of [undefined, "80", -1, 101, Number.NaN, null]) {
      expect(of(odd)).toBeUndefined();
    }
  });

  it("device: tells how much waits on it, when that is a count", () => {
    expect(waitingOn({ buffered_chunks: 3 })).toBe(3);
    expect(waitingOn({ buffered_chunks: "many" })).toBe(0);
    expect(waitingOn({})).toBe(0);
  });

  it("device: its owner is you, a name, an address, or nobody who is here", () => {
    const members = [
      { user_id: "u1", name: "Anna", email: "anna@example.org" },
      { user_id: "u2", name: "", email: "ben@example.org" },
    ];
    const of = (owner_id?: string) => ownerOf({ ...(owner_id && { owner_id }) }, "me", members);
    expect([of("me"), of("u1"), of("u2"), of("u3"), of()]).toEqual([
      "you",
      "Anna",
      "ben@example.org",
      undefined,
      undefined,
    ]);
  });

  it("pairing code: is read as it is typed, pasted, and out of a link", () => {
    expect(codeIn(" bcdf ghjk ")).toBe("BCDF-GHJK");
    expect(codeIn("BCDF-GHJK")).toBe("BCDF-GHJK");
    expect(codeIn("https://voice.example/p/#/devices/pair/BCDFGHJK")).toBe("BCDF-GHJK");
    expect(codeIn("own-code-123")).toBe("OWNCODE123");
    expect(codeIn("")).toBe("");
  });
});
