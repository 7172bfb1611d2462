import type { SourceFile } from "./sources.ts";

/** Lists interfaces that one class implements and that no test imports to put a double in its place. */
export function portsOfOne(all: readonly SourceFile[], others: readonly SourceFile[]): string[] {
  const doubled = new Set(
    others.flatMap(({ imports }) =>
      imports.flatMap(({ to, names }) => names.map((name) => `${to} ${name}`)),
    ),
  );
  const implementedIn = (of: readonly SourceFile[], name: string) =>
    of.reduce((sum, file) => sum + file.implemented.filter((each) => each === name).length, 0);
  return all.flatMap(({ path, interfaces }) =>
    interfaces
      .filter((name) => implementedIn(all, name) === 1 && implementedIn(others, name) === 0)
      .map((name) => `${path} ${name}`)
      .filter((each) => !doubled.has(each)),
  );
}

/** Lists files of so few lines that only one other file imports: most belong into that one. */
export function fragments(all: readonly SourceFile[], fewLines: number): string[] {
  const users = all.flatMap(({ imports }) => [...new Set(imports.map(({ to }) => to))]);
  return all
    .filter(({ lines }) => lines <= fewLines)
    .filter(({ path }) => users.filter((to) => to === path).length === 1)
    .map(({ path, lines }) => `${lines} ${path}`);
}

/** Lists exports that no other file imports, tests and deploy included. */
export function unusedExports(all: readonly SourceFile[], others: readonly SourceFile[]): string[] {
  const used = new Set<string>();
  for (const { imports } of [...all, ...others]) {
    for (const { to, names } of imports) for (const name of names) used.add(`${to} ${name}`);
  }
  return all.flatMap(({ path, exports }) =>
    used.has(`${path} *`)
      ? []
      : exports.map((name) => `${path} ${name}`).filter((e) => !used.has(e)),
  );
}
