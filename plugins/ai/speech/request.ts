/** Requests to `/audio/...` of a provider: accounted for, bounded, and with the errors of all model servers. */
import { EngineError, type EngineTurn } from "service-gateway/sdk";
import { fetchWhole, ResponseLimitError, type WholeResponse } from "service-gateway/sdk/reading";
import { explain } from "../failure.ts";
import { findTarget, requestTo, type Target } from "../provider.ts";

/** Longer than any limit of the gateway, whose signal ends the request before. */
const longestMs = 16 * 60_000;

export interface SpeechBy extends Pick<EngineTurn, "providers" | "spending"> {
  readonly model: string;
}

export interface SpeechRequest {
  /** Below the address of the provider, such as `audio/speech`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | FormData;
  /** The most that the response may have. */
  readonly maxBytes: number;
  /** Length of the sound. */
  readonly seconds: number;
}

/** As the SDK reports a status, which `explain` reads. */
function statusError({ status, headers, text }: WholeResponse): Error {
  return Object.assign(new Error(`status ${status}`), {
    name: "AI_APICallError",
    statusCode: status,
    responseHeaders: Object.fromEntries(headers),
    responseBody: text,
  });
}

function explained(thrown: unknown, target: Target): EngineError {
  if (!(thrown instanceof ResponseLimitError)) return explain(thrown, target).error;
  const isLate = thrown.limit === "time";
  return new EngineError(isLate ? "model_stalled" : "model_garbled", { detail: thrown.message, cause: thrown });
}

/** A server without this endpoint says so in many ways; one that knows it names the model that it does not know. */
function isMissing({ status, text }: WholeResponse): boolean {
  return (status === 404 || status === 405) && !/\bmodels?\b/i.test(text);
}

function missing({ status }: WholeResponse, { providerId }: Target, path: string): EngineError {
  return new EngineError("model_refused", {
    detail: `${providerId} offers nothing at /${path} below its baseUrl (${status})`,
    hint: `Check models.providers.${providerId}.baseUrl, and under which path the server offers /${path}.`,
  });
}

/** Resolves with a response of status 200 to 299. Throws `EngineError`, or the reason of the signal. */
export async function askSpeech(
  { model, providers, spending }: SpeechBy,
  { path, headers, body, maxBytes, seconds }: SpeechRequest,
  signal: AbortSignal,
): Promise<WholeResponse> {
  const target = findTarget(model, providers);
  const to = requestTo(target, path);
  const call = await spending?.begin({ model, inputTokens: 0, outputTokens: 0, seconds });
  const used = { inputTokens: 0, outputTokens: 0, seconds };
  try {
    const response = await fetchWhole(to.url, {
      method: "POST",
      headers: { ...to.headers, ...headers },
      body,
      maxBytes,
      timeoutMs: longestMs,
      signal,
    });
    if (isMissing(response)) throw missing(response, target, path);
    if (!response.ok) throw statusError(response);
    if (call !== undefined) await spending?.end(call.id, used);
    return response;
  } catch (thrown) {
    // A refused or failed request costs nothing; one that was cut off may have been worked on.
    const isCutOff = signal.aborted || thrown instanceof ResponseLimitError;
    if (call !== undefined) await spending?.end(call.id, isCutOff ? { ...used, estimated: true } : null);
    if (signal.aborted) throw signal.reason;
    throw thrown instanceof EngineError ? thrown : explained(thrown, target);
  }
}
