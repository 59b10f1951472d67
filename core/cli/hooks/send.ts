/** `hooks send`: posts a delivery to the running gateway, as its sender would. */
import { randomUUID } from "node:crypto";
import type { LoadedConfig } from "../../config/reading/load.ts";
import { createSecrets } from "../../config/secrets.ts";
import { programCommand } from "../../contract/command.ts";
import { HostError, reasonOf } from "../../contract/errors.ts";
import { visible, visibleLine } from "../../log/visible.ts";
import { fetchWhole } from "../../sdk/reading.ts";
import { deliveryHeaders } from "../../webhooks/endpoint/idempotency.ts";
import { parseBasePath } from "../../webhooks/mapping/address.ts";
import { type HookMethod, type Mapping, methodOf } from "../../webhooks/mapping/compiled-mapping.ts";
import { renderPayload } from "../../webhooks/mapping/payload.ts";
import { credentialHeaders, type HookDelivery } from "../../webhooks/mapping/webhook-delivery.ts";
import { type SignedParts, SigningError } from "../../webhooks/signature/signing.ts";
import type { CommandContext } from "../context.ts";
import { readDelivery } from "./delivery-file.ts";
import { noteSimilar } from "./similar.ts";
import { chooseMethod, findNamed, openWorkbench, type Workbench } from "./workbench.ts";

interface Options {
  readonly sign?: boolean;
  readonly header?: readonly string[];
  readonly json?: boolean;
}

interface Sent {
  readonly url: string;
  readonly status: number;
  /** What authorized the request: `signature github`, `token of the mapping` or `hook token`. */
  readonly access: string;
  readonly answer: unknown;
  readonly eventIds: readonly string[];
}

/** A transform may take long, and runs for each element of a list. */
const patienceMs = 330_000;
const maxAnswerBytes = 8 * 1_048_576;

/** Headers that belong to the connection of the recording, or to its body at that time. */
const ownHeaders = [
  "host",
  "connection",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "expect",
  "keep-alive",
  "upgrade",
];

/** Exits with 1 unless the answer is 2xx. */
export async function sendDelivery(
  context: CommandContext,
  [name, file]: readonly [string, string],
  options: Options,
): Promise<number> {
  const { recorded, headers: given } = await readDelivery(context, { name, file, header: options.header });
  const gateway = await context.gateway();
  if (gateway === null) throw new HostError("gateway_not_running", { directory: await context.stateDirectory() });
  const bench = await openWorkbench(context);
  const { loaded } = bench;
  await bench.close();
  noteSimilar(context, loaded.config, name);
  const target = findTarget(bench, name, { ...recorded, headers: { ...recorded.headers, ...given } });
  const { path, mapping, method } = target;
  // A recording that is sent again is a new delivery, unless --header sets its id.
  const left = new Set([...ownHeaders, ...deliveryHeaders, ...credentialHeaders, "svix-id"]);
  const remainingHeaders = Object.fromEntries(Object.entries(recorded.headers).filter(([header]) => !left.has(header)));
  const rendered = renderBody(target, recorded, { ...remainingHeaders, ...given }["content-type"] ?? "");
  const { type, body, query } =
    method === "GET"
      ? { type: {}, body: Buffer.alloc(0), query: rendered.body.toString() }
      : {
          type: { "content-type": rendered.type },
          body: rendered.body,
          query: new URLSearchParams(recorded.query).toString(),
        };
  const url = `${parseBasePath(loaded.config.hooks.path) ?? ""}/${path}${query === "" ? "" : `?${query}`}`;
  const headers = { host: new URL(gateway.url).host, ...remainingHeaders, ...type, ...given };
  const { access, ...signed } = authenticate(
    target,
    { headers, body, url },
    { context, loaded, sign: options.sign === true },
  );
  const address = new URL(url, gateway.url);
  const called = new URL(address);
  for (const [parameter, value] of Object.entries(signed.query ?? {})) called.searchParams.set(parameter, value);
  const response = await post(called, {
    method,
    headers: { ...headers, ...signed.headers, ...given },
    body: signed.body,
  });
  const answer = parse(response.text);
  const sent: Sent = {
    url: address.href,
    status: response.status,
    access,
    answer,
    eventIds: eventsOf(answer),
  };
  if (options.json === true) context.terminal.json(sent);
  else show(sent, mapping, context);
  return response.ok ? 0 : 1;
}

interface Target {
  readonly name: string;
  readonly path: string;
  /** The mapping that should take it; absent if none does. */
  readonly mapping?: Mapping | undefined;
  readonly method: HookMethod;
  /** Whether a mapping has this name. */
  readonly known: boolean;
  /** What keeps it from receiving deliveries. */
  readonly problem: Shortcoming | undefined;
}

interface Shortcoming {
  readonly reason: string;
  readonly fix: string;
}

function findTarget(bench: Workbench, name: string, delivery: HookDelivery): Target {
  const { table } = bench;
  const { path, mapping: named } = findNamed(table, name);
  const { signed, mappings: all } = table.way(path);
  const wanted = chooseMethod(table, path, delivery);
  const mappings = all.filter((mapping) => methodOf(mapping) === wanted);
  const mapping =
    named ??
    mappings.find(({ match }) => match.test({ ...delivery, path }) === true) ??
    (signed ? mappings[0] : undefined);
  const method = mapping === undefined ? wanted : methodOf(mapping);
  const known = table.mappings.some(({ match }) => match.path === path);
  return { name, path, mapping, method, known, problem: problemOf(bench, path) };
}

function renderBody(
  { name, mapping }: Target,
  { payload }: HookDelivery,
  type: string,
): { readonly type: string; readonly body: Buffer } {
  const kinds = mapping?.kinds ?? ["json"];
  const asForm = /^application\/x-www-form-urlencoded\b/i.test(type) && kinds.includes("form");
  const kind = asForm ? "form" : (kinds[0] ?? "json");
  const rendered = renderPayload(kind, payload);
  if (rendered !== undefined) return rendered;
  const fix =
    kind === "text"
      ? "Make the payload in the file a text."
      : "Make the payload in the file an object whose values are texts or lists of texts.";
  throw new HostError("delivery_unsendable", { hook: name, reason: `its payload is no ${kind}`, fix });
}

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

function authenticate(
  target: Target,
  request: Request & { readonly url: string },
  {
    context,
    loaded,
    sign,
  }: { readonly context: CommandContext; readonly loaded: LoadedConfig; readonly sign: boolean },
): SignedParts & { readonly access: string } {
  const { name, mapping, method } = target;
  const { signedBy, settings } = mapping ?? {};
  const scheme = settings?.signature?.scheme;
  if (sign && signedBy === undefined)
    throw new HostError("delivery_unsendable", { hook: name, ...whyUnsigned(target) });
  if (signedBy !== undefined && (sign || scheme === "token")) {
    try {
      const parts = signedBy.signature.sign({
        ...request,
        method,
        now: context.now(),
        newId: () => randomUUID().replaceAll("-", ""),
      });
      return { ...parts, access: scheme === "token" ? "token of the mapping" : `signature ${scheme}` };
    } catch (error) {
      if (!(error instanceof SigningError)) throw error;
      const fix = `Let the platform send, or see with \`${programCommand} hooks test\` what the mapping does.`;
      throw new HostError("delivery_unsendable", { hook: name, reason: `${scheme}: ${error.message}`, fix });
    }
  }
  const { hooks } = loaded.config;
  if (hooks.token === undefined) {
    const problem = {
      reason: "it needs the hook token, and hooks.token is not set",
      fix: "Set hooks.token, or send to a mapping with a signature or token of its own.",
    };
    throw new HostError("delivery_unsendable", { hook: name, ...problem, ...target.problem });
  }
  const token = createSecrets({ env: context.env, directory: loaded.directory }).resolve(hooks.token, "hooks.token");
  return { headers: { authorization: `Bearer ${token}` }, body: request.body, access: "hook token" };
}

/** Why a delivery to the target cannot be signed. */
function whyUnsigned({ known, problem }: Target): Shortcoming {
  if (problem !== undefined) return problem;
  return known
    ? { reason: "it has no signature and no token of its own", fix: "Omit --sign to send the hook token." }
    : { reason: "no mapping has this path or id", fix: `\`${programCommand} hooks list\` shows them.` };
}

/** The first error that disables the webhooks or this one, such as a secret that this shell does not have. */
function problemOf({ loaded, table }: Workbench, path: string): Shortcoming | undefined {
  const places = table.mappings.flatMap(({ match, at }) => (match.path === path ? [at] : []));
  const found = [...loaded.problems, ...table.problems].find(
    ({ severity, section = "" }) => severity === "error" && ["hooks", ...places].includes(section),
  );
  if (found === undefined) return undefined;
  const { hint = `\`${programCommand} config validate\` lists every problem.` } = found;
  return { reason: `${found.path}: ${found.message}`, fix: hint };
}

async function post(
  url: URL,
  { method, headers, body }: Request & { readonly method: HookMethod },
): Promise<{ readonly status: number; readonly ok: boolean; readonly text: string }> {
  try {
    return await fetchWhole(url, {
      method,
      headers,
      ...(method === "GET" ? {} : { body: new Uint8Array(body) }),
      redirect: "manual",
      maxBytes: maxAnswerBytes,
      timeoutMs: patienceMs,
    });
  } catch (error) {
    throw new HostError("gateway_silent", { url: url.href, reason: reasonOf(error) });
  }
}

/** A platform that tests the address may receive plain text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function eventsOf(answer: unknown): readonly string[] {
  const { eventId, eventIds } = (typeof answer === "object" && answer !== null ? answer : {}) as {
    readonly eventId?: string;
    readonly eventIds?: readonly string[];
  };
  return eventIds ?? (eventId === undefined ? [] : [eventId]);
}

function show(
  { url, status, access, answer, eventIds }: Sent,
  mapping: Mapping | undefined,
  { terminal }: CommandContext,
): void {
  const { style } = terminal;
  const ok = status >= 200 && status < 300;
  terminal.line(`${style(ok ? "green" : "red", String(status))} from ${visibleLine(url)}, with ${access}`);
  const text = typeof answer === "string" ? answer : JSON.stringify(answer);
  if (text !== "") terminal.line(`  ${visible(text)}`);
  for (const id of eventIds) terminal.line(`event ${id}: ${programCommand} why ${id}`);
  if (!ok) terminal.line(`the reason, and what to change: ${programCommand} why last`);
  const scheme = mapping?.settings.signature?.scheme;
  if (!ok && scheme !== undefined && access === "hook token")
    terminal.note(`This path requires ${scheme} instead of the hook token: add --sign.`);
}
