import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DatabaseServers } from "../../../src/postgres/database-servers.ts";
import type { DriverSettings } from "../../../src/postgres/driver-client.ts";
import { toStoreError } from "../../../src/postgres/store-error.ts";

describe("database servers", () => {
  let silent: Server;
  let settings: DriverSettings;

  beforeEach(async () => {
    silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    settings = {
      driverConfiguration: {
        connectionTimeout: 50,
        connectionUri: "",
        idleInTransactionSessionTimeout: 1_000,
        statementTimeout: 1_000,
        typeParsers: [],
      },
    };
  });

  afterEach(() => {
    silent.close();
  });

  it("no answer in time: an outage, though the driver's error has no code", async () => {
    const { port } = silent.address() as AddressInfo;
    const servers = new DatabaseServers([`postgres://voice@127.0.0.1:${port}/voice`], settings);
    const failure = await servers.start().catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: "timeout expired" });
    expect(toStoreError(failure)).toMatchObject({ code: "unavailable" });
  });
});
