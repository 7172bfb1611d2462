import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AckPolicy, connect, DiscardPolicy, nanos, RetentionPolicy, StorageType } from "nats";
import { natsPart } from "../../../deploy/supervisor/nats-part.ts";
import { findFreePort } from "../../../deploy/supervisor/ports.ts";
import { findNatsServer } from "../native-packages.ts";
import { TestServer } from "../test-server.ts";

const STREAM = "VOICE_COMMANDS";

/** A command as that release published it. */
export interface OldCommand {
  id: string;
  sessionId: string;
  command: Record<string, unknown>;
  /** Where somebody waited for the answer. */
  replyTo?: string;
}

/**
 * Leaves these commands in a JetStream of the data folder, as src/bus/command-stream.ts of that
 * release kept them: in one stream of files, each until its events were durable, for an hour at most.
 */
export async function layDownCommands(
  data: string,
  token: string,
  commands: readonly OldCommand[],
): Promise<void> {
  const folder = join(data, "nats");
  const port = await findFreePort();
  const part = natsPart({
    program: findNatsServer(),
    port,
    token,
    folder,
    logFile: join(data, "logs/nats.log"),
    env: process.env,
  });
  const launch: typeof part.launch = () => {
    const launched = part.launch();
    const store = `\njetstream { store_dir: ${JSON.stringify(folder)} }\n`;
    writeFileSync(join(folder, "nats.conf"), store, { flag: "a" });
    return launched;
  };
  const server = new TestServer({ ...part, launch }, folder);
  await server.start();
  try {
    await publish(`nats://127.0.0.1:${port}`, token, commands);
  } finally {
    await server.kill9();
  }
}

async function publish(
  servers: string,
  token: string,
  commands: readonly OldCommand[],
): Promise<void> {
  const connection = await connect({ servers, token });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({
    name: STREAM,
    subjects: ["voice.commands.*"],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_bytes: 256 * 1024 * 1024,
    max_age: nanos(3_600_000),
  });
  await manager.consumers.add(STREAM, { durable_name: "p0", ack_policy: AckPolicy.Explicit });
  for (const command of commands) {
    const data = JSON.stringify({ v: 1, ...command });
    await connection.jetstream().publish("voice.commands.p0", data, { msgID: command.id });
  }
  await connection.close();
}
