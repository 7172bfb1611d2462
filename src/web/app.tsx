import { AudioLines, Square, Upload } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link, Route, Router, Switch, useRoute } from "wouter-preact";
import { useHashLocation } from "wouter-preact/use-hash-location";
import { AccountMenu } from "./account-menu.tsx";
import { account, askAgain, forgetAccount, lastAccount } from "./api/account.ts";
import { isServiceAway } from "./api/client.ts";
import {
  acceptLink,
  arrival,
  arriving,
  declineLink,
  openedLink,
  rememberRoute,
  returnAddress,
  returning,
} from "./arrival.ts";
import { ElevationChip } from "./elevation-chip.tsx";
import { Dialog } from "./parts/dialog.tsx";
import { Failure, Loading } from "./parts/states.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { type Params, ROUTES, type Route as ViewRoute } from "./routes.ts";
import { isUnfinished, percentOf, uploads } from "./uploads/upload-state.ts";
import { CutRecordings } from "./views/record/cut-recordings.tsx";
import { isConnected, recorder, stopRecording } from "./views/record/recorder.ts";
import { LinkQuestion } from "./views/sign-in/link-question.tsx";
import { SignInForm } from "./views/sign-in/sign-in-form.tsx";
import { SignInView } from "./views/sign-in/sign-in-view.tsx";

/** The whole page: its bar, the view of the address, and what lies over them. */
export function App(): VNode {
  const who = account.value;
  return (
    <Router hook={useHashLocation}>
      <button
        type="button"
        class="button skip"
        onClick={() => document.getElementById("main")?.focus()}
      >
        Skip to the content
      </button>
      <div class="shell">
        <header>
          <TopBar />
          <OfflineBanner />
          <CutRecordings />
        </header>
        <main id="main" tabIndex={-1}>
          {returning.value && who === undefined && <Loading what="the page" />}
          {!returning.value && who === undefined && (
            <SignInView
              message={arrival.value}
              isArriving={arriving.value}
              back={returnAddress}
              onLeave={rememberRoute}
            />
          )}
          {who !== undefined && !isVisitOver() && <Views key={who.id} />}
        </main>
      </div>
      {askAgain.value && <SignInAgain />}
      <OpenedLinkDialog />
      <Toasts />
    </Router>
  );
}

function OpenedLinkDialog(): VNode | null {
  const link = openedLink.value;
  if (link === undefined) return null;
  return <LinkQuestion {...link} onAccept={acceptLink} onDecline={declineLink} />;
}

/** Guests cannot sign in again: what they were let in to goes from the page. */
function isVisitOver(): boolean {
  return askAgain.value && lastAccount.value?.kind === "guest";
}

function TopBar(): VNode {
  const who = account.value;
  const shown = ROUTES.filter((route) => route.bar !== undefined && maySee(route));
  return (
    <div class="topbar">
      <Link class="brand" href="/" aria-label="Voice, all sessions">
        <AudioLines size={20} aria-hidden="true" />
        <span>Voice</span>
      </Link>
      {who?.kind === "user" && (
        <nav aria-label="Views">
          {shown.map((route) => (
            <BarLink key={route.path} route={route} />
          ))}
        </nav>
      )}
      <div class="push" />
      <ElevationChip />
      <UploadsChip />
      <RecordingChip />
      <AccountMenu />
    </div>
  );
}

function BarLink({ route }: { route: ViewRoute }): VNode | null {
  const [isHere] = useRoute(route.path);
  if (route.bar === undefined) return null;
  const { label, Icon, href = route.path } = route.bar;
  return (
    <Link href={href} aria-current={isHere ? "page" : undefined} aria-label={label}>
      <Icon size={17} aria-hidden="true" />
      <span>{label}</span>
    </Link>
  );
}

function Views(): VNode {
  return (
    <Switch>
      {ROUTES.filter(maySee).map((route) => (
        <Route key={route.path} path={route.path}>
          {(params: Params) => <LazyView route={route} params={params} />}
        </Route>
      ))}
      <Route>
        <NothingHere />
      </Route>
    </Switch>
  );
}

function maySee({ roles }: ViewRoute): boolean {
  const who = account.value;
  const role = who?.kind === "guest" ? "guest" : who?.role;
  if (role === undefined) return false;
  return roles === undefined ? role !== "guest" : roles.includes(role);
}

function NothingHere(): VNode {
  const who = account.value;
  const home = who?.kind === "guest" ? `/sessions/${who.sessionId}` : "/";
  return (
    <div class="state">
      <h1>There is nothing here</h1>
      <p>The address leads nowhere, or not for you.</p>
      <Link class="button" href={home}>
        {who?.kind === "guest" ? "To the conversation" : "To the sessions"}
      </Link>
    </div>
  );
}

type Loaded = Awaited<ReturnType<ViewRoute["load"]>>;

/** Loads the view's code when somebody comes to it. */
function LazyView({ route, params }: { route: ViewRoute; params: Params }): VNode {
  const [loaded, setLoaded] = useState<{ route: ViewRoute; code: Loaded } | undefined>();
  const [error, setError] = useState<unknown>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isWanted = true;
    setError(undefined);
    route.load().then(
      (code) => isWanted && setLoaded({ route, code }),
      () => isWanted && setError(new Error("This part of the page could not be loaded.")),
    );
    return () => {
      isWanted = false;
    };
  }, [route, attempt]);
  if (error !== undefined) return <Failure error={error} retry={() => setAttempt(attempt + 1)} />;
  if (loaded?.route !== route) return <Loading what="the view" />;
  const { View } = loaded.code;
  return <View params={params} />;
}

function OfflineBanner(): VNode | null {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const stop = new AbortController();
    const look = () => setOnline(navigator.onLine);
    addEventListener("online", look, { signal: stop.signal });
    addEventListener("offline", look, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  if (isOnline && !isServiceAway.value) return null;
  return (
    <div class="banner" role="status">
      {isOnline
        ? "The service does not answer. What is here stays; the rest follows when it is back."
        : "You are offline. What is here stays; the rest follows when you are back."}
    </div>
  );
}

/** In the bar at the top while this browser records, whatever view is open. */
function RecordingChip(): VNode | null {
  const now = recorder.value;
  if (now.kind !== "recording") return null;
  return (
    <span class="row recording">
      <Link class="chip" data-tone="live" href={`/sessions/${now.sessionId}`}>
        <span class="pulse" aria-hidden="true" />
        <span class="recording-word">
          {isConnected.value ? "Recording" : "Recording, connection lost"}
        </span>
      </Link>
      <button
        type="button"
        class="button quiet icon"
        aria-label="Stop recording"
        onClick={stopRecording}
      >
        <Square size={15} aria-hidden="true" />
      </button>
    </span>
  );
}

/** In the bar at the top while files are sent, whatever view is open; leads to them. */
function UploadsChip(): VNode | null {
  const going = uploads.value.filter(isUnfinished);
  if (going.length === 0 || account.value?.kind !== "user") return null;
  const sum = (of: "sent" | "size") => going.reduce((all, each) => all + each[of], 0);
  const percent = percentOf(sum("sent"), sum("size"));
  const files = going.length === 1 ? "1 file" : `${going.length} files`;
  const needsHelp = going.some(({ phase }) => ["missing", "waiting"].includes(phase.kind));
  return (
    <Link
      class="chip"
      data-tone={needsHelp ? "warn" : undefined}
      href="/"
      aria-label={`Uploading ${files}, ${percent} % sent`}
    >
      <Upload size={13} aria-hidden="true" /> {percent} %
    </Link>
  );
}

/** Over the open view, when the hour of a token is over: the view goes on afterwards. */
function SignInAgain(): VNode {
  const who = lastAccount.value;
  return (
    <Dialog title={who?.kind === "guest" ? "Your visit is over" : "Please sign in again"}>
      {who?.kind === "user" ? (
        <>
          <p class="soft">
            Your sign-in has ended. What is open here stays as it is and goes on once you are back.
          </p>
          <SignInForm email={who.email} />
        </>
      ) : (
        <p class="soft">
          Guests are let in for a while, and as long as the conversation is open to guests. You can
          join again with the link that you were given.
        </p>
      )}
      <div>
        <button type="button" class="button quiet" onClick={forgetAccount}>
          Leave
        </button>
      </div>
    </Dialog>
  );
}
