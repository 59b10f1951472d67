/** What plugins show: their entries, and buttons for what can be done with them. */
import { post } from "./api.js";
import { Act, Facts, html, notify } from "./parts.js";

const includes = { operate: ["operate", "admin"], admin: ["admin"] };

/** `kind`: the title of the panel, where entries of several are mixed. */
export function Entry({ plugin, panel, entry, session, reload, kind, heading = "h3" }) {
  const { id, title, state, facts = {}, text, waits, acts, version } = entry;
  const press = (name) => async () => {
    const path = `panels/${[plugin, panel, name].map(encodeURIComponent).join("/")}`;
    notify((await post(path, { entry: id, version })).text);
  };
  const possible = acts.filter(({ role }) => includes[role].includes(session.role));
  return html`<article class="card" aria-label=${title}>
    <div class="card-head"><${heading} class="card-title"><bdi>${title}</bdi></${heading}>
      <span class="soft">${kind !== undefined && `${kind} · `}<span class=${`tone ${state.tone}`}>${state.word}</span></span></div>
    ${waits !== undefined && html`<p>${waits}</p>`}
    <${Facts} rows=${Object.entries(facts)} />
    ${text !== undefined && html`<pre class="text" tabindex="0" aria-label=${`Text of ${title}`}>${text}</pre>`}
    ${
      possible.length > 0 &&
      html`<div class="actions">${possible.map(
        ({ name, label, confirm }, index) => html`<${Act} key=${name} label=${label} title=${`${label}: ${title}`}
          kind=${index === 0 && waits !== undefined ? "primary" : "plain"} confirm=${confirm} run=${press(name)}
          done=${reload} />`,
      )}</div>`
    }
  </article>`;
}
