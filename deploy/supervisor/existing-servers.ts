import { setTimeout as delay } from "node:timers/promises";
import { connect } from "nats";
import { databaseHosts } from "../../src/base/database-address.ts";
import { loginOptions, type NatsLogin } from "../../src/wire/nats-login.ts";
import { StepError } from "../setup/step-error.mjs";
import { errorCode } from "./error-code.ts";
import { withClient } from "./postgres/roles.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** Throws a StepError that says why the PostgreSQL of `DATABASE_URL` cannot be used. */
export async function checkDatabase(variable: string, url: string): Promise<void> {
  try {
    // Of several hosts one is enough: the others may be down, or follow.
    await Promise.any(
      databaseHosts(url).map((host) => withClient(host, (client) => client.query("select 1"))),
    ).catch((error: AggregateError) => {
      throw error.errors.at(0);
    });
  } catch (error) {
    throw new StepError(
      `the PostgreSQL that ${variable} names (${placeOf(url)}) does not let us in: ${errorCode(error)}`,
      `check ${variable}, or leave it out to use the embedded PostgreSQL`,
    );
  }
}

/** Throws a StepError unless the server of `NATS_URL` lets us in. */
export async function checkNats(url: string, login: NatsLogin): Promise<void> {
  try {
    await askNats(url, login);
  } catch (error) {
    throw new StepError(
      `the nats-server that NATS_URL names (${placeOf(url)}) does not let us in: ${errorCode(error)}`,
      "check NATS_URL with NATS_USER and NATS_PASSWORD or NATS_TOKEN, or leave them out to use our own nats-server",
    );
  }
}

/** One round trip on a connection of its own; rejects when there is no answer. */
export async function askNats(url: string, login: NatsLogin): Promise<void> {
  const connection = await connect({
    ...loginOptions(url, login),
    timeout: CONNECT_TIMEOUT_MS,
    reconnect: false,
  });
  try {
    const silence = delay(CONNECT_TIMEOUT_MS, undefined, { ref: false });
    await Promise.race([connection.flush(), silence.then(() => fail("TIMEOUT"))]);
  } finally {
    await connection.close();
  }
}

function fail(code: string): never {
  throw Object.assign(new Error("There was no answer in time."), { code });
}

/** Host and path of an address (or the first of several), without its password. */
function placeOf(urls: string): string {
  const [url = ""] = urls.split(",");
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "not a valid address";
  }
}
