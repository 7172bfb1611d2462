import type { WebSocket } from "ws";

/** The service's end of streams: stores what comes, and cuts connections where it is told. */
export class ScriptedStream {
  stored = Buffer.alloc(0);
  readonly messages: Buffer[] = [];
  readonly configured: Record<string, unknown>[] = [];
  readonly heartbeats: Record<string, unknown>[] = [];
  /** How much was stored at each Finalize; of the first `unanswered` the connection is cut instead. */
  readonly finalized: number[] = [];
  unanswered = 0;
  /** Bytes of a connection after which it is cut, without a word; each once. */
  cuts: number[] = [];
  /** Of what comes before a cut, this is lost. */
  lost = 0;

  play(socket: WebSocket): void {
    const cut = this.cuts.shift();
    let came = 0;
    let isOver = false;
    const tell = (frame: object) => socket.send(JSON.stringify({ session_id: "s1", ...frame }));
    socket.on("message", (data: Buffer, isBinary) => {
      // What was under way at a cut is lost.
      if (isOver) return;
      if (isBinary) {
        this.messages.push(data);
        came += data.length;
        const isCut = cut !== undefined && came >= cut;
        this.#store(isCut ? data.subarray(0, Math.max(0, data.length - this.lost)) : data);
        isOver = isCut;
        if (isCut) return socket.terminate();
        return tell({
          type: "AudioAck",
          audio_offset_bytes: this.stored.length,
          chunk_sequence: 1,
        });
      }
      const frame = JSON.parse(String(data)) as Record<string, unknown>;
      if (frame.type === "Configure") {
        this.configured.push(frame);
        tell({ type: "Begin", audio_offset_bytes: this.stored.length, chunk_sequence: 0, seq: 0 });
      }
      if (frame.type === "Heartbeat") this.heartbeats.push(frame);
      if (frame.type === "Finalize") {
        this.finalized.push(this.stored.length);
        if (this.finalized.length <= this.unanswered) return socket.terminate();
        tell({ type: "UtteranceEnd", end: this.stored.length / 32_000 });
      }
      if (frame.type === "CloseStream") socket.close(1000);
    });
  }

  #store(bytes: Buffer): void {
    this.stored = Buffer.concat([this.stored, bytes]);
  }
}
