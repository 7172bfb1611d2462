import { ChildTask } from "./child-task.ts";
import type { BroadcasterName } from "./fanout-broadcasters.ts";
import type { FanoutQuestion } from "./fanout-server.ts";
import type { ViewersQuestion } from "./fanout-viewers.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median } from "./statistics.ts";

/** Before the first figure, so that what a process needs once is not counted. */
const WARM = 1_000;
const MORE = 4_000;

/**
 * The young generation grows with the haste of connecting, not with the viewers who are there, and
 * then keeps its size: held at its smallest on both sides, it does not hide what each viewer holds.
 */
const SERVER_FLAGS = ["--expose-gc", "--max-semi-space-size=1"];

/** Memory of one more viewer that follows a session and gets nothing, against a bare `ws`. */
export async function measureIdleViewers(scale: BenchScale): Promise<BenchRow[]> {
  const figures = await interleave(Math.min(3, scale.rounds), {
    ours: () => bytesPerViewer("ours"),
    ws: () => bytesPerViewer("ws"),
  });
  const ratio = 1 / medianRatio(figures.ours, figures.ws);
  return [
    {
      figure: "memory of an idle viewer",
      unit: "bytes",
      ours: median(figures.ours),
      peer: { name: "ws", value: median(figures.ws) },
      ratio,
      mark: ">= 2x (half of it)",
      met: ratio >= 2,
      detail: `resident size of the process after a collection, ${MORE} more viewers; ours with rights, position and limits of each, without what the kernel keeps`,
    },
  ];
}

async function bytesPerViewer(name: BroadcasterName): Promise<number> {
  const server = new ChildTask("fanout-server.ts", [name], SERVER_FLAGS);
  const audience = new ChildTask("fanout-viewers.ts");
  try {
    const at = await server.ask<{ port: number; pacer: number }>(question({ kind: "start" }));
    const open = (viewers: number): ViewersQuestion => ({
      kind: "open",
      server: name,
      ...at,
      viewers,
    });
    await audience.ask(open(WARM));
    const before = await server.ask<number>(question({ kind: "memory" }));
    await audience.ask(open(WARM + MORE));
    const after = await server.ask<number>(question({ kind: "memory" }));
    return (after - before) / MORE;
  } finally {
    await audience.stop();
    await server.stop();
  }
}

function question(asked: FanoutQuestion): FanoutQuestion {
  return asked;
}
