import { describe, expect, it } from "vitest";
import { networkOf } from "../../../src/wire/network.ts";

const same = (one: string, other: string) => networkOf(one).network === networkOf(other).network;

describe("network of an address", () => {
  it("is the address itself for IPv4, however it is written", () => {
    expect(networkOf("192.0.2.7")).toEqual({ network: "192.0.2.7", site: undefined });
    expect(networkOf("::ffff:192.0.2.7")).toEqual(networkOf("192.0.2.7"));
    expect(networkOf("0000:0000:0000:0000:0000:ffff:c000:0207")).toEqual(networkOf("192.0.2.7"));
    expect(same("192.0.2.7", "192.0.2.8")).toBe(false);
  });

  it("is the /64 for IPv6, and its site the /48", () => {
    expect(networkOf("2001:db8:1:2:3:4:5:6")).toEqual({
      network: "2001:db8:1:2::/64",
      site: "2001:db8:1::/48",
    });
    expect(same("2001:db8:1:2::1", "2001:0DB8:0001:0002:ffff::9")).toBe(true);
    expect(same("2001:db8:1:2::1", "2001:db8:1:3::1")).toBe(false);
    expect(networkOf("fe80::1%eth0").network).toBe("fe80:0:0:0::/64");
    expect(networkOf("::1").network).toBe("0:0:0:0::/64");
    expect(networkOf("2001:db8:1:3::1").site).toBe(networkOf("2001:db8:1:2::1").site);
  });

  it("is the text itself for what is no address", () => {
    expect(networkOf("unknown")).toEqual({ network: "unknown", site: undefined });
    expect(networkOf("a:b")).toEqual({ network: "a:b", site: undefined });
  });
});
