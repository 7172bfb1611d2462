import { describe, expect, it } from "vitest";
import { openSoundFile } from "../../../../src/base/codecs/sound-file.ts";
import { streamBeginning } from "../../../../src/base/codecs/stream-beginning.ts";
import { soundBytes } from "../../../support/sound-files.ts";

const STREAMS = [
  ["webm", soundBytes("left.webm")],
  ["ogg", soundBytes("mono.opus")],
] as const;

describe("beginning of a stream", () => {
  it.each(STREAMS)("stream beginning: %s, wherever its headers are cut", (kind, file) => {
    let end = 1;
    while (streamBeginning(file.subarray(0, end)) === kind) end += 1;
    // From here on it can be read as a file, and is, however much of it there is.
    expect(end).toBeGreaterThan(40);
    for (const length of [end, end + 1, 1_000, file.length]) {
      expect(streamBeginning(file.subarray(0, length))).toBeUndefined();
    }
    const whole = openSoundFile(file.subarray(0, 2_000));
    expect(whole).toMatchObject({ mediaType: expect.stringContaining(kind) });
  });

  it("stream beginning: nothing, other files and long headers are none", () => {
    const others = [Buffer.alloc(0), Buffer.from("text"), soundBytes("mono-44100.mp3")];
    const long = Buffer.concat([Buffer.from("\x1a\x45\xdf\xa3", "latin1"), Buffer.alloc(65_536)]);
    for (const bytes of [...others, long]) expect(streamBeginning(bytes)).toBeUndefined();
  });
});
