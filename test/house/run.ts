// `npm run house`: how the house is built, in figures that can be held against each other.
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fragments, portsOfOne, unusedExports } from "./findings.ts";
import { cyclesOf, fileGraph, folderGraph, longestChain } from "./graph.ts";
import { countCodeLines, readSources, type SourceFile, stemOf } from "./sources.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const SMALL = 40;
const HELP = `npm run house -- [options]
  --list name   everything behind a figure: small, fragments, twice, wide, ports, unused, cycles, chain
  --help
Figures of src and workers: files, lines, imports. What the tests import counts as used.`;

const { values: options } = parseArgs({
  options: { list: { type: "string" }, help: { type: "boolean", default: false } },
});

const ours = readSources(PROJECT, ["src", "workers"]);
const tests = readSources(PROJECT, ["test", "deploy"]);
const files = fileGraph(ours);
const folders = folderGraph(files);

const lists: Record<string, string[]> = {
  small: ours.filter(({ lines }) => lines <= SMALL).map(({ path, lines }) => `${lines} ${path}`),
  fragments: fragments(ours, SMALL),
  twice: basenamesTwice(ours),
  wide: widest(ours),
  ports: portsOfOne(ours, tests),
  unused: unusedExports(ours, tests),
  cycles: [...cyclesOf(files), ...cyclesOf(folders)].map((cycle) => cycle.join(" ")),
  chain: longestChain(files),
};

if (options.help) console.log(HELP);
else if (options.list === undefined) for (const row of table()) console.log(row.join(" | "));
else if (lists[options.list] === undefined) {
  console.error(`There is no list called ${options.list}.\n${HELP}`);
  process.exitCode = 2;
} else for (const line of lists[options.list] ?? []) console.log(line);

function table(): string[][] {
  const lines = ours.map((file) => file.lines);
  const code = ours.reduce((sum, { path }) => sum + countCodeLines(PROJECT, path), 0);
  const functions = ours.flatMap((file) => file.functions.map((each) => each.lines));
  const arrows = [...folders.values()].reduce((sum, to) => sum + to.size, 0);
  const imports = [...files.values()].reduce((sum, to) => sum + to.size, 0);
  const inSrc = ours.filter(({ path }) => path.startsWith("src/")).length;
  const count = (name: string) => String(lists[name]?.length ?? 0);
  const spread = (of: readonly number[]) =>
    `${quantile(of, 0.5)} / ${quantile(of, 0.9)} / ${Math.max(...of)}`;
  return [
    ["files: src, src and workers", `${inSrc}, ${ours.length}`],
    ["lines: with, without comments", `${lines.reduce((a, b) => a + b, 0)}, ${code}`],
    ["lines of a file: median / p90 / most", spread(lines)],
    ["lines of a function: median / p90 / most", spread(functions)],
    [`files of ${SMALL} lines or fewer`, count("small")],
    ["of them with one importer", count("fragments")],
    ["basenames used more than once", count("twice")],
    ["widest folder", lists.wide?.[0] ?? ""],
    ["interfaces with one implementation, none in tests", count("ports")],
    ["exports that nobody else uses", count("unused")],
    ["cycles of files, of folders", `${cyclesOf(files).length}, ${cyclesOf(folders).length}`],
    ["longest chain of imports, files", count("chain")],
    ["folders, arrows between them, imports", `${folders.size}, ${arrows}, ${imports}`],
  ];
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function countBy(names: readonly string[]): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

function basenamesTwice(all: readonly SourceFile[]): string[] {
  return countBy(all.map(({ path }) => stemOf(path)))
    .filter(([, count]) => count > 1)
    .map(([stem, count]) => `${stem} ${count}`);
}

function widest(all: readonly SourceFile[]): string[] {
  return countBy(all.map(({ path }) => dirname(path))).map(
    ([folder, count]) => `${folder} ${count}`,
  );
}
