import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { LOOP_DELAY_FIGURES } from "../../../src/base/metrics/loop-delay.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string };
}

/** Every metric that the sources name. */
function metrics(): Set<string> {
  const sources = readdirSync(new URL("src", root), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => read(`src/${path}`));
  const named = [...sources.join("\n").matchAll(/"(voice_[a-z0-9_]+)"/g)];
  return new Set([...named.map(([, name = ""]) => name), ...LOOP_DELAY_FIGURES]);
}

describe("alert rules", () => {
  const { groups } = load(read("deploy/prometheus/alerts.yaml")) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  it("ask for metrics that there are", () => {
    const known = metrics();
    expect(rules.length).toBeGreaterThan(8);
    for (const { alert, expr } of rules) {
      const asked = [...expr.matchAll(/\b(?:voice|nodejs)_\w+/g)].map(([name]) => name);
      const unknown = asked.filter((name) => !known.has(name.replace(/_count$/, "")));
      expect([alert, unknown]).toEqual([alert, []]);
    }
  });

  it("have a name of their own each, and say in a sentence what is the matter", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { annotations } of rules) expect(annotations.summary).toMatch(/ .* /);
  });
});
