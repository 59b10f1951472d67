/** What the platform refuses in a message, as it says so: code 50035 with the place, or a code of its own. */
export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

const form = (message: string): Refusal => ({ status: 400, code: 50_035, message: `Invalid Form Body: ${message}` });

const known = new Set([
  ...["content", "nonce", "tts", "embeds", "allowed_mentions", "message_reference", "components", "sticker_ids"],
  ...["attachments", "flags", "enforce_nonce", "poll", "payload_json"],
]);
/** SUPPRESS_EMBEDS, EPHEMERAL, SUPPRESS_NOTIFICATIONS, IS_VOICE_MESSAGE, IS_COMPONENTS_V2. */
const settableFlags = (1 << 2) | (1 << 6) | (1 << 12) | (1 << 13) | (1 << 15);

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function checkComponents(components: unknown): Refusal | undefined {
  if (components === undefined) return undefined;
  if (!Array.isArray(components) || components.length > 5) return form("components: Must be 5 or fewer in length.");
  const seen = new Set<string>();
  for (const row of components) {
    if (!isFields(row) || row.type !== 1 || !Array.isArray(row.components))
      return form("components: this type is not valid");
    if (row.components.length < 1 || row.components.length > 5)
      return form("components[0].components: Must be between 1 and 5 in length.");
    for (const button of row.components) {
      if (!isFields(button) || button.type !== 2) return form("components: this type is not valid");
      const { style, custom_id: custom, label } = button;
      if (![1, 2, 3, 4].includes(Number(style))) return form("style: Value must be one of (1, 2, 3, 4, 5, 6).");
      if (typeof custom !== "string" || custom.length < 1 || custom.length > 100)
        return form("custom_id: Must be between 1 and 100 in length.");
      if (typeof label !== "string" || label.length < 1 || label.length > 80)
        return form("label: Must be between 1 and 80 in length.");
      if (seen.has(custom)) return form("custom_id: Component custom id cannot be duplicated");
      seen.add(custom);
    }
  }
  return undefined;
}

function checkEmbeds(embeds: unknown): Refusal | undefined {
  if (embeds === undefined) return undefined;
  if (!Array.isArray(embeds) || embeds.length > 10) return form("embeds: Must be 10 or fewer in length.");
  const most: Record<string, number> = { title: 256, description: 4_096 };
  for (const embed of embeds) {
    if (!isFields(embed)) return form("embeds: Only dictionaries may be used in a DictType");
    for (const [name, limit] of Object.entries(most))
      if (embed[name] !== undefined && (typeof embed[name] !== "string" || [...String(embed[name])].length > limit))
        return form(`embeds[0].${name}: Must be ${limit} or fewer in length.`);
  }
  return undefined;
}

function checkMentions(mentions: unknown): Refusal | undefined {
  if (mentions === undefined) return undefined;
  if (!isFields(mentions)) return form("allowed_mentions: Only dictionaries may be used in a DictType");
  const { parse = [], users = [], roles = [], replied_user: replied = false, ...others } = mentions;
  if (Object.keys(others).length > 0 || typeof replied !== "boolean") return form("allowed_mentions: unknown field");
  if (!Array.isArray(parse) || parse.some((each) => !["users", "roles", "everyone"].includes(String(each))))
    return form("allowed_mentions.parse: Value must be one of ('everyone', 'roles', 'users').");
  if (!Array.isArray(users) || !Array.isArray(roles)) return form("allowed_mentions: must be lists");
  return undefined;
}

/** `files`: how many come with it. An edit may leave everything out. */
export function checkMessage(
  body: unknown,
  { files, isEdit = false }: { readonly files: number; readonly isEdit?: boolean },
): Refusal | undefined {
  if (!isFields(body)) return { status: 400, code: 50_109, message: "The request body contains invalid JSON." };
  const unknown = Object.keys(body).filter((name) => !known.has(name));
  // The platform ignores fields that it does not know; ours should not send any.
  if (unknown.length > 0) return form(`${unknown.join(", ")}: unknown field`);
  const { content = "", nonce, flags = 0, message_reference: reference, enforce_nonce: enforce } = body;
  if (typeof content !== "string" && content !== null) return form("content: Could not interpret as string.");
  if ([...String(content ?? "")].length > 2_000) return form("content: Must be 2000 or fewer in length.");
  if (nonce !== undefined && !Number.isSafeInteger(nonce) && (typeof nonce !== "string" || nonce.length > 25))
    return form("nonce: Must be 25 or fewer in length.");
  if (enforce !== undefined && typeof enforce !== "boolean") return form("enforce_nonce: Must be a boolean.");
  if (isEdit && (nonce !== undefined || reference !== undefined))
    return form("an edit has neither nonce nor reference");
  if (!Number.isInteger(flags) || (Number(flags) & ~settableFlags) !== 0) return form("flags: invalid");
  if (reference !== undefined && (!isFields(reference) || typeof reference.message_id !== "string"))
    return form("message_reference: This field is required");
  const wrong = checkComponents(body.components) ?? checkEmbeds(body.embeds) ?? checkMentions(body.allowed_mentions);
  if (wrong !== undefined) return wrong;
  const isEmpty =
    String(content ?? "").trim() === "" && files === 0 && (!Array.isArray(body.embeds) || body.embeds.length === 0);
  if (isEmpty && !isEdit) return { status: 400, code: 50_006, message: "Cannot send an empty message" };
  return undefined;
}
