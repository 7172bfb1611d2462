/**
 * Entry point of a process that decodes one file with FFmpeg as WebAssembly: the file is its
 * standard input, which must be a regular file; WAV comes out of its standard output, FFmpeg's errors of its
 * standard error. It runs with Node's permission flags and reads no file but its own code.
 *
 * Arguments: the decoder's folder, limits as JSON. Ends with 0, FFmpeg's code, or a `DECODER_EXIT`.
 */
import { fstatSync, readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { DECODER_EXIT, type DecoderLimits, decoderArguments } from "./decoder-limits.ts";

/** The parts of Emscripten's file system that are used. */
interface MemoryFiles {
  writeFile(path: string, data: Uint8Array): void;
  lookupPath(path: string): { node: FileNode };
  makedev(major: number, minor: number): number;
  registerDevice(device: number, operations: object): void;
  mkdev(path: string, mode: number, device: number): void;
}

interface FileNode {
  usedBytes: number;
  stream_ops: Record<string, unknown>;
}

interface Ffmpeg {
  FS: MemoryFiles;
  exec(...args: string[]): number;
  setLogger(logger: (line: { message: string }) => void): void;
}

const STDIN = 0;
const STDOUT = 1;
const DEVICE = 64;

const [folder = "", limitsText = "{}"] = process.argv.slice(2);
const limits = JSON.parse(limitsText) as DecoderLimits;

boundMemory();
const ffmpeg = await loadFfmpeg();
ffmpeg.setLogger(({ message }) => process.stderr.write(`${message}\n`));
mountInput(ffmpeg.FS);
mountOutput(ffmpeg.FS);
process.exitCode = ffmpeg.exec(...decoderArguments("/in", "/out"));

/** At the first refusal the process ends: FFmpeg itself would ask again and again. */
function boundMemory(): void {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * 65_536 > limits.memoryBytes) {
      process.exit(DECODER_EXIT.tooLarge);
    }
    return grow.call(this, pages);
  };
}

async function loadFfmpeg(): Promise<Ffmpeg> {
  // The module takes Node for a browser, and is given no way to the network.
  Object.assign(globalThis, { self: { location: { href: "file:///decoder/" } } });
  for (const name of ["fetch", "WebSocket", "EventSource"])
    Reflect.deleteProperty(globalThis, name);
  const create = createRequire(import.meta.url)(join(folder, "ffmpeg-core.js")) as (options: {
    wasmBinary: Uint8Array;
  }) => Promise<Ffmpeg>;
  return create({ wasmBinary: readFileSync(join(folder, "ffmpeg-core.wasm")) });
}

/** `/in` is the standard input, read where FFmpeg wants it. */
function mountInput(files: MemoryFiles): void {
  files.writeFile("/in", new Uint8Array(0));
  const { node } = files.lookupPath("/in");
  node.usedBytes = fstatSync(STDIN).size;
  node.stream_ops = {
    ...node.stream_ops,
    read: (_stream: object, buffer: Uint8Array, offset: number, length: number, at: number) =>
      readSync(STDIN, buffer, offset, length, at),
  };
}

function mountOutput(files: MemoryFiles): void {
  let written = 0;
  const write = (_stream: object, buffer: Uint8Array, offset: number, length: number) => {
    written += length;
    if (written > limits.outputBytes) process.exit(DECODER_EXIT.tooLong);
    for (let done = 0; done < length; ) done += send(buffer, offset + done, length - done);
    return length;
  };
  const device = files.makedev(DEVICE, 0);
  files.registerDevice(device, { open() {}, close() {}, write });
  files.mkdev("/out", 0o666, device);
}

/** A pipe that is full is waited for. */
function send(buffer: Uint8Array, offset: number, length: number): number {
  try {
    return writeSync(STDOUT, buffer, offset, length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}
