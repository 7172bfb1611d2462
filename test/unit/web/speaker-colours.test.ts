import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { speakerColour } from "../../../src/web/parts/speaker-colour.ts";

const TOKENS = readFileSync(new URL("../../../src/web/style/tokens.css", import.meta.url), "utf8");
const PEOPLE = Array.from({ length: 10 }, (_, n) => `S${n + 1}`);
const LOOKS = ["light", "dark"] as const;

type Look = (typeof LOOKS)[number];
type Linear = readonly [number, number, number];

/** WCAG 2.2: text, and what is no text. */
const TEXT = 4.5;
/** CIE L* between any two of ten people in grey; some 1 is just seen side by side. */
const GREY = 3;
/** CIE76 between any two with deuteranopia; some 2.3 is just seen. */
const DEUTERANOPIA = 15;

/** Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB. */
const DEUTERANOPE = [
  [0.367322, 0.860646, -0.227968],
  [0.280085, 0.672501, 0.047413],
  [-0.01182, 0.04294, 0.968881],
] as const;

function token(name: string, look: Look): Linear {
  const found = new RegExp(`${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(TOKENS);
  const hex = found?.[look === "light" ? 1 : 2] ?? "";
  expect(hex, name).not.toBe("");
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
}

const luminance = ([r, g, b]: Linear) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(one: Linear, other: Linear): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** CIE L*a*b* under D65. */
function lab(colour: Linear): Linear {
  const [r, g, b] = colour;
  const f = (t: number) => (t > 216 / 24_389 ? Math.cbrt(t) : (841 / 108) * t + 4 / 29);
  const x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = f(luminance(colour));
  const z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function deuteranope(colour: Linear): Linear {
  const [r = 0, g = 0, b = 0] = DEUTERANOPE.map((row) => {
    const seen = row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
    return Math.min(1, Math.max(0, seen));
  });
  return [r, g, b];
}

const distance = (one: Linear, other: Linear) =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

/** The smallest of `measure` between any two of the ten. */
function nearest(look: Look, measure: (one: Linear, other: Linear) => number): number {
  const colours = PEOPLE.map((label) => token(speakerColour(label), look));
  const pairs = colours.flatMap((one, n) => colours.slice(n + 1).map((other) => [one, other]));
  return Math.min(...pairs.map(([one, other]) => measure(one as Linear, other as Linear)));
}

describe.each(LOOKS)("the colours of ten people, %s", (look) => {
  it.each(["--ground", "--surface", "--sunken", "--accent-wash"])("are read on %s", (ground) => {
    for (const label of PEOPLE) {
      const found = contrast(token(speakerColour(label), look), token(ground, look));
      expect(found, label).toBeGreaterThanOrEqual(TEXT);
    }
  });

  it("differ in grey", () => {
    expect(nearest(look, (a, b) => Math.abs(lab(a)[0] - lab(b)[0]))).toBeGreaterThanOrEqual(GREY);
  });

  it("differ with deuteranopia", () => {
    const seen = (colour: Linear) => lab(deuteranope(colour));
    const found = nearest(look, (a, b) => distance(seen(a), seen(b)));
    expect(found).toBeGreaterThanOrEqual(DEUTERANOPIA);
  });
});
