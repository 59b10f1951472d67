/**
 * Stored hook data contains no secret of the configuration, wherever its sender put one: `?access_token=`, `x-api-key`,
 * a field.
 */

import { isJson } from "../../config/index.ts";
import { HostError, type Json, type RawEvent } from "../../contract/index.ts";
import { exactDigits, parseExactJson } from "../../http/index.ts";
import { createRedactor, shortestInside } from "../../log/index.ts";
import type { AcceptedEvent } from "../../state/index.ts";
import type { AcceptInput } from "./answer-delivery.ts";

type JsonObject = { readonly [name: string]: Json };

/** Creates what accepts the events of hooks: without secrets, and not while the gateway closes. */
export function createAccept({
  secrets,
  life,
  receive,
}: {
  readonly secrets: () => Iterable<string>;
  /** Of the gateway. */
  readonly life: { readonly closing: boolean };
  readonly receive: (event: RawEvent, options: AcceptInput) => Promise<AcceptedEvent>;
}): (input: AcceptInput) => Promise<AcceptedEvent> {
  const withoutSecrets = createSecretRemoval(secrets);
  return async (input) => {
    if (life.closing) throw new HostError("gateway_closing");
    const clean = withoutSecrets(input);
    return receive(clean.event, clean);
  };
}

/**
 * Addresses, such as the session key, the recipient and the path, stay unchanged: if a weak secret equals the name of
 * an agent, removing it would send the event elsewhere.
 */
function createSecretRemoval(secrets: () => Iterable<string>): (input: AcceptInput) => AcceptInput {
  const redact = createRedactor(secrets);
  // The agent reads these texts: replacing a short secret would remove ordinary words from them.
  const redactMessage = createRedactor(() => [...secrets()].filter((secret) => secret.length >= shortestInside));

  /** A secret of digits may occur as a number: the rest must still be valid JSON, or it could not be replayed. */
  const redactJson = (text: string): string => {
    const redacted = redact(text);
    if (redacted === text || isJson(redacted) || !isJson(text)) return redacted;
    return JSON.stringify(redactValue(parseExactJson(text) as Json));
  };

  const redactValue = (value: Json): Json => {
    if (typeof value === "string") return redact(value);
    if (typeof value === "number") return redact(String(value)) === String(value) ? value : redact(String(value));
    if (typeof value !== "object" || value === null) return value;
    const digits = exactDigits(value);
    if (digits !== undefined) return redact(digits) === digits ? value : redact(digits);
    if (Array.isArray(value)) return value.map(redactValue);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), redactValue(inner)]));
  };

  const redactDelivery = (delivery: JsonObject): JsonObject => ({
    ...delivery,
    ...(delivery.handed === undefined ? {} : { handed: redactValue(delivery.handed) }),
    headers: redactValue(delivery.headers ?? {}),
    query: redactValue(delivery.query ?? {}),
    body:
      delivery.kind === "json" || delivery.kind === "text-json"
        ? redactJson(textOf(delivery.body))
        : redact(textOf(delivery.body)),
  });

  const redactBody = (body: JsonObject): JsonObject => {
    const { message, text, origin, request, replyName, delivery, absent } = body;
    const name: JsonObject =
      isObject(request) && typeof request.name === "string"
        ? { request: { ...request, name: redactMessage(request.name) } }
        : {};
    return {
      ...body,
      ...(typeof message === "string" ? { message: redactMessage(message) } : {}),
      ...(typeof text === "string" ? { text: redactMessage(text) } : {}),
      ...(typeof origin === "string" ? { origin: redactMessage(origin) } : {}),
      ...name,
      ...(typeof replyName === "string" ? { replyName: redactMessage(replyName) } : {}),
      ...(absent === undefined ? {} : { absent: redactValue(absent) }),
      ...(isObject(delivery) ? { delivery: redactDelivery(delivery) } : {}),
    };
  };

  return (input) => {
    const { event, settled } = input;
    // One pass over everything: nearly every event contains no secret, and is stored unchanged.
    const whole = gather(event.body, input.settled?.decisions as unknown as Json | undefined);
    if (redact(whole) === whole) return input;
    const decisions = settled?.decisions?.map((one) =>
      one.detail === undefined ? one : { ...one, detail: redact(one.detail) },
    );
    return {
      ...input,
      ...(isObject(event.body) ? { event: { ...event, body: redactBody(event.body) } } : {}),
      ...(settled === undefined || decisions === undefined ? {} : { settled: { ...settled, decisions } }),
    };
  };
}

/** All texts in one, each on its own line. */
function gather(...values: readonly (Json | undefined)[]): string {
  let texts = "";
  const add = (value: Json | undefined): void => {
    if (typeof value === "string") texts += `${value}\n`;
    else if (typeof value === "object" && value !== null) {
      for (const name in value) {
        texts += `${name}\n`;
        add((value as JsonObject)[name]);
      }
    }
  };
  for (const value of values) add(value);
  return texts;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
