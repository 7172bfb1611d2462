import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOn } from "../../../src/base/listening.ts";

describe("listening", () => {
  let holder: Server;
  let other: Server;
  let taken: number;

  beforeEach(async () => {
    holder = createServer().listen(0, "127.0.0.1");
    other = createServer();
    await once(holder, "listening");
    taken = (holder.address() as AddressInfo).port;
  });

  afterEach(() => {
    holder.close();
    other.close();
  });

  function listen(port: number): Promise<number> {
    return new Promise((settle, refuse) => {
      other.once("error", refuse);
      other.listen(port, "127.0.0.1", () => settle((other.address() as AddressInfo).port));
    });
  }

  it("on the usual port: any free one when that is taken", async () => {
    const port = await listenOn("OPS_PORT", { port: taken, isDefault: true }, listen);
    expect(port).not.toBe(taken);
    expect(port).toBeGreaterThan(0);
  });

  it("on a chosen port: a taken one is an error that names the setting", async () => {
    await expect(listenOn("OPS_PORT", { port: taken, isDefault: false }, listen)).rejects.toThrow(
      `OPS_PORT ${taken} is taken`,
    );
  });
});
