import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Act, html, Loaded, mayDecide, notify, Time } from "./parts.js";

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
    <p class="soft">id ${senderId} · ${channel}:${account} · code <span class="mono">${code}
      </span> · asked <${Time} at=${createdAt} /></p>
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

export function Waiting({ session }) {
  const route = useRoute("waiting", ["waiting"]);
  const may = mayDecide(session);
  return html`<h1>Waiting for you</h1>
    <${Loaded} route=${route}>${({ pairing, approvals }) => {
      if (pairing.length + approvals.length === 0) return html`<p class="empty">Nothing waits for you.</p>`;
      return html`${
        !may &&
        html`<div class="notice warn"><p>This session may look, and decides nothing: the role admin does.</p></div>`
      }
        ${approvals.map((one) => html`<${Tool} key=${one.code} one=${one} may=${may} reload=${route.reload} />`)}
        ${pairing.map((one) => html`<${Sender} key=${one.code} one=${one} may=${may} reload=${route.reload} />`)}`;
    }}<//>`;
}
