import { describe, expect, it } from "vitest";
import { networkOf } from "../../../src/wire/grpc-connections.ts";

describe("the network of a client", () => {
  it("is an IPv4 address itself, however it is written", () => {
    expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
    expect(networkOf("::ffff:192.0.2.7")).toBe("192.0.2.7");
  });

  it("is the /64 of an IPv6 address, whose other half its owner chooses at will", () => {
    const network = "2001:db8:1:2::/64";
    expect(networkOf("2001:db8:1:2:aaaa:bbbb:cccc:dddd")).toBe(network);
    expect(networkOf("2001:db8:1:2::1")).toBe(network);
    expect(networkOf("2001:db8:1:3::1")).not.toBe(network);
    expect(networkOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
  });
});
