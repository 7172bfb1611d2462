// Made from the OpenAPI document by `npm run client`; not edited by hand.

export interface paths {
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The audit log, newest first */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compute the audit log's hash chain again
         * @description Finds changed, missing and inserted entries. Keep `head` elsewhere and give it as `head=<seq>:<hash>` the next time: then a log that was cut short shows as well.
         */
        get: operations["verifyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/content-elevate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * See content of sessions for a while, with a reason on record
         * @description Opens the words and audio of one session, or of all, to the calling administrator. The reason and every read under it stand in the audit log; what cannot be recorded is not shown.
         */
        post: operations["elevateContent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/content-elevate/{elevation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End an elevation before its time
         * @description Any administrator may; open sockets that it allowed close within 5 s.
         */
        delete: operations["endContentElevation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/summarisations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Summarisation jobs, newest first, without content */
        get: operations["listSummarisationJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/summarisations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A summarisation job with its text
         * @description An administrator without native access to the session sees a placeholder until a content elevation is in force.
         */
        get: operations["getSummarisationJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Transcription jobs, newest first, without content */
        get: operations["listTranscriptionJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/transcriptions/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A transcription job with its text and segments
         * @description An administrator without native access to the session sees placeholders until a content elevation is in force.
         */
        get: operations["getTranscriptionJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/transcriptions/{job_id}/redo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recognise a session's stored audio once more
         * @description The job keeps its id, and the text that stands stays until the new one replaces it in one step. Claims are kept.
         */
        post: operations["redoTranscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Service keys of the workspaces that the caller owns, newest first; all for an admin */
        get: operations["listServiceKeys"];
        put?: never;
        /**
         * Make a service key for one workspace
         * @description By an owner of the workspace or an admin. The key is shown in this answer only. It lives one year unless `expires_at` says otherwise. `sessions:read` reads sessions, transcripts and the live channel, `sessions:write` edits sessions, `query` asks, `export` fetches transcript files and audio, `webhooks` manages webhooks.
         */
        post: operations["createServiceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One service key, without its secret */
        get: operations["getServiceKey"];
        put?: never;
        post?: never;
        /** Revoke a service key: refused within 5 s everywhere, open sockets included */
        delete: operations["revokeServiceKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A new secret for a service key; the old one works for 24 h more at most
         * @description Without `expires_at` the new secret lives for as long as the one before was given. Of older secrets only the newest stays valid for the 24 h.
         */
        post: operations["rotateServiceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/asyncapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The live channel as an AsyncAPI 3.0 document */
        get: operations["getAsyncApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/guest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join one session as a guest
         * @description Whoever was given the session's id is invited, unless its guest access is closed. The token opens that session only, until its guest access closes, at most 12 h.
         */
        post: operations["enterAsGuest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/jwks.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Public keys that this service's tokens can be checked with (RFC 7517) */
        get: operations["jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/live-ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A ticket that opens one WebSocket where no header can be sent
         * @description Good for 30 s and one use, as `?ticket=` of the WebSocket's address.
         */
        post: operations["issueLiveTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with e-mail address and password
         * @description The access token lives 1 h. With `remember_me` a refresh token comes with it, good until 12 h after this login.
         */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End this login: its access and refresh tokens stop working at once */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who the token belongs to */
        get: operations["me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/{provider}/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Send the browser to an identity provider
         * @description For a browser to open: answers with a redirect and a cookie that binds the sign-in to this browser for 10 min. With `redirect`, a page of this service or of an allowed origin, the browser ends up there with `#token=…` or `#error=…`.
         */
        get: operations["authorizeWithProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/{provider}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where the provider sends the browser back to
         * @description Exchanges the code and signs in whoever the provider vouches for: known by an earlier sign-in with this provider, or by a verified e-mail address. Nobody is remembered: no refresh token comes with it.
         */
        get: operations["completeWithProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/oauth/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Identity providers that one can sign in with */
        get: operations["listOAuthProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change one's own password
         * @description Every other login of the account ends, with its refresh token and open sockets; this one goes on. A wrong current password is 401 with the code invalid_credentials.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A fresh access token; the refresh token is the bearer */
        get: operations["refreshToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/request-magic-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a sign-in link sent by mail
         * @description The answer is the same whether or not there is an account with this address. A link works once, within 10 min. Five may be asked for at once for one address, then one every two minutes.
         */
        post: operations["requestMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/validate-magic-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sign in with the token of a link */
        post: operations["validateMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/concerns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Concerns that the caller may triage or raised, newest first
         * @description Administrators see all of them, with texts only of sessions to which they have native access.
         */
        get: operations["listConcerns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/concerns/{concern_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One concern */
        get: operations["getConcern"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Acknowledge, resolve, dismiss or reopen a concern
         * @description By the session's owner, a moderator of its workspace, or an administrator. A privacy concern that points at a segment or a span is resolved for good with `redact`: the words there are taken out of the transcript, and no later reading brings them back.
         */
        patch: operations["triageConcern"];
        trace?: never;
    };
    "/devices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Devices that the caller paired or shares a workspace with; all for an admin */
        get: operations["listDevices"];
        put?: never;
        /**
         * Make a virtual device, for example this browser's microphone, and get its key
         * @description The key is shown once and lives 30 days; claim-auth with it gives a fresh one.
         */
        post: operations["createVirtualDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/{device_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One device */
        get: operations["getDevice"];
        put?: never;
        post?: never;
        /** Unpair a device: its keys and pairing secret end at once */
        delete: operations["unpairDevice"];
        options?: never;
        head?: never;
        /** Give a device another name */
        patch: operations["renameDevice"];
        trace?: never;
    };
    "/devices/{device_id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A device says that it is there, and how it does
         * @description All members are optional; unknown ones are kept as telemetry. `commands` tells the device what to do: `renew_key` when its key runs out within 7 days, `stop_recording` when it says it records and no session is open.
         */
        post: operations["heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/{device_id}/session/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start recording a session */
        post: operations["startDeviceSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/{device_id}/session/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop the session that is recording
         * @description Stopping again is answered the same. Without `session_id` it is the newest one.
         */
        post: operations["stopDeviceSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/pair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pair the device that shows this code with a workspace */
        post: operations["pairDevice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/pair/claim-auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A fresh device key
         * @description The device calls with its `pairing_secret` as bearer, or with its current `X-API-Key`; the key before stays valid for 24 h at most. Or a signed-in user calls with `{code, workspace_id}`, which pairs and returns the key in one step. A key lives 30 days and is shown once.
         */
        post: operations["claimDeviceKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/pair/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far the pairing of a device is; never shows a secret */
        get: operations["pairingStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/devices/pairing-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A device publishes its pairing code
         * @description Without `code` the service makes one. A signed-in user types it within 10 min; meanwhile the device asks claim-auth with its `pairing_secret` every `interval` seconds. The secret is shown once.
         */
        post: operations["publishPairingCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This interface as a page for people */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the service is */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process answers */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process can serve requests */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Jobs of the caller's own sessions, newest first
         * @description Of the sessions that the caller owns, took part in or that were shared with the caller; without content.
         */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far a job is */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job that is queued or running
         * @description By the session's owner or an administrator. A summary is not made. Of transcriptions only a repeated one can be cancelled: the text that stands stays, and the job can be repeated again. The first transcription is the session's text itself; it ends with the session. Cancelling again is answered the same.
         */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This interface as an OpenAPI 3.1 document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sessions that the caller may see, newest first */
        get: operations["listSessions"];
        put?: never;
        /**
         * Make a session of one's own
         * @description The session records from now on and belongs to the caller. Its audio is uploaded with the key of the device that is named here (a browser is one after POST /devices), by the caller's own devices only; the device itself need not start it. Without a device the session takes no uploads: it is there to invite people and guests ahead, and is ended with POST /sessions/{session_id}/stop.
         */
        post: operations["createSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One session's record */
        get: operations["getSession"];
        put?: never;
        post?: never;
        /**
         * Delete a session for good
         * @description By its owner or an admin, in any state. Words, audio, names and everything derived from them go; open sockets close. It cannot be undone. The receipt lists what was removed; an admin who repeats the call gets it again.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        /**
         * Change a session's title, workshop, who sees it, and whether guests may join
         * @description By its owner; a moderator of its workspace may open and close guest access. Closing it ends the guests' tokens and connections within 5 s.
         */
        patch: operations["editSession"];
        trace?: never;
    };
    "/sessions/{session_id}/audio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The session's audio as one WAV file
         * @description 16 kHz, mono, 16 bits, as it lies on the session's timeline, so that the times of segments are times in the file. Audio that is missing, cannot be decoded or was redacted is silence. While the session records, it is what has its place so far. One byte range can be asked for with `Range` (several are answered whole), safely continued with `If-Range` and the `ETag`. For the session's owner, moderators of its workspace, and administrators under an elevation.
         */
        get: operations["getSessionAudio"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/chunks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Uploaded chunks with their transcription
         * @description All chunks, or a page of them when `limit` or `cursor` is given.
         */
        get: operations["listChunks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/completeness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which audio of a session is missing or could not be read
         * @description Spans on the session's timeline with their chunk sequences. A sequence that was just noticed to be missing is shown behind the audio so far, with the length of the chunk before; it gets its place when it comes, or as a gap after 10 s.
         */
        get: operations["getCompleteness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/concerns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Concerns about one session, newest first; for a guest those it raised */
        get: operations["listSessionConcerns"];
        put?: never;
        /**
         * Raise a concern about a session
         * @description About the whole session, one segment (`segment_id`), or a span (`start_ms` and `end_ms`). Followers of the live channel get `ConcernRaised` with its id.
         */
        post: operations["raiseConcern"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a session is about: entities, how they hang together, and groups of them
         * @description Made from the words by grammar and lexicon of English, when it is first asked for and again after the words have changed; a name that the recogniser did not hear is not in it. A first request may take some seconds.
         */
        get: operations["getSessionGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/hirag-query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask about one session
         * @description The answer quotes what was said, with who said it and when, and invents nothing; when nothing fits it says so and cites nothing. Questions are understood in English: who (`What did Anna say about …`), when (`at the beginning`, `in the last 10 minutes`), how often, who spoke, decisions, promises, summaries; in other languages all words are searched for.
         */
        post: operations["querySession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The people of a session, its owner among them
         * @description Those with a relation of their own. With the visibility `workspace` the members of its workspace may read it too.
         */
        get: operations["listSessionMembers"];
        put?: never;
        /**
         * Give a user access to a session, by id or e-mail address
         * @description By the session's owner. `relation` is `shared` unless told.
         */
        post: operations["addSessionMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a user's access to a session back
         * @description By the session's owner. The user's live connections to it close within 5 s.
         */
        delete: operations["removeSessionMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/redactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take out a time span, one speaker, or one speaker within a span, for good
         * @description Every segment that touches the span loses its words, the audio of the span becomes silence, and summaries and the graph are made anew without it. With a speaker and no span it covers all that this voice says, also what is still to come. By the session's owner, a moderator of its workspace or an admin. It cannot be undone, and a redo does not bring it back.
         */
        post: operations["redactSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Final segments of a session in order of time */
        get: operations["listSegments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/segments/{segment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One segment as it stands */
        get: operations["getSegment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Correct a segment's text or speaker
         * @description The recogniser never changes it again; a redo replaces it.
         */
        patch: operations["editSegment"];
        trace?: never;
    };
    "/sessions/{session_id}/speaker-claims": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Claim a speaker label, or assign it to a user */
        post: operations["claimSpeaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/speaker-claims/{label}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a claim back
         * @description By whoever claimed the label, or by the session's owner. Idempotent.
         */
        delete: operations["unclaimSpeaker"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/speakers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The voices of a session and who claimed them */
        get: operations["listSpeakers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/speakers/merge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say that two labels are one voice
         * @description The older label survives, whichever way they are named, and claims follow.
         */
        post: operations["mergeSpeakers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a session's recording
         * @description By its owner, whichever device records it. Stopping again is answered the same. Chunks up to `last_chunk_sequence` (the highest seen unless told) are still taken for 24 h.
         */
        post: operations["stopSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest summary of each type
         * @description At most one for each type, so there is never a next page. When words of a session are redacted, its summaries are erased.
         */
        get: operations["listSummaries"];
        put?: never;
        /**
         * Ask for a summary of a session
         * @description Answers with the job that makes it. While a job of the same type is queued or running, that one is the answer. Every sentence of a summary was said: the engine picks, it invents nothing. When it is there, viewers get `SummaryUpdated`. A session that still records is summarised as far as it is transcribed.
         */
        post: operations["requestSummary"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The whole transcript
         * @description As JSON; as text with a line `[00:12] S1: words` for each segment; as Markdown; or as captions, SubRip or WebVTT with voice spans. Claimed labels show their names.
         */
        get: operations["getTranscript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/transcriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recognise a session's stored audio once more
         * @description By the session's owner or an administrator, with another engine, language or vocabulary when told. The session keeps its one transcription job, and the text that stands stays until the new one replaces it in one step. Claims are kept; corrections of segments are not.
         */
        post: operations["transcribeAgain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}/upload-audio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload one chunk of audio
         * @description Multipart with `file`, `chunk_sequence` and optionally `started_at`, or the raw audio with `X-Chunk-Sequence`. Sequences start at 0. The same bytes again for a sequence are answered 200 with the same chunk.
         */
        post: operations["uploadAudio"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Users: all for an admin, those of one workspace for its members
         * @description Members of the workspace given as `workspace_id` see id, e-mail address and name of its users.
         */
        get: operations["listUsers"];
        put?: never;
        /** Create a user */
        post: operations["createUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One user: any for an admin, otherwise oneself */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a user's name or role
         * @description An admin changes anybody's; everybody else only the own name. Another role holds at once, also for tokens given out before. The last admin stays one.
         */
        patch: operations["editUser"];
        trace?: never;
    };
    "/users/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable a user: every login ends within seconds, open sockets included */
        post: operations["disableUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable a user who was disabled */
        post: operations["enableUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase the caller's own account, for good
         * @description Ends every login, unpairs the devices, removes name and address, and deletes every session that the account owns. In sessions of other people the claimed voices lose the name. It cannot be undone.
         */
        delete: operations["eraseAccount"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workshops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Workshops of the caller's workspaces, newest first; all of them for an admin */
        get: operations["listWorkshops"];
        put?: never;
        /** Create a workshop in a workspace that the caller belongs to */
        post: operations["createWorkshop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workshops/{workshop_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One workshop */
        get: operations["getWorkshop"];
        put?: never;
        post?: never;
        /**
         * Remove a workshop with its characters
         * @description Sessions that were linked to it stay, without the link.
         */
        delete: operations["removeWorkshop"];
        options?: never;
        head?: never;
        /**
         * Change a workshop's name or description
         * @description Members that are left out stay as they are.
         */
        patch: operations["editWorkshop"];
        trace?: never;
    };
    "/workshops/{workshop_id}/characters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Characters of a workshop, newest first */
        get: operations["listCharacters"];
        put?: never;
        /** Add a character to a workshop; active unless told otherwise */
        post: operations["createCharacter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workshops/{workshop_id}/characters/{character_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One character */
        get: operations["getCharacter"];
        /**
         * Update a character
         * @description `description` and `is_active` stay as they are when left out.
         */
        put: operations["replaceCharacter"];
        post?: never;
        /** Remove a character */
        delete: operations["removeCharacter"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Workspaces that the caller belongs to; all of them for an admin, its own for a service key */
        get: operations["listWorkspaces"];
        put?: never;
        /** Create a workspace; the caller becomes its owner */
        post: operations["createWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One workspace */
        get: operations["getWorkspace"];
        put?: never;
        post?: never;
        /**
         * Delete a workspace that has no sessions left
         * @description By an owner of it or an administrator. Its sessions are deleted first, each with a receipt. Its devices are unpaired, and its members, workshops and webhooks go.
         */
        delete: operations["removeWorkspace"];
        options?: never;
        head?: never;
        /**
         * Change a workspace's name, language, type or retention
         * @description By an owner of it or an administrator. Members that are left out stay.
         */
        patch: operations["editWorkspace"];
        trace?: never;
    };
    "/workspaces/{id}/agentic-query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask about all sessions of a workspace that the caller may read
         * @description The answer quotes what was said, with who said it and when, and invents nothing; when nothing fits it says so and cites nothing. Questions are understood in English: who (`What did Anna say about …`), when (`at the beginning`, `in the last 10 minutes`), how often, who spoke, decisions, promises, summaries; in other languages all words are searched for. Here also: which sessions speak of something, and when they took place (`last week`, `yesterday`).
         */
        post: operations["queryWorkspace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a workspace's sessions are about, as one graph
         * @description Made from the words by grammar and lexicon of English, when it is first asked for and again after the words have changed; a name that the recogniser did not hear is not in it. Of the newest 100 sessions whose words the caller may read. The same name in several sessions is one entity.
         */
        get: operations["getWorkspaceGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/graph/entities/{entity_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One entity: where it is mentioned, and what it hangs together with
         * @description `items` are its mentions by session and time, a page at a time. Ids come from the graphs of the workspace and its sessions.
         */
        get: operations["getGraphEntity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/graph/path": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How two entities are connected, with the segments that connect them
         * @description The path of fewest steps; of several, the one with the strongest ties.
         */
        get: operations["getGraphPath"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The people of a workspace */
        get: operations["listWorkspaceMembers"];
        put?: never;
        /** Add a user to a workspace, by id or e-mail address */
        post: operations["addWorkspaceMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a user from a workspace; members may remove themselves */
        delete: operations["removeWorkspaceMember"];
        options?: never;
        head?: never;
        /** Make a member an owner, or an owner a member */
        patch: operations["changeWorkspaceRole"];
        trace?: never;
    };
    "/workspaces/{id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Full-text search in the sessions of a workspace that the caller may read
         * @description Segments, the best fit first. Words match in all their forms where the session's language has a dictionary.
         */
        get: operations["searchWorkspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The webhooks of a workspace, newest first */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Have a URL told of what happens in a workspace's sessions
         * @description Messages follow Standard Webhooks: `POST` of `{type, timestamp, data}` with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, signed with the secret that this answer shows once. They carry ids and states, never words; `seq` is the place in the session's journal. Anything but a 2xx within 15 s, redirects included, counts as a failure and is tried again with growing waits for up to 3 days; a message may come more than once, always under its `webhook-id`. 410 switches the webhook off, and so do 5 days in which nothing arrived. A workspace has at most 20 webhooks.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One webhook */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /** Delete a webhook with its delivery log */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook, or switch it on or off
         * @description Switching it off ends what waits for it, and what happens meanwhile is not sent later. Switching it on, or another URL, forgets earlier failures.
         */
        patch: operations["changeWebhook"];
        trace?: never;
    };
    "/workspaces/{id}/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The delivery log of a webhook, newest first
         * @description Deliveries are kept for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message again, now, under the same `webhook-id` */
        post: operations["retryWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/webhooks/{webhook_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a webhook a new secret
         * @description For 24 h messages carry two signatures, of the new secret and of the one before, so that a receiver can change over without losing any.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workspaces/{id}/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a `webhook.test`
         * @description It is queued like any other message; its outcome is in the delivery log.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ErrorBody: {
            /** @description What happened, as a sentence for people. */
            message: string;
            /** @description False for an error. */
            success: boolean;
        };
        Health: {
            checks: {
                [key: string]: {
                    message?: string;
                    status: "ok" | "degraded" | "down";
                };
            };
            status: "ok" | "degraded";
            uptime_seconds: number;
            version: string;
        };
        HealthDown: {
            checks: {
                [key: string]: {
                    message?: string;
                    status: "ok" | "degraded" | "down";
                };
            };
            message: string;
            /** @constant */
            status: "down";
            /** @constant */
            success: false;
        };
    };
    responses: never;
    parameters: {
        /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
        "Idempotency-Key": string;
        /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
        "If-Match": string;
        /** @description The `ETag` of the caller's copy; 304 when it is still right. */
        "If-None-Match": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAudit: {
        parameters: {
            query?: {
                actor_id?: string;
                cursor?: string;
                from?: string;
                kind?: "content_elevated" | "content_elevation_ended" | "content_read" | "session_deleted_by_owner" | "session_deleted_by_admin" | "account_erasure_session_redacted" | "retention_session_redacted" | "span_redacted" | "speaker_redacted" | "account_erased" | "retention_changed" | "workspace_deleted" | "user_created" | "user_disabled" | "user_enabled" | "user_role_changed" | "password_changed" | "login_failed" | "login_linked" | "workspace_member_added" | "workspace_member_removed" | "workspace_role_changed" | "session_member_added" | "session_member_removed" | "device_key_issued" | "device_unpaired" | "service_key_issued" | "service_key_rotated" | "service_key_revoked" | "signing_key_rotated" | "speaker_claim_overridden" | "transcription_redone" | "webhook_created" | "webhook_changed" | "webhook_deleted";
                limit?: number;
                session_id?: string;
                subject_id?: string;
                to?: string;
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            actor: {
                                id?: string;
                                kind: "user" | "guest" | "device" | "service" | "system";
                            };
                            /** @description RFC 3339, UTC, milliseconds */
                            at: string;
                            detail: {
                                [key: string]: unknown;
                            };
                            /** @description SHA-256 in hex over the entry and `previous_hash` */
                            hash: string;
                            id: string;
                            kind: string;
                            previous_hash: string;
                            seq: number;
                            session_id?: string;
                            subject_id?: string;
                            workspace_id?: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    verifyAudit: {
        parameters: {
            query?: {
                head?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        broken_seq?: number;
                        entries: number;
                        head?: {
                            hash: string;
                            seq: number;
                        };
                        problem?: string;
                        /** @description The serving database role can neither change nor delete entries */
                        protected: boolean;
                        valid: boolean;
                    };
                };
            };
        };
    };
    elevateContent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default 30 */
                    duration_minutes?: number;
                    /** @description Why the content must be seen; kept in the audit log */
                    reason: string;
                    /** @description Without it all sessions are covered */
                    session_id?: string;
                };
            };
        };
        responses: {
            /** @description The elevation in force */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        elevation_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        expires_at: string;
                        message: string;
                        session_id?: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    endContentElevation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                elevation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is over */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listSummarisationJobs: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                session_id?: string;
                status?: "queued" | "running" | "completed" | "failed" | "cancelled";
                summary_type?: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            completed_at?: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            error: string;
                            id: string;
                            progress: number;
                            session_id?: string;
                            status: "queued" | "running" | "completed" | "failed" | "cancelled";
                            /** @description `brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English. */
                            summary_type: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getSummarisationJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        error: string;
                        id: string;
                        progress: number;
                        session_id?: string;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        /** @description Empty until there is one; `[hidden: content elevation required]` for an administrator without native access or an elevation; begins with `[redacted-` when it was erased. */
                        summary_text: string;
                        /** @description `brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English. */
                        summary_type: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                        workspace_id: string;
                    };
                };
            };
        };
    };
    listTranscriptionJobs: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                session_id?: string;
                status?: "queued" | "running" | "completed" | "failed" | "cancelled";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            avg_confidence?: number;
                            /** @description RFC 3339, UTC, milliseconds */
                            completed_at?: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            detected_language?: string;
                            diarisation_model_version?: string;
                            duration_ms?: number;
                            error: string;
                            forced_language?: string;
                            id: string;
                            progress: number;
                            segment_count: number;
                            session_id?: string;
                            speaker_count?: number;
                            status: "queued" | "running" | "completed" | "failed" | "cancelled";
                            transcription_id?: string;
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getTranscriptionJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        avg_confidence?: number;
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        content_visible: boolean;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        deletion_event_kind?: string;
                        detected_language?: string;
                        diarisation_model_version?: string;
                        duration_ms?: number;
                        elevation_required: boolean;
                        error: string;
                        forced_language?: string;
                        id: string;
                        progress: number;
                        segment_count: number;
                        segments: {
                            confidence?: number;
                            end_ms: number;
                            id: string;
                            speaker_label?: string;
                            start_ms: number;
                            text: string;
                        }[];
                        session_id?: string;
                        session_was_deleted: boolean;
                        speaker_count?: number;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        transcription_id?: string;
                        transcription_text?: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    redoTranscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    engine?: string;
                    forced_language?: string;
                    vocabulary?: string[];
                };
            };
        };
        responses: {
            /** @description It is queued */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listServiceKeys: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            /** @description The user who made it */
                            created_by?: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            expires_at: string;
                            id: string;
                            /** @description RFC 3339, UTC, milliseconds; to about a minute */
                            last_used_at?: string;
                            name: string;
                            /** @description How the key begins, to recognise it by */
                            prefix: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            rotated_at?: string;
                            scopes: ("sessions:read" | "sessions:write" | "query" | "export" | "webhooks")[];
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createServiceKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * Format: date-time
                     * @description At most two years from now
                     */
                    expires_at?: string;
                    name: string;
                    scopes: ("sessions:read" | "sessions:write" | "query" | "export" | "webhooks")[];
                    workspace_id: string;
                };
            };
        };
        responses: {
            /** @description The key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description The user who made it */
                        created_by?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        expires_at: string;
                        id: string;
                        /** @description The key itself, shown this once; sent as `X-API-Key` */
                        key: string;
                        /** @description RFC 3339, UTC, milliseconds; to about a minute */
                        last_used_at?: string;
                        name: string;
                        /** @description How the key begins, to recognise it by */
                        prefix: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        rotated_at?: string;
                        scopes: ("sessions:read" | "sessions:write" | "query" | "export" | "webhooks")[];
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getServiceKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description The user who made it */
                        created_by?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        expires_at: string;
                        id: string;
                        /** @description RFC 3339, UTC, milliseconds; to about a minute */
                        last_used_at?: string;
                        name: string;
                        /** @description How the key begins, to recognise it by */
                        prefix: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        rotated_at?: string;
                        scopes: ("sessions:read" | "sessions:write" | "query" | "export" | "webhooks")[];
                        workspace_id: string;
                    };
                };
            };
        };
    };
    revokeServiceKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    rotateServiceKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * Format: date-time
                     * @description At most two years from now
                     */
                    expires_at?: string;
                };
            };
        };
        responses: {
            /** @description The key with its new secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description The user who made it */
                        created_by?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        expires_at: string;
                        id: string;
                        /** @description The key itself, shown this once; sent as `X-API-Key` */
                        key: string;
                        /** @description RFC 3339, UTC, milliseconds; to about a minute */
                        last_used_at?: string;
                        name: string;
                        /** @description How the key begins, to recognise it by */
                        prefix: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        rotated_at?: string;
                        scopes: ("sessions:read" | "sessions:write" | "query" | "export" | "webhooks")[];
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getAsyncApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        asyncapi: string;
                    };
                };
            };
        };
    };
    enterAsGuest: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    display_name: string;
                    session_id: string;
                };
            };
        };
        responses: {
            /** @description The guest and its token */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        expires_at: string;
                        guest: {
                            display_name: string;
                            id: string;
                        };
                        session_id: string;
                        token: string;
                    };
                };
            };
        };
    };
    jwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A JSON Web Key Set */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        keys: {
                            alg: string;
                            crv: string;
                            kid: string;
                            kty: string;
                            use: string;
                            x: string;
                        }[];
                    };
                };
            };
        };
    };
    issueLiveTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The ticket */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        expires_at: string;
                        ticket: string;
                    };
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    password: string;
                    /** @default false */
                    remember_me?: boolean;
                };
            };
        };
        responses: {
            /** @description Signed in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        refresh_token?: string;
                        /** @description An access token */
                        token: string;
                        user: {
                            email: string;
                            id: string;
                            role: "admin" | "participant" | "moderator";
                        };
                    };
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        email: string;
                        expires_at: string;
                        id: string;
                        name: string;
                        role: "admin" | "participant" | "moderator";
                    } | {
                        display_name: string;
                        expires_at: string;
                        id: string;
                        /** @constant */
                        role: "guest";
                        session_id: string;
                    };
                };
            };
        };
    };
    authorizeWithProvider: {
        parameters: {
            query?: {
                redirect?: string;
            };
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    completeWithProvider: {
        parameters: {
            query?: {
                code?: string;
                error?: string;
                error_description?: string;
                iss?: string;
                state?: string;
            };
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Signed in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An access token */
                        token: string;
                        user: {
                            email: string;
                            id: string;
                            role: "admin" | "participant" | "moderator";
                        };
                    };
                };
            };
        };
    };
    listOAuthProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Where to send the browser */
                            authorize_url: string;
                            id: string;
                            name: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    current_password: string;
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    refreshToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A fresh access token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: string;
                    };
                };
            };
        };
    };
    requestMagicLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                };
            };
        };
        responses: {
            /** @description Asked for */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    validateMagicLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    token: string;
                };
            };
        };
        responses: {
            /** @description Signed in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description An access token */
                        token: string;
                        user: {
                            email: string;
                            id: string;
                            role: "admin" | "participant" | "moderator";
                        };
                    };
                };
            };
        };
    };
    listConcerns: {
        parameters: {
            query?: {
                category?: "accuracy" | "privacy" | "safety" | "other";
                cursor?: string;
                limit?: number;
                session_id?: string;
                status?: "open" | "acknowledged" | "resolved" | "dismissed";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            category: "accuracy" | "privacy" | "safety" | "other";
                            /** @description RFC 3339, UTC, milliseconds */
                            closed_at?: string;
                            /** @description False when the texts are closed to an administrator without an elevation */
                            content_visible: boolean;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            /** @description Absent when not visible, and after the session was deleted */
                            description?: string;
                            end_ms?: number;
                            /** @description Who changed it last */
                            handled_by?: string;
                            id: string;
                            raised_by: {
                                display_name?: string;
                                id: string;
                                kind: "user" | "guest" | "service";
                            };
                            /** @description The redaction that resolved it */
                            redaction_id?: string;
                            /** @description What was done about it, or why not */
                            resolution?: string;
                            segment_id?: string;
                            session_id: string;
                            start_ms?: number;
                            status: "open" | "acknowledged" | "resolved" | "dismissed";
                            /** @description RFC 3339, UTC, milliseconds */
                            updated_at: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getConcern: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                concern_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The concern */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        category: "accuracy" | "privacy" | "safety" | "other";
                        /** @description RFC 3339, UTC, milliseconds */
                        closed_at?: string;
                        /** @description False when the texts are closed to an administrator without an elevation */
                        content_visible: boolean;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description Absent when not visible, and after the session was deleted */
                        description?: string;
                        end_ms?: number;
                        /** @description Who changed it last */
                        handled_by?: string;
                        id: string;
                        raised_by: {
                            display_name?: string;
                            id: string;
                            kind: "user" | "guest" | "service";
                        };
                        /** @description The redaction that resolved it */
                        redaction_id?: string;
                        /** @description What was done about it, or why not */
                        resolution?: string;
                        segment_id?: string;
                        session_id: string;
                        start_ms?: number;
                        status: "open" | "acknowledged" | "resolved" | "dismissed";
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                    };
                };
            };
        };
    };
    triageConcern: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                concern_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description With `resolved`: take the words of the concern's span out for good */
                    redact?: boolean;
                    resolution?: string;
                    status?: "open" | "acknowledged" | "resolved" | "dismissed";
                };
            };
        };
        responses: {
            /** @description The concern as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        category: "accuracy" | "privacy" | "safety" | "other";
                        /** @description RFC 3339, UTC, milliseconds */
                        closed_at?: string;
                        /** @description False when the texts are closed to an administrator without an elevation */
                        content_visible: boolean;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description Absent when not visible, and after the session was deleted */
                        description?: string;
                        end_ms?: number;
                        /** @description Who changed it last */
                        handled_by?: string;
                        id: string;
                        raised_by: {
                            display_name?: string;
                            id: string;
                            kind: "user" | "guest" | "service";
                        };
                        /** @description The redaction that resolved it */
                        redaction_id?: string;
                        /** @description What was done about it, or why not */
                        resolution?: string;
                        segment_id?: string;
                        session_id: string;
                        start_ms?: number;
                        status: "open" | "acknowledged" | "resolved" | "dismissed";
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                    };
                };
            };
        };
    };
    listDevices: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                status?: "pairing" | "paired" | "revoked";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            created_at: string;
                            device_serial: string;
                            firmware: string;
                            id: string;
                            last_seen_at?: string;
                            model: string;
                            name: string;
                            /** @description The user who paired it */
                            owner_id?: string;
                            presence: "online" | "offline";
                            status: "pairing" | "paired" | "revoked";
                            /** @description What the newest heartbeats said */
                            telemetry: {
                                [key: string]: unknown;
                            };
                            updated_at: string;
                            workspace_id?: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createVirtualDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    model?: string;
                    name?: string;
                    workspace_id: string;
                };
            };
        };
        responses: {
            /** @description The device and its key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        api_key: string;
                        device: {
                            created_at: string;
                            device_serial: string;
                            firmware: string;
                            id: string;
                            last_seen_at?: string;
                            model: string;
                            name: string;
                            /** @description The user who paired it */
                            owner_id?: string;
                            presence: "online" | "offline";
                            status: "pairing" | "paired" | "revoked";
                            /** @description What the newest heartbeats said */
                            telemetry: {
                                [key: string]: unknown;
                            };
                            updated_at: string;
                            workspace_id?: string;
                        };
                        device_id: string;
                        expires_at: string;
                    };
                };
            };
        };
    };
    getDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The device */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        device_serial: string;
                        firmware: string;
                        id: string;
                        last_seen_at?: string;
                        model: string;
                        name: string;
                        /** @description The user who paired it */
                        owner_id?: string;
                        presence: "online" | "offline";
                        status: "pairing" | "paired" | "revoked";
                        /** @description What the newest heartbeats said */
                        telemetry: {
                            [key: string]: unknown;
                        };
                        updated_at: string;
                        workspace_id?: string;
                    };
                };
            };
        };
    };
    unpairDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Unpaired */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    renameDevice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                };
            };
        };
        responses: {
            /** @description The device */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        device_serial: string;
                        firmware: string;
                        id: string;
                        last_seen_at?: string;
                        model: string;
                        name: string;
                        /** @description The user who paired it */
                        owner_id?: string;
                        presence: "online" | "offline";
                        status: "pairing" | "paired" | "revoked";
                        /** @description What the newest heartbeats said */
                        telemetry: {
                            [key: string]: unknown;
                        };
                        updated_at: string;
                        workspace_id?: string;
                    };
                };
            };
        };
    };
    heartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    battery_percent?: number;
                    buffered_chunks?: number;
                    firmware?: string;
                    recording?: boolean;
                    rssi_dbm?: number;
                };
            };
        };
        responses: {
            /** @description Heard */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        commands: {
                            type: "renew_key" | "stop_recording";
                        }[];
                        server_time: string;
                        /** @description The session that the device records now */
                        session_id?: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    startDeviceSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description BCP 47; the workspace's preferred language unless told */
                    language?: string;
                    title?: string;
                    vocabulary?: string[];
                    /** @description A workshop of the session's workspace: its characters' names join the vocabulary */
                    workshop_id?: string;
                    workspace_id?: string;
                };
            };
        };
        responses: {
            /** @description Recording */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        session_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at: string;
                        stream_url: string;
                        success: boolean;
                    };
                };
            };
        };
    };
    stopDeviceSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                device_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    last_chunk_sequence?: number;
                    session_id?: string;
                };
            };
        };
        responses: {
            /** @description Stopped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        session_id: string;
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        success: boolean;
                    };
                };
            };
        };
    };
    pairDevice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code: string;
                    name?: string;
                    workspace_id: string;
                };
            };
        };
        responses: {
            /** @description The paired device */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        device_serial: string;
                        firmware: string;
                        id: string;
                        last_seen_at?: string;
                        model: string;
                        name: string;
                        /** @description The user who paired it */
                        owner_id?: string;
                        presence: "online" | "offline";
                        status: "pairing" | "paired" | "revoked";
                        /** @description What the newest heartbeats said */
                        telemetry: {
                            [key: string]: unknown;
                        };
                        updated_at: string;
                        workspace_id?: string;
                    };
                };
            };
        };
    };
    claimDeviceKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    code?: string;
                    name?: string;
                    workspace_id?: string;
                };
            };
        };
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        api_key: string;
                        device_id: string;
                        expires_at: string;
                    };
                };
            };
        };
    };
    pairingStatus: {
        parameters: {
            query?: {
                code?: string;
                device_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Seconds between two polls */
                        interval: number;
                        status: "pending" | "paired" | "expired" | "revoked";
                    };
                };
            };
        };
    };
    publishPairingCode: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    code?: string;
                    device_serial: string;
                    firmware?: string;
                    model?: string;
                    name?: string;
                };
            };
        };
        responses: {
            /** @description The code is published */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        code: string;
                        device_id: string;
                        expires_at: string;
                        /** @description Seconds between two polls */
                        interval: number;
                        pairing_secret: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": unknown;
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It works, perhaps with less than all of it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It works, perhaps with less than all of it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    listJobs: {
        parameters: {
            query?: {
                cursor?: string;
                kind?: "transcription" | "summarisation";
                limit?: number;
                session_id?: string;
                status?: "queued" | "running" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            completed_at?: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            detected_language?: string;
                            engine?: string;
                            /** @description Empty without an error */
                            error: string;
                            forced_language?: string;
                            id: string;
                            kind: "transcription" | "summarisation";
                            progress: number;
                            session_id: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            started_at?: string;
                            status: "queued" | "running" | "completed" | "failed" | "cancelled";
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        detected_language?: string;
                        engine?: string;
                        /** @description Empty without an error */
                        error: string;
                        forced_language?: string;
                        id: string;
                        kind: "transcription" | "summarisation";
                        progress: number;
                        session_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at?: string;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        workspace_id: string;
                    };
                };
            };
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is cancelled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        detected_language?: string;
                        engine?: string;
                        /** @description Empty without an error */
                        error: string;
                        forced_language?: string;
                        id: string;
                        kind: "transcription" | "summarisation";
                        progress: number;
                        session_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at?: string;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    };
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                status?: "recording" | "processing" | "completed" | "failed" | "deleted";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            completed_at?: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            device_id?: string;
                            guest_access: "open" | "closed";
                            id: string;
                            language: string;
                            owner_id: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            started_at: string;
                            status: "recording" | "processing" | "completed" | "failed" | "deleted";
                            /** @description RFC 3339, UTC, milliseconds */
                            stopped_at?: string;
                            title: string;
                            transcription_job_id: string;
                            visibility: "private" | "workspace";
                            workshop_id?: string;
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description One of the caller's own devices, which uploads the audio */
                    device_id?: string;
                    /** @description BCP 47; the workspace's preferred language unless told */
                    language?: string;
                    title?: string;
                    vocabulary?: string[];
                    /** @description A workshop of the session's workspace: its characters' names join the vocabulary */
                    workshop_id?: string;
                    /** @description The device's workspace unless told; required without a device */
                    workspace_id?: string;
                };
            };
        };
        responses: {
            /** @description Recording */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        device_id?: string;
                        guest_access: "open" | "closed";
                        id: string;
                        language: string;
                        owner_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at: string;
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        /** @description RFC 3339, UTC, milliseconds */
                        stopped_at?: string;
                        title: string;
                        transcription_job_id: string;
                        visibility: "private" | "workspace";
                        workshop_id?: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        device_id?: string;
                        guest_access: "open" | "closed";
                        id: string;
                        language: string;
                        owner_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at: string;
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        /** @description RFC 3339, UTC, milliseconds */
                        stopped_at?: string;
                        title: string;
                        transcription_job_id: string;
                        visibility: "private" | "workspace";
                        workshop_id?: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The audio files are gone; if false the service goes on removing them */
                        audio_erased: boolean;
                        /** @description RFC 3339, UTC, milliseconds */
                        deleted_at: string;
                        kind: string;
                        message: string;
                        receipt_id: string;
                        /** @description What was removed, counted */
                        removed: {
                            [key: string]: number;
                        };
                        session_id: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    editSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    guest_access?: "open" | "closed";
                    title?: string;
                    visibility?: "private" | "workspace";
                    /** @description A workshop of the session's workspace; null or an empty text takes the link away */
                    workshop_id?: string | null;
                };
            };
        };
        responses: {
            /** @description The session as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        device_id?: string;
                        guest_access: "open" | "closed";
                        id: string;
                        language: string;
                        owner_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at: string;
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        /** @description RFC 3339, UTC, milliseconds */
                        stopped_at?: string;
                        title: string;
                        transcription_job_id: string;
                        visibility: "private" | "workspace";
                        workshop_id?: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getSessionAudio: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
            /** @description The range that was asked for */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "audio/wav": unknown;
                };
            };
        };
    };
    listChunks: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chunks in order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        chunks: {
                            chunk_id: string;
                            chunk_sequence: number;
                            duration_seconds: number;
                            filename: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            started_at?: string;
                            transcription_status: "pending" | "processing" | "completed" | "failed";
                            transcription_text: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            uploaded_at: string;
                        }[];
                        next_cursor?: string | null;
                        success: boolean;
                        total_chunks: number;
                    };
                };
            };
        };
    };
    getCompleteness: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The session has ended and every chunk of it came and was read */
                        complete: boolean;
                        /** @description Known once the session has ended; -1 without any chunk */
                        expected_last_sequence?: number;
                        missing: {
                            chunk_sequences: number[];
                            end_ms: number;
                            /** @description `missing`: never came. `undecodable`: came, but holds no audio that can be read. `late`: came after its turn and is being read now. */
                            reason: "missing" | "undecodable" | "late";
                            start_ms: number;
                        }[];
                        /** @description Length of all chunks that were stored */
                        received_ms: number;
                    };
                };
            };
        };
    };
    listSessionConcerns: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            category: "accuracy" | "privacy" | "safety" | "other";
                            /** @description RFC 3339, UTC, milliseconds */
                            closed_at?: string;
                            /** @description False when the texts are closed to an administrator without an elevation */
                            content_visible: boolean;
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            /** @description Absent when not visible, and after the session was deleted */
                            description?: string;
                            end_ms?: number;
                            /** @description Who changed it last */
                            handled_by?: string;
                            id: string;
                            raised_by: {
                                display_name?: string;
                                id: string;
                                kind: "user" | "guest" | "service";
                            };
                            /** @description The redaction that resolved it */
                            redaction_id?: string;
                            /** @description What was done about it, or why not */
                            resolution?: string;
                            segment_id?: string;
                            session_id: string;
                            start_ms?: number;
                            status: "open" | "acknowledged" | "resolved" | "dismissed";
                            /** @description RFC 3339, UTC, milliseconds */
                            updated_at: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    raiseConcern: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    category: "accuracy" | "privacy" | "safety" | "other";
                    description: string;
                    end_ms?: number;
                    segment_id?: string;
                    start_ms?: number;
                };
            };
        };
        responses: {
            /** @description The concern */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        category: "accuracy" | "privacy" | "safety" | "other";
                        /** @description RFC 3339, UTC, milliseconds */
                        closed_at?: string;
                        /** @description False when the texts are closed to an administrator without an elevation */
                        content_visible: boolean;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        /** @description Absent when not visible, and after the session was deleted */
                        description?: string;
                        end_ms?: number;
                        /** @description Who changed it last */
                        handled_by?: string;
                        id: string;
                        raised_by: {
                            display_name?: string;
                            id: string;
                            kind: "user" | "guest" | "service";
                        };
                        /** @description The redaction that resolved it */
                        redaction_id?: string;
                        /** @description What was done about it, or why not */
                        resolution?: string;
                        segment_id?: string;
                        session_id: string;
                        start_ms?: number;
                        status: "open" | "acknowledged" | "resolved" | "dismissed";
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                    };
                };
            };
        };
    };
    getSessionGraph: {
        parameters: {
            query?: {
                from_ms?: number;
                limit?: number;
                min_mentions?: number;
                q?: string;
                to_ms?: number;
                type?: string;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of its oldest part */
                        built_at?: string;
                        /** @description Of two entities or more that hang together; by Louvain, always the same */
                        communities: {
                            /** @description Most mentioned first */
                            entity_ids: string[];
                            id: string;
                            label: string;
                            size: number;
                        }[];
                        entities: {
                            /** @description Other spellings that were met */
                            aliases: string[];
                            /** @description Absent when nothing ties it */
                            community_id?: string;
                            first_mentioned_at: string;
                            /** @description Stable: the same name in the same workspace */
                            id: string;
                            last_mentioned_at: string;
                            /** @description Each turn of a speaker counts as one */
                            mention_count: number;
                            name: string;
                            session_count: number;
                            /** @description The voices of a speaker */
                            speaker_labels?: {
                                session_id: string;
                                speaker_label: string;
                            }[];
                            type: "speaker" | "person" | "organisation" | "place" | "date" | "money" | "number" | "topic";
                        }[];
                        /** @description Sessions that are not in it yet */
                        pending_sessions: number;
                        /** @description Between the entities shown, the strongest first, at most 1000 */
                        relations: {
                            /** @description The first segments that say so */
                            evidence: {
                                end_ms: number;
                                segment_id: string;
                                session_id: string;
                                speaker_label: string;
                                start_ms: number;
                            }[];
                            first_at: string;
                            /** @description `co_occurrence`: named close together, undirected; `action`: a verb leads from source to target; `talks_about`: a speaker names the target */
                            kind: "co_occurrence" | "action" | "talks_about";
                            /** @description The verb of an action, as in `write to` */
                            label?: string;
                            last_at: string;
                            source_id: string;
                            target_id: string;
                            /** @description 1 for each time; 0.5 across neighbouring segments */
                            weight: number;
                        }[];
                        /** @description Sessions that it is made of */
                        session_count: number;
                        /** @description Words have changed since, or some sessions are not in it yet; ask again soon */
                        stale: boolean;
                        /** @description That match, beyond `limit` too */
                        total_entities: number;
                    };
                };
            };
        };
    };
    querySession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A question in plain words; quotation marks ask for exactly these words */
                    query: string;
                };
            };
        };
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        answer: string;
                        /** @description The segments that the answer quotes or counts; none when nothing was found */
                        citations: {
                            end_ms: number;
                            segment_id: string;
                            session_id: string;
                            speaker_label: string;
                            /** @description Of the person who claimed the label */
                            speaker_name?: string;
                            /** @description On the session's timeline */
                            start_ms: number;
                            /** @description The whole segment, as it was recognised or corrected */
                            text: string;
                        }[];
                        /** @description What was really used, in order */
                        tools_used: string[];
                    };
                };
            };
        };
    };
    listSessionMembers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            email: string;
                            name: string;
                            relation: "owner" | "participant" | "shared";
                            user_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    addSessionMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email?: string;
                    /** @description `participant`: took part in the conversation. `shared`: may follow and read it. */
                    relation?: "participant" | "shared";
                    user_id?: string;
                };
            };
        };
        responses: {
            /** @description The member */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        email: string;
                        name: string;
                        relation: "owner" | "participant" | "shared";
                        user_id: string;
                    };
                };
            };
        };
    };
    removeSessionMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    redactSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    end_ms?: number;
                    speaker_label?: string;
                    start_ms?: number;
                };
            };
        };
        responses: {
            /** @description What was taken out */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        redaction_id: string;
                        /** @description Segments whose words were taken out */
                        segment_ids: string[];
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listSegments: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                words?: boolean;
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            confidence?: number;
                            end_ms: number;
                            id: string;
                            revision: number;
                            speaker_label?: string;
                            start_ms: number;
                            text: string;
                            words?: {
                                confidence: number;
                                end_ms: number;
                                start_ms: number;
                                word: string;
                            }[];
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    getSegment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                segment_id: string;
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The segment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        confidence?: number;
                        end_ms: number;
                        id: string;
                        revision: number;
                        speaker_label?: string;
                        start_ms: number;
                        text: string;
                        words?: {
                            confidence: number;
                            end_ms: number;
                            start_ms: number;
                            word: string;
                        }[];
                    };
                };
            };
        };
    };
    editSegment: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                segment_id: string;
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    speaker?: string;
                    text?: string;
                };
            };
        };
        responses: {
            /** @description The segment as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        confidence?: number;
                        end_ms: number;
                        id: string;
                        revision: number;
                        speaker_label?: string;
                        start_ms: number;
                        text: string;
                        words?: {
                            confidence: number;
                            end_ms: number;
                            start_ms: number;
                            word: string;
                        }[];
                    };
                };
            };
        };
    };
    claimSpeaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description UUID of a user; required for `moderator_assignment`, ignored otherwise */
                    assigned_user_id?: unknown;
                    source: "self_claim" | "moderator_assignment";
                    /** @description A label of this session, of the form S1 */
                    speaker_label: string;
                };
            };
        };
        responses: {
            /** @description The claim in force */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        claimed_user_id: string;
                        source: "self_claim" | "moderator_assignment";
                        speaker_label: string;
                    };
                };
            };
        };
    };
    unclaimSpeaker: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                label: string;
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listSpeakers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every speaker */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            claimed_user_id?: string;
                            display_name?: string;
                            segment_count: number;
                            source?: "self_claim" | "moderator_assignment";
                            speaker_label: string;
                            speaking_ms: number;
                        }[];
                        next_cursor: string | null;
                        /** @description Names of the active characters of the session's workshop, to offer for its voices; empty without a workshop, and for guests */
                        suggested_names: string[];
                    };
                };
            };
        };
    };
    mergeSpeakers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    from: string;
                    into: string;
                };
            };
        };
        responses: {
            /** @description What became of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        from: string;
                        into: string;
                    };
                };
            };
        };
    };
    stopSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    last_chunk_sequence?: number;
                };
            };
        };
        responses: {
            /** @description Stopped */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        session_id: string;
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        success: boolean;
                    };
                };
            };
        };
    };
    listSummaries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The summaries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            engine: string;
                            items: {
                                /** @description By when, in the speaker's words */
                                due?: string;
                                /** @description Who will do an action item */
                                owner?: string;
                                /** @description Heading under which it stands */
                                section?: string;
                                /** @description The segments that say so */
                                segment_ids: string[];
                                speaker?: string;
                                /** @description Where the first of them begins */
                                start_ms: number;
                                text: string;
                            }[];
                            job_id: string;
                            session_id: string;
                            /** @description The transcript, or who claimed a voice in it, has changed since */
                            stale: boolean;
                            /** @description `brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English. */
                            summary_type: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                            /** @description The whole summary, for reading */
                            text: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    requestSummary: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description `brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English. */
                    summary_type: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                };
            };
        };
        responses: {
            /** @description The job that makes it */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        error: string;
                        id: string;
                        progress: number;
                        session_id?: string;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        /** @description `brief`: three to five sentences; `detailed`: about a fifth of what was said, by topic; `action_items`: who will do what by when; `decisions`; `topics`: what was talked about, how often, since when; `speakers`: each voice's share of the time and leading sentences. Cues of `action_items` and `decisions` are English. */
                        summary_type: "brief" | "detailed" | "action_items" | "decisions" | "topics" | "speakers";
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getTranscript: {
        parameters: {
            query?: {
                format?: "json" | "txt" | "md" | "srt" | "vtt";
            };
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transcript so far */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        gaps: {
                            chunk_sequence: number;
                            end_ms: number;
                            start_ms: number;
                        }[];
                        language: string;
                        segments: {
                            confidence?: number;
                            end_ms: number;
                            id: string;
                            speaker_label?: string;
                            start_ms: number;
                            text: string;
                        }[];
                        session_id: string;
                        speakers: {
                            claimed_user_id?: string;
                            display_name?: string;
                            segment_count: number;
                            source?: "self_claim" | "moderator_assignment";
                            speaker_label: string;
                            speaking_ms: number;
                        }[];
                        status: "recording" | "processing" | "completed" | "failed" | "deleted";
                        title: string;
                    };
                    "application/x-subrip": unknown;
                    "text/markdown": unknown;
                    "text/plain": unknown;
                    "text/vtt": unknown;
                };
            };
        };
    };
    transcribeAgain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    engine?: string;
                    forced_language?: string;
                    vocabulary?: string[];
                };
            };
        };
        responses: {
            /** @description It is queued */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        completed_at?: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        detected_language?: string;
                        engine?: string;
                        /** @description Empty without an error */
                        error: string;
                        forced_language?: string;
                        id: string;
                        kind: "transcription" | "summarisation";
                        progress: number;
                        session_id: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        started_at?: string;
                        status: "queued" | "running" | "completed" | "failed" | "cancelled";
                        workspace_id: string;
                    };
                };
            };
        };
    };
    uploadAudio: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "*/*": string;
                "multipart/form-data": {
                    chunk_sequence?: string;
                    file: string;
                    started_at?: string;
                };
            };
        };
        responses: {
            /** @description Was stored already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        chunk_id: string;
                        chunk_sequence: number;
                        duration_seconds: number;
                        success: boolean;
                        transcription_status: "pending" | "processing" | "completed" | "failed";
                    };
                };
            };
            /** @description Stored */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        chunk_id: string;
                        chunk_sequence: number;
                        duration_seconds: number;
                        success: boolean;
                        transcription_status: "pending" | "processing" | "completed" | "failed";
                    };
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                cursor?: string;
                disabled?: boolean;
                limit?: number;
                q?: string;
                role?: "admin" | "participant" | "moderator";
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of users */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: ({
                            created_at: string;
                            disabled: boolean;
                            disabled_at?: string;
                            email: string;
                            id: string;
                            name: string;
                            role: "admin" | "participant" | "moderator";
                            updated_at: string;
                        } | {
                            email: string;
                            id: string;
                            name: string;
                        })[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email: string;
                    name?: string;
                    password: string;
                    role?: "admin" | "participant" | "moderator";
                };
            };
        };
        responses: {
            /** @description The user */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        disabled: boolean;
                        disabled_at?: string;
                        email: string;
                        id: string;
                        name: string;
                        role: "admin" | "participant" | "moderator";
                        updated_at: string;
                    };
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        disabled: boolean;
                        disabled_at?: string;
                        email: string;
                        id: string;
                        name: string;
                        role: "admin" | "participant" | "moderator";
                        updated_at: string;
                    };
                };
            };
        };
    };
    editUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    role?: "admin" | "participant" | "moderator";
                };
            };
        };
        responses: {
            /** @description The user as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        disabled: boolean;
                        disabled_at?: string;
                        email: string;
                        id: string;
                        name: string;
                        role: "admin" | "participant" | "moderator";
                        updated_at: string;
                    };
                };
            };
        };
    };
    disableUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is disabled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    enableUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is enabled and can sign in again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    eraseAccount: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        devices_unpaired: number;
                        message: string;
                        sessions_deleted: number;
                        /** @description Deleted soon after, without another call */
                        sessions_left: number;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWorkshops: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                workspace_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            description: string;
                            id: string;
                            name: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            updated_at: string;
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createWorkshop: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    name: string;
                    workspace_id: string;
                };
            };
        };
        responses: {
            /** @description The workshop */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    getWorkshop: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workshop */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    removeWorkshop: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    editWorkshop: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    name?: string;
                };
            };
        };
        responses: {
            /** @description The workshop as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    listCharacters: {
        parameters: {
            query?: {
                cursor?: string;
                is_active?: boolean;
                limit?: number;
            };
            header?: never;
            path: {
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description RFC 3339, UTC, milliseconds */
                            created_at: string;
                            description: string;
                            id: string;
                            /** @description Its name joins the vocabulary of linked sessions and is suggested for speakers */
                            is_active: boolean;
                            name: string;
                            /** @description RFC 3339, UTC, milliseconds */
                            updated_at: string;
                            workshop_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createCharacter: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    is_active?: boolean;
                    name: string;
                };
            };
        };
        responses: {
            /** @description The character */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        /** @description Its name joins the vocabulary of linked sessions and is suggested for speakers */
                        is_active: boolean;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workshop_id: string;
                    };
                };
            };
        };
    };
    getCharacter: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                character_id: string;
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The character */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        /** @description Its name joins the vocabulary of linked sessions and is suggested for speakers */
                        is_active: boolean;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workshop_id: string;
                    };
                };
            };
        };
    };
    replaceCharacter: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                character_id: string;
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    is_active?: boolean;
                    name: string;
                };
            };
        };
        responses: {
            /** @description The character as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description RFC 3339, UTC, milliseconds */
                        created_at: string;
                        description: string;
                        id: string;
                        /** @description Its name joins the vocabulary of linked sessions and is suggested for speakers */
                        is_active: boolean;
                        name: string;
                        /** @description RFC 3339, UTC, milliseconds */
                        updated_at: string;
                        workshop_id: string;
                    };
                };
            };
        };
    };
    removeCharacter: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                character_id: string;
                workshop_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    listWorkspaces: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            created_at: string;
                            id: string;
                            name: string;
                            preferred_language: string;
                            /** @description Absent: words and audio stay until somebody deletes them */
                            retention_days?: number;
                            updated_at: string;
                            workspace_type: "private" | "team";
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * @description BCP 47 tag
                     * @default en
                     */
                    preferred_language?: string;
                };
            };
        };
        responses: {
            /** @description The workspace */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        id: string;
                        name: string;
                        preferred_language: string;
                        /** @description Absent: words and audio stay until somebody deletes them */
                        retention_days?: number;
                        updated_at: string;
                        workspace_type: "private" | "team";
                    };
                };
            };
        };
    };
    getWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        id: string;
                        name: string;
                        preferred_language: string;
                        /** @description Absent: words and audio stay until somebody deletes them */
                        retention_days?: number;
                        updated_at: string;
                        workspace_type: "private" | "team";
                    };
                };
            };
        };
    };
    removeWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    editWorkspace: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description BCP 47 tag */
                    preferred_language?: string;
                    /** @description Days after which the words and audio of a session are deleted; null keeps them until somebody deletes them */
                    retention_days?: number | null;
                    workspace_type?: "private" | "team";
                };
            };
        };
        responses: {
            /** @description The workspace as it stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        id: string;
                        name: string;
                        preferred_language: string;
                        /** @description Absent: words and audio stay until somebody deletes them */
                        retention_days?: number;
                        updated_at: string;
                        workspace_type: "private" | "team";
                    };
                };
            };
        };
    };
    queryWorkspace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A question in plain words; quotation marks ask for exactly these words */
                    query: string;
                };
            };
        };
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        answer: string;
                        /** @description The segments that the answer quotes or counts; none when nothing was found */
                        citations: {
                            end_ms: number;
                            segment_id: string;
                            session_id: string;
                            speaker_label: string;
                            /** @description Of the person who claimed the label */
                            speaker_name?: string;
                            /** @description On the session's timeline */
                            start_ms: number;
                            /** @description The whole segment, as it was recognised or corrected */
                            text: string;
                        }[];
                        /** @description What was really used, in order */
                        tools_used: string[];
                    };
                };
            };
        };
    };
    getWorkspaceGraph: {
        parameters: {
            query?: {
                from?: string;
                limit?: number;
                min_mentions?: number;
                q?: string;
                session_id?: string;
                to?: string;
                type?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The graph */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of its oldest part */
                        built_at?: string;
                        /** @description Of two entities or more that hang together; by Louvain, always the same */
                        communities: {
                            /** @description Most mentioned first */
                            entity_ids: string[];
                            id: string;
                            label: string;
                            size: number;
                        }[];
                        entities: {
                            /** @description Other spellings that were met */
                            aliases: string[];
                            /** @description Absent when nothing ties it */
                            community_id?: string;
                            first_mentioned_at: string;
                            /** @description Stable: the same name in the same workspace */
                            id: string;
                            last_mentioned_at: string;
                            /** @description Each turn of a speaker counts as one */
                            mention_count: number;
                            name: string;
                            session_count: number;
                            /** @description The voices of a speaker */
                            speaker_labels?: {
                                session_id: string;
                                speaker_label: string;
                            }[];
                            type: "speaker" | "person" | "organisation" | "place" | "date" | "money" | "number" | "topic";
                        }[];
                        /** @description Sessions that are not in it yet */
                        pending_sessions: number;
                        /** @description Between the entities shown, the strongest first, at most 1000 */
                        relations: {
                            /** @description The first segments that say so */
                            evidence: {
                                end_ms: number;
                                segment_id: string;
                                session_id: string;
                                speaker_label: string;
                                start_ms: number;
                            }[];
                            first_at: string;
                            /** @description `co_occurrence`: named close together, undirected; `action`: a verb leads from source to target; `talks_about`: a speaker names the target */
                            kind: "co_occurrence" | "action" | "talks_about";
                            /** @description The verb of an action, as in `write to` */
                            label?: string;
                            last_at: string;
                            source_id: string;
                            target_id: string;
                            /** @description 1 for each time; 0.5 across neighbouring segments */
                            weight: number;
                        }[];
                        /** @description Sessions that it is made of */
                        session_count: number;
                        /** @description Words have changed since, or some sessions are not in it yet; ask again soon */
                        stale: boolean;
                        /** @description That match, beyond `limit` too */
                        total_entities: number;
                    };
                };
            };
        };
    };
    getGraphEntity: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                entity_id: string;
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity with a page of its mentions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        entity: {
                            /** @description Other spellings that were met */
                            aliases: string[];
                            first_mentioned_at: string;
                            /** @description Stable: the same name in the same workspace */
                            id: string;
                            last_mentioned_at: string;
                            /** @description Each turn of a speaker counts as one */
                            mention_count: number;
                            name: string;
                            session_count: number;
                            /** @description The voices of a speaker */
                            speaker_labels?: {
                                session_id: string;
                                speaker_label: string;
                            }[];
                            type: "speaker" | "person" | "organisation" | "place" | "date" | "money" | "number" | "topic";
                        };
                        items: {
                            /** @description Start of the session plus `start_ms` */
                            at: string;
                            end_ms: number;
                            /** @description Spoken of, or speaking */
                            kind: "named" | "spoke";
                            segment_id: string;
                            session_id: string;
                            speaker_label: string;
                            /** @description Of who claimed the label */
                            speaker_name?: string;
                            start_ms: number;
                            /** @description Of the segment, at most 500 characters */
                            text: string;
                        }[];
                        /** @description The other ends of these relations */
                        neighbours: {
                            /** @description Other spellings that were met */
                            aliases: string[];
                            first_mentioned_at: string;
                            /** @description Stable: the same name in the same workspace */
                            id: string;
                            last_mentioned_at: string;
                            /** @description Each turn of a speaker counts as one */
                            mention_count: number;
                            name: string;
                            session_count: number;
                            /** @description The voices of a speaker */
                            speaker_labels?: {
                                session_id: string;
                                speaker_label: string;
                            }[];
                            type: "speaker" | "person" | "organisation" | "place" | "date" | "money" | "number" | "topic";
                        }[];
                        next_cursor: string | null;
                        /** @description Its strongest relations, at most 50 */
                        relations: {
                            /** @description The first segments that say so */
                            evidence: {
                                end_ms: number;
                                segment_id: string;
                                session_id: string;
                                speaker_label: string;
                                start_ms: number;
                            }[];
                            first_at: string;
                            /** @description `co_occurrence`: named close together, undirected; `action`: a verb leads from source to target; `talks_about`: a speaker names the target */
                            kind: "co_occurrence" | "action" | "talks_about";
                            /** @description The verb of an action, as in `write to` */
                            label?: string;
                            last_at: string;
                            source_id: string;
                            target_id: string;
                            /** @description 1 for each time; 0.5 across neighbouring segments */
                            weight: number;
                        }[];
                    };
                };
            };
        };
    };
    getGraphPath: {
        parameters: {
            query: {
                from: string;
                to: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The path */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Of its oldest part */
                        built_at?: string;
                        /** @description From the one to the other; empty when nothing connects them */
                        entities: {
                            /** @description Other spellings that were met */
                            aliases: string[];
                            first_mentioned_at: string;
                            /** @description Stable: the same name in the same workspace */
                            id: string;
                            last_mentioned_at: string;
                            /** @description Each turn of a speaker counts as one */
                            mention_count: number;
                            name: string;
                            session_count: number;
                            /** @description The voices of a speaker */
                            speaker_labels?: {
                                session_id: string;
                                speaker_label: string;
                            }[];
                            type: "speaker" | "person" | "organisation" | "place" | "date" | "money" | "number" | "topic";
                        }[];
                        /** @description Sessions that are not in it yet */
                        pending_sessions: number;
                        /** @description Sessions that it is made of */
                        session_count: number;
                        /** @description Words have changed since, or some sessions are not in it yet; ask again soon */
                        stale: boolean;
                        /** @description One for each two neighbours */
                        steps: {
                            /** @description The strongest first */
                            relations: {
                                /** @description The first segments that say so */
                                evidence: {
                                    end_ms: number;
                                    segment_id: string;
                                    session_id: string;
                                    speaker_label: string;
                                    start_ms: number;
                                }[];
                                first_at: string;
                                /** @description `co_occurrence`: named close together, undirected; `action`: a verb leads from source to target; `talks_about`: a speaker names the target */
                                kind: "co_occurrence" | "action" | "talks_about";
                                /** @description The verb of an action, as in `write to` */
                                label?: string;
                                last_at: string;
                                source_id: string;
                                target_id: string;
                                /** @description 1 for each time; 0.5 across neighbouring segments */
                                weight: number;
                            }[];
                            /** @description Where the two meet */
                            segments: {
                                /** @description Start of the session plus `start_ms` */
                                at: string;
                                end_ms: number;
                                segment_id: string;
                                session_id: string;
                                speaker_label: string;
                                /** @description Of who claimed the label */
                                speaker_name?: string;
                                start_ms: number;
                                /** @description Of the segment, at most 500 characters */
                                text: string;
                            }[];
                            source_id: string;
                            target_id: string;
                        }[];
                    };
                };
            };
        };
    };
    listWorkspaceMembers: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            created_at: string;
                            email: string;
                            name: string;
                            role: "owner" | "member";
                            user_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    addWorkspaceMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    email?: string;
                    role?: "owner" | "member";
                    user_id?: string;
                };
            };
        };
        responses: {
            /** @description The member */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        created_at: string;
                        email: string;
                        name: string;
                        role: "owner" | "member";
                        user_id: string;
                    };
                };
            };
        };
    };
    removeWorkspaceMember: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeWorkspaceRole: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    role: "owner" | "member";
                };
            };
        };
        responses: {
            /** @description Changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    searchWorkspace: {
        parameters: {
            query: {
                cursor?: string;
                from?: string;
                limit?: number;
                q: string;
                session_id?: string;
                speaker?: string;
                to?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            end_ms: number;
                            /** @description RFC 3339, UTC, milliseconds */
                            said_at: string;
                            /** @description Higher fits better; comparable within one answer only */
                            score: number;
                            segment_id: string;
                            session_id: string;
                            session_title: string;
                            /** @description HTML: the words around the match, escaped, each match in `<mark>` */
                            snippet: string;
                            speaker_label: string;
                            speaker_name?: string;
                            /** @description On the session's timeline */
                            start_ms: number;
                            text: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            /** @description Attempts that failed since the last delivery that arrived */
                            consecutive_failures: number;
                            created_at: string;
                            description: string;
                            /** @description Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days */
                            disabled_reason?: "gone" | "failing";
                            enabled: boolean;
                            /** @description What to be told of; empty or absent means everything */
                            event_types: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                            failing_since?: string;
                            id: string;
                            /** @description Until then messages carry two signatures */
                            previous_secret_expires_at?: string;
                            updated_at: string;
                            url: string;
                            workspace_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    /** @default true */
                    enabled?: boolean;
                    /** @description What to be told of; empty or absent means everything */
                    event_types?: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                    /** @description Where messages are POSTed to: https, at a public address */
                    url: string;
                };
            };
        };
        responses: {
            /** @description The webhook and its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Attempts that failed since the last delivery that arrived */
                        consecutive_failures: number;
                        created_at: string;
                        description: string;
                        /** @description Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days */
                        disabled_reason?: "gone" | "failing";
                        enabled: boolean;
                        /** @description What to be told of; empty or absent means everything */
                        event_types: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                        failing_since?: string;
                        id: string;
                        /** @description Until then messages carry two signatures */
                        previous_secret_expires_at?: string;
                        updated_at: string;
                        url: string;
                        workspace_id: string;
                    } & {
                        /** @description Verifies the signatures; shown this once */
                        secret: string;
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the caller's copy; 304 when it is still right. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Attempts that failed since the last delivery that arrived */
                        consecutive_failures: number;
                        created_at: string;
                        description: string;
                        /** @description Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days */
                        disabled_reason?: "gone" | "failing";
                        enabled: boolean;
                        /** @description What to be told of; empty or absent means everything */
                        event_types: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                        failing_since?: string;
                        id: string;
                        /** @description Until then messages carry two signatures */
                        previous_secret_expires_at?: string;
                        updated_at: string;
                        url: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        message: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
        };
    };
    changeWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the thing as the caller read it; 412 when it has changed since. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    description?: string;
                    enabled?: boolean;
                    /** @description What to be told of; empty or absent means everything */
                    event_types?: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                    /** @description Where messages are POSTed to: https, at a public address */
                    url?: string;
                };
            };
        };
        responses: {
            /** @description The webhook as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Attempts that failed since the last delivery that arrived */
                        consecutive_failures: number;
                        created_at: string;
                        description: string;
                        /** @description Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days */
                        disabled_reason?: "gone" | "failing";
                        enabled: boolean;
                        /** @description What to be told of; empty or absent means everything */
                        event_types: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                        failing_since?: string;
                        id: string;
                        /** @description Until then messages carry two signatures */
                        previous_secret_expires_at?: string;
                        updated_at: string;
                        url: string;
                        workspace_id: string;
                    };
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                cursor?: string;
                limit?: number;
                status?: "pending" | "succeeded" | "failed";
            };
            header?: never;
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: {
                            attempt_count: number;
                            /** @description The latest attempts, oldest first */
                            attempts: {
                                at: string;
                                duration_ms?: number;
                                error?: "timeout" | "dns_failed" | "address_refused" | "connection_refused" | "connection_failed" | "tls_failed" | "redirect" | "http_error" | "gone" | "disabled" | "expired" | "internal";
                                status_code?: number;
                            }[];
                            completed_at?: string;
                            created_at: string;
                            event_type: "session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied" | "webhook.test";
                            /** @description `webhook-id` of the message, the same in every attempt */
                            id: string;
                            /** @description While it is pending */
                            next_attempt_at?: string;
                            payload: {
                                data: {
                                    [key: string]: string | number;
                                };
                                timestamp: string;
                                type: string;
                            };
                            status: "pending" | "succeeded" | "failed";
                            webhook_id: string;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    retryWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery, pending again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempt_count: number;
                        /** @description The latest attempts, oldest first */
                        attempts: {
                            at: string;
                            duration_ms?: number;
                            error?: "timeout" | "dns_failed" | "address_refused" | "connection_refused" | "connection_failed" | "tls_failed" | "redirect" | "http_error" | "gone" | "disabled" | "expired" | "internal";
                            status_code?: number;
                        }[];
                        completed_at?: string;
                        created_at: string;
                        event_type: "session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied" | "webhook.test";
                        /** @description `webhook-id` of the message, the same in every attempt */
                        id: string;
                        /** @description While it is pending */
                        next_attempt_at?: string;
                        payload: {
                            data: {
                                [key: string]: string | number;
                            };
                            timestamp: string;
                            type: string;
                        };
                        status: "pending" | "succeeded" | "failed";
                        webhook_id: string;
                    };
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook and its new secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Attempts that failed since the last delivery that arrived */
                        consecutive_failures: number;
                        created_at: string;
                        description: string;
                        /** @description Why the service switched it off: the endpoint answered 410, or nothing arrived for 5 days */
                        disabled_reason?: "gone" | "failing";
                        enabled: boolean;
                        /** @description What to be told of; empty or absent means everything */
                        event_types: ("session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied")[];
                        failing_since?: string;
                        id: string;
                        /** @description Until then messages carry two signatures */
                        previous_secret_expires_at?: string;
                        updated_at: string;
                        url: string;
                        workspace_id: string;
                    } & {
                        /** @description Verifies the signatures; shown this once */
                        secret: string;
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat for 24 h: with the same key and body the first answer comes again, marked `Idempotency-Replayed: true`; with another body it is 422. A refused or failed attempt frees the key. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                id: string;
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        attempt_count: number;
                        /** @description The latest attempts, oldest first */
                        attempts: {
                            at: string;
                            duration_ms?: number;
                            error?: "timeout" | "dns_failed" | "address_refused" | "connection_refused" | "connection_failed" | "tls_failed" | "redirect" | "http_error" | "gone" | "disabled" | "expired" | "internal";
                            status_code?: number;
                        }[];
                        completed_at?: string;
                        created_at: string;
                        event_type: "session.started" | "session.stopped" | "session.completed" | "session.failed" | "session.deleted" | "chunk.failed" | "transcript.segment_revised" | "speaker.claimed" | "summary.completed" | "concern.raised" | "redaction.applied" | "webhook.test";
                        /** @description `webhook-id` of the message, the same in every attempt */
                        id: string;
                        /** @description While it is pending */
                        next_attempt_at?: string;
                        payload: {
                            data: {
                                [key: string]: string | number;
                            };
                            timestamp: string;
                            type: string;
                        };
                        status: "pending" | "succeeded" | "failed";
                        webhook_id: string;
                    };
                };
            };
        };
    };
}
