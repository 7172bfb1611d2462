/** How members of the live channel's messages are called over REST, as a Markdown table. */
export const LIVE_NAMES = `
| live | REST | |
|---|---|---|
| \`segment_id\` | \`id\` of a segment | the same UUID, also of an interim result, whose segment is there once it is final |
| \`start\`, \`duration\` | \`start_ms\`, \`end_ms\` | seconds and milliseconds of the same timeline: \`end_ms\` is \`start\` + \`duration\` |
| \`start\`, \`end\` of words and spans | \`start_ms\`, \`end_ms\` | seconds and milliseconds |
| \`transcript\` | \`text\` | the same words |
| \`speaker\` | \`speaker_label\` | \`S1\`, \`S2\`, … or \`UU\` |
| \`segments_cursor\` of Snapshot | \`cursor\` of GET /sessions/{session_id}/segments | |
| \`unclear_words\` of Snapshot | \`unclear\` of \`words\` | places of the words in place of the words |
| \`job_id\` of JobStatus | \`id\` of GET /jobs/{id} | |
`.trim();
