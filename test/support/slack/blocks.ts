/** Limits of Block Kit: https://docs.slack.dev/reference/block-kit/blocks */

interface Block {
  readonly type?: string;
  readonly text?: { readonly type?: string; readonly text?: string };
  readonly elements?: readonly Element[];
}

interface Element {
  readonly type?: string;
  readonly action_id?: string;
  readonly value?: string;
  readonly text?: { readonly type?: string; readonly text?: string };
}

const known = new Set([
  "section",
  "actions",
  "divider",
  "header",
  "context",
  "image",
  "markdown",
  "rich_text",
  "input",
]);

/** Why Slack refuses the blocks; `undefined` if it takes them. */
export function blocksProblem(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "blocks must be an array";
  if (value.length > 50) return "no more than 50 blocks allowed";
  for (const block of value as readonly Block[]) {
    if (!known.has(block?.type ?? "")) return `unsupported type: ${block?.type}`;
    if (block.type === "section") {
      const { type, text = "" } = block.text ?? {};
      if (type !== "mrkdwn" && type !== "plain_text") return "section: missing text";
      if (text.length < 1 || text.length > 3_000) return "section: text must have 1 to 3000 characters";
    }
    if (block.type === "actions") {
      const { elements = [] } = block;
      if (elements.length < 1 || elements.length > 25) return "actions: must have 1 to 25 elements";
      if (new Set(elements.map(({ action_id }) => action_id)).size < elements.length)
        return "actions: action_id must be unique";
      for (const { type, text, value: of = "" } of elements) {
        if (type !== "button") continue;
        if (text?.type !== "plain_text") return "button: text must be plain_text";
        const { length } = text.text ?? "";
        if (length < 1 || length > 75) return "button: text must have 1 to 75 characters";
        if (of.length > 2_000) return "button: value must have at most 2000 characters";
      }
    }
  }
  return undefined;
}
