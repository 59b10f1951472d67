/**
 * Finds out from a refusal which tools of a request the server does not accept. Servers say it in their own words:
 * OpenAI and Azure name the function, Anthropic and Google its place in the request, llama.cpp, vLLM and Ollama often
 * only that a schema cannot be used.
 */
import type { Failure } from "./failure.ts";
import type { Tool } from "./memory.ts";

export type ToolFault =
  /** The server says which. */
  | { readonly kind: "named"; readonly tools: readonly Tool[]; readonly byPlace: boolean }
  /** It says that a schema or a tool is at fault. */
  | { readonly kind: "unnamed" }
  | { readonly kind: "too-many"; readonly most?: number }
  /** The model takes no tools at all. */
  | { readonly kind: "unsupported" };

/** Failures whose text may say it: a refusal, an error in the stream, and what some servers answer with 404 or 500. */
const reasons: ReadonlySet<string> = new Set(["model_refused", "model_failed", "model_unknown", "model_unavailable"]);

const tools = "(?:tools?|tool[ _-]?(?:use|using|calls?|calling)|functions?(?:[ _-]?call(?:s|ing)?)?)";
const unsupported = new RegExp(
  String.raw`\b(?:does not|doesn't|do not|don't|cannot|not) support(?:ing)? (?:the use of |any )?${tools}\b|\bsupport tool use\b` +
    String.raw`|\b${tools} (?:is|are) (?:not (?:supported|available|enabled|allowed)|unsupported)\b|\bunsupported (?:parameter|field|feature):? ['"\`]?tools?\b` +
    "|enable-auto-tool-choice|tool-call-parser|requires --jinja",
  "i",
);
const tooMany = new RegExp(
  String.raw`\btoo many ${tools}\b|'tools': array too long|\btools\b[^.]{0,80}\b(?:exceeds?|too long|more than|at most|no more than|maximum|limit)\b[^.]{0,60}\d` +
    String.raw`|\b(?:at most|no more than|maximum(?: of)?|up to|limit of) \d+ (?:tools|functions?)\b`,
  "i",
);
const most =
  /\b(?:at most|no more than|maximum(?: length)?(?: of| is|:)?|up to|limit(?: of| is|:)?|fewer than or equal to|<=?) (\d+)/i;
const schema =
  /\bschemas?\b|\bgrammar\b|input_?schema|function_?declarations|\btools?\.function\.|\bfunction\.parameters\b|\bparameters? (?:of|for) (?:the )?(?:function|tool)/i;
/** Names a tool and says that something is wrong with it. */
const wrongTool = /\b(?:tools?|functions?|names?|schemas?|parameters?|propert(?:y|ies))\b/i;

const declarations = /function_?declarations?['"]?\]?\s*[.,[(]\s*['"]?(\d+)/gi;
const places = /(?:^|[^\w-])(?:body['"]?\s*[.,]\s*['"]?|toolconfig\.)?tools['"]?\]?\s*[.,[(]\s*['"]?(\d+)/gi;

function atPlaces(details: string, pattern: RegExp, all: readonly Tool[]): readonly Tool[] {
  return [...details.matchAll(pattern)].flatMap(([, index]) => all[Number(index)] ?? []);
}

function named(details: string, all: readonly Tool[]): readonly Tool[] {
  return all.filter(({ name }) => new RegExp(`(?<![\\w-])${name.replace(/[^\w-]/g, "\\$&")}(?![\\w-])`).test(details));
}

/** What the refusal of a request with these tools says about them; `undefined`: nothing. */
export function toolFault(
  { error, details }: Pick<Failure, "error" | "details">,
  all: readonly Tool[],
): ToolFault | undefined {
  if (all.length === 0 || !reasons.has(error.reason)) return undefined;
  const text = `${error.message}\n${details ?? ""}`;
  if (tooMany.test(text)) {
    const [, count] = most.exec(text) ?? [];
    return { kind: "too-many", ...(count !== undefined && { most: Number(count) }) };
  }
  const inDeclarations = atPlaces(text, declarations, all);
  const found = new Set(inDeclarations.length > 0 ? inDeclarations : atPlaces(text, places, all));
  const byPlace = found.size > 0;
  if (!byPlace && wrongTool.test(text)) for (const tool of named(text, all)) found.add(tool);
  // A server that repeats the whole request names every tool.
  const isSelection = found.size > 0 && (found.size < all.length || all.length === 1);
  if (isSelection && (error.reason === "model_refused" || schema.test(text)))
    return { kind: "named", tools: [...found], byPlace };
  if (unsupported.test(text)) return { kind: "unsupported" };
  return schema.test(text) ? { kind: "unnamed" } : undefined;
}

/** More requests cost more than the tools are worth. */
const mostProbes = 16;

/**
 * The tools that a server does not accept, found by asking with fewer of them. `accepts` makes a request with these
 * tools. What is not decided after `mostProbes` requests is held to be refused.
 */
export async function findRefused(
  all: readonly Tool[],
  accepts: (tools: readonly Tool[]) => Promise<boolean>,
): Promise<readonly Tool[]> {
  let probes = 0;
  async function search(some: readonly Tool[], isRefused: boolean): Promise<readonly Tool[]> {
    if (some.length === 0) return [];
    if (!isRefused) {
      if (probes >= mostProbes) return some;
      probes += 1;
      if (await accepts(some)) return [];
    }
    if (some.length === 1 || probes >= mostProbes) return some;
    const half = Math.ceil(some.length / 2);
    const first = await search(some.slice(0, half), false);
    // If nothing is wrong with the first half, it is in the second.
    return [...first, ...(await search(some.slice(half), first.length === 0))];
  }
  return await search(all, true);
}
