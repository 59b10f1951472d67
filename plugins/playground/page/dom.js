/** Creates an element. Data only becomes text nodes and attributes and is never parsed as HTML. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

export function byId(id) {
  return document.getElementById(id);
}

const drawings = {
  reply: "M10 8L5 13l5 5M5 13h9a5 5 0 0 1 5 5v1",
  react: "M12 21a9 9 0 1 1 0-18 9 9 0 0 1 0 18zM9 10h.01M15 10h.01M8.5 14.5a4.5 4.5 0 0 0 7 0",
  edit: "M4 20l1-4L16 5l3 3L8 19z",
  remove: "M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12",
  close: "M6 6l12 12M18 6L6 18",
  file: "M7 3h7l4 4v14H7zM14 3v4h4",
  copy: "M9 9h10v11H9zM5 15V4h10",
};

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", drawings[name]);
  svg.append(path);
  return svg;
}

export function iconButton(name, label, onclick) {
  return el("button", { class: "icon small", type: "button", "aria-label": label, title: label, onclick }, icon(name));
}

export function avatar(name, id, size = "") {
  const letters = name.split(/\s+/).map((word) => [...word][0] ?? "");
  const tone = Math.abs(id) % 6;
  return el(
    "span",
    { class: `avatar tone-${tone} ${size}`, "aria-hidden": "true" },
    letters.slice(0, 2).join("").toUpperCase(),
  );
}

export function toast(text) {
  const node = el("div", { class: "toast" }, text);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 5000);
}

/** Moves the focus among siblings with the arrow keys. Only one of them is in the tab order. */
export function roving(container, selector, { keys, onMove }) {
  container.addEventListener("keydown", (event) => {
    const step = { [keys[0]]: -1, [keys[1]]: 1 }[event.key];
    const edge = event.key === "Home" || event.key === "End";
    if ((step === undefined && !edge) || event.target.closest(selector) === null) return;
    const all = [...container.querySelectorAll(selector)];
    const at = all.indexOf(event.target.closest(selector));
    const next = edge ? all[event.key === "Home" ? 0 : all.length - 1] : all[at + step];
    event.preventDefault();
    if (next === undefined) return;
    for (const one of all) one.tabIndex = one === next ? 0 : -1;
    next.focus();
    onMove?.(next);
  });
}
