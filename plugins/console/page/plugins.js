import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Entry } from "./panels.js";
import { Act, html, Loaded, mayDecide } from "./parts.js";

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

const tones = { up: "good", off: "quiet", failed: "bad" };

const counted = (count, word) => count > 0 && `${count} ${word}${count === 1 ? "" : "s"}`;

function Plugin({ one, taps, routes, session, reload }) {
  const { id, version, bundled, state, reason, hint, channel, isolation } = one;
  const enable = (enabled) => () => {
    const changes = [{ path: `plugins.entries.${id}.enabled`, value: enabled }];
    return post("config/set", { changes });
  };
  const facts = [
    version !== undefined && `version ${version}`,
    !bundled && "not bundled",
    channel !== undefined && `channel ${channel}`,
    isolation !== undefined && "in a worker",
    counted(taps, "tap"),
    counted(routes, "route"),
  ];
  return html`<li class="line">
    <span class=${`state tone ${tones[state]}`}>${state}</span>
    <span class="grow"><strong>${id}</strong> <span class="soft">${facts.filter(Boolean).join(" · ")}</span>
      ${reason !== undefined && html`<small>${reason}${hint !== undefined && ` ${hint}`}</small>`}</span>
    ${
      mayDecide(session) &&
      id !== "console" &&
      html`<${Act} label=${state === "off" ? "Switch on" : "Switch off"}
        title=${`Switch ${state === "off" ? "on" : "off"} the plugin ${id}`} run=${enable(state === "off")}
        confirm=${`plugins.entries.${id}.enabled becomes ${state === "off"}, which takes effect after a restart.`}
        done=${reload} />`
    }
  </li>`;
}

function AllPlugins({ session }) {
  const route = useRoute("overview");
  return html`<section aria-labelledby="all-plugins"><h2 id="all-plugins">Plugins</h2>
    <${Loaded} route=${route}>${({ gateway: { plugins, taps, routes, waiting } }) => html`
      ${
        waiting.length > 0 &&
        html`<div class="notice warn"><p>Takes effect after a restart: ${waiting.join(", ")}.
          ${mayDecide(session) && html` <a href="#/config">Configuration</a>`}</p></div>`
      }
      <ul class="rows">${plugins.map(
        (one) => html`<${Plugin} key=${one.id} one=${one} session=${session} reload=${route.reload}
          taps=${taps.filter(({ plugin }) => plugin === one.id).length}
          routes=${routes.filter(({ plugin }) => plugin === one.id).length} />`,
      )}</ul>`}<//>
  </section>`;
}

export function Plugins({ session }) {
  const route = useRoute("panels", ["waiting"]);
  return html`<h1>Plugins and servers</h1>
    <${Loaded} route=${route}>${({ panels }) =>
      panels.map(
        (panel) => html`<${Panel} key=${`${panel.plugin} ${panel.id}`} panel=${panel} session=${session}
          reload=${route.reload} />`,
      )}<//>
    <${AllPlugins} session=${session} />`;
}
