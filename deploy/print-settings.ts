// `npm run settings`: prints the table of settings into the help of `npm run up`, .env.example and
// the page of settings. A test fails when one of them differs.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { mayBe } from "../src/base/settings.ts";
import {
  GROUPS,
  SETTINGS,
  type Setting,
  type SettingGroup,
  type SettingReader,
} from "../src/base/settings-table.ts";

const PROJECT = resolve(import.meta.dirname, "..");
const WIDTH = 100;
const BEGIN = "<!-- settings: printed by npm run settings -->";
const END = "<!-- end of settings -->";

const READERS: Readonly<Record<SettingReader, string>> = {
  main: "service",
  front: "front",
  sessions: "session host",
  setup: "set-up",
  worker: "worker",
  up: "`up`",
  cli: "`voice`",
  bootstrap: "bootstrap",
};

type Named = readonly [name: string, setting: Setting];

const ALL: readonly Named[] = Object.entries(SETTINGS);

/** The files, by their path in the project, as the table has them. */
export function printedFiles(): Record<string, string> {
  const page = readFileSync(join(PROJECT, "deploy/settings.md"), "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  return {
    "deploy/supervisor/help.txt": printHelp(),
    ".env.example": printExample(),
    "deploy/settings.md": `${before}${BEGIN}\n${printPage()}${END}${after}`,
  };
}

function groups(): (readonly [title: string, settings: readonly Named[]])[] {
  return Object.entries(GROUPS).map(([group, title]) => [title, inGroup(group as SettingGroup)]);
}

function inGroup(wanted: SettingGroup): readonly Named[] {
  return ALL.filter(([, { group }]) => group === wanted);
}

/** "default 8080", or what holds instead; nothing where "off" or "not set" goes without saying. */
function defaultOf(setting: Setting): string | undefined {
  if (setting.type === "switch") return undefined;
  const fixed = "default" in setting ? setting.default : undefined;
  return fixed === undefined ? setting.usually : String(fixed);
}

function unitOf(setting: Setting): string {
  return "unit" in setting && setting.unit ? setting.unit : "";
}

function printHelp(): string {
  const options = inGroup("up").flatMap(([name, setting]) => {
    const variable = setting.type === "switch" ? `${name}=1` : name;
    return entry(setting.option ?? "", `${helpText(setting)}  [${variable}]`);
  });
  const settings = groups()
    .filter(([title]) => title !== GROUPS.up && title !== GROUPS.cli)
    .flatMap(([title, named]) => [
      "",
      `${title}:`,
      ...named.flatMap(([name, setting]) => entry(name, helpText(setting))),
    ]);
  return [
    "npm run up -- [options]",
    "",
    "Sets up what is missing, starts the whole service on this machine, shows a conversation being",
    "transcribed live, and keeps running until Ctrl-C.",
    "",
    ...options,
    ...entry(
      "--watch",
      "restart the service and the workers whenever a file of src, workers or proto changes; npm run dev is npm run up -- --watch --no-demo",
    ),
    ...entry("--help", "this text"),
    "",
    "Every setting can also come from the environment or from a file named .env in the project folder;",
    "an option wins over the environment, the environment over .env. Types and bounds: deploy/settings.md.",
    ...settings,
    "",
  ].join("\n");
}

function helpText(setting: Setting): string {
  const unit = unitOf(setting);
  const told = defaultOf(setting);
  const brackets = [
    unit,
    told === undefined ? "" : `default${"default" in setting ? "" : ":"} ${told}`,
  ].filter((part) => part !== "");
  return brackets.length === 0 ? setting.what : `${setting.what} (${brackets.join(", ")})`;
}

/** A name in a column of its own, unless it is too long, and a text that is wrapped beside it. */
function entry(name: string, text: string): string[] {
  const column = 22;
  const lines = wrap(text, WIDTH - column - 2);
  const rows = lines.map((line) => `${" ".repeat(column)}${line}`);
  const [first = "", ...more] = rows;
  if (name.length + 4 > column) return [`  ${name}`, first, ...more];
  return [`  ${name}`.padEnd(column) + first.trimStart(), ...more];
}

function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

function printExample(): string {
  const rows = groups().flatMap(([title, named]) => [
    "",
    `# ---- ${title} ----`,
    ...named.flatMap(([name, setting]) => ["", ...exampleOf(name, setting)]),
  ]);
  return [
    "# Every setting of the service. Copy this file to .env, take the # away before what you change.",
    "# What is set in the environment wins. Printed by `npm run settings`.",
    ...rows,
    "",
  ].join("\n");
}

function exampleOf(name: string, setting: Setting): string[] {
  const told = defaultOf(setting) ?? (setting.type === "switch" ? "off" : "not set");
  const unit = unitOf(setting);
  const facts = `${mayBe(setting)}${unit ? `, in ${unit}` : ""}; default: ${told}${setting.secret ? "; secret" : ""}`;
  const value = "default" in setting ? setting.default : "";
  return [...wrap(sentence(setting.what), WIDTH - 2), ...wrap(facts, WIDTH - 2)]
    .map((line) => `# ${line}`)
    .concat(`#${name}=${quoted(String(value))}`);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** As a shell would read it too. */
function quoted(text: string): string {
  return /^[\w.:/-]*$/.test(text) ? text : `"${text}"`;
}

function printPage(): string {
  return groups()
    .map(([title, named]) => {
      const rows = named.map(([name, setting]) => `${pageRow(name, setting)}\n`);
      const head = "| setting | what | may be | default | read by |\n|---|---|---|---|---|\n";
      return `\n### ${title}\n\n${head}${rows.join("")}\n`;
    })
    .join("");
}

function pageRow(name: string, setting: Setting): string {
  const told = defaultOf(setting) ?? (setting.type === "switch" ? "off" : "–");
  const unit = unitOf(setting);
  const cells = [
    `\`${name}\`${setting.option ? `, \`${setting.option}\`` : ""}${setting.secret ? " (secret)" : ""}`,
    sentence(setting.what),
    `${mayBe(setting)}${unit ? `, in ${unit}` : ""}`,
    told,
    setting.readers.map((reader) => READERS[reader]).join(", "),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("<", "&lt;")).join(" | ")} |`;
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(printedFiles())) {
    writeFileSync(join(PROJECT, path), text);
    process.stdout.write(`${path}\n`);
  }
}
