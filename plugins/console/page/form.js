/** A form for a part of the configuration, from its JSON Schema. Only what is changed is sent. */
import { useState } from "preact/hooks";
import { html } from "./parts.js";

/** A path as the gateway reads it: `a.b`, or `a["key with.dots"]`. */
export const join = (path, key) => {
  if (!/^[^.[\]"'\s]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** The answers contain this in place of a secret. */
const hidden = "(set)";

/** The schema of the entries of a map; `undefined` if it is an object with known keys. */
function entriesOf({ properties, patternProperties, additionalProperties }) {
  if (properties !== undefined) return undefined;
  if (patternProperties !== undefined) return Object.values(patternProperties)[0];
  return isObject(additionalProperties) ? additionalProperties : undefined;
}

const objectIn = (schema) =>
  schema.type === "object"
    ? schema
    : schema.anyOf?.find((one) => one.type === "object" && one.properties !== undefined);

/** How a value is written into a field: a list of plain texts with commas, other lists and objects as JSON. */
function written(value) {
  if (value === undefined) return "";
  const isPlain =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => typeof one === "string" && /^[^,"[\]{}\s]+$/.test(one));
  if (isPlain) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

const textsIn = (text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

function parsed(text, { type, anyOf = [], items }) {
  if (type === "array" && items?.type === "string" && !/^\s*\[/.test(text)) return textsIn(text);
  if (type === "integer" || type === "number") return Number(text);
  if (type === "string") return text;
  try {
    const value = JSON.parse(text);
    if (typeof value !== "string") return value;
  } catch {
    if (anyOf.length > 0 && !anyOf.some((one) => one.type === "string")) throw new Error("It must be JSON.");
    if (type === "array" || type === "object") throw new Error("It must be JSON.");
  }
  return text;
}

function Secret({ id, value, isSet, onChange }) {
  const [kind, setKind] = useState("");
  const change = (text) => onChange(text === "" ? undefined : kind === "text" ? text : { [kind]: text });
  const names = { text: "the secret itself", env: "name of a variable", file: "path of a file" };
  const state = value === null ? "is removed" : isSet ? "is set" : "is not set";
  return html`<span class="secret"><span class="soft">${state}</span>
    <select aria-label=${`${id}: how it is given`} value=${kind} onChange=${(event) => {
      setKind(event.target.value);
      onChange(event.target.value === "remove" ? null : undefined);
    }}>
      <option value="">${isSet ? "keep" : "leave"}</option>
      ${Object.entries(names).map(([one, name]) => html`<option key=${one} value=${one}>${name}</option>`)}
      ${isSet && html`<option value="remove">remove</option>`}
    </select>
    ${
      kind in names &&
      html`<input id=${id} type=${kind === "text" ? "password" : "text"} autocomplete="off" spellcheck="false"
        aria-label=${`${id}: ${names[kind]}`} onInput=${(event) => change(event.target.value)} />`
    }</span>`;
}

/** One value. `change` is what the person entered: `undefined` leaves it, `null` removes it from the file. */
function Field({ name, path, schema, set, applied, change, onChange }) {
  const [problem, setProblem] = useState("");
  const shown = change === null ? "" : written(change ?? set);
  const standard = applied !== undefined && set === undefined ? written(applied) : written(schema.default);
  const input = (text) => {
    try {
      onChange(text === "" ? (set === undefined ? undefined : null) : parsed(text, schema));
      setProblem("");
    } catch (error) {
      setProblem(error.message);
    }
  };
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined);
  const common = { id: path, "aria-describedby": `${path}-about` };
  let control;
  if (schema.writeOnly || set === hidden)
    control = html`<${Secret} id=${path} value=${change} isSet=${set !== undefined} onChange=${onChange} />`;
  else if (choices !== undefined)
    control = html`<select ...${common} value=${shown} onChange=${(event) => input(event.target.value)}>
      <option value="">${standard === "" ? "not set" : `${standard} (default)`}</option>
      ${choices.map((one) => html`<option key=${one} value=${written(one)}>${written(one)}</option>`)}
    </select>`;
  else
    control = html`<input ...${common} value=${shown} placeholder=${standard} autocomplete="off" spellcheck="false"
      inputmode=${schema.type === "integer" ? "numeric" : undefined} onChange=${(event) => input(event.target.value)} />`;
  return html`<div class=${`field ${change === undefined ? "" : "changed"}`}>
    <label for=${path}>${name}</label>${control}
    <p class="soft" id=${`${path}-about`}>${schema.description}</p>
    ${problem !== "" && html`<p class="bad-text" role="alert">${problem}</p>`}
  </div>`;
}

/** Adds an entry to a map, such as an account. */
function Added({ path, onAdd }) {
  const [name, setName] = useState("");
  const add = () => {
    if (name.trim() !== "") onAdd(name.trim());
    setName("");
  };
  return html`<div class="fields"><label>New entry <input value=${name} autocomplete="off" spellcheck="false"
    aria-label=${`Name of a new entry in ${path}`} onInput=${(event) => setName(event.target.value)} /></label>
    <button class="plain" type="button" onClick=${add}>Add</button></div>`;
}

/** An object: its fields, and parts that open. `changes`: by path. */
export function Fields({ path, schema, set, applied, changes, onChange }) {
  const [names, setNames] = useState([]);
  const entry = entriesOf(schema);
  const known = isObject(set) ? Object.keys(set) : [];
  const added = Object.keys(changes).flatMap((one) => {
    const rest = one.startsWith(`${path}.`) ? one.slice(path.length + 1).split(/[.[]/, 1) : [];
    return entry === undefined ? [] : rest;
  });
  const children =
    entry === undefined
      ? Object.entries(schema.properties ?? {})
      : [...new Set([...known, ...added, ...names])].map((name) => [name, entry]);
  return html`<div class="form">
    ${children.map(([name, child]) => {
      const at = join(path, name);
      const inner = { path: at, schema: child, set: set?.[name], applied: applied?.[name], changes, onChange };
      const object = child.writeOnly || inner.set === hidden ? undefined : objectIn(child);
      // A value of another form, such as a plain text in place of an object, is written as it is.
      const isOpen = object !== undefined && (inner.set === undefined || isObject(inner.set));
      if (!isOpen)
        return html`<${Field} key=${at} name=${name} ...${inner} change=${changes[at]}
          onChange=${(value) => onChange(at, value)} />`;
      const count = Object.keys(changes).filter((one) => one.startsWith(at)).length;
      return html`<details key=${at} class="part" open=${path === "" ? undefined : inner.set !== undefined}>
        <summary><strong>${name}</strong> <span class="soft">${
          count > 0 ? `${count} changed` : inner.set === undefined ? "" : "set"
        }</span></summary>
        ${child.description !== undefined && html`<p class="soft">${child.description}</p>`}
        <${Fields} ...${inner} schema=${object} />
      </details>`;
    })}
    ${entry !== undefined && html`<${Added} path=${path} onAdd=${(name) => setNames([...names, name])} />`}
  </div>`;
}
