import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { reasonOf } from "../client/errors.ts";
import type { CommandContext } from "./client/command-context.ts";
import { EXIT, EXIT_HELP, exitCodeOf } from "./client/exit-codes.ts";
import { addAdmin } from "./commands/admin/admin.ts";
import { addApiKeys } from "./commands/api-keys.ts";
import { addAsk } from "./commands/ask.ts";
import { addAudit } from "./commands/audit.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDemo } from "./commands/demo.ts";
import { addPairing } from "./commands/device-pairing.ts";
import { addSimulate } from "./commands/device-simulate.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExport } from "./commands/export.ts";
import { addInvitations } from "./commands/invitations.ts";
import { addKeys } from "./commands/keys.ts";
import { addLogin } from "./commands/login.ts";
import { addMcp } from "./commands/mcp.ts";
import { addModels } from "./commands/models.ts";
import { addOutbox } from "./commands/outbox.ts";
import { addRedo } from "./commands/redo.ts";
import { addSearch } from "./commands/search.ts";
import { addSessions } from "./commands/sessions.ts";
import { addSpeakers } from "./commands/speakers.ts";
import { addStream } from "./commands/stream.ts";
import { addSummary } from "./commands/summary.ts";
import { addTail } from "./commands/tail.ts";
import { addTop } from "./commands/top.ts";
import { addUpload } from "./commands/upload.ts";
import { addWebhooks } from "./commands/webhooks.ts";
import { addWorkspaces } from "./commands/workspaces.ts";

/** Builds the `voice` command. Parse errors are thrown instead of ending the process. */
export function buildProgram(context: CommandContext): Command {
  const program = new Command("voice")
    .version(projectVersion())
    .description("Live, speaker-labelled transcripts from the command line.")
    .addHelpText("after", EXIT_HELP)
    .showHelpAfterError("(--help shows what is possible)")
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    })
    .exitOverride();
  addLogin(program, context);
  addUpload(program, context);
  addDevice(program, context);
  addTail(program, context);
  addSessions(program, context);
  addAsk(program, context);
  addSummary(program, context);
  addExport(program, context);
  addSearch(program, context);
  addMcp(program, context);
  addSpeakers(program, context);
  addRedo(program, context);
  addDemo(program, context);
  addTop(program, context);
  addInvitations(program, context);
  addApiKeys(program, context);
  addWebhooks(program, context);
  addWorkspaces(program, context);
  addOutbox(program, context);
  addAudit(program, context);
  addDoctor(program, context);
  addKeys(program, context);
  addModels(program, context);
  addAdmin(program, context);
  addCompletion(program, context);
  return program;
}

function projectVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  return version;
}

/** `voice device`: pairs hardware, and makes this machine a device. */
function addDevice(program: Command, context: CommandContext): void {
  const device = program
    .command("device")
    .description("devices: those of hardware, and this machine as one");
  addPairing(device, context);
  addStream(device, context);
  addSimulate(device, context);
}

/**
 * Runs `voice` with `args`, without the program's name, to its end, and says on standard error why it
 * failed. Resolves with the exit code; `endOfInterrupt` gives that of a command that was interrupted.
 */
export async function runCommand(
  args: readonly string[],
  context: CommandContext,
  endOfInterrupt: () => number = () => EXIT.interrupted,
): Promise<number> {
  try {
    await buildProgram(context).parseAsync([...args], { from: "user" });
    return context.signal.aborted ? endOfInterrupt() : EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (context.signal.aborted) return endOfInterrupt();
    context.stderr.write(`voice: ${reasonOf(error)}\n`);
    return exitCodeOf(error);
  }
}
