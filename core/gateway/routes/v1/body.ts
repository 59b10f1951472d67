/** Reads the members of a request's body. */
import { HttpProblem } from "../../../http/index.ts";

const longestText = 200;

const member = (body: unknown, name: string): unknown => (body as Readonly<Record<string, unknown>> | null)?.[name];

/** A text that is not empty. Throws `HttpProblem`. */
export function textIn(body: unknown, name: string, longest = longestText): string {
  const value = member(body, name);
  if (typeof value !== "string" || value === "" || value.length > longest)
    throw new HttpProblem("invalid_payload", `${name} must be a text of at most ${longest} characters.`);
  return value;
}

export const optionalTextIn = (body: unknown, name: string): string | undefined =>
  member(body, name) === undefined ? undefined : textIn(body, name);
