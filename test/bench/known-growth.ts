/**
 * What is known to grow, with the ratio of its largest size to its smallest that it may come to:
 * half as much again as it was when it was written down. Everything else may grow by a fifth.
 *
 * With the length of a session its segments grow, which an activation reads and a look counts; with
 * open sessions the sweeps over them, and what a host that dies leaves to be taken up; with stored
 * chunks a sweep over the sessions of erased people.
 */
export const KNOWN_GROWTH: Readonly<Record<string, number>> = {
  "length of the session: final: write-ahead log": 2.1,
  "length of the session: look, live with a snapshot: time": 2.7,
  "length of the session: look, live with a snapshot: CPU of our process": 3.0,
  "length of the session: look, live with a snapshot: CPU of PostgreSQL": 2.8,
  "length of the session: look, live with 200 missed events: time": 1.9,
  "length of the session: final with today's speaker state: write-ahead log": 1.9,
  "length of the session: activation from a snapshot: time": 7.8,
  "length of the session: activation from a snapshot: CPU of our process": 11.2,
  "length of the session: activation from a snapshot: CPU of PostgreSQL": 4.0,
  "length of the session: turns of a chunk and its final: CPU of our process": 2.3,
  "length of the session: turns of a chunk and its final: CPU of PostgreSQL": 2.0,
  "length of the session: turns of a chunk and its final: write-ahead log": 2.4,
  "open sessions: a second in which nobody speaks: CPU of our process": 10.8,
  "open sessions: a second in which nobody speaks: CPU of PostgreSQL": 10.7,
  "open sessions: a second in which nobody speaks: statements": 3.0,
  "open sessions: look, first page of segments: CPU of our process": 2.0,
  "open sessions: look, first page of segments: CPU of PostgreSQL": 1.9,
  "open sessions: look, last whole page of segments: CPU of our process": 1.9,
  "open sessions: kill -9 of the host to a speaker's next final": 5.4,
  "open sessions: kill -9 of the host to its first session taken up": 4.7,
  "open sessions: kill -9 of the host to its last session taken up": 108.0,
  "stored chunks: a second in which nobody speaks: CPU of our process": 2.9,
  "stored chunks: a second in which nobody speaks: CPU of PostgreSQL": 2.1,
};
