/** An option as completion sees it. */
export interface CompletedOption {
  /** As typed, such as `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A command with its place: "" for the program, ` device pair` for a command below it. */
export interface CompletedCommand {
  readonly place: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** What may stand right behind it: names of commands, or choices of its argument. */
  readonly words: readonly string[];
}

export const SHELLS = ["bash", "zsh"] as const;
export type Shell = (typeof SHELLS)[number];

/** A script that makes a shell complete the program's commands, options and choices. */
export function completionScript(
  shell: Shell,
  program: string,
  commands: readonly CompletedCommand[],
): string {
  const rows = { bash, zsh }[shell](program, commands);
  return `${rows.join("\n")}\n`;
}

function bash(program: string, commands: readonly CompletedCommand[]): string[] {
  const listOf = (words: readonly string[]) => quoted(words.join(" "));
  return [
    `# bash completion of ${program}`,
    `_${program}() {`,
    '  local at="" words="" value="" i',
    `  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}"`,
    "  COMPREPLY=()",
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    `    case "$at \${COMP_WORDS[i]}" in`,
    `      ${placesOf(commands).map(quoted).join(" | ")}) at="$at \${COMP_WORDS[i]}" ;;`,
    "    esac",
    "  done",
    '  case "$at:$prev" in',
    ...valuesOf(commands).map(
      ([key, choices]) => `    ${quoted(key)}) words=${listOf(choices)}; value=1 ;;`,
    ),
    "  esac",
    '  if [[ -z "$value" && "$cur" == -* ]]; then',
    '    case "$at" in',
    ...commands.map(
      ({ place, options }) =>
        `      ${quoted(place)}) words=${listOf(options.flatMap(({ flags }) => flags))} ;;`,
    ),
    "    esac",
    '  elif [[ -z "$value" ]]; then',
    '    case "$at" in',
    ...groupsOf(commands).map(
      ({ place, words }) => `      ${quoted(place)}) words=${listOf(words)} ;;`,
    ),
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    "}",
    "# Where nothing is offered, file names are.",
    `complete -o default -F _${program} ${program}`,
  ];
}

function zsh(program: string, commands: readonly CompletedCommand[]): string[] {
  const described = (name: string, text: string) =>
    quoted(`${name.replaceAll(":", "\\:")}:${oneLine(text)}`);
  return [
    `#compdef ${program}`,
    `# zsh completion of ${program}`,
    `_${program}() {`,
    "  local at='' i",
    "  local -a found",
    "  for ((i = 2; i < CURRENT; i++)); do",
    `    case "$at \${words[i]}" in`,
    `      ${placesOf(commands).map(quoted).join(" | ")}) at="$at \${words[i]}" ;;`,
    "    esac",
    "  done",
    `  case "$at:\${words[CURRENT-1]}" in`,
    ...valuesOf(commands).map(([key, choices]) =>
      choices.length > 0
        ? `    ${quoted(key)}) found=(${choices.map(quoted).join(" ")}); _describe value found; return ;;`
        : `    ${quoted(key)}) _files; return ;;`,
    ),
    "  esac",
    `  if [[ "\${words[CURRENT]}" == -* ]]; then`,
    '    case "$at" in',
    ...commands.map(
      ({ place, options }) =>
        `      ${quoted(place)}) found=(${options.flatMap(({ flags, description }) => flags.map((flag) => described(flag, description))).join(" ")}) ;;`,
    ),
    "    esac",
    "    _describe option found",
    "    return",
    "  fi",
    '  case "$at" in',
    ...groupsOf(commands).map(
      ({ place, words }) =>
        `    ${quoted(place)}) found=(${words.map((name) => described(name, descriptionOf(commands, `${place} ${name}`))).join(" ")}); _describe command found ;;`,
    ),
    "    *) _files ;;",
    "  esac",
    "}",
    `if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi`,
  ];
}

/** The places of all commands below the program. */
function placesOf(commands: readonly CompletedCommand[]): string[] {
  return commands.map(({ place }) => place).filter((place) => place !== "");
}

function groupsOf(commands: readonly CompletedCommand[]): CompletedCommand[] {
  return commands.filter(({ words }) => words.length > 0);
}

/** For each option that takes a value, as `PLACE:FLAG`, what the value may be; empty: anything. */
function valuesOf(commands: readonly CompletedCommand[]): [string, readonly string[]][] {
  return commands.flatMap(({ place, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, choices }) =>
        flags.map((flag): [string, readonly string[]] => [`${place}:${flag}`, choices]),
      ),
  );
}

function descriptionOf(commands: readonly CompletedCommand[], place: string): string {
  return commands.find((each) => each.place === place)?.description ?? "";
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
