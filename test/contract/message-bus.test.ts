import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { Bus } from "../../src/nats/bus.ts";
import { type MessageBus, NatsMessageBus } from "../../src/nats/message-bus.ts";
import { Broker } from "../sim/kernel/broker.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { Machine } from "../sim/kernel/machine.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { codeOf } from "../support/route-call.ts";
import { SeededRandom } from "../support/seeded-random.ts";

interface Stand {
  one: MessageBus;
  other: MessageBus;
  /** Lets what is under way come to its end. */
  pass(): Promise<void>;
  close(line: MessageBus): Promise<void>;
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
let lines: NatsMessageBus[];
let buses: Bus[];
beforeAll(async () => {
  nats = await startNats();
  const options = { servers: nats.url, token: nats.token };
  connections = [await connect(options), await connect(options)];
  lines = connections.map((connection) => new NatsMessageBus(connection));
  const named = { url: nats.url, token: nats.token, name: "contract", log: silentLog };
  buses = await Promise.all([1, 2].map(() => Bus.open(named, systemRuntime)));
});
afterAll(async () => {
  await Promise.all([...connections, ...buses].map((each) => each.close()));
  await nats.stop();
});
lineContract("nats", () => ({
  one: lines[0] as NatsMessageBus,
  other: lines[1] as NatsMessageBus,
  pass: () => new Promise((wake) => setTimeout(wake, 5)),
  close: (line) => connections[lines.indexOf(line as NatsMessageBus)]?.close() ?? Promise.resolve(),
}));

lineContract("bus", () => ({
  one: buses[0] as Bus,
  other: buses[1] as Bus,
  pass: () => new Promise((wake) => setTimeout(wake, 5)),
  close: (line) => (line as Bus).close(),
}));

describe("bus", () => {
  it("what is of the process itself needs no server, and comes once where there is one", async () => {
    const server = await startNats();
    const options = { url: server.url, token: server.token, name: "own", log: silentLog };
    const bus = await Bus.open(options, systemRuntime);
    try {
      const heard: string[] = [];
      bus.subscribe("voice.contract.own", () => {
        throw new Error("It fails.");
      });
      const stop = bus.subscribe("voice.contract.own", (data) => void heard.push(text(data)));
      bus.serve("voice.contract.own", async (data) => {
        heard.push(`served ${text(data)}`);
        return text(data) === "silence" ? undefined : bytes("answer");
      });
      const ask = (what: string) => bus.request("voice.contract.own", bytes(what), PATIENCE);
      bus.publish("voice.contract.own", bytes("a"));
      // As from elsewhere it comes later than what publishes goes on.
      expect(heard).toEqual([]);
      await bus.flush();
      expect(heard).toEqual(["a", "served a"]);
      expect(text(await ask("b"))).toBe("answer");
      await bus.flush();
      expect(heard).toEqual(["a", "served a", "served b"]);
      await server.kill9();
      bus.publish("voice.contract.own", bytes("c"));
      expect(text(await ask("d"))).toBe("answer");
      expect(heard.slice(3)).toEqual(["c", "served c", "served d"]);
      expect(await codeOf(ask("silence"))).toBe("timeout");
      bus.publish("voice.contract.own", bytes("e"));
      stop();
      await Promise.resolve();
      expect(heard.slice(7)).toEqual(["served e"]);
    } finally {
      await bus.close();
      await server.stop();
    }
    bus.publish("voice.contract.own", bytes("f"));
    expect(await codeOf(bus.request("voice.contract.own", bytes("g"), PATIENCE))).toBe(
      "unavailable",
    );
  });

  it("before a server is there: nobody can be asked; later everything is as if it had been", async () => {
    const server = await startNats();
    await server.kill9();
    const options = { url: server.url, token: server.token, name: "early", log: silentLog };
    const buses = await Promise.all([1, 2].map(() => Bus.open(options, systemRuntime)));
    const [one, other] = buses as [Bus, Bus];
    try {
      const heard: string[] = [];
      const backs: string[] = [];
      for (const bus of buses) bus.onBack(() => backs.push("back"));
      other.subscribe("voice.contract.early", (data) => void heard.push(text(data)));
      const stop = other.subscribe("voice.contract.early", () => void heard.push("stopped"));
      other.serve("voice.contract.early.served", async (data) => data);
      stop();
      one.publish("voice.contract.early", bytes("lost"));
      const ask = () => one.request("voice.contract.early.served", bytes("a"), PATIENCE);
      expect(await codeOf(ask())).toBe("unavailable");
      await expect(one.rtt()).rejects.toThrow(/not reached/);
      const flushed = Promise.all(buses.map((bus) => bus.flush()));
      await server.restart();
      await flushed;
      expect(backs).toEqual(["back", "back"]);
      expect(text(await ask())).toBe("a");
      one.publish("voice.contract.early", bytes("come"));
      await one.flush();
      await other.flush();
      expect(heard).toEqual(["come"]);
      expect(await one.rtt()).toBeGreaterThanOrEqual(0);
    } finally {
      await Promise.all(buses.map((bus) => bus.close()));
      await server.stop();
    }
    await expect(one.flush()).rejects.toThrow();
    expect(one.isClosed()).toBe(true);
  });

  it("a server that does not let it in, or a close before there was one, is no wait", async () => {
    const options = { url: nats.url, token: "wrong", name: "stranger", log: silentLog };
    await expect(Bus.open(options, systemRuntime)).rejects.toThrow(/authoriz/i);
    const early = { ...options, url: "nats://127.0.0.1:1" };
    const bus = await Bus.open(early, systemRuntime);
    const flushed = bus.flush();
    await bus.close();
    await expect(flushed).rejects.toThrow(/closed/);
  });
});

const kernel = new Kernel(new SeededRandom(1));
const broker = new Broker(kernel);
const simulated = ["one", "other"].map((name) => broker.connect(new Machine(name, kernel)));
lineContract("simulated", () => ({
  one: simulated[0] as MessageBus,
  other: simulated[1] as MessageBus,
  pass: () => kernel.run(kernel.now + 5),
  close: async (line) => simulated.find((each) => each === line)?.close(),
}));
