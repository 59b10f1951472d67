/**
 * What an HTTP request is refused with: one table of codes, one body, one way to answer.
 *
 * Every error of the server is `{ "ok": false, "error": "<sentence>", "code": "<stable_code>" }`.
 */

/** Stable codes of HTTP answers, each with the status that it is answered with. */
export const problemStatus = {
  bad_request: 400,
  invalid_json: 400,
  invalid_payload: 400,
  query_token: 400,
  agent_not_allowed: 400,
  session_key_not_allowed: 400,
  model_not_allowed: 400,
  channel_unknown: 400,
  channel_unavailable: 400,
  unauthorized: 401,
  signature_invalid: 401,
  origin_refused: 403,
  address_not_allowed: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  idempotency_conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  host_unknown: 421,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  mapping_failed: 500,
  unavailable: 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** Thrown, or handed to `sendProblem`: becomes an answer with the status of its code. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly code: ProblemCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  /** `message`: one sentence for the client; it never holds a secret nor what the client sent. */
  constructor(code: ProblemCode, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.code = code;
    this.status = problemStatus[code];
    this.headers = headers;
  }
}

export const jsonType = "application/json; charset=utf-8";

export function renderProblem(problem: { readonly code: ProblemCode; readonly message: string }): string {
  return JSON.stringify({ ok: false, error: problem.message, code: problem.code });
}
