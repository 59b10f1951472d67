/** Renders text and entities as DOM nodes. */
import { el, icon, toast } from "./dom.js";

/** The nodes of a text. `onCommand` is called when a command in it is pressed. */
export function renderText(text, entities = [], onCommand = () => undefined) {
  const sorted = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return build(text, sorted, 0, text.length, onCommand);
}

function build(text, entities, from, to, onCommand) {
  const nodes = [];
  let at = from;
  let index = 0;
  while (index < entities.length) {
    const entity = entities[index];
    const end = Math.min(entity.offset + entity.length, to);
    index += 1;
    if (entity.offset < at || end <= entity.offset) continue;
    if (entity.offset > at) nodes.push(text.slice(at, entity.offset));
    const inner = [];
    while (index < entities.length && entities[index].offset < end) inner.push(entities[index++]);
    if (blocks.has(entity.type)) trimEnd(nodes);
    nodes.push(
      wrap(entity, text.slice(entity.offset, end), build(text, inner, entity.offset, end, onCommand), onCommand),
    );
    // A block begins and ends its own line, so the line breaks around it would appear twice.
    at = blocks.has(entity.type) && text[end] === "\n" && end < to ? end + 1 : end;
  }
  if (at < to) nodes.push(text.slice(at, to));
  return nodes;
}

const blocks = new Set(["pre", "blockquote", "expandable_blockquote"]);

function trimEnd(nodes) {
  const last = nodes.at(-1);
  if (typeof last === "string" && last.endsWith("\n")) nodes[nodes.length - 1] = last.slice(0, -1);
}

const plainTags = {
  bold: "strong",
  italic: "em",
  underline: "u",
  strikethrough: "s",
  code: "code",
  blockquote: "blockquote",
};

function wrap(entity, source, children, onCommand) {
  const tag = plainTags[entity.type];
  if (tag !== undefined) return el(tag, {}, children);
  switch (entity.type) {
    case "spoiler":
      return spoiler(children);
    case "pre":
      return block(entity, source, children);
    case "expandable_blockquote":
      return expandable(children);
    case "text_link":
      return link(entity.url, children);
    case "url":
      return link(/^[a-z][a-z0-9+.-]*:/i.test(source) ? source : `https://${source}`, children);
    case "email":
      return link(`mailto:${source}`, children);
    case "bot_command":
      return el("button", { class: "command", type: "button", onclick: () => onCommand(source) }, children);
    case "mention":
    case "text_mention":
    case "hashtag":
      return el("span", { class: "mention" }, children);
    default:
      return el("span", {}, children);
  }
}

/** Creates a link only for web and mail addresses. Anything else stays text. */
function link(address, children) {
  if (!/^(?:https?|mailto):/i.test(address)) return el("span", { class: "mention", title: address }, children);
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer", title: address }, children);
}

function spoiler(children) {
  const show = () => {
    node.classList.add("shown");
    node.removeAttribute("role");
    node.removeAttribute("aria-label");
    node.removeAttribute("tabindex");
  };
  const node = el(
    "span",
    { class: "spoiler", role: "button", tabindex: 0, "aria-label": "Hidden text, press to show", onclick: show },
    [el("span", {}, children)],
  );
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      show();
    }
  });
  return node;
}

function block(entity, source, children) {
  const copy = async () => {
    await navigator.clipboard.writeText(source);
    toast("Copied");
  };
  return el(
    "div",
    { class: "block" },
    el(
      "div",
      { class: "block-head" },
      el("span", {}, entity.language ?? "text"),
      el("button", { class: "icon small", type: "button", "aria-label": "Copy the code", onclick: copy }, icon("copy")),
    ),
    el("pre", { tabindex: 0 }, el("code", {}, children)),
  );
}

function expandable(children) {
  const toggle = el("button", { class: "expand", type: "button", "aria-expanded": "false" }, "Show all");
  const node = el("blockquote", { class: "folded" }, el("div", {}, children), toggle);
  toggle.addEventListener("click", () => {
    const folded = node.classList.toggle("folded");
    toggle.setAttribute("aria-expanded", String(!folded));
    toggle.textContent = folded ? "Show all" : "Show less";
  });
  return node;
}
