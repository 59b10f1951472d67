import { get, post } from "./api.js";
import { useRoute } from "./live.js";
import { Act, copy, duration, Facts, html, Loaded, mayOperate, notify, Outcome, Time } from "./parts.js";

const marks = { pass: "✓", done: "✓", silent: "·", retry: "↻", refused: "✗", failed: "✗" };

/** Bars of the stations. Long waits are squeezed, so that short steps beside them stay visible. */
function spansOf({ acceptedAt, decisions }) {
  const steps = decisions.map((decision, index) => ({
    ms: Math.max(0, decision.at - (decisions[index - 1]?.at ?? acceptedAt)),
    decision,
  }));
  const width = ({ ms }) => Math.log2(2 + ms);
  const total = steps.reduce((sum, step) => sum + width(step), 0);
  let start = 0;
  return steps.map((step) => {
    const share = (100 * width(step)) / total;
    const span = { ...step, start, share };
    start += share;
    return span;
  });
}

/** What the hint advises, as buttons: the gateway says which calls do it. */
function Remedies({ remedies, reload }) {
  return html`<div class="actions">${remedies.map(
    ({ label, path, body, confirm }) => html`<${Act} key=${label} label=${label} confirm=${confirm}
      run=${async () => {
        await post(path, body);
        notify("Done.");
      }} done=${reload} />`,
  )}</div>`;
}

function Step({ decision, ms, start, share, reload }) {
  const { station, code, plugin, verdict, detail, path, hint, at, remedies = [] } = decision;
  return html`<li class=${`step ${verdict}`}>
    <div class="step-head">
      <span class="mark" aria-hidden="true">${marks[verdict]}</span>
      <strong>${station}</strong>
      <span class="code">${code}</span>
      ${plugin !== "core" && html`<span class="soft">by ${plugin}</span>`}
      <span class="soft step-ms" title=${new Date(at).toLocaleString()}>${duration(ms)}</span>
    </div>
    <div class="track" aria-hidden="true"><span style=${{ marginLeft: `${start}%`, width: `${share}%` }}></span></div>
    ${detail && html`<p class="detail">${detail}</p>`}
    ${path && html`<p class="soft">decided by <span class="mono">${path}</span></p>`}
    ${hint && html`<p class="hint-line"><span class="soft">to change</span> ${hint}</p>`}
    ${remedies.length > 0 && html`<${Remedies} remedies=${remedies} reload=${reload} />`}
  </li>`;
}

export function Why({ id, session }) {
  const route = useRoute(`events/${encodeURIComponent(id)}`, ["events"]);
  return html`<p class="back"><a href="#/events">‹ Events</a></p>
    <${Loaded} route=${route}>${(story) => {
      const { source, kind, account, lane, agentId, sessionKey, attempts, hook, unitId, repeated, reply } = story;
      const end = story.settledAt ?? Date.now();
      return html`
        <h1 class="story">
          <${Outcome} ...${story} /> <span class="soft">
          ${story.settledAt === undefined ? "for" : "after"} ${duration(end - story.acceptedAt)}</span></h1>
        <div class="actions">
          <button class="plain" type="button"
            onClick=${async () => copy(await get(`events/${encodeURIComponent(id)}/text`))}>Copy as text</button>
          ${
            sessionKey !== undefined &&
            html`<a class="plain" href=${`#/sessions/${encodeURIComponent(sessionKey)}`}>Conversation</a>`
          }
          ${
            story.outcome === "failed" &&
            mayOperate(session) &&
            html`<${Act} label="Run again" kind="primary" run=${() => post(`events/${encodeURIComponent(id)}/retry`)}
            done=${route.reload} />`
          }
        </div>
        <${Facts} rows=${[
          ["event", story.id],
          ["from", [source, kind, account].filter(Boolean).join(", ")],
          ["mapping", hook?.mapping],
          ["let in by", hook?.access],
          ["when", html`<${Time} at=${story.acceptedAt} />`],
          ["lane", lane.replaceAll("\t", " ")],
          ["agent", agentId],
          ["session", sessionKey === lane ? undefined : sessionKey],
          ["attempts", attempts > 1 ? attempts : undefined],
          ["repeated", repeated && `${repeated.count} times`],
          [
            "together",
            unitId === undefined || unitId === story.id
              ? undefined
              : html`handled with <a href=${`#/events/${unitId}`}>${unitId}</a>`,
          ],
        ]} />
        <h2>What was decided</h2>
        ${
          story.decisions.length === 0
            ? html`<p class="empty">No station has decided anything yet.</p>`
            : html`<ol class="steps">${spansOf(story).map(
                (span, index) => html`<${Step} key=${index} ...${span} reload=${route.reload} />`,
              )}
          </ol>`
        }
        ${reply !== undefined && html`<h2>Reply</h2><pre class="text">${reply}</pre>`}`;
    }}<//>`;
}
