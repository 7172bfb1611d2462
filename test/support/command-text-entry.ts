import { TEXT_COMMANDS, type TextCommand } from "./text-commands.ts";

/** A thread for text that a test can block or end. */
new BroadcastChannel(TEXT_COMMANDS).onmessage = ({ data }) => {
  const command = data as TextCommand;
  if (command === "end") process.exit(1);
  Atomics.store(command.blockUntil, 1, 1);
  Atomics.wait(command.blockUntil, 0, 0);
};

await import("../../workers/threads/text-thread-entry.ts");
