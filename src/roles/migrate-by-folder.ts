/**
 * Entry point of a restore: makes the tables of the release that made a backup, whose migrations lie in
 * the folder that is the argument. Silent, or one sentence on standard error.
 */
import { pathToFileURL } from "node:url";
import { errorMessage } from "../base/errors.ts";
import { SettingsReader } from "../base/settings.ts";
import { migrate } from "../postgres/migrate.ts";

try {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("Which folder?");
  const settings = new SettingsReader(process.env);
  await migrate(settings.get("DATABASE_OWNER_URL") ?? "", {
    folder: pathToFileURL(`${folder}/`),
    serviceRole: settings.get("SERVICE_ROLE"),
  });
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
}
