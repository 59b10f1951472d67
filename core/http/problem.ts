/**
 * The errors of HTTP requests: one table of codes, one format of the body, one function to send them.
 *
 * Every error has the form `{ "ok": false, "error": "<sentence>", "code": "<stable_code>" }`.
 */
import { programCommand } from "../contract/index.ts";

interface Problem {
  readonly status: number;
  /** One sentence: what is wrong with the request or the gateway. */
  readonly meaning: string;
  /** How to fix it. */
  readonly hint: string;
  /** The setting that caused the error. */
  readonly path?: string;
}

/** The stable error codes of HTTP responses. */
export const problems = {
  bad_request: { status: 400, meaning: "The request is malformed.", hint: "Correct the sender." },
  invalid_json: { status: 400, meaning: "The body is not valid JSON.", hint: "Send valid JSON in UTF-8." },
  invalid_payload: {
    status: 400,
    meaning: "A field of the body is missing or has the wrong type.",
    hint: "Correct the field that the error names.",
  },
  query_token: {
    status: 400,
    meaning: "The token was sent in the address, where proxies and logs would keep it.",
    hint: 'Send the token in the header "Authorization: Bearer TOKEN".',
  },
  agent_not_allowed: {
    status: 400,
    meaning: "Webhooks may not use this agent.",
    hint: "Add the agent, or leave agentId out.",
    path: "hooks.allowedAgentIds",
  },
  session_key_not_allowed: {
    status: 400,
    meaning: "Webhooks may not choose this session key.",
    hint: "Allow it, or leave sessionKey out.",
    path: "hooks.allowRequestSessionKey, hooks.allowedSessionKeyPrefixes",
  },
  model_not_allowed: {
    status: 400,
    meaning: "The model is not listed.",
    hint: "Add the model, or leave model out.",
    path: "agents.defaults.models",
  },
  channel_unknown: {
    status: 400,
    meaning: "No plugin provides this channel.",
    hint: "Correct the name, or load the plugin.",
    path: "plugins.load",
  },
  channel_unavailable: {
    status: 400,
    meaning: "The channel is not configured, or switched off.",
    hint: "Enable the channel, or name another one.",
    path: "channels",
  },
  unauthorized: {
    status: 401,
    meaning: "The token is missing or wrong.",
    hint: 'Send the token of this setting in the header "Authorization: Bearer TOKEN".',
    path: "hooks.token",
  },
  hook_token_unset: {
    status: 404,
    meaning: "The address needs the hook token, and the gateway has none.",
    hint: "Set the token, or give the mapping a signature or token of its own.",
    path: "hooks.token",
  },
  session_missing: {
    status: 401,
    meaning: "The browser is not signed in, or its session has ended.",
    hint: "Open a new link: `{command} console` prints one.",
  },
  link_invalid: {
    status: 401,
    meaning: "The code that was to sign a browser in is wrong, used or older than a minute.",
    hint: "Open a new link: `{command} console` prints one.",
  },
  signature_invalid: {
    status: 401,
    meaning: "The signature is missing, wrong or too old.",
    hint: "Compare the signing secret with the sender's, and the clocks of both machines.",
    path: "hooks.mappings",
  },
  role_too_low: {
    status: 403,
    meaning: "The session may look, or operate, but not do this.",
    hint: "Sign in with a link for another role: `{command} console --role admin`.",
  },
  origin_refused: {
    status: 403,
    meaning: "The request came from a web page of another site.",
    hint: "Call from a server. Requests of browsers are refused, whatever they contain.",
  },
  address_not_allowed: {
    status: 403,
    meaning: "The mapping does not list the address that the request came from.",
    hint: "Add the address, or check gateway.trustedProxies.",
    path: "hooks.mappings[].addresses",
  },
  not_found: {
    status: 404,
    meaning: "Nothing is served at this address.",
    hint: "Below it are wake, agent and the paths of mappings; `{command} hooks list` shows them.",
    path: "hooks.path",
  },
  method_not_allowed: {
    status: 405,
    meaning: "The address requires another method.",
    hint: "Use the method that the header Allow names.",
  },
  timeout: { status: 408, meaning: "The request did not arrive in time.", hint: "Check the sender's connection." },
  idempotency_conflict: {
    status: 409,
    meaning: "The same idempotency key was used before, with another body.",
    hint: "The sender must use a new key for each request.",
  },
  config_changed: {
    status: 409,
    meaning: "The configuration was changed since it was read, so nothing was written.",
    hint: "Read it again, then repeat the change.",
  },
  payload_too_large: {
    status: 413,
    meaning: "The body is larger than allowed.",
    hint: "Raise the limit, or send less.",
    path: "hooks.maxBodyBytes",
  },
  unsupported_media_type: {
    status: 415,
    meaning: "The type of the body is not accepted here.",
    hint:
      "Configure the sender to declare application/json, and to compress the body for hooks only, with " +
      "gzip or deflate. The setting body of a mapping allows other types.",
  },
  host_unknown: {
    status: 421,
    meaning: "The header Host names a host that the gateway does not serve.",
    hint: "Use the gateway's address, or add the host.",
    path: "gateway.publicUrl, gateway.allowedHosts",
  },
  rate_limited: {
    status: 429,
    meaning: "Too many wrong credentials came from this address.",
    hint: "Correct the sender, then wait a minute.",
  },
  budget_exceeded: {
    status: 429,
    meaning: "The budget of the agent is used up.",
    hint: "Send it again after the seconds in Retry-After, or raise the budget: `{command} usage` shows which one.",
    path: "agents.defaults.budget, budget",
  },
  headers_too_large: {
    status: 431,
    meaning: "The headers of the request are too large.",
    hint: "Send fewer or shorter headers.",
  },
  internal: {
    status: 500,
    meaning: "The request failed because of an error in the gateway.",
    hint: "Read the log: `{command} logs`.",
  },
  mapping_failed: {
    status: 500,
    meaning: "The template or the transform of the mapping failed.",
    hint: "Try the mapping on the stored delivery: `{command} hooks test`.",
    path: "hooks.mappings",
  },
  unavailable: {
    status: 503,
    meaning: "The gateway cannot accept the request now.",
    hint:
      "`{command} logs` shows the cause, such as a full disk or an error in the mapping. Nothing was " +
      "accepted; send it again later.",
  },
} as const satisfies Readonly<Record<string, Problem>>;

export type ProblemCode = keyof typeof problems;

/** Describes a code. The hint contains the command that runs this program. */
export function describeProblem(code: ProblemCode): Problem {
  const problem: Problem = problems[code];
  return { ...problem, hint: problem.hint.replaceAll("{command}", programCommand) };
}

/** An error that becomes an HTTP response with the status of its code. Throw it, or pass it to `sendProblem`. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly code: ProblemCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  /** `message` is one sentence for the client. It must contain neither secrets nor data that the client sent. */
  constructor(code: ProblemCode, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.code = code;
    this.status = problems[code].status;
    this.headers = headers;
  }
}

export const jsonType = "application/json; charset=utf-8";

export function renderProblem(problem: { readonly code: ProblemCode; readonly message: string }): string {
  return JSON.stringify({ ok: false, error: problem.message, code: problem.code });
}
