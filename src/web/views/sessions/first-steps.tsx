import { Mic, MonitorSmartphone, SquareTerminal } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";

/** What somebody sees who has no session yet: the ways to the first one. */
export function FirstSteps(): VNode {
  return (
    <div class="first-steps">
      <div class="card stack">
        <Mic size={24} aria-hidden="true" />
        <h2>Record here</h2>
        <p class="soft">
          With this browser's microphone. You read the words while they are spoken.
        </p>
        <div>
          <Link class="button primary" href="/record">
            Record from this browser
          </Link>
        </div>
      </div>
      <div class="card stack">
        <MonitorSmartphone size={24} aria-hidden="true" />
        <h2>Pair a device</h2>
        <p class="soft">It shows a code; type it here, and what it hears arrives as words.</p>
        <div>
          <Link class="button" href="/devices/pair">
            Pair a device
          </Link>
        </div>
      </div>
      <div class="card stack">
        <SquareTerminal size={24} aria-hidden="true" />
        <h2>Play a recording</h2>
        <p class="soft">From a terminal, as a device would send it: WAV, MP3, FLAC, Ogg or WebM.</p>
        <pre>npx voice device simulate FILE</pre>
        <div>
          <Link class="button" href="/terminal">
            How to log in there
          </Link>
        </div>
      </div>
    </div>
  );
}
