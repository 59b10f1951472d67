import { useState } from "preact/hooks";
import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Act, Facts, html, Loaded, mayOperate } from "./parts.js";

const keys = { set: "is set", missing: "is missing", "not needed": "is not needed" };
const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
const number = new Intl.NumberFormat();

function Tested({ test }) {
  if (test === undefined) return null;
  const { error, firstWordMs, totalMs, inputTokens, outputTokens } = test;
  if (error !== undefined)
    return html`<div class="notice bad" role="status"><p>${error.reason} <span class="mono">${error.code}</span></p>
      ${error.hint !== undefined && html`<p class="soft">${error.hint}</p>`}</div>`;
  return html`<div class="notice good" role="status"><p>It answers: ${
    firstWordMs === undefined ? "no text" : `the first word after ${seconds(firstWordMs)}`
  }, complete after ${seconds(totalMs ?? 0)}${
    inputTokens === undefined ? "" : `, ${inputTokens} tokens in, ${outputTokens ?? 0} out`
  }.</p></div>`;
}

function Model({ model, uses, address, secret, contextTokens, contextSource, price, problem, session }) {
  const [test, setTest] = useState(undefined);
  const [{ agent } = {}] = uses;
  const run = async () => {
    setTest(undefined);
    setTest((await post("models/test", { model, agent })).test);
  };
  const cost = price === null ? "unknown" : `$${price.input} in, $${price.output} out for a million tokens`;
  return html`<article class="card" aria-label=${model}>
    <div class="card-head"><h2 class="card-title mono">${model}</h2>
      <span class=${`tone ${problem === undefined ? "quiet" : "bad"}`}>${problem === undefined ? "" : "cannot be asked"}
      </span></div>
    ${problem !== undefined && html`<p>${problem}</p>`}
    <${Facts} rows=${[
      ["for", uses.map(({ agent: of, as, alias }) => `${of} (${[as, alias].filter(Boolean).join(", ")})`).join(", ")],
      ["server", address],
      ["key", keys[secret]],
      ["context", contextTokens === null ? "unknown" : `${number.format(contextTokens)} tokens, ${contextSource}`],
      ["price", cost],
    ]} />
    ${
      mayOperate(session) &&
      html`<div class="actions"><${Act} label="Test" title=${`Test ${model}`} run=${run} /></div>`
    }
    <${Tested} test=${test} />
  </article>`;
}

export function Models({ session }) {
  const route = useRoute("models");
  return html`<h1>Models</h1>
    <p class="soft intro">A test asks the model for one word. It counts in the budgets.</p>
    <${Loaded} route=${route}>${({ models }) =>
      models.length === 0
        ? html`<p class="empty">No model is configured. They are set in agents.defaults.model, by the
            ${" "}<a href="#/config?section=agents">configuration</a>.</p>`
        : html`<div class="cards">${models.map((one) => {
            const { key: secret, ...rest } = one;
            return html`<${Model} key=${one.model} ...${rest} secret=${secret} session=${session} />`;
          })}</div>`}<//>`;
}
