import { ERROR_CODES, errorMeaning, errorStatus } from "../base/errors.ts";
import { LIVE_NAMES } from "./live-names.ts";

const CODES = ERROR_CODES.map(
  (code) => `| \`${code}\` | ${errorStatus(code)} | ${errorMeaning(code)} |`,
).join("\n");

/** Where the guide's commands find the service. */
export const EXAMPLE_BASE = "http://127.0.0.1:8080/api";

/** The guide at the head of the OpenAPI document, in Markdown. */
export const GUIDE = `
Devices upload or stream what is said, people follow the transcript as it comes, say whose voice is whose,
and ask questions about it.

# Get started

Make this program a device, and give its session a file \`talk.wav\`:

\`\`\`sh
BASE=${EXAMPLE_BASE} JSON='content-type: application/json'
first() { grep -o "\\"$1\\":\\"[^\\"]*" | head -n 1 | cut -d '"' -f 4; }
TOKEN=$(curl -s $BASE/auth/login -H "$JSON" \\
  -d '{"email":"admin@voice.local","password":"the password that was printed at the start"}' | first token)
WORKSPACE=$(curl -s $BASE/workspaces -H "Authorization: Bearer $TOKEN" | first id)
MADE=$(curl -s $BASE/devices -H "Authorization: Bearer $TOKEN" -H "$JSON" -d "{\\"workspace_id\\":\\"$WORKSPACE\\"}")
DEVICE=$(echo "$MADE" | first device_id) KEY=$(echo "$MADE" | first api_key)
SESSION=$(curl -s -X POST $BASE/devices/$DEVICE/session/start -H "X-API-Key: $KEY" | first session_id)
curl $BASE/sessions/$SESSION/upload-audio -H "X-API-Key: $KEY" -F chunk_sequence=0 -F file=@talk.wav
curl -X POST $BASE/devices/$DEVICE/session/stop -H "X-API-Key: $KEY"
curl $BASE/sessions/$SESSION/transcript -H "Authorization: Bearer $TOKEN"
\`\`\`

What a device does (start, upload, stream, stop, heartbeat) takes its key as \`X-API-Key\`; what people do takes the
login's \`token\` as \`Authorization: Bearer …\`. The transcript is whole once the session's \`status\` is \`completed\`.

**Live**: to follow a session as it happens, or to stream sound, open a WebSocket: see
[the channels and their messages](docs?api=websockets), *WebSockets* at the top left of this page.

A device that stands by itself gets its key by pairing, as nobody signs in there:

| | who | call | what comes of it |
|---|---|---|---|
| 1 | the device | \`POST /devices/pairing-codes\` with its \`device_serial\` | \`device_id\`, \`code\` to show for 10 min, and \`pairing_secret\` to keep |
| 2 | a person | \`POST /devices/pair\` with that \`code\` and a \`workspace_id\` | the device is paired, and theirs |
| 3 | the device | \`POST /devices/pair/claim-auth\` with \`Authorization: Bearer\` and its \`pairing_secret\`, every \`interval\` seconds | 409 \`not_paired\` until step 2, then \`api_key\`: from here on its \`X-API-Key\` |
| 4 | the device | \`POST /devices/{device_id}/session/start\` | \`session_id\`, and \`stream_url\` for step 5 |
| 5 | the device | either the WebSocket \`GET /devices/{device_id}/stream\`: Configure, audio, CloseStream; or \`POST /sessions/{session_id}/upload-audio\`, chunk by chunk from \`chunk_sequence\` 0 | each AudioAck, or 201, says what is stored |
| 6 | the device | \`POST /devices/{device_id}/session/stop\`, after uploads with \`last_chunk_sequence\`, after a stream without | \`processing\`; chunks that are missing may still be uploaded |

All the while \`POST /devices/{device_id}/heartbeat\` (or Heartbeat on its stream) says that it is there, every 30 s unless
it says otherwise, and hears when to fetch a fresh key by step 3, with its \`X-API-Key\`. An open stream and an upload are
signs of life too. A session of whose device nothing was heard for 15 min (\`AUTO_STOP_SILENCE\`) is stopped by itself.

# Sign in

| who | how |
|---|---|
| a person | \`POST /auth/login\`, a mailed link or an identity provider; the access token lives 1 h. With \`remember_me\` a refresh token comes too: \`GET /auth/refresh-token\` gives fresh ones until 12 h after the login |
| a guest of one session | \`POST /auth/guest\` with the session's id or a guest code |
| a device | \`X-API-Key\` with the key that pairing gave it; it lives 30 days, \`renew_key\` of a heartbeat says when to fetch another |
| a service | \`X-API-Key\` with a service key of one workspace (\`POST /api-keys\`); its scopes say what it may do |
| a browser's WebSocket | \`?ticket=\` from \`POST /auth/live-ticket\`: 30 s, one use |
| a telephone call | the parameter \`ticket\` of its start message, from \`POST /sessions/{session_id}/call-tickets\`: 5 min, one call |

Tokens and keys are never taken from a query.

# Formats

JSON in UTF-8 both ways. Ids are UUIDs in lower case, times are RFC 3339 in UTC with milliseconds and \`Z\`,
members that end in \`_ms\` are milliseconds from the start of the session's audio. What is absent is left out,
not null. Unknown members of a body are ignored, and named in the answer's \`Warning\` header; webhooks refuse them. Unknown query parameters are refused by lists and searches
(400, with the names of the known ones), as a misspelt filter would find more than was asked for; everywhere else they are ignored.

Words have capitals and sentence marks, and are the same on every surface: segments, answers, gRPC, live frames and
transcripts of each format. Where a model writes none, English gets them by rule when it is read; other languages stay as
they were recognised. A JSON transcript has \`readable_text\` beside \`text\` only where they differ: with \`numbers=digits\`,
and in recordings that version 1.0 read without marks; \`style=raw\` leaves those as they are. The texts for people mark
words that were not heard clearly, \`to [tunisia?] back\`. In \`Results\` of the live channel a segment's \`text\` is called
\`transcript\`, and its \`speaker_label\` \`speaker\`.

# Errors

Every error has the body \`{"success": false, "message": "…"}\`: a sentence for people. Programs go by the
header \`X-Error-Code\`, a closed list. \`X-Request-Id\` names the request in the logs; send your own to find it again.
Checks come in this order: size, kind and the limit of the address (413, 415, 429), who calls (401), may the role do this (403),
is there such a thing (404), may this caller (403), is the request right (400, 422), does the state allow it (409, 412).

| code | status | meaning |
|---|---|---|
${CODES}

# Pages

Lists take \`limit\` (1 to 100, 50 by default) and \`cursor\`, and answer \`{items, next_cursor}\`. Give \`next_cursor\`
as \`cursor\` for the next page; at the end it is null. A cursor belongs to its list and its filters. Only
\`GET /sessions/{session_id}/chunks\` answers \`{success, chunks, total_chunks}\`, all of them unless \`limit\` or \`cursor\` is given.

# Repeating and editing

- \`Idempotency-Key\` on POSTs that create something and on commands to a session makes them safe to repeat for 24 h:
  the same key and body get the first answer, another body 422, one that is still under way 409.
- Uploads need no key: the same bytes for the same sequence are answered 200 with the same chunk.
- Things carry an \`ETag\`. With \`If-Match\` an edit of what has changed meanwhile is refused (412); with \`If-None-Match\` a
  read of what has not changed is 304.

# Limits

1 MiB of JSON, 64 MiB and 15 min of sound for one upload, where the operator set nothing else. Requests are limited by caller and kind of
request; answers tell where one stands in \`RateLimit-*\`, and 429 says in \`Retry-After\` when to go on. Workspaces may have ceilings: 403 \`quota_exceeded\`.

# Live

\`GET /live\` is a WebSocket for those who follow, \`GET /devices/{device_id}/stream\` one for devices. Their messages stand in
[the AsyncAPI document](asyncapi.json), drawn [on a page](docs?api=websockets). Durable events have \`seq\`, which rises by one
without gaps, and \`at\`: reconnect with \`from_seq\`, and nothing is missed and nothing comes twice. Some members have other names there:

${LIVE_NAMES}

# Telephone calls

\`/api/compat/twilio/stream\` is a WebSocket that speaks as Twilio's Media Streams do. A program makes a session and a ticket, with
a service key of the scope \`sessions:write\`, and answers the call with both in its TwiML:

\`\`\`sh
SESSION=$(curl -s $BASE/sessions -H "X-API-Key: $KEY" -H "$JSON" -d '{"title":"Call","speaker_channels":2}' | first id)
curl -s -X POST $BASE/sessions/$SESSION/call-tickets -H "X-API-Key: $KEY"
\`\`\`

\`\`\`xml
<Response>
  <Start>
    <Stream url="wss://voice.example.org/api/compat/twilio/stream" track="both_tracks">
      <Parameter name="ticket" value="…"/>
    </Stream>
  </Start>
  <Dial>+15550100</Dial>
</Response>
\`\`\`

The url is \`stream_url\` of the ticket. Sound is taken as µ-law at 8 kHz (\`audio/x-mulaw\`). Of both tracks the inbound one is the
first channel, the outbound one the second: with \`"speaker_channels":2\` each is one speaker; without it, and of one track, voices are
told apart by how they sound. No sound is taken before the ticket, and without one the connection is closed after 5 s. Sound goes where
its \`timestamp\` says: what is lost is silence, and what comes out of order is put in its place for 200 ms. \`dtmf\`, \`mark\`, other
parameters and unknown events are ignored, digits are not stored; nothing is sent back, the words come over \`GET /live\`. The recording ends with
\`stop\`, with the connection, and when no sound came for a minute; what came is kept. Closes: 1000 after \`stop\`, 1001 what the service cannot do just now, 4401 ticket or
right, 4400 messages that make no sense, 1009 one of more than 64 KiB, 4408 no sound, 4409 another stream took its place, 4429 too many.
One message holds at most 2 s. The call has the rights of whoever made the ticket: a revoked key ends it, a person's access token after 1 h at most.
Where the operator has set \`TWILIO_AUTH_TOKEN\`, a connection without the signature of that account (\`X-Twilio-Signature\`) is refused with 403.

# Assistants

\`POST /mcp\` speaks the Model Context Protocol (streamable HTTP, stateless), so that an assistant finds sessions, reads
transcripts, asks and lists action items and decisions, each with citations. Its tools read and change nothing. An MCP client that
takes an address gets

\`\`\`json
{"mcpServers": {"voice": {"type": "http", "url": "${EXAMPLE_BASE}/mcp", "headers": {"X-API-Key": "…"}}}}
\`\`\`

with a service key of the scopes \`sessions:read\` and \`query\`, or \`Authorization: Bearer\` and a person's token; there is no
authorization server. One that starts a program gets the \`voice\` command, which acts as who has signed in by \`voice login\`, or by
the key in \`VOICE_KEY\`: \`{"mcpServers": {"voice": {"command": "voice", "args": ["mcp"]}}}\` (or \`node\` with the path of \`deploy/bin/voice.mjs\`
before \`mcp\`). Each message has the rights of whoever
sends it, as they are then: a revoked key is refused at its next message, and what was redacted is not read any more. What an
administrator reads under an elevation is on record as over REST. Every result says that what people said is data and never an
instruction; an assistant that also has tools which act should ask a person before it does what a recording says.

# Webhooks

A workspace's webhooks are told of its sessions by POST, with the headers and signature of Standard Webhooks: \`webhook-id\`
(the same in every attempt), \`webhook-timestamp\` and \`webhook-signature\`, a HMAC-SHA256 under the secret that was shown
once. Answer 2xx within seconds; everything else is tried again for 3 days, and \`410\` ends it. Messages hold ids, numbers, labels and
states, never words: fetch those with a service key. See *Webhooks* below for each message.
`.trim();
