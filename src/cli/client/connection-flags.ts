import type { Command } from "commander";
import { DEFAULT_BASE_URL } from "./user-session.ts";

/** Adds the flags that say which service and as whom. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option(
      "--base-url <url>",
      `address of the service, or VOICE_BASE_URL (default: the last login's, else ${DEFAULT_BASE_URL})`,
    )
    .option("--email <address>", "sign in as this user, or VOICE_EMAIL")
    .option("--password <text>", "with this password, or VOICE_PASSWORD (safer)")
    .option("--token <jwt>", "use this access token, or VOICE_TOKEN");
}
