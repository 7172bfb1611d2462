import { describe, expect, it } from "vitest";
import { parseCallMessage } from "../../../src/telephony/twilio-messages.ts";

const STREAM = "MZ18ad3ab5a668481ce02b83e7395059f0";

const start = {
  event: "start",
  sequenceNumber: "1",
  start: {
    accountSid: "AC00000000000000000000000000000000",
    streamSid: STREAM,
    callSid: "CA00000000000000000000000000000000",
    tracks: ["inbound", "outbound"],
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
    customParameters: { ticket: "T", FirstName: "Jane" },
  },
  streamSid: STREAM,
};
const media = {
  event: "media",
  sequenceNumber: "3",
  media: { track: "outbound", chunk: "1", timestamp: "5", payload: "/38AgA==" },
  streamSid: STREAM,
};

const parse = (message: unknown) => parseCallMessage(Buffer.from(JSON.stringify(message)));
const startWith = (members: object) => ({ ...start, start: { ...start.start, ...members } });
const mediaWith = (members: object) => ({ ...media, media: { ...media.media, ...members } });

describe("messages of Twilio's Media Streams", () => {
  it("are read as its documentation shows them", () => {
    expect(parse({ event: "connected", protocol: "Call", version: "1.0.0" })).toEqual({
      event: "other",
    });
    expect(parse(start)).toEqual({
      event: "start",
      streamSid: STREAM,
      tracks: ["inbound", "outbound"],
      ticket: "T",
    });
    expect(parse(media)).toEqual({
      event: "media",
      streamSid: STREAM,
      track: "outbound",
      chunk: 1,
      timestamp: 5,
      sound: Buffer.from([0xff, 0x7f, 0x00, 0x80]),
    });
    const stop = { accountSid: "AC0", callSid: "CA0" };
    expect(parse({ event: "stop", sequenceNumber: "5", streamSid: STREAM, stop })).toEqual({
      event: "stop",
      streamSid: STREAM,
    });
  });

  it("may be others, of which nothing is kept", () => {
    const dtmf = { event: "dtmf", streamSid: STREAM, dtmf: { track: "inbound_track", digit: "1" } };
    for (const each of [dtmf, { event: "mark", mark: { name: "m" } }, { event: "new one" }]) {
      expect(parse(each)).toEqual({ event: "other" });
    }
  });

  it("need no parameters", () => {
    expect(parse(startWith({ customParameters: undefined }))).toMatchObject({ ticket: undefined });
    expect(parse(startWith({ customParameters: {} }))).toMatchObject({ ticket: undefined });
  });

  it("are refused with what is wrong with them", () => {
    expect(() => parseCallMessage(Buffer.from("hello"))).toThrow("not valid JSON");
    expect(() => parseCallMessage(Buffer.from([0xff, 0xfe]))).toThrow("not valid JSON");
    for (const each of [7, null, "media"]) expect(() => parse(each)).toThrow("not an object");
    for (const each of [{}, [], { event: 5 }]) expect(() => parse(each)).toThrow("no `event`");
    expect(() => parse({ event: "media", streamSid: STREAM })).toThrow("media");
    expect(() => parse({ ...media, streamSid: 5 })).toThrow("streamSid");
    expect(() => parse({ ...media, streamSid: "x".repeat(101) })).toThrow("streamSid");
    expect(() => parse({ event: "stop" })).toThrow("streamSid");
  });

  it("are refused for a start that is no call's", () => {
    expect(() => parse({ event: "start" })).toThrow("start");
    for (const tracks of [[], ["both"], ["inbound", "inbound"], "inbound"]) {
      expect(() => parse(startWith({ tracks })), String(tracks)).toThrow("tracks");
    }
    const { mediaFormat } = start.start;
    for (const other of [{ encoding: "audio/l16" }, { sampleRate: 16_000 }, { channels: 2 }]) {
      expect(() => parse(startWith({ mediaFormat: { ...mediaFormat, ...other } }))).toThrow(
        "audio/x-mulaw at 8000 Hz",
      );
    }
    expect(() => parse(startWith({ customParameters: { ticket: 5 } }))).toThrow("ticket");
  });

  it("are refused for sound that is none, or too much of it", () => {
    for (const chunk of ["", "-1", "1.5", "1e3", "12345678901", 1]) {
      expect(() => parse(mediaWith({ chunk })), String(chunk)).toThrow("chunk");
      expect(() => parse(mediaWith({ timestamp: chunk })), String(chunk)).toThrow("timestamp");
    }
    expect(() => parse(mediaWith({ track: "inbound_track" }))).toThrow("track");
    for (const payload of ["/38AgA=", "/38AgA", "/38 AgA==", "!!!!", "_38AgA=="]) {
      expect(() => parse(mediaWith({ payload })), payload).toThrow("not base64");
    }
    const longest = Buffer.alloc(16_000).toString("base64");
    expect(parse(mediaWith({ payload: longest }))).toMatchObject({ event: "media" });
    expect(() => parse(mediaWith({ payload: `${longest}AAAA` }))).toThrow("payload");
  });
});
