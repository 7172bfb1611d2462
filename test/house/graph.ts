import { dirname } from "node:path";
import type { SourceFile } from "./sources.ts";

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Which file imports which; types count. */
export function fileGraph(files: readonly SourceFile[]): Graph {
  const known = new Set(files.map(({ path }) => path));
  return new Map(
    files.map(({ path, imports }) => [
      path,
      new Set(imports.map(({ to }) => to).filter((to) => known.has(to))),
    ]),
  );
}

/** Which folder imports which other one. */
export function folderGraph(files: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [path, imported] of files) {
    const from = dirname(path);
    const arrows = folders.get(from) ?? new Set();
    for (const each of imported) if (dirname(each) !== from) arrows.add(dirname(each));
    folders.set(from, arrows);
  }
  return folders;
}

/** Groups of more than one that reach each other (Tarjan 1972). */
export function cyclesOf(graph: Graph): string[][] {
  const [order, low] = [new Map<string, number>(), new Map<string, number>()];
  const [stack, onStack]: [string[], Set<string>] = [[], new Set()];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.get(node) ?? 0);
    stack.push(node);
    onStack.add(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (onStack.has(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== order.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    for (const each of group) onStack.delete(each);
    if (group.length > 1) cycles.push(group.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}

/** The longest way along imports; none where there are cycles. */
export function longestChain(graph: Graph): string[] {
  const chains = new Map<string, string[]>();
  const underWay = new Set<string>();
  const chainFrom = (node: string): string[] => {
    const known = chains.get(node);
    if (known !== undefined || underWay.has(node)) return known ?? [];
    underWay.add(node);
    let longest: string[] = [];
    for (const next of graph.get(node) ?? []) {
      const chain = chainFrom(next);
      if (chain.length > longest.length) longest = chain;
    }
    underWay.delete(node);
    const chain = [node, ...longest];
    chains.set(node, chain);
    return chain;
  };
  return [...graph.keys()].map(chainFrom).reduce((a, b) => (b.length > a.length ? b : a), []);
}
