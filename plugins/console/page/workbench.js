/** Tries a mapping on a delivery, and saves it: nothing is queued, and no agent runs. */
import { useEffect, useState } from "preact/hooks";
import { get, post, query } from "./api.js";
import { useRoute } from "./live.js";
import { Act, Facts, html, Loaded, mayDecide, mayOperate, notify, Problem } from "./parts.js";

const example = JSON.stringify({ action: "opened", number: 7, title: "It does not start" }, null, 2);
const fresh = `{
  // Takes deliveries to /hooks/NAME, and writes a message to the agent from them.
  "match": { "path": "NAME" },
  "messageTemplate": "{{ title }}"
}`;

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));

/** Values, and beside those that an edit changes what they are without it. */
function Values({ title, values, before }) {
  const names = [...new Set([...Object.keys(values ?? {}), ...Object.keys(before ?? {})])];
  if (names.length === 0) return null;
  const rows = names.map((name) => {
    const [now, then] = [values?.[name], before?.[name]].map((one) => (one === undefined ? "" : shown(one)));
    if (before === undefined || now === then) return [name, html`<span class="wrap">${now}</span>`];
    return [
      name,
      html`<span class="wrap">${now || "nothing"}</span> <span class="soft">was</span>
      <del class="wrap">${then || "nothing"}</del>`,
    ];
  });
  return html`<h3>${title}</h3><${Facts} rows=${rows} />`;
}

function transformed({ module, result, error }) {
  if (error !== undefined) return { [`${module} failed`]: error };
  if (result === null) return { [module]: "returned null: nothing to do" };
  if (result === undefined) return { [module]: "overrides nothing" };
  return typeof result === "object" && !Array.isArray(result) ? result : { result };
}

function runValues(run) {
  const { action, wrapped, wake, asked, deliverOnly } = run;
  const what = action === "wake" ? { ...wake } : { ...asked.request, message: asked.message };
  return { does: deliverOnly ? "delivers without an agent" : action, ...what, ...(!wrapped && { wrapped: "no" }) };
}

const number = (list, index) => (list.length > 1 ? ` ${index + 1}` : "");

function Result({ result, problems, before }) {
  const { asked, steps, runs, nothing, failure } = result;
  const taken = asked.find((one) => one.taken);
  const absent = runs.flatMap((run) => run.absent ?? []);
  const headline =
    failure !== undefined
      ? `Refused: the sender gets ${failure.status} ${failure.code}`
      : taken === undefined
        ? "Not taken: the sender gets 404"
        : nothing !== undefined
          ? `Nothing to do (${nothing})`
          : runs.length === 1
            ? `One ${runs[0].action} run by ${taken.id}`
            : `${runs.length} runs by ${taken.id}`;
  const tone = failure !== undefined || taken === undefined ? "bad" : nothing !== undefined ? "warn" : "good";
  return html`
    <div class=${`notice ${tone}`} role="status"><p><strong>${headline}</strong></p>
      ${
        failure !== undefined &&
        html`<p>${failure.message}</p><p class="soft">Decided by <span class="mono">${failure.path}</span>.
          ${" "}${failure.hint}</p>`
      }</div>
    ${problems.map(
      ({ severity, path, message, hint }) => html`<div class=${`notice ${severity === "error" ? "bad" : "warn"}`}
        key=${path + message}><p><span class="mono">${path}</span> ${message}</p>
        ${hint && html`<p class="soft">${hint}</p>`}</div>`,
    )}
    ${
      asked.length > 0 &&
      html`<h3>Mappings, in their order</h3><ul class="rows">${asked.map(
        ({ id, at, taken: takes, why }) => html`<li class="line" key=${at + id}>
        <span aria-hidden="true">${takes ? "✓" : "·"}</span>
        <span class="grow"><strong>${id}</strong> <span class="soft mono">${at}</span>
        <small>${takes ? "takes it" : why}</small></span></li>`,
      )}</ul>`
    }
    ${steps.map(
      ({ rendered, transform }, index) => html`<section key=${index}>
        <${Values} title=${`Rendered${number(steps, index)}`} values=${rendered}
          before=${before?.steps[index]?.rendered} />
        ${
          transform !== undefined &&
          html`<${Values} title=${`${transform.module} returned${number(steps, index)}`}
            values=${transformed(transform)}
            before=${before?.steps[index]?.transform && transformed(before.steps[index].transform)} />`
        }</section>`,
    )}
    ${
      absent.length > 0 &&
      html`<h3>Absent from the payload</h3><ul class="reasons">${absent.map(
        ({ path, detail }, index) => html`<li key=${index}>${detail} <span class="soft mono">${path}</span></li>`,
      )}</ul>`
    }
    ${runs.map(
      (run, index) => html`<${Values} key=${index} title=${`Would run${number(runs, index)}`} values=${runValues(run)}
        before=${before?.runs[index] && runValues(before.runs[index])} />`,
    )}`;
}

function Area({ label, value, onInput, rows = 14, note }) {
  return html`<label class="area">${label}${note !== undefined && html` <small class="soft">${note}</small>`}
    <textarea rows=${rows} spellcheck="false" autocapitalize="none" autocomplete="off" value=${value}
      onInput=${(event) => onInput(event.target.value)}></textarea></label>`;
}

/** The name of a mapping in a list: its id or path, as far as its text says it. */
function nameOf({ at, text }) {
  const [, id] = /"id"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  const [, path] = /"path"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return `${id ?? path ?? "mapping"} (${at})`;
}

function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

function Bench({ mappings, digest, deliveries, filter, session, reload }) {
  const next = `hooks.mappings[${mappings.length}]`;
  const [path, setPath] = useState("");
  const [payload, setPayload] = useState(example);
  const [at, setAt] = useState(filter.mapping ?? "");
  const textOf = (place) => (place === next ? fresh : (mappings.find((one) => one.at === place)?.text ?? ""));
  const [text, setText] = useState(textOf(at));
  const [base, setBase] = useState(digest);
  const [tried, setTried] = useState(undefined);
  const [problem, setProblem] = useState(undefined);
  const [recorded, setRecorded] = useState(filter.delivery ?? "");
  const isAdmin = mayDecide(session);
  const take = async (id) => {
    setRecorded(id);
    if (id === "") return;
    try {
      const { recorded: found } = await get(`deliveries/${encodeURIComponent(id)}`);
      setPath(found.path);
      setPayload(JSON.stringify(found, null, 2));
    } catch (error) {
      setProblem(error);
    }
  };
  useEffect(() => void take(recorded), []);
  const choose = (place) => {
    setAt(place);
    setText(textOf(place));
    setBase(digest);
    setTried(undefined);
  };
  const edited = at === "" || text === textOf(at) ? undefined : { base, at, text };
  const test = async () => {
    setProblem(undefined);
    try {
      const delivery = { path: path === "" ? "NAME" : path, delivery: payload };
      const now = await post("hooks/test", { ...delivery, ...(edited && { edited }) });
      const then = edited === undefined ? undefined : await post("hooks/test", delivery);
      setTried({ ...now, before: then?.result });
    } catch (error) {
      setTried(undefined);
      setProblem(error);
    }
  };
  const keep = async () => {
    setProblem(undefined);
    try {
      const { digest: saved, changed, problems } = await post("hooks/mappings", { edited: { base, at, text } });
      setBase(saved);
      notify(
        changed ? `${at} is saved.${problems.length > 0 ? ` ${problems.length} warnings.` : ""}` : "Nothing changed.",
      );
      reload();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<div class="bench">
    <section aria-labelledby="bench-delivery"><h2 id="bench-delivery">Delivery</h2>
      <div class="fields wide">
        <label>Recorded <select onChange=${(event) => take(event.target.value)} value=${recorded}>
          <option value="">pasted below</option>
          ${deliveries.map(
            ({
              id,
              hook,
              at: when,
            }) => html`<option key=${id} value=${id}>${`${hook}, ${new Date(when).toLocaleString()}`}
          </option>`,
          )}
        </select></label>
        <label>Path <input name="path" value=${path} placeholder="NAME" autocomplete="off" spellcheck="false"
          onInput=${(event) => setPath(event.target.value)} /></label>
      </div>
      <${Area} label="Payload" note="JSON, or a recording with headers" value=${payload} onInput=${setPayload} />
      <p class="actions"><button class="plain" type="button"
        onClick=${() => save(`${path || "delivery"}.json`, payload)}>Save as a file</button></p>
    </section>
    ${
      isAdmin &&
      html`<section aria-labelledby="bench-mapping"><h2 id="bench-mapping">Mapping</h2>
      <div class="fields wide"><label>Mapping <select value=${at} onChange=${(event) => choose(event.target.value)}>
        <option value="">all, as they are configured</option>
        ${mappings.map((one) => html`<option key=${one.at} value=${one.at}>${nameOf(one)}</option>`)}
        <option value=${next}>a new one (${next})</option>
      </select></label></div>
      ${
        at === ""
          ? html`<p class="empty">Choose a mapping to change it, or write a new one. Secrets are hidden; they stay as they
              are where their placeholder stays.</p>`
          : html`<${Area} label="Text" note="JSON with comments" value=${text} onInput=${setText} />`
      }
    </section>`
    }
  </div>
  <div class="actions">
    ${mayOperate(session) && html`<${Act} label="Try" kind="primary" run=${test} />`}
    ${isAdmin && at !== "" && html`<${Act} label="Save the mapping" run=${keep} />`}
  </div>
  ${problem !== undefined && html`<${Problem} error=${problem} retry=${problem.code === "config_changed" ? reload : undefined} />`}
  ${tried !== undefined && html`<div class="result"><h2>What would happen</h2><${Result} ...${tried} /></div>`}`;
}

function Editing({ children }) {
  const route = useRoute("hooks/mappings");
  return html`<${Loaded} route=${route}>${(read) => children({ ...read, reload: route.reload })}<//>`;
}

/** Mappings are part of the configuration, which only the role admin reads. */
export function Workbench({ filter, session }) {
  const recent = useRoute(`deliveries${query({ limit: 50 })}`);
  const bench = (mappings) =>
    html`<${Loaded} route=${recent}>${({ deliveries }) =>
      html`<${Bench} ...${mappings} deliveries=${deliveries} filter=${filter} session=${session} />`}<//>`;
  return html`<p class="back"><a href="#/deliveries">‹ Deliveries</a></p>
    <h1>Workbench</h1>
    ${mayDecide(session) ? html`<${Editing}>${bench}<//>` : bench({ mappings: [], digest: "", reload: () => {} })}`;
}
