import { useEffect, useState } from "preact/hooks";
import { get, query } from "./api.js";
import { useLive } from "./live.js";
import { duration, html, Outcome, Problem, placeOf, Time } from "./parts.js";

const outcomes = ["", "failed", "refused", "silent", "answered", "waiting"];
const names = { "": "all", waiting: "open" };

/** Filters are in the address, so that they can be kept and passed on. */
export function Events({ filter, go }) {
  const [list, setList] = useState({ events: undefined, next: undefined, error: undefined });
  const [fresh, setFresh] = useState(0);
  const asked = query({ ...filter, limit: 50 });
  const load = async (before) => {
    try {
      const { events, next } = await get(`events${query({ ...filter, limit: 50, before })}`);
      setList((known) => ({ events: before === undefined ? events : [...known.events, ...events], next }));
      if (before === undefined) setFresh(0);
    } catch (error) {
      setList((known) => ({ ...known, error }));
    }
  };
  useEffect(() => {
    setList({ events: undefined, next: undefined, error: undefined });
    void load();
  }, [asked]);
  // Rows do not move under the pointer: new events are shown when they are asked for.
  useLive(({ topic, data }) => {
    if (topic === "reload") void load();
    if (topic !== "events") return;
    const { outcome, source } = filter;
    if ((outcome ?? data.outcome) === data.outcome && (source ?? data.source) === data.source) setFresh((n) => n + 1);
  });
  const set = (change) => go("events", { ...filter, ...change });
  const submit = (event) => {
    event.preventDefault();
    const { chat, source } = Object.fromEntries(new FormData(event.target));
    set({ chat, source });
  };
  return html`<h1>Events</h1>
    <div class="filters">
      <div class="chips" role="group" aria-label="Outcome">
        ${outcomes.map(
          (one) =>
            html`<button type="button" key=${one} aria-pressed=${(filter.outcome ?? "") === one}
          onClick=${() => set({ outcome: one })}>${names[one] ?? one}</button>`,
        )}
      </div>
      <form class="fields" onSubmit=${submit}>
        <label>Source <input name="source" value=${filter.source ?? ""} placeholder="hooks" autocomplete="off" />
          </label>
        <label>Chat <input name="chat" value=${filter.chat ?? ""} placeholder="1001" autocomplete="off" /></label>
        <button class="plain" type="submit">Filter</button>
        <label class="check">
          <input type="checkbox" checked=${filter.all === "1"}
          onChange=${(event) => set({ all: event.target.checked ? "1" : "" })} /> heartbeats</label>
      </form>
    </div>
    <div class="fresh" role="status">
      ${
        fresh > 0 &&
        html`<button class="plain" type="button" onClick=${() => load()}>
      ${fresh} ${fresh === 1 ? "event has" : "events have"} ended: show</button>`
      }</div>
    ${list.error !== undefined && html`<${Problem} error=${list.error} retry=${() => load()} />`}
    ${list.events === undefined && list.error === undefined && html`<p class="empty" role="status">Loading …</p>`}
    ${
      list.events?.length === 0 &&
      html`<p class="empty">There is no such event${list.next === undefined ? "" : " among the newest"}.</p>`
    }
    ${
      list.events?.length > 0 &&
      html`<ul class="rows events">${list.events.map(
        (event) => html`<li key=${event.id}><a class="line" href=${`#/events/${event.id}`}>
          <span class="soft nowrap when"><${Time} at=${event.at} /></span>
          <span class="grow"><strong>${event.source}</strong> <span class="soft">${placeOf(event)}</span></span>
          <${Outcome} ...${event} />
          <span class="soft nowrap took">${event.ms === undefined ? "" : duration(event.ms)}</span>
        </a></li>`,
      )}</ul>`
    }
    ${
      list.next !== undefined &&
      html`<p class="more"><button class="plain" type="button" onClick=${() => load(list.next)}>Older events</button>
      </p>`
    }`;
}
