import koffi from "koffi";
import { AppError } from "../../../src/base/errors.ts";
import type { NativeLibrary, NativePointer } from "./native-library.ts";

// First members of `ps_decoder_t`, `dict_t` and `dict2pid_t` of pocketsphinx 5prealpha. They are no
// public interface, so `locateParts` checks that they point where they should before they are used.
const DECODER = koffi.struct({
  config: "void *",
  refcount: "int",
  acoustic: "void *",
  dictionary: "void *",
  mapping: "void *",
  logMath: "void *",
});
const DICTIONARY = koffi.struct({ refcount: "int", model: "void *" });
const MAPPING = koffi.struct({ refcount: "int", model: "void *", dictionary: "void *" });

/** What words are added to. */
export interface DecoderParts {
  dictionary: NativePointer;
  /** Of the dictionary's words to the states of the acoustic model. */
  mapping: NativePointer;
  /** The acoustic model's definition, which numbers the phones. */
  definition: NativePointer;
}

/**
 * The dictionary of a decoder. `ps_add_word` would not do: it also adds the word to the language
 * model of all sessions, for good. Throws AppError `internal` where the library is laid out
 * otherwise.
 */
export function locateParts(native: NativeLibrary, decoder: NativePointer): DecoderParts {
  const { dictionary, mapping, logMath } = koffi.decode(decoder, DECODER);
  const isDecoder = isSame(logMath, native.logMath(decoder));
  if (isDecoder && dictionary !== null && mapping !== null) {
    const inner = koffi.decode(mapping, MAPPING);
    const { model: definition } = koffi.decode(dictionary, DICTIONARY);
    if (isSame(inner.dictionary, dictionary) && isSame(inner.model, definition)) {
      return { dictionary, mapping, definition };
    }
  }
  throw new AppError("internal", "this build of pocketsphinx takes no vocabulary");
}

function isSame(one: NativePointer, other: NativePointer): boolean {
  return koffi.address(one) === koffi.address(other);
}
