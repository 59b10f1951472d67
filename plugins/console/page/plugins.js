import { useRoute } from "./live.js";
import { Entry } from "./panels.js";
import { html, Loaded } from "./parts.js";

function Panel({ panel, session, reload }) {
  const { plugin, id, title, empty, entries, problem } = panel;
  const heading = `panel-${plugin}-${id}`;
  return html`<section aria-labelledby=${heading}>
    <h2 id=${heading}>${title}</h2>
    ${problem !== undefined && html`<div class="notice bad"><p>${problem}</p></div>`}
    ${entries.length === 0 && problem === undefined && html`<p class="empty">${empty}</p>`}
    <div class="cards">${entries.map(
      (entry) => html`<${Entry} key=${entry.id} plugin=${plugin} panel=${id} entry=${entry} session=${session}
        reload=${reload} />`,
    )}</div>
  </section>`;
}

export function Plugins({ session }) {
  const route = useRoute("panels", ["waiting"]);
  return html`<h1>Plugins and servers</h1>
    <${Loaded} route=${route}>${({ panels }) =>
      panels.map(
        (panel) => html`<${Panel} key=${`${panel.plugin} ${panel.id}`} panel=${panel} session=${session}
          reload=${route.reload} />`,
      )}<//>`;
}
