import { post } from "./api.js";
import { useRoute } from "./live.js";
import { Act, html, Loaded, mayOperate, notify, Time, Wait } from "./parts.js";

const unsent = (parts) =>
  parts === 1 ? "1 part of a reply is not sent yet." : `${parts} parts of replies are not sent yet.`;

export function Failed({ session }) {
  const route = useRoute("failed", ["events"]);
  const retry = (code) => async () => {
    const { retried } = await post("failed/retry", { code });
    notify(`${retried.length} ${retried.length === 1 ? "event runs" : "events run"} again.`);
  };
  return html`<h1>Failed and waiting</h1>
    <${Loaded} route=${route}>${({ groups, waits, outboxWaiting }) => html`
      <section aria-labelledby="failed-groups"><h2 id="failed-groups">Failed, by reason</h2>
        ${groups.length === 0 && html`<p class="empty">Nothing has failed.</p>`}
        ${groups.map(
          ({ reason, events, newestAt, examples }) => html`<article class="card" key=${reason} aria-label=${reason}>
            <h3><span class="mono">${reason}</span> <span class="badge quiet">${events}</span></h3>
            <p class="soft">last <${Time} at=${newestAt} /> · ${examples.map(
              (id, index) => html`${index > 0 && ", "}<a class="mono" href=${`#/events/${id}`}>${id}</a>`,
            )}</p>
            ${
              mayOperate(session) &&
              html`<div class="actions">
              <${Act} label=${events === 1 ? "Run again" : `Run all ${events} again`} run=${retry(reason)}
              done=${route.reload} /></div>`
            }
          </article>`,
        )}
      </section>
      <section aria-labelledby="held"><h2 id="held">Waiting</h2>
        ${outboxWaiting > 0 && html`<p>${unsent(outboxWaiting)}</p>`}
        ${waits.map((one) => html`<${Wait} key=${one.reason} ...${one} />`)}
        ${
          waits.length === 0 &&
          outboxWaiting === 0 &&
          html`<p class="empty">Nothing waits for a channel or a model.</p>`
        }
      </section>`}<//>`;
}
