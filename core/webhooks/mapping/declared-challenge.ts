/**
 * A platform's test of a URL, as a mapping declares it: which requests are such tests, and what is echoed. An answer is
 * plain text, one field of JSON or one header, so that a stranger can make the gateway say nothing else.
 */
import type { GatewayConfig } from "../../config/index.ts";
import type { Json } from "../../contract/index.ts";
import { type ChallengeAnswer, isToken } from "../signature/challenge.ts";
import { compileMatch, type Match, MatchError } from "./match.ts";
import { compileTemplate, type Template, TemplateError } from "./template.ts";
import type { HookDelivery } from "./webhook-delivery.ts";

export type ChallengeSettings = NonNullable<GatewayConfig["hooks"]["mappings"][number]["challenge"]>;

export interface DeclaredChallenge {
  readonly method: ChallengeSettings["method"];
  /** Answered without a credential. GET, HEAD and OPTIONS always are. */
  readonly unsigned: boolean;
  /** The operator has to copy the value. */
  readonly shows: boolean;
  /** Whether the body decides if a request is a test. */
  readonly needsBody: boolean;
  /** Answers a test; `undefined` if the request is not one. */
  answer(delivery: HookDelivery): { readonly answer: ChallengeAnswer; readonly value: string } | undefined;
}

/** An error in the settings: the path below `challenge`, and a message without path and full stop. */
export class ChallengeError extends Error {
  readonly at: readonly string[];
  constructor(at: readonly string[], message: string) {
    super(message);
    this.at = at;
  }
}

/** Headers of other names may mean something to the client that a stranger must not decide. */
const echoHeader = /^(?:x|webhook)-[a-z0-9-]{1,60}$/i;

/** Compiles and validates a challenge. Throws `ChallengeError`. */
export function compileChallenge(settings: ChallengeSettings): DeclaredChallenge {
  const { method, echo, unsigned = false, show = false, when } = settings;
  const isPost = method === "POST";
  const value = compileValue(settings);
  const match = compileWhen(settings);
  if (value === undefined && show) throw new ChallengeError(["value"], "is missing: show needs the value to show");
  if (value === undefined && echo !== undefined && echo !== "none")
    throw new ChallengeError(["value"], `is missing: echo is ${echo}`);
  if (value === undefined && isPost && when === undefined)
    throw new ChallengeError(["when"], "is missing: without value or when, every POST would be a test");
  if (!isPost && (unsigned || show))
    throw new ChallengeError(
      [show ? "show" : "unsigned"],
      `has no effect with method ${method}: only the test of a POST can have it`,
    );
  const readsPayload =
    value?.reads.some((read) => read === "payload" || read.startsWith("payload.") || read.startsWith("payload[")) ??
    false;
  if (!isPost && (readsPayload || when?.where !== undefined))
    throw new ChallengeError(
      [readsPayload ? "value" : "when"],
      `reads the body, which a ${method} does not have: use headers or query`,
    );
  const render = compileEcho(settings);
  const onlyField = isPost && when === undefined && readsPayload;
  return {
    method,
    unsigned: unsigned || !isPost,
    shows: show,
    needsBody: isPost && (readsPayload || when?.where !== undefined),
    answer(delivery) {
      if (match !== undefined && match.test(delivery) !== true) return undefined;
      if (onlyField && !hasOneField(delivery.payload)) return undefined;
      const text = value?.render(delivery) ?? "";
      return value === undefined || isToken(text) ? { answer: render(text), value: text } : undefined;
    },
  };
}

function compileValue({ value }: ChallengeSettings): Template | undefined {
  if (value === undefined) return undefined;
  try {
    return compileTemplate(`{{ ${value} }}`);
  } catch (error) {
    if (error instanceof TemplateError)
      throw new ChallengeError(["value"], "is not a path, such as challenge, headers.X-Name or query.name");
    throw error;
  }
}

function compileWhen({ when }: ChallengeSettings): Match | undefined {
  if (when === undefined) return undefined;
  try {
    return compileMatch(when);
  } catch (error) {
    if (!(error instanceof MatchError)) throw error;
    const [first] = error.problems;
    throw new ChallengeError(["when", ...(first?.at ?? [])], first?.message ?? error.message);
  }
}

/** Most platforms send nothing but the value. An event that has a field of the same name has others, too. */
function hasOneField(payload: Json): boolean {
  return (
    typeof payload === "object" && payload !== null && !Array.isArray(payload) && Object.keys(payload).length === 1
  );
}

function compileEcho({
  value,
  echo = value === undefined ? "none" : "text",
  name,
}: ChallengeSettings): (text: string) => ChallengeAnswer {
  const plain = { status: 200, contentType: "text/plain; charset=utf-8", body: "" } as const;
  const needsName = echo === "json" || echo === "header";
  if (needsName !== (name !== undefined))
    throw new ChallengeError(
      ["name"],
      needsName ? `is missing: echo is ${echo}` : "belongs to echo json and header only",
    );
  if (echo === "text") return (text) => ({ ...plain, body: text });
  if (name === undefined) return () => plain;
  if (echo === "json")
    return (text) => ({
      ...plain,
      contentType: "application/json; charset=utf-8",
      body: JSON.stringify({ [name]: text }),
    });
  if (!echoHeader.test(name))
    throw new ChallengeError(["name"], `is ${JSON.stringify(name)}, and must begin with X- or Webhook-`);
  return (text) => ({ ...plain, headers: { [name]: text } });
}
