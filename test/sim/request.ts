import { AppError } from "../../src/base/errors.ts";
import type { SimHost } from "./host.ts";
import type { Kernel } from "./kernel/kernel.ts";

/** Between those who ask and the fronts. */
export interface Network {
  readonly kernel: Kernel;
  readonly hosts: readonly SimHost[];
  /** Share of requests, and of answers, that it loses. */
  readonly requestLoss: number;
}

/** A request to some front, over a network: lost on the way there or back now and then. */
export function request<T>(
  network: Network,
  ms: number,
  act: (host: SimHost) => Promise<T>,
): Promise<T> {
  const { kernel } = network;
  return new Promise((resolve, reject) => {
    const timer = kernel.plan(ms, () => reject(new AppError("timeout", "No answer came.")));
    const up = network.hosts.filter(({ isUp }) => isUp);
    const away = (): void => {
      timer.cancel();
      reject(new AppError("unavailable", "Nobody is there."));
    };
    if (up.length === 0) {
      kernel.plan(5, away);
      return;
    }
    const host = kernel.random.pick(up);
    const way = () => 1 + kernel.random.next() * 20;
    const isLost = () => network.requestLoss > 0 && kernel.random.chance(network.requestLoss);
    if (isLost()) return;
    kernel.plan(way(), () => {
      if (host.machine.isDead) return away();
      host.machine.enter(() => {
        const answer = (settle: () => void): void => {
          if (isLost()) return;
          kernel.plan(way(), () => {
            timer.cancel();
            settle();
          });
        };
        act(host).then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(error)),
        );
      });
    });
  });
}
