import { spawnSync } from "node:child_process";
import process from "node:process";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { completedCommands } from "../../../../src/cli/commands/completion.ts";
import { buildProgram } from "../../../../src/cli/program.ts";
import { completionScript, SHELLS } from "../../../../src/cli/view/completion-scripts.ts";

const { env, stdin, stdout, stderr } = process;
const { signal } = new AbortController();
const program = buildProgram({ env, stdin, stdout, stderr, signal });
const commands = completedCommands(program);

function namesOf(command: Command): string[] {
  return command.commands.flatMap((each) => [each.name(), ...namesOf(each)]);
}

/** What bash offers for the last of these words. */
function bashOffers(...words: string[]): string[] {
  const script = `${completionScript("bash", "voice", commands)}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _voice; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = spawnSync("bash", ["-c", script, "bash", ...words], { encoding: "utf8" });
  expect(run.stderr).toBe("");
  return run.stdout.split("\n").filter((word) => word !== "");
}

describe("cli completion", () => {
  it.each(SHELLS)("%s: has every command and every option of the program", (shell) => {
    const script = completionScript(shell, "voice", commands);
    const names = namesOf(program);
    expect(names.length).toBeGreaterThan(40);
    for (const name of names) expect(script).toContain(name);
    const flags = commands.flatMap(({ options }) => options.flatMap((option) => option.flags));
    expect(flags).toContain("--base-url");
    for (const flag of flags) expect(script).toContain(flag);
  });

  it("bash: offers commands, options and choices where they may stand", () => {
    expect(bashOffers("voice", "su")).toEqual(["summary"]);
    expect(bashOffers("voice", "device", "")).toEqual(
      expect.arrayContaining(["pair", "list", "unpair", "stream", "simulate"]),
    );
    expect(bashOffers("voice", "summary", "last", "--ty")).toEqual(["--type"]);
    expect(bashOffers("voice", "summary", "last", "--type", "d")).toEqual([
      ...["detailed", "decisions"],
    ]);
    expect(bashOffers("voice", "admin", "jobs", "--st")).toEqual(["--status"]);
    expect(bashOffers("voice", "completion", "")).toEqual([...SHELLS]);
  });

  it("bash: leaves files, and values that may be anything, to the shell", () => {
    expect(bashOffers("voice", "upload", "")).toEqual([]);
    expect(bashOffers("voice", "export", "last", "-o", "")).toEqual([]);
  });
});
