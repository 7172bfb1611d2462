/** Work cut into steps of a few milliseconds, so that what shares its thread need not wait. */
export type Steps<T> = Generator<undefined, T>;
