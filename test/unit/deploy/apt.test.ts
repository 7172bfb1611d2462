import { describe, expect, it } from "vitest";
import { fetcherOf, privateState } from "../../../deploy/setup/apt.mjs";

const AS_ROOT = "APT::Sandbox::User=root";

/** As whom apt fetches, and whether its options forbid a user of its own. */
async function fetching(uid: number | undefined, aptUser: number | undefined) {
  const fetcher = await fetcherOf(uid, async (name) => (name === "_apt" ? aptUser : undefined));
  return [fetcher, privateState("scratch", fetcher).includes(AS_ROOT)];
}

describe("packages of the system", () => {
  it("what the network sends is fetched by apt's own user, where root runs it", async () => {
    expect(await fetching(0, 42)).toEqual([42, false]);
  });

  it("root fetches it where there is no such user, and anybody else for themselves", async () => {
    expect(await fetching(0, undefined)).toEqual([undefined, true]);
    expect(await fetching(1_000, 42)).toEqual([undefined, true]);
    expect(await fetching(undefined, 42)).toEqual([undefined, true]);
  });
});
