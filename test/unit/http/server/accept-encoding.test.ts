import { describe, expect, it } from "vitest";
import { chooseCoding } from "../../../../src/http/server/compression.ts";

describe("accept-encoding: what a client takes", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["deflate, zstd", undefined],
    ["gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip, deflate", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["*;q=0", undefined],
    ["gzip;q=0", undefined],
    ["gzip;q=0.000", undefined],
    ["gzip; q=0, br ;q=0.0", undefined],
    ["gzip;q=0.001", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0.8,gzip;q=0.8", "br"],
    ["identity, gzip;q=0.5", undefined],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity;q=0, deflate", undefined],
    ["gzip;q=2", undefined],
    ["gzip;q=-1", undefined],
    ["gzip;q=abc", undefined],
    ["gzip;q=", undefined],
    [", ,gzip,,", "gzip"],
    ["gzipped", undefined],
  ])("%s means %s", (header, coding) => {
    // Twice: what was chosen once is remembered.
    expect([chooseCoding(header), chooseCoding(header)]).toEqual([coding, coding]);
  });

  it("remembers only so many, and chooses as well after that", () => {
    for (let n = 0; n < 300; n += 1) expect(chooseCoding(`x${n}, gzip`)).toBe("gzip");
  });
});
