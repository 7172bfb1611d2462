import { existsSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";

/** Opaque pointer of the native side. */
export type NativePointer = unknown;

/** The functions of sphinxbase and pocketsphinx that are used here. */
export interface NativeLibrary {
  /** Folder with `en-us/`, `en-us.lm.bin` and `cmudict-en-us.dict`. */
  readonly modelFolder: string;
  psArgs(): NativePointer;
  parseArguments(
    base: null,
    definitions: NativePointer,
    count: number,
    values: string[],
    strict: number,
  ): NativePointer;
  freeArguments(config: NativePointer): number;
  /** Runs on a separate thread; resolves to null when the model was refused. */
  init(config: NativePointer): Promise<NativePointer>;
  free(decoder: NativePointer): number;
  startStream(decoder: NativePointer): number;
  startUtterance(decoder: NativePointer): number;
  endUtterance(decoder: NativePointer): number;
  processRaw(
    decoder: NativePointer,
    pcm: Int16Array,
    count: number,
    noSearch: number,
    full: number,
  ): number;
  hypothesis(decoder: NativePointer, score: null): string | null;
  segments(decoder: NativePointer): NativePointer | null;
  nextSegment(segment: NativePointer): NativePointer | null;
  segmentWord(segment: NativePointer): string;
  segmentFrames(segment: NativePointer, start: Int32Array, end: Int32Array): void;
  segmentPosterior(
    segment: NativePointer,
    acoustic: Int32Array,
    language: Int32Array,
    backoff: Int32Array,
  ): number;
  features(decoder: NativePointer): NativePointer;
  logMath(decoder: NativePointer): NativePointer;
  exponent(logMath: NativePointer, value: number): number;
  createFrontEnd(config: NativePointer): NativePointer;
  startFrontEndStream(frontEnd: NativePointer): void;
  startFrontEnd(frontEnd: NativePointer): number;
  /** Fills in the rows of cepstra, which `freeCepstra` must free, and their number. */
  cepstra(
    frontEnd: NativePointer,
    pcm: Int16Array,
    count: number,
    rows: [NativePointer],
    frames: Int32Array,
  ): number;
  endFrontEnd(frontEnd: NativePointer, last: Float32Array, frames: Int32Array): number;
  freeCepstra(rows: NativePointer): void;
  freeFrontEnd(frontEnd: NativePointer): number;
  decoderSearch(decoder: NativePointer): string;
  /** Selects the search with which the next utterances are read. */
  selectSearch(decoder: NativePointer, name: string): number;
  dropSearch(decoder: NativePointer, name: string): number;
  languageModel(decoder: NativePointer, search: string): NativePointer | null;
  /** Adds a search that reads with the language model; runs on a separate thread. */
  addSearch(decoder: NativePointer, name: string, model: NativePointer): Promise<number>;
  /** The word's number in the dictionary, -1 without one. */
  dictionaryWord(dictionary: NativePointer, word: string): number;
  addDictionaryWord(
    dictionary: NativePointer,
    word: string,
    phones: Int16Array,
    count: number,
  ): number;
  /** Completes an added word; other numbers break the engine. */
  mapDictionaryWord(mapping: NativePointer, word: number): number;
  phone(dictionary: NativePointer, name: string): number;
  readModel(
    config: NativePointer,
    path: string,
    type: number,
    logMath: NativePointer,
  ): NativePointer | null;
  freeModel(model: NativePointer): number;
  interpolate(
    config: NativePointer,
    models: NativePointer[],
    names: string[],
    weights: Float32Array,
    count: number,
  ): NativePointer | null;
  modelWord(model: NativePointer, word: string): number;
  unknownModelWord(model: NativePointer): number;
  /** Logarithm, in the engine's units, of the probability of a word after no other. */
  wordProbability(
    model: NativePointer,
    word: number,
    history: null,
    historyLength: number,
    used: Int32Array,
  ): number;
  /** Returns freed memory of the whole process to the system, if the C library supports it. */
  giveBackMemory(): void;
}

/** Thrown when the native libraries cannot be loaded; the message says what a person can do. */
class NativeLibraryError extends Error {
  readonly code = "engine_missing";
}

const MULTIARCH: Readonly<Record<string, string>> = {
  x64: "x86_64-linux-gnu",
  arm64: "aarch64-linux-gnu",
};

// Loaded in this order, because unpacked libraries without the alternatives system cannot find
// those they depend on.
const SONAMES = [
  "libquadmath.so.0",
  "libgfortran.so.5",
  "blas/libblas.so.3",
  "lapack/liblapack.so.3",
  "libsphinxbase.so.3",
  "libpocketsphinx.so.3",
];

// Loading a model needs as much stack on another thread as on this one; one model is loaded at a
// time.
koffi.config({ async_stack_size: 2 * 1024 * 1024, resident_async_pools: 1 });

let loaded: { root: string; library: NativeLibrary } | undefined;

/**
 * Loads pocketsphinx from a folder of unpacked Debian packages, or from the system when the folder
 * has none. Throws NativeLibraryError.
 */
export function loadNativeLibrary(nativeRoot: string | undefined): NativeLibrary {
  const root = nativeRoot ?? "";
  if (loaded?.root === root) return loaded.library;
  const handles = root === "" ? undefined : openUnpacked(root);
  const found = handles ?? openSystem(root);
  const library = bind(found.base, found.engine, found.modelFolder);
  loaded = { root, library };
  return library;
}

type Library = ReturnType<typeof koffi.load>;
interface Opened {
  base: Library;
  engine: Library;
  modelFolder: string;
}

function openUnpacked(root: string): Opened | undefined {
  const folder = join(root, "usr", "lib", MULTIARCH[process.arch] ?? process.arch);
  if (!existsSync(join(folder, "libpocketsphinx.so.3"))) return undefined;
  const handles: Library[] = [];
  for (const soname of SONAMES) {
    const path = join(folder, soname);
    // libquadmath exists only on some architectures.
    if (existsSync(path)) handles.push(koffi.load(path, { global: true }));
  }
  const [base, engine] = handles.slice(-2);
  if (base === undefined || engine === undefined) return undefined;
  return { base, engine, modelFolder: requireModel(join(root, "usr")) };
}

function openSystem(root: string): Opened {
  try {
    const base = koffi.load("libsphinxbase.so.3", { global: true });
    const engine = koffi.load("libpocketsphinx.so.3", { global: true });
    return { base, engine, modelFolder: requireModel("/usr") };
  } catch (cause) {
    if (cause instanceof NativeLibraryError) throw cause;
    const where = root === "" ? "" : ` in ${root} or`;
    throw new NativeLibraryError(
      `speech engine not found${where} on the system: install libpocketsphinx3, libsphinxbase3 and pocketsphinx-en-us, or set VOICE_NATIVE_ROOT to a folder they were unpacked into`,
      { cause },
    );
  }
}

function requireModel(prefix: string): string {
  const folder = join(prefix, "share", "pocketsphinx", "model", "en-us");
  if (existsSync(join(folder, "en-us.lm.bin"))) return folder;
  throw new NativeLibraryError(`speech model not found in ${folder}: install pocketsphinx-en-us`);
}

function bindFrontEnd(base: Library) {
  const pointer = "void *";
  return {
    createFrontEnd: base.func("fe_init_auto_r", pointer, [pointer]),
    startFrontEndStream: base.func("fe_start_stream", "void", [pointer]),
    startFrontEnd: base.func("fe_start_utt", "int", [pointer]),
    cepstra: base.func("fe_process_utt", "int", [
      pointer,
      "int16_t *",
      "size_t",
      "_Out_ void **",
      "_Out_ int32_t *",
    ]),
    endFrontEnd: base.func("fe_end_utt", "int", [pointer, "_Out_ float *", "_Out_ int32_t *"]),
    freeCepstra: base.func("fe_free_2d", "void", [pointer]),
    freeFrontEnd: base.func("fe_free", "int", [pointer]),
  };
}

/** Searches, dictionary and language models of a decoder. */
function bindLanguage(base: Library, engine: Library) {
  const pointer = "void *";
  const text = "const char *";
  const addSearch = engine.func("ps_set_lm", "int", [pointer, text, pointer]);
  return {
    decoderSearch: engine.func("ps_get_search", text, [pointer]),
    selectSearch: engine.func("ps_set_search", "int", [pointer, text]),
    dropSearch: engine.func("ps_unset_search", "int", [pointer, text]),
    languageModel: engine.func("ps_get_lm", pointer, [pointer, text]),
    addSearch: (decoder: NativePointer, name: string, model: NativePointer): Promise<number> =>
      new Promise((resolve, reject) => {
        addSearch.async(decoder, name, model, (error: unknown, result: number) => {
          if (error) reject(error);
          else resolve(result);
        });
      }),
    dictionaryWord: engine.func("dict_wordid", "int32_t", [pointer, text]),
    addDictionaryWord: engine.func("dict_add_word", "int32_t", [
      pointer,
      text,
      "int16_t *",
      "int32_t",
    ]),
    mapDictionaryWord: engine.func("dict2pid_add_word", "int", [pointer, "int32_t"]),
    phone: engine.func("bin_mdef_ciphone_id", "int", [pointer, text]),
    readModel: base.func("ngram_model_read", pointer, [pointer, text, "int", pointer]),
    freeModel: base.func("ngram_model_free", "int", [pointer]),
    interpolate: base.func("ngram_model_set_init", pointer, [
      pointer,
      "void **",
      "const char **",
      "float *",
      "int32_t",
    ]),
    modelWord: base.func("ngram_wid", "int32_t", [pointer, text]),
    unknownModelWord: base.func("ngram_unknown_wid", "int32_t", [pointer]),
    wordProbability: base.func("ngram_ng_prob", "int32_t", [
      pointer,
      "int32_t",
      "int32_t *",
      "int32_t",
      "_Out_ int32_t *",
    ]),
  };
}

type Answer = (error: unknown, result: NativePointer) => void;

/** Calls the function on a separate native thread, without blocking this one. */
function promised(call: { async: (argument: NativePointer, answer: Answer) => void }) {
  return (argument: NativePointer): Promise<NativePointer> =>
    new Promise((resolve, reject) => {
      call.async(argument, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
}

/**
 * Disables messages and log files for the whole process. It only stores two pointers, so several
 * threads may call it at once.
 */
function silence(base: Library): void {
  base.func("err_set_callback", "void", ["void *", "void *"])(null, null);
  base.func("err_set_logfp", "void", ["void *"])(null);
}

/** glibc keeps freed memory that lies below memory in use, and a decoder has 90 MB. */
function bindTrim(): () => void {
  try {
    const trim = koffi.load("libc.so.6").func("malloc_trim", "int", ["size_t"]);
    return () => {
      trim.async(0, () => {});
    };
  } catch {
    return () => {};
  }
}

function bind(base: Library, engine: Library, modelFolder: string): NativeLibrary {
  const pointer = "void *";
  silence(base);
  return {
    modelFolder,
    psArgs: engine.func("ps_args", pointer, []),
    parseArguments: base.func("cmd_ln_parse_r", pointer, [
      pointer,
      pointer,
      "int",
      "char **",
      "int",
    ]),
    freeArguments: base.func("cmd_ln_free_r", "int", [pointer]),
    init: promised(engine.func("ps_init", pointer, [pointer])),
    free: engine.func("ps_free", "int", [pointer]),
    startStream: engine.func("ps_start_stream", "int", [pointer]),
    startUtterance: engine.func("ps_start_utt", "int", [pointer]),
    endUtterance: engine.func("ps_end_utt", "int", [pointer]),
    processRaw: engine.func("ps_process_raw", "int", [
      pointer,
      "int16_t *",
      "size_t",
      "int",
      "int",
    ]),
    hypothesis: engine.func("ps_get_hyp", "const char *", [pointer, pointer]),
    segments: engine.func("ps_seg_iter", pointer, [pointer]),
    nextSegment: engine.func("ps_seg_next", pointer, [pointer]),
    segmentWord: engine.func("ps_seg_word", "const char *", [pointer]),
    segmentFrames: engine.func("ps_seg_frames", "void", [pointer, "_Out_ int *", "_Out_ int *"]),
    segmentPosterior: engine.func("ps_seg_prob", "int32_t", [
      pointer,
      "_Out_ int32_t *",
      "_Out_ int32_t *",
      "_Out_ int32_t *",
    ]),
    features: engine.func("ps_get_feat", pointer, [pointer]),
    logMath: engine.func("ps_get_logmath", pointer, [pointer]),
    exponent: base.func("logmath_exp", "double", [pointer, "int"]),
    ...bindFrontEnd(base),
    ...bindLanguage(base, engine),
    giveBackMemory: bindTrim(),
  };
}
