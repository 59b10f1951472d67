import { useEffect, useState } from "preact/hooks";
import { query } from "./api.js";
import { useRoute } from "./live.js";
import { html, Loaded, Time } from "./parts.js";

const levels = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };
const everyMs = 2000;

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

export function Logs({ filter, go }) {
  const [paused, setPaused] = useState(false);
  const route = useRoute(`logs${query({ lines: 200, level: filter.level, text: filter.text })}`);
  useEffect(() => {
    if (paused) return;
    const timer = setInterval(route.reload, everyMs);
    return () => clearInterval(timer);
  }, [paused, filter.level, filter.text]);
  const submit = (event) => {
    event.preventDefault();
    go("logs", { ...filter, text: new FormData(event.target).get("text") });
  };
  return html`<h1>Log</h1>
    <div class="filters">
      <div class="chips" role="group" aria-label="Least level">
        ${["debug", "info", "warn", "error"].map(
          (one) =>
            html`<button type="button" key=${one} aria-pressed=${(filter.level ?? "debug") === one}
          onClick=${() => go("logs", { ...filter, level: one })}>${one}</button>`,
        )}
      </div>
      <form class="fields" onSubmit=${submit}>
        <label>Text <input name="text" value=${filter.text ?? ""} autocomplete="off" /></label>
        <button class="plain" type="submit">Filter</button>
        <button class="plain" type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
          ${paused ? "Go on" : "Pause"}</button>
      </form>
    </div>
    <${Loaded} route=${route}>${({ lines }) =>
      lines.length === 0
        ? html`<p class="empty">There is no such line.</p>`
        : html`<ol class="log-lines" reversed>
      ${lines
        .toReversed()
        .map((line, index) => html`<${Line} key=${`${line.time} ${lines.length - index}`} ...${line} />`)}</ol>`}<//>`;
}
