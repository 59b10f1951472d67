/** Reads the query of a request. */
import { HttpProblem, type OwnRequest } from "../../../http/index.ts";

/** A whole number of the query; `preset` if it is not there. */
export function numberIn(
  query: OwnRequest["query"],
  name: string,
  { preset, most = Number.MAX_SAFE_INTEGER }: { readonly preset: number; readonly most?: number },
): number {
  const text = query[name];
  if (text === undefined || text === "") return preset;
  if (!/^\d{1,15}$/.test(text) || Number(text) > most)
    throw new HttpProblem("bad_request", `${name} must be a whole number up to ${most}.`);
  return Number(text);
}
