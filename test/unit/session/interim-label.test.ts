import { describe, expect, it } from "vitest";
import { applyLabel, applyMerge, interimLabel, noSpeakers } from "../../../src/session/speakers.ts";

describe("label of a voice while it is spoken", () => {
  it("interim label: is a known voice's own, also where it was merged, and the next one for a new voice", () => {
    const speakers = noSpeakers();
    expect(interimLabel(speakers, { cluster: 0 })).toBe("S1");
    applyLabel(speakers, 0, "S1");
    applyLabel(speakers, 1, "S2");
    expect(interimLabel(speakers, { cluster: 1 })).toBe("S2");
    applyMerge(speakers, { from: "S2", into: "S1" }, false);
    expect(interimLabel(speakers, { cluster: 1 })).toBe("S1");
    expect(interimLabel(speakers, { cluster: 2 })).toBe("S3");
    expect(interimLabel(speakers, { cluster: -1 })).toBe("UU");
    expect(speakers.labels).toHaveLength(2);
  });

  it("interim label: on channels a new voice has none, as others may be new at the same time", () => {
    const speakers = noSpeakers();
    expect(interimLabel(speakers, { cluster: 1, channel: 1 })).toBe("UU");
    applyLabel(speakers, 1, "S1");
    expect(interimLabel(speakers, { cluster: 1, channel: 1 })).toBe("S1");
    expect(interimLabel(speakers, { cluster: 0, channel: 0 })).toBe("UU");
  });
});
