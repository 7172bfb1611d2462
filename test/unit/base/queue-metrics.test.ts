import { describe, expect, it } from "vitest";
import { BoundedQueue } from "../../../src/base/bounded-queue.ts";
import { QueueMetrics, renderQueues } from "../../../src/base/queue-metrics.ts";

describe("queue metrics", () => {
  it("queue metrics: every owner's queues by name, read when asked", () => {
    const metrics = new QueueMetrics();
    const queue = new BoundedQueue<number>(1);
    metrics.add({
      get queues() {
        return [{ queue: "b", length: queue.size, limit: queue.capacity, refused: queue.refused }];
      },
    });
    metrics.add({ queues: [{ queue: "a", length: 0, limit: 5, refused: 0 }] });
    expect(metrics.queues.map(({ queue: name }) => name)).toEqual(["a", "b"]);
    expect(queue.offer(1)).toBe(true);
    expect(queue.offer(2)).toBe(false);
    expect(metrics.queues[1]).toEqual({ queue: "b", length: 1, limit: 1, refused: 1 });
  });

  it("queue metrics: of owners that call theirs the same the fuller one counts", () => {
    const metrics = new QueueMetrics();
    metrics.add({ queues: [{ queue: "a", length: 9, limit: 100, refused: 1 }] });
    metrics.add({ queues: [{ queue: "a", length: 2, limit: 4, refused: 2 }] });
    expect(metrics.queues).toEqual([{ queue: "a", length: 2, limit: 4, refused: 3 }]);
  });

  it("queue metrics: as Prometheus reads them", () => {
    expect(renderQueues([{ queue: "a", length: 1, limit: 2, refused: 3 }])).toBe(
      [
        "# HELP voice_queue_length What waits, or is under way, in the fullest queue of the name",
        "# TYPE voice_queue_length gauge",
        'voice_queue_length{queue="a"} 1',
        "# HELP voice_queue_limit What a queue holds at most",
        "# TYPE voice_queue_limit gauge",
        'voice_queue_limit{queue="a"} 2',
        "# HELP voice_queue_refused_total How often a queue was full, since the start",
        "# TYPE voice_queue_refused_total counter",
        'voice_queue_refused_total{queue="a"} 3',
        "",
      ].join("\n"),
    );
  });
});
