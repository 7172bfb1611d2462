import type { Command } from "commander";
import type { CommandContext } from "../client/command-context.ts";
import { addPairing } from "./device-pairing.ts";
import { addSimulate } from "./device-simulate.ts";
import { addStream } from "./stream.ts";

/** `voice device`: pairs hardware, and makes this machine a device. */
export function addDevice(program: Command, context: CommandContext): void {
  const device = program
    .command("device")
    .description("devices: those of hardware, and this machine as one");
  addPairing(device, context);
  addStream(device, context);
  addSimulate(device, context);
}
