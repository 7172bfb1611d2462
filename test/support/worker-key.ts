/** What the tests' workers want to see, and what those that call them send. */
export const WORKER_KEY = "the key of the tests' workers";
