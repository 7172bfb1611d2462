import { describe, expect, it } from "vitest";
import { AddressGuard } from "../../../../src/tenancy/webhooks/address-guard.ts";

const PRIVATE = [
  "10.1.2.3",
  "172.16.0.1",
  "192.168.1.1",
  "127.0.0.1",
  "100.64.0.1",
  "[::1]",
  "[fd12::1]",
  "[::ffff:10.0.0.1]",
  // Other spellings of loopback.
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
];
const NEVER = [
  "0.0.0.0",
  "169.254.169.254",
  "224.0.0.1",
  "255.255.255.255",
  "198.18.0.1",
  "192.0.2.1",
  "240.0.0.1",
  "[::]",
  "[fe80::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "[64:ff9b::a00:1]",
  "[2002:a00:1::]",
  "[::ffff:169.254.169.254]",
  // An IPv4 address in the last 32 bits: some systems route it.
  "[::7f00:1]",
  "[::8.8.8.8]",
  // Of no registry: outside of 2000::/3 nothing is public.
  "[100:0:0:1::1]",
  "[4000::1]",
  "[5f00::1]",
  "[8000::1]",
];

function guard(allowPrivate: boolean, ...answers: string[]): AddressGuard {
  const resolve = async () =>
    answers.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return new AddressGuard({ allowPrivate, resolve });
}

describe("address guard", () => {
  it.each([...PRIVATE, ...NEVER])("public only: refuses %s", async (host) => {
    expect(await guard(false).refusal(`https://${host}/hook`)).toMatch(/address/);
  });

  it.each(PRIVATE)("private allowed: lets %s through, over http too", async (host) => {
    expect(await guard(true).refusal(`http://${host}:8080/hook`)).toBeUndefined();
  });

  it.each(NEVER)("private allowed: still refuses %s", async (host) => {
    expect(await guard(true).refusal(`http://${host}/hook`)).toMatch(/address/);
  });

  it("a name is refused when any of its addresses is", async () => {
    const url = "https://hook.example/";
    expect(await guard(false, "8.8.8.8", "2606:4700::1111").refusal(url)).toBeUndefined();
    expect(await guard(false, "8.8.8.8", "10.0.0.1").refusal(url)).toMatch(/address/);
    expect(await guard(false, "fe80::1").refusal(url)).toMatch(/address/);
    expect(await guard(false).refusal(url)).toMatch(/without an address/);
  });

  it("takes https only, without credentials", async () => {
    const public_ = guard(false, "8.8.8.8");
    for (const url of [
      "http://hook.example/",
      "ftp://hook.example/",
      "file:///etc/passwd",
      "https://user:secret@hook.example/",
      "hook.example",
      "",
    ]) {
      expect(await public_.refusal(url), url).toMatch(/^`url` /);
    }
  });

  it("an unknown name is refused, a resolver that is away is not held against the URL", async () => {
    const failing = (code: string) =>
      new AddressGuard({
        allowPrivate: false,
        resolve: () => Promise.reject(Object.assign(new Error("no"), { code })),
      });
    expect(await failing("ENOTFOUND").refusal("https://hook.example/")).toMatch(/not exist/);
    expect(await failing("EAI_AGAIN").refusal("https://hook.example/")).toBeUndefined();
  });
});
