import { describe, expect, it } from "vitest";
import { leftOf } from "../../../src/web/parts/times.ts";
import { fingerprintOf, sizeText, titleOf } from "../../../src/web/uploads/file-facts.ts";
import { refusalByCode, refusalOf } from "../../../src/web/uploads/refusals.ts";
import { Pace } from "../../../src/web/uploads/upload-entry.ts";

const bytes = (text: string) => Uint8Array.from(text, (each) => each.charCodeAt(0));
const WAV = bytes(`RIFF\x24\x00\x00\x00WAVEfmt ${"\x10\x00".repeat(20)}`);

describe("uploads on the page", () => {
  it("uploads: a file is known again by name, size and time, and by nothing less", () => {
    const file = { name: "talk.wav", size: 1_000, lastModified: 5 };
    expect(fingerprintOf({ ...file })).toBe(fingerprintOf(file));
    for (const other of [{ name: "talk.mp3" }, { size: 1_001 }, { lastModified: 6 }]) {
      expect(fingerprintOf({ ...file, ...other })).not.toBe(fingerprintOf(file));
    }
  });

  it("uploads: a session is called as its file, without what says its kind", () => {
    expect(titleOf("Board meeting.m4a")).toBe("Board meeting");
    expect(titleOf("2026.03.05 stand-up.final.wav")).toBe("2026.03.05 stand-up.final");
    expect(titleOf("no ending")).toBe("no ending");
    expect(titleOf(".wav")).toBe(".wav");
    expect(titleOf("Dr. Who and a long sentence")).toBe("Dr. Who and a long sentence");
    // What the service refuses in a title would lose the upload.
    expect(titleOf("two\nlines\u202e.wav")).toBe("two lines");
    expect(titleOf(`${"x".repeat(300)}.wav`)).toHaveLength(200);
  });

  it("uploads: sizes are told as people read them", () => {
    expect([0, 1, 999, 1_400, 12_345_678, 999_600, 3_200_000_000].map(sizeText)).toEqual([
      ...["0 bytes", "1 byte", "999 bytes", "1.4 kB", "12 MB", "1.0 MB", "3.2 GB"],
    ]);
  });

  it("uploads: what holds no sound is refused in a sentence, and what may hold some is not", () => {
    const refusal = (head: Uint8Array, type = "", size = 5_000) =>
      refusalOf({ size, type }, head, 10_000_000);
    expect(refusal(WAV, "audio/wav", 0)).toBe("The file is empty.");
    expect(refusal(bytes("%PDF-1.7"), "audio/mpeg")).toContain("This is a PDF document");
    expect(refusal(bytes("\xff\xd8\xff\xe0"))).toContain("a JPEG picture");
    expect(refusal(WAV, "image/heic")).toContain("There is no sound in this file.");
    expect(refusal(bytes("Minutes of the meeting\n"))).toContain("There is no sound");
    expect(refusal(WAV, "audio/wav", 12_000_000)).toBe(
      "The file is too large: it has 12 MB, and at most 10 MB are taken.",
    );
    expect(refusalOf({ size: 12_000_000, type: "" }, WAV, undefined)).toBeUndefined();
    for (const type of ["audio/wav", "video/mp4", "", "application/octet-stream"]) {
      expect(refusal(WAV, type)).toBeUndefined();
    }
    expect(refusal(bytes("\0\0\0\x18ftypM4A "), "audio/mp4")).toBeUndefined();
  });

  it("uploads: the service's refusals are told in the page's own words, others in its own", () => {
    expect(refusalByCode("not_audio")).toContain("no sound");
    expect(refusalByCode("quota_exceeded")).toBeUndefined();
  });

  it("uploads: the time that is left goes by the pace of late", () => {
    const pace = new Pace();
    expect(pace.leftMs(1_000)).toBeUndefined();
    pace.add({ at: 0, bytes: 0 });
    pace.add({ at: 1_000, bytes: 100 });
    // Too soon to tell.
    expect(pace.leftMs(1_000)).toBeUndefined();
    pace.add({ at: 2_000, bytes: 200 });
    expect(pace.leftMs(1_000)).toBe(8_000);
    // Twice as fast for longer than is looked back on.
    for (let second = 3; second <= 20; second += 1) {
      pace.add({ at: second * 1_000, bytes: 200 + (second - 2) * 200 });
    }
    expect(pace.leftMs(4_800)).toBe(5_000);
    // A broken request: its bytes are sent again.
    pace.add({ at: 21_000, bytes: 1_000 });
    expect(pace.leftMs(4_800)).toBeUndefined();
  });

  it("uploads: what is left is told in words", () => {
    expect([20_000, 61_000, 5 * 60_000, 65 * 60_000, -5].map(leftOf)).toEqual([
      "less than a minute left",
      "about 1 min left",
      "about 5 min left",
      "about 1 h 05 min left",
      "less than a minute left",
    ]);
  });
});
