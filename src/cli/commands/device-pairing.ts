import { type Command, Option } from "commander";
import type { operations } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure, writeJson } from "../client/command-context.ts";
import { isSure } from "../client/confirm.ts";
import {
  chooseWorkspace,
  describeChoice,
  withConnectionFlags,
  withExamples,
} from "../client/flags.ts";
import { readPages } from "../client/pages.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";
import { DeviceShelf } from "../device/device-shelf.ts";
import { localMinute, tableText } from "../view/table.ts";
import { printable } from "../view/transcript-line.ts";

type Device = operations["getDevice"]["responses"]["200"]["content"]["application/json"];
type Options = ConnectionOptions & { json?: boolean };

interface PairOptions extends Options {
  readonly workspace?: string;
  readonly name?: string;
}

interface ListOptions extends Options {
  readonly workspace?: string;
  readonly status: Device["status"];
}

/** `voice device pair | list | unpair`. */
export function addPairing(device: Command, context: CommandContext): void {
  const pairing = device
    .command("pair")
    .description("pair the device that shows this code")
    .argument("<code>", "as it shows it, such as BCDF-GHJK")
    .option("--workspace <id>", "workspace to join (default: your oldest)")
    .option("--name <text>", "what to call it (default: what it calls itself)")
    .option("--json", "the device as JSON");
  withExamples(
    withConnectionFlags(pairing),
    "voice device pair BCDF-GHJK --name 'Meeting room'",
  ).action((code: string, options: PairOptions) => pair(code, options, context));
  const list = device
    .command("list")
    .description("your devices, and those of workspaces that you manage")
    .option("--workspace <id>", "of this workspace")
    .addOption(
      new Option("--status <status>", "in this state")
        .choices(["pairing", "paired", "revoked"])
        .default("paired"),
    )
    .option("--json", "one JSON object per line");
  withConnectionFlags(list).action((options: ListOptions) => listDevices(options, context));
  const unpairing = device
    .command("unpair")
    .description("end its right to record; it can be paired again")
    .argument("<id>", "as `voice device list` shows it")
    .option("--yes", "without asking")
    .option("--json", "the answer as JSON");
  withConnectionFlags(unpairing).action((id: string, options: Options & { yes?: boolean }) =>
    unpairDevice(id, options, context),
  );
}

async function pair(
  code: string,
  options: PairOptions,
  { env, stdout }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  const workspace = await chooseWorkspace(user, options.workspace, "My devices");
  const body = { code, workspace_id: workspace.id, name: options.name };
  const device = await user.call((client) => client.POST("/devices/pair", { body }));
  if (options.json) return writeJson(stdout, device);
  const name = printable(device.name);
  stdout.write(`"${name}" is paired with ${printable(describeChoice(workspace))}: ${device.id}\n`);
}

async function listDevices(options: ListOptions, { env, stdout }: CommandContext): Promise<void> {
  const user = await openUserSession(options, env);
  const { workspace: workspace_id, status } = options;
  const { items } = await readPages((page) => {
    const params = { query: { ...page, workspace_id, status } };
    return user.call((client) => client.GET("/devices", { params }));
  });
  if (options.json) {
    for (const item of items) writeJson(stdout, item);
  } else if (items.length === 0) {
    stdout.write("No device. `voice device pair CODE` takes the code that one shows.\n");
  } else {
    const head = ["DEVICE", "PRESENCE", "BATTERY", "LAST SEEN", "NAME"];
    stdout.write(tableText(head, items.map(cellsOf), stdout));
  }
}

function cellsOf({ id, presence, suspended, telemetry, last_seen_at, name }: Device): string[] {
  const battery = telemetry.battery_percent;
  return [
    id,
    suspended ? "suspended" : presence,
    typeof battery === "number" ? `${Math.round(battery)} %` : "",
    localMinute(last_seen_at),
    printable(name),
  ];
}

async function unpairDevice(
  id: string,
  options: Options & { yes?: boolean },
  context: CommandContext,
): Promise<void> {
  const { env, stdout } = context;
  const user = await openUserSession(options, env);
  const params = { path: { device_id: id } };
  if (!options.yes) {
    const device = await user.call((client) => client.GET("/devices/{device_id}", { params }));
    const sure = await isSure(`Unpair "${printable(device.name)}"?`, "unpair", context);
    if (!sure) throw new CommandFailure("nothing was unpaired");
  }
  const answer = await user.call((client) => client.DELETE("/devices/{device_id}", { params }));
  new DeviceShelf(env).forget(id);
  if (options.json) return writeJson(stdout, answer);
  stdout.write(`${answer.message}\n`);
}
