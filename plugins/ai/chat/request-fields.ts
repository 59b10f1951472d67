/** Leaves optional fields out of a request whose server does not know them, and adds one that some servers need. */

/** The thoughts of a model in its earlier messages: some servers want to read them again, others refuse them. */
export const thoughtField = "reasoning_content";

interface Body {
  readonly [field: string]: unknown;
}

type Messages = readonly Body[];

const messagesOf = ({ messages }: Body): Messages => (Array.isArray(messages) ? (messages as Messages) : []);

/** The body of a request without these fields. Newer models count the tokens of a reply under another name. */
export function withoutFields(body: Body, fields: ReadonlySet<string>): Body {
  if (fields.size === 0) return body;
  const { max_tokens: most, ...rest } = body;
  const remaining = Object.fromEntries(Object.entries(rest).filter(([field]) => !fields.has(field)));
  const left = fields.has(thoughtField) ? withoutThoughts(remaining) : remaining;
  if (most === undefined) return left;
  return { ...left, ...(fields.has("max_tokens") ? { max_completion_tokens: most } : { max_tokens: most }) };
}

function withoutThoughts(body: Body): Body {
  return { ...body, messages: messagesOf(body).map(({ [thoughtField]: _, ...message }) => message) };
}

/** A thought at each call of a tool: that of another model may have had none. Empty ones count as missing. */
export function withThoughts(body: Body): Body {
  const messages = messagesOf(body).map((message) =>
    message.tool_calls === undefined ? message : { [thoughtField]: " ", ...message },
  );
  return { ...body, messages };
}
