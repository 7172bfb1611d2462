import { describe, expect, it } from "vitest";
import { RestartDelay } from "../../../deploy/supervisor/restart-delay.ts";

describe("restart delay", () => {
  it("delay: doubles from 0.2 s and stays at 10 s", () => {
    const delay = new RestartDelay(() => 0);
    const delays = Array.from({ length: 8 }, () => delay.next());
    expect(delays).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
  });

  it("delay: starts anew only after a healthy minute", () => {
    let now = 0;
    const delay = new RestartDelay(() => now);
    delay.next();
    delay.healthy();
    now = 59_999;
    expect(delay.next()).toBe(400);
    delay.healthy();
    now += 60_000;
    expect(delay.next()).toBe(200);
  });
});
