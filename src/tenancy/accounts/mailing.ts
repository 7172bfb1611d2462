import { Background } from "../../base/background.ts";
import type { TenancyContext } from "../context.ts";
import type { Mail } from "./mail.ts";

/** Mail that goes out after its caller was answered. */
export interface Mailing {
  /** Undefined when this installation sends no mail. */
  mail: Mail | undefined;
  /** False where messages stay on the machine, as files, and reach nobody. */
  goesOut: boolean;
  background: Background;
}

export function createMailing(
  { log, stack, queues }: Pick<TenancyContext, "log" | "stack" | "queues">,
  mail: Mail | undefined,
  goesOut = mail !== undefined,
): Mailing {
  const background = new Background({ concurrency: 4, waiting: 200, timeoutMs: 30_000, log });
  queues.add(background);
  stack.push("mail under way", () => background.stop());
  return { mail, goesOut, background };
}
