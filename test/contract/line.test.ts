import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Line, NatsLine } from "../../src/nats/line.ts";
import { Broker } from "../sim/kernel/broker.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { Machine } from "../sim/kernel/machine.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { codeOf } from "../support/route-call.ts";
import { SeededRandom } from "../support/seeded-random.ts";

interface Stand {
  one: Line;
  other: Line;
  /** Lets what is under way come to its end. */
  pass(): Promise<void>;
  close(line: Line): Promise<void>;
}

const PATIENCE = 300;
let subjects = 0;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function text(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

/** What every line promises, between two processes. */
function lineContract(name: string, stand: () => Stand): void {
  /** Waits for it, while what is under way goes on. */
  async function come<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    while (!isOver) await stand().pass();
    return promise;
  }

  function subject(): string {
    subjects += 1;
    return `voice.contract.${name}.${subjects}`;
  }

  describe(`line, ${name}`, () => {
    it("line: what is published is heard by all who listen, until they stop", async () => {
      const { one, other } = stand();
      const [where, elsewhere] = [subject(), subject()];
      const heard: string[] = [];
      const stop = other.subscribe(where, (data) => void heard.push(`other ${text(data)}`));
      one.subscribe(where, (data) => void heard.push(`own ${text(data)}`));
      one.subscribe(elsewhere, () => void heard.push("elsewhere"));
      await come(Promise.all([one.flush(), other.flush()]));
      one.publish(where, bytes("a"));
      await come(one.flush());
      await come(other.flush());
      expect(heard.sort()).toEqual(["other a", "own a"]);
      stop();
      await come(other.flush());
      one.publish(where, bytes("b"));
      await come(one.flush());
      await come(other.flush());
      expect(heard.slice(2)).toEqual(["own b"]);
    });

    it("line: who serves a subject answers what is asked, and hears what is published", async () => {
      const { one, other } = stand();
      const where = subject();
      const asked: string[] = [];
      const stop = other.serve(where, async (data) => {
        asked.push(text(data));
        return bytes(`${text(data)}, and back`);
      });
      await come(other.flush());
      expect(text(await come(one.request(where, bytes("there"), PATIENCE)))).toBe(
        "there, and back",
      );
      one.publish(where, bytes("told"));
      await come(one.flush());
      await come(other.flush());
      expect(asked).toEqual(["there", "told"]);
      stop();
      await come(other.flush());
      expect(await come(codeOf(one.request(where, bytes("x"), PATIENCE)))).toBe("unavailable");
    });

    it("line: nobody there is another thing than nobody who answers", async () => {
      const { one, other } = stand();
      const where = subject();
      expect(await come(codeOf(one.request(where, bytes("x"), PATIENCE)))).toBe("unavailable");
      const asked: string[] = [];
      other.serve(where, async (data) => void asked.push(text(data)));
      await come(other.flush());
      expect(await come(codeOf(one.request(where, bytes("y"), PATIENCE)))).toBe("timeout");
      expect(asked).toEqual(["y"]);
    });

    it("line: one that is closed drops what is published, and refuses what is asked", async () => {
      const { one, other, close } = stand();
      const where = subject();
      const heard: string[] = [];
      one.subscribe(where, (data) => void heard.push(text(data)));
      one.serve(`${where}.served`, async (data) => data);
      await come(one.flush());
      await close(other);
      expect(other.isClosed()).toBe(true);
      other.publish(where, bytes("a"));
      expect(await come(codeOf(other.request(`${where}.served`, bytes("b"), PATIENCE)))).toBe(
        "unavailable",
      );
      await expect(come(other.flush())).rejects.toThrow();
      await come(one.flush());
      expect(heard).toEqual([]);
    });
  });
}

let nats: TestNats;
let connections: NatsConnection[];
let lines: NatsLine[];
beforeAll(async () => {
  nats = await startNats();
  const options = { servers: nats.url, token: nats.token };
  connections = [await connect(options), await connect(options)];
  lines = connections.map((connection) => new NatsLine(connection));
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await nats.stop();
});
lineContract("nats", () => ({
  one: lines[0] as NatsLine,
  other: lines[1] as NatsLine,
  pass: () => new Promise((wake) => setTimeout(wake, 5)),
  close: (line) => connections[lines.indexOf(line as NatsLine)]?.close() ?? Promise.resolve(),
}));

const kernel = new Kernel(new SeededRandom(1));
const broker = new Broker(kernel);
const simulated = ["one", "other"].map((name) => broker.connect(new Machine(name, kernel)));
lineContract("simulated", () => ({
  one: simulated[0] as Line,
  other: simulated[1] as Line,
  pass: () => kernel.run(kernel.now + 5),
  close: async (line) => simulated.find((each) => each === line)?.close(),
}));
