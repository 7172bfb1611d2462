import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toWebhookEvents } from "../../src/session/webhook-event.ts";
import type { StoredEvent } from "./case.ts";

export interface Heard {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, string | number>>;
}

/** Every so many messages the first attempt is refused: it has to come again, under its id. */
const REFUSED_EVERY = 10;

/** Somebody else's endpoint, which is sometimes down. */
export class HookEar {
  readonly #server: Server;
  /** By `webhook-id`: the same message may come more than once. */
  readonly heard = new Map<string, Heard>();
  /** Messages that were refused at first. */
  refused = 0;
  readonly #seen = new Set<string>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const id = String(request.headers["webhook-id"]);
        const isFirst = !this.#seen.has(id);
        this.#seen.add(id);
        if (isFirst && this.#seen.size % REFUSED_EVERY === 0) {
          this.refused += 1;
          response.writeHead(503).end();
          return;
        }
        const message = JSON.parse(Buffer.concat(parts).toString("utf8")) as Omit<Heard, "id">;
        this.heard.set(id, { id, type: message.type, data: message.data });
        response.writeHead(204).end();
      });
    });
  }

  static async open(): Promise<HookEar> {
    const ear = new HookEar();
    await new Promise<void>((done) => ear.#server.listen(0, "127.0.0.1", done));
    return ear;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** These may come again: late audio can turn a failed session into a completed one. */
const MAY_REPEAT: ReadonlySet<string> = new Set(["session.completed", "session.failed"]);

/** Each event of the journal that means something to webhooks was told once, and nothing else. */
export function expectHooks(
  ear: HookEar,
  sessionId: string,
  events: readonly StoredEvent[],
  isDeleted: boolean,
): string[] {
  const told = [...ear.heard.values()].filter(({ data }) => data.session_id === sessionId);
  const found = counted(told.map(({ type, data }) => `${type} of ${data.seq}`));
  const problems: string[] = [];
  const causes: string[] = [];
  const all = events.flatMap(({ seq, payload }) =>
    toWebhookEvents(payload).map((wanted) => ({ seq, wanted })),
  );
  for (const { seq, wanted } of all) {
    causes.push(`${wanted.type} ${JSON.stringify(wanted.data)}`);
    const key = `${wanted.type} of ${seq}`;
    const times = found.get(key) ?? 0;
    found.delete(key);
    // What was still to be told when its session was deleted may be told no more.
    if (times !== 1 && !(isDeleted && times === 0)) problems.push(`${key}: told ${times} times`);
  }
  for (const [cause, times] of counted(causes)) {
    const mayRepeat = MAY_REPEAT.has(cause.split(" ")[0] ?? "");
    if (times > 1 && !mayRepeat) problems.push(`${cause} has happened ${times} times`);
  }
  const ends = [...found.keys()].filter((key) => key.startsWith("session.deleted "));
  if (isDeleted && ends.length !== 1) problems.push(`session.deleted: told ${ends.length} times`);
  for (const [key, times] of found) {
    const isItsEnd = isDeleted && ends.includes(key) && times === 1;
    if (!isItsEnd) problems.push(`${key}: told ${times} times without a cause`);
  }
  return problems.map((problem) => `webhook ${problem}`);
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
