import type { Command } from "commander";
import type { paths } from "../../client/gen/api-schema.ts";
import { type CommandContext, CommandFailure } from "../client/command-context.ts";
import { withConnectionFlags } from "../client/flags.ts";
import { type ConnectionOptions, openUserSession } from "../client/user-session.ts";

type Verdict =
  paths["/admin/audit/verify"]["get"]["responses"]["200"]["content"]["application/json"];

/** `voice audit verify`: lets the service recompute the audit log's hash chain. */
export function addAudit(program: Command, context: CommandContext): void {
  const audit = program.command("audit").description("look after the audit log (administrators)");
  const verify = audit
    .command("verify")
    .description("compute the hash chain of the audit log again")
    .option("--head <seq:hash>", "the head that an earlier run printed, kept elsewhere");
  withConnectionFlags(verify)
    .addHelpText(
      "after",
      "\nPrints the newest entry as its head. A log that was cut short since shows only when that head is given.\nExit code 1 when the log is not whole.",
    )
    .action((options: ConnectionOptions & { head?: string }) => verifyAudit(options, context));
}

async function verifyAudit(
  options: ConnectionOptions & { head?: string },
  { env, stdout, stderr }: CommandContext,
): Promise<void> {
  const user = await openUserSession(options, env);
  let entries = 0;
  let from: { from_seq?: number; from_hash?: string } = {};
  let verdict: Verdict;
  do {
    const query = { ...from, ...(options.head === undefined ? {} : { head: options.head }) };
    verdict = await user.call((client) => client.GET("/admin/audit/verify", { params: { query } }));
    if (!verdict.valid) {
      throw new CommandFailure(`the audit log is not whole: ${verdict.problem ?? "unknown"}`);
    }
    entries += verdict.entries;
    from = { from_seq: verdict.next?.seq, from_hash: verdict.next?.hash };
  } while (verdict.next !== undefined);
  const { head } = verdict;
  stdout.write(`The audit log is whole: ${entries} ${entries === 1 ? "entry" : "entries"}.\n`);
  if (head !== undefined) stdout.write(`Head: ${head.seq}:${head.hash}\n`);
  if (verdict.protected) return;
  stderr.write(
    "The service's own database role could change it: migrate with DATABASE_OWNER_URL as another role.\n",
  );
}
