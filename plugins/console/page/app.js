/** The frame of the console: sign-in, navigation by the address, and the stream. */
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, query, remove, whenSignedOut } from "./api.js";
import { connect, disconnect, useLive, useRoute } from "./live.js";
import { html, mayDecide, Problem, Question, Toasts } from "./parts.js";
import { countOf, Waiting } from "./waiting.js";

/** The part of a page's file, which is loaded when it is shown. */
const from = (file, name) => () => file().then((module) => module[name]);

/** Each screen is loaded when it is visited. `one` is shown where the address has an id. */
const screens = [
  { path: "", name: "Overview", all: from(() => import("./overview.js"), "Overview") },
  {
    ...{ path: "events", name: "Events", all: from(() => import("./events.js"), "Events") },
    one: from(() => import("./why.js"), "Why"),
  },
  { path: "waiting", name: "Waiting for you", all: async () => Waiting },
  { path: "failed", name: "Failed", all: from(() => import("./failed.js"), "Failed") },
  {
    ...{ path: "deliveries", name: "Deliveries", all: from(() => import("./deliveries.js"), "Deliveries") },
    one: from(() => import("./deliveries.js"), "Delivery"),
  },
  {
    path: "workbench",
    name: "Workbench",
    all: from(() => import("./workbench.js"), "Workbench"),
    within: "deliveries",
  },
  {
    ...{ path: "sessions", name: "Conversations", all: from(() => import("./sessions.js"), "Sessions") },
    one: from(() => import("./sessions.js"), "Conversation"),
  },
  { path: "usage", name: "Usage", all: from(() => import("./usage.js"), "Usage") },
  { path: "models", name: "Models", all: from(() => import("./models.js"), "Models") },
  { path: "plugins", name: "Plugins and servers", all: from(() => import("./plugins.js"), "Plugins") },
  { path: "config", name: "Configuration", admin: true, all: from(() => import("./config.js"), "Config") },
  { path: "logs", name: "Log", all: from(() => import("./logs.js"), "Logs") },
];

/** Those that the navigation names; the others are reached from these. */
const listed = screens.filter(({ within }) => within === undefined);

/** An address that was typed or cut off leads to the overview, or to an id that is unknown. */
function placeIn(hash) {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [asked = "", id] = path.split("/");
  const screen = screens.some(({ path: one }) => one === asked) ? asked : "";
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

/** A screen, once its file is there. */
function Screen({ place, session }) {
  const { screen, id, filter } = place;
  const { all, one } = screens.find(({ path }) => path === screen);
  const load = id !== undefined && one !== undefined ? one : all;
  const [shown, setShown] = useState({});
  useEffect(() => {
    let isCurrent = true;
    const show = (state) => isCurrent && setShown({ load, ...state });
    load().then(
      (Part) => show({ Part }),
      () => show({ error: { message: "This screen could not be loaded." } }),
    );
    return () => {
      isCurrent = false;
    };
  }, [load]);
  if (shown.load !== load) return html`<p class="empty" role="status">Loading …</p>`;
  const { Part, error } = shown;
  if (error !== undefined) return html`<${Problem} error=${error} retry=${() => location.reload()} />`;
  return html`<${Part} key=${id ?? ""} id=${id} session=${session} filter=${filter} go=${go} />`;
}

function Frame({ session, leave }) {
  const [place, setPlace] = useState(placeIn(location.hash));
  const [connected, setConnected] = useState(false);
  const waiting = useRoute("waiting", ["waiting"]);
  const main = useRef();
  const count = waiting.data === undefined ? 0 : countOf(waiting.data);
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
  const title = screens.find(({ path }) => path === place.screen).name;
  useEffect(() => {
    // On a narrow screen, the names scroll.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [place.screen]);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${title} · Console`;
  }, [title, count]);
  const { within } = screens.find(({ path }) => path === place.screen);
  const isCurrent = (path) => path === (within ?? place.screen);
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
        <nav aria-label="Screens"><ul>${listed
          .filter(({ admin }) => !admin || mayDecide(session))
          .map(
            ({ path, name }) => html`<li key=${path}>
            <a href=${`#/${path}`} aria-current=${isCurrent(path) ? "page" : undefined}>
            <span>${name}</span>
              ${
                path === "waiting" &&
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
    <${Question} /><${Toasts} />`;
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
