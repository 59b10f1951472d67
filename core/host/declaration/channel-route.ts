/** Checks an address of a channel on the gateway's port. */

const methods: readonly unknown[] = ["GET", "POST", "PUT", "DELETE"];
const part = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/;

/** `parts`: how many the path may have. */
export function routeProblem(route: unknown, { parts }: { readonly parts: "one" | "several" }): string | undefined {
  const given = (route ?? {}) as Partial<Record<string, unknown>>;
  const pieces = typeof given.path === "string" ? given.path.split("/") : [];
  if (pieces.length === 0 || (parts === "one" && pieces.length > 1) || !pieces.every((piece) => part.test(piece)))
    return `its path must be ${parts === "one" ? "one part" : "parts"} of letters, digits and -._~, such as events`;
  if (given.methods !== undefined && !(Array.isArray(given.methods) && given.methods.every((m) => methods.includes(m))))
    return "its methods must be a list of GET, POST, PUT and DELETE";
  const { maxBytes } = given;
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && Number(maxBytes) > 0))
    return "its maxBytes must be a whole number above 0";
  const needed = parts === "one" ? "accountOf" : "handler";
  if (typeof given[needed] !== "function") return `it has no function ${needed}`;
  if (given.refuse !== undefined && typeof given.refuse !== "function") return "its refuse must be a function";
  return undefined;
}
