/** Leaves optional fields out of a request whose server does not know them. */

/** The body of a request without these fields. Newer models count the tokens of a reply under another name. */
export function withoutFields(
  body: { readonly [field: string]: unknown },
  fields: ReadonlySet<string>,
): { readonly [field: string]: unknown } {
  if (fields.size === 0) return body;
  const { max_tokens: most, ...rest } = body;
  const remaining = Object.fromEntries(Object.entries(rest).filter(([field]) => !fields.has(field)));
  if (most === undefined) return remaining;
  return { ...remaining, ...(fields.has("max_tokens") ? { max_completion_tokens: most } : { max_tokens: most }) };
}
