import { afterEach, describe, expect, it, vi } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { erasureEffects } from "../../../src/roles/erasure.ts";
import { codeOf } from "../../support/route-call.ts";

type Shared = Parameters<typeof erasureEffects>[0];

/** Of a process whose disk does with a deletion what the test says. */
function effects(remove: () => Promise<number>, admit = () => {}) {
  const parts = { blobs: { delete: remove }, audioWatch: { admit } };
  return erasureEffects(parts as unknown as Shared);
}

describe("erasing sound", () => {
  afterEach(() => vi.useRealTimers());

  it("erasing sound: a disk that hangs is waited for half a minute, and what was waiting goes on", async () => {
    vi.useFakeTimers();
    const erased = codeOf(effects(() => new Promise(() => {})).eraseAudio("session"));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(await Promise.race([erased, Promise.resolve("waits")])).toBe("waits");
    await vi.advanceTimersByTimeAsync(1);
    expect(await erased).toBe("timeout");
  });

  it("erasing sound: while the disk is known to hang nothing is begun", async () => {
    const remove = vi.fn(async () => 1);
    const hanging = effects(remove, () => {
      throw new AppError("unavailable", "It hangs.");
    });
    expect(await codeOf(hanging.eraseAudio("session"))).toBe("unavailable");
    expect(remove).not.toHaveBeenCalled();
  });
});
