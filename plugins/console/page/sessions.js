import { useEffect, useState } from "preact/hooks";
import { get, query } from "./api.js";
import { useRoute } from "./live.js";
import { html, Loaded, Problem, Time } from "./parts.js";

export function Sessions() {
  const route = useRoute("sessions?limit=100");
  return html`<h1>Conversations</h1>
    <${Loaded} route=${route}>${({ sessions }) =>
      sessions.length === 0
        ? html`<p class="empty">No conversation is stored yet.</p>`
        : html`<ul class="rows">${sessions.map(
            ({
              key,
              agentId,
              messages,
              updatedAt,
            }) => html`<li key=${key}><a class="line" href=${`#/sessions/${encodeURIComponent(key)}`}>
              <span class="soft nowrap when"><${Time} at=${updatedAt} /></span>
              <span class="grow mono">${key}</span>
              <span class="soft nowrap">${agentId ?? ""} · ${messages}</span>
            </a></li>`,
          )}</ul>`}<//>`;
}

function textOf(content) {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n");
  return typeof content?.text === "string" ? content.text : "";
}

export function Conversation({ id }) {
  const [shown, setShown] = useState({ messages: [], older: 0, session: undefined, error: undefined });
  const load = async (before) => {
    try {
      const { transcript, older, ...session } = await get(
        `sessions/${encodeURIComponent(id)}${query({ before, limit: 50 })}`,
      );
      setShown((known) => ({
        session,
        older,
        messages: before === undefined ? transcript : [...transcript, ...known.messages],
      }));
    } catch (error) {
      setShown((known) => ({ ...known, error }));
    }
  };
  useEffect(() => void load(), [id]);
  const { messages, older, session, error } = shown;
  return html`<p class="back"><a href="#/sessions">‹ Conversations</a></p>
    <h1 class="mono small-title">${id}</h1>
    ${error !== undefined && html`<${Problem} error=${error} />`}
    ${session?.summaries.map(
      ({ id: key, at, messages: count, model, text }) =>
        html`<details class="card" key=${key}><summary>Summary of ${count} messages by ${model}, <${Time} at=${at} />
      </summary><pre class="text">${text}</pre></details>`,
    )}
    ${
      older > 0 &&
      html`<p class="more">
      <button class="plain" type="button" onClick=${() => load(older)}>${Math.min(older, 50)} older messages</button>
      </p>`
    }
    <ol class="talk">${messages.map(
      ({ role, content, at, unitId }, index) => html`<li class=${role} key=${older + index}>
        <p class="soft"><strong>${role}</strong> <${Time} at=${at} />
          ${unitId !== undefined && html` · <a href=${`#/events/${unitId}`}>why</a>`}</p>
        <pre class="text">${textOf(content)}</pre>
      </li>`,
    )}</ol>
    ${
      session !== undefined &&
      messages.length === 0 &&
      html`<p class="empty">Nothing has been said in this conversation yet.</p>`
    }`;
}
