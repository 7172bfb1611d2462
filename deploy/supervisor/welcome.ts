import { relative } from "node:path";
import type { Screen } from "../setup/screen.mjs";
import type { ToldLogin } from "./environment.ts";

/** Where it is, who may come in, and what to try next. */
export function printWelcome(
  screen: Screen,
  at: { baseUrl: string; grpc: string; admin: ToldLogin; data: string },
): void {
  const bold = (text: string) => screen.paint("1", text);
  const dim = (text: string) => screen.paint("2", text);
  const data = relative(process.cwd(), at.data);
  const shown = data === "" || data.startsWith("..") ? at.data : `./${data}`;
  const { login, sentence, isKnown } = at.admin;
  const password = login.password === undefined ? dim(sentence ?? "") : bold(login.password);
  const rows = [
    "",
    `  ${screen.paint("32", "Ready")}      ${bold(at.baseUrl)}`,
    `  Log in     ${isKnown ? `${bold(login.email)}  ` : ""}${password}`,
    `  Services   gRPC at ${at.grpc}`,
    `  Try next   npx voice login --base-url ${at.baseUrl}${isKnown ? ` --email ${login.email}` : ""}`,
    "             npx voice device simulate deploy/demo/conversation.wav",
    `             curl -s ${at.baseUrl}/api/health`,
    dim(`  Data in ${shown}, logs in ${shown}/logs. Ctrl-C stops everything.`),
    "",
  ];
  for (const row of rows) screen.line(row);
}
