import fc, { type Arbitrary } from "fast-check";
import { anything } from "./schema-arbitrary.ts";

const NUMBERS = ["1e400", "-1e400", "1e-400", "9".repeat(400), "-0", "9007199254740993", "0x10"];

const DEPTHS = [10, 100, 1_000, 30_000];

/** Texts that are no JSON, or JSON that nobody sends. */
export function oddText(right: Arbitrary<string>): Arbitrary<string> {
  const odd = fc.constantFrom(...NUMBERS);
  return fc.oneof(
    fc.tuple(right, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
    fc.tuple(right, odd).map(([text, number]) => text.replace(/-?\d+(\.\d+)?/, number)),
    fc.tuple(right, fc.constantFrom("", ",", "\u0000", "]", " {}")).map((parts) => parts.join("")),
    right.map((text) => `\ufeff${text}`),
    right.map((text) => text.replace("{", '{"type":"KeepAlive","__proto__":{"type":"x"},')),
    fc.constantFrom(...DEPTHS).map((depth) => "[".repeat(depth)),
    fc.constantFrom(...DEPTHS).map((depth) => `${'{"type":'.repeat(depth)}1${"}".repeat(depth)}`),
    fc.constantFrom(...DEPTHS).map((n) => JSON.stringify({ type: "KeepAlive", x: "y".repeat(n) })),
    fc.constantFrom(65_536, 65_537, 262_144, 262_145).map((size) => " ".repeat(size)),
    anything.map((type) => JSON.stringify({ type })),
    anything.map((value) => JSON.stringify(value) ?? ""),
    fc.constantFrom("", "null", "{}", "[]", '{"type":"__proto__"}', '{"type":"constructor"}'),
    fc.string({ unit: "binary" }),
  );
}
