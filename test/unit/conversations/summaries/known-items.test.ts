import { expect, it } from "vitest";
import { digestOf, identify } from "../../../../src/conversations/summaries/known-items.ts";

const known = (id: string, segmentId: string, text: string) => ({
  id,
  segmentId,
  digest: digestOf(text),
});
const item = (segmentId: string, text: string) => ({ text, segmentIds: [segmentId] });

it("action items: one with the same words at the same place is the same, capitals and marks aside", () => {
  const before = [known("a", "s1", "I will write."), known("b", "s1", "I will call.")];
  expect(identify([item("s1", "i will call"), item("s1", "I will write!")], before)).toEqual([
    "b",
    "a",
  ]);
});

it("action items: another reading has other segments, the words tell", () => {
  expect(identify([item("s9", "I will write.")], [known("a", "s1", "I will write.")])).toEqual([
    "a",
  ]);
});

it("action items: corrected words are known by their place, where that is the only one there", () => {
  expect(identify([item("s1", "I will ride.")], [known("a", "s1", "I will write.")])).toEqual([
    "a",
  ]);
  const two = [known("a", "s1", "I will write."), known("b", "s1", "I will call.")];
  const [id] = identify([item("s1", "I will ride.")], two);
  expect(["a", "b"]).not.toContain(id);
});

it("action items: each known one is given once, new ones get ids of their own", () => {
  const ids = identify(
    [item("s1", "I will write."), item("s2", "I will write."), item("s3", "We will pay.")],
    [known("a", "s1", "I will write.")],
  );
  expect(ids[0]).toBe("a");
  expect(new Set(ids).size).toBe(3);
});
