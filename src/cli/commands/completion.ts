import { Argument, type Command, type Option } from "commander";
import type { CommandContext } from "../client/command-context.ts";
import { withExamples } from "../client/flags.ts";
import {
  type CompletedCommand,
  type CompletedOption,
  completionScript,
  SHELLS,
  type Shell,
} from "../view/completion-scripts.ts";

/** `voice completion`: a script for a shell, made from the commands as they are. */
export function addCompletion(program: Command, { stdout }: CommandContext): void {
  const command = program
    .command("completion")
    .description("a script that makes your shell complete commands and options")
    .addArgument(new Argument("<shell>").choices(SHELLS));
  withExamples(
    command,
    "voice completion bash > ~/.local/share/bash-completion/completions/voice",
    `voice completion zsh > "\${fpath[1]}/_voice"`,
  )
    .addHelpText(
      "after",
      "\nMake it again after an update; it completes the command of its version.",
    )
    .action((shell: Shell) => {
      stdout.write(completionScript(shell, program.name(), completedCommands(program)));
    });
}

/** The program and all commands below it, as completion sees them. */
export function completedCommands(command: Command, place = ""): CompletedCommand[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((each) => each.name() !== "help");
  const isDefault = below.find((each) => isDefaultOf(command, each));
  // What the default command of a group takes may stand right behind the group.
  const own = [command, ...(isDefault === undefined ? [] : [isDefault])];
  const options = new Map(
    own
      .flatMap((each) => help.visibleOptions(each))
      .map((option): [string, CompletedOption] => [option.flags, completedOption(option)]),
  );
  const here: CompletedCommand = {
    place,
    description: command.description(),
    options: [...options.values()],
    words: [
      ...below.map((each) => each.name()),
      ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    ],
  };
  return [here, ...below.flatMap((each) => completedCommands(each, `${place} ${each.name()}`))];
}

function isDefaultOf(group: Command, command: Command): boolean {
  return "_defaultCommandName" in group && group._defaultCommandName === command.name();
}

function completedOption({ short, long, description, required, optional, argChoices }: Option) {
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
