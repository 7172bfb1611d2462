/** Figures of one kind of queue in a process; for several of a kind, those of the fullest. */
export interface QueueFigures {
  queue: string;
  length: number;
  /** The queue's capacity. */
  limit: number;
  /** Number of items refused since the start because the queue was full. */
  refused: number;
}

/** A part that has queues, slots or buffers. */
export interface QueueOwner {
  readonly queues: readonly QueueFigures[];
}

/** All queues of a process, so that operators see them fill up before they refuse. */
export class QueueMetrics implements QueueOwner {
  readonly #owners: QueueOwner[] = [];

  add(owner: QueueOwner): void {
    this.#owners.push(owner);
  }

  /** Figures by name; queues of the same name are combined, with the longest length. */
  get queues(): readonly QueueFigures[] {
    const known = new Map<string, QueueFigures>();
    for (const figures of this.#owners.flatMap((owner) => owner.queues)) {
      const other = known.get(figures.queue);
      known.set(figures.queue, other === undefined ? figures : merge(other, figures));
    }
    return [...known.values()].sort((a, b) => (a.queue < b.queue ? -1 : 1));
  }
}

function merge(one: QueueFigures, other: QueueFigures): QueueFigures {
  const fuller = one.length / one.limit >= other.length / other.limit ? one : other;
  return { ...fuller, refused: one.refused + other.refused };
}

/** The greatest of the lengths; 0 without any. */
export function longest(lengths: Iterable<number>): number {
  let most = 0;
  for (const length of lengths) most = Math.max(most, length);
  return most;
}

const FAMILIES = [
  ["voice_queue_length", "gauge", "What waits, or is under way, in the fullest queue of the name"],
  ["voice_queue_limit", "gauge", "What a queue holds at most"],
  ["voice_queue_refused_total", "counter", "How often a queue was full, since the start"],
] as const;

/** Figures in the text format of Prometheus. Queue names need no escaping. */
export function renderQueues(queues: readonly QueueFigures[]): string {
  const lines = FAMILIES.flatMap(([name, type, help], column) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...queues.map(({ queue, length, limit, refused }) => {
      return `${name}{queue="${queue}"} ${[length, limit, refused][column]}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}
