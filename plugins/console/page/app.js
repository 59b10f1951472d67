/** The frame of the console: sign-in, navigation by the address, and the stream. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, query, remove, whenSignedOut } from "./api.js";
import { Events } from "./events.js";
import { Failed } from "./failed.js";
import { connect, disconnect, useLive, useRoute } from "./live.js";
import { Logs } from "./logs.js";
import { Overview } from "./overview.js";
import { html, Toasts } from "./parts.js";
import { Conversation, Sessions } from "./sessions.js";
import { Usage } from "./usage.js";
import { Waiting } from "./waiting.js";
import { Why } from "./why.js";

const screens = [
  ["", "Overview"],
  ["events", "Events"],
  ["waiting", "Waiting for you"],
  ["failed", "Failed"],
  ["sessions", "Conversations"],
  ["usage", "Usage"],
  ["logs", "Log"],
];

/** An address that was typed or cut off leads to the overview, or to an id that is unknown. */
function placeIn(hash) {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [asked = "", id] = path.split("/");
  const screen = screens.some(([one]) => one === asked) ? asked : "";
  return { screen, id: id && decoded(id), filter: Object.fromEntries(new URLSearchParams(search)) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function go(screen, filter = {}) {
  location.hash = `#/${screen}${query(filter)}`;
}

/** On this machine nothing is sent over a network: browsers call that secure, too. */
function Unencrypted() {
  if (isSecureContext) return null;
  return html`<p class="notice warn" role="note">
    This page came without encryption: others in this network can read it, and take over the session. Use https
    ${" "}(<code>gateway.publicUrl</code>), or forward the port with ssh.</p>`;
}

function SignIn({ begin, error }) {
  const submit = (event) => {
    event.preventDefault();
    void begin(new FormData(event.target).get("code"));
  };
  return html`<main class="sign-in">
    <h1>This browser is not signed in</h1>
    <p>On the gateway's machine, run <code>service console</code> and open the link that it prints, or enter the code at
      its end. It works once, within a minute.</p>
    <${Unencrypted} />
    <form onSubmit=${submit}>
      <label>Code <input name="code" required autocomplete="off" spellcheck="false" autocapitalize="none" /></label>
      <button class="primary" type="submit">Sign in</button>
    </form>
    <p class="bad-text" role="alert">${error}</p>
  </main>`;
}

function Screen({ place, session }) {
  const { screen, id, filter } = place;
  if (screen === "events" && id !== undefined) return html`<${Why} key=${id} id=${id} session=${session} />`;
  if (screen === "events") return html`<${Events} filter=${filter} go=${go} />`;
  if (screen === "waiting") return html`<${Waiting} session=${session} />`;
  if (screen === "failed") return html`<${Failed} session=${session} />`;
  if (screen === "sessions" && id !== undefined) return html`<${Conversation} key=${id} id=${id} />`;
  if (screen === "sessions") return html`<${Sessions} />`;
  if (screen === "usage") return html`<${Usage} filter=${filter} go=${go} />`;
  if (screen === "logs") return html`<${Logs} filter=${filter} go=${go} />`;
  return html`<${Overview} />`;
}

function Frame({ session, leave }) {
  const [place, setPlace] = useState(placeIn(location.hash));
  const [connected, setConnected] = useState(false);
  const waiting = useRoute("waiting", ["waiting"]);
  const main = useRef();
  const count = waiting.data === undefined ? 0 : waiting.data.pairing.length + waiting.data.approvals.length;
  useLive((message) => message.topic === "connection" && setConnected(message.connected));
  useEffect(() => {
    const move = () => {
      setPlace(placeIn(location.hash));
      main.current?.scrollTo(0, 0);
    };
    addEventListener("hashchange", move);
    connect();
    return () => {
      removeEventListener("hashchange", move);
      disconnect();
    };
  }, []);
  const title = screens.find(([screen]) => screen === place.screen)?.[1] ?? "Console";
  useEffect(() => {
    // On a narrow screen, the names scroll.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [place.screen]);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${title} · Console`;
  }, [title, count]);
  const skip = (event) => {
    event.preventDefault();
    main.current.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <div class="console">
      <header class="console-side">
        <div class="brand">
          <img src="/console/icon.svg" alt="" width="28" height="28" />
          <span class="product">Console</span>
          <span class=${`connection ${connected ? "on" : ""}`} role="status">${connected ? "Live" : "Connecting…"}
            </span>
        </div>
        <nav aria-label="Screens"><ul>${screens.map(
          ([screen, name]) => html`<li key=${screen}>
            <a href=${`#/${screen}`} aria-current=${place.screen === screen ? "page" : undefined}>
            <span>${name}</span>
              ${
                screen === "waiting" &&
                count > 0 &&
                html` <span class="badge"><span class="hidden">, </span>${count}</span>`
              }
          </a></li>`,
        )}</ul></nav>
        <p class="who-line soft"><span class="role">Role ${session.role}
          </span> <button class="plain" type="button" onClick=${leave}>Sign out</button></p>
      </header>
      <main id="main" ref=${main} tabindex="-1"><${Unencrypted} /><${Screen} place=${place} session=${session} /></main>
    </div>
    <${Toasts} />`;
}

/** The code of a link. It must not stay in the history, even if it is used up. */
function takeCode() {
  const [, code] = /^#code=(.+)$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", "#/");
  return code;
}

function App() {
  const [session, setSession] = useState(undefined);
  const [error, setError] = useState("");
  const begin = async (code) => {
    try {
      setSession((await post("session", { code })).session);
      setError("");
    } catch (refused) {
      setError(refused.message);
      // A wrong code does not end the session that the page may have.
      setSession((before) => before ?? null);
    }
  };
  useEffect(() => {
    whenSignedOut(() => setSession(null));
    // A link that is pasted into an open page does not load it again.
    addEventListener("hashchange", () => {
      const pasted = takeCode();
      if (pasted !== undefined) void begin(pasted);
    });
    const code = takeCode();
    if (code !== undefined) {
      void begin(code);
      return;
    }
    get("session").then(
      (answer) => setSession(answer.session),
      (refused) => {
        setError(refused.message);
        setSession(null);
      },
    );
  }, []);
  const leave = () => remove("session").finally(() => setSession(null));
  if (session === undefined) return null;
  return session === null
    ? html`<${SignIn} begin=${begin} error=${error} />`
    : html`<${Frame} session=${session} leave=${leave} />`;
}

render(html`<${App} />`, document.body);
