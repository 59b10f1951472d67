import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Entry } from "./panels.js";
import { Act, html, Loaded, mayDecide, notify, Time } from "./parts.js";

/** How much waits, for the badge. */
export const countOf = ({ pairing, approvals, attention, panels }) =>
  pairing.length +
  approvals.length +
  attention.length +
  panels.reduce((count, { entries }) => count + entries.length, 0);

function Sender({ one, may, reload }) {
  const { channel, account, code, senderId, senderName, createdAt } = one;
  const answer = (verdict) => post(`pairing/${verdict}`, { channel, account, code });
  const name = senderName ?? senderId;
  const approved = () => {
    notify(`${name} may write.`);
    reload();
  };
  return html`<article class="card" aria-label=${`${name} wants to write`}>
    <h2 class="card-title"><bdi>${name}</bdi> wants to write</h2>
    <p class="soft">id ${senderId} · ${channel}:${account}${
      code !== undefined && html` · code <span class="mono">${code}</span>`
    } · asked <${Time} at=${createdAt} /></p>
    ${
      may &&
      html`<div class="actions">
        <${Act} label="Approve" kind="primary" title=${`Approve ${name}`} run=${() => answer("approve")}
          done=${approved} />
        <${Act} label="Deny" title=${`Deny ${name}`} run=${() => answer("deny")} done=${reload} />
      </div>`
    }
  </article>`;
}

function Tool({ one, may, reload }) {
  const { code, tool, plugin, agentId, requester, requesterName, reason, written, event, until } = one;
  const answer = (verdict) => async () => notify((await post(`approvals/${code}`, { verdict })).text);
  return html`<article class="card" aria-label=${`${agentId} asks to use ${tool}`}>
    <h2 class="card-title">${agentId} asks to use <span class="mono">${tool}</span></h2>
    <p class="soft">
      ${plugin} · for ${requester}${
        requesterName !== undefined && html` "<bdi>${requesterName}</bdi>"`
      } · until <${Time} at=${until} />
      ${event !== undefined && html` · <a href=${`#/events/${event}`}>event</a>`}</p>
    ${reason !== undefined && html`<p>The reason given by the tool: "<bdi>${reason}</bdi>"</p>`}
    <pre class="text" tabindex="0" aria-label="Arguments">${written}</pre>
    ${
      may &&
      html`<div class="actions">
        <${Act} label="Allow once" kind="primary" title=${`Allow ${tool} once`} run=${answer("once")} done=${reload} />
        <${Act} label="Deny" title=${`Deny ${tool}`} run=${answer("deny")} done=${reload} />
      </div>`
    }
  </article>`;
}

const states = { needs_login: "needs a new sign-in", needs_setup: "needs to be set up" };

/** Nothing that a button could do: the remedy is outside of the gateway. */
function Attention({ source, account, state, reason, fix }) {
  return html`<article class="card" aria-label=${`${source}:${account} ${states[state]}`}>
    <h2 class="card-title"><span class="mono">${source}:${account}</span> ${states[state]}</h2>
    <p>${reason}</p>
    ${fix !== "" && html`<p class="soft">${fix}</p>`}
  </article>`;
}

export function Waiting({ session }) {
  const route = useRoute("waiting", ["waiting"]);
  const may = mayDecide(session);
  return html`<h1>Waiting for you</h1>
    <${Loaded} route=${route}>${(waiting) => {
      if (countOf(waiting) === 0) return html`<p class="empty">Nothing waits for you.</p>`;
      const { pairing, approvals, attention, panels } = waiting;
      const common = { may, session, reload: route.reload };
      return html`${
        !may &&
        html`<div class="notice warn"><p>This session may look, and decides nothing: the role admin does.</p></div>`
      }
        ${approvals.map((one, index) => html`<${Tool} key=${one.code ?? index} one=${one} ...${common} />`)}
        ${pairing.map(
          (one) => html`<${Sender} key=${`${one.channel} ${one.account} ${one.senderId}`} one=${one}
          ...${common} />`,
        )}
        ${panels.flatMap(({ plugin, id, title, entries }) =>
          entries.map(
            (entry) => html`<${Entry} key=${`${plugin} ${id} ${entry.id}`} plugin=${plugin} panel=${id}
            entry=${entry} kind=${title} heading="h2" ...${common} />`,
          ),
        )}
        ${attention.map((one) => html`<${Attention} key=${`${one.source} ${one.account}`} ...${one} />`)}`;
    }}<//>`;
}
