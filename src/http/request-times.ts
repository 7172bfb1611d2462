import type { FrontObserver } from "./server/front-observer.ts";

type Served = Parameters<FrontObserver["served"]>[0];

const NAME = "voice_http_request_seconds";
const HELP = "Requests by route and status, and how long they took";
/** Upper ends of the buckets, seconds. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Requests of one method, route and status. */
class Series {
  /** By bucket, each with those below it left out; the last is beyond all ends. */
  readonly counts = new Float64Array(SECONDS.length + 1);
  sum = 0;

  add(seconds: number): void {
    let at = 0;
    while (seconds > (SECONDS[at] ?? Number.POSITIVE_INFINITY)) at += 1;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += seconds;
  }

  lines(labels: string): string[] {
    let count = 0;
    const buckets = Array.from(this.counts, (some, at) => {
      count += some;
      return `${NAME}_bucket{le="${SECONDS[at] ?? "+Inf"}",${labels}} ${count}`;
    });
    return [...buckets, `${NAME}_sum{${labels}} ${this.sum}`, `${NAME}_count{${labels}} ${count}`];
  }
}

/**
 * How long requests took, as a histogram. Each request is counted: by looks into maps rather than
 * by a text of its labels, which costs as much as all else that a small answer needs.
 */
export class RequestTimes {
  readonly #routes = new Map<string, Map<string, Map<number, Series>>>();

  /** Labels are the paths of the routes and status codes, so their number is bounded. */
  add({ method, route, status, seconds }: Served): void {
    const methods = getOrMake(this.#routes, route, () => new Map<string, Map<number, Series>>());
    const statuses = getOrMake(methods, known(method), () => new Map<number, Series>());
    getOrMake(statuses, status, () => new Series()).add(seconds);
  }

  /** In the text format of Prometheus. Labels are ours: nothing in them needs escaping. */
  text(): string {
    const lines = [`# HELP ${NAME} ${HELP}`, `# TYPE ${NAME} histogram`];
    for (const [route, methods] of this.#routes) {
      for (const [method, statuses] of methods) {
        for (const [status, series] of statuses) {
          lines.push(...series.lines(`method="${method}",route="${route}",status="${status}"`));
        }
      }
    }
    return `${lines.join("\n")}\n`;
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** A caller may invent methods: they make no series of their own. */
function known(method: string): string {
  return METHODS.has(method) ? method : "other";
}
