import { describe, expect, it } from "vitest";
import { databaseHosts } from "../../../src/base/database-address.ts";

describe("database address", () => {
  it.each([
    ["postgres://r:p@one/voice", ["postgres://r:p@one/voice"]],
    [
      "postgres://r:p%40@one:1,two:2/voice?sslmode=require",
      [
        "postgres://r:p%40@one:1/voice?sslmode=require",
        "postgres://r:p%40@two:2/voice?sslmode=require",
      ],
    ],
    ["postgresql://one,two:5433/v", ["postgresql://one:5433/v", "postgresql://two:5433/v"]],
    ["postgres://[::1]:1,[::2]:2/v", ["postgres://[::1]:1/v", "postgres://[::2]:2/v"]],
    ["postgres:///v?host=/run/postgresql", ["postgres:///v?host=/run/postgresql"]],
  ])("database address: %s", (address, hosts) => {
    expect(databaseHosts(address)).toEqual(hosts);
  });
});
