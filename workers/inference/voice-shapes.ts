/** Numbers of a voice's vector. */
export const EMBEDDING_SIZE = 192;
/** Less speech has no vector, samples at 16 kHz (0.4 s). */
export const LEAST_EMBEDDED = 6_400;
/** The longest sound that is segmented in one piece, samples (10 s); shorter one is continued by silence. */
export const LONGEST_SEGMENTED = 160_000;
