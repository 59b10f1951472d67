/** Parts that several screens use. Everything is text: nothing is ever parsed as HTML. */
import htm from "htm";
import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export const html = htm.bind(h);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

export function duration(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

export function Time({ at }) {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const text = isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
  return html`<time datetime=${date.toISOString()} title=${date.toLocaleString()}>${text}</time>`;
}

const marks = { answered: "✓", silent: "·", refused: "✗", failed: "✗", waiting: "…", running: "▸" };

export function Outcome({ outcome, state, reason }) {
  const shown = outcome ?? state;
  return html`<span class=${`outcome ${shown}`}>
    <span aria-hidden="true">${marks[shown] ?? ""}</span> ${shown}
    ${reason !== undefined && reason !== shown && html` <span class="reason">${reason}</span>`}
  </span>`;
}

/** Events that wait for a channel or a model that is away. */
export function Wait({ events, more = false, reason, fix }) {
  return html`<div class="notice warn">
    <p>${events}${more && "+"} ${events === 1 && !more ? "event waits" : "events wait"}: ${reason}</p>
    <p class="soft">${fix}</p>
  </div>`;
}

/** `error` may name the place in the configuration that it is about, and what to do. */
export function Problem({ error, retry, retryLabel = "Try again" }) {
  const { message, hint, line } = error;
  return html`<div class="notice bad" role="alert">
    <p>${message}${line !== undefined && !message.includes(`:${line}:`) && ` (line ${line})`}</p>
    ${hint !== undefined && html`<p class="soft">${hint}</p>`}
    ${retry !== undefined && html`<button class="plain" type="button" onClick=${retry}>${retryLabel}</button>`}
  </div>`;
}

/** What a screen shows until its data is there. */
export function Loaded({ route, children }) {
  if (route.data !== undefined)
    return html`${
      route.error !== undefined && html`<${Problem} error=${route.error} retry=${route.reload} />`
    }${children(route.data)}`;
  if (route.error !== undefined) return html`<${Problem} error=${route.error} retry=${route.reload} />`;
  return html`<p class="empty" role="status">Loading …</p>`;
}

/** Short facts, by their names; those without a value are left out. */
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows.flatMap(([name, value]) =>
      value === undefined || value === ""
        ? []
        : [
            html`<dt key=${name}>${name}
    </dt>`,
            html`<dd key=${`${name} value`}>${value}</dd>`,
          ],
    )}</dl>`;
}

/** A button for something that changes the gateway: busy while it runs, and it says what went wrong. */
export function Act({ label, kind = "plain", run, done, title, confirm }) {
  const [state, setState] = useState("ready");
  const press = async () => {
    if (state === "busy" || (confirm !== undefined && !(await ask(confirm, label)))) return;
    setState("busy");
    try {
      await run();
      setState("ready");
      done?.();
    } catch (error) {
      setState("ready");
      notify(error.message);
    }
  };
  const isBusy = state === "busy";
  // Of several buttons with one label, each is named by what it is about.
  const name = title?.startsWith(label) ? title : undefined;
  return html`<button class=${kind} type="button" title=${title} aria-label=${name} aria-busy=${isBusy} disabled=${isBusy}
    onClick=${press}>${label}</button>`;
}

let ask = async () => false;

/** The question before an act that cannot be taken back. */
export function Question() {
  const [asked, setAsked] = useState(undefined);
  const dialog = useRef();
  ask = (text, label) => new Promise((answer) => setAsked({ text, label, answer }));
  useEffect(() => {
    if (asked !== undefined) dialog.current?.showModal();
  }, [asked]);
  if (asked === undefined) return null;
  const end = () => {
    asked.answer(dialog.current.returnValue === "yes");
    setAsked(undefined);
  };
  return html`<dialog ref=${dialog} aria-labelledby="question" onClose=${end}>
    <p id="question">${asked.text}</p>
    <form method="dialog" class="actions">
      <button class="plain" value="">Cancel</button>
      <button class="primary" value="yes">${asked.label}</button>
    </form>
  </dialog>`;
}

let show = () => {};
export const notify = (text) => show(text);

export function Toasts() {
  const [texts, setTexts] = useState([]);
  show = (text) => {
    const one = { text, key: Math.random() };
    setTexts((before) => [...before, one]);
    setTimeout(() => setTexts((before) => before.filter((other) => other !== one)), 6000);
  };
  return html`<div class="toasts" role="status">${texts.map(
    ({ key, text }) => html`<div class="toast" key=${key}>${text}</div>`,
  )}</div>`;
}

/** Copies a text. Without a secure connection, browsers offer no clipboard: then the text is shown, selected. */
export async function copy(text) {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    notify("Copied.");
    return;
  }
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  notify("Copied.");
}

export const mayOperate = ({ role }) => role !== "view";
export const mayDecide = ({ role }) => role === "admin";

/** Where an event came from: the chat's id, and the sender's if that is another. */
export function placeOf({ kind, account, chat, sender }) {
  const who = [chat, sender].filter((one, index, all) => one !== undefined && all.indexOf(one) === index);
  return who.length === 0 ? [kind, account].filter(Boolean).join(", ") : who.join(" · ");
}
