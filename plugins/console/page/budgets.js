/** How much of each budget is used, and more for the present day or month. */
import { useState } from "preact/hooks";
import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Act, html, mayDecide, notify } from "./parts.js";

const periods = { day: "today", month: "this month" };
const number = new Intl.NumberFormat();
const amountOf = (unit, value) => (unit === "usd" ? `$${value.toFixed(2)}` : `${number.format(Math.round(value))}`);

function Budget({ path, agentId, used, total, unit, period, session, reload }) {
  const [amount, setAmount] = useState("");
  const name = agentId === undefined ? path : `${path} · ${agentId}`;
  const canAdd = mayDecide(session) && period in periods && !path.includes("perSender");
  const add = async () => {
    await post("budgets/add", {
      amount: Number(amount),
      unit,
      period,
      ...(agentId !== undefined && { agent: agentId }),
    });
    notify(`Added ${amountOf(unit, Number(amount))} for ${periods[period]}.`);
    setAmount("");
    reload();
  };
  return html`<div class="budget">
    <span class="grow">${name}</span>
    <meter min="0" max=${total} value=${Math.min(used, total)} high=${total * 0.8}
      aria-label=${`${name}, ${period}`}></meter>
    <span class="nowrap">${amountOf(unit, used)} of ${amountOf(unit, total)}${unit === "tokens" && " tokens"}
      ${period in periods && ` ${periods[period]}`}</span>
    ${
      canAdd &&
      html`<span class="fields"><input type="number" min="0" step="any" value=${amount}
        aria-label=${`More for ${name}, in ${unit === "usd" ? "US dollars" : "tokens"}`}
        onInput=${(event) => setAmount(event.target.value)} />
        <${Act} label=${`Add ${periods[period]}`} title=${`Add to ${name}`} run=${add} /></span>`
    }
  </div>`;
}

export function Budgets({ session }) {
  const route = useRoute("usage");
  const budgets = route.data?.budgets ?? [];
  if (budgets.length === 0) return null;
  return html`<section aria-labelledby="budgets">
    <h2 id="budgets">Budgets</h2>
    ${budgets.map(
      (one) => html`<${Budget} key=${`${one.path} ${one.agentId ?? ""}`} ...${one} session=${session}
        reload=${route.reload} />`,
    )}
  </section>`;
}
