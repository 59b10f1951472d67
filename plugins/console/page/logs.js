import { useEffect, useState } from "preact/hooks";
import { get, query } from "./api.js";
import { useLog } from "./live.js";
import { html, Problem, Time } from "./parts.js";

const levels = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };
/** More would slow the page down; the command shows all. */
const mostShown = 500;

function Line({ level, time, msg, plugin, event, ...fields }) {
  const { pid: _pid, hostname: _host, ...shown } = fields;
  const rest = Object.entries(shown).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const name = levels[level] ?? String(level);
  return html`<li class=${`log ${name}`}>
    <span class="soft nowrap"><${Time} at=${time} /></span> <span class="level">${name}</span>
    ${plugin !== undefined && html` <span class="soft">${plugin}</span>`} ${msg}
    ${rest.length > 0 && html` <span class="soft">${rest.join(" ")}</span>`}
    ${typeof event === "string" && html` <a href=${`#/events/${event}`}>why</a>`}
  </li>`;
}

let numbers = 0;
const numbered = (line) => {
  numbers += 1;
  return { ...line, key: numbers };
};

/** The newest lines first. While paused, those that come are counted, and shown afterwards. */
export function Logs({ filter, go }) {
  const { level = "info", text = "" } = filter;
  const [list, setList] = useState({ lines: undefined, held: [] });
  const [paused, setPaused] = useState(false);
  const load = async () => {
    try {
      const { lines } = await get(`logs${query({ lines: 200, level, text })}`);
      setList({ lines: lines.map(numbered).toReversed(), held: [] });
    } catch (error) {
      setList((known) => ({ ...known, error }));
    }
  };
  useEffect(() => void load(), [level, text]);
  useLog(level, ({ topic, data }) => {
    if (topic === "reload") void load();
    if (topic !== "log" || !JSON.stringify(data).includes(text)) return;
    setList(({ lines = [], held, ...known }) => {
      const line = numbered(data);
      if (paused) return { ...known, lines, held: [line, ...held].slice(0, mostShown) };
      return { ...known, lines: [line, ...lines].slice(0, mostShown), held };
    });
  });
  const pause = () => {
    setPaused(!paused);
    setList(({ lines = [], held, ...known }) => ({
      ...known,
      lines: [...held, ...lines].slice(0, mostShown),
      held: [],
    }));
  };
  const submit = (event) => {
    event.preventDefault();
    go("logs", { ...filter, text: new FormData(event.target).get("text") });
  };
  const { lines, held, error } = list;
  return html`<h1>Log</h1>
    <div class="filters">
      <div class="chips" role="group" aria-label="Least level">
        ${["debug", "info", "warn", "error"].map(
          (one) => html`<button type="button" key=${one} aria-pressed=${level === one}
          onClick=${() => go("logs", { ...filter, level: one })}>${one}</button>`,
        )}
      </div>
      <form class="fields" onSubmit=${submit}>
        <label>Text <input name="text" value=${text} autocomplete="off" /></label>
        <button class="plain" type="submit">Filter</button>
        <button class="plain" type="button" aria-pressed=${paused} onClick=${pause}>
          ${paused ? `Go on${held.length > 0 ? ` (${held.length} new)` : ""}` : "Pause"}</button>
      </form>
    </div>
    ${error !== undefined && html`<${Problem} error=${error} retry=${load} />`}
    ${lines === undefined && error === undefined && html`<p class="empty" role="status">Loading …</p>`}
    ${lines?.length === 0 && html`<p class="empty">There is no such line.</p>`}
    ${
      lines?.length > 0 &&
      html`<ol class="log-lines" reversed>${lines.map(({ key, ...line }) => html`<${Line} key=${key} ...${line} />`)}
      </ol>`
    }`;
}
