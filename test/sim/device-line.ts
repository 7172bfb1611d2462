import type { DeviceSocket } from "../../src/http/sockets/device-socket.ts";
import type { DeviceFrame, DeviceServerFrame } from "../../src/wire/device-frames.ts";
import type { SimHost } from "./host.ts";
import type { Kernel } from "./kernel/kernel.ts";

/** How the connections of a device are. */
export interface LineMood {
  /** Longest one way, milliseconds. */
  way: number;
  /** Its breaks are noticed at once. */
  isTold: boolean;
}

/** At the device's end. */
export interface LinePeer {
  onFrame(frame: DeviceServerFrame): void;
  /** The code is undefined when the connection broke. */
  onClose(code: number | undefined): void;
}

/** After its pings a host notices that nobody is there. */
const HOST_NOTICES_MS = 60_000;
const DEVICE_NOTICES_MS = 15_000;

/** A WebSocket from a device to a host: what is sent comes in order, until it breaks. */
export class DeviceLine {
  readonly #host: SimHost;
  readonly #kernel: Kernel;
  readonly #mood: LineMood;
  readonly #peer: LinePeer;
  readonly #socket: DeviceSocket;
  /** When the newest comes that is under way: there, and back. */
  #there = 0;
  #back = 0;
  #isCut = false;
  #isClosed = false;

  constructor(host: SimHost, deviceId: string, mood: LineMood, peer: LinePeer) {
    this.#host = host;
    this.#kernel = host.machine.kernel;
    this.#mood = mood;
    this.#peer = peer;
    this.#socket = host.streams.connect(deviceId, {
      send: (messages) => {
        for (const { bytes } of messages) this.#answer(JSON.parse(bytes.toString()));
        return true;
      },
      bufferedBytes: () => 0,
      close: (code) => this.#closedByHost(code),
    });
    this.#watch();
  }

  send(frame: DeviceFrame): void {
    this.#send(Buffer.from(JSON.stringify(frame)), false);
  }

  sendAudio(bytes: Buffer): void {
    this.#send(bytes, true);
  }

  /** Nothing comes through any more. */
  cut(): void {
    if (this.#isCut || this.#isClosed) return;
    this.#isCut = true;
    const { random } = this.#kernel;
    const { isTold } = this.#mood;
    const ms = (most: number) => (isTold ? 1 : most * random.next());
    this.#kernel.plan(ms(HOST_NOTICES_MS), () =>
      this.#host.machine.enter(() => this.#host.streams.left(this.#socket)),
    );
    this.#kernel.plan(ms(DEVICE_NOTICES_MS), () => this.#end(undefined));
  }

  #send(bytes: Buffer, isBinary: boolean): void {
    this.#there = this.#after(this.#there);
    this.#kernel.plan(this.#there - this.#kernel.now, () => {
      if (this.#isCut) return;
      this.#host.machine.enter(() => this.#socket.message(bytes, isBinary));
    });
  }

  #answer(frame: DeviceServerFrame): void {
    this.#comesBack(() => this.#peer.onFrame(frame));
  }

  #closedByHost(code: number): void {
    this.#host.streams.left(this.#socket);
    this.#comesBack(() => this.#end(code));
  }

  #comesBack(act: () => void): void {
    this.#back = this.#after(this.#back);
    this.#kernel.plan(this.#back - this.#kernel.now, () => {
      if (!this.#isCut && !this.#isClosed) act();
    });
  }

  #after(newest: number): number {
    const { now, random } = this.#kernel;
    return Math.max(newest + 0.001, now + 1 + random.next() * this.#mood.way);
  }

  #end(code: number | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#peer.onClose(code);
  }

  /** A process that ended says nothing of it. */
  #watch(): void {
    if (this.#isClosed || this.#isCut) return;
    if (this.#host.machine.isDead) return this.cut();
    this.#kernel.plan(2_000, () => this.#watch());
  }
}
