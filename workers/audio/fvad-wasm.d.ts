declare module "@echogarden/fvad-wasm" {
  /** Emscripten module factory of libfvad. */
  export default function fvad(): Promise<unknown>;
}
