import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultProxy, hasBitten } from "../../support/fault-proxy.ts";
import { until } from "../../support/until.ts";

/** A client of the echo server that keeps what it hears. */
class Caller {
  readonly socket: Socket;
  heard = "";
  end: "open" | "closed" | "reset" = "open";

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1" });
    this.socket.on("data", (data) => {
      this.heard += data.toString();
    });
    this.socket.on("error", () => {
      this.end = "reset";
    });
    this.socket.on("close", () => {
      if (this.end === "open") this.end = "closed";
    });
  }

  async says(text: string): Promise<void> {
    const before = this.heard.length;
    this.socket.write(text);
    await until(() => this.heard.length === before + text.length, `an echo of ${text}`);
  }
}

describe("fault proxy", () => {
  let echo: Server;
  let proxy: FaultProxy;
  let arrived = "";
  const served = new Set<Socket>();
  const callers: Caller[] = [];

  beforeEach(async () => {
    arrived = "";
    echo = createServer((socket) => {
      served.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => served.delete(socket));
      socket.on("data", (data) => {
        arrived += data.toString();
        socket.write(data);
      });
    });
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    proxy = await FaultProxy.start("echo", (echo.address() as AddressInfo).port);
  });

  afterEach(async () => {
    for (const { socket } of callers.splice(0)) socket.destroy();
    for (const socket of served) socket.destroy();
    await proxy.stop();
    echo.close();
  });

  function call(): Caller {
    const caller = new Caller(proxy.port);
    callers.push(caller);
    return caller;
  }

  it("fault proxy: passes bytes and ends both ways without a fault", async () => {
    const caller = call();
    await caller.says("hello");
    caller.socket.end();
    await until(() => caller.end === "closed" && served.size === 0, "both ends to close");
    expect(proxy.connections).toBe(0);
    const other = call();
    await other.says("more");
    for (const socket of served) socket.destroy();
    await until(() => other.end === "closed", "the end to come through");
  });

  it("fault proxy: carries much more than a buffer holds, in order", async () => {
    const caller = call();
    const text = Array.from({ length: 300_000 }, (_, n) => n % 10).join("");
    for (let n = 0; n < 20; n += 1) await caller.says(text);
    expect(caller.heard).toBe(text.repeat(20));
  });

  it("fault proxy: a cut resets both ends", async () => {
    const caller = call();
    await caller.says("hello");
    const bite = await proxy.inflict({ kind: "cut", ms: 0 });
    expect(bite).toEqual({ connections: 1, bytes: 0 });
    await until(() => caller.end === "reset" && served.size === 0, "both ends to be reset");
    await call().says("again");
  });

  it("fault proxy: refusing resets and turns away, and counts who came", async () => {
    const first = call();
    await first.says("hello");
    const fault = proxy.inflict({ kind: "refuse", ms: 0 }, 10_000);
    await until(() => first.end === "reset", "the first to be reset");
    const second = call();
    expect(await fault).toEqual({ connections: 1, bytes: 0 });
    await until(() => second.end === "reset", "the second to be reset");
    await call().says("again");
  });

  it("fault proxy: a stall holds bytes of old and new connections back, and ends too", async () => {
    const caller = call();
    await caller.says("hello");
    const fault = proxy.inflict({ kind: "stall", ms: 60_000 });
    caller.socket.write("held");
    caller.socket.end();
    const late = call();
    late.socket.write("late");
    await until(() => late.socket.writable && proxy.connections === 2, "the second connection");
    await new Promise((wake) => setTimeout(wake, 100));
    expect([caller.heard, late.heard, arrived]).toEqual(["hello", "", "hello"]);
    proxy.heal();
    expect((await fault).bytes).toBe(8);
    await until(() => caller.heard === "helloheld" && late.heard === "late", "what was held");
    await until(() => caller.end === "closed", "the end that was held");
  });

  it("fault proxy: one direction can be dead while the other lives", async () => {
    const caller = call();
    await caller.says("hello");
    const fault = proxy.inflict({ kind: "one-way", ms: 60_000, direction: "down" });
    caller.socket.write("there");
    await until(() => arrived === "hellothere", "the bytes to arrive");
    await until(() => proxy.isFaulty && caller.heard === "hello", "no answer");
    proxy.heal();
    expect((await fault).bytes).toBe(5);
    await until(() => caller.heard === "hellothere", "the answer");
  });

  it("fault proxy: slow is slow, and whole", async () => {
    const caller = call();
    const text = "0123456789".repeat(100);
    const fault = proxy.inflict({ kind: "slow", ms: 60_000, bytesPerSecond: 5_000 });
    const startedAt = performance.now();
    await caller.says(text);
    expect(performance.now() - startedAt).toBeGreaterThan(150);
    expect(caller.heard).toBe(text);
    proxy.heal();
    expect((await fault).bytes).toBe(2_000);
  });

  it("fault proxy: half-open connections lead nowhere until they are reset; new ones work", async () => {
    const caller = call();
    await caller.says("hello");
    const fault = proxy.inflict({ kind: "half-open", ms: 60_000 });
    caller.socket.write("lost");
    await call().says("new");
    for (const socket of [...served].slice(0, 1)) socket.destroy();
    await new Promise((wake) => setTimeout(wake, 50));
    expect([caller.end, caller.heard]).toEqual(["open", "hello"]);
    proxy.heal();
    const bite = await fault;
    expect(bite).toEqual({ connections: 1, bytes: 4 });
    await until(() => caller.end === "reset", "the reset");
    expect(arrived).toBe("hellonew");
  });

  it("fault proxy: lasts until it has bitten, within bounds, and keeps the tally", async () => {
    const bite = await proxy.inflict({ kind: "stall", ms: 0 }, 50);
    expect(hasBitten("stall", bite)).toBe(false);
    const caller = call();
    await caller.says("hello");
    const fault = proxy.inflict({ kind: "stall", ms: 0 }, 10_000);
    caller.socket.write("held");
    expect(hasBitten("stall", await fault)).toBe(true);
    expect(proxy.told("stall")).toMatchObject({ times: 2, bytes: 4 });
    expect(proxy.told("cut").times).toBe(0);
  });
});
