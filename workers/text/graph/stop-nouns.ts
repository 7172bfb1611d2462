/** Nouns that are in every conversation and say nothing about what it is about. */
export const STOP_NOUNS: ReadonlySet<string> = new Set(
  `ah aha all anybody anyone anything bit bunch case cause chance choice couple course deal everybody
  everyone everything example fact feeling folk folks gentleman gentlemen guess guy guys half hand
  hello her here hey hi his hmm huh idea instance issue item its kind ladies lady least lot lots man manner matter
  mhm mind mm moment most my need news nobody none nothing oh ok okay ooh one ones opinion order other
  others our part people person piece place point question reason rest right second sense side
  somebody someone something sort start stuff sure thank thanks their there thing things thought time times
  today tomorrow top total type uh uhhuh um use view way ways what whatever which while who whole
  will wonder word words yeah yep yes yesterday your`.split(/\s+/),
);

/** Verbs that tie nothing to anything. */
export const STOP_VERBS: ReadonlySet<string> = new Set(
  "be can could do get go guess have know let may mean might must shall should suppose think will would".split(
    " ",
  ),
);
