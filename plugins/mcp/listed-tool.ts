/** A tool as its server describes it, without what an operator who looks at it would not see. */
import { createHash } from "node:crypto";
import type { Json } from "service-gateway/sdk";
import { cleanJson, cleanText } from "service-gateway/sdk/tools";

/** All of it is untrusted. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: { readonly [key: string]: unknown };
  /** The server says that it changes nothing. */
  readonly readOnly: boolean;
}

export interface GivenTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
}

const longestDescription = 4_000;

/** `hide` removes secrets, before the text is cut: a cut one would not be found. */
export function listedTool(
  { name, title, description, inputSchema, annotations }: GivenTool,
  hide: (text: string) => string,
): ListedTool {
  const { $schema: _, ...schema } = cleanJson(
    JSON.parse(JSON.stringify(inputSchema)) as Json,
  ) as GivenTool["inputSchema"];
  const texts = [description, title].map((text) => cleanText(hide(text ?? "")));
  const summary = texts.find((text) => text.trim() !== "") ?? `The tool ${cleanText(name)}.`;
  return {
    name,
    description: summary.slice(0, longestDescription).toWellFormed(),
    parameters: { ...schema, type: "object", properties: schema.properties ?? {} },
    readOnly: annotations?.readOnlyHint === true,
  };
}

/**
 * The same for the same description. With its claim to change nothing: that spares a question, so a later one must be
 * seen.
 */
export const printOf = ({ description, parameters, readOnly }: ListedTool): string =>
  createHash("sha256")
    .update(JSON.stringify([description, parameters, readOnly]))
    .digest("base64url");
