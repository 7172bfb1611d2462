import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { PythonPackage } from "./python-package.ts";

const DRIVER = resolve(import.meta.dirname, "livekit-agent.py");

/** A line of `livekit-agent.py`. */
export interface ToldByAgent {
  readonly what:
    | "event"
    | "usage"
    | "flushed"
    | "pushed"
    | "names"
    | "closed"
    | "end"
    | "error"
    // Of an agent.
    | "state"
    | "transcribed"
    | "turn";
  readonly type?: string;
  readonly session?: string;
  readonly text?: string;
  readonly speaker?: string | null;
  readonly seconds?: number;
  readonly start?: number;
  readonly end?: number;
  readonly [member: string]: unknown;
}

/** What it is to do with the plugin, and with which options. */
export interface AgentOrder {
  readonly do: "stream" | "recognize" | "agent";
  readonly stt: Readonly<Record<string, unknown>>;
  readonly file: string;
  /** Seconds between two frames of 50 ms. */
  readonly pace: number;
  /** When its stream is closed before all is heard; `word`: when the promise of `runAgent` resolves. */
  readonly close?: "first words" | "first sound" | "word";
  readonly [member: string]: unknown;
}

/**
 * Runs the plugin in LiveKit's own package; returns all that was told. `onTold` may do something about it
 * meanwhile, and is waited for at the end. Throws when the program itself fails.
 */
export async function runAgent(
  python: PythonPackage,
  order: AgentOrder,
  onTold: (told: ToldByAgent) => Promise<void> | void = () => undefined,
  word: Promise<void> = Promise.resolve(),
): Promise<ToldByAgent[]> {
  const child = spawn(join(python.folder, "bin/python"), ["-B", DRIVER], {
    cwd: python.folder,
    env: { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const told: ToldByAgent[] = [];
  const reactions: Promise<void>[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (came: string) => {
    const lines = (rest + came).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const each = JSON.parse(line) as ToldByAgent;
      told.push(each);
      // What it throws is thrown at the end.
      const reaction = Promise.resolve(onTold(each));
      reaction.catch(() => undefined);
      reactions.push(reaction);
    }
  });
  child.stdin.write(`${JSON.stringify(order)}\n`);
  void word.then(() => child.stdin.end("\n"));
  const [failed, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(failed);
  await Promise.all(reactions);
  return told;
}

export const eventsOf = (told: readonly ToldByAgent[]) =>
  told.filter(({ what }) => what === "event");
export const ofType = (told: readonly ToldByAgent[], type: string) =>
  eventsOf(told).filter((each) => each.type === type);
