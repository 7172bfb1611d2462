/* global AudioWorkletProcessor, registerProcessor, sampleRate */
// Runs in the browser's audio thread: turns what the microphone gives into 16-bit samples, a tenth of a
// second at a time, with the loudest of them.
class Capture extends AudioWorkletProcessor {
  #samples = new Int16Array(Math.round(sampleRate / 10));
  #filled = 0;
  #loudest = 0;

  process([channels]) {
    const [first] = channels ?? [];
    for (const sample of first ?? []) {
      const bounded = Math.max(-1, Math.min(1, sample));
      this.#loudest = Math.max(this.#loudest, Math.abs(bounded));
      this.#samples[this.#filled] = Math.round(bounded * 32_767);
      this.#filled += 1;
      if (this.#filled === this.#samples.length) this.#pass();
    }
    return true;
  }

  #pass() {
    const { buffer } = this.#samples;
    this.port.postMessage({ samples: buffer, loudest: this.#loudest }, [buffer]);
    this.#samples = new Int16Array(Math.round(sampleRate / 10));
    this.#filled = 0;
    this.#loudest = 0;
  }
}

registerProcessor("capture", Capture);
