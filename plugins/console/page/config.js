/** The configuration as a form and as text. What is saved is checked first; everything else of the file stays. */
import { useState } from "preact/hooks";
import { post } from "./api.js";
import { Fields } from "./form.js";
import { useRoute } from "./live.js";
import { Act, html, Loaded, mayDecide, notify, Problem } from "./parts.js";

/** The lines that differ, without those that are the same at the beginning and at the end. */
function differing(before, after) {
  const [one, other] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(one.length, other.length) && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  return {
    line: start + 1,
    removed: one.slice(start, one.length - end),
    added: other.slice(start, other.length - end),
  };
}

function Difference({ before, after }) {
  const { line, removed, added } = differing(before, after);
  return html`<h2>What changes, from line ${line}</h2>
    <pre class="text tall" tabindex="0" aria-label="Difference">${removed.map(
      (text, index) => html`<del key=${`- ${index}`}>${`- ${text}\n`}</del>`,
    )}${added.map((text, index) => html`<ins key=${`+ ${index}`}>${`+ ${text}\n`}</ins>`)}</pre>`;
}

function Warnings({ problems }) {
  return problems.map(
    ({ severity, path, message, hint, line }) => html`<div class=${`notice ${severity === "error" ? "bad" : "warn"}`}
      key=${path + message}><p><span class="mono">${path}</span>${line !== undefined && ` (line ${line})`} ${message}</p>
      ${hint && html`<p class="soft">${hint}</p>`}</div>`,
  );
}

/** A refusal, with the place in the file if it has one. */
function Refusal({ error, reload }) {
  return html`<${Problem} error=${error} retry=${error.code === "config_changed" ? reload : undefined}
    retryLabel="Read it again" />`;
}

function Restart({ waiting, session }) {
  if (waiting.length === 0) return null;
  return html`<div class="notice warn"><p>Takes effect after a restart: ${waiting.join(", ")}</p>
    ${
      mayDecide(session) &&
      html`<div class="actions"><${Act} label="Restart the gateway" run=${() => post("restart")}
        confirm="The gateway finishes what runs, and starts again. Go on?" done=${() => notify("It restarts.")} /></div>`
    }</div>`;
}

function AsText({ text, digest, session, reload }) {
  const [edited, setEdited] = useState(text);
  const [base, setBase] = useState({ digest, text });
  const [checked, setChecked] = useState(undefined);
  const [problem, setProblem] = useState(undefined);
  const send = (dryRun) => async () => {
    setProblem(undefined);
    setChecked(undefined);
    try {
      const answer = await post("config", { base: base.digest, text: edited, dryRun });
      if (dryRun) setChecked(answer);
      else {
        notify(answer.changed ? "The configuration is saved." : "Nothing changed.");
        setBase({ digest: answer.digest, text: edited });
        reload();
      }
    } catch (error) {
      setProblem(error);
    }
  };
  const again = () => {
    setProblem(undefined);
    setBase({ digest, text });
    reload();
  };
  const isChanged = edited !== base.text;
  return html`<p class="soft">Secrets are hidden: they stay as they are where their placeholder stays.</p>
    <label class="area">Text of the file<textarea rows="26" spellcheck="false" autocapitalize="none"
      readonly=${!mayDecide(session)} value=${edited} onInput=${(event) => {
        setEdited(event.target.value);
        setChecked(undefined);
      }}></textarea></label>
    ${
      mayDecide(session) &&
      html`<div class="actions"><${Act} label="Check" run=${send(true)} />
      <${Act} label="Save" kind="primary" run=${send(false)} /></div>`
    }
    ${problem !== undefined && html`<${Refusal} error=${problem} reload=${again} />`}
    ${
      checked !== undefined &&
      html`<div class="notice good" role="status"><p>${
        checked.changed ? "It can be saved." : "Nothing differs from the file."
      }</p></div><${Warnings} problems=${checked.problems} />`
    }
    ${isChanged && html`<${Difference} before=${base.text} after=${edited} />`}`;
}

const sorted = (changes) => Object.entries(changes).map(([path, value]) => ({ path, value }));

function AsForm({ session, filter, go, saved }) {
  const route = useRoute("config/form");
  const [changes, setChanges] = useState({});
  const [problem, setProblem] = useState(undefined);
  const change = (path, value) =>
    setChanges((before) => {
      const { [path]: _, ...rest } = before;
      return value === undefined ? rest : { ...rest, [path]: value };
    });
  return html`<${Loaded} route=${route}>${({ schema, set, applied, digest }) => {
    const sections = Object.keys(schema.properties);
    const section = sections.includes(filter.section) ? filter.section : "agents";
    const count = Object.keys(changes).length;
    const keep = async () => {
      setProblem(undefined);
      try {
        const { problems } = await post("config/set", { base: digest, changes: sorted(changes) });
        setChanges({});
        notify(
          problems.length === 0 ? "The configuration is saved." : `It is saved, with ${problems.length} warnings.`,
        );
        saved();
        await route.reload();
      } catch (error) {
        setProblem(error);
      }
    };
    const { [section]: shown } = schema.properties;
    return html`<div class="fields"><label>Section <select value=${section}
        onChange=${(event) => go("config", { section: event.target.value })}>
        ${sections.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label></div>
      ${shown.description !== undefined && html`<p class="soft">${shown.description}</p>`}
      <${Fields} key=${section} path=${section} schema=${shown} set=${set?.[section]} applied=${applied?.[section]}
        changes=${changes} onChange=${change} />
      <div class="save-bar">
        <span class="soft" role="status">${count === 0 ? "Nothing is changed." : `${count} changed: ${Object.keys(changes).join(", ")}`}</span>
        ${count > 0 && html`<button class="plain" type="button" onClick=${() => setChanges({})}>Discard</button>`}
        ${mayDecide(session) && count > 0 && html`<${Act} label="Save" kind="primary" run=${keep} />`}
      </div>
      ${
        problem !== undefined &&
        html`<${Refusal} error=${problem} reload=${async () => {
          await route.reload();
          setProblem(undefined);
        }} />`
      }`;
  }}<//>`;
}

export function Config({ session, filter, go }) {
  const route = useRoute("config");
  const isText = filter.as === "text";
  return html`<h1>Configuration</h1>
    <${Loaded} route=${route}>${({ file, found, text, digest, problems, waiting }) => html`
      <p class="soft mono file">${file}${!found && " (not there yet: the defaults apply)"}</p>
      <${Restart} waiting=${waiting} session=${session} />
      <${Warnings} problems=${problems} />
      <div class="filters"><div class="chips" role="group" aria-label="Edit as">
        <button type="button" aria-pressed=${!isText} onClick=${() => go("config", { section: filter.section })}>form</button>
        <button type="button" aria-pressed=${isText} onClick=${() => go("config", { as: "text" })}>text</button>
      </div></div>
      ${
        isText
          ? html`<${AsText} text=${text} digest=${digest} session=${session} reload=${route.reload} />`
          : html`<${AsForm} session=${session} filter=${filter} go=${go} saved=${route.reload} />`
      }`}<//>`;
}
