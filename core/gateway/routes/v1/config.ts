/** The configuration for a page: its text with placeholders for secrets, a form for each section, and edits of both. */
import { getPath, parsePath, type Segment } from "../../../config/index.ts";
import { type ConfigChange, findSchema, redactConfig, renderSubschema } from "../../../config/page-editing.ts";
import { HttpProblem, type OwnAnswer, type OwnRequest } from "../../../http/index.ts";
import { optionalTextIn, textIn } from "./body.ts";
import type { V1Deps } from "./deps.ts";
import { carryOut } from "./recorded.ts";

const longestText = 4 * 1024 * 1024;
const longestDigest = 100;
const mostChanges = 100;

/** The text, its problems, and what waits for a restart. */
export async function readConfig({ editing, describe }: V1Deps): Promise<OwnAnswer> {
  const [{ file, found, digest, text }, { problems, waiting }] = [await (await editing()).read(), await describe()];
  return { body: { file, found, digest, text, problems, waiting } };
}

function pathIn(text: unknown): readonly Segment[] {
  const path = typeof text === "string" ? parsePath(text) : undefined;
  if (path === undefined) throw new HttpProblem("invalid_payload", 'path must be written as a.b[0].c, or a["key"].');
  return path;
}

/** What a form needs for one section: the schema, what the file sets, and what applies. Secrets are `(set)`. */
export async function readForm({ editing, config, written }: V1Deps, { query }: OwnRequest): Promise<OwnAnswer> {
  const path = pathIn(query.path ?? "");
  const file = await editing();
  const { digest } = await file.read();
  const root = file.schema();
  const { schema } = findSchema(root, path);
  if (schema === undefined) throw new HttpProblem("not_found", `There is no key ${query.path}.`);
  const [set, applied] = [written(), config()].map((value) => getPath(redactConfig(value, root), path));
  return {
    body: { path: query.path ?? "", digest, schema: renderSubschema(schema), set, applied } as OwnAnswer["body"],
  };
}

const isDryRun = (body: unknown): boolean => (body as { readonly dryRun?: unknown } | null)?.dryRun === true;

/** Replaces the text that was read with its digest `base`; with `dryRun`, only checks it. */
export async function replaceText(deps: V1Deps, request: OwnRequest): Promise<OwnAnswer> {
  const editing = await deps.editing();
  const base = optionalTextIn(request.body, "base") ?? "";
  const edited = { base, text: textIn(request.body, "text", longestText) };
  const checked = await editing.replace(edited, { dryRun: true });
  if (isDryRun(request.body) || !checked.changed) return { body: { ok: true, ...checked } as OwnAnswer["body"] };
  return await carryOut(deps, request, { act: "config_replace", subject: "the whole file" }, async () => ({
    body: { ok: true, ...(await editing.replace(edited)) } as OwnAnswer["body"],
  }));
}

function changesIn(body: unknown): readonly ConfigChange[] {
  const { changes } = (body ?? {}) as { readonly changes?: unknown };
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > mostChanges)
    throw new HttpProblem("invalid_payload", `changes must be a list of 1 to ${mostChanges} changes.`);
  return changes.map((change: unknown) => {
    const { path, value } = (change ?? {}) as { readonly path?: unknown; readonly value?: unknown };
    // JSON has no way to say that there is no value.
    const segments = pathIn(path);
    if (segments.length === 0) throw new HttpProblem("invalid_payload", "path must name a key.");
    return { path: segments, value: value === null ? undefined : value };
  });
}

/** As `config set` and `config unset`, for several values at once; `null` removes a value. */
export async function setValues(deps: V1Deps, request: OwnRequest): Promise<OwnAnswer> {
  const editing = await deps.editing();
  const changes = changesIn(request.body);
  const base = optionalTextIn(request.body, "base");
  if (base !== undefined && base.length > longestDigest) throw new HttpProblem("invalid_payload", "base is too long.");
  const checked = await editing.change(changes, { base, dryRun: true });
  if (isDryRun(request.body) || !checked.changed) return { body: { ok: true, ...checked } as OwnAnswer["body"] };
  const subject = (request.body as { readonly changes: readonly { readonly path: string }[] }).changes
    .map(({ path }) => path)
    .join(", ");
  return await carryOut(deps, request, { act: "config_set", subject }, async () => ({
    body: { ok: true, ...(await editing.change(changes, { base })) } as OwnAnswer["body"],
  }));
}
