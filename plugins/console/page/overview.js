import { Budgets } from "./budgets.js";
import { useRoute } from "./live.js";
import { duration, html, Loaded, Outcome, placeOf, Time, Wait } from "./parts.js";
import { SignIn } from "./sign-in.js";

function Tile({ label, value, href, bad = false }) {
  return html`<a class=${`tile ${bad ? "bad" : ""}`} href=${href}><strong>${value}</strong><span>${label}</span></a>`;
}

function Account({ channel, account, status, lastReceivedAt, lastSentAt }) {
  const why = status.detail ?? status.reason;
  return html`<li class="line">
    <span class=${`state ${status.state}`}>${status.state}</span>
    <span class="grow"><strong>${channel}:${account}</strong>
      ${
        status.identity?.username !== undefined &&
        html` <span class="soft">@${status.identity.username}
      </span>`
      }${why !== undefined && html`<small>${why}</small>`}${
        status.action !== undefined && html`<${SignIn} ...${status.action} />`
      }</span>
    ${
      (lastReceivedAt ?? lastSentAt) !== undefined &&
      html`<span class="soft nowrap"><${Time} at=${Math.max(lastReceivedAt ?? 0, lastSentAt ?? 0)} /></span>`
    }
  </li>`;
}

function Failures() {
  const route = useRoute("events?outcome=failed&limit=10&all=1", ["events"]);
  const events = route.data?.events ?? [];
  return html`<section aria-labelledby="failures">
    <h2 id="failures">Last failures</h2>
    ${
      events.length === 0
        ? html`<p class="empty">${route.data === undefined ? "Loading …" : "Nothing has failed."}</p>`
        : html`<ul class="rows events">
          ${events.map(
            (event) => html`<li key=${event.id}><a class="line" href=${`#/events/${event.id}`}>
              <span class="soft nowrap"><${Time} at=${event.at} /></span>
              <span class="grow">${event.source} <span class="soft">${placeOf(event)}</span></span>
              <${Outcome} ...${event} />
            </a></li>`,
          )}
        </ul>`
    }
  </section>`;
}

export function Overview({ session }) {
  const route = useRoute("overview", ["status"]);
  return html`<h1>Overview</h1>
    <${Loaded} route=${route}>${(status) => {
      const { ready, reasons, events, waits, gateway, startedAt, url, configFile } = status;
      const oldest = events.oldestOpenAt;
      return html`
        <div class=${`notice ${ready ? (reasons.length === 0 ? "good" : "warn") : "bad"}`}>
          <p><strong>${ready ? (reasons.length === 0 ? "Ready" : "Ready, with problems") : "Not ready"}</strong>
          <span class="soft"> · up for ${duration(Date.now() - startedAt)} · ${url}</span></p>
          ${
            reasons.length > 0 &&
            html`<ul class="reasons">${reasons.map((reason) => html`<li key=${reason}>${reason}</li>`)}</ul>`
          }
        </div>
        <div class="tiles">
          <${Tile} label="running" value=${events.running} href="#/events?outcome=waiting" />
          <${Tile} label=${oldest === undefined ? "waiting" : `waiting · ${duration(Date.now() - oldest)}`}
            value=${events.waiting} href="#/events?outcome=waiting" />
          <${Tile} label="parts to send" value=${events.outboxWaiting} href="#/failed" />
          <${Tile} label="failed" value=${events.settled.failed} href="#/failed" bad=${events.settled.failed > 0} />
          <${Tile} label="refused" value=${events.settled.refused} href="#/events?outcome=refused" />
          <${Tile} label="answered" value=${events.settled.answered} href="#/events?outcome=answered" />
        </div>
        ${
          waits.length > 0 &&
          html`<section aria-labelledby="waits"><h2 id="waits">What events wait for</h2>
            ${waits.map((one) => html`<${Wait} key=${one.reason} ...${one} />`)}
          </section>`
        }
        ${
          gateway.problems.length + gateway.waiting.length > 0 &&
          html`<section aria-labelledby="problems"><h2 id="problems">Configuration</h2>
            <p class="soft mono">${configFile}</p>
            ${
              gateway.waiting.length > 0 &&
              html`<div class="notice warn"><p>Takes effect after a restart: ${gateway.waiting.join(", ")}</p></div>`
            }
            ${gateway.problems.map(
              (one) =>
                html`<div class=${`notice ${one.severity === "error" ? "bad" : "warn"}`} key=${one.path + one.message}>
              <p><span class="mono">${one.path}</span> ${one.message}</p>
              ${one.hint !== undefined && html`<p class="soft">${one.hint}</p>`}</div>`,
            )}
          </section>`
        }
        <section aria-labelledby="accounts"><h2 id="accounts">Accounts</h2>
          ${
            gateway.accounts.length === 0
              ? html`<p class="empty">No channel is configured.</p>`
              : html`<ul class="rows">
            ${gateway.accounts.map((one) => html`<${Account} key=${`${one.channel}:${one.account}`} ...${one} />`)}
            </ul>`
          }
        </section>`;
    }}<//>
    <${Budgets} session=${session} />
    <${Failures} />`;
}
