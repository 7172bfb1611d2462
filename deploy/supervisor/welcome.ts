import { relative } from "node:path";
import type { Screen } from "../setup/screen.mjs";
import type { AdminLogin } from "./environment.ts";

/** Where it is, who may come in, and what to try next. */
export function printWelcome(
  screen: Screen,
  at: { baseUrl: string; grpc: string; admin: AdminLogin; data: string },
): void {
  const bold = (text: string) => screen.paint("1", text);
  const dim = (text: string) => screen.paint("2", text);
  const data = relative(process.cwd(), at.data);
  const shown = data === "" || data.startsWith("..") ? at.data : `./${data}`;
  const password =
    at.admin.password === undefined ? dim("with your own password") : bold(at.admin.password);
  const rows = [
    "",
    `  ${screen.paint("32", "Ready")}      ${bold(at.baseUrl)}`,
    `  Log in     ${bold(at.admin.email)}  ${password}`,
    `  Services   gRPC at ${at.grpc}`,
    `  Try next   npx voice login --base-url ${at.baseUrl} --email ${at.admin.email}`,
    "             npx voice device simulate deploy/demo/conversation.wav",
    `             curl -s ${at.baseUrl}/api/health`,
    dim(`  Data in ${shown}, logs in ${shown}/logs. Ctrl-C stops everything.`),
    "",
  ];
  for (const row of rows) screen.line(row);
}
