import { beforeEach, describe, expect, it } from "vitest";
import type { Principal } from "../../../src/access/principal.ts";
import type { RevocationEvent } from "../../../src/access/revocations.ts";
import { type RightHolder, RightsWatch } from "../../../src/access/rights-watch.ts";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { settled } from "../../support/late/virtual-runtime.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { LocalRevocations } from "../../support/memory/local-revocations.ts";

const expiresAt = Number.POSITIVE_INFINITY;
const WHO = {
  user: { kind: "user", id: "u", role: "participant", tokenId: "t", expiresAt },
  other: { kind: "user", id: "o", role: "admin", tokenId: "t2", expiresAt },
  guest: {
    ...{ kind: "guest", id: "g", role: "guest", displayName: "", tokenId: "g", expiresAt },
    sessionId: "s",
  },
  device: { kind: "device", id: "d", keyId: "k", workspaceId: "w", ownerId: "u", expiresAt },
  service: {
    kind: "service",
    id: "v",
    secretId: "x",
    makerId: "m",
    workspaceId: "w",
    scopes: [],
    expiresAt,
  },
} as const satisfies Record<string, Principal>;

type Name = keyof typeof WHO;

class Holder implements RightHolder {
  readonly principal: Principal;
  rightUntil = Number.POSITIVE_INFINITY;
  readonly followed = new Set<string>();
  checks = 0;
  answer: Promise<boolean> = Promise.resolve(true);

  constructor(principal: Principal) {
    this.principal = principal;
  }

  follows(sessionId: string): boolean {
    return this.followed.has(sessionId);
  }

  recheck(): Promise<boolean> {
    this.checks += 1;
    return this.answer;
  }
}

describe("watch over rights", () => {
  const clock = new ManualClock();
  let revocations: LocalRevocations;
  let watch: RightsWatch<Holder>;
  let holders: Record<Name, Holder>;
  let user: Holder;

  beforeEach(() => {
    revocations = new LocalRevocations();
    const entries = Object.entries(WHO).map(([name, who]) => [name, new Holder(who)]);
    holders = Object.fromEntries(entries) as Record<Name, Holder>;
    ({ user } = holders);
    watch = new RightsWatch({ holders: () => Object.values(holders), revocations, clock });
    watch.start();
  });

  const checked = () =>
    Object.entries(holders).flatMap(([name, { checks }]) => Array(checks).fill(name));

  const CONCERNED: readonly [RevocationEvent, readonly Name[]][] = [
    [{ kind: "user", userId: "u" }, ["user", "device"]],
    [{ kind: "login", userId: "u", loginId: "t" }, ["user", "device"]],
    [{ kind: "workspace_member", workspaceId: "w", userId: "o" }, ["other"]],
    [{ kind: "session_member", sessionId: "s", userId: "o" }, ["other"]],
    [{ kind: "guest", guestId: "g" }, ["guest"]],
    [{ kind: "session", sessionId: "s" }, ["other", "guest"]],
    [{ kind: "device", deviceId: "d" }, ["device"]],
    [{ kind: "service_key", keyId: "v" }, ["service"]],
    [{ kind: "workspace", workspaceId: "w" }, ["device", "service"]],
    [{ kind: "unknown" }, ["user", "other", "guest", "device", "service"]],
    [{ kind: "user", userId: "nobody" }, []],
  ];

  it.each(CONCERNED)("%o concerns %j", async (event, names) => {
    holders.other.followed.add("s");
    revocations.publish(event);
    expect(checked()).toEqual(names);
    expect(watch.news).toBe(1);
  });

  it("nothing ended: nobody is checked, however much time goes by", () => {
    for (let second = 0; second < 100; second += 1) {
      clock.advance(1_000);
      watch.sweep();
    }
    expect(checked()).toEqual([]);
  });

  it("a right that ends with time is checked then, once at a time", async () => {
    user.rightUntil = clock.now() + 1_000;
    watch.sweep();
    expect(checked()).toEqual([]);
    clock.advance(1_000);
    const check: Deferred<boolean> = createDeferred();
    user.answer = check.promise;
    watch.sweep();
    watch.sweep();
    expect(checked()).toEqual(["user"]);
    user.rightUntil = clock.now() + 1_000;
    check.resolve(true);
    await settled();
    watch.sweep();
    expect(checked()).toEqual(["user"]);
  });

  it("without an answer a check is made again with each sweep until there is one", async () => {
    user.answer = Promise.resolve(false);
    revocations.publish({ kind: "user", userId: "u" });
    for (const checks of [2, 3]) {
      await settled();
      watch.sweep();
      expect(user.checks).toBe(checks);
    }
    user.answer = Promise.resolve(true);
    await settled();
    watch.sweep();
    await settled();
    watch.sweep();
    expect(user.checks).toBe(4);
  });

  it("what ends during a check is seen by another, after it", async () => {
    const check: Deferred<boolean> = createDeferred();
    user.answer = check.promise;
    for (const _ of [1, 2, 3]) revocations.publish({ kind: "user", userId: "u" });
    expect(user.checks).toBe(1);
    check.resolve(true);
    await settled();
    expect(user.checks).toBe(2);
  });

  it("stopped: hears nothing more", () => {
    watch.stop();
    revocations.publish({ kind: "unknown" });
    expect(checked()).toEqual([]);
  });
});
