import { Budgets } from "./budgets.js";
import { useRoute } from "./live.js";
import { html, Loaded } from "./parts.js";

const keys = ["", "agent", "model", "sender", "purpose"];
const names = { "": "agent and model" };
const number = new Intl.NumberFormat();
const cost = ({ usd, unpricedCalls, calls }) => {
  if (unpricedCalls === 0) return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
  return unpricedCalls === calls ? "unknown" : `$${usd.toFixed(2)} + ${unpricedCalls} unknown`;
};

export function Usage({ filter, go, session }) {
  const by = filter.by ?? "";
  const route = useRoute(by === "" ? "usage" : `usage?by=${by}`);
  return html`<h1>Usage</h1>
    <div class="filters"><div class="chips" role="group" aria-label="Group by">
      ${keys.map(
        (one) =>
          html`<button type="button" key=${one} aria-pressed=${by === one} onClick=${() => go("usage", { by: one })}>
        ${names[one] ?? one}</button>`,
      )}
    </div></div>
    <${Loaded} route=${route}>${({ usage, total }) =>
      usage.length === 0
        ? html`<p class="empty">No model was called in the last seven days.</p>`
        : html`<div class="scroll-x" tabindex="0" role="region" aria-label="Usage of the last seven days"><table>
          <thead><tr><th scope="col">${by === "" ? "agent, model" : by}</th><th scope="col">calls</th>
            <th scope="col">in</th><th scope="col">out</th><th scope="col">cost</th></tr></thead>
          <tbody>${usage.map((row, index) => {
            const { agentId, model, sender, purpose } = row;
            const name =
              by === ""
                ? [agentId, model].filter(Boolean).join(", ")
                : (sender ?? purpose ?? (by === "agent" ? agentId : model));
            return html`<tr key=${index}><th scope="row">${name || "-"}</th><td>${number.format(row.calls)}</td>
              <td>${number.format(row.inputTokens)}</td><td>${number.format(row.outputTokens)}</td><td>${cost(row)}
              </td></tr>`;
          })}</tbody>
          <tfoot><tr><th scope="row">total</th><td>${number.format(total.calls)}</td>
            <td>${number.format(total.inputTokens)}</td><td>${number.format(total.outputTokens)}</td>
            <td>${cost(total)}</td></tr></tfoot>
        </table></div>`}<//>
    <${Budgets} session=${session} />`;
}
