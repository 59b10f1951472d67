/** Lists the bot's calls, grouped by the message that they answer: newest group first, calls in order. */
import { el } from "./dom.js";

const mostGroups = 60;

export function createCalls() {
  const node = el("div", { class: "calls" });
  const groups = new Map();

  function groupFor({ about }) {
    const key = about === undefined ? undefined : `${about.chat}|${about.message}`;
    const known = key === undefined ? aloneGroup() : groups.get(key);
    if (known !== undefined) return known;
    const count = el("span", { class: "group-count" });
    const title = about === undefined ? "Without a chat" : `${about.from}: ${about.text}`;
    const made = {
      count,
      rows: el("div", {}),
      node: el(
        "details",
        { class: "group", open: true },
        el("summary", {}, el("span", { class: "group-title" }, title), count),
      ),
    };
    made.node.append(made.rows);
    node.prepend(made.node);
    groups.set(key ?? made, made);
    for (const [old, group] of groups) {
      if (groups.size <= mostGroups) break;
      group.node.remove();
      groups.delete(old);
    }
    return made;
  }

  /** Returns the newest group if its calls belong to no chat, so that further ones join it. */
  function aloneGroup() {
    const newest = [...groups].at(-1);
    return newest !== undefined && typeof newest[0] !== "string" ? newest[1] : undefined;
  }

  return {
    node,
    add(call) {
      const group = groupFor(call);
      group.rows.append(callRow(call));
      const shown = [...group.rows.children].filter((row) => !row.classList.contains("poll")).length;
      group.count.textContent = shown === 0 ? "" : shown === 1 ? "1 call" : `${shown} calls`;
      group.node.classList.toggle("polls", shown === 0);
    },
    clear() {
      groups.clear();
      node.replaceChildren();
    },
  };
}

function callRow(call) {
  const good = call.status === 200;
  const time = new Date(call.at).toLocaleTimeString([], { hour12: false });
  const block = (label, text) => [
    el("h3", {}, label),
    el("pre", { tabindex: 0, "aria-label": `${label} of ${call.method}` }, text),
  ];
  return el(
    "details",
    { class: `call ${good ? "" : "bad"} ${call.method === "getUpdates" && good ? "poll" : ""}` },
    el(
      "summary",
      {},
      el("span", { class: "call-time" }, time),
      el("span", { class: "call-method" }, call.method),
      el("span", { class: "call-status" }, call.status === 0 ? "no answer" : String(call.status)),
      call.fault ? el("span", { class: "call-fault" }, call.fault) : undefined,
    ),
    call.description ? el("p", {}, call.description) : undefined,
    block("Parameters", JSON.stringify(call.params, null, 2)),
    call.answer === undefined || call.answer === "" ? undefined : block("Answer", indented(call.answer)),
  );
}

/** Indents JSON. An answer that was cut is no longer JSON and stays as it is. */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
