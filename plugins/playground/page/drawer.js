/** The drawer for developers: shows the bot's calls and injects faults. */
import { createCalls } from "./calls.js";
import { byId, el, iconButton, roving, toast } from "./dom.js";

const faultTexts = {
  drop: "never answered; nothing happens",
  delay: "answered late",
  status: "a 5xx answer; nothing happens",
  "reset-before": "connection breaks; nothing happens",
  "reset-after": "it happens, the answer is lost",
  garbage: "an HTML page instead of JSON",
  flood: "429 with retry_after",
  refuse: "400 with a text of yours",
};
const methodNames = [
  "*",
  "getUpdates",
  "sendMessage",
  "editMessageText",
  "sendPhoto",
  "sendDocument",
  "sendChatAction",
  "getFile",
  "getMe",
];

export function createDrawer() {
  const drawer = byId("drawer");
  const opener = byId("developer");
  const calls = createCalls();
  const faults = el("div", { class: "fault-list" });
  const quiet = el("input", { type: "checkbox", id: "hide-polls", checked: true });
  let since = 0;
  let asking = false;
  let tab = "calls";

  const panels = {
    calls: el(
      "section",
      { role: "tabpanel", "aria-label": "API calls", id: "panel-calls" },
      el(
        "div",
        { class: "row" },
        el("label", { for: "hide-polls" }, quiet, " Hide getUpdates"),
        el("button", { type: "button", class: "plain", onclick: () => clearCalls() }, "Clear"),
      ),
      calls.node,
    ),
    faults: el("section", { role: "tabpanel", "aria-label": "Faults", id: "panel-faults" }, faultForm(), faults),
  };
  const tabs = el(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Developer drawer" },
    Object.entries({ calls: "API calls", faults: "Faults" }).map(([name, text]) =>
      el(
        "button",
        { type: "button", role: "tab", "data-tab": name, "aria-controls": `panel-${name}`, onclick: () => show(name) },
        text,
      ),
    ),
  );
  roving(tabs, '[role="tab"]', { keys: ["ArrowLeft", "ArrowRight"], onMove: (next) => show(next.dataset.tab) });
  const head = el(
    "header",
    { class: "drawer-head" },
    tabs,
    iconButton("close", "Close the drawer", () => toggle(false)),
  );
  drawer.append(head, panels.calls, panels.faults);
  quiet.addEventListener("change", () => calls.node.classList.toggle("all", !quiet.checked));

  function show(name) {
    tab = name;
    for (const button of tabs.children) {
      const on = button.dataset.tab === name;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
    }
    for (const [key, panel] of Object.entries(panels)) panel.hidden = key !== name;
    void refresh();
  }

  function toggle(open = drawer.hidden) {
    // If the pressed control was removed, the focus is on the body.
    const inside = drawer.contains(document.activeElement) || document.activeElement === document.body;
    drawer.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
    byId("app").classList.toggle("with-drawer", open);
    if (open) {
      show(tab);
      tabs.querySelector('[aria-selected="true"]').focus();
    } else if (inside) opener.focus();
  }

  async function refresh() {
    if (drawer.hidden || asking) return;
    asking = true;
    try {
      if (tab === "calls") await addCalls();
      showFaults((await (await fetch("/_playground/faults")).json()).faults);
    } finally {
      asking = false;
    }
  }

  async function addCalls() {
    const answer = await (await fetch(`/_playground/calls?since=${since}&limit=200`)).json();
    for (const call of answer.calls) {
      since = call.seq + 1;
      calls.add(call);
    }
  }

  async function clearCalls() {
    await fetch("/_playground/calls", { method: "DELETE" });
    calls.clear();
    since = 0;
  }

  function showFaults(list) {
    faults.replaceChildren(
      list.length === 0
        ? el("p", { class: "empty-note" }, "No fault is set. All calls of the bot are answered normally.")
        : el(
            "ul",
            {},
            list.map((fault) => el("li", {}, el("strong", {}, fault.kind), ` ${fault.method} · ${fault.times} left`)),
          ),
      list.length === 0
        ? ""
        : el("button", { type: "button", class: "plain", onclick: () => change("DELETE") }, "Clear all"),
    );
  }

  async function change(method, body) {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch("/_playground/faults", {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result = await answer.json();
    if (answer.ok) showFaults(result.faults);
    else toast(result.error);
  }

  function faultForm() {
    const field = (name, label, control) =>
      el("label", { class: "field", "data-field": name }, el("span", {}, label), control);
    const options = (entries) => entries.map(([value, text]) => el("option", { value }, text));
    const kind = el(
      "select",
      { name: "kind" },
      options(Object.entries(faultTexts).map(([value, text]) => [value, `${value}: ${text}`])),
    );
    const form = el(
      "form",
      { class: "fault-form" },
      field(
        "method",
        "Method",
        el(
          "select",
          { name: "method" },
          options(methodNames.map((name) => [name, name === "*" ? "any method" : name])),
        ),
      ),
      field("kind", "What happens", kind),
      field(
        "times",
        "How many calls",
        el("input", { name: "times", type: "number", min: 1, max: 1000, value: 1, required: true }),
      ),
      field("ms", "Milliseconds", el("input", { name: "ms", type: "number", min: 0, max: 600000, value: 2000 })),
      field("status", "Status", el("input", { name: "status", type: "number", min: 400, max: 599, value: 502 })),
      field(
        "retryAfter",
        "Seconds to wait",
        el("input", { name: "retryAfter", type: "number", min: 1, max: 3600, value: 3 }),
      ),
      field(
        "description",
        "Text",
        el("input", { name: "description", type: "text", maxlength: 200, value: "Bad Request: refused" }),
      ),
      el("button", { class: "primary" }, "Add fault"),
    );
    const uses = { delay: ["ms"], status: ["status"], flood: ["retryAfter"], refuse: ["description"] };
    const adapt = () => {
      for (const name of ["ms", "status", "retryAfter", "description"]) {
        form.querySelector(`[data-field="${name}"]`).hidden = !(uses[kind.value] ?? []).includes(name);
      }
    };
    kind.addEventListener("change", adapt);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = new FormData(form);
      const fault = { method: given.get("method"), kind: kind.value, times: Number(given.get("times")) };
      for (const name of uses[kind.value] ?? [])
        fault[name] = name === "description" ? given.get(name) : Number(given.get(name));
      void change("POST", fault);
    });
    adapt();
    return form;
  }

  opener.addEventListener("click", () => toggle());

  /** Returns false if the drawer was already closed. */
  function close() {
    if (drawer.hidden) return false;
    toggle(false);
    return true;
  }
  return { refresh, close };
}
