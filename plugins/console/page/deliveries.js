import { useEffect, useState } from "preact/hooks";
import { get, post, query } from "./api.js";
import { useLive, useRoute } from "./live.js";
import { Act, duration, Facts, html, Loaded, mayOperate, notify, Outcome, Problem, Time } from "./parts.js";

const views = { "": "all", failed: "failed", refused: "refused on arrival" };

function Refused() {
  const route = useRoute("refusals");
  return html`<${Loaded} route=${route}>${({ count, refused }) =>
    refused.length === 0
      ? html`<p class="empty">No request was refused on arrival.</p>`
      : html`<ul class="rows events">${refused.map(
          ({ at, subPath, client, status, code, detail, path, hint }, index) => html`<li class="refused" key=${index}>
          <div class="line"><span class="soft nowrap when"><${Time} at=${at} /></span>
            <span class="grow"><strong class="mono">/${subPath}</strong> <span class="soft">from ${client}</span></span>
            <span class="outcome refused nowrap"><span aria-hidden="true">✗</span> ${status} ${code}</span></div>
          <p class="under soft">${detail}${path !== undefined && html` Decided by <span class="mono">${path}</span>.`}
            ${hint !== undefined && ` ${hint}`}</p></li>`,
        )}</ul>${count > refused.length && html`<p class="soft more">${count} are stored.</p>`}`}<//>`;
}

function Accepted({ failed }) {
  const [list, setList] = useState({});
  const load = async (before) => {
    try {
      const { deliveries, next } = await get(`deliveries${query({ failed: failed ? "1" : "", limit: 50, before })}`);
      setList((known) => ({
        next,
        deliveries: before === undefined ? deliveries : [...known.deliveries, ...deliveries],
      }));
    } catch (error) {
      setList((known) => ({ ...known, error }));
    }
  };
  useEffect(() => {
    setList({});
    void load();
  }, [failed]);
  useLive(({ topic }) => topic === "reload" && void load());
  const { deliveries, next, error } = list;
  return html`
    ${error !== undefined && html`<${Problem} error=${error} retry=${() => load()} />`}
    ${deliveries === undefined && error === undefined && html`<p class="empty" role="status">Loading …</p>`}
    ${
      deliveries?.length === 0 &&
      html`<p class="empty">${
        next !== undefined
          ? "There is none among the newest events."
          : failed
            ? "No delivery has failed."
            : "No webhook has been accepted yet."
      }</p>`
    }
    ${
      deliveries?.length > 0 &&
      html`<ul class="rows events">${deliveries.map(
        ({ id, at, hook, path, outcome, state, reason, ms, repeated }) => html`<li key=${id}>
          <a class="line" href=${`#/deliveries/${id}`}>
            <span class="soft nowrap when"><${Time} at=${at} /></span>
            <span class="grow"><strong>${hook}</strong> <span class="soft">/${path}${
              repeated !== undefined && ` · came ${repeated.count} more`
            }</span></span>
            <${Outcome} outcome=${outcome} state=${state} reason=${reason} />
            <span class="soft nowrap took">${ms === undefined ? "" : duration(ms)}</span>
          </a></li>`,
      )}</ul>`
    }
    ${
      next !== undefined &&
      html`<p class="more"><button class="plain" type="button" onClick=${() => load(next)}>Older deliveries</button></p>`
    }`;
}

export function Deliveries({ filter, go }) {
  const view = filter.view ?? "";
  return html`<h1>Deliveries</h1>
    <div class="filters"><div class="chips" role="group" aria-label="Which">
      ${Object.entries(views).map(
        ([one, name]) => html`<button type="button" key=${one} aria-pressed=${view === one}
          onClick=${() => go("deliveries", { view: one })}>${name}</button>`,
      )}
    </div><a class="plain" href="#/workbench">Workbench</a></div>
    ${view === "refused" ? html`<${Refused} />` : html`<${Accepted} failed=${view === "failed"} />`}`;
}

const indented = (body) => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

function Request({ delivery: { path, method = "POST", headers, query: asked, body, kind, signature } }) {
  return html`<h2>Request</h2>
    <${Facts} rows=${[
      ["method", method],
      ["path", `/${path}`],
      ["body", `${kind}, ${new Blob([body]).size} bytes`],
      ["signature", signature],
      ...Object.entries(asked).map(([name, value]) => [`?${name}`, value]),
      ...Object.entries(headers),
    ]} />
    ${
      method !== "GET" &&
      html`<pre class="text tall" tabindex="0" aria-label="Payload">${kind === "json" ? indented(body) : body}</pre>`
    }`;
}

export function Delivery({ id, session }) {
  const path = `deliveries/${encodeURIComponent(id)}`;
  const route = useRoute(path, ["events"]);
  const again = async () => {
    const { eventIds, mapping } = await post(`${path}/replay`);
    notify(
      eventIds.length === 0 ? `${mapping} needed no run.` : `It runs through ${mapping} as ${eventIds.join(", ")}.`,
    );
  };
  return html`<p class="back"><a href="#/deliveries">‹ Deliveries</a></p>
    <${Loaded} route=${route}>${(found) => {
      const {
        id: event,
        hook,
        outcome,
        state,
        reason,
        acceptedAt,
        settledAt,
        delivery,
        recorded,
        text,
        repeated,
      } = found;
      return html`<h1 class="story"><${Outcome} outcome=${outcome} state=${state} reason=${reason} /></h1>
        <div class="actions">
          <a class="plain" href=${`#/events/${event}`}>Why</a>
          ${recorded !== undefined && html`<a class="plain" href=${`#/workbench?delivery=${event}`}>Open in the workbench</a>`}
          ${
            mayOperate(session) &&
            outcome === "failed" &&
            html`<${Act} label="Run again" kind="primary" run=${() => post(`events/${event}/retry`)}
              done=${route.reload} />`
          }
          ${
            mayOperate(session) &&
            recorded !== undefined &&
            state === "settled" &&
            html`<${Act} label="Run through the current mapping" run=${again} done=${route.reload} />`
          }
        </div>
        <${Facts} rows=${[
          ["delivery", event],
          ["hook", hook],
          ["when", html`<${Time} at=${acceptedAt} />`],
          ["took", settledAt === undefined ? undefined : duration(settledAt - acceptedAt)],
          ["repeated", repeated && `${repeated.count} times; it did not run again`],
        ]} />
        ${delivery !== undefined && html`<${Request} delivery=${delivery} />`}
        ${text !== undefined && html`<h2>Message</h2><pre class="text tall" tabindex="0" aria-label="Message">${text}</pre>`}`;
    }}<//>`;
}
