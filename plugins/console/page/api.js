/** Calls of the gateway's routes. The session is a cookie that scripts cannot read. */

/** Why the gateway refused a call. */
export class Refused extends Error {
  constructor({ error = "The gateway did not answer.", code = "", hint, line }, status) {
    super(error);
    this.code = code;
    this.hint = hint;
    this.line = line;
    this.status = status;
  }
}

let onSignedOut = () => {};
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

const headers = { "x-console": "1", "content-type": "application/json" };

async function call(method, path, body) {
  const response = await fetch(`/gateway/v1/${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw new Refused({ error: "The gateway does not answer. It may be restarting." }, 0);
  });
  if (response.ok && (response.headers.get("content-type") ?? "").startsWith("text/plain")) return response.text();
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (answer.code === "session_missing") onSignedOut();
  throw new Refused(answer, response.status);
}

export const get = (path) => call("GET", path);
export const post = (path, body = {}) => call("POST", path, body);
export const remove = (path, body = {}) => call("DELETE", path, body);

/** A query without empty values. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
